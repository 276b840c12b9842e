"""ZooKeeper's transaction log, ``log.<zxid>``, of 3.4 to 3.9: every transaction, and all damaged bytes.

A record consists of its Adler-32, its length, header and change, and the mark ``B``; the file is preallocated with zeros
(``FileTxnLog.java``, ``SerializeUtils.java@3.8.4``). ZooKeeper stops at the first incomplete record. This reader continues at the
next record with a plausible length, mark, checksum and zxid; the caller decides whether later rows are safe to use.
"""

import re
import struct
from collections.abc import Generator, Iterator
from typing import BinaryIO, NamedTuple, TypeAlias
from zlib import adler32

from casebook.formats.zookeeper.changes import NOT_UNDERSTOOD, OPERATIONS, Change, too_late, unknown
from casebook.formats.zookeeper.records import LONGEST, FileHead, StreamDamage, StreamWindow, head, pieces

_MAGIC = b"ZKLG"
_FRAME = struct.Struct(">qi")
_HEADER = struct.Struct(">qiqqi")
_FRAME_AND_HEADER = struct.Struct(">qiqiqqi")
_MARK = ord("B")
_AROUND = _FRAME.size + 1  # size of a record besides header and change
_LENGTHS = range(_HEADER.size, LONGEST + 1)
# An Adler-32 is stored in a long, so its upper half is zero. A length up to LONGEST follows; it must not be zero, or each byte of
# the zeros at a file's end would be examined.
_FRAME_AS_IT_BEGINS = re.compile(rb"\0\0\0\0[\s\S]{4}(?!\0{4})[\0-\4]")

_DIGEST = struct.Struct(">iq")
_DIGEST_SIZE = _DIGEST.size

_row = tuple.__new__  # like a named tuple's own constructor, at half its cost


class Digest(NamedTuple):
    """Digest of the tree after a transaction, in 3.6 and later, to find servers that differ (``TxnDigest``)."""

    version: int
    digest: int


class Transaction(NamedTuple):
    """A record of the log.

    Args:
        position: Position of its first byte in the file.
        zxid: Transaction id.
        session: Requesting session; a signed 64-bit integer, like ``ephemeralOwner``.
        cxid: The request's number in the session.
        time: Epoch milliseconds by the leader's clock.
        change: Change.
        digest: ``None`` when not logged.
        after_damage: Something between the file's start and it was unreadable, and may be missing.
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
    """Read a transaction log from its start.

    At most one record, or one piece of the stream, is in memory. No final row marks the end: trailing zeros are preallocated, and
    a final :class:`StreamDamage` is usually a record that was being written.

    Args:
        stream: Binary stream, at its start.

    Returns:
        The head or the damage in its place, then transactions in the file's order and the damage between them. All of a file
        is covered: bytes in no row are zeros.

    Raises:
        OSError: The stream is unreadable.
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
    """Yield complete records; the window then starts at the first other byte.

    This runs millions of times: the work for each is in one place, as calls and tuples dominate its cost.

    Args:
        window: Starts at a record, or at other bytes.
        last: The last zxid before it.
        after_damage: Value for the rows.

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
                operation, reader = OPERATIONS[kind]
                change, behind = reader(body, shortest, operation)
                if length - behind == _DIGEST_SIZE:
                    digest = _row(Digest, _DIGEST.unpack_from(body, behind))
                elif behind != length:
                    raise too_late(body, behind)
            except NOT_UNDERSTOOD as error:
                change = unknown(kind, body[shortest:], error)
            yield _row(Transaction, (start + at, zxid, session, cxid, time, change, digest, after_damage))
            at, last = end + 1, zxid
        needed = _missing(content, at)
    window.drop(at)
    return last


def _missing(content: bytes, at: int) -> int:
    """Return the bytes missing for the record at ``at``; 0 when complete, or without a record."""
    needed = _size(content, at)
    return needed if len(content) - at < needed else 0


def _size(content: bytes, at: int) -> int:
    """Return the size of the record at ``at``, as far as visible; 0 without one."""
    if len(content) - at < _FRAME.size:
        return _FRAME.size
    _, length = _FRAME.unpack_from(content, at)
    return length + _AROUND if length in _LENGTHS else 0


def _what_is_wrong(content: bytes) -> str:
    """Return why no record starts here."""
    size = _size(content, 0)
    if len(content) < size:
        return "ends within a record"
    _, length = _FRAME.unpack_from(content)
    if length == 0:
        return "has zeros where a record should begin, and more data after them"
    if not size:
        return f"has a record that states a length of {length} bytes"
    if content[size - 1] != _MARK:
        return "has a record without its end mark"
    return "has a record without the checksum that it states"


def _seek(window: StreamWindow, last: int) -> bool:
    """Move the window to the next record after damaged bytes; ``False``, with the stream at its end, without one.

    Args:
        window: Starts at the damage.
        last: The last zxid before it; only a later one can come.
    """
    at = 1
    while True:
        if window.start + at >= window.used:  # zeros as far as visible
            at = max(at, len(window.content) - _FRAME.size)
        found = _FRAME_AS_IT_BEGINS.search(window.content, at)
        begin = found.start() if found else max(at, len(window.content) - _FRAME.size)  # the cut rest may be one, too
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
    """Return whether a header of a known type with a later zxid follows: a cheap check before reading a whole length."""
    _, _, zxid, _, kind = _HEADER.unpack_from(content, at + _FRAME.size)
    return zxid > last and kind in OPERATIONS


def _is_whole(content: bytes, at: int) -> bool:
    size = _size(content, at)
    if not 0 < size <= len(content) - at or content[at + size - 1] != _MARK:
        return False
    checksum, _ = _FRAME.unpack_from(content, at)
    return adler32(memoryview(content)[at + _FRAME.size : at + size - 1]) == checksum
