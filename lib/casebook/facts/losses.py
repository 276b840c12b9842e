"""Rows of losses, with time and cause. Times are epoch milliseconds; ``None`` is unknown, never zero."""

from enum import StrEnum
from typing import NamedTuple

from casebook.facts.times import EpochMs


class Cause(StrEnum):
    """Cause of the loss of an acknowledged record, in display order; a loss without a cause is an alarm."""

    DEPOSED_LEADER = "deposed_leader"
    ISR_OF_ONE = "isr_of_one"
    UNCLEAN_ELECTION = "unclean_election"
    CUT_AT_START = "cut_at_start"
    DISK_LOST = "disk_lost"
    NEVER_RECEIVED = "never_received"
    ACKS_0 = "acks_0"
    EITHER_WINDOW = "either_window"  # several changes may have lost it, each for another cause


ALARM = "alarm"
"""Class of a lost record outside every window."""


class LeaderChange(NamedTuple):
    """A leader change after which records of the old leader may be missing.

    Args:
        number: Number in order of time, over all partitions.
        topic: Topic name.
        partition: Partition number.
        opened: Time of the election, by the reference clock.
        closed: When the old leader truncated, or could no longer accept writes; ``None``: not before the evidence ends.
        since: Earliest time of records that the old leader accepted and the new one may lack, as it no longer fetched.
        old_leader: Leader before.
        new_leader: Elected leader; ``None`` for no leader.
        epoch: Leader epoch of the new leader; ``None`` when unknown.
        cut: First offset that may be lost: start of the new leader's epoch, or the old leader's truncation offset.
        isr: ISR before; ``None`` when unknown.
        alone: Since when the old leader was the only in-sync replica; ``None`` when it was not, or unknown.
        unclean: Whether the new leader was out of sync; ``None`` when unknown.
        cut_at_start: Whether the new leader truncated its own log at its start, before the election.
        disk: Whether a disk or directory of the old leader was lost.
        planned: An operator moved the leader away from a healthy broker.
        opened_proof: Line or transaction of the election.
        closed_proof: Line or transaction of its end.
        cut_proof: Source of ``cut``; ``""`` without.
        event: Event that the change belongs to, in a few words: ``broker 57 stood still``; ``""`` when unknown.
        by_then: ``closed`` is an upper bound: the exact time was not observed.
    """

    number: int
    topic: str
    partition: int
    opened: int
    closed: int | None
    since: int
    old_leader: int | None
    new_leader: int | None
    epoch: int | None
    cut: int | None
    isr: tuple[int, ...] | None
    alone: int | None
    unclean: bool | None
    cut_at_start: bool
    disk: bool
    planned: bool
    opened_proof: str
    closed_proof: str
    cut_proof: str = ""
    event: str = ""
    by_then: bool = False


class ClassCount(NamedTuple):
    """A row of ``tables/reconciliation``: number of records of a partition in one class.

    Columns:
        topic: Topic name.
        partition: Partition number; null if unknown.
        verdict as class: Outcome of the records: docs/rules.md; reordered ones are also counted among the others.
        records: So many.
    """

    topic: str
    partition: int | None
    verdict: str
    records: int


class LostRecord(NamedTuple):
    """A lost acknowledged record: a row of ``tables/lost``.

    Columns:
        id: Record id, as the ledger has it.
        topic: Topic name.
        partition: As acknowledged; null when the ledger does not say.
        offset: As acknowledged; null when the ledger does not say.
        acked_at: Time of the acknowledgement, or else of sending; by the application's clock, ISO-8601 UTC.
        verdict as class: lost, or alarm: outside every window.
        cause: deposed_leader, isr_of_one, unclean_election, cut_at_start, disk_lost, never_received, acks_0, either_window; null:
            alarm.
        window: The change of leader that lost it, UTC; "either … or …" for several; empty for none.
        evidence: Proof, with path:line or transaction; empty for none.
        there_id: Id of the record that is at its offset today; null for none.
        there_epoch: Leader epoch of that record; null in formats 0 and 1.
        acks: The producer's setting, as the ledger has it.
        key: As the ledger has it.
        producer: As the ledger has it.

    Args:
        change: Number of the :class:`LeaderChange`, the first of several; ``None`` without one.
        nearest: Milliseconds to the nearest window of its partition, negative when that is earlier; ``None`` without.
        either: Numbers of all changes that may have caused the loss, when there are several.
    """

    id: str
    topic: str
    partition: int | None
    offset: int | None
    acked_at: EpochMs | None
    acks: str | None
    key: str | None
    producer: str | None
    cause: str | None
    change: int | None
    window: str
    evidence: str
    there_id: str | None
    there_epoch: int | None
    nearest: int | None
    either: tuple[int, ...] = ()

    @property
    def verdict(self) -> str:
        """``lost``, or ``alarm``."""
        return ALARM if self.cause is None else "lost"


class LostCount(NamedTuple):
    """Number of lost records with all these values in common; the source of figures, however many are lost.

    Args:
        topic: Topic name.
        partition: ``None`` when unknown.
        producer: ``None`` when unknown.
        cause: ``None`` for alarms.
        change: First change that may have caused the loss; ``None`` without one.
        at: Start of the 50 ms of their acknowledgement; ``None`` when unknown.
        records: Number of records.
        either: All changes that may have caused the loss, when the evidence does not decide.
    """

    topic: str
    partition: int | None
    producer: str | None
    cause: str | None
    change: int | None
    at: int | None
    records: int
    either: tuple[int, ...] = ()


class CauseRow(NamedTuple):
    """A line of "Why": a cause and its number of lost records. Every cause has a line.

    Args:
        cause: ``None`` for the alarm, which is first.
        records: Number of records; ``None`` when undecidable; see ``unknown``.
        where: Examined partitions, elections or brokers, in words.
        window: Time, in words; ``""`` without.
        proves: What proves or rules it out, in words.
        proof: ``path:line``, a transaction, or a table; ``""`` without.
        applies: Whether the cause is possible at all: with ``acks=1`` alone, an ISR of one loses no record.
    """

    cause: Cause | None
    records: int | None
    where: str
    window: str
    proves: str
    proof: str
    applies: bool = True


class CutRange(NamedTuple):
    """Offsets that disappeared from a copy: a row of ``tables/cut_ranges``. Needs no ledger.

    Columns:
        topic: Topic name.
        partition: Partition number.
        broker: The old leader.
        from_offset: First offset that may have disappeared.
        to_offset: Offset after the last one known to have existed, a lower bound; null: perhaps none.
        at: When the old leader resigned, by the reference clock, ISO-8601 UTC.
        epoch: Leader epoch that wrote them.
        next_epoch: Leader epoch that replaced it.
        why: In words.
        proof: Line or transaction.
    """

    topic: str
    partition: int
    broker: int | None
    from_offset: int
    to_offset: int | None
    at: EpochMs | None
    epoch: int | None
    next_epoch: int | None
    why: str
    proof: str


class Estimate(NamedTuple):
    """Estimated loss of a leader change without a ledger: a row of ``tables/loss_estimates``.

    Columns:
        change: Number of the change of leader.
        topic: Topic name.
        partition: Partition number.
        milliseconds: For how long records may have been missing; null when its end is unknown.
        slowest: Records a millisecond, the slowest growth of the log seen around it; null when none was seen.
        fastest: The fastest.
        least: Known to have been truncated; 0 if nothing is known.
        most: At the fastest growth for all of that time: an estimate; null when unknown.
        why: Why there is no upper bound; empty with one.
    """

    change: int
    topic: str
    partition: int
    milliseconds: int | None
    slowest: float | None
    fastest: float | None
    least: int
    most: int | None
    why: str
