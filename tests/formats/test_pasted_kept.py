"""Nothing of a decoded line is silent: a word that no row holds is named with its line, whatever reader took it."""

import random
import re
from pathlib import Path

import pytest

from casebook.collect.pasted import paste as collected
from casebook.collect.pasted import told
from casebook.facts.pasted import Pasted
from casebook.formats.pasted import paste

FOLDER = Path(__file__).parent
FILES = {
    path.stem: path.read_text().splitlines()
    for name in ("pasted_sent", "pasted", "pasted_hosts")
    for path in sorted((FOLDER / name).glob("*.txt"))
}
ODD = "zq7blorp"
WORD = re.compile(r"[\w.:/-]*\w[\w.:/-]*")
STACK = re.compile(r"\s*at \S+\(.*\)\s*|\s*\"[^\"]*\" .*[nt]id=.*")
"""Frames and addresses of threads are in no row."""


def read(lines: list[str]) -> Pasted:
    return paste.read(lines)


def is_spoken_of(found: Pasted, line: int) -> bool:
    """Whether a word that nobody knows is in a row or a remark, or its line is named as a hole or an open end."""
    holes = {number for part in found.not_understood for number in range(part.span.first, part.span.last + 1)}
    settled = any(one.span.first <= line <= one.span.last for one in found.hosts if one.settle)
    return ODD in repr(found).lower() or bool({line - 1, line, line + 1} & holes) or settled


def replaced(text: str, chosen: random.Random) -> str:
    """The line with another word in the place of one, with as many letters before it."""
    word = chosen.choice(list(WORD.finditer(text)))
    return f"{text[: word.start()]}{ODD}{text[word.end() :]}"


CHANGES = {
    "another word": replaced,
    "another column": lambda text, _: f"{text}\t{ODD}",
    "another key": lambda text, _: f"{text}\t{ODD}: 17",
    "another key before": lambda text, _: f"{ODD}: 17\t{text}",
    "another member": lambda text, _: text.replace("}", f',"{ODD}":17}}', 1) if "}" in text else f"{text} {ODD}=17",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", sorted(FILES))
def test_what_no_reader_expects(name, change):
    """Wherever it stands in an output."""
    chosen, lines = random.Random(f"{name} {change}"), FILES[name]
    places = [at for at, text in enumerate(lines) if WORD.search(text) and not STACK.fullmatch(text) and len(text) < 4000]
    silent = []
    for at in chosen.sample(places, min(6, len(places))):
        changed = CHANGES[change](lines[at], chosen)
        if not is_spoken_of(read([*lines[:at], changed, *lines[at + 1 :]]), at + 1):
            silent.append((at + 1, changed))
    assert silent == []


def said(text: str) -> str:
    return "\n".join(told.remarks(read(text.splitlines())))


class TestNamed:
    """The line and the word, wherever no reader has a place for it."""

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("Topic: bills\tPartition: 4\tLeader: 7\tReplicas: 7,8\tIsr: 7\tMood: 7\n", "line 1 Mood 7"),
            ("Dynamic configs for broker 7 are:\n  num.io.threads=9 sensitive=false synonyms={} origin=17\n", "origin"),
            ("  broker 7 at kb7:9092 age=4711\nMetadata for all topics (from broker 7: kb7:9092/7):\n", "age"),
        ],
    )
    def test_a_key_that_is_new(self, text, named):
        """Also where its value is one that another key has."""
        found = read(text.splitlines())
        holes = " ".join(reason for _, reason in collected.not_understood(found))
        assert named in said(text) + holes

    def test_all_lines_of_a_run(self):
        text = "blorp of 17 zips\nblorp of 18 zips\nblorp of 19 zips\n"
        (hole,) = collected.not_understood(read(text.splitlines()))
        assert "lines 1-3 (" in hole[1]

    def test_many_lines(self):
        """Beyond those that are shown, each by its number."""
        rows = [f"Topic: bills\tPartition: {n}\tLeader: 7\tReplicas: 7\tIsr: 7\tMood: {n + 900}" for n in range(60)]
        found = read(rows)
        holes = {part.span.first for part in found.not_understood}
        shown = said("\n".join(rows))
        assert holes or "parts of lines 41, 42" in shown


class TestHeld:
    """What tools state beside the values that checks use."""

    def test_type_of_a_group(self):
        assert "group etl: type Classic" in said("GROUP TYPE STATE\netl Classic Empty\n")

    def test_versions_are_of_the_broker_above(self):
        text = "kb7:9092 (id: 7 rack: r1) -> (\n)\nkb8:9092 (id: 8 rack: r2) -> (\n\tEnvelope(58): UNSUPPORTED,\n)\n"
        assert "broker 8 does not support Envelope" in said(text)
        assert "broker 7 does not" not in said(text)

    def test_sources_of_a_setting(self):
        text = "All configs for topic bills are:\n  retention.bytes=-1 sensitive=false synonyms={DEFAULT_CONFIG:log.retention.bytes=-1}\n"
        assert "retention.bytes=-1 (DEFAULT_CONFIG:log.retention.bytes=-1)" in said(text)

    def test_a_name_that_an_editor_has_broken(self):
        """It is one setting; its begin is no part of the value before it."""
        text = "Configs for brokers '7' are leader.replication.throttled.rate=77,follower. replication.throttled.rate=88"
        (config,) = read([text]).configs
        assert config.settings == {"leader.replication.throttled.rate": "77", "follower.replication.throttled.rate": "88"}

    def test_when_sessions_expire(self):
        text = (
            "SessionTracker dump:\nSession Sets (2):\n0 expire at Mon Mar 04 07:08:09 UTC 2024:\n"
            "1 expire at Mon Mar 04 07:08:19 UTC 2024:\n\t0x1000aaaa0001\nephemeral nodes dump:\nSessions with Ephemerals (0):\n"
        )
        assert (
            "session sets: 2: 0 expire at Mon Mar 04 07:08:09 UTC 2024, 1 expire at Mon Mar 04 07:08:19 UTC 2024 (0x1000aaaa0001)"
            in said(text)
        )

    def test_a_remark_behind_a_setting(self):
        assert "# was 9" in said("broker.id=7\nnum.io.threads=17 # was 9\nlog.dirs=/a\n")

    def test_locks_that_a_thread_holds(self):
        """As a debugger prints them, without addresses."""
        text = (
            '"kafka-request-handler-3" #17 prio=5\n   java.lang.Thread.State: BLOCKED\n'
            "\tat kafka.Odd.call(Odd.scala:7)\n\t- waiting to lock kafka.Odd@1a2b\n\t- locked on kafka.Even@3c4d\n"
        )
        rows = " ".join(row.text for row in read(text.splitlines()).hosts)
        assert "waiting for lock kafka.Odd@1a2b, holding kafka.Even@3c4d" in rows


class TestWhose:
    """What a line says itself is before what stands above it."""

    def test_a_server_that_refuses(self):
        text = "zk7: imok\nzk8:\nzk9: nc: connect to zk9 port 2181 (tcp) failed: Connection refused\n"
        assert "ZooKeeper server zk9 did not accept" in said(text)
        assert "server zk8" not in said(text)

    def test_a_total_is_of_the_listing_below(self):
        row = "-rw-r--r-- 1 ann ann 17 Mar  2 10:02 meta.properties\n"
        rows = [one.text for one in read(f"total 8\n{row}\ntotal 16\n{row}".splitlines()).hosts if "owners" in one.text]
        assert ["total 8" in rows[0], "total 16" in rows[1]] == [True, True]

    def test_a_topic_whose_name_begins_like_the_sentence(self):
        (move,) = read(["Successfully started partition reassignment for partition-bills-3"]).moves
        assert (move.topic, move.partition) == ("partition-bills", 3)

    def test_sessions_of_clients_one_of_which_is_cut(self):
        rows = (
            "/10.9.8.7:41[1](queued=0,recved=4,sent=4,sid=0x1a,lop=PING)",
            "/10.9.8.8:42[1](queued=0,recved=5,sent=5,sid=0x1b,lo",
        )
        assert "of 2 sessions" in said("\n".join(rows))

    def test_offsets_with_commas(self):
        lines = ["GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG", "etl bills 4 1,000,007 1,000,107 100"]
        (row,) = read(lines).offsets
        assert (row.offset, row.end) == (1000007, 1000107)
