"""What mails, chats, wikis and editors do to a whole paste: the same facts, or a line that is named; never another value."""

import json
import re
from pathlib import Path

import pytest

from casebook.collect.pasted import told
from casebook.facts.pasted import OF_TOOLS, Pasted
from casebook.formats.pasted import paste
from casebook.formats.pasted.damage import sent

FOLDER = Path(__file__).parent
FILES = {
    path.stem: path.read_text()
    for name in ("pasted_sent", "pasted", "pasted_hosts")
    for path in sorted((FOLDER / name).glob("*.txt"))
}
ROWS = (*(name for name in OF_TOOLS if name != "znodes"), "hosts")  # the answer to ls and get is the line right below
DAMAGES = {
    "line ends of Windows": lambda lines: [f"{line}\r" for line in lines],
    "a mail's quote marks": lambda lines: [f"> {line}" for line in lines],
    "a code block of Markdown": lambda lines: ["", *(f"    {line}" for line in lines)],
    "colours of a terminal": lambda lines: [f"\x1b[1;32m{line}\x1b[0m" for line in lines],
    "an empty line behind each": lambda lines: [each for line in lines for each in (line, "")],
    "bold type": lambda lines: [f"**{line}**" if " " in line.strip() and "*" not in line else line for line in lines],
    "type of a page": lambda lines: [f"<code>{line}</code><br>" for line in lines],
    "a fence": lambda lines: ["```text", *lines, "```"],
    "a literal of a program": lambda lines: [f"export const OUT = `{lines[0]}", *lines[1:], "`;"],
    "names of a file by grep": lambda lines: [f"kb7/out.txt{':-'[at % 2]}{line}" for at, line in enumerate(lines)],
    "a key that was typed": lambda lines: [f"^C{line}" if line[:1].isupper() else line for line in lines],
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


LESS_APART = ("jstack", "kernel", "named")
"""Outputs whose statements of hosts have less with an empty line behind each line: an owner, a date, the rows of a manifest."""


@pytest.mark.parametrize("name", [name for name, text in FILES.items() if any(map(sent.is_output, text.splitlines()))])
class TestOutputs:
    """Every file with a line that only a tool prints."""

    def test_strings_of_a_program(self, name):
        lines = [*FILES[name].splitlines(), ""]
        held, now = facts(read(lines)), facts(read([f"    {json.dumps(line, ensure_ascii=False)}," for line in lines]))
        assert held.keys() == now.keys()

    def test_rows_apart(self, name):
        """An empty line behind each, but not around: nothing else is said, and what is missing is named."""
        lines = FILES[name].splitlines()
        apart = [each for line in lines for each in (line, "")]
        before, after = read(lines), read(["We see this:", "and wonder.", "", *apart, "Has anybody", "an idea?"])
        held, now = facts(before), facts(after)
        new = {key for key in now.keys() - held.keys() if not key.startswith("hosts")}
        assert not {key for key in new if getattr(now[key], "settings", True) or now[key].whole}
        missing = {key for key in held.keys() - now.keys() if not (name in LESS_APART and key.startswith("hosts"))}
        assert not missing or len(named(after)) > len(named(before)) + 2


class TestMarks:
    """Marks of a page or a program around an output."""

    def test_bold_within_json(self):
        assert "state odd" in said('{"loader": 41, "ids": [**3,4**], "state": "odd"}\n')

    def test_a_host_in_bold_type_is_a_heading(self):
        text = "**kb7**\nNODE    LAST SEEN   SHARE OF LOAD\nkb7     2 days ago  17\n"
        assert read(text.splitlines()).heading(2) == "kb7"

    def test_a_masked_value_is_not_bold(self):
        (row,) = read(["Configs for topic 'bills' are retention.ms=***,sasl.password=**,segment.ms=7"]).configs
        assert row.settings == {"segment.ms": "7"}

    @pytest.mark.parametrize("sign", ["# Returns: ", "// => ", "# output: "])
    def test_an_answer_in_a_comment(self, sign):
        mark = sign.split(" ", maxsplit=1)[0]
        lines = ["get /kafka/controller", f'{sign}{{"version":2,', f'{mark}      "brokerid":7,"timestamp":"1700000000000"}}']
        (row,) = read(lines).znodes
        assert (row.path, json.loads(row.data)["brokerid"]) == ("/kafka/controller", 7)


class TestBegins:
    """The first letters of a label were not copied."""

    @pytest.mark.parametrize("cut", range(1, 6))
    def test_topic(self, cut):
        (row,) = read(["Topic: bills\tPartition: 4\tLeader: 3\tReplicas: 3,1\tIsr: 3"[cut:]]).partitions
        assert (row.topic, row.partition, row.leader, row.replicas, row.isr) == ("bills", 4, 3, (3, 1), (3,))

    def test_a_cut_name_is_no_name(self):
        assert read(["lls\tPartition: 4\tLeader: 3\tReplicas: 3,1\tIsr: 3"]).partitions == ()

    @pytest.mark.parametrize("cut", range(1, 10))
    def test_monitored(self, cut):
        text = "zk_version\t3.6.3--6401e4ad, built on 04/08/2021 16:35 GMT\nzk_server_state\tleader\nzk_znode_count\t41\n"
        assert "version 3.6.3--6401e4ad, built on 04/08/2021 16:35 GMT, server_state leader" in said(text[cut:])

    def test_only_at_the_begin_of_a_block(self):
        assert read(["We asked for the", "ic: bills\tPartition: 4\tLeader: 3\tReplicas: 3,1\tIsr: 3"]).partitions == ()


class TestLabels:
    """Which offsets they are: a loop or a person writes it above them."""

    @pytest.mark.parametrize(
        ("label", "which"),
        [("earliest (-2)", "first"), ("time -2", "first"), ("Latest offsets:", "last"), ("== --time -1 ==", "last")],
    )
    def test_of_offsets(self, label, which):
        assert f"{which} offsets of bills-0 at 7, bills-1 at 9" in said(f"{label}\nbills:0:7\nbills:1:9\n")

    def test_a_sentence_is_no_label(self):
        assert "the value of --time decides" in said("In time -2 people answered\nbills:0:7\nbills:1:9\n")


class TestAdminServer:
    def test_monitor(self):
        text = '{"command": "monitor", "version": "3.8.4", "server_state": "follower", "znode_count": 218, "error": null}\n'
        assert "ZooKeeper's monitor: a ZooKeeper server: version 3.8.4, server_state follower, znode_count 218" in said(text)


class TestForeign:
    """Text below a command of a program that no reader knows is told as it is."""

    def test_another_client(self):
        text = "kcl admin groups\nFound partition 7 stuck at 144\n\nThe culprit is 2000/0.\n\nAny idea?\n"
        assert "Found partition 7 stuck at 144; The culprit is 2000/0" in said(text)
        assert named(read(text.splitlines())) == {6}

    def test_a_script(self):
        assert "broker 7 is lame since noon" in said("$ ./look.sh --all\nbroker 7 is lame since noon\n")

    def test_damaged_output_of_a_known_tool_is_not(self):
        assert named(read(["$ kafka-topics.sh --describe --bootstrap-server b:9092", "Topixx bills odd"])) == {2}


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

    def test_names_alone(self):
        assert "etl-one; etl-two; audit" in said("etl-one\netl-two\naudit\n")
        assert "of no tool that is known" not in said("thanks\nbob\nsoon\n")

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


KCAT = [
    "Metadata for bills (from broker 7: kb7:9199/7):",
    " 2 brokers:",
    "  broker 7 at kb7:9199",
    "  broker 8 at kb8:9199 (controller)",
    " 1 topics:",
    '  topic "bills" with 1 partitions:',
    "    partition 0, leader 7, replicas: 7,8, isrs: 7",
]


class TestBefore:
    """What stands before each line of an output."""

    @pytest.mark.parametrize(
        "before",
        [
            "2031-05-06T07:08:09Z | ",
            "2031-05-06T07:08:09.123+02:00 ",
            "[07:08:09] ",
            "[pod/kb-7/kafka] ",
        ],
    )
    def test_times_and_containers(self, before):
        found = read([f"{before}{line}" for line in KCAT])
        assert [(row.leader, row.replicas, row.isr) for row in found.partitions] == [(7, (7, 8), (7,))]
        assert found.logs == ()
        assert before.strip("[]| ") in said("\n".join(f"{before}{line}" for line in KCAT))

    @pytest.mark.parametrize("form", ["{}: {}", "  {}  {}", "{:>6}\t{}", "{} | {}"])
    def test_numbers(self, form):
        found = read([form.format(number, line) for number, line in enumerate(KCAT, 98)])
        assert [(row.leader, row.replicas, row.isr) for row in found.partitions] == [(7, (7, 8), (7,))]

    def test_a_log_keeps_its_times(self):
        lines = [
            f"2031-05-06 07:08:0{second},001 INFO [KafkaServer id=7] started (kafka.server.KafkaServer)" for second in (1, 2)
        ]
        assert [line.text for line in read(lines).logs] == lines


class TestHeadings:
    """Whose the rows below are, as loops, ansible, pssh and people write it."""

    @pytest.mark.parametrize(
        ("heading", "name"),
        [
            ("kb7 | CHANGED | rc=0 >>", "kb7"),
            ("10.9.8.7 | SUCCESS | rc=0 >>", "10.9.8.7"),
            ("=== Broker kb-7 ===", "Broker kb-7"),
            ("# === Broker kb-7 ===", "Broker kb-7"),
            ("[2] 07:08:09 [SUCCESS] kb7", "kb7"),
            ("pod/kb-7:", "pod/kb-7"),
            ("$ kubectl -n mq exec kb-7 -c kafka -- df -h", "kb-7"),
            ("$ ssh -i key ops@kb7 df -h", "kb7"),
            ("$ for i in 6 7; do kubectl exec kb-$i -- df -h; done", ""),
        ],
    )
    def test_is_joined(self, heading, name):
        found = read([heading, "Filesystem Size Used Avail Use% Mounted on", "/dev/sdx1 90G 89G 1G 99% /kafka"])
        assert found.heading(next(row.span.first for row in found.hosts if row.kind == "df")) == name

    def test_of_several_commands_none(self):
        """Their answers follow as a block: nobody knows which is whose."""
        table = ["Filesystem Size Used Avail Use% Mounted on", "/dev/sdx1 90G 89G 1G 99% /kafka"]
        found = read(["$ kubectl exec kb-6 -- df -h", "$ kubectl exec kb-7 -- df -h", *table, *table])
        assert [found.heading(row.span.first) for row in found.hosts] == ["", ""]

    def test_the_pod_that_is_described(self):
        text = "$ kubectl -n mq describe pod kb-7 | tail\nConditions:\n  Type   Status\n  Ready  False\n"
        assert [row.text for row in read(text.splitlines()).hosts if row.bad] == ["conditions of pod kb-7: Ready False"]


class TestAbsence:
    """That something is not there is a fact where it is printed."""

    def test_no_consumer(self):
        text = (
            "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
            "etl bills 4 7 9 2 - - -\netl bills 5 - 9 - c-1 /10.9.8.7 c\n"
        )
        assert "no consumer (-) is printed for bills-4" in said(text)
        assert "no committed offset (-) is printed for bills-5" in said(text)

    def test_no_session_holds_anything(self):
        text = "SessionTracker dump:\nGlobal Sessions(1):\n0x1000aaaa0001\t\t6000ms\nephemeral nodes dump:\nSessions with Ephemerals (0):\n\n"
        assert "0 sessions with ephemeral nodes: no broker is registered" in said(text)
        assert "0x1000aaaa0001 6000 ms" in said(text)

    def test_sessions_of_others(self):
        text = (
            "SessionTracker dump:\nGlobal Sessions(2):\n0x1000aaaa0001 6000ms\n0x1000aaaa0002 4000ms\nephemeral nodes dump:\n"
            "Sessions with Ephemerals (1):\n0x1000aaaa0001:\n\t/lead/er\nConnections dump:\n"
        )
        assert "/lead/er of 0x1000aaaa0001" in said(text)
        assert "without ephemeral nodes: 0x1000aaaa0002" in said(text)


class TestCut:
    """Of what is cut, what is whole."""

    def test_json_with_dots(self):
        text = 'get /brokers/topics/bills\n{"partitions":{"0":[7],"1":[8]}, ... ,"version":3}\n'
        found = read(text.splitlines())
        assert "/brokers/topics/bills holds, as far as it is whole, partitions.0 [7], partitions.1 [8], version 3" in said(text)
        assert found.znodes == ()

    def test_dots_in_a_string_are_its_own(self):
        assert "note a, ..., b" in said('{"loader": 41, "note": "a, ..., b"}\n')

    def test_a_proposal(self):
        text = '{"summary":{"numReplicaMovements":31,"dataToMoveMB":977},"goalSummary":[{"goal":"RackGoal","status":"FIXED"},{"goal":"Di'
        assert any("numReplicaMovements 31, dataToMoveMB 977, RackGoal FIXED" in row.text for row in read([text]).hosts)

    def test_a_client_whose_row_is_cut(self):
        text = "Zookeeper version: 3.4.6-1\nClients:\n/10.9.8.7:41[1](queued=0,recved=4,sent=4)\n/10.9.8.8:42[1](queued=0,recved=5,sent=6"
        assert "2 clients listed" in said(text)
        assert "10.9.8.8:42, queued 0, recved 5, sent 6 (its row is cut)" in said(text)

    def test_offsets_without_a_head(self):
        """Known by what they add up to; of others nothing is taken."""
        (row,) = read(["etl bills 4 7 9 2 c-1 /10.9.8.7 c"]).offsets
        assert (row.group, row.topic, row.partition, row.offset, row.end) == ("etl", "bills", 4, 7, 9)
        assert read(["etl bills 4 7 9 3 c-1 /10.9.8.7 c"]).offsets == ()

    def test_a_value_that_went_to_the_next_line(self):
        lines = ["Topic Partition ProducerId ProducerEpoch CoordinatorEpoch StartOffset LastTimestamp Duration(min)",
                 "bills 4 811 3 9 77 1700000000000", "  188"]  # fmt: skip
        assert "Duration(min) 188" in said("\n".join(lines))


class TestWhose:
    def test_a_loop_over_partitions(self):
        """Each answer is of its turn; a variable of a shell is no path."""
        loop = "for p in 3 4; do zookeeper-shell.sh z:2181 get /brokers/topics/bills/partitions/$p/state | tail -1; done"
        states = [f'{{"controller_epoch":1,"leader":{leader},"version":1,"leader_epoch":2,"isr":[7]}}' for leader in (7, -1)]
        paths = [znode.path for znode in read([loop, *states]).znodes]
        assert paths == [f"/brokers/topics/bills/partitions/{number}/state" for number in (3, 4)]
        assert [znode.path for znode in read([loop, *states, states[0]]).znodes] == [None, None, None]

    def test_zk_shell(self):
        lines = ["(CONNECTED [z1]) /k> tree brokers", ".", "├── ids", "│   ├── 7", "├── topics", "", "(CONNECTED [z1]) /k> get controller_epoch", "9"]  # fmt: skip
        found = {znode.path: znode for znode in read(lines).znodes}
        assert found["/k/brokers/ids"].children == ("7",)
        assert found["/k/brokers/topics"].children == ()
        assert found["/k/controller_epoch"].data == "9"

    def test_the_sum_of_a_whole_listing(self):
        text = (
            " Directory of D:\\k\\bills-0\n01/02/2031  07:08 AM    9 00000000000000000000.log\n"
            "   1 File(s)   9 bytes\n\n     Total Files Listed:\n   3 File(s)   77 bytes\n"
        )
        rows = [row.text for row in read(text.splitlines()).hosts]
        assert "the whole listing, all its folders together, has 3 files of 77 bytes in all" in rows
        assert "D:/k/bills-0 has 1 files of 9 bytes in all" in rows

    def test_a_log_dir_that_failed(self):
        text = (
            '{"version":1,"brokers":[{"broker":7,"logDirs":[{"logDir":"/d","error":"org.x.KafkaStorageException: It is gone.",'
            '"partitions":[]},{"logDir":"/e","error":null,"partitions":[{"partition":"bills-0","size":9,"offsetLag":0,'
            '"isFuture":false},{"partition":"bills-1","size":8,"offsetLag":3,"isFuture":true}]}]}]}'
        )
        assert "broker 7 cannot use /d (KafkaStorageException: It is gone)" in said(text)
        assert "none of these is being moved" not in said(text)

    def test_json_in_a_program(self):
        text = '   log("{\\"ts\\":\\"2031-05-06T07:08:09Z\\",\\"level\\":\\"ERROR\\","\n     + "\\"message\\":\\"Corrupt record\\"}");\n'
        (line,) = read(text.splitlines()).logs
        assert line.text == '{"ts":"2031-05-06T07:08:09Z","level":"ERROR","message":"Corrupt record"}'
