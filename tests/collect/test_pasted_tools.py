"""What Kafka's and ZooKeeper's own tools state becomes the rows that every notebook reads, and no more than they state."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casebook.facts.znodes import ReadOutcome
from casebook.findings.finding import Severity, Status
from casebook.kafka import release
from casebook.questions.leadership.analysis import leadership
from casebook.questions.triage.analysis import next_paste

FOLDER = Path(__file__).parents[1] / "formats" / "pasted"
FILES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.txt"))}
TOPIC = "Topic: a\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: min.insync.replicas=2\n"
ROW = "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\n"
UNAVAILABLE = "$ bin/kafka-topics.sh --zookeeper zk1:2181 --describe --unavailable-partitions\n\tTopic: a\tPartition: 0\tLeader: 3\tReplicas: 3,2\tIsr: 3\n"


def examined(made):
    cluster = made.cluster()
    return leadership.examine(cluster, release.release(cluster))


def finding(made, check):
    return next(found for found in examined(made).findings if found.check == check)


class TestDump:
    @pytest.mark.parametrize("version", ["3.4.6", "3.5.9", "3.8.4"])
    def test_who_lives(self, case, version):
        """Brokers 1 and 2 lived, 2 was the controller: as ``ls /brokers/ids`` and ``get /controller`` would say."""
        made = case(FILES[f"words_{version}"])
        cluster = made.cluster()
        assert (made.chroot, cluster.live, cluster.brokers_known) == ("/kafka", {1, 2}, True)
        assert (cluster.controller.broker, cluster.controller.readable) == (2, True)
        assert cluster.controller.session == cluster.brokers[2].stamp.session
        assert not {"/brokers/ids", "/controller"} & {part.path for part in made.could_not_collect}
        assert any("ZooKeeper's mntr: ZooKeeper server zk1: version" in remark for remark in made.remarks)

    def test_no_controller(self, case):
        """A whole dump without ``/controller`` says that nobody is."""
        made = case("Sessions with Ephemerals (1):\n0x27dac12e4e10000:\n\t/brokers/ids/0\n\n")
        assert finding(made, "leadership.controller").severity is Severity.CRITICAL

    def test_a_controller_in_a_session_of_its_own(self, case):
        """Who it is nobody knows then."""
        made = case("Sessions with Ephemerals (2):\n0x27dac12e4e10000:\n\t/brokers/ids/0\n0x37dac12e4e10000:\n\t/controller\n\n")
        assert finding(made, "leadership.controller").status is Status.COULD_NOT_CHECK


class TestConfigs:
    @pytest.mark.parametrize("version", ["0.9.0.1", "2.8.2", "3.9.2"])
    def test_overrides(self, case, version):
        """They count more than what ``kafka-topics`` prints, which are also the broker's own settings."""
        cluster = case(FILES[f"topics_{version}"], FILES[f"configs_{version}"]).cluster()
        assert cluster.topic_configs["orders"] == {"min.insync.replicas": "2", "cleanup.policy": "compact"}
        assert not [entity for entity in cluster.unreadable_configs if entity.startswith("topics")]
        if version != "0.9.0.1":
            assert cluster.broker_configs["1"] == {"message.max.bytes": "1048589"}
            assert cluster.broker_configs["<default>"] == {"message.max.bytes": "1048590"}

    def test_cut(self, case):
        """What is named counts, and there may be more."""
        entry = "  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2}"
        made = case(ROW, f"\nDynamic configs for topic a are:\n{entry}")
        cluster = made.cluster()
        assert cluster.topic_configs == {"a": {"min.insync.replicas": "2"}}
        assert "topics/a" in cluster.unreadable_configs
        (verdict,) = examined(made).verdicts
        assert (verdict.min_isr, verdict.under_min_isr, verdict.unclean_allowed) == (2, True, None)


class TestReassignments:
    def test_listed(self, case):
        """``orders-0`` of brokers 1 and 2 leads to 1 and 3."""
        cluster = case(FILES["reassign_3.9.2"]).cluster()
        (moved,) = [p for p in cluster.partitions if p.topic == "orders"]
        assert (set(moved.replicas), moved.adding, moved.removing, moved.targets) == ({1, 2, 3}, (3,), (2,), (1, 3))
        assert ("plain", 0) not in cluster.reassigning

    def test_started(self, case):
        """What is under way, and what has ended, of a release that prints its plan."""
        made = case(FILES["reassign_0.9.0.1"])
        assert made.cluster().reassigning == {("orders", 0): ()}  # as --verify says last, which does not print where to
        assert finding(made, "leadership.reassigning").severity is Severity.INFO

    def test_a_target_that_is_not_known(self, case):
        """Nobody is called well replicated for it."""
        made = case("Reassignment of partition [a,0] is still in progress\n\n", TOPIC + ROW)
        (verdict,) = examined(made).verdicts
        assert verdict.under_replicated


class TestTopics:
    def test_under_min_isr_whoever_lives(self, case):
        """One in sync, two needed: refused, whether that one lives or not."""
        made = case(TOPIC, ROW)
        found = finding(made, "leadership.under_min_isr")
        assert (found.severity, found.facts["under_min_isr"]) == (Severity.WARNING, 1)
        assert finding(made, "leadership.under_replicated").facts["under_replicated"] == 1
        assert (
            finding(case(TOPIC, ROW.replace("Isr: 1", "Isr: 1,2")), "leadership.under_min_isr").status is Status.COULD_NOT_CHECK
        )

    def test_a_leader_that_does_not_live(self, case):
        """It stands in the list of partitions without a living leader: offline; nobody else is called dead."""
        made = case(UNAVAILABLE)
        cluster = made.cluster()
        assert (cluster.unregistered, cluster.brokers_known, cluster.live) == ({3}, False, set())
        (verdict,) = examined(made).verdicts
        assert (verdict.state, verdict.leader) == ("leader_dead", 3)
        assert finding(made, "leadership.offline").facts["offline"] == 1
        assert case(UNAVAILABLE, "ls /brokers/ids\n[1, 3]\n").cluster().live == {1, 3}

    def test_a_broker_that_was_asked_for(self, case):
        """zkCli says so of one broker; a later list counts more."""
        asked = "get /brokers/ids/3\nNode does not exist: /brokers/ids/3\n"
        (verdict,) = examined(case(asked, UNAVAILABLE.partition("\n")[2])).verdicts
        assert verdict.state == "leader_dead"
        assert case(asked, "ls /brokers/ids\n[1, 3]\n").cluster().live == {1, 3}

    def test_names(self, case):
        made = case(FILES["names_2.8.2"])
        assert set(made.cluster().topics) == {"orders", "plain", "__consumer_offsets"}
        assert all(row.outcome is ReadOutcome.STATED for row in made.znodes())


class TestNotRegistered:
    @pytest.mark.parametrize("name", ["api_versions_2.8.2", "kcat_2.8.2", "log_dirs_2.8.2", "topics_2.8.2", "elections_2.8.2"])
    def test_who_answers_or_leads_is_not_registered(self, case, name):
        cluster = case(FILES[name]).cluster()
        assert (cluster.live, cluster.brokers_known, cluster.controller.readable) == (frozenset(), False, False)


class TestWithoutPath:
    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ('{"host":"h","port":9092,"endpoints":["SSL://h:9093"],"version":4}', "a broker's registration (SSL://h:9093)"),
            (
                '{"leader":1,"isr":[1],"leader_epoch":3,"controller_epoch":1,"version":1}',
                "a partition's state (leader 1, ISR [1])",
            ),
            ('{"version":1,"partitions":{"0":[1]}}', "a topic's assignment"),
        ],
    )
    def test_it_is_told_what_it_is(self, case, text, what):
        """Whose it is nobody knows: it is stated of no broker and no partition."""
        made = case(f"our cluster says\n\n{text}\n")
        assert any(part.reason.startswith(f"is {what} whose path was not pasted") for part in made.could_not_collect)
        assert (made.cluster().brokers, made.cluster().partitions) == ({}, ())


class TestKraft:
    def test_it_is_called_by_name(self, case):
        """No znode is missed of it, and the next thing to paste is not asked of ZooKeeper."""
        made = case(FILES["quorum_3.9.2"])
        (hole,) = [part for part in made.could_not_collect if part.path == "KRaft metadata"]
        assert "KRaft" in hole.reason
        assert not [part for part in made.could_not_collect if part.path.startswith("/")]
        cluster = made.cluster()
        best = next_paste.choose(made.pasted(), cluster, release.release(cluster))
        assert best.command.startswith("bin/kafka-topics.sh --bootstrap-server")
        more = case(FILES["quorum_3.9.2"], TOPIC, ROW)
        assert "zookeeper" not in next_paste.choose(more.pasted(), more.cluster(), release.release(more.cluster())).command

    def test_eligible_replicas(self, case):
        made = case("Topic: t\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: \tElr: 2\tLastKnownElr: 1")
        assert any("Elr of t-0: 2" in remark for remark in made.remarks)
        assert finding(made, "leadership.offline").facts["offline"] == 1


class TestRemarks:
    def test_each_has_its_line(self, case):
        """What has no row is told with its line, and named where it is said that all was understood."""
        made = case("hi", FILES["log_dirs_2.8.2"].replace('"error":null', '"error":"org.x.KafkaStorageException"', 1))
        (told,) = [remark for remark in made.remarks if remark.startswith("Line") and "kafka-log-dirs" in remark]
        assert told.startswith("Line 5, kafka-log-dirs: broker 1 cannot use /var/kafka-logs (KafkaStorageException)")
        cluster = made.cluster()
        _, found, _ = next_paste.checks(made.pasted(), cluster, release.release(cluster))
        assert (found.check, found.severity, found.facts["bad"]) == ("evidence.tools", Severity.WARNING, 1)
        assert "cannot use /var/kafka-logs" in found.why
        assert [proof.label for proof in found.evidence] == ["pasted/pasted.txt:5"]

    def test_no_trouble(self, case):
        """Nothing where every row has its place; what is only said is no warning."""
        for texts, severities in (((TOPIC, ROW), []), ((FILES["words_3.5.9"],), [Severity.INFO])):
            made = case(*texts)
            found = next_paste.checks(made.pasted(), made.cluster(), release.release(made.cluster()))
            assert [one.severity for one in found if one.check == "evidence.tools"] == severities

    def test_not_too_many(self, case):
        """A paste of hundreds of answers does not fill the report."""
        made = case(*(f"t{n}:0:5\n\n" for n in range(300)))
        assert any("100 more statements" in remark for remark in made.remarks)

    def test_offline_replicas(self, case):
        made = case(ROW.replace("\n", "\tOffline: 2\n"))
        assert any("replicas on 2 are offline" in remark for remark in made.remarks)


class TestCutAnywhere:
    @given(st.data())
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_no_fact_that_the_whole_contradicts(self, case, data):
        """Of a mixture of cut outputs: who lives is as in the whole or unknown, and each state and setting is one of the whole."""
        version = data.draw(st.sampled_from([("2.8.2", "3.5.9"), ("3.9.2", "3.8.4")]))
        names = [name for name in FILES if any(each in name for each in version) and not name.startswith("zookeeper")]
        whole = case("\n\n".join(FILES[name] for name in names)).cluster()
        pieces = []
        for name in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)):
            lines = FILES[name].splitlines()
            pieces += [*lines[: data.draw(st.integers(1, len(lines)))], "(cut here, I do not have the rest)"]
        cluster = case(*pieces).cluster()
        assert not cluster.brokers_known or cluster.live == whole.live
        assert cluster.controller.broker in (None, whole.controller.broker)
        assert {p.state.leader for p in cluster.partitions if p.state} <= {None, 1, 2}  # broker 3 was dead
        assert set(cluster.topics) <= set(whole.topics)


class TestMoments:
    def test_an_election_after_a_description(self, case):
        """Who leads since is not known, until it is described again."""
        elected = "Successfully completed leader election (PREFERRED) for partitions a-0\n"
        assert [p.state for p in case(TOPIC, ROW, elected).cluster().partitions] == [None]
        assert case(TOPIC, ROW, elected, ROW.replace("Leader: 1", "Leader: 2")).cluster().partitions[0].state.leader == 2

    def test_exact_sizes(self, case):
        """``size`` is the sum of the segments in bytes, of the tool and not of ``du``."""
        answer = '{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","partitions":[{"partition":"a-0","size":77}]}]}]}'
        assert any("(kafka-log-dirs of broker 1): /d/a-0 holds 77 bytes" in remark for remark in case(ROW, answer).remarks)
