"""ZooKeeper's transaction log, ``log.<zxid>``, of 3.4 to 3.9: every transaction, and every byte that is none.

A record is its Adler-32, its length, header and change, and the mark ``B``; the file is preallocated with zeros
(``FileTxnLog.java``, ``SerializeUtils.java@3.8.4``). ZooKeeper stops reading at the first record that is not whole. This reads
on behind it, at the next record that has a length, a mark, a checksum and a zxid that fit; whoever uses the rows decides
whether those are safe to use.
"""

import re
import struct
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import lru_cache
from typing import BinaryIO, NamedTuple, TypeAlias
from zlib import adler32

from casebook.formats.zookeeper.records import (
    INT,
    LONGEST,
    Acls,
    FileHead,
    StreamDamage,
    StreamWindow,
    acls,
    buffer,
    count,
    head,
    named_buffer,
    pieces,
    read_int,
    text,
    texts,
)

_MAGIC = b"ZKLG"
_FRAME = struct.Struct(">qi")
_HEADER = struct.Struct(">qiqqi")
_FRAME_AND_HEADER = struct.Struct(">qiqiqqi")
_MARK = ord("B")
_AROUND = _FRAME.size + 1  # what a record has beside header and change
_LENGTHS = range(_HEADER.size, LONGEST + 1)
# An Adler-32 stands in a long, so its upper half is zero. What follows is a length up to LONGEST that is not zero, as without
# that each byte of the zeros at a file's end would be looked at.
_FRAME_AS_IT_BEGINS = re.compile(rb"\0\0\0\0[\s\S]{4}(?!\0{4})[\0-\4]")

_CREATED = struct.Struct(">?i")
_CREATED_WITH_TTL = struct.Struct(">iq")
_DIGEST = struct.Struct(">iq")
_DIGEST_SIZE = _DIGEST.size
_PART = struct.Struct(">ii")
_HEADS = struct.Struct(">iii")  # of a multi and its first part; also of a part and the path that it begins with
_LAST_OF_LENGTH = _HEADS.size - 1  # all of the first part's length, as far as it is below 256
_BESIDE_CHECK = _HEADS.size + _PART.size  # what is before a setData, without the check's own bytes
_LEAST_SET_DATA = 3 * INT
_LAYOUTS, _CHECKS = 4096, 4  # remembered at most
_SET_DATA, _CHECK = 5, 13
_NOT_LOGGED = -1

_TOO_SHORT = (EOFError, IndexError, struct.error)
_NOT_UNDERSTOOD = (KeyError, ValueError, *_TOO_SHORT)

_row = tuple.__new__  # what a named tuple's own constructor does, at half its price


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


Row: TypeAlias = FileHead | Transaction | StreamDamage


def read(stream: BinaryIO) -> Iterator[Row]:
    """Read a transaction log from its begin.

    At most one record, or one piece of the stream, is held at a time. No row at the end tells that it was reached: zeros there
    are preallocated, and a :class:`StreamDamage` that no transaction follows is as a rule a record that was being written.

    Args:
        stream: Opened for reading bytes, at its begin.

    Returns:
        The head or the damage in its place, then transactions in the file's order and the damage between them. All of a file
        is told: what is in no row is zeros.

    Raises:
        OSError: The stream cannot be read.
    """
    window = StreamWindow(pieces(stream))
    first = head(window, _MAGIC)
    yield first
    after_damage, last = isinstance(first, StreamDamage), -1
    while True:
        last = yield from _transactions(window, last, after_damage)
        start, reason = window.start, _what_is_wrong(window.content)
        found = _seek(window, last)
        length = (window.start if found else window.used) - start
        if length > 0:
            yield StreamDamage(start, length, reason)
            after_damage = True
        if not found:
            return


def _transactions(window: StreamWindow, last: int, after_damage: bool) -> Generator[Transaction, None, int]:
    """Records as long as they are whole; the window then begins at what is none.

    Millions come through here: what is done for each stands in one place, as calls and tuples are most of what it costs.

    Args:
        window: Begins at a record, or at what is none.
        last: The last zxid before it.
        after_damage: As the rows are to have it.

    Returns:
        The last zxid now.
    """
    frame, shortest, unpack = _FRAME.size, _HEADER.size, _FRAME_AND_HEADER.unpack_from
    at, needed = 0, frame
    while needed:
        at = window.reach(at, needed)
        content, start, size = window.content, window.start, len(window.content)
        if size - at < needed:
            break
        end_of_records = size - frame - shortest
        while at < end_of_records:
            checksum, length, session, cxid, zxid, time, kind = unpack(content, at)
            begin = at + frame
            end = begin + length
            if not shortest <= length <= LONGEST or end >= size or content[end] != _MARK:
                break
            body = content[begin:end]
            if adler32(body) != checksum:
                break
            digest = None
            try:
                operation, reader = _OPERATIONS[kind]
                change, behind = reader(body, shortest, operation)
                if length - behind == _DIGEST_SIZE:
                    digest = _row(Digest, _DIGEST.unpack_from(body, behind))
                elif behind != length:
                    raise _too_late(body, behind)
            except _NOT_UNDERSTOOD as error:
                change = _unknown(kind, body[shortest:], error)
            yield _row(Transaction, (start + at, zxid, session, cxid, time, change, digest, after_damage))
            at, last = end + 1, zxid
        needed = _missing(content, at)
    window.drop(at)
    return last


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


def _seek(window: StreamWindow, last: int) -> bool:
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


_Reader: TypeAlias = Callable[[bytes, int, str], tuple[Change, int]]
_SetDataLayout: TypeAlias = Callable[[bytes, int], tuple[bytes, int, bytes, int]]


def _part(kind: int, content: bytes) -> Change:
    """A change that is part of a multi, where it has bytes of its own."""
    try:
        operation, reader = _PARTS[kind]
        change, end = reader(content, 0, operation)
        if end != len(content):
            raise _too_late(content, end)
    except _NOT_UNDERSTOOD as error:
        return _unknown(kind, content, error)
    return change


def _unknown(kind: int, content: bytes, error: Exception) -> Unknown:
    """What stands for a change of which the reading ended in an error."""
    if isinstance(error, KeyError):
        return Unknown("unknown", kind, content, "is of a type that is not known")
    return Unknown("unknown", kind, content, "ends too early" if isinstance(error, _TOO_SHORT) else str(error))


def _too_late(body: bytes, end: int) -> ValueError:
    return ValueError(f"ends {len(body) - end} bytes too late")


def _create(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, data, at = named_buffer(body, at)
    acl, at = acls(body, at)
    if at + 1 == len(body):  # CreateTxnV0, of 3.3
        return Create(operation, path, data, acl, body[at] != 0, _NOT_LOGGED, None), at + 1
    ephemeral, parent_cversion = _CREATED.unpack_from(body, at)
    return _row(Create, (operation, path, data, acl, ephemeral, parent_cversion, None)), at + _CREATED.size


def _create_container(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, data, at = named_buffer(body, at)
    acl, at = acls(body, at)
    (parent_cversion,) = read_int(body, at)
    return Create(operation, path, data, acl, False, parent_cversion, None), at + INT


def _create_ttl(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, data, at = named_buffer(body, at)
    acl, at = acls(body, at)
    parent_cversion, ttl = _CREATED_WITH_TTL.unpack_from(body, at)
    return Create(operation, path, data, acl, False, parent_cversion, ttl), at + _CREATED_WITH_TTL.size


def _delete(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    return _row(Delete, (operation, path)), at


def _set_data(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (length,) = read_int(body, at)
    size = len(body) - at
    if 0 <= length <= size - _LEAST_SET_DATA:
        path, stated, data, version = _set_data_at(length, size)(body, at)
        if stated == len(data):  # neither null nor with a digest behind it
            return _row(SetData, (operation, path.decode(), data, version)), at + size
    path, data, at = named_buffer(body, at)
    (version,) = read_int(body, at)
    return _row(SetData, (operation, path, data, version)), at + INT


@lru_cache(_LAYOUTS)
def _set_data_at(path: int, size: int) -> _SetDataLayout:
    """What takes path, length of the data, data and version out of ``size`` bytes; a controller writes few lengths of them."""
    return struct.Struct(f">4x{path}si{size - path - _LEAST_SET_DATA}si").unpack_from


def _set_acl(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    acl, at = acls(body, at)
    (version,) = read_int(body, at)
    return SetAcl(operation, path, acl, version), at + INT


def _check(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    path, at = text(body, at)
    (version,) = read_int(body, at)
    return _row(Check, (operation, path, version)), at + INT


def _create_session(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (timeout,) = read_int(body, at)
    return CreateSession(operation, timeout), at + INT


def _close_session(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    if at == len(body):
        return CloseSession(operation, None), at
    try:
        paths, end = texts(body, at)
    except (ValueError, *_TOO_SHORT):
        return CloseSession(operation, None), at  # closeSessionTxn.enabled=false: what follows is a digest, or is told as unread
    return CloseSession(operation, paths), end


def _failed(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    (code,) = read_int(body, at)
    return Failed(operation, code), at + INT


def _multi(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    """Nearly all are a check and a setData, which are read at once; what differs in anything is read part by part."""
    try:
        begin = at + _BESIDE_CHECK + body[at + _LAST_OF_LENGTH]
        fence = _fence(body[at : begin + INT])
        if fence:
            check, size, set_data = fence
            path, stated, data, version = set_data(body, begin)
            if stated == len(data):
                change = _row(SetData, ("setData", path.decode(), data, version))
                return _row(Multi, (operation, (check, change))), begin + size
    except _NOT_UNDERSTOOD:
        pass
    return _part_by_part(body, at, operation)


@lru_cache(_LAYOUTS)
def _fence(head: bytes) -> tuple[Change, int, _SetDataLayout] | None:
    """How a multi goes on: few begin in a way of their own, as Kafka's controller has its epoch checked with all it writes.

    Args:
        head: Up to the path's length in the second part, where the first is a check; at most 279 bytes of anything else.

    Returns:
        The check, and of the setData behind it the size and what reads it; ``None`` where there is anything else.

    Raises:
        struct.error: The path does not fit into the size.
    """
    first, content, second = head[: _HEADS.size], head[_HEADS.size : -_HEADS.size], head[-_HEADS.size :]
    if first != _HEADS.pack(2, _CHECK, len(content)):
        return None
    kind, size, path = _HEADS.unpack(second)
    return (_check_again(content), size, _set_data_at(path, size)) if kind == _SET_DATA else None


def _part_by_part(body: bytes, at: int, operation: str) -> tuple[Change, int]:
    number, at = count(body, at)
    parts = []
    for _ in range(number):
        kind, length = _PART.unpack_from(body, at)
        begin = at + _PART.size
        at = begin + length
        if not begin <= at <= len(body):
            _, at = buffer(body, begin - INT)  # null, or it says what is wrong
        part = body[begin:at]
        parts.append(_check_again(part) if kind == _CHECK else _part(kind, part))
    return _row(Multi, (operation, tuple(parts))), at


@lru_cache(_CHECKS)
def _check_again(part: bytes) -> Change:
    """Most are the one before: Kafka's controller has its epoch checked with whatever it writes (KAFKA-6082)."""
    return _part(_CHECK, part)


# By the numbers of ZooDefs.OpCode@3.8.4.
_PARTS: Mapping[int, tuple[str, _Reader]] = {
    1: ("create", _create),
    2: ("delete", _delete),
    _SET_DATA: ("setData", _set_data),
    7: ("setACL", _set_acl),
    _CHECK: ("check", _check),
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
