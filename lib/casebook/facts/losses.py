"""Rows of what was lost, when and why. Times are epoch milliseconds; ``None`` is unknown, never zero."""

from enum import StrEnum
from typing import NamedTuple

from casebook.facts.times import EpochMs


class Cause(StrEnum):
    """Why an acknowledged record is gone, in the order in which they are shown; what none explains is an alarm."""

    DEPOSED_LEADER = "deposed_leader"
    ISR_OF_ONE = "isr_of_one"
    UNCLEAN_ELECTION = "unclean_election"
    CUT_AT_START = "cut_at_start"
    DISK_LOST = "disk_lost"
    NEVER_RECEIVED = "never_received"
    ACKS_0 = "acks_0"
    EITHER_WINDOW = "either_window"  # several changes may have taken it, each for another cause


ALARM = "alarm"
"""The class of a lost record that lies outside every window."""


class LeaderChange(NamedTuple):
    """A change of leader, behind which records of the leader before may be missing.

    Args:
        number: In the order of time, over all partitions.
        topic: Topic name.
        partition: Partition number.
        opened: When the next leader was elected, by the reference clock.
        closed: When the old leader truncated, or else could no longer take writes; ``None``: not before the evidence ends.
        since: From when on records may be missing that the old leader took, as the next one no longer fetched them.
        old_leader: Who led before.
        new_leader: Who was elected; ``None`` for nobody.
        epoch: The new leader's; ``None`` when unknown.
        cut: First offset that may be gone: where the new leader's epoch begins, or to which the old leader truncated.
        isr: The in-sync replicas before; ``None`` when unknown.
        alone: From when on the old leader was alone in sync; ``None`` where it was not, or that is not known.
        unclean: Whether the new leader was not in sync; ``None`` when unknown.
        cut_at_start: Whether the new leader had cut its own log at its start, before it was elected.
        disk: Whether a disk or directory of the old leader was lost.
        planned: Somebody moved the leader from a broker that was well.
        opened_proof: Line or transaction that tells of the election.
        closed_proof: Line or transaction that tells of its end.
        cut_proof: What tells the cut; ``""`` without.
        event: What the change was part of, in a few words: ``broker 57 stood still``; ``""`` when unknown.
        by_then: ``closed`` is a bound: by then the old leader had given up, and nobody saw when.
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
    """A row of ``tables/reconciliation``: so many records of a partition have this class.

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
    """A record that was acknowledged and is gone: a row of ``tables/lost``.

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
        change: Number of the :class:`LeaderChange`, the first of several; ``None`` where none belongs to it.
        nearest: Milliseconds from it to the nearest window of its partition, negative when that came before; ``None`` without.
        either: Numbers of all changes that may have taken it, where they are several.
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
    """Lost records that have all of this in common, counted: what pictures are drawn from, however many there are.

    Args:
        topic: Topic name.
        partition: ``None`` when unknown.
        producer: ``None`` when unknown.
        cause: ``None`` for alarms.
        change: The first that may have taken them; ``None`` where none belongs to it.
        at: Begin of the 50 ms in which they were acknowledged; ``None`` when unknown.
        records: So many.
        either: All that may have taken them, where they are several: the evidence does not tell which.
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
    """A line of "Why": a cause, with how many records it took; every cause has one, also with none.

    Args:
        cause: ``None`` for the alarm, which comes first.
        records: ``None`` where it could not be told; see ``unknown``.
        where: Partitions, elections or brokers that were looked at, in words.
        window: When, in words; ``""`` without.
        proves: What proves it, or rules it out, in words.
        proof: ``path:line``, a transaction, or a table; ``""`` without.
        applies: Whether it could have happened at all: with ``acks=1`` alone, no record can go by an ISR of one.
    """

    cause: Cause | None
    records: int | None
    where: str
    window: str
    proves: str
    proof: str
    applies: bool = True


class CutRange(NamedTuple):
    """Offsets that disappeared from a copy: a row of ``tables/cut_ranges``. It needs no ledger.

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
    """How many records a change of leader may have taken, estimated without a ledger: a row of ``tables/loss_estimates``.

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
