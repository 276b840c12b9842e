"""Offsets that disappeared after leader changes, from logs and epochs, without a ledger."""

from collections.abc import Iterable, Sequence

from casebook.facts.losses import CutRange, LeaderChange, LostRecord
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.timeline import Timeline

_ENDS = "isr_shrunk"
"""From 2.4 on an old leader that shrinks its ISR logs its end offset (``Partition.scala@2.4.1``)."""


def cut_ranges(timeline: Timeline, changes: Sequence[LeaderChange]) -> tuple[CutRange, ...]:
    """Return the offsets that old leaders may have had after the start of the next one: a lower bound, when an end is known.

    No log shows an old leader's end at its truncation: an earlier end is a lower bound. A planned move between healthy brokers
    leaves only a few milliseconds, so it counts only with a known end.
    """
    ended = [row for row in timeline.rows if row.kind == _ENDS and row.number("end_offset") is not None]
    found = (_range(change, ended) for change in changes if change.cut is not None)
    return tuple(row for row in found if row is not None)


def bounded(ranges: Iterable[CutRange], changes: Iterable[LeaderChange], lost: Iterable[LostRecord]) -> tuple[CutRange, ...]:
    """Return the ranges, each extended to the last record known to be lost in it.

    Args:
        ranges: Disappeared ranges.
        changes: Changes that the lost records refer to.
        lost: Lost records; one that another window may have lost proves nothing.
    """
    places = {change.number: (change.topic, change.partition, change.epoch) for change in changes}
    ends: dict[object, int] = {}
    for record in lost:
        if record.change is not None and not record.either and record.offset is not None and record.cause is not None:
            place = places[record.change]
            ends[place] = max(ends.get(place, 0), record.offset + 1)
    return tuple(_to(row, ends.get((row.topic, row.partition, row.next_epoch))) for row in ranges)


def _to(row: CutRange, end: int | None) -> CutRange:
    if end is None or end <= max(row.from_offset, row.to_offset or 0):
        return row
    return row._replace(to_offset=end)


def _range(change: LeaderChange, ended: Iterable[EventRow]) -> CutRange | None:
    ends = (row.number("end_offset") for row in ended if _is_of(row, change))
    end = max((end for end in ends if end > change.cut), default=None)  # it may have grown since
    lived_on = change.closed is None or change.closed > change.opened
    if end is None and not (change.unclean or change.cut_at_start or (lived_on and not change.planned)):
        return None
    return CutRange(
        topic=change.topic,
        partition=change.partition,
        broker=change.old_leader,
        from_offset=change.cut,
        to_offset=end,
        at=change.opened if change.closed is None else change.closed,
        epoch=None if change.epoch is None else change.epoch - 1,
        next_epoch=change.epoch,
        why=_why(change),
        proof=change.cut_proof or change.opened_proof,
    )


def _is_of(row: EventRow, change: LeaderChange) -> bool:
    if (row.broker, row.topic, row.partition) != (change.old_leader, change.topic, change.partition) or row.at is None:
        return False
    return change.since <= row.at and (change.closed is None or row.at <= change.closed)


def _why(change: LeaderChange) -> str:
    if change.cut_at_start:
        return f"broker {change.new_leader} truncated its own log there, and was elected before it had fetched again"
    if change.unclean:
        return f"broker {change.new_leader} was elected out of sync, and started there"
    return f"broker {change.new_leader} started there while broker {change.old_leader} could still take writes"
