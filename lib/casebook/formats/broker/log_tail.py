"""End of a segment: the offset after its last complete batch, and the batch's format.

The offset index leads near the end, like in Kafka's own recovery; from there batches are skipped by size, without reading
records. Message sets of formats 0 and 1 and batches of format 2 have a common start (``DefaultRecordBatch.java@3.9.0``,
``AbstractLegacyRecordBatch.java@3.9.0``): base offset, size, and the format at byte 16. A compressed message of format 0 or 1 has
the offset of its last record, as brokers write it (``ByteBufferMessageSet.scala@0.9.0.1``).
"""

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

Read = Callable[[int, int], bytes]
"""Bytes of a file from a position on; fewer at its end."""

_SIZED = struct.Struct(">qi")
_LEGACY = struct.Struct(">qi4xb")
_DELTA = struct.Struct(">i")
_LONGEST_HEAD = 27  # up to the difference between a batch's last offset and its first
_BEHIND_SIZE = 12
_WITH_DELTA = 2
_ENTRY = struct.Struct(">ii")
_MOST_BATCHES = 100_000
_MOST_TRIED = 4


class Tail(NamedTuple):
    """The end of a segment.

    Args:
        end: Offset of the next record.
        magic: Format of the last batch, 0 to 2; ``None`` without a batch.
    """

    end: int
    magic: int | None


def tail(log: Read, size: int, base_offset: int, index: Read | None = None, index_size: int = 0) -> Tail | None:
    """Return the end of a segment; ``None`` when its bytes are no batches, or its end is unknown without reading all of it.

    Args:
        log: The segment.
        size: Size.
        base_offset: Base offset, from its name.
        index: Offset index, if any; it may be longer than filled, as that of the active segment is.
        index_size: Size of the index.
    """
    near = _last_indexed(index, index_size, size) if index else ()
    begin = next((entry.position for entry in near if _holds(log, size, entry.position, base_offset + entry.offset)), 0)
    return _walk(log, size, begin, base_offset)


class _IndexEntry(NamedTuple):
    """An index entry: an offset relative to the segment's base, and the position of its batch."""

    offset: int
    position: int


class _Batch(NamedTuple):
    """Header of a batch; ``base`` is that of its last record before format 2."""

    base: int
    end: int
    bytes: int
    magic: int


def _last_indexed(index: Read, index_size: int, size: int) -> Iterator[_IndexEntry]:
    """Yield the last filled entries, last first: after them an active index is zero."""
    low, high = 0, index_size // _ENTRY.size  # entries before `low` are filled, those from `high` on are not
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if 0 < _entry(index, middle).position < size else (low, middle)
    for number in range(low - 1, max(-1, low - 1 - _MOST_TRIED), -1):
        yield _entry(index, number)


def _entry(index: Read, number: int) -> _IndexEntry:
    row = index(number * _ENTRY.size, _ENTRY.size)
    return _IndexEntry(*_ENTRY.unpack(row)) if len(row) == _ENTRY.size else _IndexEntry(0, 0)


def _holds(log: Read, size: int, position: int, offset: int) -> bool:
    """Return whether a complete batch with an offset is at a position: a damaged index is not trusted."""
    batch = _batch(log(position, _LONGEST_HEAD))
    if batch is None or position + _BEHIND_SIZE + batch.bytes > size:
        return False
    return offset < batch.end and (batch.magic < _WITH_DELTA or batch.base <= offset)


def _walk(log: Read, size: int, position: int, base_offset: int) -> Tail | None:
    end, magic = base_offset, None
    for _ in range(_MOST_BATCHES):
        head = log(position, _LONGEST_HEAD)
        if len(head) < _SIZED.size or _SIZED.unpack_from(head)[1] == 0:  # the end, or preallocated space
            return Tail(end, magic)
        if (batch := _batch(head)) is None or batch.end <= end:
            is_cut = position + _BEHIND_SIZE + _SIZED.unpack_from(head)[1] > size
            return Tail(end, magic) if is_cut else None
        if position + _BEHIND_SIZE + batch.bytes > size:  # being written
            return Tail(end, magic)
        end, magic = batch.end, batch.magic
        position += _BEHIND_SIZE + batch.bytes
    return None


def _batch(head: bytes) -> _Batch | None:
    """Return the batch at the start of some bytes; ``None`` when invalid."""
    if len(head) < _LEGACY.size:
        return None
    base, size, magic = _LEGACY.unpack_from(head)
    if size < _LEGACY.size - _BEHIND_SIZE or magic not in (0, 1, _WITH_DELTA) or base < 0:
        return None
    if magic < _WITH_DELTA:
        return _Batch(base, base + 1, size, magic)
    if len(head) < _LONGEST_HEAD or (delta := _DELTA.unpack_from(head, _LONGEST_HEAD - _DELTA.size)[0]) < 0:
        return None
    return _Batch(base, base + delta + 1, size, magic)
