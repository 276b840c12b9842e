"""From pasted text to a case that every notebook opens; and the one next thing to paste."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.collect.pasted import paste
from casebook.errors import CollectError, UsageError
from casebook.facts.pasted import PASTED
from casebook.facts.znodes import ReadOutcome
from casebook.findings import evidence
from casebook.findings.finding import Severity, Status
from casebook.kafka import release
from casebook.questions.leadership.analysis import leadership
from casebook.questions.triage.analysis import next_paste, plan

FOLDER = Path(__file__).parents[1] / "formats" / "pasted"
FILES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.txt"))}
STATE = "/brokers/topics/orders/partitions/2/state"
GET = f'get {STATE}\n{{"controller_epoch":24,"leader":-1,"version":1,"leader_epoch":37,"isr":[3]}}\n'
ROW = "\tTopic: orders\tPartition: 2\tLeader: none\tReplicas: 3,1\tIsr: 3\n"
FAILED = """[2019-10-12 11:03:44,500] ERROR Processor got uncaught exception. (kafka.network.Processor)
java.lang.ArrayIndexOutOfBoundsException: 18
\tat org.apache.kafka.common.protocol.ApiKeys.forId(ApiKeys.java:68)"""
RELEASE = "[2019-10-12 10:00:00,001] INFO Kafka version : 0.9.0.1 (org.apache.kafka.common.utils.AppInfoParser)"
NETWORK = "[2019-10-12 11:03:44,499] DEBUG Processor 1 listening to new connection from /10.0.0.9:51536 (kafka.network.Processor)"
IDS = "ls /brokers/ids\n[1, 2]\n"
SHELL = "bin/zookeeper-shell.sh HOST:2181"
GREETING = "Connecting to HOST:2181\nWelcome to ZooKeeper!\nJLine support is disabled\n\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null\n"
"""What the shell of Kafka 2.8.2 prints before its answer to a command that is piped into it."""
SECRET = "hunter2-Xyzzy"


def examined(case):
    cluster = case.cluster()
    version = release.release(cluster)
    return leadership.examine(cluster, version), next_paste.checks(case.pasted(), cluster, version)


def finding(findings, check):
    return next(f for f in findings if f.check == check)


def following(case):
    """The next command."""
    return finding(examined(case)[1], "evidence.next").next[0].command


class TestZnodes:
    def test_a_get_is_exactly_that_znode(self, case):
        """The state is known; assignment, registrations, controller and the list of topics are holes, not missing."""
        made = case(GET)
        (row,) = made.znodes()
        assert (row.path, row.outcome, row.stat) == (STATE, ReadOutcome.READ, None)
        cluster = made.cluster()
        (partition,) = cluster.partitions
        assert (partition.state.leader, partition.state.isr, partition.state.leader_epoch) == (None, (3,), 37)
        assert (partition.replicas, cluster.brokers_known, cluster.controller.readable) == ((), False, False)
        assert cluster.unlisted
        assert cluster.not_there == frozenset()
        assert {"/brokers/ids", "/controller", "/brokers/topics"} <= {p.path for p in made.could_not_collect}

    def test_a_description_has_no_epoch(self, case):
        """Leader, ISR and assignment as told; epochs unknown, and so is every check that rests on them."""
        made = case(ROW, IDS)
        (state,) = [row for row in made.znodes() if row.path == STATE]
        assert state.outcome is ReadOutcome.STATED
        (partition,) = made.cluster().partitions
        assert (partition.replicas, partition.state.isr) == ((3, 1), (3,))
        assert (partition.state.leader_epoch, partition.state.controller_epoch, partition.state.stamp) == (None, None, None)
        lead, _ = examined(made)
        assert lead.controller_epochs == ()
        assert finding(lead.findings, "leadership.controller_epoch").status is Status.COULD_NOT_CHECK
        assert [c.broker for c in lead.start_first if c.chosen] == [3]

    def test_what_was_read_counts_more_than_what_was_told(self, case):
        made = case(GET, ROW.replace("none", "1"))
        assert made.cluster().partitions[0].state.leader is None
        assert made.cluster().partitions[0].replicas == (3, 1)

    def test_the_later_answer_counts(self, case):
        """A second list without a broker: it is gone; a second state without stat does not keep the stat of the first."""
        made = case("get /brokers/ids/3\n{}\n", "ls /brokers/ids\n[1, 2, 3]\n", IDS)
        assert made.cluster().live == {1, 2}
        with_stat = GET + "mZxid = 0x10\nmtime = Sat Oct 12 11:03:42 UTC 2019\ndataVersion = 51\n"
        later = case(with_stat, GET.replace("-1", "2")).cluster().partitions[0].state
        assert (later.leader, later.stamp) == (2, None)
        same = case(with_stat, GET).cluster().partitions[0].state
        assert same.stamp.changed_at == 1570878222000

    def test_registrations(self, case):
        """A list says who lives, and no more of them; a registration alone does not say that the others are dead."""
        assert case(IDS).cluster().brokers_known
        assert case(IDS).cluster().brokers[1].host is None
        alone = case('get /brokers/ids/1\n{"host":"a","port":9092,"version":1}\n').cluster()
        assert (alone.brokers_known, alone.live) == (False, {1})
        assert case("ls /brokers/ids\n[1, xx]\n").cluster().live == {1}

    def test_assigned_and_not_told(self, case):
        """An assignment without states does not say that there are none."""
        made = case('get /brokers/topics/orders\n{"version":1,"partitions":{"0":[1],"1":[2]}}\n', IDS)
        assert {v.rule for v in examined(made)[0].verdicts} == {"R9"}
        assert all("does not contain its state" in v.why for v in examined(made)[0].verdicts)
        assert made.cluster().problems == ()

    def test_chroots(self, case):
        """That of most; a connect string may have had it; another cluster's znodes are left out and told."""
        made = case(
            GET.replace(STATE, "/kafka" + STATE), IDS, "ls /other/brokers/ids\n[7]\n", "ls /kafka/brokers/topics\n[orders]\n"
        )
        assert (made.chroot, made.cluster().live) == ("/kafka", {1, 2})
        assert any("another chroot" in p.reason for p in made.could_not_collect)

    def test_not_there(self, case):
        """What zkCli says is not there, is not there."""
        made = case("get /controller\nNode does not exist: /controller\n")
        assert made.cluster().controller.readable
        assert finding(examined(made)[0].findings, "leadership.controller").severity is Severity.CRITICAL

    def test_a_controller_that_is_only_listed(self, case):
        """Who it is was not pasted: nobody says that there is none."""
        made = case("[zk: h:1(CONNECTED) 0] ls /\n[controller, controller_epoch, brokers]\n")
        assert finding(examined(made)[0].findings, "leadership.controller").status is Status.COULD_NOT_CHECK

    def test_settings_of_a_description(self, case):
        """Known for the topics that were described, and for no other."""
        made = case("Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: min.insync.replicas=2", ROW, IDS)
        cluster = made.cluster()
        assert (cluster.topic_configs, cluster.unreadable_configs) == (
            {"a": {"min.insync.replicas": "2"}},
            {"topics/orders", "brokers"},
        )


class TestLeaderlessAlone:
    def test_without_registrations(self, case):
        """Leader -1 is no leader, whoever lives; the rule and the price stay open."""
        for text in (GET, ROW):
            (verdict,) = examined(case(text))[0].verdicts
            assert (verdict.state, verdict.rule, verdict.waits_for, verdict.under_replicated is None) == (
                "leaderless",
                "R11",
                (),
                text is GET,
            )
            assert "3 can be elected" in verdict.why

    def test_without_assignment(self, case):
        """Who must come back is told by the ISR."""
        lead, _ = examined(case(GET, IDS))
        (verdict,) = lead.verdicts
        assert (verdict.rule, verdict.waits_for) == ("R11", (3,))
        assert finding(lead.findings, "leadership.offline").facts["start_first"] == [3]
        assert finding(lead.findings, "leadership.isr_in_assignment").status is Status.COULD_NOT_CHECK

    @pytest.mark.parametrize(
        ("isr", "said"),
        [
            (
                "[3]",
                "Check whether broker 3 (the in-sync replica) is down; if so, start it. "
                "1 partition elects a leader then, and no record is lost.",
            ),
            (
                "[3,1]",
                "Check whether brokers 3 and 1 (the in-sync replicas) are down; if so, start any of them. "
                "1 partition elects a leader then, and no record is lost.",
            ),
            ("[]", "See the rule of 1 partition in notebook 20: what heals it is not known yet."),
        ],
    )
    def test_what_to_start_is_an_if(self, case, isr, said):
        """What cannot be told is not called beyond healing."""
        steps = plan.make(examined(case(GET.replace("[3]", isr)))[0]).of("leadership.offline")
        assert [step.text for step in steps] == [said]

    def test_a_named_leader_is_not_judged(self, case):
        (verdict,) = examined(case(ROW.replace("none", "3")))[0].verdicts
        assert (verdict.state, verdict.rule) == ("unknown", "R9")


class TestFiles:
    def test_logs_stand_at_their_lines(self, case):
        """Line 3 of a log is line 3 of the paste; a client's, a broker's and a ZooKeeper server's each in its place."""
        text = (
            "Hi\n\n[2019-10-12 11:03:42,671] INFO [Controller 56]: deleted brokers: 57 (kafka.controller.KafkaController)\n"
            "11:03:43 WARN not the correct coordinator\n"
            "2019-10-12 11:03:42,293 [myid:1] - INFO  [SessionTracker] - Expiring session 0x1\n"
        )
        made = case(text)
        logs = {
            path: [line for line in made.text_lines(path) if line.strip()] and list(made.text_lines(path))
            for path in made.items
            if "logs" in path
        }
        assert {path: [n for n, line in enumerate(lines, 1) if line.strip()] for path, lines in logs.items()} == {
            "brokers/56/logs/pasted.log": [3],
            "clients/pasted/logs/pasted.log": [4],
            "zookeeper/logs/zookeeper-pasted/pasted.log": [5],
        }
        assert made.line(f"{PASTED}:3") == made.line("brokers/56/logs/pasted.log:3")

    def test_listings(self, case):
        """Exact sizes of a broker that is named become its log dir; all else is told and nothing is made of it."""
        made = case(FILES["listing_ls"])
        (log_dir,) = made.log_dirs()
        (replica,) = log_dir.replicas
        assert (log_dir.broker, log_dir.listed_at, replica.topic, replica.segments[0].beside) == (
            1,
            None,
            "orders",
            (".index", ".timeindex"),
        )
        assert not Path(replica.place).is_absolute()
        for text in (
            FILES["listing_ls"].replace("broker 1:", "here:"),
            "broker 1:\n$ ls -lh /d/t-0\n-rw-r--r-- 1 k k 64K Oct 12 11:03 00000000000000000000.log\n",
        ):
            assert case(text).log_dirs() == ()
        reasons = " ".join(p.reason for p in case(FILES["listing_rounded"]).could_not_collect)
        assert "rounded" in reasons
        assert "du" in reasons

    def test_no_secret(self, case):
        """Neither behind a quote mark, nor folded, nor in a znode, nor in a key of several lines."""
        made = case(
            f"> password={SECRET}",
            f"sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required {SECRET[:5]}",
            f"{SECRET[5:]}",
            f'"ssl.key.password":\n"{SECRET}"',
            f'get /config/users/alice\n{{"version":1,"config":{{"SCRAM-SHA-256":"salt={SECRET}"}}}}',
            f'get /config/topics/t\n{{"version":1,"config":{{"x.password":"{SECRET}","retention.ms":"1"}}}}',
            f"> -----BEGIN PRIVATE KEY-----\n> {SECRET}AAAA\n> -----END PRIVATE KEY-----".replace("-Xy", "Xy"),
            f"[2019-10-12 11:03:42,671] INFO connecting to http://u:{SECRET}@h/ (kafka.X)",
        )
        held = b"".join(path.read_bytes() for path in made.folder.rglob("*") if path.is_file())
        held += b"".join(row.data or b"" for row in made.znodes())
        for part in (SECRET, SECRET[5:], "hunter2Xyzzy"):
            assert part.encode() not in held
        assert made.redacted
        assert made.cluster().topic_configs["t"] == {"x.password": "[redacted]", "retention.ms": "1"}


class TestWhatIsMissing:
    PARTS = (
        ("get /k/controller", '{"version":1,"brokerid":2,"timestamp":"1570878222293"}'),
        ("get /k/controller_epoch", "24"),
        ("ls /k/config/topics", "[]"),
        ("ls /k/config/brokers", "[]"),
        ("ls /k/admin", "[]"),
        ("ls /k/brokers/topics", "[orders]"),
        ("get /k/brokers/topics/orders", '{"version":1,"partitions":{"2":[2]}}'),
    )

    def complete(self, made):
        cluster = made.cluster()
        return finding(evidence.checks(cluster, release.release(cluster)), "evidence.complete")

    def test_the_commands_that_are_named_bring_it(self, case):
        """Nobody can collect a paste again: what would settle it are commands of zkCli, and with all their answers nothing lacks."""
        texts = [GET.replace(STATE, "/k" + STATE), IDS.replace("/brokers", "/k/brokers"), "ls /k/brokers/topics\n[orders]\n"]
        settle = self.complete(case(*texts)).settle
        _, _, commands = settle.removesuffix(".").partition(": ")
        answers = dict(self.PARTS)
        assert set(commands.split(", ")) == answers.keys() - {"ls /k/brokers/topics"}
        texts += [f"{command}\n{answers[command]}\n" for command in commands.split(", ")]
        assert self.complete(case(*texts)).status is Status.OK

    def test_of_listings(self, case):
        """What a listing lacks is not to be collected again either; its reason says what to paste."""
        found = self.complete(case(*(f"{command}\n{answer}\n" for command, answer in self.PARTS), IDS, "208G\t/data/t-0"))
        assert "paste ls -l" in found.why
        assert found.settle.endswith("make the case again.")


class TestPiped:
    @pytest.mark.parametrize(
        "command",
        [
            "echo ls /brokers/ids | ./zookeeper-shell.sh 127.0.0.1:2181",
            "me@host:~$ echo 'ls /brokers/ids' | bin/zookeeper-shell.sh HOST:2181",
            '$ echo "ls /brokers/ids" | zkCli -server HOST',
            "zookeeper-shell.sh HOST:2181 ls /brokers/ids",
        ],
    )
    @pytest.mark.parametrize("echoed", ["", "[zk: HOST:2181(CONNECTED) 0] ls /brokers/ids\n"])
    def test_a_command_in_a_pipe_is_a_command(self, case, command, echoed):
        """What stands behind it is its answer, whether the shell repeats the command or not; every line is understood."""
        made = case(command, GREETING + echoed + "[2, 3]")
        assert made.cluster().live == {2, 3}
        assert finding(examined(made)[1], "evidence.pasted").status is Status.OK

    def test_other_pipes_are_none(self, case):
        """Only what is piped into ZooKeeper's shell asks ZooKeeper."""
        assert not case("echo ls /brokers/ids | cat", "[2, 3]").cluster().brokers_known

    def test_an_answer_alone_is_not_guessed_at(self, case):
        """Numbers may be anybody's; it says where to write the command, and with it they are understood."""
        alone = case(GREETING + "[2, 3]")
        assert not alone.cluster().brokers_known
        told = finding(examined(alone)[1], "evidence.pasted").why
        assert "write the command, e.g. `ls /brokers/ids`, on a line above line 8" in told
        assert case(GREETING + "ls /brokers/ids", "[2, 3]").cluster().live == {2, 3}


class TestNextPaste:
    @pytest.mark.parametrize(
        ("texts", "command"),
        [
            ((GET,), f"echo 'ls /brokers/ids' | {SHELL}"),
            ((GET.replace(STATE, "/k" + STATE),), f"echo 'ls /k/brokers/ids' | {SHELL}"),
            ((ROW,), f"echo 'ls /brokers/ids' | {SHELL}"),
            ((GET.replace("-1", "1"), IDS), f"echo 'get /brokers/topics/orders' | {SHELL}"),
            (('get /brokers/topics/orders\n{"version":1,"partitions":{"2":[1]}}\n', IDS), f"echo 'get {STATE}' | {SHELL}"),
            ((ROW, IDS), "tail -n 200 server.log"),
            ((ROW.replace("none", "1"), IDS), "bin/kafka-topics.sh"),
            ((FILES["groups_2.8.2_state"],), "echo 'get /brokers/topics/__consumer_offsets/partitions/9/state' | "),
            (("[2019-10-12 11:03:42,1] INFO [GroupMetadataManager brokerId=3] Loading group metadata from __consumer_offsets-19",), "grep -E 'Loading"),
            (("session 0x396c has expired, closing socket connection",), "grep -E 'deleted brokers"),
            (("208G\t/data/__consumer_offsets-19",), "ls -l --time-style=full-iso /data/__consumer_offsets-19"),
            ((FAILED,), "grep 'Kafka version' server.log*"),
            ((FAILED, RELEASE), "grep kafka.network server.log*   # with log4j.logger.kafka.network=DEBUG"),
            ((FAILED, RELEASE, NETWORK), "bin/kafka-topics.sh --zookeeper HOST:2181 --describe --unavailable-partitions"),
            (("nothing that helps",), "bin/kafka-topics.sh --zookeeper HOST:2181 --describe --unavailable-partitions   # from 3.0 on: --bootstrap"),
        ],
    )  # fmt: skip
    def test_one_command(self, case, texts, command):
        """What settles most: first whether partitions lead, then what lines and groups ask for, then other checks."""
        assert following(case(*texts)).startswith(command)

    def test_only_log_lines_hold_no_partition(self, case):
        """The reason says what was pasted, and the command is that of the release."""
        told = finding(examined(case(FAILED, RELEASE, NETWORK))[1], "evidence.next")
        assert told.why == "For no partition the leader and the ISR are known; this shows all partitions without leader."

    def test_it_leads_somewhere(self, case):
        """Answering each command in turn ends, and every partition was judged."""
        answers = {
            f"echo 'ls /kafka/brokers/ids' | {SHELL}": "[1, 2]",
            f"echo 'get /kafka/brokers/topics/orders' | {SHELL}": '{"version":1,"partitions":{"2":[3,1]}}',
        }
        texts = [GET.replace(STATE, "/kafka" + STATE)]
        while (command := following(case(*texts))) in answers:
            texts += [f"me@host:~$ {command}", GREETING + answers.pop(command)]
        assert not any("ids" in command for command in answers)
        (verdict,) = examined(case(*texts))[0].verdicts
        assert (verdict.state, verdict.rule in ("R3", "R11"), verdict.waits_for) == ("leaderless", True, (3,))

    def test_nothing_is_silent(self, case):
        """A line that nobody knows is told with its number, in the findings and in the case."""
        made = case(GET, "zorg frobs gamma", IDS)
        found = finding(examined(made)[1], "evidence.pasted")
        assert (found.severity, found.facts["not_understood"], found.evidence[0].label) == (
            Severity.INFO,
            [[4, 4]],
            f"{PASTED}:4",
        )
        assert any("'zorg frobs gamma'" in p.reason for p in made.could_not_collect)
        assert finding(examined(case(GET, IDS))[1], "evidence.pasted").status is Status.OK

    def test_only_for_pasted_cases(self):
        made = Case.open(Path(__file__).parents[2] / "data_samples" / "leader_minus_one")
        assert made.pasted() is None
        assert next_paste.checks(None, made.cluster(), release.release(made.cluster())) == ()


class TestCutAnywhere:
    @pytest.mark.parametrize("name", [name for name in FILES if name.startswith(("zookeeper_3.5", "topics_0.9"))])
    def test_no_verdict_that_the_whole_contradicts(self, case, name):
        """A state, an assignment or a registration is as in the whole paste, or unknown."""
        lines = FILES[name].splitlines()
        whole = {p.name: p for p in case(*lines).cluster().partitions}
        live = case(*lines).cluster().live
        for end in range(1, len(lines), 3):
            cluster = case(*lines[:end]).cluster()
            assert not cluster.brokers_known or cluster.live == live
            for partition in cluster.partitions:
                full = whole[partition.name]
                assert partition.replicas in ((), full.replicas)
                if partition.state is not None:
                    assert (partition.state.leader, partition.state.isr) == (full.state.leader, full.state.isr)
                assert not partition.missing
            assert evidence.checks(cluster, release.release(cluster))


class TestCommand:
    def test_file_and_standard_input(self, tmp_path):
        """Both make the same rows."""
        (tmp_path / "p.txt").write_text(GET + IDS)
        rows = []
        for name, given in ((str(tmp_path / "p.txt"), None), ("-", (GET + IDS).encode())):
            out = tmp_path / f"case{len(rows)}"
            command = [sys.executable, "-m", "casebook.cli", "collect", "--pasted", name, "--out", str(out)]
            code = "import sys; from casebook.cli import main; sys.argv = ['casebook', *sys.argv[1:]]; main()"
            done = subprocess.run([sys.executable, "-c", code, *command[3:]], input=given, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr
            rows.append(list(Case.open(out).znodes()))
        assert rows[0] == rows[1]
        assert len(rows[0]) == 4

    def test_refused(self, tmp_path):
        with pytest.raises(CollectError, match="Nothing was pasted"):
            collect_case(tmp_path / "a", pasted=[" ", ""])
        with pytest.raises(CollectError, match="cannot be read"):
            collect_case(tmp_path / "b", pasted=tmp_path / "none.txt")
        with pytest.raises(UsageError, match="a case of its own"):
            collect_case(tmp_path / "c", pasted=["x"], zookeeper_dump=tmp_path / "d")
        assert not list(tmp_path.iterdir())

    def test_too_many_bytes(self, tmp_path, monkeypatch):
        """What is behind them is left out, and that is told: few lines are no whole paste."""
        monkeypatch.setattr(paste, "_MOST_BYTES", 1000)
        (tmp_path / "paste").write_text("ls /brokers/ids\n[1]\n" + "x y\n" * 400)
        folder = collect_case(tmp_path / "case", pasted=tmp_path / "paste")
        assert Case.open(folder).left_out == (PASTED,)

    def test_hostile_file(self, tmp_path):
        """A line of 20 MB, binary, and more lines than anybody pastes: what is kept is bounded, and told."""
        path = tmp_path / "p.txt"
        path.write_bytes(b"\x00\xff" * (10 << 20) + b"\n" + b"x\n" * 100_000 + GET.encode())
        made = Case.open(collect_case(tmp_path / "case", pasted=path))
        assert sum(item.bytes for item in made.items.values()) < 5 << 20
        assert any(re.search("only its first .* lines", p.reason) for p in made.could_not_collect)
