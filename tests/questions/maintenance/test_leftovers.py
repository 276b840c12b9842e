"""What maintenance left behind, each kind in evidence that shows it and in evidence that does not."""

from dataclasses import replace

from casebook.questions.maintenance.analysis.leftovers import LeftoverKind, imbalance, leftovers
from tests.evidence import made, override, state, znode


def found(**how):
    return [(row.kind, row.subject, row.brokers) for row in leftovers(made(**how))]


def reassigning(*rows):
    entries = [{"topic": topic, "partition": number, "replicas": list(replicas)} for topic, number, replicas in rows]
    return znode("/admin/reassign_partitions", {"version": 1, "partitions": entries})


WELL = {"t": {0: ([1, 2], state(1, [1, 2])), 1: ([2, 3], state(2, [2, 3]))}}


def test_nothing():
    assert found(topics=WELL) == []


def test_reassignments():
    """One that has ended long ago, one of a partition that is gone, and one that waits for a dead broker."""
    entries = reassigning(("t", 0, (1, 2)), ("gone", 0, (1,)), ("t", 1, (2, 9)))
    assert found(topics=WELL, extra=[entries]) == [
        (LeftoverKind.NOTHING_TO_MOVE, "t-0", (1, 2)),
        (LeftoverKind.UNKNOWN_PARTITION, "gone-0", (1,)),
        (LeftoverKind.WAITS_FOR_DEAD, "t-1", (9,)),
    ]


def test_throttles():
    """A limit that nothing needs; one that a running reassignment may need is none."""
    throttle = override("t", leader_replication_throttled_replicas="0:1")
    broker = znode("/config/brokers/1", {"version": 1, "config": {"leader.replication.throttled.rate": "1000"}})
    assert found(topics=WELL, extra=[throttle, broker]) == [
        (LeftoverKind.THROTTLE, "broker 1", ()),
        (LeftoverKind.THROTTLE, "t", ()),
    ]
    assert found(topics=WELL, extra=[throttle, broker, reassigning(("t", 1, (2, 1)))]) == []


def test_leaders():
    """The preferred one could lead, and does not; one that is out of sync could not."""
    partitions = {0: ([1, 2], state(2, [2, 1])), 1: ([1, 2], state(2, [2])), 2: ([3], state(3, [3])), 3: ([1], state(1, [1]))}
    assert found(topics={"t": partitions}) == [(LeftoverKind.NOT_PREFERRED, "t-0", (1, 2))]
    assert imbalance(made(topics={"t": partitions}).partitions) == {1: 2 / 3, 3: 0}


def test_dead():
    """A replica on a broker that is not registered; in a topic being deleted it is what the deletion waits for."""
    topics = {"t": {0: ([1, 7], state(1, [1]))}, "old": {0: ([8, 1], state(1, [1])), 1: ([1, 7], state(1, [1]))}}
    assert found(topics=topics, extra=[znode("/admin/delete_topics/old")]) == [
        (LeftoverKind.DELETION_STUCK, "old", (7, 8)),
        (LeftoverKind.GHOST, "t-0", (7,)),
    ]


def test_registrations_unknown():
    """Nobody is called dead."""
    read = made(topics={"t": {0: ([1, 7], state(1, [1]))}}, extra=[reassigning(("t", 0, (1, 9)))])
    assert {row.kind for row in leftovers(read)} == {LeftoverKind.GHOST, LeftoverKind.WAITS_FOR_DEAD}
    assert leftovers(replace(read, brokers_known=False)) == ()
