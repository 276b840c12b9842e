"""What stands around and behind the outputs of tools in a paste, and where they end: nothing is held that is cut."""

import pytest

from casebook.facts.pasted import Elected, MoveState, Pasted
from casebook.formats.pasted import paste

GROUPS = "TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
ROW = "Topic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1"
CONFIG = "retention.ms=600 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=600}"


def read(text: str) -> Pasted:
    return paste.read(text.splitlines())


def said(text: str) -> str:
    return "; ".join(told.says for told in read(text).told)


class TestCut:
    @pytest.mark.parametrize("begin", ["Configs for topic 't' are ", "Topic:t\tPartitionCount:1\tReplicationFactor:1\tConfigs:"])
    def test_a_value_that_is_cut_off(self, begin):
        """The other settings hold, and there may be more."""
        (config,) = read(f"{begin}cleanup.policy=compact,retention.ms=").configs
        assert (config.settings, config.whole) == ({"cleanup.policy": "compact"}, False)

    def test_the_last_host(self):
        """Of ``10.0.0.5`` nothing but ``10.0.`` may be left."""
        row = "t 0 1 2 1 c-1 /10.0."
        assert [member.host for member in read(GROUPS + row).members] == [None]
        assert [member.host for member in read(f"{GROUPS}{row}0.5 c").members] == ["10.0.0.5"]

    def test_a_head_without_its_begin(self):
        """The rows tell which columns are missing."""
        (offset,) = read("FSET  LOG-END-OFFSET  LAG  CONSUMER-ID HOST CLIENT-ID\nt 3 5 7 2 c-1 /h c\n").offsets
        assert (offset.topic, offset.partition, offset.offset, offset.end) == ("t", 3, 5, 7)


class TestAround:
    @pytest.mark.parametrize(
        "text",
        [f"kafka-1  | {ROW}\nkafka-1  | {ROW}", f"[10:03] bob: {ROW}", f"{ROW}   <-- alone", f"{ROW}  # only one",
         '"' + "a\\n" + ROW.replace("\t", "\\t") + '\\n\\n"'],
        ids=["container", "chat", "arrow", "comment", "string"],
    )  # fmt: skip
    def test_a_row(self, text):
        row = read(text).partitions[-1]
        assert (row.topic, row.leader, row.replicas, row.isr) == ("t", 1, (1, 2), (1,))

    def test_rows_left_out(self):
        assert [row.partition for row in read(f"{GROUPS}t 0 1 2 1 - - -\n...\nt 9 1 2 1 - - -\n").offsets] == [0, 9]

    def test_a_remark_behind_a_command(self):
        assert read("[zk: h:2181(CONNECTED) 0] ls /brokers/ids\n# as of today\n[1, 2]\n").znodes[0].children == ("1", "2")

    def test_a_dump_with_gaps(self):
        found = read("SessionTracker dump:\n0 expire at Mon\n\n# nodes\nephemeral nodes dump:\n"
                     "Sessions with Ephemerals (1):\n\n0x27dac12e4e10000:\n\t/brokers/ids/4\n\nregards\n")  # fmt: skip
        assert "/brokers/ids/4" in {znode.path for znode in found.znodes}
        assert not any("not" in told.says for told in found.told)


class TestCommands:
    def test_the_command_names_the_topic(self):
        """Nobody else does where the head of the list is missing."""
        asked = "kafka-configs.sh --bootstrap-server h:1 --describe --entity-type topics --entity-name t\n"
        (config,) = read(f"{asked}  {CONFIG}\n").configs
        assert (config.kind, config.entity, config.settings, config.whole) == ("topics", "t", {"retention.ms": "600"}, False)
        assert "retention.ms=600" in said(CONFIG)

    def test_offsets_behind_an_error(self):
        text = "$ kafka-get-offsets.sh --bootstrap-server h:1 --time 1600\nError: x\nt:0:12\n"
        assert "--time 1600" in said(text)
        assert "which they are" not in said(text)

    def test_producers_of(self):
        head = "ProducerId ProducerEpoch LatestCoordinatorEpoch LastSequence LastTimestamp CurrentTransactionStartOffset\n"
        text = f"$ kafka-transactions.sh describe-producers --topic t --partition 3\n{head}4 1 0 2 9 None\n"
        assert "producers of t-3" in said(text)

    def test_which_server(self):
        assert "server zk3 runs" in said("$ echo ruok | nc zk3 2181\nimok\n")
        assert "server zk2: Mode: follower" in said("zk2: Mode: follower\n")


class TestStatements:
    def test_elections(self):
        """Those that took place, not the one that failed."""
        found = read(
            "Successfully completed leader election (UNCLEAN) for partitions t-2\n"
            "Error completing leader election (UNCLEAN) for partition: t-3: org.x.EligibleLeadersNotAvailableException: none"
        )
        assert [(row.topic, row.partition) for row in found.elected] == [("t", 2)]
        assert all(isinstance(row, Elected) for row in found.elected)
        assert "unclean elections" in found.told[0].says
        assert "EligibleLeadersNotAvailableException" in found.told[0].says

    def test_old_words_of_a_reassignment(self):
        text = "Reassignment of partition [t,0] is still in progress\nReassignment of partition [t, 1] is complete\n"
        assert [(row.partition, row.state) for row in read(text).moves] == [(0, MoveState.UNDER_WAY), (1, MoveState.COMPLETE)]

    def test_api_versions_in_a_line(self):
        assert "Fetch 0 to 11" in said(
            "b:9092 (id: 1 rack: null) -> ( Produce(0): 0 to 8 [usable: 8], Fetch(1): 0 to 11 [usable: 11] )"
        )

    def test_ages_and_directories_of_a_quorum(self):
        text = "NodeId DirectoryId LogEndOffset Lag LastFetchTimestamp LastCaughtUpTimestamp Status\n"
        assert "log end 318, lag 2, last fetch 5 ms ago" in said(f"{text}1 {'A' * 22} 318 2 5 ms ago 9 ms ago Follower\n")

    def test_kcat(self):
        """Where brokers are, how many partitions a topic has, and what is wrong with one."""
        text = ('Metadata for all topics (from broker 1: h:1/1):\n 1 brokers:\n  broker 1 at h:1\n 1 topics:\n'
                '  topic "t" with 2 partitions:\n    partition 0, leader -1, replicas: 1,2, isrs: 1, Broker: Leader not available\n\n')  # fmt: skip
        assert "1 is at h:1; 1 brokers; 1 topics; t-0: Broker: Leader not available" in said(text).replace("; ; ", "; ")
        assert [(topic.topic, topic.partitions) for topic in read(text).topics] == [("t", 2)]

    def test_the_checker(self):
        told = read("Group Topic Pid Offset logSize Lag Owner\ng t 0 1 2 1 none\n").told
        assert {each.tool for each in told} == {"ConsumerOffsetChecker"}
