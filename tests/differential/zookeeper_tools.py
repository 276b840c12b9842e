"""What ZooKeeper's own tools print of its files: one JVM a file, over that release's real jars.

``LogFormatter`` of 3.4 lets every record print itself (``CsvOutputArchive.java@3.4.6``); ``TxnLogToolkit`` of 3.5 and later
words creations, new data and multis itself (``TxnLogToolkit.java@3.5.9``). So what a row has to look like is put together here.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from casebook.formats.zookeeper import changes, log
from casebook.formats.zookeeper.records import Acl, Acls
from casebook.formats.zookeeper.snapshot import StoredZnode
from casebook.rehearsal.servers import jars
from tests.formats import zookeeper_bytes

LOG_FORMATTER = "org.apache.zookeeper.server.LogFormatter"
LOG_TOOLKIT = "org.apache.zookeeper.server.persistence.TxnLogToolkit"
SNAPSHOT_FORMATTER = "org.apache.zookeeper.server.SnapshotFormatter"

_ENTRY = re.compile(
    r"(?P<day>\d+/\d+/\d+), (?P<clock>\d+:\d+:\d+).(?P<half>[AP]M) UTC (?P<said>session .*?)"
    r"(?=\d+/\d+/\d+, \d+:\d+:\d+.[AP]M UTC session|EOF reached)",
    re.DOTALL,
)
_ZNODE = re.compile(r"^----\n(?P<path>/.*)\n(?P<fields>(?:  .*\n)+)", re.MULTILINE)
_SESSION = re.compile(r"^0x(?P<id>[0-9a-f]+), (?P<timeout>\d+), \d+$", re.MULTILINE)


class Printed(NamedTuple):
    """A transaction as it is printed: its time in epoch seconds, and everything else without line ends."""

    time: int
    said: str


def printed(class_path: str, tool: str, files: Sequence[Path]) -> Iterator[str]:
    """What a tool prints of each file."""
    with ThreadPoolExecutor(2) as threads:
        yield from threads.map(partial(_run, class_path, tool), files)


def _run(class_path: str, tool: str, file: Path) -> str:
    command = [jars.java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
    command += ["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Duser.timezone=UTC", "-Duser.language=en"]
    command += ["-Duser.country=US", "-cp", class_path, tool, str(file)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


# Logs.


def transactions(said: str) -> list[Printed]:
    """The transactions among what a tool printed of a log."""
    return [Printed(_seconds(*one.group("day", "clock", "half")), one["said"].replace("\n", "")) for one in _ENTRY.finditer(said)]


def _seconds(day: str, clock: str, half: str) -> int:
    time = datetime.strptime(f"{day} {clock} {half}", "%m/%d/%y %I:%M:%S %p")
    return int(time.replace(tzinfo=UTC).timestamp())


def as_printed(tool: str, row: log.Transaction) -> Printed:
    """How a transaction is printed."""
    worded = _by_jute(row.change) if tool == LOG_FORMATTER else _by_toolkit(row.change)
    numbers = f"session 0x{_unsigned(row.session):x} cxid 0x{row.cxid:x} zxid 0x{row.zxid:x}"
    return Printed(row.time // 1000, f"{numbers} {row.change.operation} {worded}")


def _unsigned(number: int) -> int:
    return number & 0xFFFF_FFFF_FFFF_FFFF


def _by_jute(change: changes.Change) -> str:
    match change:
        case changes.Create(path=path, data=data, acl=acl, ephemeral=ephemeral, parent_cversion=parent_cversion):
            return f"'{path},{_hex(data)},{_acls(acl)},{'T' if ephemeral else 'F'},{parent_cversion}"
        case changes.Delete(path=path):
            return f"'{path}"
        case changes.SetData(path=path, data=data, version=version):
            return f"'{path},{_hex(data)},{version}"
        case changes.SetAcl(path=path, acl=acl, version=version):
            return f"'{path},{_acls(acl)},{version}"
        case changes.CreateSession(timeout=number) | changes.Failed(code=number):
            return str(number)
        case changes.CloseSession(paths=paths):
            return "null" if paths is None else _vector(f"'{path}" for path in paths)
        case changes.Multi(parts=parts):
            return _vector(f"s{{{kind},{_hex(content)}}}" for kind, content in map(zookeeper_bytes.change, parts))


def _by_toolkit(change: changes.Change) -> str:
    match change:
        case changes.Create(path=path, data=data, acl=acl, ephemeral=ephemeral, parent_cversion=parent_cversion):
            rights = ", ".join(map(_acl, acl))
            return f"{path},{_text(data)},[{rights}],{str(ephemeral).lower()},{parent_cversion}"
        case changes.SetData(path=path, data=data, version=version):
            return f"{path},{_text(data)},{version}"
        case changes.CloseSession(paths=None):
            return ""
        case changes.Multi(parts=parts):
            return ";".join(f"{part.operation}:{_text(zookeeper_bytes.change(part)[1])}" for part in parts)
        case _:
            return _by_jute(change)


def _acl(acl: Acl) -> str:
    return f"{acl.perms},s{{'{acl.scheme},'{acl.id}}}"


def _acls(acls: Acls) -> str:
    return _vector(f"s{{{_acl(acl)}}}" for acl in acls)


def _vector(elements: Iterable[str]) -> str:
    return f"v{{{','.join(elements)}}}"


def _hex(data: bytes | None) -> str:
    """A byte as ``Integer.toHexString`` has it: without a leading zero, and from 0x80 on below zero."""
    return "#" + "".join(f"{byte if byte < 0x80 else byte | 0xFFFF_FF00:x}" for byte in data) if data else ""


def _text(data: bytes | None) -> str:
    return (data or b"").decode(errors="replace").replace("\n", "")


# Snapshots.


def znodes(said: str) -> Mapping[str, Mapping[str, str]]:
    """The fields that a tool printed of each znode of a snapshot."""
    return {one["path"]: dict(_field(line) for line in one["fields"].splitlines()) for one in _ZNODE.finditer(said)}


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.strip().partition(" = ")
    return ("dataLength", "0") if name == "no data" else (name, value)


def sessions(said: str) -> Mapping[int, int]:
    """Time-outs by session, as a tool printed them."""
    return {_signed(int(one["id"], 16)): int(one["timeout"]) for one in _SESSION.finditer(said)}


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def znode_as_printed(row: StoredZnode) -> Mapping[str, str]:
    """How a znode is printed."""
    return {
        "cZxid": _long(row.czxid),
        "ctime": _date(row.ctime),
        "mZxid": _long(row.mzxid),
        "mtime": _date(row.mtime),
        "pZxid": _long(row.pzxid),
        "cversion": str(row.cversion),
        "dataVersion": str(row.version),
        "aclVersion": str(row.aversion),
        "ephemeralOwner": _long(row.ephemeral_owner),
        "dataLength": str(len(row.data or b"")),
    }


def _long(number: int) -> str:
    return f"{_unsigned(number):#016x}"


def _date(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
