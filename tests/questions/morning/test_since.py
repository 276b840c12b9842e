"""What has changed between two runs, which runs are compared, and what only several of them tell."""

import dataclasses
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.errors import UsageError
from casebook.facts.proofs import ZNODE_PROOFS
from casebook.findings import changes
from casebook.findings.changes import ChangeKind
from casebook.findings.finding import Severity, Status
from casebook.findings.past_runs import RUN_BEFORE, CheckOutcome, Identity, Measure, PastRun, Written, outcomes
from casebook.questions.morning.analysis import measures, run_line, since_checks, trends
from casebook.questions.morning.analysis.measures import StateWrites, moved
from casebook.questions.morning.analysis.run_line import RunLine, line
from casebook.questions.morning.analysis.since import Since

DAY = 86_400_000
HERE = Identity(id=None, address="zk:2181/kafka", source="live:prod")


def outcome(check, status="ok", severity=None, **facts):
    """How a check ended; its subject is the cluster."""
    return CheckOutcome(check, {"kind": "cluster"}, Status(status), severity and Severity(severity), f"{check} says so", facts)


def found(check, severity="warning", **facts):
    """A finding."""
    return outcome(check, "finding", severity, **facts)


def compared(before, now):
    """Changes between two answers, or none (``None``)."""
    return changes.compare({b.check: b for b in [before] if b}, {n.check: n for n in [now] if n})


def how(before, now):
    """In which word; ``None`` when nothing has changed."""
    rows = compared(before, now)
    return rows[0].how if rows else None


class TestChanges:
    """Check by check."""

    OK, UNKNOWN, NOT_ASKED = outcome("a.b"), outcome("a.b", "could_not_check"), outcome("a.b", "not_applicable")

    @pytest.mark.parametrize(
        ("before", "now", "wanted"),
        [
            (OK, found("a.b"), ChangeKind.NEW),
            (UNKNOWN, found("a.b"), ChangeKind.NEW),
            (None, found("a.b"), ChangeKind.NEW),
            (found("a.b"), OK, ChangeKind.GONE),
            (found("a.b"), NOT_ASKED, ChangeKind.NO_LONGER_APPLIES),
            (found("a.b"), UNKNOWN, ChangeKind.NO_LONGER_CHECKED),
            (OK, UNKNOWN, ChangeKind.NO_LONGER_CHECKED),
            (OK, None, ChangeKind.NO_LONGER_CHECKED),
            (UNKNOWN, OK, ChangeKind.CHECKED_AGAIN),
            (OK, OK, None),
            (UNKNOWN, UNKNOWN, None),
            (NOT_ASKED, UNKNOWN, None),
            (NOT_ASKED, OK, None),
        ],
    )
    def test_by_how_it_ended(self, before, now, wanted):
        """Unknown is never well: a finding that cannot be checked any more is not gone, nor is one that is no longer asked."""
        assert how(before, now) == wanted

    @pytest.mark.parametrize(
        ("past", "present"),
        [("timeline.leaderless", "leadership.offline"), ("timeline.under_min_isr", "leadership.under_min_isr")],
    )
    def test_what_is_over_was_not_left_unchecked(self, past, present):
        """What is told of the past only while it lasts is gone with what lasts; where nobody knows that, it is not."""
        before = {past: found(past), present: found(present)}
        healed = changes.compare(before, {present: outcome(present)})
        assert [(row.how, row.check) for row in healed] == [(ChangeKind.GONE, present)]
        unknown = changes.compare(before, {present: outcome(present, "could_not_check")})
        assert {row.check for row in unknown if row.how is ChangeKind.NO_LONGER_CHECKED} == {past, present}

    @pytest.mark.parametrize(
        ("before", "now", "wanted"),
        [
            (found("x.offline", offline=2), found("x.offline", offline=3), ChangeKind.WORSE),
            (found("x.offline", offline=3), found("x.offline", offline=2), ChangeKind.BETTER),
            (found("x.offline", offline=3), found("x.offline", offline=3), None),
            (found("x.y", "warning", n=9), found("x.y", "critical", n=1), ChangeKind.WORSE),
            (found("x.y", topics=["a"]), found("x.y", topics=["a", "b"]), ChangeKind.WORSE),
            (found("x.y", topics=["a", "b"]), found("x.y", topics=["b"]), ChangeKind.BETTER),
            (found("x.y", n=1, topics=["a"]), found("x.y", n=1, topics=["b"]), ChangeKind.OTHERS),
            (
                found("leadership.brokers", registered=[1], dead=[2]),
                found("leadership.brokers", registered=[], dead=[1, 2]),
                ChangeKind.WORSE,
            ),
        ],
    )
    def test_by_its_number_and_by_what_it_names(self, before, now, wanted):
        """A second topic with one replica is a change, and so is another topic instead of the first."""
        assert how(before, now) == wanted

    def test_what_came_and_went(self):
        """Named as they are named everywhere."""
        (row,) = compared(found("x.y", found=1, topics=["a"], brokers=[1]), found("x.y", found=1, topics=["b"], brokers=[1, 4]))
        assert (row.came, row.went) == (("b", "broker 4"), ("a",))
        assert (row.before, row.now) == ("1", "1")

    def test_whose_it_is_belongs_to_it(self):
        """The cleaner of broker 1 is mended and that of broker 2 dies: not the same finding."""
        one, two = (found("offsets_topic.compacted", "critical", brokers=[broker]) for broker in (1, 2))
        (row,) = compared(one, two)
        assert (row.how, row.came, row.went) == (ChangeKind.OTHERS, ("broker 2",), ("broker 1",))

    def test_a_second_cleaner_that_dies(self):
        """Is worse, although no copy is well any more, and whichever copy is the larger one."""
        one, both = (
            found("offsets_topic.compacted", "critical", rules=r, brokers=b) for r, b in ((["C3", "C9"], [1]), (["C3"], [1, 2]))
        )
        (row,) = compared(one, both._replace(subject={"kind": "broker", "broker": 2}))
        assert (row.how, row.came, row.went) == (ChangeKind.WORSE, ("broker 2",), ())
        assert how(both, both._replace(subject={"kind": "broker", "broker": 2})) is None

    def test_ids_and_epochs_are_no_numbers(self):
        """A higher controller epoch, and a dead controller with a higher id, are not worse."""
        assert (
            how(found("leadership.controller_epoch", newer=1, epoch=5), found("leadership.controller_epoch", newer=1, epoch=6))
            is None
        )
        assert how(found("leadership.controller", broker=2, epoch=1), found("leadership.controller", broker=3, epoch=2)) is None

    def test_parts_are_added_up(self):
        """Two reassignments with nothing to move ended, five of unknown partitions came."""
        names = ("nothing_to_move", "unknown_partition", "waits_for_dead")
        before, now = (
            found("maintenance.unfinished_reassignments", **dict(zip(names, counts, strict=True)))
            for counts in ((2, 0, 0), (0, 5, 0))
        )
        assert how(before, now) is ChangeKind.WORSE

    def test_less_of_the_past_makes_nothing_better(self):
        """Logs are rolled: what they told has happened all the same. More of it is news."""
        few, many = found("timeline.leaderless", windows=1), found("timeline.leaderless", windows=5)
        assert [how(many, few), how(many, outcome("timeline.leaderless")), how(few, many)] == [None, None, ChangeKind.WORSE]

    def test_a_clock_that_is_off_is_no_past(self):
        """Mended, it is gone; another one is worse. That it was set has happened, though."""
        one, both, was_set = (
            found("timeline.clocks", off=off, set=steps, skew_ms=self.SKEWS)
            for off, steps in ((["broker 1"], {}), (["broker 1", "broker 2"], {}), ([], {"broker 1": [5]}))
        )
        well = outcome("timeline.clocks", off=[], set={}, skew_ms=self.SKEWS)
        assert [how(one, well), how(one, both), how(both, one), how(was_set, well)] == [
            ChangeKind.GONE,
            ChangeKind.WORSE,
            ChangeKind.BETTER,
            None,
        ]

    SKEWS: ClassVar = {"broker 1": 5, "broker 2": 5}

    @pytest.mark.parametrize("skews", [{"broker 2": 5}, {"broker 1": None, "broker 2": 5}], ids=["no log", "nothing tells"])
    def test_a_clock_that_nobody_looks_at_is_not_mended(self, skews):
        """Its log is no longer collected, or says nothing of its clock: it may be off as before."""
        one, both, other = (
            found("timeline.clocks", off=off, set={}, skew_ms=self.SKEWS | dict.fromkeys(off, 7000))
            for off in (["broker 1"], ["broker 1", "broker 2"], ["broker 2"])
        )
        (row,) = compared(one, outcome("timeline.clocks", off=[], set={}, skew_ms=skews))
        assert (row.how, row.title, row.now, row.went) == (ChangeKind.NO_LONGER_CHECKED, one.title, "not asked", ("broker 1",))
        left = other._replace(facts=other.facts | {"skew_ms": skews | {"broker 2": 7000}})
        (row,) = compared(both, left)
        assert (row.how, row.went) == (ChangeKind.NO_LONGER_CHECKED, ("broker 1",))
        (row,) = compared(one, left)
        assert (row.how, row.came, row.went) == (ChangeKind.WORSE, ("broker 2",), ())

    def test_what_an_older_version_did_not_write_down_is_unknown(self):
        """The first morning after an upgrade tells nothing new, nor that anything is mended; what both wrote down still counts."""
        old, new = (
            found("timeline.clocks", set={}, skew_ms={"broker 1": 7000}, **named) for named in ({}, {"off": ["broker 1"]})
        )
        assert [how(old, new), how(old, outcome("timeline.clocks", off=[], set={}, skew_ms=self.SKEWS))] == [None, None]
        assert how(found("x.y", topics=["a"]), found("x.y", topics=["a"], brokers=[1])) is None
        assert how(found("x.y", topics=["a"]), found("x.y", topics=["a", "b"], brokers=[1])) is ChangeKind.WORSE

    def test_what_drifts_with_every_commit_is_no_change(self):
        """But how bad it is is one."""
        assert how(found("offsets_topic.dead_weight", bytes=10), found("offsets_topic.dead_weight", bytes=99)) is None
        assert (
            how(found("offsets_topic.dead_weight", "warning"), found("offsets_topic.dead_weight", "critical")) is ChangeKind.WORSE
        )

    def test_worst_first(self):
        """New before better, critical before warning, what is broken before what may be."""
        before = {"m.z": found("m.z", z=2)}
        now = {
            one.check: one
            for one in (found("m.z", z=1), found("durability.a", "critical"), found("leadership.z", "critical"), found("b.b"))
        }
        assert [row.check for row in changes.compare(before, now)] == ["leadership.z", "durability.a", "b.b", "m.z"]

    @given(
        st.lists(
            st.sampled_from([found("a.b", n=1), found("c.d", topics=["x"]), outcome("e.f"), outcome("g.h", "could_not_check")])
        )
    )
    def test_nothing_has_changed_since_itself(self, some):
        """Whatever was found."""
        run = {one.check: one for one in some}
        assert changes.compare(run, run) == ()

    def test_the_worst_answer_of_a_check_counts(self):
        """Where it has several, the first: findings are written worst first."""
        rows = [
            {"check": "a.b", "status": "finding", "severity": severity, "title": severity, "facts": {}, "subject": {}}
            for severity in ("critical", "info")
        ]
        assert outcomes(rows)["a.b"].severity is Severity.CRITICAL


def run(day, *, cluster=HERE, epoch=1.0, before=None, failed=None, values=()):
    """A kept run of a day; ``values`` are more measures."""
    told = {RUN_BEFORE: outcome(RUN_BEFORE, run=before)}
    measured = (Measure("controller_epoch", None, None, epoch), *values)
    return PastRun(name=f"2026-11-{day:02}_90", cluster=cluster, at=day * DAY, failed=failed, outcomes=told, measures=measured)


class TestLine:
    """Which runs are compared."""

    def test_the_last_one_before_the_evidence(self):
        """Not one on the same evidence, nor on later one."""
        assert line(HERE, 3 * DAY, 1, [run(1), run(2), run(3), run(4)]).last.name == "2026-11-02_90"

    def test_of_two_runs_on_the_same_evidence_the_later(self):
        """They are one point of a trend."""
        twice = dataclasses.replace(run(2), name="2026-11-09_90")
        assert [one.name for one in line(HERE, 3 * DAY, 1, [twice, run(2), run(1)]).kept] == ["2026-11-01_90", "2026-11-09_90"]

    def test_another_cluster_is_another_line(self):
        """By its id where both have one, else by where ZooKeeper is, else by the source."""
        other = Identity(id=None, address="zk9:2181/kafka", source="live:prod")
        found_ = line(HERE, 3 * DAY, 1, [run(1, cluster=other)])
        assert (found_.last, found_.another.name) == (None, "2026-11-01_90")  # the profile was pointed at it
        elsewhere = dataclasses.replace(other, source="/cases/today")
        assert line(HERE, 3 * DAY, 1, [run(1, cluster=elsewhere)]).another is None
        larger = dataclasses.replace(HERE, address="zk0:2181,zk:2181/kafka")
        assert line(larger, 3 * DAY, 1, [run(1)]).last is not None  # the ensemble got a server
        assert line(dataclasses.replace(HERE, address="zk:2181/other"), 3 * DAY, 1, [run(1)]).last is None
        upgraded = dataclasses.replace(HERE, id="abc")
        assert line(upgraded, 3 * DAY, 1, [run(1)]).last is not None

    def test_another_id_at_the_same_place(self):
        """Said, and not compared."""
        old, new = (dataclasses.replace(HERE, id=id_) for id_ in ("old", "new"))
        found_ = line(new, 5 * DAY, 1, [run(1, cluster=old), run(2, cluster=old)])
        assert (found_.last, found_.another.name) == (None, "2026-11-02_90")
        assert line(new, 5 * DAY, 1, [run(1, cluster=old), run(3, cluster=new)]).another is None  # said the day before

    def test_a_cluster_made_anew_without_an_id(self):
        """0.9 has no id, but an epoch that only rises."""
        found_ = line(HERE, 4 * DAY, 2, [run(1, epoch=7), run(2, epoch=9), run(3, epoch=1)])
        assert ([one.name for one in found_.kept], found_.made_anew) == (["2026-11-03_90"], None)  # said when it had happened
        assert line(HERE, 3 * DAY, 1, [run(1, epoch=7), run(2, epoch=9)]).made_anew.name == "2026-11-02_90"

    def test_against_a_run(self):
        """That one, and no word of those that were made since."""
        runs = [run(day) for day in range(1, 10)]
        found_ = line(HERE, 10 * DAY, 1, runs, against="2026-11-03_90")
        assert (found_.last.name, found_.late, len(found_.kept)) == ("2026-11-03_90", 0, 3)
        other = run(4, cluster=dataclasses.replace(HERE, address="zk9:2181", source="x"))
        for wanted, among in (("2026-11-04_90", [*runs[:3], other]), ("2026-11-99_90", runs), ("2026-11-09_90", runs)):
            with pytest.raises(UsageError):
                line(HERE, 9 * DAY, 1, among, against=wanted)

    def test_a_gap(self):
        """Daily runs, and then none for a week: six are missing."""
        assert line(HERE, 12 * DAY, 1, [run(day) for day in range(1, 6)]).late == 6
        assert line(HERE, 6 * DAY, 1, [run(day) for day in range(1, 6)]).late == 0
        assert line(HERE, 12 * DAY, 1, [run(1), run(5)]).late == 0  # two runs have no rhythm

    def test_a_run_that_was_removed(self):
        """One from the middle is missed; the oldest are tidied up."""
        runs = [run(2, before="2026-11-01_90"), run(4, before="2026-11-03_90"), run(5, before="2026-11-04_90")]
        assert line(HERE, 6 * DAY, 1, runs).missing == ("2026-11-03_90",)

    def test_runs_that_failed_since(self):
        """Of the same source."""
        failed = run(4, cluster=Identity(id=None, address=None, source="live:prod"), failed="ZooKeeper cannot be reached.")
        assert [one.name for one in line(HERE, 6 * DAY, 1, [run(3), failed]).failed] == ["2026-11-04_90"]


def checked(line_, values=(), moves=None, at=10 * DAY):
    """Answers by check."""
    told = since_checks.checks(line_, at, (Measure("controller_epoch", None, None, 1.0), *values), moves, ZNODE_PROOFS)
    return {one.check: one for one in told}


def copy(size, dirty=0.9, limit=0.5, point=100):
    """The measures of a copy of partition 3 on broker 1."""
    rows = {"bytes": size, "dirty_ratio": dirty, "limit": limit, "cleaner_point": point}
    return tuple(Measure(name, 3, 1, value) for name, value in rows.items())


class TestChecks:
    """What only several runs tell."""

    def test_the_first_run(self):
        """Nothing to compare with: no finding, and nothing that could not be checked."""
        assert {one.status for one in checked(RunLine(kept=())).values()} == {Status.NOT_APPLICABLE}

    def test_a_gap_is_said(self):
        """With how long it is."""
        one = checked(line(HERE, 12 * DAY, 1, [run(day) for day in range(1, 6)]), at=12 * DAY)[RUN_BEFORE]
        assert one.severity is Severity.INFO
        assert "7 days before: 6 runs are missing since (they came every 24 hours)" in one.title

    def test_another_cluster_is_said(self):
        """As a warning: nobody should read its trends as those of the old one."""
        line_ = RunLine(kept=(), another=run(2, cluster=dataclasses.replace(HERE, id="old")))
        assert checked(line_)["since.same_cluster"].severity is Severity.WARNING

    @pytest.mark.parametrize(("size", "grown"), [(20 << 20, True), (11 << 20, False), (12 << 20, True)])
    def test_growth(self, size, grown):
        """20 % and 1 MiB beyond the largest of all runs: the saw-tooth of a cleaner that works is none."""
        line_ = RunLine(kept=(run(1, values=copy(10 << 20)), run(2, values=copy(2 << 20))))
        assert (checked(line_, copy(size))["since.offsets_growth"].status is Status.FINDING) is grown

    def test_a_small_copy_may_double(self):
        """That says nothing."""
        line_ = RunLine(kept=(run(1, values=copy(1 << 10)),))
        assert checked(line_, copy(1 << 19))["since.offsets_growth"].status is Status.OK

    def test_little_by_little(self):
        """19 % a day: not on the second morning, but once it is twice what it was in the older half of the runs."""
        sizes = [round((10 << 20) * 1.19**day) for day in range(9)]
        found_ = [
            checked(RunLine(kept=tuple(run(1 + day, values=copy(sizes[day])) for day in range(upto))), copy(sizes[upto]))
            for upto in range(1, 9)
        ]
        statuses = [one["since.offsets_growth"].status for one in found_]
        assert statuses == [Status.OK] * 5 + [Status.FINDING] * 3

    def test_copies_that_nobody_tells_of_now(self):
        """One of two brokers' log dirs is missing, or other copies are there: could not check."""
        both = (*copy(1 << 20), *(one._replace(broker=2) for one in copy(1 << 20)))
        line_ = RunLine(kept=(run(1, values=both),))
        names = ("since.offsets_growth", "since.cleaner_point")
        for values in (copy(1 << 20, point=200), tuple(one._replace(partition=9) for one in both)):
            assert {checked(line_, values)[name].status for name in names} == {Status.COULD_NOT_CHECK}

    def test_a_copy_that_was_due_and_of_which_nothing_is_known_now(self):
        """It may have been cleaned, or not."""
        line_ = RunLine(kept=(run(1, values=copy(1 << 20)),))
        unknown = copy(1 << 20, dirty=None, point=None)
        assert checked(line_, unknown)["since.cleaner_point"].status is Status.COULD_NOT_CHECK

    def test_a_case_without_a_time(self):
        """Nothing is compared, and that is said."""
        assert checked(RunLine(kept=()), at=None)[RUN_BEFORE].status is Status.COULD_NOT_CHECK

    def test_log_dirs_that_are_no_longer_collected(self):
        """Could not check, never ok."""
        line_ = RunLine(kept=(run(1, values=copy(1 << 10)),))
        assert {checked(line_)[name].status for name in ("since.offsets_growth", "since.cleaner_point")} == {
            Status.COULD_NOT_CHECK
        }

    @pytest.mark.parametrize(
        ("before", "now", "stands"),
        [
            (copy(1), copy(1), True),
            (copy(1), copy(1, point=200), False),
            (copy(1), copy(1, dirty=0.4), False),
            (copy(1, dirty=0.4), copy(1), False),
            (copy(1, point=None), copy(1, point=None), True),
        ],
    )
    def test_a_point_that_stands_still(self, before, now, stands):
        """Due in both runs, and cleaned up to the same offset; never cleaned at all counts as well."""
        found_ = checked(RunLine(kept=(run(1, values=before),)), now)["since.cleaner_point"]
        assert (found_.status is Status.FINDING) is stands

    @pytest.mark.parametrize(
        ("flaps", "days", "found_"), [(3, 1, False), (4, 1, True), (10, 7, False), (28, 7, True), (4, 0.1, True)]
    )
    def test_flapping(self, flaps, days, found_):
        """Four times since the last run, and four times a day."""
        answer = checked(RunLine(kept=(run(1),)), moves={("orders", 0): StateWrites(flaps, 0)}, at=round((1 + days) * DAY))
        assert (answer["since.isr_flapping"].status is Status.FINDING) is found_

    def test_states_of_which_none_was_there_before(self):
        """Nothing was looked at, so nothing is well."""
        assert checked(RunLine(kept=(run(1),)), moves={})["since.isr_flapping"].status is Status.COULD_NOT_CHECK


def trend(runs, name, now):
    """The trend of a measure of the whole cluster, in a run on day 10."""
    since_ = Since(
        at=10 * DAY, line=RunLine(kept=tuple(runs)), changes=(), measures=(Measure(name, None, None, now),), findings=()
    )
    return next(one for one in trends.whole(since_) if one.name == name)


class TestTrends:
    """How numbers went."""

    def test_a_day(self):
        """What was counted since the first run, by the days since then; with a run gone from between nobody knows."""
        counted = [
            run(day, epoch=None, before=f"2026-11-{day - 1:02}_90", values=(Measure("isr_changes", None, None, 10.0),))
            for day in range(6, 10)
        ]
        assert trend(counted, "isr_changes", 10.0).per_day == 10.0
        assert trend([counted[0], *counted[2:]], "isr_changes", 10.0).per_day is None

    def test_as_it_is_since(self):
        """From the first of the runs that say the same; unknown ends it."""
        values = [(Measure("leaderless", None, None, value),) for value in (2.0, None, 3.0, 3.0)]
        runs = [run(day, values=value) for day, value in zip(range(6, 10), values, strict=True)]
        assert trend(runs, "leaderless", 3.0).since == 8 * DAY
        assert trend(runs, "leaderless", 4.0).since is None


class TestMoved:
    """What versions and leader epochs of a state tell."""

    def test_who_wrote(self):
        """The controller raises the leader epoch, the leader does not."""
        before, now = {("t", 0): Written(10, 4), ("t", 1): Written(3, 3)}, {("t", 0): Written(17, 6), ("t", 1): Written(3, 3)}
        assert moved(before, now) == {("t", 0): StateWrites(isr=5, leader=2), ("t", 1): StateWrites(0, 0)}

    def test_a_topic_made_anew_or_new(self):
        """Its counters begin again: nothing is known."""
        assert moved({("t", 0): Written(10, 4)}, {("t", 0): Written(1, 0), ("u", 0): Written(5, 5)}) == {}


def test_every_answer_is_one_of_a_fixed_list():
    """A report that has fewer answers than the last one would be taken for one that checked less."""
    first, later = checked(RunLine(kept=())), checked(RunLine(kept=(run(1),)))
    assert first.keys() == later.keys()
    assert run_line.line(HERE, DAY, None, []).kept == ()
    assert measures.moved({}, {}) == {}
