"""Pasted text, taken apart: real outputs of several releases, and all that mail and chat do to them.

The files in ``pasted/`` were printed by the tools of a cluster of three brokers, of which broker 3 was killed.
"""

import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.formats.pasted import paste
from casebook.formats.pasted.text import MOST_LINES
from tests.ends import ends

FOLDER = Path(__file__).parent / "pasted"
FILES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.txt"))}
STATE = "/kafka/brokers/topics/orders/partitions/2/state"
GET = f"""\
[zk: zk1:2181(CONNECTED) 3] get {STATE}
{{"controller_epoch":24,"leader":-1,"version":1,"leader_epoch":37,"isr":[1]}}
cZxid = 0x100000210
ctime = Sat Oct 12 11:03:40 CST 2019
mZxid = 0x1000a0210
mtime = Sat Oct 12 11:03:42 CEST 2019
dataVersion = 51
ephemeralOwner = 0x0
dataLength = 73
"""


def read(text):
    return paste.read(text.splitlines())


def states(found):
    return {(p.topic, p.partition): (p.leader, p.replicas, p.isr) for p in found.partitions}


class TestRealOutputs:
    @pytest.mark.parametrize("name", FILES)
    def test_all_of_it_is_understood(self, name):
        """Nothing that a tool prints is left over, but for the one command that the tool refused."""
        left = read(FILES[name]).not_understood
        assert [part.reason for part in left] == (
            ["asks for a znode; what follows is not its answer"] if name == "zookeeper_3.4.6" else []
        )

    @pytest.mark.parametrize("name", [name for name in FILES if name.startswith("zookeeper")])
    def test_zookeeper(self, name):
        """Every release's zkCli: who lives, one state with its stat, what is not there."""
        found = read(FILES[name]).znodes
        by_path = {}
        for znode in found:
            by_path.setdefault(znode.path, []).append(znode)
        assert {z.children for z in by_path["/kafka/brokers/ids"]} == {("1", "2")}
        assert any(z.stat and z.stat.numChildren == 2 and z.stat.cversion == 4 for z in by_path["/kafka/brokers/ids"])
        assert [z.there for z in by_path["/kafka/brokers/ids/3"]] == [False]
        (state, *_) = [z for z in by_path[STATE] if z.stat]
        assert '"isr":[3]' in state.data
        assert len(state.data) == state.stat.dataLength
        assert (state.stat.ephemeralOwner, state.stat.mtime % 1000) == (0, 0)
        assert by_path["/kafka/controller_epoch"][-1].data in ("1", "2")
        assert '"partitions"' in by_path["/kafka/brokers/topics/orders"][0].data

    @pytest.mark.parametrize(
        ("name", "leader_of_2"),
        [("topics_0.9.0.1", 3), ("topics_2.8.2_zookeeper", None), ("topics_2.8.2", None), ("topics_3.9.2", None)],
    )
    def test_topics(self, name, leader_of_2):
        """Every layout: leaders, replicas, ISRs and settings; each with its line."""
        found = read(FILES[name])
        assert states(found)["orders", 2] == (leader_of_2, (3,), (3,))
        assert states(found)["orders", 3] == (1, (3, 1), (1,))
        assert {t.topic: t.partitions for t in found.topics} == {"__consumer_offsets": 3, "orders": 4, "plain": 1}
        (orders,) = (t for t in found.topics if t.topic == "orders")
        assert (orders.configs["min.insync.replicas"], orders.configs["cleanup.policy"]) == ("2", "compact")
        (three,) = (p for p in found.partitions if (p.topic, p.partition) == ("orders", 3))
        assert "Partition: 3" in FILES[name].splitlines()[three.span.first - 1]

    @pytest.mark.parametrize("name", ["groups_0.9.0.1", "groups_2.8.2", "groups_2.8.2_empty", "groups_3.9.2"])
    def test_groups(self, name):
        """Commas and columns."""
        rows = read(FILES[name]).offsets
        assert [(r.group, r.topic, r.partition, r.offset, r.end) for r in rows] == [
            ("billing", "orders", p, 0, 0) for p in range(4)
        ]

    def test_what_is_said_of_groups(self):
        """Coordinator, emptiness, and the tool's own trouble."""
        said = {name: read(FILES[name]).groups for name in FILES if name.startswith("groups")}
        for name in ("groups_2.8.2_state", "groups_3.9.2_state"):
            assert [(g.group, g.what, g.coordinator) for g in said[name]] == [("billing", "Stable", 2)]
        assert [g.what for g in said["groups_2.8.2_empty"]] == ["has no active members"]
        assert [g.what for g in said["groups_0.9.0.1_empty"]] == ["does not exist"]
        assert [g.group for g in said["groups_2.8.2_failed"]] == ["billing"]
        assert "TimeoutException" in said["groups_2.8.2_failed"][0].what

    def test_listings(self):
        """Sizes are exact or unknown; a time has a zone or is unknown; the heading tells the broker."""
        exact = [file for file in read(FILES["listing_ls"]).files if file.name.endswith(".index")]
        assert [(f.bytes, f.modified, f.broker) for f in exact] == [(65536, None, 1), (65536, 1795298067899, 1)]
        rounded = read(FILES["listing_rounded"])
        assert {f.bytes for f in rounded.files if f.name.endswith("index")} == {None}
        assert {(u.path, u.about) for u in rounded.used} >= {("/var/kafka-logs/orders-3", 12 << 10)}
        deep = [f for f in read(FILES["listing_recursive"]).files if not f.is_folder]
        assert {f.folder for f in deep} == {
            f"/var/kafka-logs/{name}" for name in ("__consumer_offsets-0", "orders-0", "orders-3", "plain-0")
        }


class TestWhatMailAndChatDo:
    def test_a_get_as_it_stands(self):
        """A zone that means one zone only gives a time; another one none."""
        (znode,) = read(GET).znodes
        assert (znode.path, znode.span) == (STATE, (1, 9))
        assert (znode.stat.mtime, znode.stat.ctime, znode.stat.numChildren) == (1570871022000, None, None)
        assert znode.undated == ("ctime = Sat Oct 12 11:03:40 CST 2019",)

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda t: textwrap.indent(t, "> "),
            lambda t: textwrap.indent(t, "> > ", lambda _: True),
            lambda t: t.replace("\n", "\r\n"),
            lambda t: t.replace(" = ", "\u00a0=\u00a0"),
            lambda t: t.replace('"', "”").replace("-1", "–1"),
            lambda t: f"```text\n{t}```\n",
            lambda t: "\ufeff" + t.replace("get", "\x1b[1mget\x1b[0m"),
            lambda t: t.replace('"version":1,', '"version":1,\n'),
            lambda t: t.replace('"leader_epoch":37', '"leader_epoch":3\n7'),
            lambda t: f"Hi,\n\nsee below\n\n{t}\nregards\n",
        ],
        ids=["quoted", "quoted twice", "crlf", "no-break", "typographic", "fenced", "coloured", "folded", "wrapped", "letter"],
    )  # fmt: skip
    def test_the_same_is_read(self, spoil):
        (plain,), (spoilt,) = read(GET).znodes, read(spoil(GET)).znodes
        assert (spoilt.path, spoilt.data, spoilt.stat) == (plain.path, plain.data, plain.stat)

    def test_folded_rows(self):
        """A row goes on in the next line, inside a list too."""
        found = read(
            "Topic: t Partition: 0 Leader: 1\n  Replicas: 1,2,\n3 Isr: 1,\n2\n\tTopic: t\tPartition: 1\tLeader: none\tReplicas: 1,2\tIsr:\n\n"
        )
        assert states(found) == {("t", 0): (1, (1, 2, 3), (1, 2)), ("t", 1): (None, (1, 2), ())}

    def test_a_row_without_isr_says_nothing(self):
        """Nor does one whose ISR may go on behind the end of the paste."""
        row = "Topic: t Partition: 0 Leader: none Replicas: 1,2 Isr:"
        for cut in ("Topic: t Partition: 0 Leader: 1 Replicas: 1,2", row):
            found = read(cut)
            assert (found.partitions, len(found.not_understood)) == ((), 1)
        assert states(read(f"{row} Elr: N/A LastKnownElr: N/A")) == {("t", 0): (None, (1, 2), ())}

    def test_newer_columns(self):
        """Reassignments (2.4+), ELR (3.7+)."""
        found = read(
            "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\tAdding Replicas: 3\tRemoving Replicas: \tElr: N/A\tLastKnownElr: \n"
        )
        (row,) = found.partitions
        assert (row.adding, row.removing, row.replicas) == ((3,), (), (1, 2, 3))

    def test_anonymised(self):
        """What is no id is nobody's id."""
        found = read(
            "Topic: t Partition: 0 Leader: x Replicas: xx,yy Isr: xx\n[zk: <host>(CONNECTED) 0] ls /brokers/ids\n[xx, 2]\n"
        )
        assert found.partitions == ()
        assert found.not_understood[0].span == (1, 1)
        assert found.znodes[0].children == ("xx", "2")

    def test_path_in_the_sentence_before(self):
        """JSON alone is told by the one path that is named just before it; by two, it is nobody's."""
        json = '{"controller_epoch":24,"leader":-1,"version":1,"leader_epoch":37,"isr":[1]}'
        one = read(f"the znode `{STATE}` says\n\n{json}")
        two = read(f"{STATE} and /kafka/brokers/topics/u/partitions/0/state say\n{json}")
        wrong = read(f"look at /kafka/brokers/ids/7:\n{json}")
        assert [found.znodes[0].path for found in (one, two, wrong)] == [STATE, None, None]

    def test_one_shot(self):
        """A command of the shell, with all that zkCli says beside its answer."""
        (znode,) = read(
            f"$ bin/zookeeper-shell.sh zk1:2181 get {STATE}\nConnecting to zk1:2181\n\nWATCHER::\n\n"
            'WatchedEvent state:SyncConnected type:None path:null\n{"leader":1,"isr":[1],"leader_epoch":0,"controller_epoch":1}\n'
        ).znodes
        assert znode.path == STATE

    def test_two_listings_called_ls(self):
        """``ls`` of the shell is not that of zkCli."""
        found = read("$ ls /var/kafka-logs\n[1]\n$ ls -l /data/t-0\n-rw-r--r-- 1 k k 12 Oct 12 11:03 00000000000000000000.log\n")
        assert (found.znodes, len(found.files), found.files[0].folder) == ((), 1, "/data/t-0")


class TestLogs:
    def test_whose_line(self):
        """The line itself, else a heading, else nobody."""
        lines = read(
            "[2019-10-12 11:03:42,671] INFO [Controller 56]: deleted brokers: 57 (kafka.controller.KafkaController)\n"
            "WARN This is not the correct coordinator.\n\n"
            "broker 57:\n"
            "[2019-10-12 11:03:42,293] INFO zookeeper state changed (Expired) (org.I0Itec.zkclient.ZkClient)\n"
            "[2020-01-01 00:00:00,000] INFO [ReplicaFetcher replicaId=5, leaderId=6, fetcherId=0] Truncated (kafka.server.X)\n"
            "\n11:03:43 zookeeper state changed (Disconnected)\n"
            "==> /var/log/broker-3/server.log <==\n11:03:44 INFO x\n"
            "2019-10-12 11:03:42,293 [myid:1] - INFO  [SessionTracker:ZooKeeperServer@1] - Expiring session 0x1\n"
        ).logs
        assert [line.broker for line in lines] == [56, None, 57, 5, None, 3, 3]

    def test_folded(self):
        """The rest of a message is put back, a stack trace stays as it is, and each keeps its line."""
        found = read(
            "[2019-10-12 11:03:42,293] INFO Unable to reconnect to ZooKeeper service, session\n"
            "0x396c has expired, closing socket connection (org.apache.zookeeper.ClientCnxn)\n"
            "[2019-10-12 11:03:43,000] ERROR Processor got uncaught exception. (kafka.network.Processor)\n"
            "java.lang.ArrayIndexOutOfBoundsException: 18\n"
            "\tat org.apache.kafka.common.protocol.ApiKeys.forId(ApiKeys.java:68)\n"
        )
        assert [line.span for line in found.logs] == [(1, 2), (3, 3), (4, 4), (5, 5)]
        assert "session 0x396c has expired" in found.logs[0].text
        assert found.not_understood == ()

    @pytest.mark.parametrize(
        "other",
        [
            "kafka_1 | [2019-10-12 11:03:43,000] INFO [GroupCoordinator 1]: Stabilized group g generation 4 (kafka.coordinator.X)",
            "ERROR [KafkaApi-1] Number of alive brokers '1' does not meet the required replication factor '3' (kafka.server.KafkaApis)",
        ],
    )
    def test_an_entry_is_no_rest_of_another(self, other):
        """Behind one that does not end with its logger: a container's name and a level begin one, as a date does."""
        dated = "[2019-10-12 11:03:42,293][WARN] Resetting first dirty offset of t-5 to log start offset 7"
        assert [line.text for line in read(f"{dated}\n{other}\n").logs] == [dated, other]

    @pytest.mark.parametrize(
        "line",
        [
            "2019-10-12T11:03:42.293Z stdout F [2019-10-12 11:03:42,293] INFO x (kafka.Kafka)",
            "kafka_1  | [2019-10-12 11:03:42,293] INFO x (kafka.Kafka)",
            "Oct 12 11:03:42 host kafka[123]: INFO x",
            '{"timestamp":"2019-10-12T11:03:42Z","level":"INFO","message":"x"}',
            "%3|1570878222.293|FAIL|rdkafka#producer-1| [thrd:x]: connect failed",
            "Partition [t,0] on broker 3: Shrinking ISR for partition [t,0] from 1,2 to 1",
            "session 0x396c has expired",
            "[sarama] 2019/10/12 11:03:42 client/metadata retrying after 250ms... (3 attempts remaining)",
            "Auto offset commit failed: [Error 25] UnknownMemberIdError: billing",
            "{ BrokerNotAvailableError: Broker not available",
            "{ [NoKafkaConnectionError: the connection was closed]",
            "fail: Shop.Billing.Worker[0]",
            "sasl_plaintext://b1:9093/1: 1 request(s) timed out: disconnect (after 907ms in state UP)",
            "oh no: [10] Message Size Too Large: the server has a limit",
            'ts=2019-10-12T11:03:42Z caller=x.go:8 level=warn msg="it failed" err="This is not the correct coordinator."',
            '{"level":"ERROR","timestamp":"2019-10-12T11:03:42Z","message":"x","broker":changed:9092}',
        ],
    )  # fmt: skip
    def test_layouts(self, line):
        assert [found.text for found in read(line).logs] == [line]


ALL = "\n".join(FILES.values())


def told(found):
    """What a paste tells, without where."""
    return {
        "znodes": {(z.path, z.data) for z in found.znodes if z.data},
        "children": {(z.path, z.children) for z in found.znodes if z.children is not None},
        "partitions": set(states(found).items()),
        "configs": {(t.topic, tuple(sorted(t.configs.items()))) for t in found.topics if t.configs is not None},
        "offsets": {(o.group, o.topic, o.partition, o.offset) for o in found.offsets},
        "files": {(f.folder, f.name, f.bytes, f.broker) for f in found.files},
        "used": {(u.path, u.about) for u in found.used},
    }


class TestCutAnywhere:
    @pytest.mark.parametrize("name", FILES)
    def test_nothing_is_told_that_the_whole_does_not_tell(self, name):
        """However many of its last lines are missing; and each line is told, taken or empty."""
        lines = FILES[name].splitlines()
        whole = told(paste.read(lines))
        for end in range(len(lines)):
            part = told(paste.read(lines[:end]))
            assert {kind: rows - whole[kind] for kind, rows in part.items()} == {kind: set() for kind in whole}, end

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_folded_and_cut(self, data):
        """Folded at blanks to some width, and cut at any line."""
        width = data.draw(st.integers(40, 100))
        name = data.draw(st.sampled_from([name for name in FILES if name.startswith("topics")]))
        rows = FILES[name].splitlines()
        lines = [
            line
            for row in rows
            for line in textwrap.wrap(row.expandtabs(), width, break_long_words=False, break_on_hyphens=False)
        ]
        whole, part = paste.read(rows), paste.read(lines[: data.draw(st.integers(0, len(lines)))])
        assert told(part)["partitions"] <= told(whole)["partitions"]

    @given(
        st.lists(
            st.sampled_from(
                [*ALL.splitlines(), "", "> ", "{", "[", "}", '"', "Topic: t", "cZxid = 0x", "[zk: x(C) 1] get /brokers/ids/1"]
            ),
            max_size=30,
        )
    )
    @settings(max_examples=150, deadline=None)
    def test_any_mix(self, lines):
        """Lines in any order never raise, and each is taken, told or says nothing."""
        found = paste.read(lines)
        assert all(1 <= part.span.first <= part.span.last <= len(lines) for part in found.not_understood)

    @given(st.text(max_size=400))
    @settings(max_examples=150, deadline=None)
    def test_any_text(self, text):
        paste.read(text.splitlines())


class TestHostile:
    @pytest.mark.parametrize(
        "lines",
        [
            ["x" * (20 << 20)],
            ["{" * (1 << 20)],
            ["[" + "1," * (1 << 20)],
            ["Topic: t " + "Partition: 1 " * 100_000],
            ["[2019-10-12 11:03:42,293] INFO " + "a(" * (1 << 20)],
            ["a" * 60] * 100_000,
            ['{"a":'] * 100_000,
            ["[zk: x(CONNECTED) 1] get /brokers/ids/1"] * 100_000,
            ["[1,"] * 100_000,
            [f"[2019-10-12 11:03:42,293] INFO [Broker id={n}] x" for n in range(100_000)],
            ["Topic: t Partition: 1 Leader: 1 Replicas:"] * 100_000,
            ["\x00\x01\xff" * 1000] * 1000,
            ["cZxid = 0x1"] * 100_000,
        ],
        ids=["long line", "braces", "list", "row", "log line", "many", "open braces", "commands", "lists", "brokers", "rows", "binary", "stats"],
    )  # fmt: skip
    def test_bounded(self, lines):
        """Each line is looked at a few times, whatever it is: with all pairs of them it would take hours."""
        with ends():
            found = paste.read(lines)
        assert len({line.broker for line in found.logs}) <= 201

    def test_only_so_many_lines(self):
        assert paste.read(["x"] * (MOST_LINES + 5)).lines == MOST_LINES


@pytest.mark.parametrize("row", ['"2026-11-20 10:03:42",17,0.5', "2026-11-20 10:03:42,9.0E-4,1", "2026-11-20T10:03:42Z,-1"])
def test_a_row_of_figures_is_no_log_line(row):
    """It stays what nobody knows, and is told with its line; a time alone, with its fraction, is a log line's begin."""
    found = paste.read([row])
    assert (found.logs, [part.span.first for part in found.not_understood]) == ((), [1])
    assert paste.read(["2026-11-20 10:03:42,123 Session expired."]).logs
