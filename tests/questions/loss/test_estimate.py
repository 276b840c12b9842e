"""What is lost without a ledger: bounds that are named as such, and an estimate that holds the truth."""

from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.disks import LogDir, Replica, SegmentFile
from casebook.facts.losses import Cause, CutRange, LeaderChange, LostRecord
from casebook.findings.finding import Status
from casebook.questions.loss.analysis import estimate
from casebook.questions.loss.analysis.cut_range_check import check as cut_ranges
from casebook.questions.loss.analysis.cut_ranges import bounded
from casebook.questions.loss.analysis.estimate import LogEnd
from casebook.questions.loss.analysis.message_loss import Sought, examine


def change(**more):
    common = {"number": 0, "topic": "t", "partition": 0, "opened": 60_000, "closed": 64_000, "since": 58_000, "old_leader": 1,
              "new_leader": 2, "epoch": 3, "cut": 100, "isr": (1, 2), "alone": None, "unclean": False, "cut_at_start": False,
              "disk": False, "planned": False, "opened_proof": "o:1", "closed_proof": ""}  # fmt: skip
    return LeaderChange(**common | more)


def cut(partition=0, until=None, since=100):
    return CutRange("t", partition, 1, since, until, 64_000, 2, 3, "broker 2 started there", "k:3")


def lost(offset, number=0, either=()):
    return LostRecord("r", "t", 0, offset, 1, "1", None, None, Cause.DEPOSED_LEADER, number, "", "", None, None, None, either)


class TestBounds:
    def test_lower_bound(self):
        """An end that the old leader told before it took more is named a lower bound."""
        found = cut_ranges([cut(0, 130), cut(1)], [change()], partitions=2, gaps=())
        assert found.title == ("At least 30 offsets of 1 partition were truncated after a change of leader; 1 more is uncertain")

    def test_nothing_known_to_have_been_there(self):
        """A log may have been empty: nobody says that its offsets disappeared, nor that none did."""
        found = cut_ranges([cut(0, since=0), cut(1, since=0)], [change()], partitions=2, gaps=())
        assert found.status is Status.COULD_NOT_CHECK
        assert found.title == "Truncation of 2 partitions after a change of leader is unknown"
        assert found.settle

    def test_what_the_ledger_proves(self):
        """A lost record was there: the range goes at least so far, but not by one that another window may have taken."""
        (row,) = bounded([cut()], [change()], [lost(120), lost(150), lost(900, either=(0, 1))])
        assert row.to_offset == 151
        assert bounded([cut(0, 500)], [change()], [lost(120)])[0].to_offset == 500


class TestEstimate:
    def of(self, *points, **more):
        (row,) = estimate.estimates([change(**more)], {("t", 0): [LogEnd(*point) for point in points]}, [])
        return row

    def test_interval(self):
        """None at least, as clients may have moved at once; at most the fastest growth around it for all of its time.

        A burst exceeds any rate: all that was written between the observations around the window may have been written in it.
        """
        row = self.of((0, 0), (50_000, 500), (57_000, 640), (65_000, 670))
        assert (row.least, row.most, row.milliseconds, row.why) == (0, 120, 6000, "")
        assert self.of((0, 0), (50_000, 500), (70_000, 900)).most == 400

    def test_observations_from_long_before_or_after(self):
        """A log that stood still a week later says nothing of the window."""
        week = 7 * 86_400_000
        row = self.of((week, 10_000), (week + 3_600_000, 10_000))
        assert (row.most, "at that time" in row.why) == (None, True)

    def test_only_changes_with_both_bounds_are_summed(self):
        """What is known to be cut away of one without upper bound is no lower bound of the others."""
        known = {("t", 0): [LogEnd(0, 0), LogEnd(57_000, 500), LogEnd(70_000, 510)]}
        rows = estimate.estimates([change(), change(number=1, partition=1, closed=None)], known, [cut(1, 1100)])
        assert "0 to 53 records may be lost" in estimate.sentence(rows)

    def test_no_rate(self):
        """Nobody saw the log grow: no upper bound, and none is made up."""
        assert self.of((50_000, 500)).most is None
        assert "write rate" in self.of().why

    def test_open_end(self):
        """Nobody knows when the old leader gave up: no upper bound."""
        row = self.of((0, 0), (50_000, 500), closed=None)
        assert row.most is None
        assert "last write" in row.why

    def test_log_that_was_cut(self):
        """Offsets that go back tell no rate."""
        assert self.of((50_000, 500), (70_000, 400)).most is None

    def test_answer(self):
        """It is not known what is lost; the estimate says so, and its bounds are facts."""
        rows = estimate.estimates(
            [change()], {("t", 0): [LogEnd(0, 0), LogEnd(50_000, 500), LogEnd(57_000, 640), LogEnd(65_000, 670)]}, [cut(0, 130)]
        )
        finding = examine(Sought(), changes=[change()], estimates=rows).findings[0]
        assert finding.status is Status.COULD_NOT_CHECK
        assert (
            finding.why
            == "An estimate for 1 change of leader, by write rate and length of the window: 30 to 120 records may be lost."
        )
        assert (finding.facts["estimate_least"], finding.facts["estimate_most"]) == (30, 120)

    @settings(max_examples=200, deadline=None)
    @given(gaps=st.lists(st.integers(1, 400), min_size=40, max_size=300), opened=st.integers(1_000, 9_000))
    def test_holds_the_truth(self, gaps, opened):
        """Of a log that grows at its own pace, each end of which was seen: what was written in the window is no more than the most."""
        times = [sum(gaps[:n]) for n in range(len(gaps))]
        row = self.of(*((at, n) for n, at in enumerate(times)), opened=opened, since=opened - 500, closed=opened + 500)
        if times[-1] > opened + 500:
            assert sum(opened - 500 < at <= opened + 500 for at in times) <= row.most + 1


class TestPoints:
    def test_segments(self):
        """A segment that is followed by another ended where that begins, when it was last written to; one without bytes tells nothing."""
        files = (SegmentFile(0, 10, 1000), SegmentFile(40, 10, 3000), SegmentFile(90, 0, 9000))
        copy = Replica(1, "t", 0, "", "i", files, high_watermark=90)
        found = estimate.points([LogDir(1, "/d", 9000, (copy,), checkpoints={"replication-offset-checkpoint": 8000})], [])
        assert found["t", 0] == (LogEnd(1000, 40), LogEnd(3000, 90), LogEnd(8000, 90))
