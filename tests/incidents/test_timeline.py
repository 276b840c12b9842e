"""The timeline of a case that a play left behind says what the script did, and when, whatever the brokers' clocks said."""

import json
import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from casebook.case.case import Case
from casebook.formats.zookeeper import history_facts
from casebook.kafka import release
from casebook.kafka.past_rows import WindowKind
from casebook.questions.timeline.analysis import timeline
from casebook.questions.timeline.analysis.clocks.zones import Zones
from casebook.questions.timeline.scans import logs
from casebook.rehearsal.plays import acks1_loss, api_versions_storm
from tests.rehearsal import plays
from tests.shifted_logs import shifted

CLOSE = 100
"""Milliseconds by which a window's ends may differ from ZooKeeper's times, or from those of the server that acted."""
AWAKE = re.compile(
    r"^\[(?P<at>[^\]]+)\] .*(?:timed out, have not heard|Unable to read additional data) from server", re.MULTILINE
)
"""What the ZooKeeper client of a process that goes on prints: it has missed its timeout (``ClientCnxn``)."""
CLOCKS = {"right": {1: 0, 2: 0, 3: 0}, "wrong": {1: -40, 2: 3, 3: 7200}}
"""Seconds by which the brokers' clocks are ahead."""


def examined(case, timezone="UTC"):
    """What the case's logs and history tell together, read in these time zones."""
    opened = Case.open(case)
    cluster, read = opened.cluster(), logs.read(opened, Zones.parse(timezone))
    version = release.release(cluster, logged=opened.logged_versions(), configured=opened.configured_versions())
    history = history_facts.read(opened.history())
    return timeline.examine(
        cluster, version, events=read.events(), files=read.files, untyped=read.untyped, history=history, timezone=timezone
    )


def ms(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def utc(printed):
    """Epoch milliseconds of a time as servers print it."""
    return round(datetime.strptime(printed, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).timestamp() * 1000)


@pytest.fixture(scope="module", params=["0.9.0.1", "2.8.2"])
def out(request):
    """The play of ``acks1-loss`` on that release."""
    return plays.played("acks1-loss", request.param)


@pytest.fixture(scope="module")
def facts(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]["acks1_loss"]


@pytest.fixture(scope="module", params=CLOCKS)
def clocks(request):
    """How far each broker's clock was ahead."""
    return CLOCKS[request.param]


@pytest.fixture(scope="module")
def found(out, clocks, tmp_path_factory):
    """The timeline, of brokers with such clocks."""
    return examined(shifted(out / "after", tmp_path_factory.mktemp("shifted") / "case", seconds=clocks))


@pytest.fixture(scope="module")
def doubt(found):
    """Milliseconds by which a broker's times may be wrong: those that its clock says of itself, where these are more than usual.

    A play beside others may be on so busy a machine that lines are late; ``test_causes``, which runs alone, wants no more than usual.
    """
    return {clock.broker: max(CLOSE, clock.uncertainty) for clock in found.clocks if clock.broker}


@pytest.fixture(scope="module")
def awake(out, facts):
    """When the frozen broker printed that it had missed its session, by its own clock, which was right."""
    files = (out / "after" / "brokers" / str(acks1_loss.FROZEN) / "logs").iterdir()
    told = [utc(line["at"]) for file in files for line in AWAKE.finditer(file.read_text())]
    return min(at for at in told if at >= ms(facts["continued"]))


def windows(found, kind):
    return {f"{window.topic}-{window.partition}": window for window in found.windows if window.kind is kind}


def changes(facts, name):
    """What a watcher saw of a partition: when its state changed by ZooKeeper's clock, and to what."""
    return [row for row in facts["states"] if row["partition"] == name]


class TestAcks1Loss:
    def test_clocks(self, found, clocks, doubt):
        """How far each is ahead is found from what happened together, and errs by no more than is said."""
        measured = {clock.broker: clock.skew for clock in found.clocks if clock.broker}
        for broker, ahead in clocks.items():
            assert abs(measured[broker] - ahead * 1000) <= doubt[broker]

    def test_two_leaders(self, found, facts, doubt):
        """From the election by ZooKeeper's clock to the truncation, of the partitions that moved and no other."""
        told = windows(found, WindowKind.TWO_LEADERS)
        assert told.keys() == {move["partition"] for move in facts["moved"]}
        for move in facts["moved"]:
            window = told[move["partition"]]
            assert (window.old_leader, window.new_leader) == (move["old_leader"], move["new_leader"])
            assert abs(window.opened - ms(move["elected_at"])) <= CLOSE
            if move["truncated_at"]:
                assert abs(window.closed - ms(move["truncated_at"])) <= doubt[window.old_leader]

    def test_the_old_leader_stood_still(self, found, facts, doubt, awake):
        """It may have answered only from the moment on in which the script let it go on: nothing of its log is earlier."""
        for window in windows(found, WindowKind.TWO_LEADERS).values():
            may_err = doubt[window.old_leader]
            assert ms(facts["continued"]) - may_err <= window.silent <= min(window.closed, awake + may_err)

    def test_nobody_led(self, found, facts):
        """The partition that lies on the frozen broker alone, until it came back; others until the election."""
        told = windows(found, WindowKind.LEADERLESS)
        (_, lost, back) = changes(facts, "clicks-1")
        assert lost["leader"] == -1
        assert told["clicks-1"].opened <= ms(lost["at"])
        assert abs(told["clicks-1"].closed - ms(back["at"])) <= CLOSE
        for move in facts["moved"]:
            assert abs(told[move["partition"]].closed - ms(move["elected_at"])) <= CLOSE

    def test_too_few_in_sync(self, found, facts):
        """The partition that wants two, from the shrinking of its ISR to the return of the second."""
        told = windows(found, WindowKind.UNDER_MIN_ISR)
        (_, shrunk, *_, grown) = changes(facts, "invoices-0")
        assert told.keys() == {"invoices-0"}
        assert abs(told["invoices-0"].opened - ms(shrunk["at"])) <= CLOSE
        assert abs(told["invoices-0"].closed - ms(grown["at"])) <= CLOSE

    def test_chain(self, found, doubt):
        """Expiry, znode gone, controller told, others elected, registered again, truncated: in this order."""
        (chain,) = (chain for chain in found.chains if chain.broker == acks1_loss.FROZEN)
        first = {}
        for link in chain.links:
            for row in (link.cause, link.effect):
                first.setdefault(row.kind, row.at)
        order = (
            "zks_session_expiring",
            "znode_broker_gone",
            "broker_change",
            "broker_failure",
            "znode_leader_changed",
            "zk_session_expired",
            "znode_broker_registered",
            "truncated",
        )
        assert [kind for kind in order if kind not in first] == []
        times = [first[kind] for kind in order]
        assert all(later - earlier >= -max(doubt.values()) for earlier, later in pairwise(times))

    def test_root(self, found):
        """Nothing is left but that the broker stood still: it printed nothing meanwhile."""
        assert found.roots[0].broker == acks1_loss.FROZEN
        assert "was paused" in found.roots[0].name


@pytest.fixture(scope="module", params=["during", "after"])
def phase(request):
    """At the default levels, and with request logging."""
    return request.param


@pytest.fixture(scope="module")
def case(phase):
    """The case of that phase."""
    return plays.played("api-versions-storm", "0.9.0.1") / phase


@pytest.fixture(scope="module")
def storm(case):
    """The timeline of that phase."""
    return examined(case)


class TestApiVersionsStorm:
    def test_who_sends_it(self, storm, phase, case):
        """Nobody is named at the default levels; with connections logged, the one address that nobody else shares."""
        (check,) = (finding for finding in storm.findings if finding.check == "timeline.unknown_requests")
        log = plays.logged(case, api_versions_storm.ASKED)
        assert check.facts["requests"] == log.count("Processor got uncaught exception")
        assert check.facts["api_keys"] == [18]
        assert check.facts["senders"] == ([] if phase == "during" else [api_versions_storm.CULPRIT_ADDRESS])

    def test_nobody_believed_to_lead_when_the_broker_had_stopped(self, storm):
        """It was restarted between the phases, and handed over before: the window ends with its process at the latest."""
        starts = [row.at for row in storm.rows if row.kind == "broker_starting" and row.broker == api_versions_storm.ASKED]
        for window in windows(storm, WindowKind.TWO_LEADERS).values():
            assert window.planned
            assert starts[0] < window.opened <= window.closed < starts[1]
