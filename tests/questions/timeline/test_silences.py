"""What these logs cannot tell, and the story in sentences."""

import csv
import io

import pytest

from casebook.facts.events import Untyped
from casebook.kafka.past_rows import Sentence
from casebook.questions.timeline.analysis import story as timeline_story
from tests.questions.timeline.scenes import NEW, OLD, event, examined, files, finding, incident, lines, log


def said(found):
    return {(one.kind, one.broker): one for one in found.silences}


class TestSilences:
    def test_files_that_are_missing(self):
        """Controller, state changes, GC, ZooKeeper, clients: each is named with what it would have told."""
        found = examined(covered=[log(1)], version=OLD)
        texts = " ".join(one.what for one in found.silences if one.kind == "no_file")
        for name in ("controller.log", "state-change.log", "GC log", "ZooKeeper's servers", "client"):
            assert name in texts

    def test_lines_prove_a_file(self):
        """Where all loggers go to one file, its lines prove that the logger was on."""
        found = examined(event("broker_failure", 0, 1, brokers=2), covered=[log(1)])
        assert not any("controller.log" in one.what for one in found.silences)

    def test_what_zookeeper_prints_is_its_own(self):
        """Also into a broker's log, where both were started with one log4j.properties."""
        found = examined(event("zks_session_expiring", 0, 1, session="0x1", timeout_ms=6000), covered=[log(1)])
        assert not any("ZooKeeper's servers" in one.what for one in found.silences)
        assert [(row.source, row.broker) for row in found.rows] == [("zookeeper", None)]

    def test_levels(self):
        """A default 2.8 has no line of a partition that goes offline; 0.9 tells with TRACE alone who was told."""
        assert (
            "no line for a partition that goes offline" in said(examined(covered=[log(1)], version=NEW))["level_off", None].what
        )
        assert "TRACE" in said(examined(covered=[log(1)], version=OLD))["level_off", None].what

    def test_reach(self):
        """A log that ends before the incident, and one that begins within it."""
        short = [log(55, ends=-9000), log(56, begins=20_000), log(57)]
        found = said(incident(files=short, events=[one for one in lines() if one.broker == 57]))
        assert ("ends_early", 55) in found
        assert ("begins_late", 56) in found

    def test_a_log_that_brokers_share_goes_on(self):
        """The one file that is a broker's alone ends before the incident: its lines stand in that of another."""
        short = [log(55, ends=-9000), log(56), log(57)]
        shared = event("segment_rolled", 30_000, 55, file="brokers/56/logs/server.log", line=800)
        assert ("ends_early", 55) not in said(incident(files=short, events=[*lines(), shared]))

    def test_strange_broker(self):
        """Logs of a broker that ZooKeeper does not know."""
        found = incident(files=[*files(), log(99)])
        assert said(found)["unknown_broker", None].what == "There are logs of broker 99, which ZooKeeper does not know."

    @pytest.mark.parametrize(
        ("level", "count", "title"),
        [
            ("ERROR", 19, "19 warnings and errors of 1 shape are of unknown meaning"),
            ("ERROR", 1, "1 warning or error of 1 shape is of unknown meaning"),
            ("INFO", 1, "Every warning and error was understood; 1 other line was not"),
            ("INFO", 2, "Every warning and error was understood; 2 other lines were not"),
        ],
    )
    def test_not_understood(self, level, count, title):
        """The verb goes with the number of lines."""
        shape = Untyped("kafka.x", level, "x N", count, "brokers/57/logs/server.log:7", "x 1")
        assert finding(incident(untyped=[shape]), "untyped").title == title

    def test_nothing_missing_is_ok(self):
        """Only when really nothing is."""
        assert finding(incident(), "silences").status == "could_not_check"


class TestStory:
    def test_markdown_is_escaped(self):
        """What a log says cannot become markup."""

        class Told:
            story = (Sentence(0, 0, "Broker 1: <b>`x`</b> [a](b) | *c*\nd.", "brokers/1/logs/a`b.log:1", "x", 1, 0),)
            windows = roots = ()

        text = timeline_story.markdown(Told())
        assert "\\<b\\>\\`x\\`\\</b\\> \\[a\\]\\(b\\) \\| \\*c\\* d." in text
        assert "`` brokers/1/logs/a`b.log:1 ``" in text

    def test_csv_is_no_formula(self):
        """A cell that a spreadsheet would compute is kept text; commas and quotes are quoted."""

        class Told:
            story = (Sentence(1000, 1000, '=1+1,"x"', "a:1", "x", None, 0), Sentence(None, None, "b", "", "x", 1, 0))
            windows = roots = ()

        rows = list(csv.reader(io.StringIO(timeline_story.csv(Told()))))
        assert rows[1] == ["1970-01-01T00:00:01.000Z", "1970-01-01T00:00:01.000Z", "", "x", "1", '\'=1+1,"x"', "a:1"]
        assert rows[2][0] == "undated"

    def test_order_is_that_of_causes(self):
        """An effect that seems some ms earlier than its cause stands behind it."""
        told = [one._replace(time=one.time - 130) if one.kind == "broker_change" else one for one in lines()]
        kinds = [one.kind for one in incident(events=told).story]
        assert kinds.index("znode_broker_gone") < kinds.index("broker_change") < kinds.index("broker_failure")


class TestNeverOkBlindly:
    def test_logs_of_some_brokers(self):
        """What is said of all brokers needs the logs of all."""
        some = [one for one in files() if one.broker != 55]
        found = incident(files=some, events=[one for one in lines() if one.broker != 55])
        assert finding(found, "unknown_requests").status == "could_not_check"
        assert "No server.log of broker 55" in finding(found, "unknown_requests").why
        assert finding(incident(), "unknown_requests").status == "ok"
