"""Rows of what consumers committed and did not process. Times are epoch milliseconds; ``None`` is unknown, never zero."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.times import EpochMs


class SkipKind(StrEnum):
    """How a record came to be committed and never processed."""

    BEFORE_PROCESSING = "committed_before_processing"  # others that the same commit passed were processed after it
    CRASH = "crash"  # who had taken it committed, and was gone before anybody went on
    ANOTHER_THREAD = "another_thread"  # records were processed out of order, and the commit waited for none of them
    SKIPPED = "skipped_by_reset"  # the group was set beyond it while it had no member, or had lost its offset
    PASSED_OVER = "passed_over"  # all others that the same commit passed had been processed, in order, when it came
    CANNOT_TELL = "cannot tell"


class UnprocessedDoubt(StrEnum):
    """Why nobody can tell whether a record was processed, or whether it had to be."""

    NOT_SCANNED = "not_scanned"  # its partition was not read
    UNMATCHED = "unmatched"  # no record at all is in the ledger: are these its ids?
    BEFORE_GROUP = "before_group"  # below the first known commit and the first processed record
    BEFORE_LEDGER = "before_ledger"  # committed before the ledger begins
    AFTER_LEDGER = "after_ledger"  # committed after the ledger ends
    OPEN = "open"  # its transaction has not ended
    UNTOLD = "untold"  # the ledger has it, and does not say what became of it
    WITHOUT_ID = "without_id"  # the ledger names no offsets, and no id was found in it
    UNREAD = "unread"  # it may stand in a ledger of its group, or in a row of one, that could not be used


class Unprocessed(NamedTuple):
    """A record that a group committed and never processed: a row of ``tables/unprocessed``.

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
    """What a group did with a partition's stored records, up to what it has committed.

    Args:
        group: Its id.
        topic: Topic name.
        partition: Partition number.
        committed: What it committed last; ``None`` when no commit is known.
        processed: Records that its ledger has; ``None`` where the partition was not read.
        twice: Of these, processed more than once.
        unprocessed: Records below what it committed that it never processed.
        how: Those by :class:`SkipKind`.
        unknown: Records of which nobody can tell, by :class:`UnprocessedDoubt`; of a partition that was not read ``None``.
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
    """What is odd about a commit, beside the one that it follows."""

    RESET = "reset"  # to somewhere else, while the group had no member
    AGAIN = "again"  # to somewhere else, after the offset had been deleted or had expired
    TO_START = "to_start"  # back, to 0 or to where the log begins
    STALE = "stale"  # back, after the coordinator changed or with an older time: an offset of before survived
    BACK = "back"  # back, by a member
    LATE = "late"  # on, but with an older time


class CommitStep(NamedTuple):
    """A commit that does not simply go on from the one before it: a row of ``tables/commit_steps``.

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
    """A line in which a client says that it goes on from another offset than the committed one, or that this was out of range.

    Args:
        client: Whose log it is; ``""`` when unknown.
        topic: Topic name.
        partition: Partition number.
        to: Where it goes on; ``None`` where the line does not say.
        at: When, epoch ms; ``None`` when unknown.
        proof: ``path:line``.
    """

    client: str
    topic: str
    partition: int
    to: int | None
    at: int | None
    proof: str


class AssignmentLine(NamedTuple):
    """A line in which a consumer says that a partition was assigned to it.

    Args:
        client: Whose log it is; ``""`` when unknown.
        topic: Topic name.
        partition: Partition number.
        at: When, epoch ms; ``None`` when unknown.
        proof: ``path:line``.
    """

    client: str
    topic: str
    partition: int
    at: int | None
    proof: str


class ClientsTold(NamedTuple):
    """What consumers' own logs say, in the order of time.

    Args:
        resets: Where they went on from elsewhere.
        assigned: Which partitions they were given.
    """

    resets: tuple[Reset, ...] = ()
    assigned: tuple[AssignmentLine, ...] = ()

    def of(self, topics: Collection[str]) -> "ClientsTold":
        """What is of some topics."""
        return ClientsTold(
            tuple(one for one in self.resets if one.topic in topics), tuple(one for one in self.assigned if one.topic in topics)
        )


NOTHING_TOLD = ClientsTold()
"""Of clients without logs."""
