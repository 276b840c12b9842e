"""Offsets that disappeared behind changes of leader, as logs and epochs tell, without any ledger."""

from collections.abc import Iterable, Sequence

from casebook.facts.losses import CutRange, LeaderChange, LostRecord
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.timeline import Timeline

_ENDS = "isr_shrunk"
"""From 2.4 on an old leader that shrinks its ISR says where its log ends (``Partition.scala@2.4.1``)."""


def cut_ranges(timeline: Timeline, changes: Sequence[LeaderChange]) -> tuple[CutRange, ...]:
    """What old leaders may have had behind the place at which the next one began: at least, as far as an end is known.

    Nobody tells where an old leader's log ended when it truncated: an end that it told before is a lower bound. A planned move
    between brokers that are well leaves a few milliseconds only, so it counts where an end is known.
    """
    ended = [row for row in timeline.rows if row.kind == _ENDS and row.number("end_offset") is not None]
    found = (_range(change, ended) for change in changes if change.cut is not None)
    return tuple(row for row in found if row is not None)


def bounded(ranges: Iterable[CutRange], changes: Iterable[LeaderChange], lost: Iterable[LostRecord]) -> tuple[CutRange, ...]:
    """The same ranges, each at least to behind the last record that is known to have been lost in it.

    Args:
        ranges: What disappeared.
        changes: Which the lost records name.
        lost: Lost records; one that another window may have taken proves nothing.
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
    end = max((end for end in ends if end > change.cut), default=None)  # it may have grown after it said so
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
