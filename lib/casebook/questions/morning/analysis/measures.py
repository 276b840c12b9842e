"""Numbers tracked from run to run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.facts.disks import Partition
from casebook.findings.past_runs import Measure, Written
from casebook.kafka.verdict import PartitionCondition, Verdict, offline, online
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition

OF_A_COPY = ("bytes", "dirty_ratio", "limit", "cleaner_point", "load_ms")
"""Measures of each copy of a partition of the offsets topic."""


class StateWrites(NamedTuple):
    """Writes of a partition's state between two runs.

    Args:
        isr: By its leaders, the only writers that keep the leader epoch: the ISR shrank or expanded.
        leader: By the controller: a new leader, or a dead replica removed from the ISR.
    """

    isr: int
    leader: int


def written(verdicts: Iterable[Verdict]) -> dict[Partition, Written]:
    """Return the write counters of each partition's state, from its znode."""
    return {
        (v.topic, v.partition): Written(v.state_version, v.leader_epoch)
        for v in verdicts
        if v.state_version is not None and v.leader_epoch is not None
    }


def moved(before: Mapping[Partition, Written], now: Mapping[Partition, Written]) -> dict[Partition, StateWrites]:
    """Return the writes of each earlier partition; one with lower counters was recreated."""
    found = {}
    for partition, after in now.items():
        was = before.get(partition)
        if was is not None and was.version <= after.version and was.leader_epoch <= after.leader_epoch:
            leader = after.leader_epoch - was.leader_epoch
            found[partition] = StateWrites(max(0, after.version - was.version - leader), leader)
    return found


def measures(
    cluster: Cluster,
    verdicts: Sequence[Verdict],
    copies: Sequence[OffsetsPartition],
    moves: Mapping[Partition, StateWrites] | None,
) -> tuple[Measure, ...]:
    """Return all measures, in a fixed order.

    Args:
        verdicts: Verdicts on every partition.
        copies: Copies of the offsets topic.
        moves: Writes since the previous run; ``None`` without one.
    """
    return (*_of_partitions(cluster, verdicts), *_of_moves(cluster, moves), *_of_offsets_topic(copies))


def _of_partitions(cluster: Cluster, verdicts: Sequence[Verdict]) -> Iterator[Measure]:
    known = bool(verdicts) and not any(v.state is PartitionCondition.UNKNOWN for v in verdicts)
    yield _whole("partitions", len(verdicts) if verdicts else None)
    yield _whole("leaderless", len(offline(verdicts)) if known else None)
    yield _whole("under_min_isr", _hits(v.under_min_isr for v in online(verdicts)) if known else None)
    yield _whole("under_replicated", _hits(v.under_replicated for v in online(verdicts)) if known else None)
    yield _whole("single_copy", sum(map(cluster.has_one_copy, cluster.partitions)) if cluster.partitions else None)


def _hits(flags: Iterable[bool | None]) -> int | None:
    known = list(flags)
    return None if None in known else sum(map(bool, known))


def _of_moves(cluster: Cluster, moves: Mapping[Partition, StateWrites] | None) -> Iterator[Measure]:
    yield _whole("controller_epoch", cluster.controller.epoch)
    yield _whole("isr_changes", None if moves is None else sum(move.isr for move in moves.values()))
    yield _whole("leader_epochs", None if moves is None else sum(move.leader for move in moves.values()))


def _of_offsets_topic(copies: Sequence[OffsetsPartition]) -> Iterator[Measure]:
    largest: dict[int, int] = {}
    for copy in copies:
        largest[copy.partition] = max(copy.bytes, largest.get(copy.partition, 0))
    yield _whole("offsets_bytes", sum(largest.values()) if largest else None)
    for broker in sorted({copy.broker for copy in copies if copy.coordinator}):
        loads = [copy.load_ms for copy in copies if copy.coordinator and copy.broker == broker]
        yield Measure("load_ms", None, broker, None if None in loads else sum(loads))
    for copy in sorted(copies, key=lambda copy: (copy.partition, copy.broker)):
        for name in OF_A_COPY:
            yield Measure(name, copy.partition, copy.broker, getattr(copy, name))


def _whole(name: str, value: float | None) -> Measure:
    return Measure(name, None, None, value)
