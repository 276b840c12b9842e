"""What stands beside answers, and what no row holds: no line of a paste and no value with a name is silent."""

from pathlib import Path

import pytest

from casebook.collect.pasted import told
from casebook.facts.pasted import Pasted
from casebook.formats.pasted import paste

FOLDER = Path(__file__).parent
FILES = {
    path.stem: path.read_text()
    for name in ("pasted_sent", "pasted", "pasted_hosts")
    for path in sorted((FOLDER / name).glob("*.txt"))
}
KINDS = ("znodes", "topics", "partitions", "offsets", "groups", "members", "configs", "assigned", "moves", "elected", "told",
         "files", "used", "logs", "settings", "dumps", "hosts", "beside", "not_understood")  # fmt: skip


def read(text: str) -> Pasted:
    return paste.read(text.splitlines())


def remarks(text: str) -> str:
    return "\n".join(told.remarks(read(text)))


def spoken_of(found: Pasted) -> set[int]:
    """Lines that a row, a remark or a hole is about."""
    spans = [part.span for kind in KINDS for part in getattr(found, kind)]
    return {line for span in spans for line in range(span.first, span.last + 1)}


class TestEveryLine:
    @pytest.mark.parametrize("name", sorted(FILES))
    def test_is_read_or_named(self, name):
        """All lines with a figure, against those that rows, remarks and holes are about; a folded command is one line."""
        found = read(FILES[name])
        lines = [number for number, text in enumerate(FILES[name].splitlines(), 1) if any(map(str.isdigit, text))]
        wrapped = {each.span.first for each in found.beside if each.typed}
        silent = [line for line in lines if line not in spoken_of(found) and not {line - 1, line - 2} & wrapped]
        assert [line for line in silent if not FILES[name].splitlines()[line - 2].endswith("\\")] == []


class TestValues:
    def test_one_that_no_row_holds(self):
        """A label of an API that a later server prints behind its versions."""
        found = read('bills-0: replicas: 1,2.\n{"partition":"bills-0","size":77,"offsetLag":5,"isFuture":false}\n')
        assert "offsetLag 5, isFuture false" in remarks('{"partition":"bills-0","size":77,"offsetLag":5,"isFuture":false}\n')
        assert found.lines == 2

    def test_sensitive_settings(self):
        """``null`` stands for a value that the tool hides: nobody has set it to null."""
        text = (
            "Dynamic configs for broker 7 are:\n"
            "  ssl.key.password=null sensitive=true synonyms={STATIC_BROKER_CONFIG:ssl.key.password=null}\n"
            "  num.io.threads=9 sensitive=false synonyms={STATIC_BROKER_CONFIG:num.io.threads=9}\n"
        )
        assert "sets num.io.threads=9; the tool hides the values of ssl.key.password" in remarks(text)
        assert "ssl.key.password=null" not in remarks(text)


class TestCommands:
    @pytest.mark.parametrize(
        ("command", "named"),
        [
            ("$ kubectl -n streaming get pods", "-n streaming"),
            ("kafka-topics.sh --zookeeper z1:2181/blue --describe", "z1:2181/blue"),
            ("ops@kb7:~$ df -h", "ops@kb7"),
        ],
    )
    def test_what_was_typed(self, command, named):
        """It names a namespace, a chroot or a host, which no answer repeats."""
        assert named in remarks(f"{command}\n")


class TestWhose:
    def test_headings_of_a_loop(self):
        text = "== zk8\nmntr is not executed because it is not in the whitelist.\n== zk9\nzk_server_state\tleader\nzk_max_latency\t7\n"
        assert "server zk8 does not answer mntr" in remarks(text)
        assert "server zk9: server_state leader, max_latency 7" in remarks(text)

    def test_a_heading_ends_with_the_next_command(self):
        text = "--- kb5\nTopic 'a' does not exist as expected\n$ ls\n"
        found = read(text)
        assert (found.heading(2), found.heading(4)) == ("kb5", "")

    def test_localhost_is_the_host_of_the_prompt(self):
        text = "ops@zk4:~$ echo stat | nc localhost 2181\nLatency min/avg/max: 0/1/9\nMode: follower\nops@zk4:~$ exit\n"
        assert "ZooKeeper server zk4: Latency min/avg/max 0/1/9, Mode follower" in remarks(text)


class TestTables:
    def test_one_that_a_screen_has_broken(self):
        """Each row over as many lines as the head; the break is within a word."""
        head = ("CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\tCurrentTransac",
                "tionStartTimeMs\tTransactionDurationMs\tTopicPartitions")  # fmt: skip
        row = ("4\tloader-2\t811\t3\tOngoing\t60000\t17000000", "00000\t5200\tbills-1")
        told_of = remarks("\n".join((*head, *row)))
        assert "TransactionState Ongoing" in told_of
        assert "CurrentTransactionStartTimeMs 1700000000000" in told_of

    def test_a_head_alone_does_not_say_that_there_are_none(self):
        text = "TransactionalId\tCoordinator\tProducerId\tTransactionState\nblorp\n"
        assert "no transactional ids" not in remarks(text)

    def test_rows_below_a_head_without_count(self):
        """The topic of rows that do not repeat it is that of the head right above."""
        text = "Topic: bills\tReplicationFactor: 2\tConfigs: min.insync.replicas=1\n\tPartition: 0\tLeader: none\tReplicas: 2,3\tIsr: 3\n"
        (row,) = read(text).partitions
        assert (row.topic, row.leader, row.isr) == ("bills", None, (3,))


class TestWindows:
    def test_the_folder_that_is_asked(self):
        """Not that of the prompt; with ``/s`` a file lies anywhere below it."""
        text = "D:\\tools>dir /s D:\\logs | findstr File\n               9 File(s)          4,711 bytes\n"
        (said,) = read(text).hosts
        assert said.text == "D:/logs with all below it has 9 files of 4,711 bytes in all"


class TestOffsets:
    def test_a_partition_that_is_left_out_has_the_topic_of_the_command(self):
        text = "$ kafka-run-class.sh kafka.tools.GetOffsetShell --topic bills --time -1\nError: partition 6 does not exist\n"
        assert "of bills-6 it printed nothing" in remarks(text)
