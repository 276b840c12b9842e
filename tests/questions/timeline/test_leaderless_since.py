"""Since when nobody leads: what a state alone tells, and what logs and history add to it."""

from casebook.facts.cluster import Broker, Cluster, Partition, PartitionState, instant
from casebook.facts.stamp import Stamp
from casebook.questions.leadership.analysis import leadership
from casebook.questions.timeline.analysis import leaderless_since
from tests.questions.timeline.scenes import NEW, T0, History, event, examined

LATER = T0 + 1400


def cluster(leader):
    """Broker 1, alone in sync, is dead; the state was written last at LATER."""
    state = PartitionState(leader, (1,), 1, 1, stamp=Stamp(changed_at=LATER))
    return Cluster(brokers={2: Broker(id=2)}, partitions=(Partition("t", 0, (1, 2), state=state),))


def offline(of, told=None):
    """The finding on partitions without leader, with what a timeline adds to it."""
    lead = leadership.examine(of, NEW)
    found = lead.findings if told is None else leaderless_since.dated(lead.findings, lead.verdicts, told)
    return next(finding for finding in found if finding.check == "leadership.offline")


def history():
    """Broker 1 leads and is lost at 1000; what follows is the caller's."""
    told = History()
    told.register(1, -50_000, 0xA)
    told.register(2, -50_000, 0xB)
    told.write("t", 0, 1, (1,), 0, -40_000)
    told.lose(1, 1000, 0xA)
    return told


def test_a_state_tells_when_it_was_written():
    """Leader -1 has been so from then on, and maybe longer; that a leader died nobody writes into it."""
    one, other = offline(cluster(None)), offline(cluster(1))
    assert (one.since, one.at_latest) == (instant(LATER), True)
    assert other.since is None


def test_history_tells_when_the_leader_was_lost():
    """Whether or not a controller wrote -1 behind it."""
    told = history()
    dead = offline(cluster(1), examined(told=told, of=cluster(1)))
    told.write("t", 0, None, (1,), 1, 1400)
    written = offline(cluster(None), examined(told=told, of=cluster(None)))
    assert {(found.since, found.at_latest) for found in (dead, written)} == {(instant(T0 + 1000), False)}


def test_a_controllers_log_tells_it_as_well():
    """It saw the broker go, at that time by its clock."""
    lines = [
        event("broker_change", 900, 2, file="controller.log", line=1, added="", deleted="", live="1,2"),
        event("broker_change", 1000, 2, file="controller.log", line=2, added="", deleted="1", live="2"),
    ]
    early = cluster(1).partitions[0]
    state = early.state._replace(stamp=Stamp(changed_at=T0 - 9000))
    of = Cluster(brokers={2: Broker(id=2)}, partitions=(early._replace(state=state),))
    found = offline(of, examined(*lines, of=of))
    assert (found.since, found.at_latest) == (instant(T0 + 1000), False)


def test_a_loss_that_nothing_tells_stays_unknown():
    """A history that begins behind it knows that the leader is not there, not since when."""
    told = History()
    told.register(2, -50_000, 0xB)
    told.write("t", 0, 1, (1,), 0, -40_000)
    assert offline(cluster(1), examined(told=told, of=cluster(1))).since is None
