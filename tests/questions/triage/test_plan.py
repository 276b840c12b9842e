"""The plan: whom to start first, what to save before, what not to do; nobody is told to start what cures nothing."""

from dataclasses import replace

import pytest

from casebook.facts.cluster import Problem
from casebook.facts.disks import LogDir, Replica, SegmentFile
from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Question, Severity, Status, Step
from casebook.kafka.release import release
from casebook.kafka.verdict import PartitionCondition
from casebook.questions.leadership.analysis import leadership
from casebook.questions.maintenance.analysis import maintenance
from casebook.questions.timeline.analysis.windows import unclean as timeline_unclean
from casebook.questions.triage.analysis import plan
from casebook.questions.triage.analysis.plan_rows import Act
from tests.evidence import made, override, state
from tests.questions.coordinators import test_coordinators as loads

OFF = override("t", unclean_leader_election_enable="false")
TOPICS = {
    "t": {
        0: ([5, 1], state(-1, [5])),
        1: ([5], state(-1, [5])),
        2: ([6], state(-1, [6])),
        3: ([2, 6], state(2, [2])),
    }
}
ASK = Question(check=timeline_unclean.CHECK, question="?", coverage=Coverage.every(1, "partition", Source.HISTORY))


def lead(*, log_dirs=(), topics=TOPICS, properties=None):
    found = replace(made(topics=topics, extra=[OFF], live=(1, 2)), server_properties=properties or {})
    return leadership.examine(found, release(found), log_dirs)


def unclean(copies):
    """What history tells of elections out of sync."""
    facts = {"brokers": sorted(map(int, copies)), "copies": copies}
    return replace(ASK, facts=facts).found(Severity.WARNING, "may have more")


def acts(made_):
    return [(step.act, step.brokers) for step in made_.steps]


def listed(broker, **segments):
    """A log dir with the folders of partitions of ``t``, each with so many segments."""
    copies = tuple(
        Replica(broker, "t", int(name[1:]), "", "", tuple(SegmentFile(100 * n, 10, None) for n in range(many)))
        for name, many in segments.items()
    )
    return LogDir(broker, f"/{broker}", None, copies)


def test_who_heals_most_is_started_first():
    """And nothing comes before it where history knows that nobody has more than its leader."""
    found = plan.make(lead(), past=(ASK.ok("nobody", gaps=()),))
    assert acts(found) == [(Act.START, (5,)), (Act.START, (6,))]
    assert found.first.text == "Start broker 5: 2 partitions elect a leader at once."


def test_a_start_that_drops_records_says_so():
    """Broker 5 is elected out of sync where unclean election is allowed and nobody is known to have been in sync."""
    allowed = override("u", unclean_leader_election_enable="true")
    topics = TOPICS | {"u": {0: ([5], state(-1, []))}}
    found = made(topics=topics, extra=[OFF, allowed], live=(1, 2))
    first = plan.make(leadership.examine(found, release(found)), past=(ASK.ok("nobody", gaps=()),)).first
    assert first.text == (
        "Start broker 5: 3 partitions elect a leader at once. 1 of these elects it out of sync and drops an unknown number of records."
    )


def test_what_ends_a_broker_again_is_mended_before():
    """A start mends no full disk; of the other broker nothing of the kind is known."""
    root = replace(ASK, check="timeline.root", facts={"ends_again": {"5": "Disk of broker 5 is full"}})
    past = (ASK.ok("nobody", gaps=()), root.found(Severity.WARNING, "Likeliest root: Disk of broker 5 is full"))
    first, second = plan.make(lead(), past=past).steps
    assert first.text.endswith(" Before that, fix what ended it, or it ends again: Disk of broker 5 is full.")
    assert "ends again" not in second.text


def test_a_start_that_ends_a_topic_says_so():
    """Whoever still wants it must not start the broker that its deletion waits for."""
    looked = lead()
    doomed = looked.verdicts[0]._replace(topic="retired", state=PartitionCondition.DELETING, replicas=(6,), live_replicas=())
    steps = plan.make(replace(looked, verdicts=(*looked.verdicts, doomed)), past=(ASK.ok("nobody", gaps=()),)).steps
    assert ["retired then completes and cannot be undone" in step.text for step in steps] == [False, True]


def test_what_only_it_has_is_saved_before():
    """The backup stands right before the start that would cut it, with the reason, wherever that start is ordered."""
    found = plan.make(lead(), past=(unclean({"6": ["t-3"]}),))
    assert acts(found) == [(Act.START, (5,)), (Act.BACK_UP, (6,)), (Act.START, (6,))]
    for check in ("leadership.offline", "leadership.brokers", "maintenance.unregistered_replicas", timeline_unclean.CHECK):
        texts = [step.text for step in found.of(check)]
        assert texts[1].startswith("Back up t-3 from broker 6 before you start it: once it follows its leader, it truncates"), (
            check
        )


def test_the_verdict_names_whom_to_start_only_where_that_comes_first():
    """An alert shows nothing but the title."""
    looked = lead()
    titles = [
        plan.make(looked, past=(unclean(copies),)).advise(looked.findings)[0].title for copies in ({"6": ["t-3"]}, {"5": ["t-3"]})
    ]
    plain = "3 of 4 partitions have no leader"
    assert titles == [f"{plain}; start broker 5 first: heals 2", plain]


@pytest.mark.parametrize("past", [(), (ASK.could_not_check("unknown", settle="-"),)])
def test_a_start_of_which_nobody_knows_what_it_cuts_says_so(past):
    """Broker 6 follows broker 2 with t-3; broker 5 follows nobody."""
    first, second = plan.make(lead(), past=past).steps
    assert "unknown" not in first.text
    assert second.text.endswith(
        "It then truncates 1 copy to the logs of living leaders; whether records are lost by that is unknown."
    )


class TestLogDirsThatHoldNothing:
    def test_no_start_is_ordered(self):
        """Its folders are there, and no segment in them: it would lead with empty logs. It heals nothing, so broker 6 is first."""
        looked = lead(log_dirs=[listed(5, p0=0, p1=0)])
        found = plan.make(looked, past=(ASK.ok("nobody", gaps=()),))
        assert acts(found) == [(Act.FIND_DATA, (5,)), (Act.START, (6,))]
        assert "hold no segment of 2 offline partitions" in found.first.text
        offline = next(f for f in looked.findings if f.check == "leadership.offline")
        assert (offline.facts["start_first"], offline.facts["heals"]) == ([6], [1])

    def test_those_that_it_has_are_healed(self):
        found = plan.make(lead(log_dirs=[listed(5, p0=3, p1=0)]), past=(ASK.ok("nobody", gaps=()),))
        assert acts(found) == [(Act.FIND_DATA, (5,)), (Act.START, (5,)), (Act.START, (6,))]

    def test_an_empty_segment_is_a_partition_without_records(self):
        one = listed(5, p0=1, p1=1)
        empty = one._replace(replicas=tuple(r._replace(segments=(SegmentFile(0, 0, None),)) for r in one.replicas))
        assert acts(plan.make(lead(log_dirs=[empty])))[0] == (Act.START, (5,))

    def test_another_log_dir_may_hold_them(self):
        """A folder that is missing in one of two proves nothing; nor where nobody knows how many there are."""
        for named, expected in (("/a,/b", Act.START), (None, Act.START), ("/a", Act.FIND_DATA)):
            properties = {5: {"log.dirs": named}} if named else {}
            found = plan.make(lead(log_dirs=[listed(5)], properties=properties))
            assert found.first.act is expected, named


def test_twice_is_once():
    """A report that holds findings of several notebooks does not say a step twice."""
    looked = lead()
    found = plan.make(looked)
    once = found.advise(looked.findings)
    assert found.advise(once) == once


def test_own_advice_follows():
    """What a check advises besides stands behind the plan, and the first step of all stands first."""
    own = ASK.found(Severity.WARNING, "?", next=(Step(kind="first", text="Compare."), Step(kind="not", text="Do not.")))
    (said,) = plan.make(lead()).advise((own,))
    assert [step.kind for step in said.next] == ["first", "then", "not"]
    assert said.next[0].text.startswith("Start broker 5")


def test_each_caution_stands_once():
    """At its step's own check."""
    topics = {"t": {0: ([1, 5], state(-1, [5])), 1: ([1, 6], state(-1, [6]))}}
    looked = lead(topics=topics)
    cautions = [s.text for f in plan.make(looked).advise(looked.findings) for s in f.next if "unclean election" in s.text]
    assert len(cautions) == 1
    assert cautions[0].startswith("Do not turn on unclean election: it elects 2 of 2 and drops an unknown number of records.")


class TestLoads:
    """What is said of brokers whose coordinators load."""

    def held(self, *lines, at=loads.AT, leaders=(1,), **more):
        return loads.examined(loads.cluster(list(leaders)), loads.NEW, events=loads.log(1, *lines), at=at, **more)

    def test_wait_for_one_that_goes_on(self):
        """And no step says so of one whose log ended an hour before: it may have ended since."""
        begun = loads.said(1, "loading", 0, ago=900)
        for at, act in ((loads.AT, Act.WAIT), (loads.AT + 3_600_000, Act.FIND_OUT)):
            (step,) = plan.make(lead(topics={}), held=self.held(begun, at=at)).steps
            assert (step.act, step.brokers, "Do not restart broker 1" in step.never[0]) == (act, (1,), True)
        assert step.text.startswith("Collect the logs of broker 1 again")

    def test_no_wait_for_one_whose_end_may_stand_in_a_hole(self):
        """The plan says of it what the finding says: whether it goes on is not known."""
        held = self.held(loads.said(1, "loading", 0, ago=900), damage="holds zeros")
        (step,) = plan.make(lead(topics={}), held=held).steps
        assert (step.act, step.brokers) == (Act.FIND_OUT, (1,))
        (told,) = (one for one in held.findings if one.check == "coordinators.waiting")
        assert told.status is Status.COULD_NOT_CHECK

    def test_no_time_where_the_size_of_one_is_not_known(self):
        """Those behind it wait for it, too."""
        lines = [
            *loads.loaded(1, 0, ago=30_000, took=10_000),
            *(loads.said(1, "load_scheduled", n, ago=29_000 - n) for n in (1, 2, 3)),
        ]
        sizes = {0: 10, 1: 10, 2: 10, 3: 10}
        for known, timed in ((sizes, True), ({n: sizes[n] for n in (0, 1, 3)}, False)):
            held = self.held(*lines, leaders=(1,) * 4, log_dirs=[loads.log_dir(1, known)])
            (step,) = plan.make(lead(topics={}), held=held).steps
            assert ("until" in step.text) == timed

    def test_nobody_restarts_who_loads(self):
        """By itself it could be restarted, by its partitions: the load would begin again."""
        known = {broker: {"broker.id": str(broker)} for broker in (1, 2)}
        of = replace(loads.cluster([1, 1], live=(1, 2), isr=(1, 2)), server_properties=known)
        held = loads.examined(of, loads.NEW, events=loads.log(1, loads.said(1, "loading", 0, ago=900)), at=loads.AT)
        told = {one.check: one for one in maintenance.examine(of, loads.NEW, held=held).findings}["maintenance.restart_one"]
        assert told.title.endswith("but broker 1 only after its load has ended")
        assert [step.kind for step in told.next] == ["not"]
        partly = replace(of, problems=(Problem(path="/brokers/ids/3", reason="is no JSON"),))
        unseen = {one.check: one for one in maintenance.examine(partly, loads.NEW, held=held).findings}["maintenance.restart_one"]
        assert unseen.status is Status.COULD_NOT_CHECK


def test_what_restarts_brokers_comes_behind_the_plan():
    """Whoever reads of restarts first starts with what the plan starts with."""
    looked = lead()
    short = maintenance.in_short(looked.cluster, looked.version, looked.verdicts)
    made_ = plan.make(looked)
    for told in made_.advise(short.findings):
        firsts = [step.text for step in told.next if step.kind == "first"]
        assert firsts in ([], [made_.first.text]), told.check


def test_what_only_a_ledger_tells_leads_nothing_else():
    """Pages that read no ledger do not know of it: on the same question all advise the same."""
    own = Step(kind="first", text="Drain it.")
    ask = Question(check="maintenance.restart_one", question="?", coverage=Coverage.every(1, "broker", Source.ZNODES))
    lost = replace(ask, check="loss.lost").found(Severity.CRITICAL, "lost")
    restart = ask.found(Severity.WARNING, "one", next=(own,))
    well = replace(lead(), verdicts=(), dead=(), start_first=(), empty=())
    told = plan.make(well, lost=True).advise([restart, lost])
    assert [[step.text[:8] for step in one.next] for one in told] == [["Drain it"], ["Let the "]]


def test_last_copies_that_are_not_there():
    """A dead broker whose log dir lists no segment of a partition has no copy of it."""
    looked = lead()
    listed_dirs = [listed(5, t0=0, t1=2), listed(6, t2=1)]
    told = {
        one.check: one
        for one in maintenance.in_short(looked.cluster, looked.version, looked.verdicts, None, listed_dirs).findings
    }["maintenance.unregistered_replicas"]
    assert told.facts["last_copies"] == 2
    assert "brokers 5 and 6 hold the last complete copies of 2 partitions" in told.title
    assert told.title.endswith("1 partition has no complete copy in any log dir")


def test_a_check_is_behind_the_plan_by_its_whole_name():
    """One whose name only begins like another's has steps of its own."""
    own = Question(
        check=f"{timeline_unclean.CHECK}_elections", question="?", coverage=Coverage.every(1, "partition", Source.HISTORY)
    )
    told = own.found(Severity.WARNING, "one", next=(Step(kind="first", text="Look at it."),))
    (advised,) = plan.make(lead()).advise([told])
    assert [step.text for step in advised.next] == ["Look at it."]
