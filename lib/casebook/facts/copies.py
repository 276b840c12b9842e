"""Rows that compare the copies of a partition. ``None`` is unknown, never zero.

Times are epoch milliseconds by the clock of the records' writer.
"""

from enum import StrEnum
from typing import NamedTuple


class Copy(NamedTuple):
    """A copy of a partition, as read.

    Args:
        broker: Broker id.
        topic: Topic name.
        partition: Partition number.
        start: Log start offset.
        end: Log end offset: after the last record.
        epoch: Last leader epoch in its batches or its checkpoint; ``None`` before 0.11.
        cleaned_to: Compaction may have removed records below this offset; ``None``: unknown, so gaps prove nothing.
        damaged_bytes: Unreadable bytes, without a torn end: a broker truncates that at start.
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
    """Why a copy lacks records that others have."""

    BEFORE = "before"  # its log begins later
    BEHIND = "behind"  # its log ends earlier
    CLEANED = "cleaned"  # compaction may have removed them: proves nothing
    MISSING = "missing"  # they lie within its log, and compaction does not explain the gap


class CopyContent(NamedTuple):
    """Records of a copy within a :class:`RecordRun`.

    Args:
        broker: Broker id.
        like: Lowest broker with the same records (key, value, headers and time); ``None`` when it has none.
        absent: Why it has none; ``None`` when it has some.
        records: Number of records without transaction markers; those of aborted transactions count.
        bytes: Their share of their batches on disk.
        from_time: Earliest record time; ``None`` without records, and in format 0, which has no time.
        to_time: Latest record time.
        first_epoch: Leader epoch of its first record; ``None`` in formats 0 and 1.
        last_epoch: Leader epoch of its last record.
        keys: Keys of the first and the last record that has a textual key of at most 64 bytes.
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
    """Adjacent records over which the copies differ in the same way.

    Args:
        topic: Topic name.
        partition: Partition number.
        first_offset: First offset that any copy has.
        last_offset: Last offset that any copy has.
        copies: Contents by broker.
        other_epochs: Equal records were appended under different leaders.
        scattered: Several runs of the same kind merged into one, with others in between: the partition has too many.
    """

    topic: str
    partition: int
    first_offset: int
    last_offset: int
    copies: tuple[CopyContent, ...]
    other_epochs: bool = False
    scattered: bool = False


class Compared(NamedTuple):
    """Copies and their differences. Outside the runs, all copies are equal."""

    copies: tuple[Copy, ...] = ()
    runs: tuple[RecordRun, ...] = ()
