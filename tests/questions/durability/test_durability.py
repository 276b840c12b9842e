"""What can be lost when: every rule where it holds and where it does not, defaults of clients by release, and what cannot be known."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.case.case import Case
from casebook.errors import UsageError
from casebook.facts.clients import PRODUCER, ClientFile
from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir, Replica, SegmentFile
from casebook.facts.znodes import ReadOutcome, Znode, ZnodeChange
from casebook.findings.finding import Severity, Status
from casebook.formats.clients import client_properties
from casebook.formats.zookeeper import history_facts
from casebook.kafka.release import release
from casebook.kafka.releases import KafkaVersion, VersionOrigin
from casebook.kafka.settings import Settings
from casebook.machine.places import samples_dir
from casebook.questions.durability.analysis import at_risk, durability
from casebook.questions.durability.analysis.clients import stated
from casebook.questions.durability.analysis.durability import Durability
from casebook.questions.durability.analysis.exposure import exposure
from casebook.questions.durability.analysis.rows import LossVerdict
from casebook.questions.durability.analysis.rules import RULES
from casebook.questions.durability.analysis.scene import HOLDS, LOSES, NOT_APPLICABLE, UNKNOWN, DurabilityInputs, JudgedRule
from tests.evidence import made, of_brokers, override, state, state_path, znode

THREE = {"t": {0: ([1, 2, 3], state(1, [1, 2, 3]))}}
SAFE = {
    "min.insync.replicas": "2", "unclean.leader.election.enable": "false", "auto.create.topics.enable": "false",
    "offsets.retention.minutes": "10080", "zookeeper.session.timeout.ms": "18000", "replica.lag.time.max.ms": "30000",
    "auto.leader.rebalance.enable": "false", "log.cleaner.enable": "true",
}  # fmt: skip


def client(text: str, name: str = "app", file: str = "app.properties") -> tuple[ClientFile, ...]:
    return client_properties.parse(text, client=name, file=f"clients/{name}/config/{file}")


def cluster(
    topics: object = None, *, racks: bool = True, settings: dict[str, str] | None = None, extra: list[Znode] = ()
) -> Cluster:
    """Three brokers, safe in all but what ``settings`` say."""
    topics = (topics or THREE) | {"__consumer_offsets": {0: ([1, 2, 3], state(1, [1, 2, 3]))}}
    found = made(live=(1, 2, 3), topics=topics, extra=extra)
    own = {b: SAFE | ({"broker.rack": f"r{b}"} if racks else {}) | (settings or {}) for b in (1, 2, 3)}
    return replace(found, server_properties=own)


def audit(found: Cluster, version: str = "2.8.2", *files: ClientFile, said: str = "", **more: object) -> Durability:
    return durability.examine(found, release(found, given=version), clients=files, said=said, **more)


def lost(found: Durability) -> dict[str, str | None]:
    """Severity by rule, of what is lost or not known."""
    return {row.rule: row.severity for row in reversed(found.verdicts)}


def bare(found: Cluster) -> Cluster:
    """The same, but nobody collected what its brokers were started with."""
    return replace(found, server_properties={})


def verdict(found: Durability, rule: str, topic: str | None = None) -> LossVerdict:
    return next(row for row in found.verdicts if row.rule == rule and (topic is None or row.topic == topic))


def judged(found: Durability, rule: str) -> JudgedRule:
    return next(answer.judged for answer in found.answers if answer.rule == rule)


GOOD_PRODUCER = "key.serializer=x\nacks=all\nretries=2147483647\nenable.idempotence=true\ndelivery.timeout.ms=120000\n"
GOOD_CONSUMER = "key.deserializer=x\nenable.auto.commit=false\nauto.offset.reset=earliest\nisolation.level=read_committed\n"


@pytest.mark.parametrize(
    ("dynamic", "wanted", "proof"),
    [
        ({}, "60000", "brokers/1/server.properties"),
        ({"3": {"log.retention.ms": "1000"}}, "1000", "/config/brokers/3"),
        ({"<default>": {"log.retention.ms": "2000"}}, "2000", "/config/brokers/<default>"),
        ({}, "9", "tables/settings"),
    ],
)
def test_a_setting_of_a_broker_is_proven_where_its_value_stands(dynamic, wanted, proof):
    """A dynamic one goes before the file (``DynamicBrokerConfig.scala@2.8.2``), which has another value."""
    found = replace(cluster(settings={"log.retention.ms": "60000"}), broker_configs=dynamic)
    version = release(found, given="2.8.2")
    scene = DurabilityInputs(
        cluster=found, version=version, settings=Settings(found, version.version, version), topics=(), clients=()
    )
    assert proof in scene.proof_of("log.retention.ms", [wanted])


class TestRules:
    def test_nothing_is_said_where_all_is_well(self):
        """Three copies in three racks, two of which must be in sync; idempotence; commits after processing."""
        found = audit(
            cluster(), "2.8.2", *client(GOOD_PRODUCER), *client(GOOD_CONSUMER, "sink"), said="app=java 2.8.1; sink=java 2.8.1"
        )
        assert lost(found) == {}
        assert {finding.status for finding in found.findings} <= {Status.OK, Status.NOT_APPLICABLE, Status.COULD_NOT_CHECK}

    @pytest.mark.parametrize(
        ("rule", "severity", "how"),
        [
            ("D2", "critical", {"topics": {"t": {0: ([1], state(1, [1]))}}}),
            ("D4", "warning", {"settings": {"min.insync.replicas": "1"}}),
            ("D5", "warning", {"settings": {"unclean.leader.election.enable": "true"}}),
            ("D5", "warning", {"extra": [override("t", unclean_leader_election_enable="true")]}),
            ("D6", "warning", {"settings": {"inter.broker.protocol.version": "0.10.2"}}),
            ("D6", "warning", {"extra": [override("t", message_format_version="0.10.0-IV1")]}),
            ("D11", "warning", {"settings": {"offsets.retention.minutes": "1440"}}),
            ("D14", "warning", {"settings": {"auto.create.topics.enable": "true", "default.replication.factor": "1"}}),
            ("D15", "warning", {"settings": {"broker.rack": "one"}}),
            ("D15", "info", {"settings": {"broker.rack": "one", "log.flush.interval.messages": "1"}}),
            ("D15", "warning", {"settings": {"broker.rack": "one"}, "extra": [override("t", flush_ms="50")]}),
            ("D15", "warning", {"settings": {"broker.rack": "one", "log.flush.interval.ms": "50"}}),
            ("D15", "info", {"settings": {"broker.rack": "one", "log.flush.scheduler.interval.ms": "50"}}),
            ("D16", "info", {"settings": {"min.insync.replicas": "3"}}),
            ("D16", "warning", {"settings": {"min.insync.replicas": "4"}}),
            ("D19", "warning", {"settings": {"controlled.shutdown.enable": "false"}}),
            ("D20", "info", {"settings": {"zookeeper.session.timeout.ms": "6000"}}),
            ("D21", "info", {"settings": {"replica.lag.time.max.ms": "500"}}),
            ("D21", "info", {"settings": {"replica.lag.time.max.ms": "600000"}}),
            ("D22", "warning", {"settings": {"log.cleaner.enable": "false"}}),
        ],
    )
    def test_of_topics_and_brokers(self, rule, severity, how):
        """Each alone, in a cluster that is safe otherwise, with a change that ends it and its cost."""
        found = audit(cluster(how.pop("topics", None), **how))
        assert lost(found).get(rule) == severity
        row = next(row for row in found.verdicts if row.rule == rule)
        assert row.smallest_change
        assert row.cost
        assert not set(lost(found)) - {rule, "D16" if rule in ("D2",) else rule}

    @pytest.mark.parametrize(
        ("rule", "severity", "text"),
        [
            ("D1", "critical", "acks=0\nenable.idempotence=false\n"),
            ("D3", "critical", "acks=1\nenable.idempotence=false\n"),
            ("D7", "warning", "acks=all\nretries=0\nenable.idempotence=false\n"),
            ("D8", "warning", "acks=all\ndelivery.timeout.ms=5000\nenable.idempotence=true\n"),
            ("D9", "warning", "group.id=g\nenable.auto.commit=true\nauto.offset.reset=earliest\n"),
            ("D10", "info", "group.id=g\nenable.auto.commit=false\nauto.offset.reset=latest\n"),
            ("D17", "info", "acks=all\nretries=3\nenable.idempotence=false\n"),
            ("D24", "warning", "acks=1\nenable.idempotence=true\n"),
        ],
    )
    def test_of_clients(self, rule, severity, text):
        """Each alone, for a client whose library and release are known."""
        found = audit(cluster(), "2.8.2", *client(text), said="app=java 2.8.1")
        assert lost(found).get(rule) == severity
        assert next(row for row in found.verdicts if row.rule == rule).proof.startswith("clients/app/config/app.properties")

    def test_racks_that_nobody_knows(self):
        """Whether copies lose power together is not known, which is neither lost nor safe."""
        found = audit(cluster(racks=False))
        assert lost(found) == {"D15": None}
        assert next(f for f in found.findings if f.check == "durability.one_rack").status is Status.COULD_NOT_CHECK

    def test_before_leader_epochs(self):
        """Every replicated topic of 0.10.2, and none of 0.11 (KIP-101)."""
        plain = cluster()
        assert "D6" in lost(audit(plain, "0.10.2.2"))
        assert "D6" not in lost(audit(plain, "0.11.0.3"))

    def test_the_defaults_of_the_release(self):
        """Unclean election is allowed by default up to 0.10.2 (KIP-106); offsets expire after a day up to 1.1 (KIP-186)."""
        bare = replace(cluster(), server_properties={b: {} for b in (1, 2, 3)})
        assert {"D5", "D11"} <= lost(audit(bare, "0.10.2.2")).keys()
        assert "D5" not in lost(audit(bare, "0.11.0.3"))
        assert "D11" in lost(audit(bare, "1.1.1"))
        assert "D11" not in lost(audit(bare, "2.0.1"))

    def test_one_broker_that_disagrees_is_enough(self):
        """It may lead the partition one day."""
        found = cluster()
        found = replace(
            found, server_properties=dict(found.server_properties) | {3: SAFE | {"broker.rack": "r3", "min.insync.replicas": "1"}}
        )
        told = audit(found)
        assert lost(told) == {"D4": "warning"}
        assert next(f for f in told.findings if f.check == "durability.brokers_agree").facts["settings"] == [
            "min.insync.replicas"
        ]

    def test_two_copies_tell_what_the_change_costs(self):
        """With RF 2, min.insync.replicas=2 means that one dead broker stops writes: said beside the advice."""
        found = audit(cluster({"t": {0: ([1, 2], state(1, [1, 2]))}}, settings={"min.insync.replicas": "1"}))
        row = next(row for row in found.verdicts if (row.rule, row.topic) == ("D4", "t"))
        assert "one dead broker" in row.cost
        assert "--bootstrap-server" in row.smallest_change
        old = audit(cluster({"t": {0: ([1, 2], state(1, [1, 2]))}}, settings={"min.insync.replicas": "1"}), "0.9.0.1")
        assert "--zookeeper" in next(row for row in old.verdicts if row.rule == "D4").smallest_change

    def test_unreadable_settings_are_never_safe(self):
        """A topic whose overrides cannot be read has unknown verdicts, no good ones."""
        found = audit(cluster(extra=[znode("/config/topics/t", b"not json")]))
        assert {(row.rule, row.severity) for row in found.verdicts if row.topic == "t"} >= {
            ("D4", None),
            ("D5", None),
            ("D16", None),
        }

    def test_defaults_of_brokers_that_nobody_looked_at_are_no_reason_to_call_anything_safe(self):
        """Znodes alone: neither what the default would lose nor what it would keep safe could be checked."""
        found = audit(made(live=(1, 2, 3), topics=THREE | {"__consumer_offsets": THREE["t"]}))
        told = lost(found)
        assert {told[rule] for rule in ("D4", "D5", "D6", "D11", "D19", "D20", "D21", "D22")} == {None}
        answers = {f.check.partition(".")[2]: f.status for f in found.findings}
        safe = {name for name, status in answers.items() if status is Status.OK}
        assert safe == {"single_copy", "offsets_copies", "exposure"}
        assert answers["brokers_agree"] is Status.COULD_NOT_CHECK

    def test_topics_that_nobody_saw(self):
        """A list of topics that is not whole: no rule on topics says that nothing is found."""
        found = cluster(extra=[Znode(path="/brokers/topics/hidden", outcome=ReadOutcome.DENIED)])
        assert found.unlisted
        answers = {f.check.partition(".")[2]: f.status for f in audit(found).findings}
        assert {answers[name] for name in ("acknowledged", "single_copy", "isr_of_one", "exposure")} == {Status.COULD_NOT_CHECK}

    def test_topics_being_deleted_are_left_out(self):
        """Nothing of them is to be kept."""
        found = audit(cluster({"t": {0: ([1], state(1, [1]))}}, extra=[znode("/admin/delete_topics/t")]))
        assert "D2" not in lost(found)
        assert found.exposure == ()

    @given(
        st.sampled_from(["0.9.0.1", "1.1.1", "2.8.2", "3.9.2"]),
        st.integers(1, 4),
        st.lists(st.integers(1, 3), min_size=1, max_size=4),
        st.booleans(),
    )
    def test_of_any_topic(self, version, least, factors, unclean):
        """D2, D4, D5 and D16 by their definitions, counted anew from copies and settings."""
        topics = {"t": {p: (list(range(1, factor + 1)), state(1, [1])) for p, factor in enumerate(factors)}}
        settings = {"min.insync.replicas": str(least), "unclean.leader.election.enable": str(unclean).lower()}
        rules = {
            row.rule for row in audit(cluster(topics, settings=settings), version).verdicts if row.topic == "t" and row.severity
        }
        assert ("D2" in rules) == (1 in factors)
        assert ("D4" in rules) == (max(factors) > 1 and least == 1)
        assert ("D5" in rules) == (max(factors) > 1 and unclean)
        assert ("D16" in rules) == (least > min(factors) or least == min(factors) > 1)

    def test_every_rule_has_a_source_and_is_documented(self):
        """A path at a tag, a KIP or a rehearsal; and a line in docs/rules.md."""
        from casebook.machine.places import checkout

        documented = (checkout() / "docs" / "rules.md").read_text()
        for rule in RULES.values():
            assert "@" in rule.source or "KIP" in rule.source
            assert f"| {rule.id} | {rule.says} |" in documented
            assert rule.judge.__doc__


class TestRetries:
    """How long a producer goes on: tries times retry.backoff.ms, against a session of 18 s and an election of 5 s."""

    @pytest.mark.parametrize(
        ("retries", "said", "outcome"),
        [
            ("3", "java 2.8.1", LOSES),
            ("229", "java 2.8.1", LOSES),
            ("230", "java 2.8.1", HOLDS),
            ("25", "java 3.6.2", LOSES),
            ("25", "java 3.7.0", LOSES),
            ("26", "java 3.7.0", HOLDS),
            ("26", "spring 3.7.0", HOLDS),
            ("26", "librdkafka 2.2.0", LOSES),
            ("26", "librdkafka 2.3.0", HOLDS),
            ("26", "java", UNKNOWN),
            ("3", "", LOSES),
        ],
    )
    def test_few_tries_are_used_up(self, retries, said, outcome):
        """100 ms each; 100, 200, 400, 800 and then 1000 ms with KIP-580 (Java 3.7.0, librdkafka v2.3.0)."""
        text = f"acks=all\nenable.idempotence=true\nretries={retries}\n"
        assert judged(audit(cluster(), "2.8.2", *client(text), said=f"app={said}" if said else ""), "D7").outcome == outcome

    def test_without_end(self):
        """librdkafka takes 0 for that."""
        found = audit(cluster(), "2.8.2", *client("acks=all\nmessage.timeout.ms=0\n"), said="app=librdkafka 2.3.0")
        assert judged(found, "D8").outcome == HOLDS

    def test_few_tries_end_before_the_delivery_timeout(self):
        """Three tries are 300 ms: nothing is sent again for two minutes, whatever delivery.timeout.ms allows."""
        found = audit(cluster(), "2.8.2", *client("acks=all\nretries=3\nenable.idempotence=true\n"), said="app=java 2.8.1")
        assert lost(found)["D7"] == "warning"
        assert "300 ms" in verdict(found, "D7").sentence
        assert judged(found, "D8").outcome == NOT_APPLICABLE

    def test_defaults_of_old_libraries_are_few(self):
        """Two of librdkafka before 1.6, three of Scala's producer."""
        for said in ("librdkafka 1.5.0", "scala 0.9.0.1"):
            assert "D7" in lost(audit(cluster(), "2.8.2", *client("acks=all\nlinger.ms=1\n"), said=f"app={said}"))

    @pytest.mark.parametrize("library", ["java 2.0.1", "java 3.9.2", "spring 2.8.0", "librdkafka 2.3.0", "scala 0.9.0.1", ""])
    def test_fewer_than_none_are_refused(self, library):
        """ProducerConfig.java@2.0.1, 3.7.0: between(0, MAX); CONFIGURATION.md@v0.11.6: 0 ..; DefaultEventHandler.scala@0.9.0.1."""
        found = audit(cluster(), "2.8.2", *client("acks=all\nretries=-1\n"), said=f"app={library}" if library else "")
        assert lost(found)["D24"] == "warning"
        assert "retries=-1" in verdict(found, "D24").sentence
        assert {judged(found, rule).outcome for rule in ("D7", "D8", "D17")} == {NOT_APPLICABLE}

    @pytest.mark.parametrize(("rule", "possible", "value"), [("D14", True, "1"), ("D22", False, "true"), ("D4", True, "1")])
    def test_a_default_is_never_a_fact(self, rule, possible, value):
        """Where no file of a broker was collected it is named as what is assumed of the release; a loss by it is only possible."""
        found = audit(bare(cluster()), "2.8.2")
        said = judged(found, rule)
        assert (said.outcome, said.severity) == (UNKNOWN, None)
        assert said.sentence.startswith("Possible, if the assumed default holds: ") is possible
        assert value in said.sentence
        assert "assumed default of Kafka 2.8.2" in said.sentence
        (told,) = (finding for finding in found.findings if finding.facts.get("rule") == rule)
        assert told.status is Status.COULD_NOT_CHECK
        assert "assumed default" in told.why

    def test_a_default_of_a_release_that_nobody_states_is_no_fact(self):
        """Offsets were kept for a day up to 1.1, and for a week from 2.0 on; epochs came with 0.11; what never changed is known."""
        found = replace(
            cluster({"t": {0: ([1, 2, 3], state(1, [1, 2, 3]))}}), server_properties={b: {"broker.id": str(b)} for b in (1, 2, 3)}
        )
        stated = release(found, given="3.9.0")
        any_of_them = replace(stated, origin=VersionOrigin.ASSUMED, between=(KafkaVersion.parse("0.9.0.0"), None))
        newer = replace(stated, origin=VersionOrigin.ZNODES, between=(KafkaVersion.parse("2.8.0"), None))
        told = [durability.examine(found, version, clients=(), said="") for version in (any_of_them, newer, stated)]
        outcomes = [[judged(one, rule).outcome for rule in ("D5", "D6", "D11", "D19")] for one in told]
        assert outcomes == [[UNKNOWN, UNKNOWN, UNKNOWN, HOLDS], *2 * [[HOLDS, HOLDS, HOLDS, HOLDS]]]
        assert "the running release is unknown" in judged(told[0], "D11").sentence

    def test_a_single_copy_does_not_vouch_for_what_must_be_in_sync(self):
        """D16: min.insync.replicas=2, which nobody collected, would stop every acks=all write of a topic with one copy."""
        one = cluster({"t": {0: ([1], state(1, [1]))}})
        assert judged(audit(bare(one), "2.8.2"), "D16").outcome == UNKNOWN
        assert judged(audit(replace(one, server_properties={2: one.server_properties[2]}), "2.8.2"), "D16").outcome == UNKNOWN

    def test_a_broker_that_is_down_comes_back_with_its_own_settings(self):
        """What is not collected of one that holds a replica is not known, registered or not: D19, D22, and whether all agree."""
        whole = cluster({"t": {0: ([1, 9], state(1, [1]))}})
        told = audit(whole, "2.8.2")
        assert {judged(told, rule).outcome for rule in ("D19", "D22")} == {UNKNOWN}
        answer = next(finding for finding in told.findings if finding.check == "durability.brokers_agree")
        assert (answer.status, "broker 9" in answer.title) == (Status.COULD_NOT_CHECK, True)

    def test_a_file_that_says_so_is_a_fact(self):
        """Also beside a broker whose file was not collected."""
        whole = cluster(settings={"auto.create.topics.enable": "true", "default.replication.factor": "1"})
        first = dict(list(whole.server_properties.items())[:1])
        assert judged(audit(replace(whole, server_properties=first), "2.8.2"), "D14").outcome == LOSES

    def test_a_session_that_is_only_assumed_is_not_known(self):
        """The default may be another than what the broker was started with; few tries are too few for every session."""
        found = bare(cluster())
        for retries, outcome in (("3", LOSES), ("300", UNKNOWN), ("2147483647", HOLDS)):
            text = f"acks=all\nenable.idempotence=true\nretries={retries}\n"
            assert judged(audit(found, "2.8.2", *client(text), said="app=java 2.8.1"), "D7").outcome == outcome
        told = audit(found, "2.8.2", *client("acks=all\nenable.idempotence=true\n"), said="app=java 2.8.1")
        assert judged(told, "D8").outcome == UNKNOWN
        assert "not collected" in judged(told, "D8").sentence
        assert "--properties" in next(f for f in told.findings if f.check == "durability.delivery_timeout").settle


class TestTransactions:
    TEXT = "transactional.id=x\nacks=all\n"

    def test_before_the_first_one(self):
        """What the topic will get is known where the brokers' files are; Kafka's shipped file sets both to 1."""
        known = judged(audit(cluster(), "2.8.2", *client(self.TEXT), said="app=java 2.8.1"), "D13")
        assert (known.outcome, known.sentence.split(",")[0]) == (HOLDS, "__transaction_state will get 3 copies")
        assert judged(audit(bare(cluster()), "2.8.2", *client(self.TEXT), said="app=java 2.8.1"), "D13").outcome == UNKNOWN
        partly = cluster()
        partly = replace(partly, server_properties={b: partly.server_properties[b] for b in (1, 2)})
        assert judged(audit(partly, "2.8.2", *client(self.TEXT), said="app=java 2.8.1"), "D13").outcome == UNKNOWN

    def test_as_kafka_ships_it(self):
        """config/server.properties@2.8.2: one copy, one in sync."""
        shipped = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
        found = audit(cluster(settings=shipped), "2.8.2", *client(self.TEXT), said="app=java 2.8.1")
        row = verdict(found, "D13")
        assert row.severity == "critical"
        assert "transaction outcomes will be lost" in row.sentence
        assert "transaction.state.log.replication.factor=3" in row.smallest_change


class TestChange:
    """The smallest change must not do harm."""

    def test_not_before_all_are_in_sync_again(self):
        """min.insync.replicas=2 refuses acks=all at once where the leader is alone: no command is offered."""
        settings = {"min.insync.replicas": "1"}
        topics = {"t": {0: ([1, 2, 3], state(1, [1, 2, 3])), 1: ([1, 2, 3], state(1, [1]))}}
        found = audit(cluster(topics, settings=settings))
        change = verdict(found, "D4", "t").smallest_change
        assert "not before all are in sync again" in change
        assert "1 partition has" in change
        assert "bin/" not in change
        assert "bin/" in verdict(found, "D4", "__consumer_offsets").smallest_change

    def test_who_is_dead_is_not_in_sync(self):
        """An ISR of two, of which one is dead, has one."""
        topics = {"t": {0: ([1, 9], state(1, [1, 9]))}}
        change = verdict(audit(cluster(topics, settings={"min.insync.replicas": "1"})), "D4", "t").smallest_change
        assert "not before all are in sync again" in change

    def test_nor_where_a_partition_has_one_copy(self):
        """It would be refused for ever."""
        topics = {"t": {0: ([1, 2], state(1, [1, 2])), 1: ([1], state(1, [1]))}}
        change = verdict(audit(cluster(topics, settings={"min.insync.replicas": "1"})), "D4", "t").smallest_change
        assert "one copy" in change
        assert "bin/" not in change

    def test_nor_where_the_isr_is_not_known(self):
        """Unknown is not in sync."""
        topics = {"t": {0: ([1, 2], None)}}
        change = verdict(audit(cluster(topics, settings={"min.insync.replicas": "1"})), "D4", "t").smallest_change
        assert "unknown" in change
        assert "bin/" not in change

    def test_no_notebook_is_named_that_does_not_do_it(self):
        """Notebook 30 raises a replication factor only where it drains a broker."""
        one = {0: ([1], state(1, [1]))}
        found = audit(cluster({"t": one, "u": THREE["t"]}, settings={"broker.rack": "one"}))
        offsets = made(live=(1, 2, 3), topics={"__consumer_offsets": one})
        rows = [*found.verdicts, *audit(offsets).verdicts]
        assert {"D2", "D12", "D15"} <= {row.rule for row in rows}
        assert not [row for row in rows if "notebook 30" in row.smallest_change]
        steps = [step.text for f in found.findings for step in f.next]
        assert not [text for text in steps if "notebook 30" in text]


class TestSamples:
    def test_the_topics_that_really_lost_records_are_named(self):
        """isr-shrunk-loss: payments lost what a leader alone had acknowledged to acks=all; min ISR 2 kept invoices from it."""
        found = of_sample("isr_shrunk_loss")
        assert {row.topic for row in found.verdicts if row.rule == "D4" and "unclean election follows" in row.sentence} == {
            "payments"
        }
        assert "invoices" not in {row.topic for row in found.verdicts if row.rule == "D4"}
        assert {row.topic for row in found.isr_alone} == {"payments", "audit", "clicks", "views"}

    def test_brokers_dead_with_the_only_copy(self):
        """leader-minus-one: the topic with one copy is the one that nobody leads."""
        found = of_sample("leader_minus_one")
        assert {row.topic for row in found.verdicts if row.rule == "D2"} == {"payments"}
        assert sum(row.partitions for row in found.exposure) == len(
            [p for p in found.scene.cluster.partitions if len(p.replicas) == 1]
        )


def of_sample(name: str) -> Durability:
    case = Case.open(samples_dir() / name)
    found = case.cluster()
    happened = history_facts.read(case.history()) if case.has_history else None
    return durability.examine(found, release(found, logged=case.logged_versions()), log_dirs=case.log_dirs(), happened=happened)


class TestClients:
    @pytest.mark.parametrize(
        ("said", "acks", "idempotence", "retries"),
        [
            ("java 2.0.1", "1", "false", "0"),
            ("java 2.8.2", "1", "false", "2147483647"),
            ("java 3.0.0", "all", "false", "2147483647"),
            ("java 3.0.1", "all", "true", "2147483647"),
            ("java 3.1.0", "all", "false", "2147483647"),
            ("java 3.9.2", "all", "true", "2147483647"),
            ("librdkafka 0.11.6", "1", "false", "2"),
            ("librdkafka 1.5.0", "all", "false", "2"),
            ("librdkafka 2.3.0", "all", "false", "2147483647"),
            ("scala 0.9.0.1", "0", "false", "3"),
        ],
    )
    def test_defaults_by_library_and_release(self, said, acks, idempotence, retries):
        """ProducerConfig.java and CONFIGURATION.md at these tags; 3.0.0 and 3.1.0 do not apply KIP-679's idempotence."""
        producer = producer_of("linger.ms=1\n", said)
        assert [producer[key].value for key in ("acks", "enable.idempotence", "retries")] == [acks, idempotence, retries]

    def test_an_unknown_release_is_any(self):
        """What all releases have is known; what changed is unknown, with what it may be; a lower bound is no guess."""
        producer = producer_of("key.serializer=x\n", "")
        assert producer["acks"].value is None
        assert producer["acks"].possible == ("1", "all")
        assert producer["max.in.flight.requests.per.connection"].value == "5"

    @pytest.mark.parametrize(
        ("text", "said", "idempotence", "acks", "starts"),
        [
            ("acks=1\nenable.idempotence=true\n", "java 2.8.2", "true", "1", False),
            ("acks=1\nenable.idempotence=true\n", "java 3.9.2", "true", "1", False),
            ("acks=1\nenable.idempotence=true\n", "librdkafka 1.9.2", "true", "1", False),
            ("acks=1\n", "java 3.9.2", "false", "1", True),
            ("retries=0\n", "java 3.9.2", "false", "all", True),
            ("max.in.flight.requests.per.connection=6\n", "java 3.9.2", "false", "all", True),
            ("enable.idempotence=true\n", "java 2.8.2", "true", "all", True),
            ("enable.idempotence=true\n", "java 0.10.2.2", "false", "1", True),
            ("transactional.id=x\n", "java 2.8.2", "true", "all", True),
            ("transactional.id=x\nenable.idempotence=false\n", "java 2.8.2", "false", "1", False),
        ],
    )
    def test_settings_that_exclude_each_other(self, text, said, idempotence, acks, starts):
        """KafkaProducer.java@2.8.2, ProducerConfig.java@3.0.1, rdkafka_conf.c@v1.9.2: refuse where asked for, else switch off."""
        producer = producer_of(text, said)
        assert (producer["enable.idempotence"].value, producer["acks"].value, producer.starts) == (idempotence, acks, starts)

    def test_librdkafka_may_leave_storing_to_the_application(self):
        """enable.auto.offset.store=false: what is committed is what the application stored, whatever commits it."""
        text = "enable.auto.commit=true\nenable.auto.offset.store=false\nauto.offset.reset=earliest\n"
        found = audit(cluster(), "2.8.2", *client(text), said="app=librdkafka 2.3.0")
        assert "D9" not in lost(found)
        unsure = audit(cluster(), "2.8.2", *client(text.replace("false", "${STORE}")), said="app=librdkafka 2.3.0")
        assert lost(unsure)["D9"] is None

    def test_what_an_include_may_set_is_unknown(self):
        """No default counts where another file may say otherwise."""
        producer = producer_of("include=other.properties\nlinger.ms=1\n", "java 2.8.2")
        assert producer["acks"].value is None
        assert producer["linger.ms"].value == "1"

    @pytest.mark.parametrize("text", ["acks=${ACKS}", "retries=${R}", "max.in.flight.requests.per.connection=${N}"])
    def test_what_may_switch_idempotence_off(self, text):
        """ProducerConfig.java@3.0.1: acks, retries or requests in flight that nobody knows leave the default unknown."""
        found = audit(cluster(), "2.8.2", *client(f"{text}\n"), said="app=java 3.6.0")
        assert found.scene.producers[0]["enable.idempotence"].value is None
        assert {judged(found, rule).outcome for rule in ("D17", "D24")} == {UNKNOWN}
        old = audit(cluster(), "2.8.2", *client(f"{text}\n"), said="app=java 2.8.2")
        assert judged(old, "D24").outcome == HOLDS
        asked = audit(cluster(), "2.8.2", *client(f"{text}\nenable.idempotence=true\n"), said="app=java 3.6.0")
        assert [judged(asked, rule).outcome for rule in ("D17", "D24")] == [HOLDS, UNKNOWN]

    def test_what_an_include_may_contradict(self):
        """A file that is not whole cannot be said to be free of contradictions."""
        found = audit(cluster(), "2.8.2", *client("include=other.properties\nacks=all\n"), said="app=java 3.6.0")
        assert judged(found, "D24").outcome == UNKNOWN

    @pytest.mark.parametrize(
        ("said", "commit"), [("spring 2.2.0", "true"), ("spring 2.3.0", "false"), ("spring 2.8.0", "false"), ("spring", None)]
    )
    def test_spring_commits_by_itself_up_to_2_2(self, said, commit):
        """spring-kafka GH-945: enable.auto.commit=false where it is not set, from 2.3 on; before, Kafka's true counted."""
        found = audit(cluster(), "2.8.2", *client("spring.kafka.consumer.group-id=x\n"), said=f"app={said}")
        value = found.scene.consumers[0]["enable.auto.commit"]
        assert value.value == commit
        if commit is None:
            assert value.possible == ("false", "true")

    def test_a_topic_that_is_not_there(self):
        """A typing error would leave every topic without a verdict."""
        with pytest.raises(UsageError, match="orders"):
            audit(cluster({"orders": THREE["t"]}), "2.8.2", *client("acks=1\n"), said="app=java 2.0.1: order")
        hidden = cluster(extra=[Znode(path="/brokers/topics/hidden", outcome=ReadOutcome.DENIED)])
        audit(hidden, "2.8.2", *client("acks=1\n"), said="app=java 2.0.1: hidden")
        then = audit(cluster(), "2.8.2", *client("acks=1\n"), said="app=java 2.0.1: new", earlier=True)
        assert "D3" not in lost(then)

    def test_only_topics_that_it_uses(self):
        """A producer that was said to write one topic loses nothing of another."""
        topics = {name: {0: ([1, 2, 3], state(1, [1, 2, 3]))} for name in ("a", "b")}
        found = audit(cluster(topics), "2.8.2", *client("acks=1\n"), said="app=java 2.8.1: a")
        assert {row.topic for row in found.verdicts if row.rule == "D3"} == {"a"}

    def test_what_a_person_says_must_make_sense(self):
        """A client that is not there, a library that does not exist, a release that is none."""
        for said in ("ghost=java 2.8.1", "app=cobol 1.0", "app=java 7.9", "app"):
            with pytest.raises(UsageError):
                audit(cluster(), "2.8.2", *client("acks=1\n"), said=said)
        assert stated(" a=java 2.8.1: x y, z ;; b=librdkafka ")["a"].topics == ("x", "y", "z")


def producer_of(text: str, said: str) -> object:
    found = audit(cluster(), "2.8.2", *(f for f in client(text) if f.kind == PRODUCER), said=f"app={said}" if said else "")
    return found.scene.producers[0]


SECOND = 1_000


def history(*states: tuple[int, dict[str, object]], config: list[tuple[int, dict[str, str]]] = ()) -> list[object]:
    """Transactions that wrote states of t-0 and settings of t, by second."""
    written = [(at, znode(state_path("t", 0), content)) for at, content in states]
    written += [(at, znode("/config/topics/t", {"version": 1, "config": settings})) for at, settings in config]
    begin = ZnodeChange(zxid=1, time=SECOND, session=None, operation="begin", timeout=None, znodes=())
    changes = [
        ZnodeChange(zxid=n, time=at * SECOND, session=1, operation="setData", timeout=None, znodes=(row,))
        for n, (at, row) in enumerate(sorted(written, key=lambda one: one[0]), start=2)
    ]
    end = ZnodeChange(zxid=999, time=100 * SECOND, session=1, operation="createSession", timeout=6000, znodes=())
    return list(history_facts.read([begin, *changes, end]))


class TestIsrAlone:
    def test_how_long_and_how_often(self):
        """From the ISR of one to the next state; two stretches with a leader in a row are one."""
        found = audit(
            cluster(settings={"min.insync.replicas": "1"}),
            happened=history(
                (10, state(1, [1, 2])), (20, state(1, [1])), (25, state(2, [2])), (30, state(2, [1, 2])), (90, state(2, [2]))
            ),
        )
        row = found.isr_alone[0]
        assert (row.milliseconds, row.times, row.first, row.open) == (20 * SECOND, 2, 20 * SECOND, True)
        assert next(f for f in found.findings if f.check == "durability.isr_alone").severity is Severity.WARNING

    def test_no_leader_no_writes(self):
        """While nobody leads nothing is acknowledged."""
        found = audit(
            cluster(settings={"min.insync.replicas": "1"}), happened=history((20, state(-1, [1])), (30, state(1, [1, 2])))
        )
        assert found.isr_alone == ()

    def test_min_isr_of_then(self):
        """The topic's setting was raised at second 25, and counts from the next state on."""
        found = audit(
            cluster(settings={"min.insync.replicas": "1"}),
            happened=history(
                (10, state(1, [1])), (20, state(1, [1, 2])), (30, state(1, [1])), (40, state(1, [1, 2])),
                config=[(5, {}), (25, {"min.insync.replicas": "2"})],
            ),
        )  # fmt: skip
        assert [(row.milliseconds, row.times) for row in found.isr_alone] == [(10 * SECOND, 1)]

    def test_a_min_isr_that_is_not_known(self):
        """Neither never nor so long: whether the leader alone could acknowledge is told as unknown."""
        alone = ((10, state(1, [1])), (20, state(1, [1, 2])))
        found = audit(cluster(), happened=history(*alone, config=[(5, {"min.insync.replicas": "${MIN}"})]))
        (row,) = found.isr_alone
        assert (row.min_isr, row.milliseconds) == (None, 10 * SECOND)
        answer = next(f for f in found.findings if f.check == "durability.isr_alone")
        assert answer.status is Status.COULD_NOT_CHECK
        assert (answer.facts["partitions"], answer.facts["unknown"]) == (0, 1)

    def test_known_and_unknown_times_are_kept_apart(self):
        """Ten seconds with 1, then ten with nobody knows what: ten are said, and ten are not known."""
        states = ((10, state(1, [1])), (20, state(1, [1, 2])), (30, state(1, [1])), (40, state(1, [1, 2])))
        config = [(5, {"min.insync.replicas": "1"}), (25, {"min.insync.replicas": "${MIN}"})]
        found = audit(cluster(), happened=history(*states, config=config))
        assert [(row.milliseconds, row.min_isr) for row in found.isr_alone] == [(10 * SECOND, "1"), (10 * SECOND, None)]
        answer = next(f for f in found.findings if f.check == "durability.isr_alone")
        assert (answer.severity, answer.facts["partitions"], answer.facts["milliseconds"]) == (Severity.WARNING, 1, 10 * SECOND)

    def test_without_history_it_is_unknown(self):
        """Not zero."""
        found = audit(cluster())
        answer = next(f for f in found.findings if f.check == "durability.isr_alone")
        assert answer.status is Status.COULD_NOT_CHECK
        assert answer.facts["partitions"] is None


class TestExposure:
    def test_bytes_where_they_are_known(self):
        """A copy that no log dir lists makes the sum unknown, and is counted."""
        found = cluster({"t": {0: ([1], state(1, [1])), 1: ([1], state(1, [1])), 2: ([2], state(2, [2]))}})
        held = tuple(Replica(b, "t", p, "/x", "item", (SegmentFile(0, 7, None),)) for b, p in ((1, 0), (2, 2)))
        rows = exposure(found, [LogDir(1, "/x", None, held)])
        assert [(row.broker, row.partitions, row.bytes, row.unknown) for row in rows] == [(1, 2, None, 1), (2, 1, 7, 0)]


class TestDiff:
    def test_what_has_changed(self):
        """A verdict that is gone, one that came, and settings with value and origin; what stayed is not told."""
        before = audit(cluster(settings={"min.insync.replicas": "1"}))
        after = audit(
            cluster(extra=[override("t", unclean_leader_election_enable="true"), of_brokers("1", min_insync_replicas="3")])
        )
        found = durability.compared(after, before).changes
        verdicts = {(row.key, row.entity, row.before is None, row.after is None) for row in found if row.what == "verdict"}
        assert {("D4", "topic t", False, True), ("D5", "topic t", True, False)} <= verdicts
        settings = {(row.entity, row.key): (row.before, row.after) for row in found if row.what == "setting"}
        assert settings["broker 1", "min.insync.replicas"] == ("1 (server.properties)", "3 (dynamic broker setting)")
        assert settings["topic t", "unclean.leader.election.enable"] == ("false (server.properties)", "true (topic override)")

    def test_nothing_has_changed(self):
        """The same case against itself."""
        same = audit(cluster())
        assert durability.compared(same, same).changes == ()


class TestInShort:
    def test_one_finding_for_triage(self):
        """What the first five minutes need: how many topics, by which rules; never more than informing."""
        found = cluster({"t": {0: ([1], state(1, [1]))}})
        (answer,) = at_risk.in_short(found, release(found, given="2.8.2"))
        assert answer.severity is Severity.INFO
        assert answer.facts["topics"] == 1
        assert "D2" in answer.facts["rules"]

    def test_brokers_alone(self):
        """No topic is named where only a rule on brokers holds; for triage it can wait."""
        found = cluster(settings={"offsets.retention.minutes": "60"})
        (answer,) = at_risk.in_short(found, release(found, given="2.8.2"))
        assert (answer.status, answer.facts["with_two_failures"]) == (Status.OK, ["D11"])
        first = audit(found).findings[0]
        assert (first.check, first.severity) == ("durability.acknowledged", Severity.WARNING)
        assert first.title.startswith("No topic by itself, but 1 rule")

    def test_two_failures_can_wait(self):
        """An ISR that may shrink to the leader is counted, and no finding."""
        found = cluster(settings={"min.insync.replicas": "1"})
        (answer,) = at_risk.in_short(found, release(found, given="2.8.2"))
        assert (answer.status, answer.facts["with_two_failures"]) == (Status.OK, ["D4"])
        assert answer.title.endswith("By 1 more rule, two failures can.")

    def test_nothing_to_say(self):
        """A safe cluster is ok, as far as it goes: of producers it knows nothing."""
        found = cluster()
        (answer,) = at_risk.in_short(found, release(found, given="2.8.2"))
        assert answer.status is Status.OK
        assert answer.title.startswith("No single failure loses records acknowledged with acks=all")
        assert "producers were not checked" in answer.title

    def test_topics_that_nobody_saw(self):
        """Not ok, in a whole sentence."""
        found = cluster(extra=[Znode(path="/brokers/topics/hidden", outcome=ReadOutcome.DENIED)])
        (answer,) = at_risk.in_short(found, release(found, given="2.8.2"))
        assert answer.status is Status.COULD_NOT_CHECK
        assert answer.title == "Loss by a single failure could not be fully checked"


def test_the_same_case_gives_the_same_rows():
    """Twice, in the same order."""
    first, second = (audit(cluster(racks=False), "2.8.2", *client("acks=1\n")) for _ in range(2))
    assert (first.settings, first.verdicts, first.findings) == (second.settings, second.verdicts, second.findings)
