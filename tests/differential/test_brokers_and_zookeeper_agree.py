"""One cluster, asked twice while it rests: its brokers in Kafka's own protocol, and its ZooKeeper. Both give the same verdicts."""

import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.errors import CollectError
from casebook.facts.cluster import Cluster
from casebook.kafka.partitions import verdicts
from casebook.kafka.release import release
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import BUILT_IN, Settings
from casebook.kafka.verdict import OFFLINE, Verdict
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.plays.api_versions_storm import REQUEST_LOGGING

OLD = ("0.11.0.3", "1.1.1")
RELEASES = ("0.11.0.3", "1.1.1", "2.8.2", "3.9.2")
ORDERS = {0: (1, 2), 1: (2, 3), 2: (3, 1)}
NOT_ON_THE_WIRE = {"controller_epoch", "state_version", "since"}
"""No broker answers these."""
SETTINGS = {"min_isr", "min_isr_origin", "min_isr_may_be", "unclean_allowed", "unclean_origin"}
"""ZooKeeper alone lacks the files of the brokers; a broker that is dead answers nothing."""
READS = {
    "METADATA",
    "API_VERSIONS",
    "DESCRIBE_CONFIGS",
    "DESCRIBE_LOG_DIRS",
    "LIST_PARTITION_REASSIGNMENTS",
    "3",
    "18",
    "32",
    "35",
}
_REQUEST = re.compile(
    r"api_key=(\d+),api_version=\d+,correlation_id=-?\d+,client_id=kafka-casebook|apiKey=(\w+), apiVersion=\d+, clientId=kafka-casebook"
    r'|"clientId":"kafka-casebook","requestApiKeyName":"(\w+)"'
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What both gave, and what the brokers logged of it."""

    kafka: str
    by_zookeeper: Case
    by_brokers: Case
    requests: set[str]
    topics: set[str]


@pytest.fixture(scope="module")
def all_asked(tmp_path_factory) -> Iterator[dict[str, Future[Asked]]]:
    """All releases, two at once."""
    with ThreadPoolExecutor(2) as pool:
        yield {kafka: pool.submit(_asked, kafka, tmp_path_factory.mktemp("asked")) for kafka in RELEASES}


@pytest.fixture(params=RELEASES)
def asked(request, all_asked) -> Asked:
    return all_asked[request.param].result()


def _asked(kafka: str, folder: Path) -> Asked:
    with PlayedCluster(kafka=kafka, brokers=3, settings={"min.insync.replicas": "2"}, running=()) as cluster:
        cluster.log_more(REQUEST_LOGGING)
        cluster.start(1, 2, 3)
        cluster.create_topic("orders", ORDERS, {"min.insync.replicas": "1", "retention.ms": "3600000"})
        cluster.create_topic("only2", {0: (2,)}, None)
        cluster.create_topic("plain", {0: (1, 2, 3)}, None)
        cluster.kill(2)
        cluster.wait_gone(2)
        cluster.wait_until(lambda: _rests(cluster), what="brokers that know the ISRs without broker 2")
        by_brokers = collect_case(folder / "brokers", bootstrap=cluster.bootstrap)
        by_zookeeper = collect_case(folder / "zookeeper", zookeeper=cluster.zookeeper)
        logged = [line for broker in (1, 3) for file in cluster.log_files(broker) for line in file.read_text().splitlines()]
        found = {match[1] or match[2] or match[3] for line in logged for match in _REQUEST.finditer(line)}
        return Asked(kafka, Case.open(by_zookeeper), Case.open(by_brokers), found, {topic for topic, _ in cluster.states()})


def _rests(cluster: PlayedCluster) -> bool:
    """Whether the ISRs are without broker 2, and the brokers know them: a leader announces a change up to a minute later."""
    isr = {key: sorted(state["isr"]) for key, state in cluster.states().items() if key != ("only2", 0)}
    topics = AdminClient({"bootstrap.servers": cluster.bootstrap}).list_topics(timeout=10).topics
    told = {(name, p): sorted(row.isrs) for name, topic in topics.items() for p, row in topic.partitions.items()}
    return not any(2 in members for members in isr.values()) and {key: told.get(key) for key in isr} == isr


def judged(case: Case) -> tuple[Cluster, KafkaVersion, dict[tuple[str, int], Verdict]]:
    cluster = case.cluster()
    version = release(cluster, logged=case.logged_versions(), configured=case.configured_versions()).version
    return cluster, version, {(v.topic, v.partition): v for v in verdicts(cluster, version)}


def test_the_same_verdicts(asked):
    _, _, by_zookeeper = judged(asked.by_zookeeper)
    cluster, _, by_brokers = judged(asked.by_brokers)
    assert by_brokers.keys() == by_zookeeper.keys() == {("only2", 0), ("plain", 0), *(("orders", p) for p in ORDERS)}
    names = set(Verdict._fields) - NOT_ON_THE_WIRE - SETTINGS - ({"leader_epoch"} if asked.kafka in OLD else set())
    assert [
        (key, name, getattr(verdict, name), getattr(by_zookeeper[key], name))
        for key, verdict in by_brokers.items()
        for name in names - ({"under_min_isr", "at_min_isr"} if key[0] != "orders" else set())
        if getattr(verdict, name) != getattr(by_zookeeper[key], name) and not (key == ("only2", 0) and asked.kafka in OLD)
    ] == []
    assert cluster.live == {1, 3}


def test_a_partition_without_a_leader(asked):
    """Brokers of old releases do not answer its ISR, and nothing is concluded from an empty one."""
    found, theirs = (judged(case)[2]["only2", 0] for case in (asked.by_brokers, asked.by_zookeeper))
    assert {found.state, theirs.state} <= OFFLINE
    if asked.kafka in OLD:
        assert (found.isr, found.rule, found.waits_for, found.under_replicated, found.clean_winner) == (
            None,
            "R11",
            (),
            None,
            None,
        )
    else:
        assert (found.isr, found.rule, found.waits_for) == ((2,), "R3", (2,))


def test_release_and_cluster(asked):
    cluster, version, _ = judged(asked.by_brokers)
    theirs = asked.by_zookeeper.cluster()
    assert str(version) == asked.kafka
    assert (cluster.cluster_id, cluster.controller.broker) == (theirs.cluster_id, theirs.controller.broker)
    assert not cluster.is_kraft


def test_settings_with_their_origin(asked):
    """Brokers know what ZooKeeper does not: their files, and the defaults of their release."""
    cluster, version, by_brokers = judged(asked.by_brokers)
    settings = Settings(cluster, version)
    assert cluster.topic_configs["orders"] == {"min.insync.replicas": "1", "retention.ms": "3600000"}
    assert "plain" not in cluster.topic_configs
    assert settings.of_broker("min.insync.replicas", 1).value == "2"
    assert settings.of_broker("min.insync.replicas", 1).origin == "server.properties, as the broker answers"
    assert settings.of_broker("unclean.leader.election.enable", 3).origin == BUILT_IN
    assert (
        settings.of_broker("min.insync.replicas", 2).value is None
        or "not collected" in settings.of_broker("min.insync.replicas", 2).origin
    )
    assert (by_brokers["plain", 0].min_isr, by_brokers["plain", 0].under_min_isr) == (2, False)


def test_nothing_else_is_missing(asked):
    """A release is not asked for more than it knows, and that is named."""
    unknown = {problem.path for problem in asked.by_brokers.could_not_collect}
    expected = {
        "0.11.0.3": {"wire/log_dirs/1", "wire/log_dirs/3", "wire/reassignments"},
        "1.1.1": {"wire/reassignments"},
    }
    assert unknown == expected.get(asked.kafka, set())


def test_sizes(asked):
    """Size of each replica on a live broker, from 1.0."""
    sizes = asked.by_brokers.cluster().replica_bytes
    held = {
        (broker, topic, p)
        for topic, rows in {"orders": ORDERS, "plain": {0: (1, 2, 3)}}.items()
        for p in rows
        for broker in rows[p]
    }
    assert set(sizes) == (set() if asked.kafka == "0.11.0.3" else {key for key in held if key[0] != 2})


def test_only_reads(asked):
    """No request creates anything: no topic, and above all not the offsets topic."""
    assert asked.topics == {"orders", "only2", "plain"}
    assert asked.requests
    assert asked.requests <= READS


def test_kafka_0_9_is_recognised_and_not_harmed(tmp_path):
    """By the one request that it answers; its log has no error of a request that it does not know."""
    with PlayedCluster(kafka="0.9.0.1", brokers=1) as cluster:
        cluster.create_topic("orders", {0: (1,)})
        with pytest.raises(CollectError, match="is a broker of Kafka 0.9, which cannot be asked"):
            collect_case(tmp_path / "case", bootstrap=cluster.bootstrap)
        logged = "".join(file.read_text() for file in cluster.log_files(1))
    assert not re.search(r"\] ERROR |Exception", logged)
