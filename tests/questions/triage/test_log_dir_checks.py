"""What log dirs tell by themselves: how far copies reach, how they were left, and who wrote them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.facts.cluster import Broker, Cluster, Problem
from casebook.facts.disks import LeftoverFile, LogDir, Replica, SegmentFile
from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Question, Status
from casebook.questions.triage.analysis import kraft_nodes, log_dir_checks, next_evidence

NOW = 1_795_168_800_000
HOUR = 3_600_000
WATERMARKS = "replication-offset-checkpoint"


def copy(broker=1, partition=0, *, end=100, high=100, base=0, topic="orders", **more):
    segments = () if base is None else (SegmentFile(base, 1000, NOW - HOUR, (".index",)),)
    item = f"brokers/{broker}/log_dirs.json:{partition + 2}"
    return Replica(broker, topic, partition, f"/d/{topic}-{partition}", item, segments, high_watermark=high, log_end=end, **more)


def log_dir(broker, *copies, listed_at=NOW, written=NOW - 1000, **more):
    return LogDir(broker, f"/data/{broker}", listed_at, copies, checkpoints={WATERMARKS: written}, **more)


def told(*log_dirs, live=None):
    return {finding.check.removeprefix("log_dirs."): finding for finding in log_dir_checks.checks(log_dirs, Cluster(), live)}


class TestReach:
    def test_a_copy_that_ends_before_its_watermark(self):
        """What lies below it had been committed; how many records, and where, is told."""
        found = told(log_dir(1, copy(end=80, high=100), copy(partition=1)))["reach"]
        assert (found.status, found.facts["records"], found.evidence[0].line) == (Status.FINDING, 20, 2)
        assert "orders-0 on broker 1 (20)" in found.title

    def test_a_folder_without_segment_ends_at_its_begin(self):
        assert told(log_dir(1, copy(base=None, end=None, high=100)))["reach"].facts["records"] == 100

    def test_an_end_that_is_not_known_is_not_well(self):
        """Nor is a log dir that could not be read to its end."""
        assert told(log_dir(1, copy(end=None), copy(partition=1)))["reach"].status is Status.COULD_NOT_CHECK
        torn = log_dir(1, copy(), problems=(Problem(path="x-0", reason="cannot be listed: Permission denied"),))
        assert told(torn)["reach"].status is Status.COULD_NOT_CHECK

    def test_a_copy_that_was_just_made_has_no_watermark(self):
        """Its checkpoint has no line of it; where there is no checkpoint nobody knows."""
        assert told(log_dir(1, copy(high=None)))["reach"].status is Status.OK
        bare = log_dir(1, copy(high=None))._replace(checkpoints={})
        assert told(bare)["reach"].status is Status.COULD_NOT_CHECK

    def test_log_dirs_that_nobody_listed(self):
        """Of a broker that there is."""
        known = Cluster(brokers={1: Broker(id=1), 2: Broker(id=2)})
        found = {finding.check: finding for finding in log_dir_checks.checks([log_dir(1, copy())], known, {1, 2})}
        assert {finding.status for finding in found.values()} == {Status.COULD_NOT_CHECK}

    def test_well(self):
        assert told(log_dir(1, copy(), copy(partition=1, end=250)))["reach"].status is Status.OK


class TestCopies:
    def test_what_another_one_knew_to_be_committed(self):
        """Proven where the other's watermark was written before this one was listed."""
        found = told(log_dir(1, copy(1, end=100)), log_dir(2, copy(2, end=60, high=60)))["copies"]
        assert (found.status, found.facts["behind"]) == (Status.FINDING, {"brokers/2/log_dirs.json:2": 40})

    @pytest.mark.parametrize(("listed_at", "written"), [(NOW - 5000, NOW - 1000), (None, NOW - 1000), (NOW, None)])
    def test_of_an_earlier_listing_it_is_only_possible(self, listed_at, written):
        """A log that was listed before is shorter; where nothing dates one of them, too."""
        other = log_dir(2, copy(2, end=60, high=60), listed_at=listed_at)
        found = told(log_dir(1, copy(1, end=100), written=written), other)["copies"]
        assert (found.status, found.facts["maybe_behind"]) == (Status.COULD_NOT_CHECK, {"brokers/2/log_dirs.json:2": 40})

    def test_what_is_above_the_watermark_is_nobodys_lack(self):
        """Copies may differ there; it is told all the same."""
        found = told(log_dir(1, copy(1, end=130)), log_dir(2, copy(2, end=100)))["copies"]
        assert (found.status, found.facts["above_watermark"]) == (Status.OK, {"brokers/1/log_dirs.json:2": 30})

    def test_without_watermarks_nobody_knows_what_was_committed(self):
        """Of one of the log dirs its checkpoint was not read: its copy may know more than the others have."""
        one, other = log_dir(1, copy(1, high=None))._replace(checkpoints={}), log_dir(2, copy(2))
        assert told(one, other)["copies"].status is Status.COULD_NOT_CHECK

    def test_one_copy_cannot_be_compared(self):
        assert told(log_dir(1, copy()))["copies"].status is Status.COULD_NOT_CHECK
        some = told(log_dir(1, copy(1), copy(1, 1)), log_dir(2, copy(2)))["copies"]
        assert (some.status, some.coverage.seen, some.coverage.of) == (Status.COULD_NOT_CHECK, 1, 2)

    @given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=4))
    def test_of_any_copies(self, ends):
        """Who ends before another's watermark is told, and nobody else."""
        ends = [(max(end, high), high) for end, high in ends]
        found = told(*(log_dir(broker, copy(broker, end=end, high=high)) for broker, (end, high) in enumerate(ends)))["copies"]
        highest = [max(high for other, (_, high) in enumerate(ends) if other != broker) for broker in range(len(ends))]
        behind = {
            f"brokers/{broker}/log_dirs.json:2": highest[broker] - end
            for broker, (end, _) in enumerate(ends)
            if highest[broker] > end
        }
        assert found.facts["behind"] == behind
        assert (found.status is Status.FINDING) == bool(behind)


class TestStopped:
    def test_the_mark_tells(self):
        marked, bare = log_dir(1, copy(), clean_shutdown=True), log_dir(2, copy(2))
        assert told(marked)["stopped"].status is Status.OK
        assert told(marked, bare)["stopped"].status is Status.COULD_NOT_CHECK
        assert told(marked, bare, live={2})["stopped"].status is Status.OK
        dead = told(marked, bare, live={1})["stopped"]
        assert (dead.status, dead.title[:8]) == (Status.FINDING, "Broker 2")

    def test_one_of_several_log_dirs_of_a_broker(self):
        """It failed before the stop."""
        found = told(log_dir(1, copy(), clean_shutdown=True), log_dir(1, copy(partition=1)))["stopped"]
        assert (found.status, found.severity) == (Status.FINDING, "warning")


class TestLeft:
    @pytest.mark.parametrize(
        ("kind", "modified", "is_left"),
        [("-delete", NOW - 2 * HOUR, True), ("-delete", NOW - 1000, False), ("-delete", None, False), ("orphan", None, True)],
    )
    def test_what_a_broker_would_have_removed_by_now(self, kind, modified, is_left):
        found = told(log_dir(1, copy(), leftovers=(LeftoverFile("a-0.x-delete", kind, 7, modified),)))["left"]
        assert (found.status is Status.FINDING) == is_left
        assert (found.status is Status.OK) == (not is_left and modified is not None)  # of unknown age it may be left, or not

    def test_a_partition_without_folder(self):
        """Unless it lies in another log dir of the same broker."""
        lacking = log_dir(1, without_folder=(("orders", 0),))
        assert told(lacking, log_dir(2, copy(2)))["without_folder"].status is Status.FINDING
        assert told(lacking, log_dir(1, copy()))["without_folder"].status is Status.OK


class TestHeld:
    @pytest.mark.parametrize(
        ("more", "release"),
        [
            ({"topic_id": "x", "magic": 2}, "2.8"),
            ({"magic": 2}, "0.11.0"),
            ({"magic": 1}, "0.10.0"),
            ({"magic": 0}, None),
            ({}, None),
        ],
    )
    def test_the_oldest_release_that_can_have_written_it(self, more, release):
        assert told(log_dir(1, copy(**more)))["held"].facts["release_from"] == release

    def test_nothing_listed_says_nothing(self):
        assert log_dir_checks.checks((), Cluster(), None) == ()


class TestKraft:
    @pytest.mark.parametrize(
        "listed",
        [log_dir(1, copy(topic="__cluster_metadata")), log_dir(1, copy(), meta={"version": "1", "node.id": "1"})],
        ids=["its metadata log", "its meta.properties"],
    )
    def test_a_log_dir_tells(self, listed):
        (found,) = kraft_nodes.check(Cluster(), [listed])
        assert (found.facts["nodes"], found.severity) == ([1], "info")

    def test_settings_and_logs_tell(self):
        (by_settings,) = kraft_nodes.check(Cluster(server_properties={3: {"process.roles": "broker"}}), [])
        (by_logs,) = kraft_nodes.check(Cluster(), [], {"kraft_leader", "loaded"})
        assert (by_settings.facts["nodes"], by_logs.facts["events"]) == ([3], ["kraft_leader"])

    def test_brokers_of_zookeeper_are_none(self):
        listed = log_dir(1, copy(), meta={"version": "0", "broker.id": "1"})
        assert kraft_nodes.check(Cluster(server_properties={1: {"broker.id": "1"}}), [listed], {"loaded"}) == ()


def unanswered(*checks):
    looked_at = Coverage.every(1, "thing", Source.CASE)
    return [Question(check=check, question="?", coverage=looked_at).could_not_check("?", settle="!") for check in checks]


class TestNextEvidence:
    def test_who_leads_comes_first(self):
        open_ = unanswered("leadership.a", "leadership.b", "timeline.a")
        (found,) = next_evidence.check(open_, {Source.ZNODES, Source.LOGS}, kraft=False)
        assert found.title == "Collect znodes next: 2 open questions need them"
        assert "--zookeeper" in found.next[0].command

    def test_nobody_is_sent_for_znodes_of_kraft(self):
        (found,) = next_evidence.check(unanswered("leadership.a", "timeline.a"), {Source.ZNODES, Source.LOGS}, kraft=True)
        assert "--logs" in found.next[0].command

    def test_nothing_where_nothing_missing_would_help(self):
        assert next_evidence.check(unanswered("leadership.a"), {Source.LOGS}, kraft=False) == ()
