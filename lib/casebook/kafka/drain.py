"""Drain brokers: a reassignment that moves no more than it must, in steps that take nothing from any partition.

Kafka adds the new replicas, waits until all that shall remain are in sync, elects a leader among them where it must, and only
then drops the old ones (``onPartitionReassignment`` in ``KafkaController.scala@0.9.0.1, 2.8.2``).
So a partition has at no time fewer living replicas than before; and a reassignment that keeps a dead one does not end.
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
    """Why a partition with a replica on a drained broker is not moved."""

    NO_TARGET = "no_target"  # no other broker may take it
    DEAD_REPLICA = "dead_replica"  # a replica that would remain is dead: the reassignment would wait for it
    NO_SOURCE = "no_source"  # no living replica is in sync: there is nothing to copy from
    UNKNOWN = "unknown"  # its state or assignment cannot be taken at its word
    DELETING = "deleting"  # its topic is being deleted


class NewAssignment(NamedTuple):
    """One partition's new assignment.

    Args:
        topic: Its topic.
        partition: Its number.
        from_replicas: Assignment before; for a running reassignment its target.
        to_replicas: Assignment after, the preferred leader first.
        size: Bytes of a replica; ``None`` when unknown.
        leader: Who leads now, and sends what is copied.
        leader_after: Leader after its end.
        in_sync: Living members of the ISR before.
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
        """Brokers that get a replica."""
        return tuple(broker for broker in self.to_replicas if broker not in self.from_replicas)


class Blocked(NamedTuple):
    """A partition that keeps its replica on a drained broker."""

    topic: str
    partition: int
    replicas: Replicas
    reason: KeepReason


class DrainStep(NamedTuple):
    """What is moved at once; the next step waits until all of it is in sync and no reassignment is left.

    Args:
        number: Counted from 1.
        moves: Its partitions.
        size: Bytes to be copied, as far as they are known.
        unknown: Replicas to be copied whose size is not.
        most: The most that one broker sends or receives, bytes; what a throttle is held against.
        spare: Brokers that may die meanwhile without any of these partitions losing its last replica in sync.
    """

    number: int
    moves: tuple[NewAssignment, ...]
    size: int
    unknown: int
    most: int
    spare: int

    def seconds(self, throttle: int) -> float:
        """How long copying takes at so many bytes a second for each broker; without what is unknown."""
        return self.most / throttle


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked for.

    Args:
        brokers: Whom to drain; they may be dead.
        excluded: Who takes nothing.
        factor: The least number of replicas that a moved partition gets.
        most_moves: Replicas copied in one step.
    """

    brokers: frozenset[int]
    excluded: frozenset[int] = frozenset()
    factor: int = 1
    most_moves: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainPlan:
    """The steps in order, and what stays where it is."""

    steps: tuple[DrainStep, ...] = ()
    blocked: tuple[Blocked, ...] = ()

    @property
    def moves(self) -> tuple[NewAssignment, ...]:
        """All of them in order."""
        return tuple(move for step in self.steps for move in step.moves)


def reassignment(moves: Iterable[NewAssignment], *, back: bool = False) -> dict[str, object]:
    """What ``kafka-reassign-partitions --reassignment-json-file`` takes, in all releases; ``back``: the way back."""
    rows = [
        {"topic": move.topic, "partition": move.partition, "replicas": list(move.from_replicas if back else move.to_replicas)}
        for move in moves
    ]
    return {"version": 1, "partitions": rows}


def plan(cluster: Cluster, wanted: Wanted, sizes: Mapping[Place, int]) -> DrainPlan:
    """A plan that is the same for the same evidence.

    Partitions with one replica go first, as nothing else saves them; then those with the fewest in sync.

    Args:
        cluster: The evidence.
        wanted: What is asked for.
        sizes: Bytes of a replica, of the partitions of which that is known.
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
    """Who holds and leads how much, as the plan goes on."""

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
        """The new assignment; ``None`` when nobody is left to take a replica."""
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
        """In a rack that has none of the others if there is one, then with the fewest replicas, then the first by id."""
        racks = {self._rack(broker) for broker in others}
        free = (broker for broker in self.targets if broker not in others)
        return min(free, key=lambda broker: (self._rack(broker) in racks, self.held[broker], broker), default=None)

    def _rack(self, broker: int) -> str | None:
        """Brokers that name none count as one rack: nothing tells them apart."""
        registered = self.cluster.brokers.get(broker)
        return registered.rack if registered else None

    def _noted(self, base: Replicas, places: Sequence[int]) -> Replicas:
        """With another preferred leader, where that was drained: who is preferred least."""
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
    """Moves in order, as many a step as may be copied at once, and at least one move."""
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
