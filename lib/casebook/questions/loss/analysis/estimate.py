"""Estimated loss without a ledger, from the growth of a log and the length of its window."""

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
"""Log lines with the end of a log at their time, by its field."""

NEAR = 3_600_000
"""Observations are relevant within so many milliseconds of a window, or within its own length."""


class LogEnd(NamedTuple):
    """End offset of a log at a moment."""

    at: int
    offset: int


def points(log_dirs: Iterable[LogDir], rows: Iterable[EventRow]) -> dict[Partition, tuple[LogEnd, ...]]:
    """Return observed end offsets of each partition, in order of time.

    From listed copies: the next segment starts where the previous one ended at its last write. A checkpointed high watermark is a
    lower bound of the log end, at the time of the listing. From log lines: those with an end.

    Args:
        log_dirs: Listed log dirs.
        rows: Timeline events.
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
    """Return the estimated loss of each leader change.

    The minimum is the known truncation, else zero: clients may have moved to the next leader at once. The maximum is the fastest
    growth around the window times its length, or everything written between the observations around it, and at least the minimum.

    Args:
        changes: Leader changes.
        known: End offsets by partition.
        ranges: Known truncations.
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
    """Yield consecutive observations around the window, including its neighbours; none from long before or after.

    Offsets decrease at a truncation; such a pair has no rate. Everything written between two may have been in the window.
    """
    begin, end = min(change.since, change.opened), change.opened if change.closed is None else change.closed
    near = max(end - begin, NEAR)
    moments = [point.at for point in own]
    first, last = bisect_left(moments, begin), bisect_left(moments, end)
    for one, two in pairwise(own[max(0, first - 2) : last + 2]):
        if two.at > one.at and two.offset >= one.offset and two.at >= begin - near and one.at <= end + near:
            yield one, two


def facts(estimates: Sequence[Estimate]) -> dict[str, object]:
    """Return the estimate as plain numbers; the upper bound is unknown when that of one change is."""
    if not estimates:
        return {}
    most = [row.most for row in estimates]
    return {"estimate_least": sum(row.least for row in estimates), "estimate_most": None if None in most else sum(most)}


def sentence(estimates: Sequence[Estimate]) -> str:
    """Describe the possible loss, by write rates and the length of the windows."""
    known = [row for row in estimates if row.most is not None]
    doubtful = [row for row in estimates if row.most is None]
    of = plural(len(known), "change")
    least, most = sum(row.least for row in known), sum(row.most for row in known)
    basis = "by write rate and length of the window"
    told = f"An estimate for {of} of leader, {basis}: {count(least)} to {plural(most, 'record')} may be lost." if known else ""
    rest = f"For {plural(len(doubtful), 'change')} of leader there is no estimate: {doubtful[0].why}." if doubtful else ""
    return " ".join(filter(None, (told, rest)))
