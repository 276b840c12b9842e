"""What mails, chats, wikis and editors do to a whole paste: the same facts, or a line that is named; never another value."""

import re
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
ROWS = (
    "topics",
    "partitions",
    "offsets",
    "groups",
    "members",
    "configs",
    "assigned",
    "moves",
    "elected",
    "files",
    "used",
    "hosts",
)
DAMAGES = {
    "line ends of Windows": lambda lines: [f"{line}\r" for line in lines],
    "a mail's quote marks": lambda lines: [f"> {line}" for line in lines],
    "a code block of Markdown": lambda lines: ["", *(f"    {line}" for line in lines)],
    "colours of a terminal": lambda lines: [f"\x1b[1;32m{line}\x1b[0m" for line in lines],
    "an empty line behind each": lambda lines: [each for line in lines for each in (line, "")],
    "a fence": lambda lines: ["```text", *lines, "```"],
    "sentences around it": lambda lines: ["We see this since noon:", "", *lines, "", "Has anybody an idea?"],
}
"""Each leaves every word where it was."""


def read(lines: list[str]) -> Pasted:
    return paste.read(lines)


def facts(found: Pasted) -> dict[str, object]:
    """What the rows say, without their lines; values by what they are of."""
    held: dict[str, object] = {}
    for kind in ROWS:
        for row in getattr(found, kind):
            rest = {name: value for name, value in row._asdict().items() if name not in ("span", "listing", "facts", "whole")}
            held[f"{kind} {re.sub(r'  +', ' ', repr(rest))}"] = row
    return held


def named(found: Pasted) -> set[int]:
    return {line for part in found.not_understood for line in range(part.span.first, part.span.last + 1)}


@pytest.mark.parametrize("damage", DAMAGES)
def test_same_facts(damage):
    """No row says anything that it did not say before; what is missing is named."""
    other, lost = {}, {}
    for name in FILES:
        before, after = read(FILES[name].splitlines()), read(DAMAGES[damage](FILES[name].splitlines()))
        held, now = facts(before), facts(after)
        if new := sorted(now.keys() - held.keys()):
            other[name] = new[:2]
        if (gone := sorted(held.keys() - now.keys())) and len(named(after)) <= len(named(before)):
            lost[name] = gone[:2]
    assert (other, lost) == ({}, {})


class TestForms:
    """What no reader knows, by its form."""

    def test_yaml(self):
        text = 'replicas: 5\nbroker:\n  heap: "-Xmx9g"\n  limits:\n    memory: 12Gi\n'
        assert 'replicas 5; broker.heap "-Xmx9g"; broker.limits.memory 12Gi' in said(text)

    def test_json_whose_begin_is_missing(self):
        assert "rack r7; port 9199" in said('oo:9199"],"rack":"r7","port":9199}\n')

    def test_json_with_remarks(self):
        text = '{\n  "loader": 41, // since May\n  "state": "odd"\n}\n'
        assert "loader 41; state odd" in said(text)
        assert "a remark next to line 2: // since May" in said(text)

    def test_table(self):
        """Blanks within a value do not shift the values behind it."""
        text = "NODE    LAST SEEN   SHARE OF LOAD\nkb7     2 days ago  17\n"
        assert "NODE kb7, LAST SEEN 2 days ago, SHARE OF LOAD 17" in said(text)

    def test_a_list_is_one_value(self):
        assert "ids 3,1,2" in said("ids: 3,1,2\ncount: 3\n")

    def test_a_sentence_is_none_of_them(self):
        assert said("Note: this happens now and then, I think.\nBob: me too\n") == ""


def said(text: str) -> str:
    return "\n".join(sentence for sentence in told.remarks(read(text.splitlines())) if not sentence.startswith("Headings"))


class TestRows:
    """Rows in shapes that the tool does not print."""

    @pytest.mark.parametrize(
        "text",
        [
            "Topic: bills, Partition: 6, Leader: 4, Replicas: 4,5, Isr: 4",
            "**Topic**: bills **Partition**: 6 **Leader**: 4 **Replicas**: [4, 5] **Isr**: [4]",
            "It says Topic: bills Partition: 5 Leader: 5 Replicas: 5,4 Isr: 5,4 Topic: bills Partition: 6 Leader: 4 Replicas: 4,5 Isr: 4"
            " and no more.",
        ],
    )
    def test_topics(self, text):
        row = next(row for row in read([text]).partitions if row.partition == 6)
        assert (row.topic, row.leader, row.replicas, row.isr) == ("bills", 4, (4, 5), (4,))

    def test_broken_within_a_word(self):
        """A number that a narrow screen has broken is one number."""
        lines = [
            "Topic: bills\tTopicId: q6MQnYbpTN6t77UYQ703rQ\tPartitionCount: 12\tReplicationFacto",
            "r: 3\tConfigs: retention.ms=6000",
        ]
        (topic,) = read(lines).topics
        assert (topic.partitions, topic.factor, topic.configs) == (12, 3, {"retention.ms": "6000"})

    def test_isr_that_is_cut_within_an_id(self):
        """Nobody is in sync who is no replica: the id was longer."""
        assert read(["\tTopic: bills\tPartition: 4\tLeader: none\tReplicas: 31,32\tIsr: 3"]).partitions == ()

    def test_a_table_of_offsets_in_one_line(self):
        text = "kafka-consumer-groups --describe GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER etl bills 3 7 9 2 none"
        (row,) = read([text]).offsets
        assert (row.group, row.topic, row.partition, row.offset, row.end) == ("etl", "bills", 3, 7, 9)

    def test_a_guessed_head_must_add_up(self):
        """Without its begin a head does not tell whether the epoch stands before the offset: the lag does."""
        lines = [
            "UP TOPIC PARTITION LEADER-EPOCH CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID",
            "etl bills 3 17 7 9 2 - - -",
        ]
        (row,) = read(lines).offsets
        assert (row.offset, row.end) == (7, 9)

    def test_dots_are_no_topic(self):
        found = read(["kafka-topics.sh --list --zookeeper z:2181", "bills", "..."])
        assert [znode.path for znode in found.znodes] == ["/brokers/topics/bills"]

    def test_a_name_that_is_begun_is_no_value(self):
        (config,) = read(["Configs for topic 'bills' are retention.ms=6000,max.mess"]).configs
        assert (config.settings, config.whole) == ({"retention.ms": "6000"}, False)

    def test_a_sentence_below_a_table(self):
        lines = ["Topic\tPartition\tProducerId\tProducerEpoch\tCoordinatorEpoch\tStartOffset\tLastTimestamp\tDuration(min)",
                 "bills\t4\t811\t3\t9\t77\t1700000000000\t188", "any idea what this is about here now"]  # fmt: skip
        assert "any" not in next(one.says for one in read(lines).told if "hanging" in one.says)


class TestDiffs:
    def test_plain(self):
        text = "$ diff kb1/server.properties kb2/server.properties\n3c3\n< num.io.threads=8\n---\n> num.io.threads=16\n"
        assert "kb1/server.properties has num.io.threads=8; kb2/server.properties has num.io.threads=16" in said(text)
        assert read(text.splitlines()).settings == ()

    def test_unified(self):
        text = "--- old.properties\n+++ new.properties\n@@ -1,2 +1,2 @@\n broker.id=7\n-log.dirs=/a\n+log.dirs=/b\n"
        assert "old.properties has log.dirs=/a; new.properties has log.dirs=/b; both have broker.id=7" in said(text)
        assert read(text.splitlines()).settings == ()


class TestKept:
    def test_a_value_is_held_only_where_a_row_has_it(self):
        """The name alone does not show that its value is told."""
        text = "Metadata for all topics (from broker 7: kb7:9092/7):\n 1 brokers:\n  broker 7 at kb7:9092 age=4711\n"
        assert "age 4711" in said(text) or named(read(text.splitlines())) >= {3}

    def test_of_docker_compose(self):
        text = "loader-3  | Coordinator unknown for group etl, retrying. Broker: Not coordinator\nloader-3  | Broker: Not coordinator\n"
        assert "lines 1-2 are of container loader-3" in said(text)
