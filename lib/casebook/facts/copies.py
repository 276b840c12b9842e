"""Rows of a partition's copies held against each other. ``None`` is unknown, never zero.

Times are epoch milliseconds, by whoever wrote the records.
"""

from enum import StrEnum
from typing import NamedTuple


class Copy(NamedTuple):
    """A copy of a partition as it was read.

    Args:
        broker: Whose it is.
        topic: Its topic.
        partition: Its number.
        start: Where its log begins.
        end: Offset after its last record.
        epoch: The last leader epoch it knows, of its batches or its checkpoint; ``None`` before 0.11.
        cleaned_to: Compaction may have removed records below; ``None``: nobody knows how far, so its holes say nothing.
        damaged_bytes: What could not be read of it, a torn end aside, which a broker cuts off when it starts.
    """

    broker: int
    topic: str
    partition: int
    start: int
    end: int
    epoch: int | None = None
    cleaned_to: int | None = 0
    damaged_bytes: int = 0


class Absent(StrEnum):
    """Why a copy holds nothing where others hold records."""

    BEFORE = "before"  # its log begins later
    BEHIND = "behind"  # its log ends earlier
    CLEANED = "cleaned"  # compaction may have removed them: says nothing
    MISSING = "missing"  # they lie between its begin and its end, and no compaction explains the hole


class CopyContent(NamedTuple):
    """What a copy holds over a :class:`RecordRun`.

    Args:
        broker: Broker that has the copy.
        like: The lowest broker with the same records there, by key, value, headers and time; ``None`` when it holds none.
        absent: Why it holds none; ``None`` when it does.
        records: Without transaction markers; those of aborted transactions count.
        bytes: Their share of their batches on disk.
        from_time: Earliest record time; ``None`` without records, and in format 0, which has no time.
        to_time: Latest record time.
        first_epoch: Leader epoch of its first record; ``None`` in formats 0 and 1.
        last_epoch: Of its last.
        keys: Of its first and its last record with a key of 64 bytes at most, where they are text.
    """

    broker: int
    like: int | None
    absent: Absent | None
    records: int = 0
    bytes: int = 0
    from_time: int | None = None
    to_time: int | None = None
    first_epoch: int | None = None
    last_epoch: int | None = None
    keys: tuple[str, ...] = ()


class RecordRun(NamedTuple):
    """Neighbouring records over which the copies differ in one and the same way.

    Args:
        topic: Its topic.
        partition: Its number.
        first_offset: Of the first record that any copy holds.
        last_offset: Of the last.
        copies: One of each, by broker.
        other_epochs: Records that are the same were appended under different leaders.
        scattered: Of a partition with too many runs: several of the same kind in one, with others in between.
    """

    topic: str
    partition: int
    first_offset: int
    last_offset: int
    copies: tuple[CopyContent, ...]
    other_epochs: bool = False
    scattered: bool = False


class Compared(NamedTuple):
    """Copies, and where they differ: what no run covers, all copies hold alike."""

    copies: tuple[Copy, ...] = ()
    runs: tuple[RecordRun, ...] = ()
