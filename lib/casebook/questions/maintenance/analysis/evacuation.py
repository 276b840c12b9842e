"""Move leadership away from brokers without copying: the quick variant of a drain.

The assignment keeps its brokers in another order, with another preferred leader; then the preferred leader election runs.
Replicas stay, so the brokers still count for the ISR: this protects leaders, not fault tolerance.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition
from casebook.kafka.drain import Blocked, KeepReason
from casebook.kafka.partitions import is_reassigning


class Turned(NamedTuple):
    """A partition with another preferred leader, or only an election.

    Args:
        topic: Topic name.
        partition: Partition number.
        from_replicas: Assignment before.
        to_replicas: The same brokers, next leader first.
        leader: Current leader.
    """

    topic: str
    partition: int
    from_replicas: tuple[int, ...]
    to_replicas: tuple[int, ...]
    leader: int

    @property
    def leader_after(self) -> int:
        """Return the leader after the election."""
        return self.to_replicas[0]


class Evacuation(NamedTuple):
    """Moves of leadership, and partitions that cannot move."""

    turned: tuple[Turned, ...]
    blocked: tuple[Blocked, ...]


def evacuate(cluster: Cluster, brokers: frozenset[int]) -> Evacuation:
    """Choose another leader for each partition that these brokers lead or are preferred for.

    The same evidence gives the same result.

    The next leader is in sync, alive, not one of them, and leads the fewest so far. Another order is a reassignment, and the tool
    accepts none with a dead broker (``verifyBrokerIds``, ``ReassignPartitionsCommand.scala@1.0.2, 2.8.2``).
    """
    led = Counter(p.state.leader for p in cluster.partitions if p.state is not None)
    turned, blocked = [], []
    for partition in _theirs(cluster, brokers):
        replicas, state = partition.replicas, partition.state
        fit = [b for b in replicas if b in state.isr and b in cluster.live and b not in brokers]
        reason = _reason(partition, cluster) or (None if fit else KeepReason.NO_TARGET)
        if reason is not None:
            blocked.append(Blocked(partition.topic, partition.partition, replicas, reason))
            continue
        first = replicas[0] if replicas[0] in fit else min(fit, key=lambda b: (b != state.leader, led[b], replicas.index(b)))
        to = (first, *(b for b in replicas if b != first))
        if to != replicas and not cluster.live.issuperset(replicas):
            blocked.append(Blocked(partition.topic, partition.partition, replicas, KeepReason.DEAD_REPLICA))
            continue
        led[state.leader] -= 1
        led[first] += 1
        turned.append(Turned(partition.topic, partition.partition, replicas, to, state.leader))
    return Evacuation(tuple(turned), tuple(blocked))


def _theirs(cluster: Cluster, brokers: frozenset[int]) -> Iterator[Partition]:
    """Yield partitions led by one of them, or with one preferred; without a live leader there is nothing to move."""
    for partition in cluster.partitions:
        state = partition.state
        if state is not None and state.leader in cluster.live and brokers.intersection((state.leader, *partition.replicas[:1])):
            yield partition


def _reason(partition: Partition, cluster: Cluster) -> KeepReason | None:
    topic = cluster.topics.get(partition.topic)
    if topic is not None and topic.deleting:
        return KeepReason.DELETING
    return KeepReason.UNKNOWN if partition.problem is not None or is_reassigning(partition, cluster) else None
