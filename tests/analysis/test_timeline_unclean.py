"""A leader that was elected out of sync, while whoever has more is dead: told before anybody starts that broker."""

import json

import pytest

from casebook import places
from casebook.analysis import release, timeline
from casebook.case import Case
from casebook.facts import Broker, Partition, PartitionState
from casebook.findings import Severity, Status
from casebook.scans import logs
from tests.analysis.timeline_scenes import NEW, History, cluster, examined, finding


def after(*, isr=(1,), elected=2, back=False, live=(2,)):
    """Broker 1 led t-0 with this ISR and was lost; who was elected leads now; ``back``: broker 1 came and went once more."""
    told = History()
    for broker, session in ((1, 0xA), (2, 0xB)):
        told.register(broker, -50_000, session)
    told.write("t", 0, 1, isr, 0, -40_000)
    told.lose(1, 1000, 0xA)
    told.write("t", 0, elected, (elected,), 1, 1400)
    if back:
        told.register(1, 5000, 0xC)
        told.lose(1, 9000, 0xC)
    state = PartitionState(elected, (elected,), 1, 7)
    of = cluster(brokers={b: Broker(id=b) for b in live}, partitions=(Partition("t", 0, (1, 2), state=state),))
    return examined(told=told, of=of, version=NEW)


def test_a_dead_broker_that_has_more():
    """Nobody may start it before it was looked at; notebook 70 looks."""
    found = finding(after(), "unclean")
    assert (found.severity, found.facts["brokers"], found.facts["unclean"]) == (Severity.WARNING, [1], 1)
    assert found.since is not None and found.since.startswith("2019-10-12T11:03:40.4")
    first, never = found.next
    assert first.command == "casebook run message_loss"
    assert "Do not start broker 1" in never.text


@pytest.mark.parametrize(
    "how",
    [{"isr": (1, 2)}, {"back": True}],
    ids=["elected in sync", "was back and cut its log"],
)
def test_nobody_has_more(how):
    """A clean election lacks nothing; who has followed the new leader has cut its log."""
    assert finding(after(**how), "unclean").status is Status.OK


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
