"""What is asked of brokers and what is kept of their answers: addresses, client properties, parts without secrets."""

import json

import pytest

from casebook.collect import bounds
from casebook.collect.wire import addresses, messages
from casebook.collect.wire.addresses import Address
from casebook.collect.wire.client_config import ClientConfig
from casebook.collect.wire.connection import BrokerReply
from casebook.collect.wire.messages import Request
from casebook.collect.wire.walk import BrokerWalk
from casebook.errors import CollectError, UsageError

SECRET = "hunter2-Zx9"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kafka1:9092", (Address("kafka1", 9092),)),
        ("kafka1:9092, kafka2:9093 ,", (Address("kafka1", 9092), Address("kafka2", 9093))),
        ("PLAINTEXT://kafka1:9092", (Address("kafka1", 9092),)),
        ("[::1]:9092", (Address("::1", 9092),)),
    ],
)
def test_addresses(text, found):
    assert addresses.parse(text) == found
    assert addresses.parse(",".join(map(str, found))) == found


@pytest.mark.parametrize(
    "text", ["", ",", "kafka1", "kafka1:0", "kafka1:70000", "kafka1:9092/kafka", "a b:9092", f"u:{SECRET}@kafka1:9092"]
)
def test_no_addresses(text):
    with pytest.raises(UsageError):
        addresses.parse(text)


class TestClientConfig:
    @pytest.fixture
    def load(self, tmp_path):
        def load(text: str, **more: bool) -> ClientConfig:
            path = tmp_path / "client.properties"
            path.write_text(text)
            return ClientConfig.load(path, **more)

        return load

    def test_allow_list(self, load):
        found = load(
            f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\ngroup.id=x\nssl.truststore.password={SECRET}\nbootstrap.servers=a:1\n"
        )
        assert found.settings == {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "ssl.truststore.password": SECRET}
        assert found.ignored == ("group.id",)

    @pytest.mark.parametrize(
        "line",
        [
            "sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler",
            "sasl.jaas.config=com.evil.LoginModule required password=x;",
            "ssl.engine.factory.class=com.evil.Factory",
            "config.providers.x.class=com.evil.Provider",
            "security.providers=com.evil.Creator",
        ],
    )
    def test_a_class_from_outside_needs_its_jar(self, load, line):
        with pytest.raises(UsageError, match="--client-jar"):
            load(line)
        assert load(line, has_jars=True).settings

    def test_kafkas_own_classes(self, load):
        line = (
            f'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="{SECRET}";'
        )
        assert load(line).settings["sasl.jaas.config"].endswith(";")
        assert load("sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required;").settings

    def test_a_refusal_repeats_no_value(self, load):
        with pytest.raises(UsageError) as refused:
            load(f'sasl.jaas.config=com.evil.LoginModule required password="{SECRET}";')
        assert SECRET not in str(refused.value)

    def test_no_file(self, tmp_path):
        with pytest.raises(CollectError, match="cannot be read"):
            ClientConfig.load(tmp_path / "missing")

    def test_token_servers_are_named_to_kafka(self, load):
        found = load("sasl.oauthbearer.token.endpoint.url=https://idp/token\n")
        assert found.system_properties == {"org.apache.kafka.sasl.oauthbearer.allowed.urls": "https://idp/token"}


def settings(kind: int, name: str, *configs: dict) -> list[tuple[str, dict]]:
    result = {"errorCode": 0, "errorMessage": None, "resourceType": kind, "resourceName": name, "configs": list(configs)}
    return list(messages.parts("DESCRIBE_CONFIGS", {"results": [result]}, 1))


def config(name: str, value: str | None, source: int = 4, **more: object) -> dict:
    return {"name": name, "value": value, "configSource": source, "isSensitive": False, "synonyms": [], **more}


class TestSettings:
    def test_only_what_analyses_use(self):
        """A secret may be under any name, and under a known one in place of a number."""
        ((subject, found),) = settings(
            4, "1", config("min.insync.replicas", "2"), config("my.plugin.token", SECRET), config("log.retention.ms", SECRET),
            config("ssl.keystore.password", None), config("listeners", f"SASL_SSL://u:{SECRET}@h:1"),
        )  # fmt: skip
        assert subject == "brokers/1"
        assert [row["name"] for row in found["configs"]] == ["min.insync.replicas"]
        assert SECRET not in json.dumps(found)

    def test_synonyms_too(self):
        synonyms = [
            {"name": "log.retention.hours", "value": SECRET, "source": 4},
            {"name": "log.retention.hours", "value": "7", "source": 5},
        ]
        ((_, found),) = settings(4, "1", config("log.retention.hours", "7", synonyms=synonyms))
        assert SECRET not in json.dumps(found)

    def test_of_a_topic_only_its_own(self):
        ((subject, found),) = settings(2, "orders", config("min.insync.replicas", "2", 1), config("retention.ms", "7", 5))
        assert (subject, [row["name"] for row in found["configs"]]) == ("topics/orders", ["min.insync.replicas"])

    def test_of_a_topic_before_the_source_was_answered(self):
        plain = {"name": "retention.ms", "value": "7", "isDefault": False, "configSource": -1, "synonyms": []}
        ((_, found),) = settings(2, "orders", plain, {**plain, "name": "retention.bytes", "isDefault": True})
        assert [row["name"] for row in found["configs"]] == ["retention.ms"]


def test_no_topic_is_named_where_that_creates_it():
    assert messages.probe(-1).fields["topics"] == []
    assert messages.metadata(1).fields["topics"] is None


def versions(*apis: int) -> dict:
    return {"errorCode": 0, "apiKeys": [{"apiKey": api, "minVersion": 0, "maxVersion": 1} for api in (3, 18, 32, *apis)]}


class Scripted:
    """Brokers that answer by script: by node and request, or by request alone; a text is a failure."""

    def __init__(self, **answers: dict | str) -> None:
        self.answers = answers
        self.asked: list[Request] = []

    def introduce(self, node: int, host: str, port: int) -> None:
        pass

    def ask_one(self, request: Request) -> BrokerReply:
        return next(self.ask([request]))[1]

    def ask(self, requests):
        for request in requests:
            self.asked.append(request)
            answer = self.answers.get(f"{request.api}_{request.node}", self.answers.get(request.api, "UNSUPPORTED"))
            if isinstance(answer, Exception):
                raise answer
            if isinstance(answer, str):
                yield request, BrokerReply(1, -1, None, answer, "no")
            else:
                yield request, BrokerReply(1, 1, answer)


def metadata(*brokers: int, controller: int = 1) -> dict:
    nodes = [{"nodeId": broker, "host": "127.0.0.1", "port": 1, "rack": None} for broker in brokers]
    topic = {"errorCode": 0, "name": "orders", "partitions": []}
    return {"brokers": nodes, "clusterId": "c", "controllerId": controller, "topics": [topic]}


SETTINGS = {"results": [{"errorCode": 0, "errorMessage": None, "resourceType": 2, "resourceName": "orders", "configs": []}]}
OF_BROKER = {"results": [{"errorCode": 0, "errorMessage": None, "resourceType": 4, "resourceName": "1",
                          "configs": [config("authorizer.class.name", "")]}]}  # fmt: skip


QUORUM = {"errorCode": 0, "topics": [{"topicName": "__cluster_metadata", "partitions": [{"errorCode": 0, "leaderId": 3}]}]}


def walked(scripted: Scripted) -> tuple[list[str], dict[str, str]]:
    walk = BrokerWalk(scripted, [Address("a", 1), Address("b", 2)], settings={}, patience=1, progress=None)
    subjects = [f"{answer.api} {answer.subject}" for answer in walk.answers()]
    return subjects, {problem.path: problem.reason for problem in walk.problems}


class TestWalk:
    def test_brokers_behind_an_address_that_cannot_be_reached(self):
        """Whoever has only a forwarded port gets what that broker knows of all."""
        brokers = Scripted(METADATA=metadata(1, 2), API_VERSIONS=versions(55), API_VERSIONS_1="NOT_CONNECTED", API_VERSIONS_2="NOT_CONNECTED",
                           DESCRIBE_CONFIGS=SETTINGS, DESCRIBE_QUORUM=QUORUM)  # fmt: skip
        subjects, problems = walked(brokers)
        assert {
            "API_VERSIONS cluster",
            "METADATA topics/orders",
            "DESCRIBE_CONFIGS topics/orders",
            "DESCRIBE_QUORUM cluster",
        } <= set(subjects)
        assert "could not be reached" in problems["wire/brokers/1"]
        assert "wire/topics" in problems  # whether they have an authorizer is unknown

    def test_brokers_that_disagree(self):
        scripted = Scripted(METADATA=metadata(1, 2), METADATA_2=metadata(2), API_VERSIONS=versions(), DESCRIBE_CONFIGS=OF_BROKER)
        _, problems = walked(scripted)
        assert (
            problems["wire/brokers"]
            == "broker 2 knows brokers 2 with controller 1; the one asked first knows brokers 1, 2 with controller 1"
        )

    def test_the_second_address(self):
        scripted = Scripted(
            **{"METADATA_-1": "NOT_CONNECTED"}, METADATA=metadata(1), API_VERSIONS=versions(), DESCRIBE_CONFIGS=OF_BROKER
        )
        subjects, problems = walked(scripted)
        assert "METADATA topics/orders" in subjects
        assert "wire/topics" not in problems

    def test_kafka_0_9(self):
        """No other request follows the first."""
        scripted = Scripted(METADATA="UNREADABLE")
        with pytest.raises(CollectError, match="Kafka 0.9"):
            walked(scripted)
        assert [request.api for request in scripted.asked] == ["METADATA", "METADATA"]
        assert all(request.blind for request in scripted.asked)

    def test_a_cluster_that_is_upgraded_from_0_9(self):
        """A broker of 0.9 is asked for nothing but what it knows."""
        scripted = Scripted(METADATA=metadata(1, 2), METADATA_2="UNREADABLE", API_VERSIONS=versions(), DESCRIBE_CONFIGS=OF_BROKER)
        _, problems = walked(scripted)
        assert "of Kafka 0.9" in problems["wire/brokers/2"]
        assert [(request.api, request.blind) for request in scripted.asked if request.node == 2] == [("METADATA", True)]

    def test_the_second_broker_for_what_any_can_answer(self):
        scripted = Scripted(METADATA=metadata(1, 2), API_VERSIONS=versions(55), DESCRIBE_CONFIGS=OF_BROKER, DESCRIBE_QUORUM=QUORUM,
                            DESCRIBE_QUORUM_1="TIMEOUT")  # fmt: skip
        subjects, problems = walked(scripted)
        assert "DESCRIBE_QUORUM cluster" in subjects
        assert "wire/quorum" not in problems

    def test_the_time_is_up(self):
        """All answers before are kept, and the rest is named."""
        scripted = Scripted(
            METADATA=metadata(1), API_VERSIONS=versions(), DESCRIBE_CONFIGS=bounds.TimeIsUpError(0, "the time is up")
        )
        subjects, problems = walked(scripted)
        assert "METADATA topics/orders" in subjects
        assert problems["wire/rest"] == "the time is up"

    def test_refusals_are_named(self):
        refused = {"errorCode": 31, "results": []}
        scripted = Scripted(METADATA=metadata(1), API_VERSIONS=versions(), DESCRIBE_CONFIGS=OF_BROKER, DESCRIBE_LOG_DIRS=refused)
        _, problems = walked(scripted)
        assert "lacks the ACL Describe on the cluster" in problems["wire/log_dirs/1"]
        assert problems["wire/reassignments"] == "LIST_PARTITION_REASSIGNMENTS: this release has no such request"
