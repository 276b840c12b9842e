"""Value and origin of settings, held against what real brokers say of themselves under every kind of override.

2.8.2 and 3.9.2 are asked by DescribeConfigs; 0.9.0.1, which cannot be asked, prints its settings when it starts.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ConfigEntry, ConfigResource, ConfigSource

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.kafka.defaults import READ_ONLY_BROKER_SETTINGS
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import BUILT_IN, DYNAMIC_BROKER, DYNAMIC_DEFAULT, SERVER_PROPERTIES, TOPIC, Settings
from casebook.questions.durability.analysis import settings as listed
from casebook.questions.durability.analysis.rows import SettingRow
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers import disks
from tests.zookeeper_session import client_of

ORIGINS = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG.value: TOPIC,
    ConfigSource.DYNAMIC_BROKER_CONFIG.value: DYNAMIC_BROKER,
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value: DYNAMIC_DEFAULT,
    ConfigSource.STATIC_BROKER_CONFIG.value: SERVER_PROPERTIES,
    ConfigSource.DEFAULT_CONFIG.value: BUILT_IN,
}
STATIC = {
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "true",
    "default.replication.factor": "2",
    "auto.create.topics.enable": "true",
    "controlled.shutdown.enable": "false",
    "log.cleaner.enable": "false",
    "log.flush.interval.messages": "1000",
    "log.flush.scheduler.interval.ms": "60000",
    "log.retention.minutes": "77",
    "offsets.retention.minutes": "99",
    "offsets.topic.replication.factor": "2",
    "replica.lag.time.max.ms": "12000",
    "zookeeper.session.timeout.ms": "7000",
}
NEWER = {"broker.rack": "r1", "transaction.state.log.min.isr": "1", "transaction.state.log.replication.factor": "1"}
SECOND = {"min.insync.replicas": "1", "log.flush.interval.ms": "5000", "broker.rack": "r2", "log.retention.hours": "5"}
PER_BROKER = {"unclean.leader.election.enable": "false", "log.flush.interval.messages": "7"}
DEFAULT = {"min.insync.replicas": "1", "log.flush.interval.messages": "9", "log.retention.ms": "123456"}
OWN = {
    "min.insync.replicas": "1",
    "flush.messages": "10",
    "flush.ms": "11",
    "retention.ms": "12",
    "unclean.leader.election.enable": "true",
}

PATIENCE = 90
"""Seconds for an answer: a broker on a busy machine takes its time."""

Told = Mapping[tuple[str, str], ConfigEntry]


class Compared:
    """What brokers say of themselves, and what a case of them says."""

    def __init__(self, kafka: str, folder: Path) -> None:
        with PlayedCluster(kafka=kafka, brokers=2, running=(), settings=STATIC | NEWER) as cluster:
            write(cluster, {"1": PER_BROKER, "<default>": DEFAULT})
            cluster.start(1)
            cluster.configure(SECOND)
            cluster.start(2)
            cluster.create_topic("plain", {0: [1, 2]})
            cluster.create_topic("own", {0: [2, 1]}, OWN)
            admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
            brokers = (ConfigResource(ConfigResource.Type.BROKER, name) for name in ("1", "2"))
            self.told = {key: entry for broker in brokers for key, entry in asked(admin, broker)}
            properties = {broker: cluster.server_properties(broker) for broker in cluster.ids}
            case = collect_case(folder / "case", zookeeper=cluster.zookeeper, properties=properties)
            cluster.stop(2)  # whoever is asked for a topic answers by its own settings
            topics = (ConfigResource(ConfigResource.Type.TOPIC, name) for name in ("plain", "own"))
            self.told |= {key: entry for topic in topics for key, entry in asked(admin, topic)}
        facts = Case.open(case).cluster()
        found = listed.rows(facts, Settings(facts, KafkaVersion.parse(kafka)))
        self.rows = {(row.entity, row.key): row for row in found if 1 in row.brokers or row.entity == "broker 2"}


def write(cluster: PlayedCluster, dynamic: Mapping[str, Mapping[str, str]]) -> None:
    """Dynamic settings, as ``kafka-configs`` leaves them: librdkafka cannot set those of all brokers."""
    with client_of(cluster) as client:
        for entity, settings in dynamic.items():
            client.create(f"/config/brokers/{entity}", json.dumps({"version": 1, "config": settings}).encode(), makepath=True)


def asked(admin: AdminClient, resource: ConfigResource) -> Iterator[tuple[tuple[str, str], ConfigEntry]]:
    kind = "broker" if resource.restype is ConfigResource.Type.BROKER else "topic"
    for done in admin.describe_configs([resource]).values():
        for name, entry in done.result(PATIENCE).items():
            yield (f"{kind} {resource.name}", name), entry


@pytest.fixture(scope="module", params=["2.8.2", "3.9.2"])
def compared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return Compared(request.param, tmp_path_factory.mktemp("settings"))


class TestDescribeConfigs:
    def test_every_listed_setting_is_asked_for(self, compared):
        """Nothing is compared by leaving it out: 2 brokers and 2 topics, every key that the release knows."""
        keys = set(listed.BROKER_KEYS) - {"replica.lag.max.messages"}
        assert {key for entity, key in compared.rows if entity == "broker 1"} == keys
        assert {key for entity, key in compared.rows if entity == "topic own"} == set(listed.TOPIC_KEYS)
        assert set(compared.rows) <= set(compared.told)

    def test_values_are_the_brokers_own(self, compared):
        """Of every listed setting, under topic, dynamic and static overrides."""
        told = {key: compared.told[key].value or "" for key in compared.rows}
        assert {key: row.value for key, row in compared.rows.items()} == told

    def test_origins_are_the_brokers_own(self, compared):
        """But for what DescribeConfigs itself loses track of: a topic's setting that brokers have by two names, and a file's
        retention in minutes or hours beside a dynamic one in milliseconds, of which it shows the default's value."""
        lost = {("topic plain", "flush.ms"), ("topic plain", "retention.ms")}
        lost |= {
            ("broker 1", "log.retention.minutes"),
            ("broker 2", "log.retention.minutes"),
            ("broker 2", "log.retention.hours"),
        }
        told = {key: ORIGINS[compared.told[key].source] for key in compared.rows if key not in lost}
        assert {key: compared.rows[key].origin.partition(" (")[0] for key in told} == told
        assert compared.rows["topic plain", "flush.ms"].origin == f"{SERVER_PROPERTIES} (log.flush.scheduler.interval.ms)"
        assert compared.rows["topic plain", "retention.ms"].origin == f"{DYNAMIC_DEFAULT} (log.retention.ms)"

    def test_every_kind_of_origin_is_among_them(self, compared):
        """The test would be empty if one of them never decided."""
        assert {row.origin.partition(" (")[0] for row in compared.rows.values()} == set(ORIGINS.values())

    def test_what_a_broker_takes_from_its_file_alone(self, compared):
        """Settings called read-only are those that the broker calls so."""
        told = {key for entity, key in compared.told if entity == "broker 1" and compared.told[entity, key].is_read_only}
        keys = {key for entity, key in compared.rows if entity == "broker 1"}
        assert keys & told == keys & READ_ONLY_BROKER_SETTINGS


def test_the_values_that_0_9_prints(tmp_path):
    """0.9.0.1 knows no DescribeConfigs; it prints what counts when it starts."""
    with PlayedCluster(kafka="0.9.0.1", brokers=1, settings=STATIC) as cluster:
        cluster.create_topic("own", {0: [1]}, {"min.insync.replicas": "1"})
        lines = map(re.compile(r"\t([\w.]+) = (.*?)\s*").fullmatch, disks.log_lines(cluster, 1, "server.log"))
        printed = dict(line.groups() for line in lines if line)
        collected = collect_case(tmp_path / "case", zookeeper=cluster.zookeeper, properties={1: cluster.server_properties(1)})
    facts = Case.open(collected).cluster()
    rows: list[SettingRow] = list(listed.rows(facts, Settings(facts, KafkaVersion.parse("0.9.0.1"))))
    found = {row.key: row.value for row in rows if row.entity == "broker 1"}
    assert len(found) >= 17
    assert found == {key: "" if printed[key] == "null" else printed[key] for key in found}
    static = {row.key for row in rows if row.entity == "broker 1" and row.origin == SERVER_PROPERTIES}
    assert static == set(STATIC) | {"auto.leader.rebalance.enable"}  # which every rehearsed broker is given
