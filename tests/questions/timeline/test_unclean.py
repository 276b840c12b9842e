"""A leader that was elected out of sync, while whoever has more is dead: told before anybody starts that broker."""

import json

import pytest

from casebook.case.case import Case
from casebook.facts.cluster import Broker, Partition, PartitionState
from casebook.findings.finding import Severity, Status
from casebook.kafka import release
from casebook.machine import places
from casebook.questions.timeline.analysis import timeline
from casebook.questions.timeline.scans import logs
from tests.questions.timeline.scenes import NEW, History, cluster, event, examined, finding


def after(*events, isr=(1,), elected=2, back=False, in_sync_again=False, epoch=1, live=(2,)):
    """Broker 1 led t-0 with this ISR and was lost; who was elected leads now; ``back``: broker 1 came and went once more."""
    told = History()
    for broker, session in ((1, 0xA), (2, 0xB)):
        told.register(broker, -50_000, session)
    told.write("t", 0, 1, isr, 0, -40_000)
    told.lose(1, 1000, 0xA)
    told.write("t", 0, elected, (elected,), 1, 1400)
    if back:
        told.register(1, 5000, 0xC)
        if in_sync_again:
            told.write("t", 0, elected, (elected, 1), 1, 8000)
        told.lose(1, 9000, 0xC)
        if in_sync_again:
            told.write("t", 0, elected, (elected,), 1, 9400)
    return examined(*events, told=told, of=led(elected, epoch=epoch, live=live), version=NEW)


def led(leader, *, replicas=(1, 2), epoch=1, live=(2,)):
    """A cluster with t-0 and its leader, alone in sync."""
    state = PartitionState(leader, (leader,), epoch, 7)
    return cluster(brokers={b: Broker(id=b) for b in live}, partitions=(Partition("t", 0, replicas, state=state),))


def line(kind, at, **fields):
    """Of broker 1, about t-0."""
    return event(kind, at, 1, topic="t", partition=0, **fields)


def test_a_dead_broker_that_has_more():
    """It is named with what must be saved before it starts; notebook 70 compares."""
    found = finding(after(), "unclean")
    assert (found.severity, found.facts["brokers"], found.facts["unclean"]) == (Severity.WARNING, [1], 1)
    assert found.since is not None and found.since.startswith("2019-10-12T11:03:40.4")
    assert found.facts["copies"] == {"1": ["t-0"]}
    (compare,) = found.next
    assert compare.command == "casebook run message_loss"


@pytest.mark.parametrize(
    "told",
    [
        after(isr=(1, 2)),
        after(line("become_follower", 5600, leader=2, leader_epoch=1), back=True),
        after(line("truncated", 5700, offset=80), back=True),
        after(back=True, in_sync_again=True),
    ],
    ids=["elected in sync", "followed", "cut its log", "was in sync again"],
)
def test_nobody_has_more(told):
    """A clean election lacks nothing; who has followed the new leader has cut its log."""
    found = finding(told, "unclean")
    assert (found.status, found.title) == (Status.OK, "No dead broker is known to hold more than a living leader")


def test_who_was_registered_for_a_moment_may_still_have_more():
    """A broker that came up and fell over cut nothing: what it had before, it has; what it did earlier proves nothing."""
    for told in (after(back=True), after(line("become_follower", -30_000, leader=2, leader_epoch=0), back=True)):
        assert finding(told, "unclean").facts["brokers"] == [1]


def test_a_second_election_hides_nobody():
    """Broker 1 has most; 2, elected without it, died as well, and 3 leads."""
    told = History()
    for broker, session in ((1, 0xA), (2, 0xB), (3, 0xC)):
        told.register(broker, -50_000, session)
    told.write("t", 0, 1, (1,), 0, -40_000)
    told.lose(1, 1000, 0xA)
    told.write("t", 0, 2, (2,), 1, 1400)
    told.lose(2, 2000, 0xB)
    told.write("t", 0, 3, (3,), 2, 2400)
    of = led(3, replicas=(1, 2, 3), epoch=2, live=(3,))
    found = finding(examined(told=told, of=of, version=NEW), "unclean")
    assert (found.facts["brokers"], found.facts["unclean"]) == ([1, 2], 1)
    assert found.since is not None and found.since.startswith("2019-10-12T11:03:40.4")


def test_a_history_that_begins_behind_the_death():
    """ZooKeeper has purged the logs of that day: who led before, and who was in sync, nobody knows."""
    told = History()
    told.register(2, -50_000, 0xB)
    told.write("t", 0, 2, (2,), 1, -40_000)
    found = finding(examined(told=told, of=led(2), version=NEW), "unclean")
    assert (found.status, found.facts["untold"]) == (Status.COULD_NOT_CHECK, 1)


@pytest.mark.parametrize(
    "how", [{"isr": ()}, {"isr": (1, 2), "epoch": 3}], ids=["ISR unknown", "history ends before the last election"]
)
def test_an_election_that_cannot_be_judged(how):
    """It is none that went well."""
    assert finding(after(**how), "unclean").status is Status.COULD_NOT_CHECK


def test_of_a_real_incident():
    """What its script wrote down: broker 2 came back and was elected unclean for sessions-0, while broker 1 had 20 records more."""
    folder = places.samples_dir() / "leader_minus_one"
    partitions = json.loads((folder / "expected.json").read_text())["partitions"]
    lost = {(row["topic"], row["partition"]) for row in partitions if "elected unclean: 20 records lost" in row["why"]}
    assert lost == {("sessions", 0)}
    case = Case.open(folder)
    read, of = logs.read(case), case.cluster()
    found = finding(
        timeline.examine(of, release.release(of, logged=case.logged_versions()), events=read.events(), files=read.files),
        "unclean",
    )
    assert (found.facts["unclean"], found.facts["topics"], found.facts["brokers"]) == (1, ["sessions"], [1])


def test_who_is_back():
    """Nobody is dead any more: there is nothing left to look at before a start."""
    assert finding(after(live=(1, 2)), "unclean").status is Status.NOT_APPLICABLE
