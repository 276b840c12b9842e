"""Three causes within a second, one to a broker: a cut from ZooKeeper, a machine that stands still, a disk that goes."""

import time

import pytest

from casebook.rehearsal.servers.faults import FaultyCluster
from casebook.rehearsal.truth import Phase, well
from tests.incidents.test_timeline import examined
from tests.rehearsal import plays

pytestmark = pytest.mark.alone

KAFKA = ("0.9.0.1", "2.8.2", "3.9.2")
CUT, FROZEN, TWO_DIRS, UNTOUCHED = BROKERS = (1, 2, 3, 4)
SETTINGS = {
    "zookeeper.session.timeout.ms": "4000",
    "replica.high.watermark.checkpoint.interval.ms": "500",  # so soon a broker notices that a log dir is gone
    "offsets.topic.num.partitions": "1",
}
REPLICAS = {f"events-{number}": (number % 4 + 1, (number + 1) % 4 + 1) for number in range(8)}
APART = 0.2
"""Seconds between one fault and the next."""
HELD = 6.0
"""Seconds for which the cut and the freeze last: longer than a session."""
SETTLED = 3.0


def play(stage):
    """All of it, on one cluster."""
    rows = tuple(well(name, replicas) for name, replicas in REPLICAS.items())
    with FaultyCluster(
        linked=CUT, collecting=UNTOUCHED, two_dirs=TWO_DIRS, kafka=stage.truth.kafka, brokers=BROKERS, settings=SETTINGS,
        controller=UNTOUCHED, progress=stage.progress,
    ) as cluster:  # fmt: skip
        stage.create_topics(cluster, rows)
        stage.reach(cluster, Phase(live=BROKERS, controller=UNTOUCHED, partitions=rows))
        stage.act(f"Cut broker {CUT} from ZooKeeper.", cluster.cut)
        time.sleep(APART)
        stage.act(f"Suspend broker {FROZEN}.", lambda: cluster.freeze(FROZEN))
        time.sleep(APART)
        stage.act(f"Take a log dir of broker {TWO_DIRS} away.", cluster.fail_second_dir)
        time.sleep(HELD)
        stage.gone(cluster, CUT, FROZEN)
        stage.act("Mend the link.", cluster.mend)
        stage.act(f"Let broker {FROZEN} go on.", lambda: cluster.thaw(FROZEN))
        cluster.wait_registered(CUT, FROZEN)
        time.sleep(SETTLED)
        plays.captured(stage, cluster)


out = plays.on_each(play, "at-once", KAFKA)


@pytest.fixture(scope="module")
def likeliest(out):
    """The timeline's first candidate of every chain, by its kind and broker."""
    found = examined(out / "after")
    first = {}
    for root in found.roots:
        first.setdefault((found.chains[root.chain].kind, root.broker), root)
    return first


def test_each_has_its_own_root(likeliest):
    """What befell the others in the same second is no clue against ZooKeeper, which went on."""
    assert likeliest["broker_lost", CUT].name == f"Network between broker {CUT} and ZooKeeper"
    assert likeliest["broker_lost", FROZEN].kind == "frozen"
    assert likeliest["disk_failed", TWO_DIRS].kind == "disk"


def test_a_broker_that_halts_of_its_disk_was_not_killed(likeliest):
    """Up to 0.11 it halts, and ZooKeeper loses it, too; later it goes on with its other log dir."""
    lost = likeliest.get(("broker_lost", TWO_DIRS))
    assert lost is None or lost.kind == "disk"
