"""What ZooKeeper writes, byte by byte: jute's primitives, changes and records of a log, znodes and seals of a snapshot."""

import struct
import zlib
from collections.abc import Iterable, Sequence

from casebook.formats.zookeeper import changes, log
from casebook.formats.zookeeper.records import OPEN, Acl

LOG_HEAD = struct.pack(">4siq", b"ZKLG", 2, 0)
SESSION = 0x1000_0000_0000_0001
_TYPES = {
    "create": 1,
    "delete": 2,
    "setData": 5,
    "setACL": 7,
    "check": 13,
    "multi": 14,
    "create2": 15,
    "reconfig": 16,
    "createContainer": 19,
    "deleteContainer": 20,
    "createTTL": 21,
    "error": -1,
    "createSession": -10,
    "closeSession": -11,
}


def integer(number: int) -> bytes:
    return struct.pack(">i", number)


def long(number: int) -> bytes:
    return struct.pack(">q", number)


def buffer(data: bytes | None) -> bytes:
    return integer(-1) if data is None else integer(len(data)) + data


def text(string: str) -> bytes:
    return buffer(string.encode())


def acls(*given: Acl) -> bytes:
    return integer(len(given)) + b"".join(integer(acl.perms) + text(acl.scheme) + text(acl.id) for acl in given)


def create(
    path: str, data: bytes | None = b"", acl: Sequence[Acl] = OPEN, ephemeral: bool = False, parent_cversion: int = 1
) -> bytes:
    return text(path) + buffer(data) + acls(*acl) + bytes([ephemeral]) + integer(parent_cversion)


def multi(*parts: tuple[int, bytes]) -> bytes:
    return integer(len(parts)) + b"".join(integer(kind) + buffer(part) for kind, part in parts)


def change(read: changes.Change) -> tuple[int, bytes]:
    """Type and bytes of a change that a reader made of them."""
    return _TYPES[read.operation], _content(read)


def _content(read: changes.Change) -> bytes:
    match read:
        case changes.Create(ttl=None, operation="create" | "create2"):
            return create(*read[1:6])
        case changes.Create(path=path, data=data, acl=acl, parent_cversion=parent_cversion, ttl=ttl):
            content = text(path) + buffer(data) + acls(*acl) + integer(parent_cversion)
            return content if ttl is None else content + long(ttl)
        case changes.Delete(path=path):
            return text(path)
        case changes.SetData(path=path, data=data, version=version):
            return text(path) + buffer(data) + integer(version)
        case changes.SetAcl(path=path, acl=acl, version=version):
            return text(path) + acls(*acl) + integer(version)
        case changes.Check(path=path, version=version):
            return text(path) + integer(version)
        case changes.CreateSession(timeout=number) | changes.Failed(code=number):
            return integer(number)
        case changes.CloseSession(paths=paths):
            return b"" if paths is None else integer(len(paths)) + b"".join(map(text, paths))
        case changes.Multi(parts=parts):
            return multi(*map(change, parts))


def record(
    zxid: int, kind: int, content: bytes, digest: bytes = b"", checksum: int | None = None, session: int = SESSION
) -> bytes:
    """A record as FileTxnLog writes it."""
    return framed(struct.pack(">qiqqi", session, zxid + 50, zxid, 1000 + zxid, kind) + content + digest, checksum)


def transaction(read: log.Transaction) -> bytes:
    """The record that a reader made a transaction of."""
    kind, content = change(read.change)
    header = struct.pack(">qiqqi", read.session, read.cxid, read.zxid, read.time, kind)
    return framed(header + content + (struct.pack(">iq", *read.digest) if read.digest else b""))


def framed(body: bytes, checksum: int | None = None) -> bytes:
    """A record's bytes with its checksum, length and end mark."""
    return long(zlib.adler32(body) if checksum is None else checksum) + buffer(body) + b"B"


def node(
    path: str,
    data: bytes | None = b"",
    acl: int = -1,
    *,
    owner: int = 0,
    zxid: int = 1,
    cversion: int = 0,
    pzxid: int | None = None,
) -> bytes:
    """A znode as DataTree writes it."""
    pzxid = zxid if pzxid is None else pzxid
    stat = struct.pack(">qqqqiiiqq", zxid, zxid, 100 + zxid, 200 + zxid, 3, cversion, 4, owner, pzxid)
    return text(path) + buffer(data) + long(acl) + stat


def seal(content: bytes) -> bytes:
    return content + long(zlib.adler32(content)) + text("/")


def snapshot(
    *nodes: bytes, sessions: Sequence[tuple[int, int]] = (), acl_cache: Sequence[tuple[int, Iterable[Acl]]] = ()
) -> bytes:
    """A snapshot up to its first seal."""
    content = struct.pack(">4siq", b"ZKSN", 2, -1) + integer(len(sessions))
    content += b"".join(long(one) + integer(timeout) for one, timeout in sessions) + integer(len(acl_cache))
    content += b"".join(long(key) + acls(*acl) for key, acl in acl_cache)
    return seal(content + b"".join(nodes) + text("/"))
