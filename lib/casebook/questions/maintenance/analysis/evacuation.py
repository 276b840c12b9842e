"""Leadership away from brokers without copying anything: the quick variant of a drain.

The assignment keeps its brokers and gets another order, so that somebody else is the preferred leader; then the preferred leader
election is held. Replicas stay, so the brokers still count for the ISR: this saves leaders, not fault tolerance.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition
from casebook.kafka.drain import Blocked, KeepReason
from casebook.kafka.partitions import is_reassigning


class Turned(NamedTuple):
    """A partition that gets another preferred leader, or only an election.

    Args:
        topic: Its topic.
        partition: Its number.
        from_replicas: Assignment before.
        to_replicas: The same brokers, the next leader first.
        leader: Who leads now.
    """

    topic: str
    partition: int
    from_replicas: tuple[int, ...]
    to_replicas: tuple[int, ...]
    leader: int

    @property
    def leader_after(self) -> int:
        """Who leads after the election."""
        return self.to_replicas[0]


class Evacuation(NamedTuple):
    """Whom the leadership goes to, and what cannot go."""

    turned: tuple[Turned, ...]
    blocked: tuple[Blocked, ...]


def evacuate(cluster: Cluster, brokers: frozenset[int]) -> Evacuation:
    """Another leader for each partition that these brokers lead, or are preferred for; the same for the same evidence.

    The next leader is in sync and alive, none of them, and the one that leads least so far. Another order is a reassignment, and
    the tool takes none that names a dead broker (``verifyBrokerIds``, ``ReassignPartitionsCommand.scala@1.0.2, 2.8.2``).
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
    """Led by one of them, or preferred to be; those without living leader have nothing to hand over."""
    for partition in cluster.partitions:
        state = partition.state
        if state is not None and state.leader in cluster.live and brokers.intersection((state.leader, *partition.replicas[:1])):
            yield partition


def _reason(partition: Partition, cluster: Cluster) -> KeepReason | None:
    topic = cluster.topics.get(partition.topic)
    if topic is not None and topic.deleting:
        return KeepReason.DELETING
    return KeepReason.UNKNOWN if partition.problem is not None or is_reassigning(partition, cluster) else None
