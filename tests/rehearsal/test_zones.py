"""Brokers in three time zones, one of which leaves summer time while they run: what happened is told in its order, and why."""

import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from casebook.findings.finding import Status
from casebook.kafka.past_rows import WindowKind
from casebook.rehearsal.truth import Phase, well
from tests.incidents.test_causes import gone
from tests.incidents.test_timeline import examined, ms
from tests.rehearsal import plays
from tests.rehearsal.other_clocks import OtherClocks, until

pytestmark = pytest.mark.alone

ZONES = {1: "Europe/Berlin", 2: "Asia/Kathmandu", 3: "America/New_York"}
CHANGE = "2026-10-25T01:00:00+00:00"
"""When Berlin puts its clocks back by an hour."""
BEFORE = 45
"""Seconds from the start of the servers to the change."""
SESSION = 4000
"""Milliseconds of a session."""
SETTINGS = {"zookeeper.session.timeout.ms": str(SESSION), "offsets.topic.num.partitions": "1"}
REPLICAS = {f"events-{number}": (number % 3 + 1, (number + 1) % 3 + 1) for number in range(6)}


def play(stage):
    """A kill before the change; a freeze of who changes, and another kill, after it."""
    rows = tuple(well(name, replicas) for name, replicas in REPLICAS.items())
    ahead = until(CHANGE, datetime.now(UTC)) - BEFORE
    with OtherClocks(
        ahead=ahead, zones=ZONES, kafka=stage.truth.kafka, brokers=3, settings=SETTINGS, controller=3, progress=stage.progress
    ) as cluster:
        stage.create_topics(cluster, rows)
        stage.reach(cluster, Phase(live=(1, 2, 3), partitions=rows))
        _kill(stage, cluster, 2, ahead)
        stage.wait_in_sync(cluster, rows)
        time.sleep(max(0.0, 3 - until(datetime.now(UTC).isoformat(), datetime.fromisoformat(CHANGE) - timedelta(seconds=ahead))))
        _note(stage, "freeze", 1, ahead, lambda: cluster.freeze(1))
        stage.gone(cluster, 1)
        time.sleep(1)
        cluster.thaw(1)
        cluster.wait_registered(1)
        stage.wait_in_sync(cluster, rows)
        _kill(stage, cluster, 3, ahead)
        stage.wait_in_sync(cluster, rows)
        plays.captured(stage, cluster)


def _kill(stage, cluster, broker, ahead):
    _note(stage, f"kill {broker}", broker, ahead, lambda: cluster.kill(broker))
    stage.gone(cluster, broker)
    stage.start(cluster, broker)


def _note(stage, what, broker, ahead, act):
    stage.act(what, act)
    at = datetime.fromisoformat(stage.truth.actions[-1]["at"]) + timedelta(seconds=ahead)
    stage.truth.facts[what] = {"broker": broker, "at": at.isoformat()}


@pytest.fixture(scope="module")
def out():
    """What the play left behind."""
    return plays.played_by(play, "zones", "2.8.2", "A test.")


@pytest.fixture(scope="module", params=["as UTC", "as found"])
def found(request, out):
    """The timeline: first as nobody knows of zones, then with those that it found itself."""
    first = examined(out / "after")
    typed = clocks(first).facts["timezone"]
    return first if request.param == "as UTC" else examined(out / "after", typed)


def clocks(found):
    return next(one for one in found.findings if one.check == "timeline.clocks")


def test_zones_are_found(out):
    """The one that changes by its name, as no fixed offset fits it; with what to type."""
    told = clocks(examined(out / "after"))
    assert told.facts["timezone"] == "UTC, 1=Europe/Berlin, 2=+05:45, 3=-04:00"
    assert any(told.facts["timezone"] in step.command for step in told.next)


def test_found_zones_leave_nothing_off(out):
    """With them no clock is off; log4j rolls by the files' own times, which stay the machine's, so some logs are empty."""
    typed = clocks(examined(out / "after")).facts["timezone"]
    assert clocks(examined(out / "after", typed)).status is not Status.FINDING


def test_roots_in_their_order(found, out):
    """A kill, a freeze, a kill, each at its time: the hour that comes twice moves nothing."""
    facts = json.loads((out / "truth.json").read_text())["facts"]
    lost = sorted((gone(chain), place) for place, chain in enumerate(found.chains) if chain.kind == "broker_lost")
    roots = [next(root for root in found.roots if root.chain == place) for _, place in lost]
    assert [(root.broker, root.kind) for root in roots] == [(2, "killed"), (1, "frozen"), (3, "killed")]
    for (at, _), what in zip(lost, ("kill 2", "freeze", "kill 3"), strict=True):
        since = ms(facts[what]["at"])
        assert since <= at <= since + 3 * SESSION


def test_no_outage_is_invented(found):
    """Nobody was without leader longer than an election takes, once ZooKeeper had given the broker up."""
    leaderless = [window for window in found.windows if window.kind is WindowKind.LEADERLESS]
    assert leaderless and all(window.closed - window.opened <= SESSION for window in leaderless)
