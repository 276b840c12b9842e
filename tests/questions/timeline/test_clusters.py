"""Several clusters in the same logs, and partitions that are created anew: what was of the same name before is another thing."""

import pytest

from casebook.facts.cluster import instant
from casebook.findings.finding import Status
from casebook.questions.timeline.analysis.clusters import Clusters, renewals
from tests.questions.timeline.scenes import T0, event, examined, finding, windows

HOUR = 3_600_000


def started(after, cluster, broker=1, file="brokers/1/logs/server.log", line=1):
    """A process that starts, and says which cluster it serves."""
    return [
        event("broker_starting", after, broker, file=file, line=line),
        event("cluster_id", after + 500, broker, file=file, line=line + 1, cluster=cluster),
    ]


def changed(after, leader, come_from="OfflinePartition", line=1, **more):
    """A controller's line about orders-0."""
    told = {"from": come_from, "to": "OnlinePartition", "leader": leader} | more
    return event("partition_changed", after, 1, file="state-change.log", line=line, topic="orders", partition=0, **told)


def created(after, line):
    """A controller's line about the creation of orders-0."""
    told = {"from": "NonExistentPartition", "to": "NewPartition"}
    return event("partition_changed", after, 1, file="state-change.log", line=line, topic="orders", partition=0, **told)


class TestOfWhichCluster:
    def test_lines_of_another(self):
        """Lines are of the cluster that their process served, those before the first id of that one."""
        lines = [*started(0, "old"), *started(HOUR, "new", line=3)]
        early, late = event("become_leader", 900, 1), event("become_leader", HOUR + 900, 1)
        for current in ("new", None):
            clusters = Clusters(lines, current)
            assert [clusters.is_current(line) for line in (early, lines[0], late)] == [False, False, True]
        assert Clusters(lines, "old").is_current(early)

    def test_refused(self):
        """A broker that was led to a ZooKeeper of strangers, and refused, has not changed its cluster."""
        refused = event("startup_failed", HOUR + 600, 1, line=5, cluster="strangers", stored="own")
        lines = [*started(0, "own"), *started(HOUR, "strangers", line=3), refused]
        assert Clusters(lines, None).is_current(event("become_leader", 900, 1))

    @pytest.mark.parametrize(("ids", "expected"), [("AAB", ["B"]), ("ABA", []), ("AAA", []), ("ABC", ["B", "C"])])
    def test_renewals(self, ids, expected):
        """A cluster that comes back has not ended in between."""
        lines = [line for place, name in enumerate(ids) for line in started(place * HOUR, name, line=1 + 2 * place)]
        assert [one.cluster for one in renewals(examined(*lines).rows)] == expected


@pytest.mark.parametrize(
    "anew", [created(HOUR, 5), *[line for line in started(HOUR, "new", line=9) if line.kind == "cluster_id"]]
)
def test_no_election_in_place_of_another(anew):
    """Whoever leads a partition that is created anew leads in nobody's place, and was in sync."""
    first = event("cluster_id", 0, 1, line=1, cluster="old")
    before = changed(1000, 1, "NewPartition", line=2, isr="1", leader_epoch=0)
    after = changed(HOUR + 1000, 2, "NewPartition", line=6, isr="2", leader_epoch=0)
    kept, told = examined(first, before, after), examined(first, before, anew, after)
    assert kept.changes
    assert finding(told, "unclean_elections").status is not Status.FINDING
    assert not told.changes


def offline(after, line, epoch, removed=1):
    """A controller's line: nobody in sync is left of orders-0."""
    told = {"leader": -1, "isr": removed, "leader_epoch": epoch, "replica": removed}
    return event("isr_removed", after, 2, file="state-change.log", line=line, topic="orders", partition=0, **told)


def test_what_befell_another_cluster():
    """What began the trouble of a cluster that is gone began none of the one that replaced it."""
    failed = event("startup_failed", 600, 1, line=3, text="Socket server failed to bind to :9092")
    former = [*started(0, "old"), failed]
    assert "could not start" in finding(examined(*former, *started(HOUR, "new", line=9)), "root").title
    later = [changed(HOUR + 1000, 1, line=12, isr="1", leader_epoch=7), offline(HOUR + 5000, 13, 8)]
    told = finding(examined(*former, *started(HOUR, "new", line=9), *later), "root")
    assert told.status is Status.COULD_NOT_CHECK
    assert told.title.startswith("The cause of 1 partition without leader is unknown")
    assert (told.since, told.at_latest) == (instant(T0 + HOUR + 5000), True)


def test_without_leader_when_the_cluster_went():
    """It was without leader until then; that the next one of its name is, too, is told by whatever line speaks of it."""
    lines = [
        *started(0, "old"),
        changed(1000, 1, line=2, isr="1", leader_epoch=7),
        offline(5000, 3, 8),
        *started(HOUR, "new", line=3),
    ]
    (first,) = windows(examined(*lines), "leaderless")
    assert (first.opened - T0, first.closed - T0, first.new_leader) == (5000, HOUR, None)
    found = examined(*lines, offline(HOUR + 2000, 4, 3, removed=2))
    last = windows(found, "leaderless")[-1]
    assert (last.opened - T0, last.opened_earliest, last.closed) == (HOUR + 2000, None, None)
    went = "1 was deleted, or is being deleted, or is of an earlier cluster in these logs; for 1 it is unknown whether it has one again"
    assert went in finding(found, "leaderless").title
    led = examined(*lines, offline(HOUR + 2000, 4, 3), changed(HOUR + 3000, 1, line=5, isr="1", leader_epoch=4))
    assert (
        "2 partitions had no leader; 1 was deleted, or is being deleted, or is of an earlier cluster in these logs, the other has"
        in finding(led, "leaderless").title
    )


def test_without_leader_when_nobody_knows_which_cluster_it_was():
    """Hours after the last start of the one, and hours before the first known start of the other: it may be of either, and go on."""
    until, anew = 5 * HOUR, 10 * HOUR
    lines = [*started(0, "old"), changed(until - 1000, 1, line=2, isr="1", leader_epoch=7), offline(until, 3, 8)]
    lines += started(anew, "new", line=4)
    led = changed(anew + 3000, 1, line=6, isr="1", leader_epoch=4)
    for found in (examined(*lines), examined(*lines, led)):
        (one,) = windows(found, "leaderless")
        assert (one.opened - T0, one.closed) == (until, None)
        assert "for 1 it is unknown whether it has one again, or is of an earlier cluster" in finding(found, "leaderless").title
    again = finding(examined(*lines, led, offline(anew + 9000, 7, 5)), "leaderless")
    assert again.facts["partitions"] == 2  # one of each cluster, though of one name


def elected(after, epoch, line, broker=1):
    """A controller's line about its election."""
    return event("controller_elected", after, broker, file="controller.log", line=line)._replace(
        fields={"broker": str(broker), "epoch": str(epoch)}
    )


@pytest.mark.parametrize(("epoch", "least"), [(4, HOUR - 5000), (5, 0)], ids=["the next controller", "one in between"])
def test_a_controller_of_which_nothing_is_told(epoch, least):
    """It may have elected a leader: up to when the partition was without one nobody knows then."""
    lines = [elected(0, 3, 1, broker=2), changed(1000, 1, line=2, isr="1", leader_epoch=7), offline(5000, 3, 8)]
    lines += [elected(HOUR, epoch, 4, broker=2), changed(HOUR + 9000, 1, line=5, isr="1", leader_epoch=9)]
    (one,) = windows(examined(*lines), "leaderless")
    assert one.least == least


def test_a_stop_that_took_no_leader_began_nothing():
    """Hours before partitions were without leader, a broker stopped that is told to have led none."""
    stop = [event("broker_starting", -9000, 3), event("broker_stopping", 0, 3, line=2), event("broker_stopped", 50, 3, line=3)]
    lines = [changed(HOUR, 1, line=2, isr="1", leader_epoch=7), offline(2 * HOUR, 3, 8)]
    told = finding(examined(*stop, *lines), "root")
    assert told.title == "The cause of 1 partition without leader is unknown"
    assert (told.status, told.since) == (Status.COULD_NOT_CHECK, instant(T0 + 2 * HOUR))


@pytest.mark.parametrize(("assigned", "named"), [("3,4", True), ("4", False)])
def test_a_stop_of_who_holds_no_replica_began_nothing(assigned, named):
    """However near it was: the controller says to whom the partition is assigned."""
    stop = [event("broker_starting", -9000, 3), event("broker_stopping", 0, 3, line=2), event("broker_stopped", 50, 3, line=3)]
    place = {"topic": "t", "partition": 0, "file": "state-change.log"}
    gone = event("broker_change", 55, 1, file="controller.log", added="", deleted="3", live="1")
    lines = [gone, event("no_leader_possible", 60, 1, **place, line=2, live="", assigned=assigned), offline(70, 3, 8)]
    chains = examined(*stop, *lines).chains
    assert [chain.partitions for chain in chains if chain.broker == 3] == [int(named)]


def test_an_epoch_that_falls_is_of_another_cluster():
    """Its ZooKeeper was made anew, though the start that would tell the new id is missing; epochs of one cluster only rise."""
    starts_ = [*started(0, "old"), *started(10 * HOUR, "new", line=9)]
    fall = [elected(100, 4, 1), elected(3 * HOUR, 5, 2), elected(4 * HOUR, 1, 3), elected(11 * HOUR, 2, 4)]
    told = [(one.earliest - T0, one.since - T0, one.cluster) for one in renewals(examined(*starts_, *fall).rows)]
    assert told == [(3 * HOUR, 4 * HOUR, "new")]
    assert [one.since - T0 for one in renewals(examined(*fall).rows)] == [4 * HOUR]
    assert not renewals(examined(*started(0, "old"), *fall, *started(10 * HOUR, "old", line=9)).rows)
    other = [elected(100, 4, 1), elected(HOUR, 3, 1, broker=2), elected(2 * HOUR, 5, 2), elected(2 * HOUR - 9, 6, 3)]
    assert not renewals(examined(*other).rows)  # another's clock, or one that was set


def test_a_stop_of_a_process_that_served_a_former_cluster():
    """However long after its start: what it said at that start tells which cluster it served."""
    stops = [event("broker_stopping", 2 * HOUR, 1, line=3), event("broker_stopped", 2 * HOUR + 900, 1, line=4)]
    former = [*started(0, "old"), *stops]
    assert "Broker 1 was stopped" in finding(examined(*former), "root").title
    later = [changed(9 * HOUR + 1000, 1, line=12, isr="1", leader_epoch=7), offline(9 * HOUR + 5000, 13, 8)]
    told = finding(examined(*former, *started(9 * HOUR, "new", line=9), *later), "root")
    assert told.title.startswith("The cause of 1 partition without leader is unknown")
