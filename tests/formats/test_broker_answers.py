"""Facts out of brokers' answers, and out of fewer of them: an answer that is not there is unknown, never a fact."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.facts.cluster import Cluster, Problem
from casebook.facts.wire import ANSWERS, BrokerAnswer
from casebook.findings import coverage
from casebook.formats.wire import answer_lines
from casebook.formats.wire.cluster import from_answers
from casebook.kafka.partitions import verdicts
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import ANSWERED, BUILT_IN, DYNAMIC_BROKER, DYNAMIC_DEFAULT, TOPIC, UNREADABLE, Settings
from casebook.kafka.verdict import PartitionCondition

NOW = 1_795_000_000_000
VERSION = KafkaVersion.parse("4.4.0")
ELR = {"eligible.leader.replicas.version": 1, "metadata.version": 33}


def answer(api: str, subject: str, fields: dict, broker: int | None = 1) -> BrokerAnswer:
    return BrokerAnswer(api, subject, broker, NOW, 1, fields)


def partition(topic: str, number: int, leader: int, replicas: list[int], isr: list[int], error: int = 0) -> BrokerAnswer:
    offline = [broker for broker in replicas if broker == 2]
    fields = {"errorCode": error, "partitionIndex": number, "leaderId": leader, "leaderEpoch": 4, "replicaNodes": replicas,
              "isrNodes": isr, "offlineReplicas": offline}  # fmt: skip
    return answer("METADATA", f"topics/{topic}/{number}", fields, None)


def config(name: str, value: str, source: int, *synonyms: tuple[str, str, int]) -> dict:
    return {"name": name, "value": value, "configSource": source,
            "synonyms": [{"name": n, "value": v, "source": s} for n, v, s in synonyms]}  # fmt: skip


def whole(*, kraft: bool = True) -> list[BrokerAnswer]:
    """The answers of a cluster of three, of which broker 2 is dead and was the last of ``only-0``."""
    key = "min.insync.replicas"
    layers = (key, "1", 3), (key, "2", 4), (key, "1", 5)
    apis = [{"apiKey": 55 if kraft else 4, "minVersion": 0, "maxVersion": 1}]
    features = [{"name": name, "maxVersionLevel": level, "minVersionLevel": level} for name, level in ELR.items()]
    supported = [{"name": "metadata.version", "minVersion": 1, "maxVersion": 33}]
    quorum = {"errorCode": 0, "topics": [{"topicName": "__cluster_metadata",
              "partitions": [{"partitionIndex": 0, "errorCode": 0, "leaderId": 101, "leaderEpoch": 9}]}]}  # fmt: skip
    elr = {"partitionIndex": 0, "eligibleLeaderReplicas": [2], "lastKnownElr": []}
    brokers = [{"nodeId": broker, "host": "h", "port": 9092, "rack": "r"} for broker in (1, 3)]
    return [
        answer("METADATA", "cluster", {"brokers": brokers, "clusterId": "abc", "controllerId": 3}, None),
        answer("METADATA", "topics/orders", {"errorCode": 0, "name": "orders"}, None),
        partition("orders", 0, 1, [1, 2], [1]),
        partition("orders", 1, 3, [2, 3], [3]),
        answer("METADATA", "topics/only", {"errorCode": 0, "name": "only"}, None),
        partition("only", 0, -1, [2], [], error=5),
        *(answer("API_VERSIONS", f"brokers/{b}", {"apiKeys": apis, "supportedFeatures": supported, "finalizedFeatures": features}, b)
          for b in (1, 3)),
        answer("DESCRIBE_CONFIGS", "brokers/1", {"errorCode": 0, "configs": [config(key, "1", 2, (key, "1", 2), *layers)]}),
        answer("DESCRIBE_CONFIGS", "brokers/3", {"errorCode": 0, "configs": [config(key, "1", 3, *layers)]}, 3),
        answer("DESCRIBE_CONFIGS", "topics/orders", {"errorCode": 0, "configs": [config(key, "2", 1)]}),
        answer("DESCRIBE_CONFIGS", "topics/only", {"errorCode": 0, "configs": []}),
        answer("DESCRIBE_LOG_DIRS", "brokers/1", {"errorCode": 0, "logDir": "/d", "topics": [
            {"name": "orders", "partitions": [{"partitionIndex": 0, "partitionSize": 70, "offsetLag": 0, "isFutureKey": False}]}]}),
        answer("LIST_PARTITION_REASSIGNMENTS", "cluster", {"errorCode": 0, "topics": []}),
        *([answer("DESCRIBE_QUORUM", "cluster", quorum), answer("DESCRIBE_TOPIC_PARTITIONS", "topics/only/0", elr)] if kraft else []),
    ]  # fmt: skip


def cluster(answers: list[BrokerAnswer], *missing: str) -> Cluster:
    problems = [Problem(path=path, reason="refused") for path in missing]
    return from_answers(enumerate(answers, start=1), not_collected=problems)


def judged(found: Cluster) -> dict:
    return {(v.topic, v.partition): v for v in verdicts(found, VERSION)}


class TestWhole:
    def test_state(self):
        found = cluster(whole())
        assert (found.cluster_id, found.live, found.is_kraft) == ("abc", {1, 3}, True)
        assert (found.controller.broker, found.controller.epoch) == (101, 9)
        assert found.replica_bytes == {(1, "orders", 0): 70}
        assert coverage.partitions(found) == ()
        verdict = judged(found)["only", 0]
        assert (verdict.state, verdict.rule, verdict.elr) == (PartitionCondition.LEADERLESS, "R12", (2,))

    def test_the_controller_of_zookeeper_mode(self):
        assert cluster(whole(kraft=False)).controller.broker == 3

    def test_each_layer_of_a_setting(self):
        settings = Settings(cluster(whole()), VERSION)
        key = "min.insync.replicas"
        assert [layer.origin for layer in settings.layers(key, 1)] == [DYNAMIC_BROKER, DYNAMIC_DEFAULT, ANSWERED, BUILT_IN]
        assert [layer.value for layer in settings.layers(key, 3)] == ["1", "2", "1"]
        assert (settings.effective(key, topic="orders", broker=1).value, TOPIC) == (
            "2",
            settings.effective(key, topic="orders", broker=1).origin,
        )
        assert settings.of_broker(key, 2).origin in (UNREADABLE, DYNAMIC_DEFAULT)

    def test_proofs_are_lines(self):
        found = cluster(whole())
        assert found.proofs.state("orders", 0).label == f"{ANSWERS}:3"
        assert found.proofs.state("only", 0).label == f"{ANSWERS}:{len(whole())}"  # the one with its eligible leader replicas
        assert found.proofs.topic_settings("orders").line == 11
        assert found.proofs.state("nothing", 0).label == "wire/topics/nothing/0"


class TestLess:
    def test_no_isr_of_an_old_broker(self):
        """An empty ISR beside the error of an unavailable leader is no ISR, unless KRaft knows eligible replicas."""
        verdict = judged(cluster(whole(kraft=False)))["only", 0]
        assert (verdict.state, verdict.rule, verdict.isr, verdict.waits_for) == (PartitionCondition.LEADERLESS, "R11", None, ())

    def test_unknown_eligible_replicas(self):
        less = [one for one in whole() if one.api != "DESCRIBE_TOPIC_PARTITIONS"]
        verdict = judged(cluster(less))["only", 0]
        assert (verdict.rule, verdict.waits_for, verdict.clean_winner) == ("R11", (), None)

    def test_a_quorum_without_a_leader_to_ask(self):
        """Beside its error, leader and epoch are 0."""
        row = {"partitionIndex": 0, "errorCode": 6, "leaderId": 0, "leaderEpoch": 0}
        wrong = answer("DESCRIBE_QUORUM", "cluster", {"errorCode": 0, "topics": [{"topicName": "t", "partitions": [row]}]})
        found = cluster([wrong if one.api == "DESCRIBE_QUORUM" else one for one in whole()])
        assert (found.controller.broker, found.has_controller) == (None, None)

    def test_a_log_dir_that_failed(self):
        """Its broker lives, and its start heals nothing."""
        for kraft in (False, True):
            failed = partition("only", 0, -1, [3], [3])
            failed = failed._replace(fields=failed.fields | {"offlineReplicas": [3]})
            answers = [failed if one.subject == "topics/only/0" and one.api == "METADATA" else one for one in whole(kraft=kraft)]
            verdict = judged(cluster(answers))["only", 0]
            assert (verdict.rule, verdict.waits_for, verdict.clean_winner) == ("R14", (), None)

    def test_a_leader_without_the_listener(self):
        """It may lead well, and so may others be alive."""
        hidden = partition("only", 0, -1, [2], [2], error=72)
        found = cluster([hidden if one.subject == "topics/only/0" and one.api == "METADATA" else one for one in whole()])
        assert not found.brokers_known
        assert judged(found)["only", 0].state is PartitionCondition.UNKNOWN

    def test_a_listed_broker_that_does_not_answer(self):
        assert coverage.registrations(cluster(whole(), "wire/brokers/3"))

    def test_not_answered_with_zookeeper(self):
        assert coverage.unanswered(cluster(whole(kraft=False)), "topics under deletion")
        assert not coverage.unanswered(cluster(whole()), "topics under deletion")

    def test_a_setting_under_another_name(self):
        """The row of ``log.retention.hours`` has the source of ``log.retention.ms``."""
        row = config("log.retention.hours", "72", 2, ("log.retention.ms", "5", 2), ("log.retention.hours", "72", 4))
        one = answer("DESCRIBE_CONFIGS", "brokers/1", {"errorCode": 0, "configs": [row]})
        found = cluster([one if old.subject == "brokers/1" and old.api == "DESCRIBE_CONFIGS" else old for old in whole()])
        assert found.broker_configs["1"] == {"log.retention.ms": "5"}
        assert found.started_with[1] == {"log.retention.hours": "72"}

    def test_hidden_topics(self):
        assert coverage.partitions(cluster(whole(), "wire/topics"))

    def test_an_answer_that_is_cut(self):
        torn = [one._replace(fields={}) if one.subject == "topics/orders/0" else one for one in whole()]
        found = cluster(torn)
        assert coverage.partitions(found)
        assert [problem.path for problem in found.problems] == [f"{ANSWERS}:3"]

    @given(st.sets(st.integers(0, len(whole()) - 1)), st.booleans())
    def test_fewer_answers(self, gone, kraft):
        """Whatever is missing: no crash, no partition that is not there, and no setting from nowhere."""
        answers = whole(kraft=kraft)
        left = [one for at, one in enumerate(answers) if at not in gone]
        found, full = cluster(left), cluster(answers)
        assert set(found.partitions) <= {
            p for p in found.partitions if (p.topic, p.partition) in {q[:2] for q in full.partitions}
        }
        of_full = judged(full)
        for key, verdict in judged(found).items():
            assert verdict.leader == of_full[key].leader
            assert not set(verdict.waits_for) - {2}
        if not any(one.subject == "cluster" and one.api == "METADATA" for one in left):
            assert not found.brokers_known
            assert coverage.partitions(found)
        for broker in (1, 3):
            if not any(one.subject == f"brokers/{broker}" and one.api == "DESCRIBE_CONFIGS" for one in left):
                assert broker not in found.known_in_full

    @given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3), max_leaves=8),
           st.integers(0, len(whole()) - 1))  # fmt: skip
    def test_hostile_fields(self, fields, at):
        """Content of any type in place of an answer's fields is a problem, or nothing."""
        answers = whole()
        answers[at] = answers[at]._replace(fields=fields if isinstance(fields, dict) else {"brokers": fields, "configs": fields})
        judged(cluster(answers))


class TestLines:
    def test_there_and_back(self):
        for one in whole():
            assert answer_lines.decode(answer_lines.encode(one).decode()) == one

    @pytest.mark.parametrize(
        "line", ["", "null", "[]", "{}", '{"api":1}', json.dumps(answer("A", "b", {})._asdict() | {"at": "x"})]
    )
    def test_no_answer(self, line):
        with pytest.raises(ValueError, match="is not an answer"):
            answer_lines.decode(line)
