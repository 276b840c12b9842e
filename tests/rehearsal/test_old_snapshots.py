"""ZooKeeper's snapshots alone, hours older than the log dirs: nothing of what they say is said of now."""

import shutil
import time
from datetime import timedelta

import pytest

from casebook.collect.collection import collect_case
from casebook.findings.finding import Status
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.truth import Phase, well
from tests.rehearsal import plays
from tests.rehearsal.other_clocks import NOTICED, OtherClocks
from tests.unreadable.answers import answers

pytestmark = pytest.mark.alone

KAFKA = ("2.8.2", "3.9.2")
"""ZooKeeper 3.4, of 0.9, counts sessions by its clock: setting it ends them all, which is another incident."""
AGE = timedelta(hours=6)
BROKERS = (1, 2, 3)
AWAY = 3
SETTINGS = {
    "zookeeper.session.timeout.ms": "4000", "offsets.topic.num.partitions": "3", "offsets.topic.replication.factor": "2",
}  # fmt: skip
SNAPSHOTS = ("-Dzookeeper.snapCount=30",)
"""One after 15 to 30 transactions."""
REPLICAS = {f"events-{number}": (number % 3 + 1, (number + 1) % 3 + 1) for number in range(6)} | {"alone-0": (AWAY,)}
MANY = {f"many-{number}": (1, 2) for number in range(40)}
LATER = {"later-0": (1, 2), "later-1": (3, 1)}


def play(stage):
    """A broker dies, snapshots are taken; six hours later it is back, and there are topics that they do not know."""
    rows = tuple(well(name, replicas) for name, replicas in REPLICAS.items())
    with OtherClocks(
        ahead=-AGE.total_seconds(), of_zookeeper=SNAPSHOTS, kafka=stage.truth.kafka, brokers=3, settings=SETTINGS, controller=1,
        progress=stage.progress,
    ) as cluster:  # fmt: skip
        stage.create_topics(cluster, rows)
        stage.reach(cluster, Phase(live=BROKERS, partitions=rows))
        stage.produce(cluster, {("events", number): 20 for number in range(6)} | {("alone", 0): 20})
        stage.kill(cluster, AWAY)
        stage.gone(cluster, AWAY)
        stage.create_topics(cluster, [well(name, replicas) for name, replicas in MANY.items()])
        kept = stage.out / "snapshots" / "version-2"
        kept.mkdir(parents=True)
        for snapshot in (cluster.zookeeper_data / "version-2").glob("snapshot.*"):
            shutil.copy(snapshot, kept)
        stage.act("Six hours later.", lambda: cluster.set_clocks(0))
        time.sleep(2 * NOTICED)  # until all have noticed
        stage.start(cluster, AWAY)
        stage.create_topics(cluster, [well(name, replicas) for name, replicas in LATER.items()])
        cluster.wait_until(lambda: all(state["leader"] != -1 for state in cluster.states().values()), what="leaders of all")
        stage.produce(cluster, {("later", 0): 20, ("events", 0): 20})
        with Groups(cluster.bootstrap) as groups:
            groups.commit([CommitRequest(group="reports", offsets={"events": {0: 5}})])
        dirs = [(broker, str(cluster.log_dir(broker))) for broker in BROKERS]
        own = {broker: cluster.log_files(broker) for broker in BROKERS}
        for name, logs in (("after", {}), ("with-logs", own)):
            collect_case(stage.out / name, zookeeper_data=[kept.parent], chroot="/kafka", log_dirs=dirs, logs=logs)


out = plays.on_each(play, "old-snapshots", KAFKA)


@pytest.fixture(scope="module", params=["after", "with-logs"])
def case(request):
    """The case without logs, or with them."""
    return request.param


@pytest.fixture(scope="module")
def told(out, case):
    """Every answer of the scheduled report."""
    return answers(out / case, ["90"])["90"]


def test_how_much_older_is_said_once(told):
    """By whoever is newer: a topic that they do not know, or a broker that has started since."""
    apart = told["evidence.moments"]
    assert (apart.status, apart.facts["znodes_older"]) == (Status.COULD_NOT_CHECK, True)
    assert AGE <= timedelta(milliseconds=apart.facts["apart_ms"]) <= AGE + timedelta(minutes=2)


def test_nothing_of_then_is_said_of_now(told):
    """Who leads, who may be restarted, and how topics are set that they do not know."""
    present = [one for one in told.values() if one.check.startswith(("leadership.", "maintenance.", "offsets_topic.compacted"))]
    assert len(present) > 15
    assert {one.status for one in present} <= {Status.COULD_NOT_CHECK, Status.NOT_APPLICABLE}


def test_the_outage_ends_where_the_evidence_does(told, case):
    """Snapshots alone tell of it at their moments; the log of a broker that is back ends it."""
    outage = told["timeline.leaderless"]
    assert outage.status is Status.FINDING
    ended = case == "with-logs"
    assert ("to the end of ZooKeeper's history" in outage.title) != ended
    assert ("had one again" in outage.title or "have one again" in outage.title) == ended
