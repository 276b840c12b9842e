"""Drain plans: what must hold of each, on many clusters; and the least of moves and most of racks, by trying all."""

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from casebook.facts.cluster import Broker, Cluster, Partition, PartitionState, Topic
from casebook.kafka.drain import KeepReason, Wanted, plan, reassignment

CLUSTERS = 10_000


def cluster(random):
    """Any small cluster: dead brokers, racks of some, one replica to three, out of sync, offline, moving, being deleted."""
    brokers = range(1, random.randint(2, 7) + 1)
    live = [broker for broker in brokers if random.random() < 0.9]
    racks = {broker: random.choice("abc") if random.random() < 0.7 else None for broker in brokers}
    partitions, reassigning = [], {}
    topics = {name: Topic(name=name, deleting=random.random() < 0.05) for name in ("a", "b", "__consumer_offsets")}
    for topic in sorted(topics):
        for number in range(random.randint(1, 5)):
            replicas = tuple(random.sample(brokers, random.randint(1, min(3, len(brokers)))))
            alive = [broker for broker in replicas if broker in live]
            isr = tuple(random.sample(alive, random.randint(1, len(alive)))) if alive else replicas[:1]
            state = PartitionState(isr[0] if alive else None, isr, 1, 1)
            partitions.append(Partition(topic, number, replicas, state=state if random.random() < 0.97 else None))
            if random.random() < 0.05:
                reassigning[topic, number] = tuple(random.sample(brokers, len(replicas)))
    registered = {broker: Broker(id=broker, rack=racks[broker]) for broker in random.sample(live, len(live))}
    return Cluster(brokers=registered, topics=topics, partitions=tuple(partitions), reassigning=reassigning)


def wanted(random):
    drained = frozenset(random.sample(range(1, 8), random.randint(1, 2)))
    return Wanted(brokers=drained, excluded=frozenset(random.sample(range(1, 8), random.randint(0, 1))),
                  factor=random.choice((1, 1, 2)), most_moves=random.randint(1, 4))  # fmt: skip


@pytest.fixture(scope="module")
def planned():
    """Clusters, what was asked, and the plans."""
    random = Random(7)
    asked = [(cluster(random), wanted(random)) for _ in range(CLUSTERS)]
    return [(one, want, plan(one, want, {("a", 0): 100, ("b", 1): 50})) for one, want in asked]


def base(one, partition):
    return one.reassigning.get((partition.topic, partition.partition), partition.replicas)


def test_nothing_is_forgotten(planned):
    """Every partition with a replica on a drained broker is moved, or named with the reason."""
    for one, want, found in planned:
        there = {(p.topic, p.partition) for p in one.partitions if want.brokers & set(base(one, p))}
        moved = [(move.topic, move.partition) for move in found.moves]
        left = [(blocked.topic, blocked.partition) for blocked in found.blocked]
        assert sorted(moved + left) == sorted(there)
    reasons = {blocked.reason for _, _, found in planned for blocked in found.blocked}
    assert reasons == set(KeepReason)


def test_targets(planned):
    """Nobody dead, drained, excluded or twice; nobody leaves but who is drained; as many as before, or as asked for."""
    for one, want, found in planned:
        for move in found.moves:
            to = set(move.to_replicas)
            assert to <= one.live - want.brokers
            assert not want.excluded & set(move.added)
            assert len(to) == len(move.to_replicas) == max(len(move.from_replicas), want.factor)
            assert set(move.from_replicas) - to == want.brokers & set(move.from_replicas)


def test_no_partition_is_worse_off_at_any_time(planned):
    """While it moves it has all it had; then at least as many live, in sync, and one of them leads."""
    for one, _, found in planned:
        for move in found.moves:
            assert move.leader in one.live
            assert move.leader_after in move.to_replicas
            assert len(move.to_replicas) >= len(one.live.intersection(move.from_replicas))
            assert len(move.to_replicas) >= len(move.in_sync) > 0


def test_least(planned):
    """As few replicas are copied as leave, and as are asked for besides: fewer is no drain."""
    for _, want, found in planned:
        for move in found.moves:
            stay = len(set(move.from_replicas) - want.brokers)
            assert len(move.added) == max(len(move.from_replicas), want.factor) - stay


def test_most_racks(planned):
    """No other choice of the same number of takers lies in more racks."""
    for one, want, found in planned[:2000]:
        racks = {broker: row.rack for broker, row in one.brokers.items()}
        takers = one.live - want.brokers - want.excluded
        for move in found.moves:
            stay = set(move.to_replicas) - set(move.added)
            choices = combinations(takers - stay, len(move.added))
            assert len({racks[b] for b in move.to_replicas}) == max(len({racks[b] for b in stay | set(c)}) for c in choices)


def test_steps(planned):
    """Single replicas first; no step copies more than it may, but of one partition that needs more."""
    for _, want, found in planned:
        sole = [len(move.from_replicas) > 1 for move in found.moves]
        assert sole == sorted(sole)
        for step in found.steps:
            copied = sum(len(move.added) for move in step.moves)
            assert copied <= want.most_moves or len(step.moves) == 1
            assert step.spare == min(len(move.in_sync) for move in step.moves) - 1
            assert step.unknown == sum(len(move.added) for move in step.moves if move.size is None)


def test_the_same_again(planned):
    """The order in which brokers registered makes no difference."""
    for one, want, found in planned[:1000]:
        turned = replace(one, brokers=dict(reversed(one.brokers.items())))
        assert plan(turned, want, {("a", 0): 100, ("b", 1): 50}) == found


def test_leaders_are_spread():
    """Who was preferred on the drained broker is followed by all in turn."""
    partitions = tuple(
        Partition("t", number, (1, 2 + number % 3), state=PartitionState(1, (1, 2 + number % 3), 1, 1)) for number in range(12)
    )
    one = Cluster(brokers={b: Broker(id=b) for b in (1, 2, 3, 4)}, topics={"t": Topic(name="t")}, partitions=partitions)
    found = plan(one, Wanted(brokers=frozenset({1})), {})
    preferred = [move.to_replicas[0] for move in found.moves]
    assert {preferred.count(broker) for broker in (2, 3, 4)} == {4}


def test_sizes_and_the_way_back():
    """The busiest broker decides how long it takes; the way back is the assignment before."""
    partitions = (
        Partition("t", 0, (1,), state=PartitionState(1, (1,), 1, 1)),
        Partition("t", 1, (1, 2), state=PartitionState(2, (2, 1), 1, 1)),
    )
    one = Cluster(brokers={b: Broker(id=b) for b in (1, 2, 3)}, topics={"t": Topic(name="t")}, partitions=partitions)
    found = plan(one, Wanted(brokers=frozenset({1})), {("t", 0): 1000, ("t", 1): 300})
    (step,) = found.steps
    assert [(move.partition, move.to_replicas) for move in step.moves] == [(0, (3,)), (1, (2, 3))]
    assert (step.size, step.unknown, step.spare) == (1300, 0, 0)
    assert step.seconds(100) == 13  # broker 3 receives both; broker 1 sends 1000, and broker 2 sends 300
    assert reassignment(found.moves, back=True) == {
        "version": 1,
        "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}, {"topic": "t", "partition": 1, "replicas": [1, 2]}],
    }
