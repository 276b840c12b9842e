"""What earlier maintenance left behind: reassignments that do not end, throttles, leaders that never went home, ghosts."""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition
from casebook.kafka.partitions import is_reassigning


class LeftoverKind(StrEnum):
    """What is left."""

    NOTHING_TO_MOVE = "nothing_to_move"  # an entry whose target is what the partition has already (KAFKA-9478)
    UNKNOWN_PARTITION = "unknown_partition"  # an entry for a partition that is not there
    WAITS_FOR_DEAD = "waits_for_dead"  # its target names a broker that is not registered: it does not end
    THROTTLE = "throttle"  # a limit on replication, and no reassignment that it could be for
    NOT_PREFERRED = "not_preferred"  # the preferred leader lives, is in sync, and does not lead
    DELETION_STUCK = "deletion_stuck"  # a topic being deleted has a replica on a broker that is not registered
    GHOST = "ghost"  # assigned to a broker that is not registered


class Leftover(NamedTuple):
    """One thing that is left: a row of ``tables/leftovers``.

    Columns:
        kind: nothing_to_move, unknown_partition, waits_for_dead, throttle, not_preferred, deletion_stuck or ghost.
        subject: A partition, a topic, or broker and its id.
        brokers: Brokers concerned; for not_preferred the preferred leader and the current one.
        detail: The setting, where it is one.
    """

    kind: LeftoverKind
    subject: str
    brokers: tuple[int, ...] = ()
    detail: str = ""


THROTTLES = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
"""Of a broker (``core/src/main/scala/kafka/server/DynamicConfig.scala@0.10.1.0, 2.8.2``)."""
THROTTLED = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
"""Of a topic (``core/src/main/scala/kafka/log/LogConfig.scala@0.10.1.0, 2.8.2``)."""


def leftovers(cluster: Cluster) -> tuple[Leftover, ...]:
    """Everything of the kind, by kind and subject.

    Where registrations could not be read nobody is called dead, so three of the kinds cannot be told.
    """
    found = (*_reassignments(cluster), *_throttles(cluster), *_leaders(cluster), *_dead(cluster))
    order = list(LeftoverKind)
    return tuple(sorted(found, key=lambda row: (order.index(row.kind), row.subject, row.detail)))


def _reassignments(cluster: Cluster) -> Iterator[Leftover]:
    there = {(p.topic, p.partition): p for p in cluster.partitions}
    for (topic, number), target in cluster.reassigning.items():
        subject, partition = f"{topic}-{number}", there.get((topic, number))
        if partition is None:
            yield Leftover(LeftoverKind.UNKNOWN_PARTITION, subject, tuple(target))
        elif not is_reassigning(partition, cluster):
            yield Leftover(LeftoverKind.NOTHING_TO_MOVE, subject, tuple(target))
    moving = (partition for partition in cluster.partitions if cluster.brokers_known and is_reassigning(partition, cluster))
    for partition in moving:
        if dead := _not_live(cluster.leads_to(partition), cluster):
            yield Leftover(LeftoverKind.WAITS_FOR_DEAD, partition.name, dead)


def _throttles(cluster: Cluster) -> Iterator[Leftover]:
    if any(is_reassigning(partition, cluster) for partition in cluster.partitions):
        return
    for broker, settings in cluster.broker_configs.items():
        for key in THROTTLES:
            if key in settings:
                yield Leftover(LeftoverKind.THROTTLE, f"broker {broker}", detail=f"{key}={settings[key]}")
    for topic, settings in cluster.topic_configs.items():
        for key in THROTTLED:
            if settings.get(key):
                yield Leftover(LeftoverKind.THROTTLE, topic, detail=f"{key}={settings[key]}")


def _leaders(cluster: Cluster) -> Iterator[Leftover]:
    for partition in cluster.partitions:
        state, first = partition.state, next(iter(partition.replicas), None)
        if state is None or state.leader is None or first in (None, state.leader) or partition.problem is not None:
            continue
        if first in cluster.live and first in state.isr:
            yield Leftover(LeftoverKind.NOT_PREFERRED, partition.name, (first, state.leader))


def _dead(cluster: Cluster) -> Iterator[Leftover]:
    if not cluster.brokers_known:
        return
    deleting = {name for name, topic in cluster.topics.items() if topic.deleting}
    stuck: dict[str, set[int]] = {}
    maybe_deleted = cluster.maybe_deleted
    for partition in (one for one in cluster.partitions if one.topic not in maybe_deleted):
        if dead := _not_live(partition.replicas, cluster):
            if partition.topic in deleting:
                stuck.setdefault(partition.topic, set()).update(dead)
            else:
                yield Leftover(LeftoverKind.GHOST, partition.name, dead)
    for topic, brokers in stuck.items():
        yield Leftover(LeftoverKind.DELETION_STUCK, topic, tuple(sorted(brokers)))


def _not_live(brokers: Iterable[int], cluster: Cluster) -> tuple[int, ...]:
    return tuple(broker for broker in brokers if broker not in cluster.live)


def imbalance(partitions: Iterable[Partition]) -> dict[int, float]:
    """By broker, the share of the partitions it is preferred for that somebody else leads, as the controller counts it.

    Source: checkAndTriggerAutoLeaderRebalance in ``core/src/main/scala/kafka/controller/KafkaController.scala@0.9.0.1, 2.8.2``;
    ``leader.imbalance.per.broker.percentage`` is held against it.
    """
    preferred, elsewhere = Counter(), Counter()
    for partition in partitions:
        if partition.replicas and partition.state is not None:
            first = partition.replicas[0]
            preferred[first] += 1
            elsewhere[first] += partition.state.leader != first
    return {broker: elsewhere[broker] / count for broker, count in sorted(preferred.items())}
