"""One effect, many causes: the timeline of one day of a cluster tells what began each loss, as far as its logs can tell."""

import json
from itertools import pairwise

import pytest

from casebook.case.case import Case
from casebook.kafka.past_rows import WindowKind
from casebook.machine import places
from casebook.rehearsal import causes as script
from tests.incidents.test_timeline import CLOSE, examined, ms
from tests.rehearsal import plays

pytestmark = pytest.mark.alone

LOST = ("cut", "collection", "freeze")
"""Incidents that ended one broker's session."""
ORDER = (
    "zks_session_expiring",
    "znode_session_closed",
    "znode_broker_gone",
    "broker_change",
    "broker_failure",
    "zk_session_expired",
    "znode_broker_registered",
)


@pytest.fixture(scope="module")
def out():
    """The play, once."""
    return plays.played_by(script.play, "causes", "2.8.2", "A test.")


@pytest.fixture(scope="module")
def facts(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]["causes"]


@pytest.fixture(scope="module")
def found(out):
    """The timeline."""
    return examined(out / "after")


@pytest.fixture(scope="module")
def expired(out):
    """When ZooKeeper gave up a session, by its name: the time of the transaction; its line may be printed late."""
    closed = (change for change in Case.open(out / "after").history() if change.operation == "closeSession")
    return {f"0x{change.session:x}": change.time for change in closed}


@pytest.fixture(scope="module")
def doubt(found):
    """Milliseconds by which brokers' times may be wrong: those that their clocks say of themselves, where these are more than usual."""
    return max(CLOSE, *(clock.uncertainty for clock in found.clocks if clock.broker))


def chain_of(found, broker, at):
    """The chain of the loss of a broker at about that time, and its candidates, the likeliest first."""
    (place,) = (
        place
        for place, chain in enumerate(found.chains)
        if chain.kind == "broker_lost" and chain.broker == broker and abs(gone(chain) - at) <= CLOSE
    )
    return found.chains[place], [root for root in found.roots if root.chain == place]


def gone(chain):
    return next(link.effect.at for link in chain.links if link.effect.kind == "znode_broker_gone")


def names(rows):
    return {f"{row.topic}-{row.partition}" for row in rows}


def pro(roots, kind):
    return [point.text for point in next(root for root in roots if root.kind == kind).pro]


@pytest.fixture(scope="module", params=LOST)
def loss(request, facts, found, expired):
    """What the script did to a broker, and when ZooKeeper gave it up; the chain of that and its candidates."""
    fact = facts[request.param]
    at = expired[fact["session"]]
    return fact, at, *chain_of(found, fact["broker"], at)


class TestLoss:
    def test_order(self, loss, doubt):
        """Expiry, znode gone, controller told, registered again: in this order, after the begin; the last after its end."""
        fact, _, chain, _ = loss
        first = {}
        for link in chain.links:
            for row in (link.cause, link.effect):
                first.setdefault(row.kind, row.at)
        times = [ms(fact["begun"]), *(first[kind] for kind in ORDER[:5]), ms(fact["ended"]), *(first[kind] for kind in ORDER[5:])]
        assert all(later - earlier >= -doubt for earlier, later in pairwise(times))

    def test_nothing_is_a_cause_that_ended_before(self, loss, facts):
        """What befell a broker some seconds earlier has no part in it."""
        fact, _, chain, _ = loss
        ended = [ms(facts[name]["ended"]) for name in LOST if facts[name]["ended"] < fact["begun"]]
        assert chain.opened >= max(ended, default=ms(fact["begun"]) - 1000 * script.TIMEOUT)

    def test_whom_it_hit(self, loss):
        """The partitions that it led, all of them and no other."""
        fact, _, chain, _ = loss
        assert chain.partitions == len(fact["led"])

    def test_nobody_led(self, loss, found, facts):
        """Each partition that it led: from ZooKeeper's expiry to the state with the next leader, by ZooKeeper's clock."""
        fact, at, _, _ = loss
        told = {
            f"{window.topic}-{window.partition}": window
            for window in found.windows
            if window.kind is WindowKind.LEADERLESS and abs(window.opened - at) <= CLOSE
        }
        assert told.keys() == set(fact["led"])
        for name, window in told.items():
            seen = [row for row in facts["states"] if row["partition"] == name and ms(row["at"]) >= at and row["leader"] != -1]
            assert abs(window.closed - ms(seen[0]["at"])) <= CLOSE
            assert window.new_leader == seen[0]["leader"]


@pytest.fixture(scope="module")
def cut(facts, found, expired):
    """The candidates of the cut."""
    return chain_of(found, script.CUT, expired[facts["cut"]["session"]])[1]


class TestCut:
    def test_root(self, cut):
        """The network: it noticed its silence in time, so its process ran."""
        assert cut[0].kind == "network"
        assert any("the process was running" in point.text for point in cut[0].pro)
        assert any(
            "the process was running" in point.text for point in next(root for root in cut if root.kind == "frozen").contra
        )

    def test_only_what_was_cut(self, cut):
        """Other brokers reached it all the time."""
        assert cut[0].name == "Network between broker 1 and ZooKeeper"
        assert not any("Other brokers" in text for text in pro(cut, "network"))


class TestCollection:
    def test_the_pause_is_read(self, facts, found):
        """The one long pause of the GC log, with its cause: it was no shorter than the suspension in its midst."""
        (row,) = (row for row in found.rows if row.kind == "gc_pause" and row.milliseconds >= script.TIMEOUT * 500)
        fact = facts["collection"]
        assert row.milliseconds >= ms(fact["ended"]) - ms(fact["begun"]) - CLOSE
        assert (row.broker, row.fields["cause"].split(" (")[0]) == (script.COLLECTING, "Pause Young")

    def test_root(self, facts, found, expired, doubt):
        """The pause, though its line is printed after the loss; and what it cannot tell: the process was suspended in it."""
        chain, roots = chain_of(found, script.COLLECTING, expired[facts["collection"]["session"]])
        assert roots[0].kind == "gc"
        assert "paused host" in roots[0].unchecked[0]
        assert chain.links[0].cause.kind == "gc_pause"
        assert chain.links[0].cause.at <= ms(facts["collection"]["begun"]) + doubt


class TestFreeze:
    def test_root(self, facts, found, expired):
        """The process stood still; its GC log has no pause for that, and that of some seconds before is none."""
        chain, roots = chain_of(found, script.COLLECTING, expired[facts["freeze"]["session"]])
        assert roots[0].kind == "frozen"
        assert pro(roots, "gc") == []
        assert "gc_pause" not in {link.cause.kind for link in chain.links}


@pytest.fixture(scope="module")
def disk(found):
    """The chain of the log dir."""
    (chain,) = (chain for chain in found.chains if chain.kind == "disk_failed")
    return chain


class TestDisk:
    def test_order(self, disk, facts, doubt):
        """A checkpoint cannot be written, the log dir is given up, its replicas are offline, others lead."""
        assert [link.effect.kind for link in disk.links] == ["log_dir_failed", "replicas_offline", "znode_leader_changed"]
        assert [link.cause.kind for link in disk.links] == ["disk_error", "log_dir_failed", "replicas_offline"]
        assert all(link.seconds * 1000 >= -doubt for link in disk.links)
        assert ms(facts["disk"]["begun"]) <= disk.opened + doubt

    def test_root(self, found, disk, facts):
        """The disk, by the line that names the log dir."""
        (root,) = (root for root in found.roots if found.chains[root.chain] is disk)
        assert (root.kind, root.broker) == ("disk", script.TWO_DIRS)
        assert f"/{facts['disk']['dir']}/" in root.pro[0].text

    def test_partitions(self, disk, facts):
        """Those that lay in that log dir; later losses of the same broker's are none of it."""
        assert disk.partitions == len(facts["disk"]["partitions"])
        assert names(disk.links[-1].examples) == set(facts["disk"]["partitions"])

    def test_nobody_else_believed_to_lead(self, found, facts):
        """A broker takes no writes to a replica that it has taken offline, before others are elected."""
        since, until = ms(facts["disk"]["begun"]), ms(facts["zookeeper"]["begun"])
        both = [window for window in found.windows if window.kind is WindowKind.TWO_LEADERS]
        assert [window for window in both if since <= window.opened < until] == []


class TestZooKeeper:
    def test_the_slow_write_is_read(self, facts, found):
        """The write that took at least as long as ZooKeeper stood still; none where the disk lets nobody wait."""
        fact = facts["zookeeper"]
        slow = [row.milliseconds for row in found.rows if row.kind == "zks_fsync_slow" and row.at >= ms(fact["begun"])]
        stood = ms(fact["ended"]) - ms(fact["begun"])
        assert fact["waited_for_disk"] == any(took >= stood - 2 * CLOSE for took in slow)

    def test_root(self, facts, found, expired):
        """Of every session that expired: ZooKeeper, and not the network or the host of that broker, which was awake."""
        for broker, session in facts["zookeeper"]["expired"].items():
            _, roots = chain_of(found, int(broker), expired[session])
            assert roots[0].kind == "zookeeper"
            assert roots[0].weight > roots[1].weight


def test_clocks(found):
    """Each broker's clock, which was right, is found to be, within what is said of how well it is known."""
    measured = {clock.broker: clock for clock in found.clocks if clock.broker}
    assert measured.keys() == set(script.BROKERS)
    assert all(abs(clock.skew) <= max(CLOSE, clock.uncertainty) for clock in measured.values())


def test_clocks_of_a_recorded_play():
    """Where nothing else ran beside it, each broker's clock is known as well as it needs to be."""
    measured = [clock for clock in examined(places.samples_dir() / "acks1_loss").clocks if clock.broker]
    assert len(measured) == 3
    assert all(abs(clock.skew) <= CLOSE and clock.uncertainty <= CLOSE for clock in measured)


def test_a_first_start_is_no_crash(found):
    """Collections come before a broker says that it starts: they tell of no process that ran before."""
    assert [chain.title for chain in found.chains if chain.kind == "unclean_start"] == []
