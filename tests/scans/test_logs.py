"""Logs to events, through the reader of ``lib/jvm``: every wording, every layout, what is broken, and parts of files."""

import gzip
import json
import random

import pytest

from casebook.case.case import Case
from casebook.case.writer import CaseWriter
from casebook.collect.files import decoding
from casebook.errors import UsageError
from casebook.facts.cluster import epoch_ms
from casebook.formats.broker.log_patterns import patterns
from casebook.questions.timeline.analysis.clocks.zones import Zones
from casebook.questions.timeline.scans import logs
from casebook.spark.session import session
from tests.log_layouts import AT, LAYOUTS, logger
from tests.log_reader import read, read_bytes

HEAD = "[2026-11-20 10:00:00,123] INFO "
LOADING = "Loading offsets and group metadata from [__consumer_offsets,22] (kafka.coordinator.GroupMetadataManager)"
EXPIRED = "Session expired."


def told(event):
    """All fields of an event, partition and group among them."""
    return dict(event.fields) | {
        name: value
        for name, value in (("topic", event.topic), ("partition", event.partition), ("group", event.group))
        if value is not None
    }


class TestPatterns:
    def test_every_sample_is_what_it_is_meant_to_be(self):
        """Kind and fields, found among all others; one after the other in one log."""
        inside = [p for p in patterns() if p.scope == "inside"]
        heads = [p for p in patterns() if p.scope in ("head", "full", "app")]
        raw = [p for p in patterns() if p.scope == "line" and p.kind != "quiet"]
        assert [] == _wrong(heads, [_with_logger(p) for p in heads])
        assert [] == _wrong(inside, [f"{HEAD.replace('INFO', 'ERROR')}An exception ({logger(p)})\n{p.sample}" for p in inside])
        assert [(p.kind, p.expects) for p in raw] == [(event.kind, told(event)) for p in raw for event in read(p.sample)[0]]


def _with_logger(pattern):
    """Its sample, with a logger that prints it at the end of the first line."""
    first, *more = f"{HEAD}{pattern.sample}".split("\n", 1)
    printing = logger(pattern) if pattern.loggers or pattern.scope == "app" else "kafka.server.KafkaServer"
    return "\n".join([f"{first} ({printing})", *more])


def _wrong(rows, entries):
    """Samples that are read as something else."""
    content = "".join(entry + "\n" for entry in entries)
    begins, line = {}, 1
    for row, entry in zip(rows, entries, strict=True):
        begins[line] = row
        line += entry.count("\n") + 1
    events, _, file = read_bytes(content.encode())
    assert (file.lines, file.entries) == (line - 1, len(rows))
    found = {}
    for event in events:
        found.setdefault(max(begin for begin in begins if begin <= event.line), []).append(event)
    return [
        (row.id, [(event.kind, told(event)) for event in found.get(begin, [])])
        for begin, row in begins.items()
        if row.kind != "quiet"
        and not any(event.kind == row.kind and row.expects.items() <= told(event).items() for event in found.get(begin, []))
    ]


class TestLayouts:
    @pytest.fixture(scope="class")
    @staticmethod
    def found():
        """One line in each layout."""
        events, untyped, file = read(*(layout.format("[ZooKeeperClient Kafka server] " + EXPIRED) for layout in LAYOUTS.values()))
        assert (untyped, file.entries) == ([], len(LAYOUTS))
        return {name: [event for event in events if event.line == line] for line, name in enumerate(LAYOUTS, start=1)}

    @pytest.mark.parametrize(
        ("header", "time", "logger"),
        [
            ("2026-11-20 10:00:00.123 WARN  (main-SendThread(zk-1.example:2181)) [   ] o.a.z.ClientCnxn ", 1_795_168_800_123, "o.a.z.ClientCnxn"),
            ("9767 [main-SendThread(zk-1:2181)] WARN  org.apache.zookeeper.ClientCnxn - ", None, "org.apache.zookeeper.ClientCnxn"),
        ],
    )  # fmt: skip
    def test_of_other_programs(self, header, time, logger):
        """Solr's layout, and log4j's TTCC, which counts from the start of its program."""
        ((event, *_), untyped, _) = read(
            f"{header}Client session timed out, have not heard from server in 26680ms for sessionid 0x1b"
        )
        assert (event.kind, event.time, event.logger, untyped) == ("zk_silent", time, logger, [])

    @pytest.mark.parametrize("name", LAYOUTS)
    def test_says_the_same_in_each(self, found, name):
        """Kind, time, level and logger."""
        (event,) = found[name]
        assert (event.kind, event.time, event.level) == ("zk_session_expired", AT, "INFO")
        assert event.logger.endswith("kafka.zookeeper.ZooKeeperClient")

    def test_no_line_takes_the_time_of_another(self):
        """What looks like an entry of its own, in no layout that is known, and prose: neither is glued to the entry before."""
        events, _, file = read(
            HEAD + LOADING,
            "10h03 <INFO> Session expired. (kafka.x.Y)",
            "And then broker 3 said: Truncated to offset 7.",
            "\tat a.b.C(D.java:1)",
        )
        assert [(event.line, event.time) for event in events][:1] == [(1, AT)]
        assert all(event.time is None for event in events[1:])
        assert (file.entries, file.first, file.last) == (1 + (file.entries - 1), AT, AT)

    def test_a_message_without_time_is_none_of_the_entry_before(self):
        """Of a client whose lines have no date, behind an entry whose logger is not named: only a stack trace belongs to it."""
        events, _, _ = read(
            "2026-11-20 10:00:00,123 INFO Session expired.",
            "    at a.b.C(D.java:1)",
            "Auto offset commit failed: [Error 25] UnknownMemberIdError: billing",
        )
        assert [(event.kind, event.time, event.line) for event in events] == [
            ("zk_session_expired", AT, 1),
            ("commit_failed", None, 3),
        ]

    def test_a_message_alone_behind_its_ident(self):
        """As people quote it: by its whole wording, with what its ident tells, and none of an entry before that names no logger."""
        events, _, _ = read(
            "[kafka-log-cleaner-thread-0]: Unexpected exception thrown when cleaning log Log(dir=/d/t-1). "
            "Marking its partition (t-1) as uncleanable",
            "2026-11-20 10:00:00,123 INFO Session expired.",
            "[UnifiedLog partition=orders-4, dir=/d] Truncating to offset 7",
        )
        assert [(event.kind, event.time) for event in events] == [
            ("uncleanable", None),
            ("zk_session_expired", AT),
            ("truncated", None),
        ]
        assert (events[2].topic, events[2].partition) == ("orders", 4)

    def test_a_time_without_year_is_near_its_neighbours(self):
        """Alone it is no time."""
        syslog = "Nov 20 10:00:01 host1 kafka[712]: INFO Session expired. (kafka.zookeeper.ZooKeeperClient)"
        (alone,) = read(syslog)[0]
        assert alone.time is None
        events = read(HEAD + LOADING, syslog)[0]
        assert events[-1].time == AT - 123 + 1000

    def test_how_a_file_is_laid_out_is_told(self):
        """As log4j writes it, with how many entries are laid out so."""
        lines = [
            LAYOUTS[name].format(EXPIRED)
            for name in ("Kafka", "Kafka", "Strimzi", "CRI", "docker-compose", "JSON, ECS", "brackets")
        ]
        assert dict(read(*lines)[2].layouts) == {
            "[%d] %p %m (%c)": 2,
            "%d %p [%t] %c:%L - %m": 1,
            "%d … [%d] %p %m (%c)": 1,
            "… [%d] %p %m (%c)": 1,
            "JSON: @timestamp=%d log.level=%p log.logger=%c message=%m": 1,
            "[%d] [%p] [%c] %m": 1,
        }

    @pytest.mark.parametrize(("told", "month"), [("13/04/2026", 2), ("04/13/2026", 3), ("04/04/2026", None), ("", None)])
    def test_which_number_is_the_day_other_lines_tell(self, told, month):
        """03/02 is of February where another day of the file is above twelve and first, of March where it is second."""
        lines = [f"{day} 10:00:00,123 INFO {LOADING} (kafka.x.Y)" for day in ("03/02/2026", told) if day]
        at = read(*lines)[0][0].time
        assert at == (month and epoch_ms(f"2026-{month:02}-{5 - month:02}T10:00:00.123Z"))

    @pytest.mark.parametrize(
        "when",
        [
            "03/04/2026 10:00:00",
            "26/11/20 10:00:00",
            "26-11-20 10:00:00",
            "10:00:00,123",
            "2026-11-20 10:00:00 CST",
            "2026-13-40 10:00:00",
        ],
    )
    def test_what_a_time_does_not_tell_is_not_made_up(self, when):
        """A day and a month that may be each other's, no day, a zone of several, and no such day."""
        ((event),) = read(f"{when} INFO {EXPIRED} (kafka.x.Y)")[0]
        assert (event.kind, event.time) == ("zk_session_expired", None)

    def test_a_name_is_no_bold(self):
        """What a chat makes of two stars it does not make of what topics begin with."""
        topics = "HashSet(__consumer_offsets-22,__consumer_offsets-30)"
        head = "kafka_1 | [2026-11-20 10:00:00,123] INFO [ReplicaFetcherManager on broker 1] Removed fetcher for partitions "
        (event,) = read(f"{head}{topics} (kafka.server.ReplicaFetcherManager)")[0]
        assert event.fields["partitions"] == "__consumer_offsets-22,__consumer_offsets-30"

    def test_a_message_that_was_folded(self):
        """It is read as it was before it was sent."""
        (event,) = read(
            "[2026-11-20 10:00:00,123] INFO Loading offsets and group metadata from",
            "[__consumer_offsets,22] (kafka.coordinator.GroupMetadataManager)",
        )[0]
        assert (event.kind, event.partition) == ("loading", 22)

    def test_without_date(self):
        """Pasted lines, with level and logger or without: no time is made up."""
        events, _, file = read(f"kafka says: {EXPIRED} Then nothing.", f"INFO {EXPIRED} (kafka.zookeeper.ZooKeeperClient)")
        assert [("zk_session_expired", None), ("zk_session_expired", None)] == [(e.kind, e.time) for e in events]
        assert (file.first, file.entries, file.typed) == (None, 1, 2)

    def test_a_clock_without_a_date(self):
        """Begins an entry of its own, whose time is not known."""
        events, _, file = read(
            HEAD + LOADING, f"11:03:43 WARN {EXPIRED} (kafka.x.Y)", f"11:03:43.125 [main] INFO a.b.C - {EXPIRED}"
        )
        assert [("loading", AT, 1), ("zk_session_expired", None, 2), ("zk_session_expired", None, 3)] == [
            (e.kind, e.time, e.line) for e in events
        ]
        assert file.entries == 3

    def test_librdkafka_and_spark(self):
        events, _, _ = read(
            "%5|1795168800.123|REQTMOUT|rdkafka#producer-1| [thrd:x]: Commit failed: Broker: Not coordinator",
            "26/11/20 10:00:00 INFO kafka.Client: Commit failed: Broker: Not coordinator",
            "26/11/21 10:00:00 INFO kafka.Client: Started",
        )
        assert [("not_coordinator", AT, "INFO"), ("not_coordinator", AT - 123, "INFO")] == [
            (e.kind, e.time, e.level) for e in events
        ]

    @pytest.mark.parametrize(
        ("other", "told"),
        [
            ("26/11/21 09:00:00 INFO kafka.Client: Started", True),
            ("26/11/20 09:00:00 INFO kafka.Client: Since 2026-11-20", True),
            ("26/11/20 09:00:00 INFO kafka.Client: Since 2026-11-19", False),
            ("27/11/20 09:00:00 INFO kafka.Client: Started", False),
        ],
    )
    def test_a_year_of_two_digits_is_where_other_lines_tell(self, other, told):
        """Spark's year is first: its last number changes with the day, or the same day stands there whole."""
        (event,) = read(other, "26/11/20 10:00:00 INFO kafka.Client: Commit failed: Broker: Not coordinator")[0]
        assert event.time == (AT - 123 if told else None)

    def test_gc(self):
        """Both layouts of a JVM's log; a decimal comma."""
        events, _, _ = read(
            "[2026-11-20T10:00:00.123+0000][gc          ] GC(8) Pause Young (Normal) (G1 Evacuation Pause) 640M->20M(1024M) 5.3ms",
            "2026-11-20T10:00:00.123+0000: 62,427: [Full GC (Allocation Failure)  8071M->4285M(8192M), 10,3987109 secs]",
            "2026-11-20T10:00:00.123+0000: 62,427: Total time for which application threads were stopped: 0,0123456 seconds, "
            "Stopping threads took: 0,0000456 seconds",
        )
        assert [("gc_pause", AT)] * 3 == [(e.kind, e.time) for e in events]

    def test_a_zone_that_the_line_does_not_tell(self):
        """The one given; the line's own goes before it."""
        zoned = "[2026-11-20T10:00:00.123Z] INFO " + LOADING
        assert [AT - 8 * 3_600_000, AT] == [event.time for event in read(HEAD + LOADING, zoned, zone="Asia/Shanghai")[0]]

    def test_an_hour_that_is_doubled_counts_as_its_first(self):
        """The end of summer time in Berlin."""
        (event,), _, _ = read("[2026-10-25 02:30:00,000] INFO " + LOADING, zone="Europe/Berlin")
        assert event.time == 1_792_888_200_000

    def test_dates_that_are_none(self):
        """The line is an entry all the same, and its time is not known."""
        events, _, file = read(HEAD + LOADING, "[2026-13-40 10:00:00,123] INFO " + LOADING)
        assert ([event.time for event in events], file.entries, file.last) == ([AT, None], 2, AT)


class TestZones:
    def test_of_all_and_of_single_brokers(self):
        zones = Zones.parse("Europe/Berlin, 2=Asia/Shanghai")
        assert [zones.of(broker) for broker in (1, 2, None)] == ["Europe/Berlin", "Asia/Shanghai", "Europe/Berlin"]
        assert Zones.parse("3=Asia/Tokyo").of(1) == "UTC"

    @pytest.mark.parametrize("text", ["localtime", "EST", "Berlin", "2=", "x=UTC", "UTC, Europe/Berlin", "../etc/passwd"])
    def test_what_is_no_zone(self, text):
        """Also what only this machine knows."""
        with pytest.raises(UsageError, match=r"is unknown|two zones"):
            Zones.parse(text)


class TestEntries:
    def test_a_dead_cleaner_names_its_killer(self):
        """The exception stands below the line; its numbers and the segment are read."""
        (event,), _, _ = read(
            HEAD.replace("INFO", "ERROR") + "[kafka-log-cleaner-thread-0], Error due to  (kafka.log.LogCleaner)",
            "java.lang.IllegalArgumentException: requirement failed: 41300 messages in segment orders-0/00000000000000000000.log "
            "but offset map can fit only 41249. You can increase log.cleaner.dedupe.buffer.size or decrease log.cleaner.threads",
            "\tat scala.Predef$.require(Predef.scala:219)",
        )
        assert (event.kind, event.topic, event.partition, event.logger) == ("cleaner_died", "orders", 0, "kafka.log.LogCleaner")
        assert [event.number(name) for name in ("thread", "messages", "segment", "slots")] == [0, 41300, 0, 41249]
        assert event.summary.endswith("or decrease log.cleaner.threads")

    @pytest.mark.parametrize(
        ("message", "kind", "name"),
        [
            (
                "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error in response for fetch request (type=FetchRequest)",
                "fetch_failed",
                "error",
            ),
            ("Error while reading checkpoint file /data/a/cleaner-offset-checkpoint", "disk_error", "what"),
            ("Error while creating ephemeral at /brokers/ids/1, node already exists", "quiet", ""),
        ],
    )
    def test_the_exception_below_is_the_cause(self, message, kind, name):
        """Where the wording leaves it to the exception; a frame is none."""
        thrown = "java.io.IOException: Connection to 2 was disconnected before the response was read"
        head = HEAD.replace("INFO", "ERROR") + message
        events, _, _ = read(head, thrown, "\tat kafka.utils.Utils.read(Utils.scala:9)")
        of_kind = [event for event in events if event.kind == kind]
        assert [event.fields[name] for event in of_kind] == ([thrown] if name else [])
        alone, _, _ = read(head, "\tat kafka.utils.Utils.read(Utils.scala:9)")
        assert not any(event.fields.get(name) for event in alone if name)

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            ("/data/a/orders.eu-3/00000000000000000000.index", ("orders.eu", 3)),
            ("C:\\kafka\\logs\\a-b-12\\00000000000000000417.timeindex", ("a-b", 12)),
            ("/data/a/orders-3.3ad1-delete/00000000000000000000.index", (None, None)),
            ("/data/a-3/meta.properties", (None, None)),
        ],
    )
    def test_a_file_of_a_segment_names_its_partition(self, path, place):
        reason = f"requirement failed: Corrupt index found, index file ({path}) has non-zero size but the last offset is 0"
        (event,), _, _ = read(
            HEAD.replace("INFO", "WARN") + f"Found a corrupted index file due to {reason}}}. deleting it (kafka.log.Log)"
        )
        assert (event.kind, event.topic, event.partition) == ("corrupt_index", *place)

    def test_a_message_of_many_lines_has_its_logger_at_its_end(self):
        (event,), _, _ = (
            read(
                HEAD + "[kafka-log-cleaner-thread-0]: ",
                "\tLog cleaner thread 0 cleaned log a-b-36 (dirty section = [7, 9])",
                "\t1,234.5 MB of log processed in 4.5 seconds (0.5 MB/sec).",
                " (kafka.log.LogCleaner)",
                HEAD + LOADING,
            )[0][:1],
            None,
            None,
        )
        assert (event.kind, event.topic, event.partition, event.logger) == ("cleaned", "a-b", 36, "kafka.log.LogCleaner")

    def test_an_exception_below_is_an_event_of_its_own(self):
        """With the line where it stands, and the time of its entry."""
        events, _, _ = read(
            HEAD.replace("INFO", "ERROR") + "Processor got uncaught exception. (kafka.network.Processor)",
            "java.lang.ArrayIndexOutOfBoundsException: 18",
            "\tat org.apache.kafka.common.protocol.ApiKeys.forId(ApiKeys.java:68)",
        )
        assert [("processor_failed", 1, AT), ("unknown_api_key", 2, AT)] == [(e.kind, e.line, e.time) for e in events]
        assert events[1].fields["api_key"] == "18"

    def test_idents_tell(self):
        """Who speaks, and about which partition, in the spellings of all releases."""
        events, _, _ = read(
            HEAD
            + "Partition [orders,4] on broker 1: Shrinking ISR for partition [orders,4] from 1,2 to 1 (kafka.cluster.Partition)",
            HEAD + "[Partition orders-4 broker=1] Shrinking ISR from 1,2 to 1 (kafka.cluster.Partition)",
            HEAD + "[Log partition=orders-4, dir=/d] Truncating to offset 7 (kafka.log.Log)",
            HEAD + "[Controller id=3 epoch=9] Changed partition orders-4 from OnlinePartition to OnlinePartition with state "
            "LeaderAndIsr(leader=2, leaderEpoch=6, isr=List(2), zkVersion=11) (state.change.logger)",
            HEAD + "Controller 2 epoch 9 changed partition [orders,4] from NewPartition to OnlinePartition with leader 1 "
            "(state.change.logger)",
        )
        assert ["isr_shrunk", "isr_shrunk", "truncated", "partition_changed", "partition_changed"] == [e.kind for e in events]
        assert {("orders", 4)} == {(e.topic, e.partition) for e in events}
        assert ["1", "1", None, "3", "2"] == [e.fields.get("speaker") for e in events]

    @pytest.mark.parametrize(
        "ident",
        [
            "[Topic Deletion Manager 4], ", "[Partition state machine on Controller 4]: ", "[ProducerId Manager 4]: ",
            "[Transaction State Manager 4]: ", "[Transaction Marker Channel Manager 4]: ", "[TxnMarkerSenderThread-4]: ",
            "[Controller-4-to-broker-2-send-thread], ", "[KafkaApi-4] ", "[GroupCoordinator 4]: ", "[Socket Server on Broker 4], ",
        ],
    )  # fmt: skip
    def test_whose_file_it_is(self, ident):
        """By the idents in which classes of 0.8 to 2.8 name their broker."""
        _, _, file = read(HEAD + ident + "Starting (a.B)")
        assert file.speakers == ((4, 1),)

    def test_what_nobody_knows_is_counted_by_its_shape(self):
        """Logger, level, and the message without its numbers."""
        events, untyped, file = read(*(f"[2026-11-20 10:00:00,12{n}] WARN Nobody knows {n}7 of x-{n} (a.B)" for n in range(5)))
        assert ([], 5, 0) == (events, file.entries, file.typed)
        assert [("a.B", "WARN", "Nobody knows # of #", 5, "server.log:1")] == [shape[:5] for shape in untyped]


class TestBroken:
    def test_a_line_of_20_mb(self):
        """Its beginning is kept, and the lines after it are found at their numbers."""
        events, _, file = read(HEAD + LOADING, HEAD + "x" * (20 << 20), HEAD + LOADING)
        assert ([1, 3], 3) == ([event.line for event in events], file.lines)

    def test_binary(self):
        """What is text in it is read, and the file is named as what it is."""
        events, _, file = read(HEAD + LOADING, bytes(range(256)) * 40, HEAD + LOADING)
        assert [1, events[1].line] == [event.line for event in events]
        assert "no text" in file.damage

    def test_gz(self):
        """Whole, cut, and no gz at all: what could be read is there, and the damage is named."""
        lines = "".join(f"[2026-11-20 10:00:{n % 60:02},123] INFO {LOADING}\n" for n in range(20_000)).encode()
        packed = gzip.compress(lines)
        events, _, file = read_bytes(packed, name="server.log.gz")
        assert (len(events), file.damage) == (20_000, "")
        events, _, file = read_bytes(packed[: len(packed) // 2], name="server.log.gz")
        assert 1000 < len(events) < 20_000
        assert "ends too early" in file.damage
        events, _, file = read_bytes(b"no gz at all", name="server.log.gz")
        assert (events, "cannot be read" in file.damage) == ([], True)

    def test_an_intricate_line(self):
        """Nested as no line is: the file says so, and the other lines are read."""
        deep = "2026-11-20 10:00:00.123  INFO 1 --- " + "[a] " * 16_000
        events, _, _ = read(HEAD + LOADING, deep, HEAD + LOADING)
        assert [event.line for event in events] == [1, 3]

    def test_a_long_object_that_is_cut(self):
        """However long its texts, and however many of their characters are escaped."""
        begin = '{"@timestamp":"2026-11-20T10:00:00.123Z","level":"INFO","logger":"kafka.x.Y","message":"Session expired.","a":"'
        for filling in ("x" * 60_000, "\\\\n" * 1000):
            events, _, file = read(begin + filling)
            assert ([(one.kind, one.time) for one in events], file.damage) == ([("zk_session_expired", AT)], "")

    def test_very_many_files(self, tmp_path):
        """More names than a pipe takes."""
        paths = [tmp_path / f"{'x' * 120}-{number}\n.log" for number in range(1200)]
        for path in paths:
            path.write_text(HEAD + LOADING + "\n" + HEAD + "What is this? (a.B)\n")
        assert len([row for row in logs.typed((path, "UTC") for path in paths) if row["row"] == "event"]) == 1200

    def test_empty(self):
        """Nobody has read anything of it."""
        assert read()[2][2:6] == (None, None, 0, 0)
        assert "empty" in read()[2].unread

    def test_any_bytes(self, tmp_path):
        """Never an error; every line is counted. Carriage returns end lines where there is no line feed."""
        drawn = random.Random(7)
        words = [
            HEAD.encode(),
            LOADING.encode(),
            b"\n",
            b"\r",
            b"{",
            b"[",
            b"\x00",
            b"\xff",
            b" (a.B)",
            b"2026-11-20",
            b"%7|",
            b"\tat ",
        ]
        contents = [b"".join(drawn.choices(words, k=drawn.randrange(60))) for _ in range(400)]
        contents = [content for content in contents if decoding.encoding_of(content) is None]
        paths = [tmp_path / str(number) for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        files = [row for row in logs.typed((path, "UTC") for path in paths) if row["row"] == "file"]
        ends = [b"\r" if b"\r" in content[:-1] and b"\n" not in content else b"\n" for content in contents]
        assert [row["lines"] for row in files] == [
            len(content.split(end)) - content.endswith(end) - (not content) for content, end in zip(contents, ends, strict=True)
        ]


class TestParts:
    """Spark reads parts of a file in different tasks: together they say what the whole says."""

    @pytest.fixture(scope="class")
    @staticmethod
    def log(tmp_path_factory):
        """Entries of one to many lines, some longer than a part."""
        path = tmp_path_factory.mktemp("parts") / "server.log"
        entries = []
        for n in range(800):
            more = "".join(f"\n\tat x.Y({n})" for _ in range(n % 7)) if n % 5 == 0 else ""
            entries.append(
                f"[2026-11-20 10:{n // 60 % 60:02}:{n % 60:02},123] INFO {LOADING if n % 3 else 'What is this? (a.B)'}{more}\n"
            )
        path.write_text("".join(entries))
        return path

    @pytest.mark.parametrize("size", [137, 1000, 65_536])
    def test_parts_say_what_the_whole_says(self, log, size):
        """Events with their lines, counts, and coverage."""
        rows = [row.asDict() for row in logs.logs(session(), log, splitBytes=size).collect()]
        before = {}
        for part in sorted((row for row in rows if row["row"] == "file"), key=lambda row: row["start"]):
            before[part["start"]] = sum(p["lines"] for p in rows if p["row"] == "file" and p["start"] < part["start"])
        lines = sorted(before[row["start"]] + row["line"] for row in rows if row["row"] == "event")
        events, untyped, file = read_bytes(log.read_bytes())
        assert lines == [event.line for event in events]
        assert sum(row["lines"] for row in rows if row["row"] == "file") == file.lines
        assert sum(row["entries"] for row in rows if row["row"] == "file") == file.entries
        assert sum(row["count"] for row in rows if row["row"] == "untyped") == sum(shape.count for shape in untyped)


class TestCase:
    @pytest.fixture
    def case(self, tmp_path):
        """Two brokers in two zones, one printing what it logs; a ZooKeeper server and a client."""
        with CaseWriter.create(tmp_path / "case", command="test") as writer:
            for name in ("brokers/1/logs/server.log", "brokers/1/logs/kafkaServer.out", "brokers/2/logs/server.log"):
                writer.file(name, [f"{HEAD}{LOADING}\n".encode(), b"[2026-11-20 10:00:09,000] WARN What is this? (a.B)\n"])
            writer.file("zookeeper/logs/zookeeper/zookeeper.log", [LAYOUTS["ZooKeeper"].format("Nobody knows").encode() + b"\n"])
            writer.file("clients/app/logs/app.log", [b"no date: This is not the correct coordinator.\n"])
        return Case.open(tmp_path / "case")

    @pytest.mark.parametrize("small", [logs.SMALL, 0], ids=["java", "spark"])
    def test_says_what_its_logs_say(self, case, small):
        """Whose, when, in which zone; what is told twice counts once. With Spark and without."""
        found = logs.read(case, Zones(None, {2: "Asia/Shanghai"}), small=small)
        assert [
            ("loading", 1, "broker", AT, "brokers/1/logs/server.log:1"),
            ("loading", 2, "broker", AT - 8 * 3_600_000, "brokers/2/logs/server.log:1"),
            ("not_coordinator", None, "client", None, "clients/app/logs/app.log:1"),
        ] == sorted((e.kind, e.broker, e.source, e.time, e.proof) for e in found.events())[:3] or found.events()
        assert found.counts() == {"loading": 3, "not_coordinator": 1}
        assert [(f.file, f.lines) for f in found.files][-1] == ("zookeeper/logs/zookeeper/zookeeper.log", 1)
        assert [3, 1] == [shape.count for shape in found.untyped]
        assert len(found.events(kinds=["loading"])) == 2
        assert found.rarest(2) == {"not_coordinator"}
        assert found.rarest(9) == {"loading", "not_coordinator"}

    def test_is_read_once(self, case, monkeypatch):
        """The second time nothing is started."""
        first = logs.read(case).events()
        monkeypatch.setattr(logs, "typed", None)
        assert logs.read(case).events() == first

    def test_fields_are_whole_in_parquet(self, case):
        """As JSON texts."""
        folder = next((case.folder / "derived" / "logs").glob("*"), None)
        assert folder is None
        found = logs.read(case)
        assert all(isinstance(json.loads(json.dumps(dict(event.fields))), dict) for event in found.events())


class TestLoggers:
    """Who prints a message is part of what it means."""

    def kinds(self, logger, *below, level="ERROR", message="Something went wrong"):
        events, _, _ = read(HEAD.replace("INFO", level) + f"{message} ({logger})", *below)
        return [event.kind for event in events]

    @pytest.mark.parametrize(
        ("logger", "key", "known"),
        [
            ("kafka.network.Processor", 18, True),
            ("kafka.network.Processor", 1, False),  # a key that 0.9 knows is not out of its bounds
            ("org.apache.zookeeper.ClientCnxn", 18, False),
            ("org.apache.zookeeper.server.NIOServerCnxn", 18, False),
        ],
    )
    def test_an_index_is_an_api_key_in_a_network_thread_alone(self, logger, key, known):
        found = self.kinds(logger, f"java.lang.ArrayIndexOutOfBoundsException: {key}", "\tat a.B.c(B.java:1)")
        assert ("unknown_api_key" in found) is known

    @pytest.mark.parametrize(
        ("logger", "known"), [("kafka.log.LogManager", True), ("org.apache.zookeeper.server.SyncThread", False)]
    )
    def test_a_full_disk_is_that_of_who_says_so(self, logger, known):
        found = self.kinds(logger, "java.io.IOException: No space left on device", "\tat a.B.c(B.java:1)")
        assert ("disk_error" in found) is known

    def test_what_is_swallowed_at_a_stop_is_no_disk(self):
        """``CoreUtils.swallow`` goes on; a mapped file that cannot be cut as it is closed harms nobody."""
        below = ("java.io.IOException: Invalid argument", "\tat java.io.RandomAccessFile.setLength(Native Method)")
        assert "disk_error" not in self.kinds("kafka.utils.CoreUtils$", *below, level="WARN", message="Invalid argument")

    @pytest.mark.parametrize(
        ("message", "kind"), [("shutting down", "broker_stopping"), ("shut down completed", "broker_stopped")]
    )
    def test_a_stop_without_ident(self, message, kind):
        """A layout may leave the ident away; other threads shut down, too."""
        assert self.kinds("kafka.server.KafkaServer", level="INFO", message=message) == [kind]
        assert self.kinds("kafka.coordinator.group.GroupCoordinator", level="INFO", message=message) == []

    def test_a_protocol_that_is_not_kafkas(self):
        """The first four bytes stand where a size should be."""
        below = (
            "org.apache.kafka.common.network.InvalidReceiveException: Invalid receive (size = 1347375956 larger than 104857600)",
        )
        head = "[SocketServer brokerId=0] Unexpected error from /10.0.0.7; closing connection"
        assert self.kinds("org.apache.kafka.common.network.Selector", *below, level="WARN", message=head) == [
            "socket_error",
            "bad_request",
        ]
