"""How much may be lost where no ledger tells it: an estimate, from how fast a log grew and how long its window was."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.facts.disks import LogDir, Partition
from casebook.facts.losses import CutRange, Estimate, LeaderChange
from casebook.findings.words import count, plural
from casebook.kafka.past_rows import EventRow

_ENDS = {"isr_shrunk": "end_offset", "log_loaded": "offset", "become_leader": "offset", "segment_rolled": "offset"}
"""Lines that tell where a log ended at their moment, by the field that holds it."""

NEAR = 3_600_000
"""An observation so many milliseconds from a window, or as many as it is long, tells nothing of the rate in it."""


class LogEnd(NamedTuple):
    """A log ended at this offset at this moment."""

    at: int
    offset: int


def points(log_dirs: Iterable[LogDir], rows: Iterable[EventRow]) -> dict[Partition, tuple[LogEnd, ...]]:
    """Where each partition's log ended at which moments, in order of time.

    Of listed copies: the next segment begins where the one before ended when it was last written to. The checkpoint of high
    watermarks is a lower bound of the end of the log, taken as it was listed. Of log lines: those that name an end.

    Args:
        log_dirs: As listed.
        rows: Of the timeline.
    """
    found: dict[Partition, set[LogEnd]] = defaultdict(set)
    for log_dir in log_dirs:
        written = log_dir.checkpoints.get("replication-offset-checkpoint")
        for copy in log_dir.replicas:
            own = found[copy.topic, copy.partition]
            own.update(
                LogEnd(segment.modified, following.base_offset)
                for segment, following in pairwise(copy.segments)
                if segment.modified is not None and segment.bytes
            )
            if copy.high_watermark is not None and copy.segments:
                last = copy.segments[-1].modified
                seen = min(filter(None, (last, written)), default=None)
                if seen is not None:
                    own.add(LogEnd(seen, copy.high_watermark))
    for row in rows:
        offset = row.number(_ENDS[row.kind]) if row.kind in _ENDS and row.at is not None else None
        if offset is not None and row.topic is not None and row.partition is not None:
            found[row.topic, row.partition].add(LogEnd(row.at, offset))
    return {place: tuple(sorted(own)) for place, own in found.items()}


def estimates(
    changes: Iterable[LeaderChange], known: Mapping[Partition, Sequence[LogEnd]], ranges: Iterable[CutRange]
) -> tuple[Estimate, ...]:
    """Of each change of leader, how many records it may have taken.

    The least is what is known to have been cut away, else none: clients may have moved to the next leader at once. The most is
    the fastest growth seen around the window, for as long as records may have been missing, or all that was written between the
    observations around it, and never less than the least.

    Args:
        changes: Changes of leader.
        known: Where logs ended, by partition.
        ranges: What is known to have been cut away.
    """
    cut = {(row.topic, row.partition, row.next_epoch): row for row in ranges if row.to_offset is not None}
    return tuple(_estimate(change, known, cut.get((change.topic, change.partition, change.epoch))) for change in changes)


def _estimate(change: LeaderChange, known: Mapping[Partition, Sequence[LogEnd]], cut: CutRange | None) -> Estimate:
    least = 0 if cut is None else cut.to_offset - cut.from_offset
    begin = min(change.since, change.opened)
    length = None if change.closed is None else max(0, change.closed - begin)
    pairs = list(_pairs(known.get((change.topic, change.partition), ()), change))
    rates = [(two.offset - one.offset) / (two.at - one.at) for one, two in pairs]
    most = None
    if length is not None and pairs:
        within = (two.offset - one.offset for one, two in pairs if one.at < begin + length and two.at > begin)
        most = max(least, round(max(rates) * length), *within)
    why = ""
    if length is None:
        why = "the last write of the old leader has no known time"
    elif not pairs:
        why = "the write rate of the partition at that time is unknown"
    slowest, fastest = min(rates, default=None), max(rates, default=None)
    return Estimate(change.number, change.topic, change.partition, length, slowest, fastest, least, most, why)


def _pairs(own: Sequence[LogEnd], change: LeaderChange) -> Iterator[tuple[LogEnd, LogEnd]]:
    """Observations around the window, one after the other, those next to it among them; none from long before or after.

    Offsets go back where a log was cut; such a pair tells no rate. What was written between two may all have been in the window.
    """
    begin, end = min(change.since, change.opened), change.opened if change.closed is None else change.closed
    near = max(end - begin, NEAR)
    moments = [point.at for point in own]
    first, last = bisect_left(moments, begin), bisect_left(moments, end)
    for one, two in pairwise(own[max(0, first - 2) : last + 2]):
        if two.at > one.at and two.offset >= one.offset and two.at >= begin - near and one.at <= end + near:
            yield one, two


def facts(estimates: Sequence[Estimate]) -> dict[str, object]:
    """The estimate as plain numbers; the upper bound is unknown where that of one change is."""
    if not estimates:
        return {}
    most = [row.most for row in estimates]
    return {"estimate_least": sum(row.least for row in estimates), "estimate_most": None if None in most else sum(most)}


def sentence(estimates: Sequence[Estimate]) -> str:
    """How many may be lost, by how fast partitions were written to and how long records may have been missing."""
    known = [row for row in estimates if row.most is not None]
    doubtful = [row for row in estimates if row.most is None]
    of = plural(len(known), "change")
    least, most = sum(row.least for row in known), sum(row.most for row in known)
    basis = "by write rate and length of the window"
    told = f"An estimate for {of} of leader, {basis}: {count(least)} to {plural(most, 'record')} may be lost." if known else ""
    rest = f"For {plural(len(doubtful), 'change')} of leader there is no estimate: {doubtful[0].why}." if doubtful else ""
    return " ".join(filter(None, (told, rest)))
