"""Lesser cases: a shipped one, in which one kind of evidence cannot be read, in one way.

Each is what a collection would have left that met such a file, so the manifest fits it; only what was changed after collecting
(``torn``) differs from its hash. Nothing is drawn at random but the broker of ``... of one broker``, and that by a seed.
"""

import gzip
import hashlib
import io
import json
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import zstandard

from casebook.case import Case
from casebook.case_folder import DERIVED, HISTORY, MANIFEST, ZNODES
from casebook.events import is_log
from casebook.facts import ReadOutcome, Znode
from casebook.formats import znode_lines

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
KINDS = (*FILES, *(f"{kind}{ONE}" for kind in _OF_ONE), *SUBTREES, CHECKPOINTS)


def _cut(content: bytes) -> bytes:
    """In the midst of a line."""
    middle = len(content) // 2
    return content[: middle - 1 if content[middle - 1 : middle] == b"\n" else middle]


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
    "cut pack": lambda content: _packed(content)[: len(_packed(content)) // 4],
    "stripped": _each_line(_stripped),
    "unknown layout": _each_line(lambda line: b"<7>{node=7} " + line.replace(b"[2", b"<2", 1)),
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
_BYTES = {name: _TEXT[name] for name in ("left out", "denied", "empty", "binary", "cut", "torn")}
JAVA = "Java too old"


def _packed(content: bytes) -> bytes:
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
    broker = random.Random(f"{case.name} {kind} {seed}").choice(_brokers(case))
    plain = kind.removesuffix(ONE)
    manifest = json.loads((case / MANIFEST).read_text())
    paths = [item["path"] for item in manifest["items"]]
    if plain in FILES:
        hit = [path for path in paths if FILES[plain](path) and (case / path).stat().st_size]
        hit = [path for path in hit if plain == kind or path.startswith(f"brokers/{broker}/")]
    else:
        hit = [ZNODES] if plain in SUBTREES else [path for path in paths if _name(path) == "log_dirs.json"]
        if plain in SUBTREES and not any(SUBTREES[plain](row.path) for row in Case.open(case).znodes()):
            return None
    if not hit:
        return None
    shutil.copytree(case, target, ignore=shutil.ignore_patterns(DERIVED, "expected.json"))
    if "logs" not in plain and (kept := case / DERIVED / "logs").is_dir():
        shutil.copytree(kept, target / DERIVED / "logs")  # logs that nobody changed are read once for all
    if way == JAVA:
        return target
    manifest.setdefault("could_not_collect", [])
    for path in hit:
        _change(target, path, plain, way, manifest)
    if plain == CHECKPOINTS and way == "denied":
        manifest["could_not_collect"] += [{"part": path, "reason": _DENIED} for path in hit]
        manifest.setdefault("left_out", []).extend(hit)
    if plain in SUBTREES and way == "denied":
        manifest["could_not_collect"] += [{"part": plain, "reason": "its ACL forbids reading"}]
    (target / MANIFEST).write_text(json.dumps(manifest))
    return target


_CLIENT = {
    "producer.properties": b"acks=all\nretries=2147483647\nmax.in.flight.requests.per.connection=1\n",
    "consumer.properties": b"group.id=billing\nenable.auto.commit=false\nauto.offset.reset=earliest\n",
}


def with_client(case: Path, target: Path) -> Path:
    """The case, and what a client of it is set up with: no sample has any."""
    shutil.copytree(case, target, ignore=shutil.ignore_patterns(DERIVED))
    manifest = json.loads((case / MANIFEST).read_text())
    (target / "clients/billing/config").mkdir(parents=True)
    for name, content in _CLIENT.items():
        item = {"path": f"clients/billing/config/{name}"}
        _store(target, item, content)
        manifest["items"].append(item)
    (target / MANIFEST).write_text(json.dumps(manifest))
    return target


def written(case: Path, target: Path, way: str) -> Path:
    """The same case, its logs written in another way that is no damage: as a person put them there, or an older collection."""
    shutil.copytree(case, target, ignore=shutil.ignore_patterns(DERIVED, "expected.json"))
    manifest = json.loads((case / MANIFEST).read_text())
    for item in manifest["items"]:
        if is_log(item["path"]):
            _store(target, item, SAME[way]((target / item["path"]).read_bytes()))
    (target / MANIFEST).write_text(json.dumps(manifest))
    return target


def _brokers(case: Path) -> list[str]:
    return sorted(folder.name for folder in (case / "brokers").iterdir())


def _change(target: Path, path: str, plain: str, way: str, manifest: dict) -> None:
    item = next(item for item in manifest["items"] if item["path"] == path)
    content = (target / path).read_bytes()
    is_packed = path.endswith(".zst")
    if plain in SUBTREES:
        changed = b"".join(_subtree(_unpacked(content), SUBTREES[plain], way))
    elif plain == CHECKPOINTS:
        changed = b"".join(_without_checkpoints(content, way))
    else:
        changed = _ways(plain)[way](_unpacked(content) if is_packed and way in ("garbage", "empty") else content)
        is_packed &= way in ("garbage", "empty")
    if way == "torn":
        (target / path).write_bytes(changed)
        return
    if changed is None:
        (target / path).unlink()
        manifest["items"].remove(item)
        if way == "denied":
            manifest["could_not_collect"].append({"part": "/" if path == ZNODES else path, "reason": _DENIED})
            manifest.setdefault("left_out", []).append(path)
        return
    if way == "cut pack":
        (target / path).unlink()
        item["path"] = f"{path}.gz"
    _store(target, item, zstandard.compress(changed) if is_packed else changed)


def _store(target: Path, item: dict, content: bytes) -> None:
    (target / item["path"]).write_bytes(content)
    item |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "rows": content.count(b"\n")}


def _unpacked(content: bytes) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True) as unpacked:
        return unpacked.read()


def _subtree(content: bytes, within: Callable[[str], bool], way: str) -> Iterator[bytes]:
    for line in content.splitlines():
        row = znode_lines.decode(line)
        yield znode_lines.encode(_znode(row, way) if within(row.path) else row).encode() + b"\n"


def _znode(row: Znode, way: str) -> Znode:
    if way == "denied":
        return replace(row, data=None, stat=None, outcome=ReadOutcome.DENIED)
    return replace(row, data=b"" if way == "empty" else b'{"version":1,"x":[\xff\xfe')


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
