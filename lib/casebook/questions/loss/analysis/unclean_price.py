"""Price of an election before it happens: what the best copy of a partition has and a candidate lacks.

It is the same for an unclean election and for starting one broker before the others: once a copy leads, no other is read, and
followers truncate their logs to it (``makeFollowers``, core/src/main/scala/kafka/server/ReplicaManager.scala@0.9.0.1;
``maybeTruncate``, core/src/main/scala/kafka/server/AbstractFetcherThread.scala@2.8.2).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from casebook.facts.copies import Absent, Compared, Copy, CopyContent, RecordRun
from casebook.facts.disks import Partition
from casebook.facts.times import EpochMs
from casebook.questions.loss.analysis.divergence import copies_of

Committed = Mapping[str, Mapping[Partition, int]]
"""Next offset of each group, by partition."""

_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """A group that has read records which would be lost: it waits at, or is reset from, a nonexistent offset.

    Args:
        group: Group id.
        offset: Committed offset.
        by: Distance beyond the candidate's end.
    """

    group: str
    offset: int
    by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UncleanPrice:
    """A row of ``tables/unclean_price``: loss if this candidate leads. ``None``: unknown, with the reason in ``why``.

    Records below where the candidate's log begins, or that compaction may have removed, do not count. The best copy is the last
    leader's, or the one with the highest epoch and then end.

    Columns:
        topic: Topic name.
        partition: Partition number.
        candidate: Broker that would lead.
        records: Records that the best copy holds and the candidate lacks; null if unknown.
        bytes: Their share of their batches.
        from_time: Earliest record time of them, ISO-8601 UTC.
        to_time: Latest.
        best: Broker whose copy is the measure.
        end: Where the candidate's log ends.
        why: Why there is no price; empty when there is.

    Args:
        from_offset: First lost offset; ``None`` also without any.
        keys: Some keys of such records; empty without textual ones.
        groups: Groups with commits beyond the candidate's end, farthest first; ``None`` when commits are unknown.
    """

    topic: str
    partition: int
    candidate: int
    records: int | None = None
    bytes: int | None = None
    from_time: EpochMs | None = None
    to_time: EpochMs | None = None
    best: int | None = None
    end: int | None = None
    from_offset: int | None = None
    keys: tuple[str, ...] = ()
    groups: tuple[Beyond, ...] | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPrice:
    """Price of starting one broker before the others, over all partitions that it would lead.

    Args:
        broker: Broker id.
        partitions: Number of partitions that it would lead.
        records: Total of lost records; ``None`` when one of them has no price.
        bytes: Their share of their batches.
        unknown: Number of partitions without a price.
    """

    broker: int
    partitions: int
    records: int | None
    bytes: int | None
    unknown: int


def prices(
    compared: Compared,
    candidates: Mapping[Partition, Iterable[int]],
    *,
    leaders: Mapping[Partition, int] | None = None,
    replicas: Mapping[Partition, Iterable[int]] | None = None,
    committed: Committed | None = None,
) -> tuple[UncleanPrice, ...]:
    """Compute the price of every candidate.

    Args:
        compared: Result of :func:`casebook.questions.loss.scans.replicas.compare`.
        candidates: Possible leaders by partition: live replicas outside the ISR, or dead ones that could be started.
        leaders: Last leader, or last in-sync replica, if known: its copy is the reference. Without it there is no price.
        replicas: All assigned replicas: without a last leader, a price requires every copy. Without an entry, the existing copies
            count as all.
        committed: Commits of groups; ``None`` when unknown.

    Returns:
        By topic and partition, the cheapest candidate first, those without price last.
    """
    copies, runs = copies_of(compared.copies), _by_partition(compared.runs)
    rows = []
    for place, brokers in candidates.items():
        scene = _Scene(
            place=place,
            copies=copies.get(place, ()),
            runs=tuple(runs.get(place, ())),
            leader=(leaders or {}).get(place),
            assigned=tuple((replicas or {}).get(place, ())),
        )
        rows += [_priced(scene, candidate, committed) for candidate in brokers]
    return tuple(sorted(rows, key=lambda row: (row.topic, row.partition, row.records is None, row.records, row.candidate)))


def start_prices(priced: Iterable[UncleanPrice], waits_for: Mapping[Partition, Iterable[int]]) -> tuple[StartPrice, ...]:
    """Return the price of starting each broker first, cheapest first.

    Args:
        priced: Result of :func:`prices`, with these brokers among the candidates.
        waits_for: Brokers that would each lead if started, by partition without a leader.
    """
    rows = {(row.topic, row.partition, row.candidate): row for row in priced}
    would_lead: dict[int, list[UncleanPrice | None]] = {}
    for place, brokers in waits_for.items():
        for broker in brokers:
            would_lead.setdefault(broker, []).append(rows.get((*place, broker)))
    found = (_started(broker, own) for broker, own in would_lead.items())
    return tuple(sorted(found, key=lambda row: (row.records is None, row.records, row.broker)))


def _started(broker: int, own: Sequence[UncleanPrice | None]) -> StartPrice:
    known = [row for row in own if row is not None and row.records is not None]
    whole = len(known) == len(own)
    return StartPrice(
        broker=broker,
        partitions=len(own),
        records=sum(row.records for row in known) if whole else None,
        bytes=sum(row.bytes for row in known) if whole else None,
        unknown=len(own) - len(known),
    )


def _by_partition(runs: Iterable[RecordRun]) -> dict[Partition, list[RecordRun]]:
    found: dict[Partition, list[RecordRun]] = {}
    for run in runs:
        found.setdefault((run.topic, run.partition), []).append(run)
    return found


class _Scene(NamedTuple):
    """Known data of a partition."""

    place: Partition
    copies: tuple[Copy, ...]
    runs: tuple[RecordRun, ...]
    leader: int | None
    assigned: tuple[int, ...]

    def copy(self, broker: int) -> Copy | None:
        return next((copy for copy in self.copies if copy.broker == broker), None)

    @property
    def best(self) -> Copy | None:
        """Reference copy: without a last leader the highest epoch, written by the latest leader, then the longest log."""
        if self.leader is not None:
            return self.copy(self.leader)
        return max(self.copies, key=lambda copy: (-1 if copy.epoch is None else copy.epoch, copy.end, -copy.broker), default=None)


def _priced(scene: _Scene, candidate: int, committed: Committed | None) -> UncleanPrice:
    topic, partition = scene.place
    own, best = scene.copy(candidate), scene.best
    row = UncleanPrice(
        topic=topic,
        partition=partition,
        candidate=candidate,
        best=best and best.broker,
        end=own and own.end,
        groups=_beyond(scene.place, own.end, committed) if own and committed is not None else None,
    )
    if why := _obstacle(scene, candidate):
        return replace(row, why=why)
    gone = [(run, held) for run in scene.runs if (held := _only_in(run, best.broker, candidate))]
    times = [time for _, held in gone for time in (held.from_time, held.to_time) if time is not None]
    return replace(
        row,
        records=sum(held.records for _, held in gone),
        bytes=sum(held.bytes for _, held in gone),
        from_time=min(times, default=None),
        to_time=max(times, default=None),
        from_offset=min((run.first_offset for run, _ in gone), default=None),
        keys=tuple(dict.fromkeys(key for _, held in gone for key in held.keys))[:_EXAMPLES],
    )


def _obstacle(scene: _Scene, candidate: int) -> str:
    """Return why there is no price; empty when there is one."""
    own, best = scene.copy(candidate), scene.best
    if own is None:
        return f"The copy of broker {candidate} is not in the evidence."
    if best is None:
        return f"The copy of broker {scene.leader}, the last leader, is not in the evidence."
    if scene.leader is None:
        missing = [broker for broker in scene.assigned if scene.copy(broker) is None]
        if missing:
            return f"The last leader is unknown, and the copy of broker {missing[0]} is not in the evidence."
        if len(scene.copies) == 1 and len(scene.assigned) != 1:
            return "No other copy is in the evidence."
    damaged = [copy.broker for copy in (own, best) if copy.damaged_bytes]
    return f"The copy of broker {damaged[0]} could be read only in part." if damaged else ""


def _only_in(run: RecordRun, best: int, candidate: int) -> CopyContent | None:
    """Return what the best copy has in a run and the candidate lacks."""
    by_broker = {held.broker: held for held in run.copies}
    there, here = by_broker[best], by_broker[candidate]
    if there.absent or here.like == there.like or here.absent in (Absent.BEFORE, Absent.CLEANED):
        return None
    return there


def _beyond(place: Partition, end: int, committed: Committed) -> tuple[Beyond, ...]:
    found = (
        Beyond(group=group, offset=offsets[place], by=offsets[place] - end)
        for group, offsets in committed.items()
        if offsets.get(place, 0) > end
    )
    return tuple(sorted(found, key=lambda row: (-row.by, row.group)))
