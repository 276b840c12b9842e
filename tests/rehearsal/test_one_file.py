"""Two brokers of one machine that write their logs into one folder, as a copied start script makes them."""

import pytest

from casebook.findings.finding import Severity, Status
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.truth import Phase, well
from tests.incidents.test_timeline import examined
from tests.rehearsal import plays

pytestmark = pytest.mark.alone

KAFKA = ("0.9.0.1", "2.8.2", "3.9.2")
SHARING, KILLED, OWN = BROKERS = (1, 2, 3)
SETTINGS = {"zookeeper.session.timeout.ms": "4000", "offsets.topic.num.partitions": "1"}
REPLICAS = {f"events-{number}": (number % 3 + 1, (number + 1) % 3 + 1) for number in range(6)}


class OneFile(PlayedCluster):
    """A cluster of which two brokers write into one folder of logs."""

    def _command(self, place):
        shared = place in (self._place[SHARING], self._place[KILLED])
        return super()._command(place, [f"-Dkafka.logs.dir={self._place[SHARING].logs}"] if shared else ())


def play(stage):
    """One of the two is killed and started, then the other is stopped and started."""
    rows = tuple(well(name, replicas) for name, replicas in REPLICAS.items())
    with OneFile(kafka=stage.truth.kafka, brokers=BROKERS, settings=SETTINGS, controller=OWN, progress=stage.progress) as cluster:
        stage.create_topics(cluster, rows)
        stage.reach(cluster, Phase(live=BROKERS, controller=OWN, partitions=rows))
        stage.kill(cluster, KILLED)
        stage.gone(cluster, KILLED)
        stage.start(cluster, KILLED)
        stage.wait_in_sync(cluster, rows)
        stage.act(f"Stop broker {SHARING}.", lambda: cluster.stop(SHARING))
        stage.start(cluster, SHARING)
        stage.wait_in_sync(cluster, rows)
        plays.captured(stage, cluster, logs={broker: cluster.log_files(broker) for broker in (SHARING, OWN)})


out = plays.on_each(play, "one-file", KAFKA)


@pytest.fixture(scope="module")
def found(out):
    """The timeline of that release."""
    return examined(out / "after")


def finding(found, check):
    return next(one for one in found.findings if one.check == f"timeline.{check}")


def test_it_is_known_to_be_of_two(found):
    """The files were given for one broker, and two write them."""
    told = finding(found, "owners")
    assert told.severity is Severity.WARNING
    assert set(told.facts["misplaced"][f"brokers/{SHARING}/logs/server.log"]["named"]) == {str(SHARING), str(KILLED)}


def test_no_clock_was_set(found):
    """What two processes write between each other's lines is no step of a clock."""
    assert [clock.owner for clock in found.clocks if clock.steps] == []
    assert finding(found, "clocks").status is not Status.FINDING


def test_roots(found):
    """The one was killed, and did not live on because the other wrote on; the other was stopped."""
    first = {}
    for root in found.roots:
        first.setdefault((found.chains[root.chain].kind, root.broker), root.kind)
    assert first["broker_lost", KILLED] == "killed"
    assert first["broker_stopped", SHARING] == "stopped"
    assert ("broker_lost", OWN) not in first
