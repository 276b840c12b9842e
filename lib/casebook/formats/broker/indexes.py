"""Companion files of a segment: offset, time and transaction index, and the producer snapshot.

Any input is safe. Rows are read while valid; the rest is a problem in words.
"""

import struct
from collections.abc import Callable, Iterator
from functools import cache
from itertools import takewhile
from typing import NamedTuple, TypeVar

from casebook.formats.broker.decoded import Decoded

_Row = TypeVar("_Row", bound=tuple)

_OFFSET = struct.Struct(">ii")
_TIME = struct.Struct(">qi")
_ABORTED = struct.Struct(">hqqqq")
_SNAPSHOT_HEAD = struct.Struct(">hIi")
_PRODUCER = struct.Struct(">qhiqiqiq")
_SNAPSHOT_VERSION = 1
_CRC_STARTS_AT = 6  # after version and crc
_NONE = -1


class OffsetEntry(NamedTuple):
    """A line of ``.index``.

    Args:
        offset: Up to 1.1 the first offset of the appended set, from 2.0 the last of its batch (``LogSegment.scala@1.1.1``,
            ``@2.0.0``).
        position: Position in the segment of its batch.
    """

    offset: int
    position: int


class TimeEntry(NamedTuple):
    """A line of ``.timeindex``: up to ``offset``, no record is later than ``timestamp`` (epoch milliseconds)."""

    timestamp: int
    offset: int


class AbortedTransaction(NamedTuple):
    """A line of ``.txnindex`` (``AbortedTxn.java@3.9.0``).

    Args:
        producer_id: Producer of the transaction.
        first_offset: Offset of its first record.
        last_offset: Offset of its ABORT marker.
        last_stable_offset: Last stable offset at the write.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class ProducerState(NamedTuple):
    """A producer in ``.snapshot`` (``ProducerStateManager.java@3.9.0``).

    Args:
        producer_id: Producer id.
        epoch: Producer epoch.
        last_sequence: Sequence of its last record; ``None`` when only markers are known.
        last_offset: Offset of its last record; ``None`` likewise.
        offset_delta: Number of records of its last batch minus one.
        timestamp: Time of its last batch, epoch milliseconds.
        coordinator_epoch: Coordinator epoch of the last marker; ``None`` without one.
        transaction_starts: First offset of its open transaction; ``None`` without one.
    """

    producer_id: int
    epoch: int
    last_sequence: int | None
    last_offset: int | None
    offset_delta: int
    timestamp: int
    coordinator_epoch: int | None
    transaction_starts: int | None


def offset_index(content: bytes, *, base_offset: int) -> Decoded[OffsetEntry]:
    """Parse ``.index``; trailing zeros of a preallocated one are no entries (``OffsetIndex.scala@0.9.0.1``)."""
    entries = (OffsetEntry(base_offset + relative, position) for relative, position in _entries(_OFFSET, content))
    return _rising(entries, _OFFSET, content, lambda last, row: row.offset > last.offset and row.position > last.position,
                   start=OffsetEntry(base_offset - 1, -1))  # fmt: skip


def time_index(content: bytes, *, base_offset: int) -> Decoded[TimeEntry]:
    """Parse ``.timeindex`` of 0.10.1 and later; trailing zeros as for :func:`offset_index` (``TimeIndex.java@3.9.0``)."""
    entries = (TimeEntry(timestamp, base_offset + relative) for timestamp, relative in _entries(_TIME, content))
    return _rising(entries, _TIME, content, lambda last, row: row.timestamp >= last.timestamp and row.offset >= last.offset,
                   start=TimeEntry(-1, base_offset))  # fmt: skip


def aborted_transactions(content: bytes) -> Decoded[AbortedTransaction]:
    """Parse ``.txnindex``: aborted transactions with their marker in the segment, in marker order."""
    whole = len(content) // _ABORTED.size
    versions = takewhile(lambda entry: entry[0] == 0, _ABORTED.iter_unpack(content[: whole * _ABORTED.size]))
    rows = (AbortedTransaction(*fields) for _, *fields in versions)
    sound = tuple(takewhile(lambda row: 0 <= row.first_offset <= row.last_offset, rows))
    return Decoded(sound, (*_torn(_ABORTED, content), *_senseless(len(sound), whole)))


def producer_snapshot(content: bytes) -> Decoded[ProducerState]:
    """Parse ``.snapshot``; with a wrong checksum its producers are returned with a problem."""
    if len(content) < _SNAPSHOT_HEAD.size:
        return Decoded((), (f"ends after {len(content)} bytes, within its head",))
    version, crc, count = _SNAPSHOT_HEAD.unpack_from(content)
    if version != _SNAPSHOT_VERSION:
        return Decoded((), (f"is of version {version}, which is not known",))
    body = content[_SNAPSHOT_HEAD.size :]
    whole = len(body) // _PRODUCER.size
    rows = tuple(_producer(*fields) for fields in _PRODUCER.iter_unpack(body[: whole * _PRODUCER.size]))
    problems = _torn(_PRODUCER, body)
    if count != whole:
        problems = (*problems, f"announces {count} producers and holds {whole}")
    if crc != crc32c(content[_CRC_STARTS_AT:]):
        problems = (*problems, "does not have the checksum that it states")
    return Decoded(rows, problems)


def without_padding(content: bytes, suffix: str) -> bytes:
    """Return an index without a broker's preallocated zeros, usually 10 MB; other files unchanged."""
    entry = {".index": _OFFSET, ".timeindex": _TIME}.get(suffix)
    return content if entry is None else content[: _used(entry, content) * entry.size]


def _producer(
    producer_id: int, epoch: int, sequence: int, offset: int, delta: int, timestamp: int, coordinator_epoch: int, starts: int
) -> ProducerState:
    return ProducerState(
        producer_id=producer_id,
        epoch=epoch,
        last_sequence=_known(sequence),
        last_offset=_known(offset),
        offset_delta=delta,
        timestamp=timestamp,
        coordinator_epoch=_known(coordinator_epoch),
        transaction_starts=_known(starts),
    )


def _known(number: int) -> int | None:
    return None if number == _NONE else number


def _entries(entry: struct.Struct, content: bytes) -> Iterator[tuple[int, ...]]:
    return entry.iter_unpack(content[: min(_used(entry, content), len(content) // entry.size) * entry.size])


def _used(entry: struct.Struct, content: bytes) -> int:
    """Return the number of entries before the padding.

    An all-zero entry does not exist, as a segment's first batch needs none.
    """
    return -(-len(content.rstrip(b"\0")) // entry.size)


def _rising(
    entries: Iterator[_Row], entry: struct.Struct, content: bytes, follows: Callable[[_Row, _Row], bool], *, start: _Row
) -> Decoded[_Row]:
    """Yield entries while each follows its predecessor: like a broker, discard an index that decreases."""
    rows: list[_Row] = []
    last = start
    for row in entries:
        if not follows(last, row):
            return Decoded(tuple(rows), (*_torn(entry, content), f"goes back at entry {len(rows) + 1}: the rest was not read"))
        rows.append(row)
        last = row
    return Decoded(tuple(rows), _torn(entry, content))


def _torn(entry: struct.Struct, content: bytes) -> tuple[str, ...]:
    rest = len(content) % entry.size
    return (f"ends within an entry: {rest} of {entry.size} bytes",) if rest else ()


def _senseless(sound: int, whole: int) -> tuple[str, ...]:
    return (f"entry {sound + 1} makes no sense: {whole - sound} were not read",) if sound < whole else ()


def crc32c(content: bytes) -> int:
    """Return the CRC-32C (Castagnoli) checksum that Kafka uses from 0.11 on."""
    table = _crc32c_table()
    crc = 0xFFFFFFFF
    for byte in content:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


@cache
def _crc32c_table() -> tuple[int, ...]:
    def entry(crc: int) -> int:
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        return crc

    return tuple(entry(byte) for byte in range(256))
