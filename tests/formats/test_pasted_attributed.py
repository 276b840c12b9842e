"""Of whom a sentence is told: of whom its own line, or the list that it stands in, names; never of a neighbour."""

import re
from itertools import pairwise

import pytest

from casebook.collect.pasted import told
from tests.formats.test_pasted_damage import FILES, facts, read


def remarks(*lines: str) -> str:
    return "\n".join(told.remarks(read(list(lines))))


class TestOneBelowTheOther:
    """Two outputs in one paste say what each says alone."""

    def test_pairs(self):
        other = {}
        for first, second in pairwise(FILES):
            one, two = FILES[first].splitlines(), FILES[second].splitlines()
            alone = {without_broker(fact) for lines in (one, two) for fact in facts(read(lines))}
            both = {without_broker(fact) for fact in facts(read([*one, "", "$ true", "", *two]))}
            if new := both - alone:
                other[first, second] = sorted(new)[:2]
        assert other == {}

    def test_two_kinds_of_metrics(self):
        assert (
            len(read(["kafka.controller:type=KafkaController,name=ActiveControllerCount  Value=0", "kafka_brokers 2"]).hosts) == 2
        )

    def test_a_total_is_of_the_listing_below_it(self):
        entry = "-rw-r--r-- 1 ops ops {} May 6 07:08 meta.properties"
        found = read(["total 12", entry.format(41), "", "total 34", entry.format(42)])
        owners = [(row.span.first, re.search(r"total (\d+)", row.text)[1]) for row in found.hosts if "total" in row.text]
        assert owners == [(2, "12"), (5, "34")]


def without_broker(fact: str) -> str:
    """A heading's broker holds for what follows it."""
    return re.sub(r"'(?:broker': (?:\d+|None)|settle': .*)", "", fact)


@pytest.mark.parametrize(
    ("line", "whose"),
    [
        ("zd: nc: connect to zd port 2181 (tcp) failed: Connection refused", "ZooKeeper server zd did not accept"),
        ("nc: connectx to zd port 2181 (tcp) failed: Connection refused", "ZooKeeper server zd did not accept"),
        ("zd.x [10.9.8.7] 2181 (?) : Connection refused", "ZooKeeper server 10.9.8.7 did not accept"),
        ("zd: Ncat: Connection refused.", "ZooKeeper server zd did not accept"),
        ("telnet: connect to address 10.9.8.7: Connection refused", "ZooKeeper server 10.9.8.7 did not accept"),
        ('nc: getaddrinfo for host "zd" port 2181: Name or service not known', "ZooKeeper server zd was not reached"),
        ("nc: connect to kb3 port 9092 (tcp) failed: Connection refused", ": kb3 at port 9092 did not accept"),
        ("Ncat: Connection refused.", "ZooKeeper server za did not accept"),
    ],
)
def test_refused(line, whose):
    """The line's own name goes before that of the command above it; a broker's port is no ZooKeeper's."""
    assert whose in remarks("$ echo ruok | nc za 2181", line)


def test_versions_of_each_broker():
    said = remarks(
        "kb1:9092 (id: 1 rack: null) -> (", ")", "kb2:9092 (id: 2 rack: null) -> (", "\tFetch(1): 0 to 12 [usable: 12],",
        "\tEnvelope(58): UNSUPPORTED", ")",
    )  # fmt: skip
    assert "broker 2 knows Fetch 0 to 12 (usable: 12); broker 2 does not support Envelope" in said
    assert "broker 1 knows" not in said


@pytest.mark.parametrize(
    ("rest", "of"), [("sid=0x100000002,lop=PING,est=1,to=9)", True), ("sid=0x100000002,lop", True), ("si", False)]
)
def test_sessions_of_connections(rest, of):
    """As many as are printed; none when a row is cut before its own."""
    row = "/10.9.8.{}:41[1](queued=0,recved=1,sent=1,{}"
    said = remarks(row.format(1, "sid=0x100000001,lop=PING,est=1,to=9)"), row.format(2, rest))
    assert "2 connections" in said
    assert (", of 2 sessions" in said, ", of 1 session:" in said) == (of, False)


@pytest.mark.parametrize("topic", ["partition-moves", "partitions.x", "for-you", "of.all"])
def test_a_topic_named_like_the_sentence(topic):
    found = read([f"Successfully started partition reassignments for {topic}-0,{topic}-1"])
    assert [(move.topic, move.partition) for move in found.moves] == [(topic, 0), (topic, 1)]


def test_a_name_parted_at_its_dots():
    text = "Configs for brokers '4' are leader.replication.throttled.rate=9,follower. replication .throttled.rate=8"
    settings = {"leader.replication.throttled.rate": "9", "follower.replication.throttled.rate": "8"}
    assert read([text]).configs[0].settings == settings


def test_a_described_node_is_no_pod():
    lines = ["Name: n-7", "Roles: <none>", "Conditions:", "  Type  Status", "  DiskPressure  True  x"]
    assert all("node n-7" in row.text for row in read(lines).hosts)


def test_the_kernel_without_a_date():
    row = read(["[77.000001] Buffer I/O error on dev sdq, logical block 5"]).hosts[0]
    assert row.bad
    assert "77.000001 s after the host's boot: Buffer I/O error on dev sdq, logical block 5" in row.text


def test_locks_of_a_thread():
    lines = [
        '"w | g" #7',
        "   java.lang.Thread.State: BLOCKED",
        "\tat a.B.c(B.java:1)",
        "\t- waiting to lock a.B@1f",
        "\t- locked on a.C@2e",
    ]
    said = " ".join(row.text for row in read(lines).hosts)
    assert "BLOCKED: w | g (in a.B.c (B.java:1), waiting for lock a.B@1f, holding a.C@2e)" in said


def test_a_client_log_before_an_answer():
    lines = ["[zk: za:2181(CONNECTED) 0] ls /brokers/ids", "2024-05-06 07:08:09,010 [myid:] - INFO  [main:X@1] - Client environment:a=b",
             "[4, 5]"]  # fmt: skip
    assert read(lines).znodes[0].children == ("4", "5")
