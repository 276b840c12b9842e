"""Rows of committed but unprocessed records. Times are epoch milliseconds; ``None`` is unknown, never zero."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.times import EpochMs


class SkipKind(StrEnum):
    """How a record was committed without processing."""

    BEFORE_PROCESSING = "committed_before_processing"  # others passed by the same commit were processed after it
    CRASH = "crash"  # its consumer committed, and disappeared before another one continued
    ANOTHER_THREAD = "another_thread"  # records were processed out of order, and the commit did not wait for them
    SKIPPED = "skipped_by_reset"  # the group was set beyond it while empty, or after it had lost its offset
    PASSED_OVER = "passed_over"  # all others passed by the same commit had been processed before it, in order
    CANNOT_TELL = "cannot tell"


class UnprocessedDoubt(StrEnum):
    """Why it is unknown whether a record was, or had to be, processed."""

    NOT_SCANNED = "not_scanned"  # its partition was not read
    UNMATCHED = "unmatched"  # no record at all is in the ledger: the ids may be wrong
    BEFORE_GROUP = "before_group"  # below the first known commit and the first processed record
    BEFORE_LEDGER = "before_ledger"  # committed before the ledger starts
    AFTER_LEDGER = "after_ledger"  # committed after the ledger ends
    OPEN = "open"  # its transaction is unfinished
    UNTOLD = "untold"  # the ledger has it without an outcome
    WITHOUT_ID = "without_id"  # the ledger has no offsets, and it has no id
    UNREAD = "unread"  # it may be in an unusable ledger, or row, of its group


class Unprocessed(NamedTuple):
    """A committed but unprocessed record: a row of ``tables/unprocessed``.

    Columns:
        id: As it is stored; null if none was found.
        topic: Topic name.
        partition: Partition number.
        offset: Its own.
        group: Group that committed it and never processed it.
        how: committed_before_processing, crash, another_thread, skipped_by_reset, passed_over or cannot tell.
        committed_at: Time of the commit that passed it for good, by the broker's clock, ISO-8601 UTC.
        since: Offset before that commit.
        until: Offset that it committed.
        log_partition: Partition of __consumer_offsets that has the commit.
        source_offset: Its offset there.
        segment: Base offset of its segment.
    """

    id: str | None
    topic: str
    partition: int
    offset: int
    group: str
    how: str
    committed_at: EpochMs | None
    since: int
    until: int
    log_partition: int
    source_offset: int
    segment: int


class GroupWork(NamedTuple):
    """A group's work on a partition's stored records, up to its committed offset.

    Args:
        group: Group id.
        topic: Topic name.
        partition: Partition number.
        committed: Last committed offset; ``None`` without a known commit.
        processed: Number of records in its ledger; ``None`` when the partition was not read.
        twice: Number of these processed more than once.
        unprocessed: Number of unprocessed records below its committed offset.
        how: Number of those by :class:`SkipKind`.
        unknown: Number of undecided records by :class:`UnprocessedDoubt`; ``None`` for an unread partition.
    """

    group: str
    topic: str
    partition: int
    committed: int | None
    processed: int | None
    twice: int | None
    unprocessed: int | None
    how: Mapping[str, int]
    unknown: Mapping[str, int | None]


class StepKind(StrEnum):
    """How a commit is irregular, relative to its predecessor."""

    RESET = "reset"  # elsewhere, while the group was empty
    AGAIN = "again"  # elsewhere, after the offset was deleted or expired
    TO_START = "to_start"  # back, to 0 or to the log start
    STALE = "stale"  # back, after the coordinator changed or with an older time: an older offset survived
    BACK = "back"  # back, by a member
    LATE = "late"  # forward, but with an older time


class CommitStep(NamedTuple):
    """An irregular commit: a row of ``tables/commit_steps``.

    Columns:
        group: Who committed.
        topic: Committed topic.
        partition: Committed partition.
        before: Offset of the previous commit.
        offset: Offset of this commit.
        before_at: Time of the previous commit, ISO-8601 UTC.
        at: Time of this commit.
        kind: reset, again, to_start, stale, back or late.
        log_partition: Partition of __consumer_offsets that has it.
        source_offset: Its offset there.
        segment: Base offset of its segment.
    """

    group: str
    topic: str
    partition: int
    before: int
    offset: int
    before_at: EpochMs | None
    at: EpochMs | None
    kind: StepKind
    log_partition: int
    source_offset: int
    segment: int


class Reset(NamedTuple):
    """A log line on a client's reset to another offset than the committed one, or on an out-of-range offset.

    Args:
        client: Client of the log; ``""`` when unknown.
        topic: Topic name.
        partition: Partition number.
        to: New position; ``None`` when not printed.
        at: Time, epoch ms; ``None`` when unknown.
        proof: ``path:line``.
    """

    client: str
    topic: str
    partition: int
    to: int | None
    at: int | None
    proof: str


class AssignmentLine(NamedTuple):
    """A consumer's log line on the assignment of a partition.

    Args:
        client: Client of the log; ``""`` when unknown.
        topic: Topic name.
        partition: Partition number.
        at: Time, epoch ms; ``None`` when unknown.
        proof: ``path:line``.
    """

    client: str
    topic: str
    partition: int
    at: int | None
    proof: str


class ConsumerLogs(NamedTuple):
    """Content of consumers' own logs, in order of time.

    Args:
        resets: Position resets.
        assigned: Assigned partitions.
    """

    resets: tuple[Reset, ...] = ()
    assigned: tuple[AssignmentLine, ...] = ()

    def of(self, topics: Collection[str]) -> "ConsumerLogs":
        """Return the lines on some topics."""
        return ConsumerLogs(
            tuple(one for one in self.resets if one.topic in topics), tuple(one for one in self.assigned if one.topic in topics)
        )


NOTHING_TOLD = ConsumerLogs()
"""Content without client logs."""
