"""Lesser cases: a shipped one, in which one kind of evidence cannot be read, in one way.

Each is what a collection would have left that met such a file, so the manifest fits it; only what was changed after collecting
(``torn``) differs from its hash. Nothing is drawn at random but the broker of ``... of one broker``, and that by a seed.
"""

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from casebook.case.folder import HISTORY
from casebook.facts.events import is_log
from casebook.facts.proofs import ZNODES
from casebook.facts.znodes import ReadOutcome, Znode
from casebook.formats.zookeeper import znode_lines
from tests.case_copies import CaseCopy, packed, unpacked

Change = Callable[[bytes], bytes | None]
"""What lies in a file instead; ``None`` where there is no file."""

_DENIED = "cannot be opened: Permission denied"
_BINARY = bytes(range(256)) * 200


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _of_brokers(path: str) -> bool:
    return path.startswith("brokers/") and is_log(path)


def _of_server(path: str) -> bool:
    """The root logger's file, and what the process printed, which says the same."""
    return _of_brokers(path) and (_name(path).startswith("server.log") or _name(path).endswith(".out"))


FILES: Mapping[str, Callable[[str], bool]] = {
    "all logs": is_log,
    "logs of brokers": _of_brokers,
    "server logs": _of_server,
    "state-change logs": lambda path: _of_brokers(path) and _name(path).startswith("state-change"),
    "controller logs": lambda path: _of_brokers(path) and _name(path).startswith("controller"),
    "cleaner logs": lambda path: _of_brokers(path) and _name(path).startswith("log-cleaner"),
    "logs of ZooKeeper": lambda path: path.startswith("zookeeper/logs/"),
    "logs of clients": lambda path: path.startswith("clients/") and is_log(path),
    "znodes": lambda path: path == ZNODES,
    "history": lambda path: path == HISTORY,
    "log dirs": lambda path: _name(path) == "log_dirs.json",
    "segments": lambda path: "/segments/" in path and path.endswith(".log"),
    "indexes": lambda path: "/segments/" in path and path.endswith("index"),
    "server.properties": lambda path: _name(path) == "server.properties",
    "ledgers": lambda path: "/ledgers/" in path,
    "client files": lambda path: path.startswith("clients/") and "/config/" in path,
}
ONE = " of one broker"
_OF_ONE = ("logs of brokers", "server logs", "log dirs", "segments", "server.properties")
SUBTREES: Mapping[str, Callable[[str], bool]] = {
    "broker ids": lambda path: path.startswith("/brokers/ids/"),
    "assignments": lambda path: path.startswith("/brokers/topics/") and path.count("/") == 3,
    "states": lambda path: path.endswith("/state"),
    "topic settings": lambda path: path.startswith("/config/topics/"),
}
CHECKPOINTS = "checkpoints"
ALL_KINDS = (*FILES, *SUBTREES, CHECKPOINTS)
KINDS = (*ALL_KINDS, *(f"{kind}{ONE}" for kind in _OF_ONE))


def _cut(content: bytes) -> bytes:
    """In the midst of a line."""
    middle = len(content) // 2
    return content[: middle - 1 if content[middle - 1 : middle] in (b"\n", b"\r") else middle]


def _holed(content: bytes) -> bytes:
    """With zeros where its middle was, as after a machine that lost power: the file's length was written, its content was not."""
    third = len(content) // 3
    return content[:third] + bytes(third) + content[2 * third :]


def _each_line(change: Callable[[bytes], bytes]) -> Change:
    return lambda content: b"".join(change(line) for line in content.splitlines(keepends=True))


def _stripped(line: bytes) -> bytes:
    """Without what an entry begins with: its date and its level."""
    return line.split(b"] ", 1)[-1].split(b" ", 1)[-1] if line[:1] == b"[" else line


def _garbled(content: bytes) -> bytes:
    return b'{"a": [1, {"b"\n' * max(1, content.count(b"\n"))


_TEXT: Mapping[str, Change] = {
    "left out": lambda _: None,
    "denied": lambda _: None,
    "empty": lambda _: b"",
    "binary": lambda _: _BINARY,
    "cut": _cut,
    "unknown encoding": lambda content: content.decode(errors="replace").encode("cp500", errors="replace"),
    "torn": lambda content: content[: len(content) // 3],
}
_SETTINGS = {name: change for name, change in _TEXT.items() if name != "cut"}
"""A file of settings that ends early is one of fewer settings, and nothing tells that it is not: it has neither length nor end."""
_LOG = _TEXT | {
    "holed": _holed,
    "packed though not named so": lambda content: _gzipped(content)[: len(_gzipped(content)) // 2],
    "cut pack": lambda content: _gzipped(content)[: len(_gzipped(content)) // 4],
    "stripped": _each_line(_stripped),
    "unknown layout": _each_line(lambda line: b"<7>{node=7} " + re.sub(rb"^\[(\S+) (\d\d):(\d\d):", rb"\1 \2h\3m", line)),
}
SAME: Mapping[str, Change] = {
    "UTF-16": lambda content: content.decode(errors="replace").encode("utf-16"),
    "marked": lambda content: b"\xef\xbb\xbf" + content,
    "returns": lambda content: content.replace(b"\n", b"\r"),
}
"""Ways of writing a log that are no damage."""
_ROWS = {
    "left out": lambda _: None,
    "denied": lambda _: None,
    "empty": lambda _: b"",
    "binary": lambda _: _BINARY,
    "cut": _cut,
    "garbage": _garbled,
    "torn": lambda content: content[: len(content) // 3],
}
_BYTES = {name: _TEXT[name] for name in ("left out", "denied", "empty", "binary", "cut", "torn")} | {"holed": _holed}
JAVA = "Java too old"


def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _ways(kind: str) -> Mapping[str, object]:
    plain = kind.removesuffix(ONE)
    if plain in SUBTREES:
        return dict.fromkeys(("denied", "empty", "garbage"))
    if plain == CHECKPOINTS:
        return dict.fromkeys(("left out", "denied"))
    if "logs" in plain:
        return _LOG
    if plain in ("segments", "indexes"):
        return _BYTES
    return _SETTINGS if plain in ("server.properties", "client files") else _ROWS


def is_part(kind: str, of: str) -> bool:
    """Whether files of a kind are among those of another."""
    logs = of in ("all logs", "logs of brokers") and "logs" in kind
    return kind == of or logs or (of == "znodes" and kind in SUBTREES)


def ways(kind: str) -> tuple[str, ...]:
    """How evidence of a kind may be unreadable."""
    return (*_ways(kind), *((JAVA,) if kind == "all logs" else ()))


def make(case: Path, target: Path, kind: str, way: str, seed: int = 0) -> Path | None:
    """Make a lesser case.

    Args:
        case: A whole one.
        target: The folder to make.

    Returns:
        The target; ``None`` where the case has nothing of the kind.
    """
    copy = CaseCopy(case, target)
    broker = random.Random(f"{case.name} {kind} {seed}").choice(brokers(copy)) if kind.endswith(ONE) else None
    if not degrade(copy, kind.removesuffix(ONE), way, broker):
        return None
    return copy.done()


def degrade(copy: CaseCopy, kind: str, way: str, broker: str | None = None) -> bool:
    """Make evidence of a kind unreadable, in a way.

    Args:
        broker: Whose; ``None`` for all of the kind.

    Returns:
        Whether there was any, and it is another now.
    """
    hit = _hit(copy, kind, broker)
    if hit and way != JAVA:
        before = {path: copy.read(path) for path in hit}
        for path in hit:
            _change(copy, path, kind, way)
        if all(path in copy.paths and copy.read(path) == content for path, content in before.items()) and way != "denied":
            return False
        if kind in SUBTREES and way == "denied":
            copy.not_collected(kind, "its ACL forbids reading")
        if kind == CHECKPOINTS and way == "denied":
            for path in hit:
                copy.not_collected(path, _DENIED)
                copy.named(path)
    return bool(hit)


def _hit(copy: CaseCopy, kind: str, broker: str | None) -> list[str]:
    if kind in SUBTREES:
        return [ZNODES] if ZNODES in copy.paths and any(map(SUBTREES[kind], _paths_of_znodes(copy))) else []
    wanted = FILES.get(kind, FILES["log dirs"])
    hit = [path for path in copy.paths if wanted(path) and (copy.folder / path).stat().st_size]
    return [path for path in hit if broker is None or path.startswith(f"brokers/{broker}/")]


def _paths_of_znodes(copy: CaseCopy) -> Iterator[str]:
    return (znode_lines.decode(line).path for line in unpacked(copy.read(ZNODES)).splitlines())


_CLIENT = {
    "producer.properties": b"acks=all\nretries=2147483647\nmax.in.flight.requests.per.connection=1\n",
    "consumer.properties": b"group.id=billing\nenable.auto.commit=false\nauto.offset.reset=earliest\n",
}


def with_client(case: Path, target: Path) -> Path:
    """The case, and what a client of it is set up with: no sample has any."""
    copy = CaseCopy(case, target, expected=True)
    for name, content in _CLIENT.items():
        copy.store(f"clients/billing/config/{name}", content)
    return copy.done()


def written(case: Path, target: Path, way: str) -> Path:
    """The same case, its logs written in another way that is no damage: as a person put them there, or an older collection."""
    copy = CaseCopy(case, target)
    rewrite(copy, way)
    return copy.done()


def rewrite(copy: CaseCopy, way: str) -> bool:
    """Write the logs in another way that is no damage; whether there are any."""
    logs = [path for path in copy.paths if is_log(path)]
    for path in logs:
        copy.store(path, SAME[way](copy.read(path)))
    return bool(logs)


def brokers(copy: CaseCopy) -> list[str]:
    """Whose evidence a case holds."""
    return sorted(folder.name for folder in (copy.folder / "brokers").iterdir())


def _change(copy: CaseCopy, path: str, kind: str, way: str) -> None:
    content = copy.read(path)
    is_packed = path.endswith(".zst")
    if kind in SUBTREES:
        changed = b"".join(_subtree(unpacked(content), SUBTREES[kind], way))
    elif kind == CHECKPOINTS:
        changed = b"".join(_without_checkpoints(content, way))
    else:
        changed = _ways(kind)[way](unpacked(content) if is_packed and way in ("garbage", "empty") else content)
        is_packed &= way in ("garbage", "empty")
    if way == "torn":
        copy.tear(path, changed)
    elif changed is None:
        copy.remove(path)
        if way == "denied":
            copy.not_collected("/" if path == ZNODES else path, _DENIED)
            copy.named(path)
    elif way == "cut pack":
        copy.remove(path)
        copy.store(f"{path}.gz", changed)
    else:
        copy.store(path, packed(changed) if is_packed else changed)


def _subtree(content: bytes, within: Callable[[str], bool], way: str) -> Iterator[bytes]:
    for line in content.splitlines():
        row = znode_lines.decode(line)
        yield znode_lines.encode(_znode(row, way) if within(row.path) else row).encode() + b"\n"


def _znode(row: Znode, way: str) -> Znode:
    if way == "denied":
        return row._replace(data=None, stat=None, outcome=ReadOutcome.DENIED)
    return row._replace(data=b"" if way == "empty" else b'{"version":1,"x":[\xff\xfe')


_OF_CHECKPOINTS = ("recovery_point", "high_watermark", "cleaner_point")


def _without_checkpoints(content: bytes, way: str) -> Iterator[bytes]:
    for line in content.splitlines():
        row = json.loads(line)
        names = list(row.pop("checkpoints", ())) if row["row"] == "log_dir" else []
        kept = {name: value for name, value in row.items() if name not in _OF_CHECKPOINTS}
        yield json.dumps(kept).encode() + b"\n"
        if way == "denied":
            for name in names:
                yield json.dumps({"row": "problem", "path": name, "reason": _DENIED}).encode() + b"\n"
