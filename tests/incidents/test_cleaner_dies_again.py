"""A cleaner that dies of the same segment at every start: it is dead, however often its broker has been started since."""

import pytest

from casebook.collect.collection import collect_case
from casebook.findings.finding import Status
from casebook.rehearsal.plays.offsets_bloat import BROKER_SETTINGS, KILLER, SETTINGS, TOO_MANY
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.records import produce
from casebook.rehearsal.truth import Phase, well
from tests.rehearsal import plays
from tests.unreadable.answers import answers

pytestmark = pytest.mark.alone

KAFKA = "0.9.0.1"
"""The thread dies; from 0.10 on such a segment is cleaned in parts (KAFKA-3894)."""
STARTS = 3
DIED = "Error due to"


def play(stage):
    """It dies; the broker is restarted twice."""
    topic = "-".join(map(str, KILLER))
    rows = (well(topic, (1,)),)
    with stage.cluster(brokers=1, settings=BROKER_SETTINGS) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        stage.reach(cluster, Phase(live=(1,), partitions=rows))
        produce({KILLER: TOO_MANY}, bootstrap=cluster.bootstrap, kafka=cluster.kafka, value="1")
        for start in range(1, STARTS + 1):
            cluster.wait_until(lambda dead=start: _deaths(cluster) == dead, what=f"death {start} of the cleaner")
            if start < STARTS:
                stage.act("Stop broker 1.", lambda: cluster.stop(1))
                stage.start(cluster, 1)
        collect_case(
            stage.out / "after", zookeeper=cluster.zookeeper, properties={1: cluster.server_properties(1)},
            logs={1: cluster.log_files(1)}, log_dirs=[(1, str(cluster.log_dir(1)))],
        )  # fmt: skip


def _deaths(cluster):
    return sum(DIED in line for line in disks.log_lines(cluster, 1, "log-cleaner.log"))


@pytest.fixture(scope="module")
def told():
    """Every answer of the scheduled report."""
    return answers(plays.played_by(play, "cleaner-dies-again", KAFKA, "A test.") / "after", ["90"])["90"]


def test_it_is_dead(told):
    """The line with which each start ends is printed after the cleaner's death, and makes no cleaner live."""
    found = told["offsets_topic.cleaner_map"]
    assert found.status is Status.FINDING
    assert f"dies at each start: {STARTS} times since" in found.title
    assert "-".join(map(str, KILLER)) in found.title


def test_root(told):
    """The segment; not the restarts, which were clean."""
    assert "segment that does not fit the log cleaner's map on broker 1" in told["timeline.root"].title
