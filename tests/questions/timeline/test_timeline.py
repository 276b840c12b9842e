"""A timeline as a whole: the incident it is for, and what is left of it when evidence is missing."""

import pytest

from casebook.facts.events import LogFile, Untyped
from casebook.findings.finding import Severity, Status
from casebook.questions.timeline.analysis import story, timeline
from tests.ends import growth
from tests.questions.timeline.scenes import (
    CUT,
    ELECTED,
    GONE,
    NEW,
    T0,
    cluster,
    event,
    files,
    finding,
    history,
    incident,
    lines,
    windows,
)


class TestIncident:
    def test_rows_are_in_order(self):
        """Logs and history stand in one order; each row keeps the time that was printed."""
        found = incident(skew={57: 7_200_000})
        times = [row.at for row in found.rows]
        assert times == sorted(times)
        silent = next(row for row in found.rows if row.kind == "zk_silent")
        assert silent.time - silent.at == pytest.approx(7_200_000, abs=20)

    def test_two_leaders(self):
        """The window runs from the transaction that elects to the line that truncates."""
        found = incident()
        hit = windows(found, "two_leaders")
        assert len(hit) == 24
        assert (hit[0].opened, hit[0].closed) == (T0 + ELECTED, pytest.approx(T0 + CUT, abs=20))
        assert (hit[0].old_leader, hit[0].new_leader) == (57, 55)
        assert hit[0].opened_proof.startswith("zookeeper/history.jsonl.zst txn 0x")
        assert hit[0].closed_proof == "brokers/57/logs/server.log:5561"
        critical = finding(found, "two_leaders")
        assert critical.severity is Severity.CRITICAL
        assert "24 partitions" in critical.title

    def test_chain(self):
        """Each link in the order of what happened, thousands of like links as one."""
        found = incident()
        assert [link.effect.kind for link in found.chains[0].links] == [
            "znode_session_closed",
            "znode_broker_gone",
            "broker_change",
            "broker_failure",
            "znode_leader_changed",
            "zk_session_expired",
            "znode_broker_registered",
            "become_follower",
            "truncated",
        ]
        elections = next(link for link in found.chains[0].links if link.effect.kind == "znode_leader_changed")
        assert (elections.count, len(elections.examples)) == (24, 5)

    def test_root(self):
        """It was awake and went on printing while it sent no beat: its network."""
        found = incident()
        assert found.roots[0].kind == "network"
        assert [point.proof for point in found.roots[0].pro] == [
            "brokers/57/logs/server.log:5525",
            "brokers/57/logs/server.log:5521",
        ]
        assert "GC log of broker 57 is missing" in " ".join(text for root in found.roots for text in root.unchecked)

    def test_story(self):
        """Sentences in order, each with its proof; Markdown and CSV of them."""
        found = incident()
        texts = [one.text for one in found.story]
        assert texts.index("ZooKeeper closes the session 0x396c of broker 57.") < texts.index("24 leaders move to 55 and others.")
        assert all(one.proof for one in found.story)
        told = story.markdown(found)
        assert "`2019-10-12T11:03:42.000Z` The znode of broker 57 is removed" in told
        assert story.csv(found).count("\n") == len(found.story) + 1

    def test_history_tells_the_states(self):
        """Each state with its transaction, and the strips of sessions, registrations and controllers."""
        found = incident(partitions=1)
        assert [(row.leader, row.leader_epoch, row.isr) for row in found.partition_history] == [
            (57, 0, (57, 55, 56)),
            (55, 1, (55, 56)),
            (55, 1, (55, 56, 57)),
        ]
        lost = next(span for span in found.spans if (span.kind, span.name) == ("session", "0x396c"))
        assert (lost.broker, lost.closed, lost.timeout) == (57, T0 + GONE, 6000)
        assert lost.silent == pytest.approx(T0 + 427 - 4034, abs=20)
        assert next(span for span in found.spans if span.kind == "controller").name == "7"


class TestPasted:
    def test_a_minute_of_three_logs(self):
        """Lines of a broker, of the controller and of an application, and nothing else: the order, the cause, and what is unknown."""
        told = [
            event("zk_silent", 427, 57, line=1, ms=4034, session="396c"),
            event("zk_state", 430, 57, line=2, state="Disconnected"),
            event("zk_session_expired", 3293, 57, line=3, session="396c"),
            event("zk_session_established", 4516, 57, line=4, session="396d", timeout_ms=6000),
            event("broker_change", 3671, 56, file="controller.log", added="", deleted=57, live="55,56,58,59"),
            event("broker_failure", 3828, 56, file="controller.log", line=2, brokers=57),
            event("not_coordinator", 4000, file="clients/app/logs/app.log"),
        ]
        found = timeline.examine(cluster(), NEW, events=told)
        assert [(link.cause.kind, link.effect.kind) for link in found.chains[0].links] == [
            ("zk_silent", "zk_session_expired"),
            ("zk_session_expired", "broker_change"),
            ("broker_change", "broker_failure"),
            ("broker_change", "not_coordinator"),
        ]
        assert found.roots[0].kind == "network"
        assert found.story[0].text == "Broker 57 has received nothing from ZooKeeper for 4.034 s."
        assert finding(found, "two_leaders").status is Status.COULD_NOT_CHECK


class TestMissing:
    def test_nothing(self):
        """Without any evidence nothing is well."""
        found = timeline.examine(cluster(), NEW)
        assert {one.check: one.status for one in found.findings} == {
            f"timeline.{name}": Status.COULD_NOT_CHECK
            for name in (
                "two_leaders",
                "leaderless",
                "under_min_isr",
                "unclean",
                "root",
                "unknown_requests",
                "owners",
                "clocks",
                "silences",
                "untyped",
                "unclean_elections",
            )
        }
        assert "The logs show no incident" in story.markdown(found)

    def test_no_history(self):
        """The controller's log names the new leaders; by its clock the windows are found, a little late."""
        found = incident(history=())
        assert found.reference == "broker 56"
        hit = windows(found, "two_leaders")
        assert len(hit) == 24
        assert hit[0].opened == pytest.approx(T0 + ELECTED, abs=100)
        assert hit[0].old_leader == 57
        assert hit[0].opened_proof == "brokers/56/logs/state-change.log:40"
        assert any(silence.kind == "no_history" for silence in found.silences)
        assert finding(found, "under_min_isr").status is Status.COULD_NOT_CHECK

    def test_history_alone(self):
        """Leaderless times are certain; whether the old leader lived on nobody knows."""
        found = timeline.examine(cluster(), NEW, history=history().rows)
        assert [window.length for window in windows(found, "leaderless")] == [ELECTED - GONE + n for n in range(24)]
        assert windows(found, "two_leaders") == []
        doubt = finding(found, "two_leaders")
        assert (doubt.status, doubt.facts["unknown"]) == (Status.COULD_NOT_CHECK, 24)
        assert any(silence.kind == "no_log" for silence in found.silences)

    def test_undated_lines_come_last(self):
        """A pasted line without date is kept, and is told of."""
        found = incident(events=[*lines(), event("not_coordinator", None, file="clients/app/logs/app.log")])
        assert found.rows[-1].kind == "not_coordinator"
        assert any(silence.kind == "undated" for silence in found.silences)

    def test_damaged_file(self):
        """A file that breaks off is told of."""
        broken = LogFile("brokers/55/logs/server.log.1.gz", 55, T0, T0, 1, 1, 1, "it ends within a block")
        found = incident(files=[*files(), broken])
        assert any(silence.kind == "damaged" for silence in found.silences)

    def test_untyped(self):
        """A warning of unknown meaning is never well; an INFO line is."""
        shape = Untyped("kafka.X", "WARN", "a N", 3, "brokers/55/logs/server.log:9", "a 1")
        assert finding(incident(untyped=[shape]), "untyped").status is Status.COULD_NOT_CHECK
        assert finding(incident(untyped=[shape._replace(level="INFO")]), "untyped").status is Status.OK


class TestSize:
    def test_many_events_and_partitions(self):
        """Ten times as much takes about ten times as long: nothing is quadratic."""
        given = {partitions: {"events": lines(partitions), "history": history(partitions).rows} for partitions in (1000, 10_000)}

        def work(partitions):
            found = timeline.examine(cluster(), NEW, files=files(), **given[partitions])
            assert len(windows(found, "leaderless")) == partitions

        assert growth(work, few=1000, many=10_000) < 4 * 10
