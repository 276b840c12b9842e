"""ZooKeeper's transaction log, ``log.<zxid>``, of 3.4 to 3.9: every transaction, and every byte that is none.

A record is its Adler-32, its length, header and change, and the mark ``B``; the file is preallocated with zeros
(``FileTxnLog.java``, ``SerializeUtils.java@3.8.4``). ZooKeeper stops reading at the first record that is not whole. This reads
on behind it, at the next record that has a length, a mark, a checksum and a zxid that fit; whoever uses the rows decides
whether those are safe to use.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, NamedTuple, TypeAlias
from zlib import adler32

from casebook.formats.zookeeper_records import (
    LONGEST,
    Acls,
    Damage,
    FileHead,
    Window,
    acls,
    buffer,
    count,
    head,
    pieces,
    text,
    texts,
)

_MAGIC = b"ZKLG"
_FRAME = struct.Struct(">qi")
_HEADER = struct.Struct(">qiqqi")
_MARK = ord("B")
_AROUND = _FRAME.size + 1  # what a record has beside header and change
_LENGTHS = range(_HEADER.size, LONGEST + 1)
# An Adler-32 stands in a long, so its upper half is zero. What follows is a length up to LONGEST that is not zero, as without
# that each byte of the zeros at a file's end would be looked at.
_FRAME_AS_IT_BEGINS = re.compile(rb"\0\0\0\0[\s\S]{4}(?!\0{4})[\0-\4]")

_INT = struct.Struct(">i")
_CREATED = struct.Struct(">?i")
_CREATED_WITH_TTL = struct.Struct(">iq")
_DIGEST = struct.Struct(">iq")
_NOT_LOGGED = -1

_TOO_SHORT = (EOFError, IndexError, struct.error)


class Create(NamedTuple):
    """A znode comes to be.

    Args:
        operation: ``create``, ``create2``, ``createContainer`` or ``createTTL``.
        path: Of the znode.
        data: Its data; ``None`` for null.
        acl: Its access rights.
        ephemeral: It belongs to the session.
        parent_cversion: The parent's number of creations with this one; -1 where 3.3 did not log it.
        ttl: Milliseconds of ``createTTL``.
    """

    operation: str
    path: str
    data: bytes | None
    acl: Acls
    ephemeral: bool
    parent_cversion: int
    ttl: int | None


class Delete(NamedTuple):
    """A znode goes; ``operation`` is ``delete`` or ``deleteContainer``."""

    operation: str
    path: str


class SetData(NamedTuple):
    """A znode's data change.

    Args:
        operation: ``setData`` or ``reconfig``.
        path: Of the znode.
        data: The new data; ``None`` for null.
        version: The new version of the data.
    """

    operation: str
    path: str
    data: bytes | None
    version: int


class SetAcl(NamedTuple):
    """A znode's access rights change; ``version`` is the new version of them."""

    operation: str
    path: str
    acl: Acls
    version: int


class Check(NamedTuple):
    """Part of a multi that changes nothing: ``version`` is the one after that which was asked for."""

    operation: str
    path: str
    version: int


class CreateSession(NamedTuple):
    """A session begins; its time-out is in milliseconds."""

    operation: str
    timeout: int


class CloseSession(NamedTuple):
    """A session was closed or expired.

    Args:
        operation: ``closeSession``.
        paths: The znodes that go with it; ``None`` up to 3.5, which did not log them.
    """

    operation: str
    paths: tuple[str, ...] | None


class Failed(NamedTuple):
    """What was refused, and got a zxid all the same.

    Args:
        operation: ``error``.
        code: Of ``KeeperException.Code``; in a multi 0 for the parts before the one that failed.
    """

    operation: str
    code: int


class Unknown(NamedTuple):
    """A change with a checksum that fits and nonetheless not understood.

    Args:
        operation: ``unknown``.
        type: Its number in ``ZooDefs.OpCode``.
        content: Its bytes, with whatever follows them in the record.
        reason: What is wrong with it.
    """

    operation: str
    type: int
    content: bytes
    reason: str


class Multi(NamedTuple):
    """Changes that were made together, or not at all: see ``failed``."""

    operation: str
    parts: tuple["Change", ...]

    @property
    def failed(self) -> bool:
        """One of its parts was refused, so none of them happened."""
        return any(isinstance(part, Failed) for part in self.parts)


Change: TypeAlias = Create | Delete | SetData | SetAcl | Check | CreateSession | CloseSession | Failed | Multi | Unknown


class Digest(NamedTuple):
    """What 3.6 and later log of the tree behind a transaction, to find servers that differ (``TxnDigest``)."""

    version: int
    digest: int


class Transaction(NamedTuple):
    """A record of the log.

    Args:
        position: Of its first byte in the file.
        zxid: Its number.
        session: Who asked for it; a signed 64-bit integer, as ``ephemeralOwner`` is.
        cxid: The request's number in the session.
        time: Epoch milliseconds by the leader's clock.
        change: What it did.
        digest: ``None`` where none was logged.
        after_damage: Between it and the file's begin something could not be read, and may be missing.
    """

    position: int
    zxid: int
    session: int
    cxid: int
    time: int
    change: Change
    digest: Digest | None
    after_damage: bool


Row: TypeAlias = FileHead | Transaction | Damage


def read(stream: BinaryIO) -> Iterator[Row]:
    """Read a transaction log from its begin.

    At most one record, or one piece of the stream, is held at a time. No row at the end tells that it was reached: zeros there
    are preallocated, and a :class:`Damage` that no transaction follows is as a rule a record that was being written.

    Args:
        stream: Opened for reading bytes, at its begin.

    Returns:
        The head or the damage in its place, then transactions in the file's order and the damage between them. All of a file
        is told: what is in no row is zeros.

    Raises:
        OSError: The stream cannot be read.
    """
    window = Window(pieces(stream))
    first = head(window, _MAGIC)
    yield first
    after_damage, last = isinstance(first, Damage), -1
    while True:
        for position, body in _records(window):
            row = _transaction(position, body, after_damage)
            last = row.zxid
            yield row
        start, reason = window.start, _what_is_wrong(window.content)
        found = _seek(window, last)
        length = (window.start if found else window.used) - start
        if length > 0:
            yield Damage(start, length, reason)
            after_damage = True
        if not found:
            return


def _records(window: Window) -> Iterator[tuple[int, bytes]]:
    """Position and body of records as long as they are whole; the window then begins at what is none."""
    at, needed = 0, _FRAME.size
    while needed:
        at = window.reach(at, needed)
        content = window.content
        if len(content) - at < needed:
            break
        last_frame = len(content) - _FRAME.size
        while at <= last_frame:
            checksum, length = _FRAME.unpack_from(content, at)
            begin = at + _FRAME.size
            end = begin + length
            if length not in _LENGTHS or end >= len(content) or content[end] != _MARK:
                break
            body = content[begin:end]
            if adler32(body) != checksum:
                break
            yield window.start + at, body
            at = end + 1
        needed = _missing(content, at)
    window.drop(at)


def _missing(content: bytes, at: int) -> int:
    """Bytes that the record at ``at`` needs, if they are not at hand; 0 if they are, or if there is no record."""
    needed = _size(content, at)
    return needed if len(content) - at < needed else 0


def _size(content: bytes, at: int) -> int:
    """Bytes that the record at ``at`` takes, as far as that can be seen; 0 if there is none."""
    if len(content) - at < _FRAME.size:
        return _FRAME.size
    _, length = _FRAME.unpack_from(content, at)
    return length + _AROUND if length in _LENGTHS else 0


def _what_is_wrong(content: bytes) -> str:
    """Why no record begins here."""
    size = _size(content, 0)
    if len(content) < size:
        return "ends within a record"
    _, length = _FRAME.unpack_from(content)
    if length == 0:
        return "has zeros where a record should begin, and more behind them"
    if not size:
        return f"has a record that states a length of {length} bytes"
    if content[size - 1] != _MARK:
        return "has a record without its end mark"
    return "has a record without the checksum that it states"


def _seek(window: Window, last: int) -> bool:
    """Move the window to the next record behind what is damaged; ``False``, with the stream at its end, if there is none.

    Args:
        window: Begins at the damage.
        last: The last zxid before it; only a later one can come.
    """
    at = 1
    while True:
        if window.start + at >= window.used:  # zeros as far as one sees
            at = max(at, len(window.content) - _FRAME.size)
        found = _FRAME_AS_IT_BEGINS.search(window.content, at)
        begin = found.start() if found else max(at, len(window.content) - _FRAME.size)  # what is cut off may be one, too
        at = window.reach(begin, _FRAME.size + _HEADER.size)
        if len(window.content) - at < _FRAME.size + _HEADER.size:
            return False
        if _may_follow(window.content, at, last):
            at = window.reach(at, _size(window.content, at))
            if _is_whole(window.content, at):
                window.drop(at)
                return True
        at += 1


def _may_follow(content: bytes, at: int, last: int) -> bool:
    """There is a header of a known type with a later zxid: cheap to see, before anything is read for a length's sake."""
    _, _, zxid, _, kind = _HEADER.unpack_from(content, at + _FRAME.size)
    return zxid > last and kind in _OPERATIONS


def _is_whole(content: bytes, at: int) -> bool:
    size = _size(content, at)
    if not 0 < size <= len(content) - at or content[at + size - 1] != _MARK:
        return False
    checksum, _ = _FRAME.unpack_from(content, at)
    return adler32(memoryview(content)[at + _FRAME.size : at + size - 1]) == checksum


def _transaction(position: int, body: bytes, after_damage: bool) -> Transaction:
    session, cxid, zxid, time, kind = _HEADER.unpack_from(body)
    change, at = _change(kind, body, _HEADER.size, _OPERATIONS, behind=_DIGEST.size)
    digest = Digest._make(_DIGEST.unpack_from(body, at)) if at < len(body) else None
    return Transaction(position, zxid, session, cxid, time, change, digest, after_damage)


_Reader: TypeAlias = Callable[[bytes, int, str], tuple[Change, int]]


def _change(
    kind: int, body: bytes, at: int, operations: Mapping[int, tuple[str, _Reader]], *, behind: int = 0
) -> tuple[Change, int]:
    """The change that begins at ``at`` and where it ends: at the body's end, or ``behind`` bytes before it."""
    try:
        operation, reader = operations[kind]
        change, end = reader(body, at, operation)
    except KeyError:
        return Unknown("unknown", kind, body[at:], "is of a type that is not known"), len(body)
    except _TOO_SHORT:
        return Unknown("unknown", kind, body[at:], "ends too early"), len(body)
    except ValueError as error:
        return Unknown("unknown", kind, body[at:], str(error)), len(body)
    if len(body) - end not in (0, behind):
        return Unknown("unknown", kind, body[at:], f"ends {len(body) - end} bytes too late"), len(body)
    return change, end


def _create(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    data, at = buffer(body, at)
    acl, at = acls(body, at)
    if at + 1 == len(body):  # CreateTxnV0, of 3.3
        return Create(operation, path, data, acl, body[at] != 0, _NOT_LOGGED, None), at + 1
    ephemeral, parent_cversion = _CREATED.unpack_from(body, at)
    return Create(operation, path, data, acl, ephemeral, parent_cversion, None), at + _CREATED.size


def _create_container(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    data, at = buffer(body, at)
    acl, at = acls(body, at)
    (parent_cversion,) = _INT.unpack_from(body, at)
    return Create(operation, path, data, acl, False, parent_cversion, None), at + _INT.size


def _create_ttl(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    data, at = buffer(body, at)
    acl, at = acls(body, at)
    parent_cversion, ttl = _CREATED_WITH_TTL.unpack_from(body, at)
    return Create(operation, path, data, acl, False, parent_cversion, ttl), at + _CREATED_WITH_TTL.size


def _delete(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    return Delete(operation, path), at


def _set_data(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    data, at = buffer(body, at)
    (version,) = _INT.unpack_from(body, at)
    return SetData(operation, path, data, version), at + _INT.size


def _set_acl(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    acl, at = acls(body, at)
    (version,) = _INT.unpack_from(body, at)
    return SetAcl(operation, path, acl, version), at + _INT.size


def _check(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    (version,) = _INT.unpack_from(body, at)
    return Check(operation, path, version), at + _INT.size


def _create_session(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (timeout,) = _INT.unpack_from(body, at)
    return CreateSession(operation, timeout), at + _INT.size


def _close_session(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    if at == len(body):
        return CloseSession(operation, None), at
    try:
        paths, end = texts(body, at)
    except (ValueError, *_TOO_SHORT):
        return CloseSession(operation, None), at  # closeSessionTxn.enabled=false: what follows is a digest, or is told as unread
    return CloseSession(operation, paths), end


def _failed(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (code,) = _INT.unpack_from(body, at)
    return Failed(operation, code), at + _INT.size


def _multi(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    number, at = count(body, at)
    parts = []
    for _ in range(number):
        (kind,) = _INT.unpack_from(body, at)
        part, at = buffer(body, at + _INT.size)
        parts.append(_change(kind, part or b"", 0, _PARTS)[0])
    return Multi(operation, tuple(parts)), at


# By the numbers of ZooDefs.OpCode@3.8.4.
_PARTS: Mapping[int, tuple[str, _Reader]] = {
    1: ("create", _create),
    2: ("delete", _delete),
    5: ("setData", _set_data),
    7: ("setACL", _set_acl),
    13: ("check", _check),
    15: ("create2", _create),
    16: ("reconfig", _set_data),
    19: ("createContainer", _create_container),
    20: ("deleteContainer", _delete),
    21: ("createTTL", _create_ttl),
    -1: ("error", _failed),
    -10: ("createSession", _create_session),
    -11: ("closeSession", _close_session),
}
_OPERATIONS: Mapping[int, tuple[str, _Reader]] = {**_PARTS, 14: ("multi", _multi)}
