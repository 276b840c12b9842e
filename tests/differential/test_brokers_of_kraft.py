"""Clusters in KRaft mode, asked by their brokers alone: verdicts and predictions against what the real controllers then do."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.facts.cluster import Cluster
from casebook.kafka.partitions import verdicts
from casebook.kafka.release import release
from casebook.kafka.restart_sets import Harm, RestartSets
from casebook.kafka.verdict import PartitionCondition, Verdict
from casebook.rehearsal.servers.kraft import KraftCluster
from casebook.runs import notebooks, runner

KINDS = {"3.9.2": {"controllers": 3, "combined": True}, "4.4.0": {"controllers": 1}}
TOPICS = {"orders": {0: (1, 2), 1: (2, 3), 2: (3, 1)}, "only2": {0: (2,)}, "wide": {0: (1, 2, 3)}}
PATIENCE = 60

Leaders = dict[tuple[str, int], int | None]


@dataclass(slots=True)
class Lived:
    """A case with broker 2 dead, and what became of it."""

    kafka: str
    case: Case
    isr: dict[tuple[str, int], list[int]]
    after: dict[str, Leaders] = field(default_factory=dict)


@pytest.fixture(scope="module")
def lives(tmp_path_factory) -> Iterator[dict[str, Future[Lived]]]:
    with ThreadPoolExecutor(1) as pool:
        yield {kafka: pool.submit(_lived, kafka, tmp_path_factory.mktemp("lived")) for kafka in KINDS}


@pytest.fixture(params=KINDS)
def lived(request, lives) -> Lived:
    return lives[request.param].result()


def _lived(kafka: str, folder: Path) -> Lived:
    with KraftCluster(kafka=kafka, brokers=3, **KINDS[kafka]) as cluster:
        for topic, assignment in TOPICS.items():
            cluster.create_topic(topic, assignment, {"min.insync.replicas": "1" if topic == "only2" else "2"})
        cluster.kill(2)
        cluster.wait_fenced(2)
        cluster.wait_until(lambda: _leaders(cluster)["orders", 1] == 3, what="another leader than broker 2")
        case = Case.open(collect_case(folder / "case", bootstrap=cluster.bootstrap))
        found = Lived(kafka, case, _isr(cluster))
        if kafka == "4.4.0":  # a combined cluster of three loses its majority with the second node
            cluster.kill(1)
            cluster.wait_fenced(1)
            cluster.wait_until(lambda: _leaders(cluster)["wide", 0] == 3, what="the last broker to lead")
            found.after["broker 1 gone, too"] = _leaders(cluster)
            cluster.start(1)
        cluster.start(2)
        cluster.wait_until(lambda: _leaders(cluster)["only2", 0] is not None, what="a leader of the only replica")
        found.after["broker 2 back"] = _leaders(cluster)
        return found


def _leaders(cluster: KraftCluster) -> Leaders:
    return {(topic, p): leader for topic in TOPICS for p, leader in cluster.leaders(topic).items()}


def _isr(cluster: KraftCluster) -> dict[tuple[str, int], list[int]]:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    described = admin.describe_topics(TopicCollection(list(TOPICS)))
    rows = {topic: future.result(PATIENCE) for topic, future in described.items()}
    return {(topic, row.id): sorted(node.id for node in row.isr) for topic, of in rows.items() for row in of.partitions}


def judged(case: Case) -> tuple[Cluster, dict[tuple[str, int], Verdict]]:
    cluster = case.cluster()
    version = release(cluster, logged=case.logged_versions(), configured=case.configured_versions()).version
    return cluster, {(v.topic, v.partition): v for v in verdicts(cluster, version)}


def test_all_is_told(lived):
    cluster, found = judged(lived.case)
    version = release(cluster)
    assert cluster.is_kraft
    assert str(version.version).startswith(lived.kafka.rpartition(".")[0])
    assert cluster.live == {1, 3}
    assert cluster.controller.broker in ({1, 3} if lived.kafka == "3.9.2" else {101})
    missing = [problem.path for problem in lived.case.could_not_collect]
    assert missing == (["wire/eligible_leader_replicas"] if lived.kafka == "3.9.2" and missing else [])
    assert {key: sorted(v.isr) for key, v in found.items()} == lived.isr


def test_the_partition_without_a_leader(lived):
    _, found = judged(lived.case)
    offline = found["only2", 0]
    assert (offline.state, offline.waits_for, offline.clean_winner) == (PartitionCondition.LEADERLESS, (2,), None)
    assert offline.rule == ("R3" if lived.kafka == "3.9.2" else "R12")
    assert [key for key, v in found.items() if v.state is not PartitionCondition.ONLINE] == [("only2", 0)]
    assert lived.after["broker 2 back"]["only2", 0] == 2


def test_a_broker_that_may_not_stop(lives):
    """The prediction for broker 1 is what happens when it is killed."""
    lived = lives["4.4.0"].result()
    cluster, found = judged(lived.case)
    harmed = RestartSets(found.values(), cluster.live).harmed({1})
    gone = {key for key, leader in lived.after["broker 1 gone, too"].items() if leader is None}
    assert set(harmed[Harm.OFFLINE]) == gone - {("only2", 0)} == {("orders", 0)}
    assert set(harmed[Harm.UNDER_MIN_ISR]) == {("orders", 2), ("wide", 0)}


def test_the_reader_is_not_sent_to_zookeeper(lived, tmp_path):
    """In no page about such a cluster."""
    ran = runner.run(notebooks.find("20"), {"source": str(lived.case.folder)}, runs_dir=tmp_path / "runs")
    text = (ran.folder / "findings.json").read_text()
    assert "no leader" in text
    assert [
        word
        for word in ('znode"', "znodes", "ZooKeeper", "/brokers/", "--zookeeper")
        if word in text.replace('"znode": null', "")
    ] == []
