"""Leftovers of earlier maintenance: endless reassignments, throttles, leaders away from their preferred broker, ghosts."""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition
from casebook.kafka.partitions import is_reassigning


class LeftoverKind(StrEnum):
    """Kind of a leftover."""

    NOTHING_TO_MOVE = "nothing_to_move"  # an entry with the current replicas as target (KAFKA-9478)
    UNKNOWN_PARTITION = "unknown_partition"  # an entry for a partition that does not exist
    WAITS_FOR_DEAD = "waits_for_dead"  # its target names an unregistered broker: it does not end
    THROTTLE = "throttle"  # a replication limit without a reassignment
    NOT_PREFERRED = "not_preferred"  # the preferred leader is alive and in sync, and does not lead
    DELETION_STUCK = "deletion_stuck"  # a topic under deletion has a replica on an unregistered broker
    GHOST = "ghost"  # assigned to an unregistered broker


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
"""Broker settings (``core/src/main/scala/kafka/server/DynamicConfig.scala@0.10.1.0, 2.8.2``)."""
THROTTLED = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
"""Topic settings (``core/src/main/scala/kafka/log/LogConfig.scala@0.10.1.0, 2.8.2``)."""


def leftovers(cluster: Cluster) -> tuple[Leftover, ...]:
    """Return all leftovers, by kind and subject.

    Without registrations no broker counts as dead, so three of the kinds are unknown.
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
    """Return by broker the share of its preferred partitions that other brokers lead, counted like the controller.

    Source: checkAndTriggerAutoLeaderRebalance in ``core/src/main/scala/kafka/controller/KafkaController.scala@0.9.0.1, 2.8.2``;
    the limit is ``leader.imbalance.per.broker.percentage``.
    """
    preferred, elsewhere = Counter(), Counter()
    for partition in partitions:
        if partition.replicas and partition.state is not None:
            first = partition.replicas[0]
            preferred[first] += 1
            elsewhere[first] += partition.state.leader != first
    return {broker: elsewhere[broker] / count for broker, count in sorted(preferred.items())}
