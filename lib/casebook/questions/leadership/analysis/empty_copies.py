"""Lost copies: starting a broker does not heal a partition without segments in its log dirs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir, Partition, log_dirs_of
from casebook.kafka.verdict import OFFLINE, Verdict

Lacking = Collection[tuple[int, str, int]]
"""Broker, topic and partition of lost copies."""


def without(
    judged: Sequence[Verdict], cluster: Cluster, dead: Collection[int], log_dirs: Sequence[LogDir]
) -> tuple[tuple[Verdict, ...], list[int]]:
    """Remove brokers from ``waits_for`` of verdicts when their log dirs have no segment of the partition.

    Returns:
        The verdicts, and that broker for each partition of which its log dirs hold nothing.
    """
    held = {broker: _Held(cluster, [one for one in log_dirs if one.broker == broker]) for broker in dead}
    kept, lacking = [], []
    for verdict in judged:
        gone = ()
        if verdict.state in OFFLINE:
            gone = tuple(b for b in verdict.waits_for if b in held and held[b].lacks((verdict.topic, verdict.partition)))
        lacking += gone
        kept.append(verdict._replace(waits_for=tuple(b for b in verdict.waits_for if b not in gone)) if gone else verdict)
    return tuple(kept), lacking


def lacking(cluster: Cluster, log_dirs: Sequence[LogDir]) -> Lacking:
    """Return dead brokers and partitions without a segment in their log dirs."""
    listed = {one.broker for one in log_dirs} - cluster.live
    held = {broker: _Held(cluster, [one for one in log_dirs if one.broker == broker]) for broker in listed}
    return frozenset(
        (broker, partition.topic, partition.partition)
        for partition in cluster.partitions
        for broker in listed.intersection(partition.replicas)
        if held[broker].lacks((partition.topic, partition.partition))
    )


class _Held:
    """Content of a broker's log dirs, as far as listed."""

    def __init__(self, cluster: Cluster, listed: Sequence[LogDir]) -> None:
        segments: dict[Partition, int] = defaultdict(int)
        for replica in (replica for one in listed for replica in one.replicas):
            segments[replica.topic, replica.partition] += len(replica.segments)
        self._segments: Mapping[Partition, int] = segments
        self._torn = any(one.problems for one in listed)
        self._is_whole = bool(listed) and _configured(cluster, listed[0].broker) == len(listed)

    def lacks(self, partition: Partition) -> bool:
        """Return whether it has no segment: its folder is empty, or missing in all of the broker's log dirs."""
        if self._torn:
            return False
        return not self._segments[partition] if partition in self._segments else self._is_whole


def _configured(cluster: Cluster, broker: int) -> int | None:
    """Return a broker's number of log dirs; ``None`` when neither its server.properties nor its log has it."""
    return len(set(log_dirs_of(cluster.started_with.get(broker, {})))) or None
