"""Drain brokers: a minimal reassignment, in steps that keep the number of live replicas of every partition.

Kafka adds the new replicas, waits until all target replicas are in sync, elects a leader among them if necessary, and only then
removes the old ones (``onPartitionReassignment`` in ``KafkaController.scala@0.9.0.1, 2.8.2``). So a partition never has fewer
live replicas than before, and a reassignment that keeps a dead one does not complete.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition

Replicas = tuple[int, ...]
Place = tuple[str, int]


class KeepReason(StrEnum):
    """Reason why a partition with a replica on a drained broker is not moved."""

    NO_TARGET = "no_target"  # no other broker is eligible
    DEAD_REPLICA = "dead_replica"  # a remaining replica is dead: the reassignment would wait for it
    NO_SOURCE = "no_source"  # no live replica is in sync: there is no source for a copy
    UNKNOWN = "unknown"  # its state or assignment is unreliable
    DELETING = "deleting"  # its topic is under deletion


class NewAssignment(NamedTuple):
    """One partition's new assignment.

    Args:
        topic: Topic name.
        partition: Partition number.
        from_replicas: Assignment before; the target of a running reassignment.
        to_replicas: Assignment after, the preferred leader first.
        size: Bytes of a replica; ``None`` when unknown.
        leader: Current leader and source of the copy.
        leader_after: Leader after completion.
        in_sync: Live members of the ISR before.
    """

    topic: str
    partition: int
    from_replicas: Replicas
    to_replicas: Replicas
    size: int | None
    leader: int
    leader_after: int
    in_sync: Replicas

    @property
    def added(self) -> Replicas:
        """Brokers that receive a replica."""
        return tuple(broker for broker in self.to_replicas if broker not in self.from_replicas)


class Blocked(NamedTuple):
    """A partition that keeps its replica on a drained broker."""

    topic: str
    partition: int
    replicas: Replicas
    reason: KeepReason


class DrainStep(NamedTuple):
    """Moves made at once; the next step waits until all are in sync and no reassignment is left.

    Args:
        number: Starts at 1.
        moves: New assignments.
        size: Bytes to copy, as far as known.
        unknown: Number of replicas to copy with unknown size.
        most: Maximum bytes that one broker sends or receives, the basis for a throttle.
        spare: Brokers that may fail meanwhile without any of these partitions losing its last in-sync replica.
    """

    number: int
    moves: tuple[NewAssignment, ...]
    size: int
    unknown: int
    most: int
    spare: int

    def seconds(self, throttle: int) -> float:
        """Copy time at so many bytes per second and broker, without replicas of unknown size."""
        return self.most / throttle


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Parameters of a drain.

    Args:
        brokers: Brokers to drain; they may be dead.
        excluded: Brokers that receive nothing.
        factor: Minimum replication factor of a moved partition.
        most_moves: Number of replicas copied in one step.
    """

    brokers: frozenset[int]
    excluded: frozenset[int] = frozenset()
    factor: int = 1
    most_moves: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainPlan:
    """Steps in order, and partitions that are not moved."""

    steps: tuple[DrainStep, ...] = ()
    blocked: tuple[Blocked, ...] = ()

    @property
    def moves(self) -> tuple[NewAssignment, ...]:
        """All moves in order."""
        return tuple(move for step in self.steps for move in step.moves)


def reassignment(moves: Iterable[NewAssignment], *, back: bool = False) -> dict[str, object]:
    """JSON for ``kafka-reassign-partitions --reassignment-json-file``, in all releases; ``back``: the way back."""
    rows = [
        {"topic": move.topic, "partition": move.partition, "replicas": list(move.from_replicas if back else move.to_replicas)}
        for move in moves
    ]
    return {"version": 1, "partitions": rows}


def plan(cluster: Cluster, wanted: Wanted, sizes: Mapping[Place, int]) -> DrainPlan:
    """Compute a plan; the same evidence gives the same plan.

    Partitions with one replica come first, as nothing else protects them; then those with the fewest in-sync replicas.

    Args:
        cluster: Facts of the cluster.
        wanted: Parameters of the drain.
        sizes: Size of a replica in bytes, for partitions where it is known.
    """
    on_them = [p for p in cluster.partitions if not wanted.brokers.isdisjoint(cluster.leads_to(p))]
    on_them.sort(key=lambda p: (len(cluster.leads_to(p)) > 1, len(_in_sync(p, cluster)), p.topic, p.partition))
    planner = _Planner(cluster, wanted)
    moves, blocked = [], []
    for partition in on_them:
        base = cluster.leads_to(partition)
        reason = _reason(partition, base, cluster, wanted)
        to = None if reason else planner.assign(base)
        if to is None:
            blocked.append(Blocked(partition.topic, partition.partition, base, reason or KeepReason.NO_TARGET))
            continue
        leader = partition.state.leader
        moves.append(
            NewAssignment(
                topic=partition.topic,
                partition=partition.partition,
                from_replicas=base,
                to_replicas=to,
                size=sizes.get((partition.topic, partition.partition)),
                leader=leader,
                leader_after=leader if leader in to else to[0],
                in_sync=_in_sync(partition, cluster),
            )
        )
    return DrainPlan(steps=tuple(_steps(moves, wanted.most_moves)), blocked=tuple(blocked))


def _in_sync(partition: Partition, cluster: Cluster) -> Replicas:
    return tuple(broker for broker in partition.state.isr if broker in cluster.live) if partition.state else ()


def _reason(partition: Partition, base: Replicas, cluster: Cluster, wanted: Wanted) -> KeepReason | None:
    topic = cluster.topics.get(partition.topic)
    if topic is not None and topic.deleting:
        return KeepReason.DELETING
    if partition.problem is not None or partition.state is None:
        return KeepReason.UNKNOWN
    if partition.state.leader not in cluster.live:
        return KeepReason.NO_SOURCE
    return None if cluster.live.issuperset(set(base) - wanted.brokers) else KeepReason.DEAD_REPLICA


@dataclass
class _Planner:
    """Replicas and leaders by broker while the plan grows."""

    cluster: Cluster
    wanted: Wanted
    held: Counter = field(default_factory=Counter)
    led: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.targets = sorted(self.cluster.live - self.wanted.brokers - self.wanted.excluded)
        for partition in self.cluster.partitions:
            base = self.cluster.leads_to(partition)
            self.held.update(base)
            self.led.update(base[:1])

    def assign(self, base: Replicas) -> Replicas | None:
        """Return the new assignment; ``None`` when no broker is left to receive a replica."""
        places = [None if broker in self.wanted.brokers else broker for broker in base]
        places += [None] * (self.wanted.factor - len(places))
        for place, broker in enumerate(places):
            if broker is None:
                taker = self._taker([other for other in places if other is not None])
                if taker is None:
                    return None
                places[place] = taker
        return self._noted(base, places)

    def _taker(self, others: Collection[int]) -> int | None:
        """Prefer a rack without the others, then the fewest replicas, then the lowest id."""
        racks = {self._rack(broker) for broker in others}
        free = (broker for broker in self.targets if broker not in others)
        return min(free, key=lambda broker: (self._rack(broker) in racks, self.held[broker], broker), default=None)

    def _rack(self, broker: int) -> str | None:
        """Brokers without a rack count as one rack: they cannot be distinguished."""
        registered = self.cluster.brokers.get(broker)
        return registered.rack if registered else None

    def _noted(self, base: Replicas, places: Sequence[int]) -> Replicas:
        """Return the assignment with a new preferred leader if that was drained: the broker with the fewest."""
        self.held.subtract(base)
        self.led.subtract(base[:1])
        to = list(places)
        if base[0] in self.wanted.brokers:
            first = min(to, key=lambda broker: (self.led[broker], broker))
            to.remove(first)
            to.insert(0, first)
        self.held.update(to)
        self.led.update(to[:1])
        return tuple(to)


def _steps(moves: Iterable[NewAssignment], most: int) -> Iterator[DrainStep]:
    """Yield the moves in order, as many per step as may be copied at once, and at least one."""
    number, held, copied = 1, [], 0
    for move in moves:
        if held and copied + len(move.added) > most:
            yield _step(number, held)
            number, held, copied = number + 1, [], 0
        held.append(move)
        copied += len(move.added)
    if held:
        yield _step(number, held)


def _step(number: int, moves: Sequence[NewAssignment]) -> DrainStep:
    traffic: Counter = Counter()
    for move in moves:
        for broker in move.added:
            traffic["to", broker] += move.size or 0
            traffic["from", move.leader] += move.size or 0
    return DrainStep(
        number=number,
        moves=tuple(moves),
        size=sum((move.size or 0) * len(move.added) for move in moves),
        unknown=sum(len(move.added) for move in moves if move.size is None),
        most=max(traffic.values(), default=0),
        spare=min(len(move.in_sync) for move in moves) - 1,
    )
