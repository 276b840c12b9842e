"""Lines of a broker's logs to events."""

from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from casebook.formats import log_lines
from casebook.formats.log_patterns import PATTERNS
from casebook.storage import EventKind

HEAD = "[2026-11-20 10:00:00,123] INFO "
LOADING = "Loading offsets and group metadata from [__consumer_offsets,22] (kafka.coordinator.GroupMetadataManager)"
AT = 1_795_168_800_123


def read(*lines, zone=UTC):
    """The events of a log of these lines, without the one that tells how far it reaches."""
    found = list(log_lines.events(1, "brokers/1/logs/server.log", lines, zone))
    assert found[-1].kind is EventKind.LOG_READ
    return found[:-1]


class TestPatterns:
    @pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: f"{p.kind}-{p.since}")
    def test_each_reads_its_sample_from_a_log(self, pattern):
        """Every wording is found among the others, with its kind."""
        first, *more = (HEAD + pattern.sample).splitlines()
        logger = "" if more else " (kafka.server.KafkaServer)"
        kinds = [event.kind for event in read(first + logger, *more)]
        assert ([] if pattern.kind is None else [pattern.kind]) == kinds

    @pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: f"{p.kind}-{p.since}")
    def test_each_says_where_it_was_read(self, pattern):
        """A source is a path at a tag."""
        assert "@" in pattern.source


class TestEvents:
    def test_a_load_names_partition_and_time_and_line(self):
        """Both spellings of a partition; proof is path and line."""
        (event,) = read("noise", HEAD + LOADING)
        assert (event.topic, event.partition, event.time) == ("__consumer_offsets", 22, AT)
        assert event.proof == "brokers/1/logs/server.log:2"

    def test_time_spent_waiting_is_told_apart(self):
        """From 2.6 the time of a load includes its wait for the thread."""
        (event,) = read(
            HEAD
            + "[GroupMetadataManager brokerId=1] Finished loading offsets and group metadata from __consumer_offsets-16 in 74 "
            "milliseconds for epoch 32, of which 14 milliseconds was spent in the scheduler. (kafka.x.GroupMetadataManager)"
        )
        assert (event.milliseconds, event.numbers["scheduler"]) == (74, 14)

    def test_a_dead_cleaner_names_its_killer(self):
        """The exception stands below the line; its numbers and the segment are read."""
        (event,) = read(
            HEAD.replace("INFO", "ERROR") + "[kafka-log-cleaner-thread-0], Error due to  (kafka.log.LogCleaner)",
            "java.lang.IllegalArgumentException: requirement failed: 41300 messages in segment orders-0/00000000000000000000.log "
            "but offset map can fit only 41249. You can increase log.cleaner.dedupe.buffer.size or decrease log.cleaner.threads",
            "\tat scala.Predef$.require(Predef.scala:219)",
        )
        assert event.kind is EventKind.CLEANER_DIED
        assert (event.topic, event.partition) == ("orders", 0)
        assert event.numbers == {"thread": 0, "messages": 41300, "segment": 0, "slots": 41249}

    @pytest.mark.parametrize(("size", "count"), [("1,234.5", "26,289"), ("1.234,5", "26.289")])
    def test_figures_of_a_clean_are_read_in_any_locale(self, size, count):
        """The broker prints them in its own locale; the same start twice means an unknown end (0.10.2 to 2.4)."""
        (event,) = read(
            HEAD + "[kafka-log-cleaner-thread-0]: ",
            "\tLog cleaner thread 0 cleaned log a-b-36 (dirty section = [7, 7])",
            f"\t{size} MB of log processed in 4.5 seconds (0.5 MB/sec).",
            f"\tStart size: {size} MB ({count} messages)",
            "\tEnd size: 0.0 MB (4 messages)",
            " (kafka.log.LogCleaner)",
        )
        assert (event.kind, event.topic, event.partition, event.milliseconds) == (EventKind.CLEANED, "a-b", 36, 4500)
        assert event.numbers["start_bytes"] == 12345 * (1 << 20) // 10
        assert event.numbers["start_messages"] == 26289
        assert "to" not in event.numbers

    def test_an_unknown_wording_is_counted(self):
        """What looks like one of ours and is not understood becomes an event."""
        (event,) = read(HEAD + "Finished loading offsets from [__consumer_offsets,22] in no time (kafka.x)")
        assert event.kind is EventKind.UNREADABLE

    def test_other_lines_say_nothing(self):
        """Lines of the same loggers that tell nothing needed, and all others, are passed over."""
        assert [] == read(
            HEAD + "Connecting to zookeeper on localhost:2181 (kafka.server.KafkaServer)",
            HEAD + "[LogDirFailureHandler]: Starting (kafka.server.ReplicaManager$LogDirFailureHandler)",
            HEAD + "[Transaction State Manager 1]: Completed unloading __transaction_state-0 (kafka.coordinator.transaction.X)",
        )


class TestTimes:
    @pytest.mark.parametrize(
        "stamp",
        ["2026-11-20 10:00:00,123", "2026-11-20T10:00:00.123Z", "2026-11-20T11:00:00.123+01:00", "2026-11-20 05:00:00,123-0500"],
    )
    def test_comma_or_point_and_the_lines_own_zone(self, stamp):
        """The zone of the line goes before the one given."""
        zone = UTC if stamp.endswith(",123") else ZoneInfo("Asia/Shanghai")
        assert [AT] == [event.time for event in read(f"[{stamp}] INFO {LOADING}", zone=zone)]

    def test_the_given_zone_counts_where_the_line_has_none(self):
        """A broker's local time."""
        (event,) = read(HEAD + LOADING, zone=timezone(timedelta(hours=8)))
        assert event.time == AT - 8 * 3_600_000

    def test_the_last_event_tells_what_the_log_covers(self):
        """First and last dated line, and how many there are; impossible dates count as none."""
        lines = [HEAD + "a (b)", "[2026-13-40 10:00:00,123] INFO c (d)", HEAD.replace("10:00:00", "10:00:07") + "e (f)"]
        (event,) = log_lines.events(1, "p", lines, UTC)
        assert (event.time, dict(event.numbers)) == (AT + 7000, {"first": AT, "entries": 2})
        assert [] == list(log_lines.events(1, "p", ["no date", ""], UTC))
