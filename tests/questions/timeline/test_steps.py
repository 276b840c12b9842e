"""Clocks that were set while their logs were written: found where lines tell, and each stretch with its own skew."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from casebook.case.case import Case
from casebook.findings.finding import Severity, Status
from casebook.formats.zookeeper import history_facts
from casebook.kafka import release
from casebook.kafka.past_rows import Clock, ClockStep, Late
from casebook.machine import places
from casebook.questions.timeline.analysis import timeline
from casebook.questions.timeline.analysis.clocks import clock_checks, corrected
from casebook.questions.timeline.scans import logs
from tests.questions.timeline.scenes import T0, History, event, examined, finding, log
from tests.shifted_logs import shifted

HOURS = 3 * 3_600_000


def found_in(folder):
    case = Case.open(folder)
    cluster, told = case.cluster(), logs.read(case)
    history = history_facts.read(case.history())
    return timeline.examine(cluster, release.release(cluster), events=told.events(), files=told.files, history=history)


def clock_of(found, broker):
    return next(clock for clock in found.clocks if clock.broker == broker)


@pytest.fixture(scope="module")
def sample():
    return places.samples_dir() / "acks1_loss"


@pytest.fixture(scope="module")
def plain(sample):
    return found_in(sample)


def middle(found):
    """A moment between the two registrations of the broker that came back."""
    first, second = (row.time for row in found.rows if row.kind == "broker_registered" and row.broker == 1)
    return (first + second) // 2


class TestSample:
    @pytest.mark.parametrize("hours", [3, -3])
    def test_second_half(self, hours, sample, plain, tmp_path):
        """NTP moved the clock of one broker: it is said where, and all rows stand where they stood."""
        since = datetime.fromtimestamp(middle(plain) / 1000, UTC).replace(tzinfo=None)
        moved = found_in(shifted(sample, tmp_path / "copy", seconds={1: hours * 3600}, since=since))
        (step,) = (clock := clock_of(moved, 1)).steps
        assert abs(clock.skew) <= 50
        assert abs(step.skew - hours * 3_600_000) <= 50
        assert (step.left < middle(plain) <= step.shown - hours * 3_600_000) is True
        told = finding(moved, "clocks")
        assert (told.severity, [one.label for one in told.evidence]) == (Severity.WARNING, [step.before, step.after])
        assert f"{'forward' if hours > 0 else 'back'} by 3 h 0 min" in told.title
        kinds = ("truncated", "become_follower", "broker_registered", "zk_session_expired")
        at, before = ({(r.file, r.line): r.at for r in one.rows if r.kind in kinds and r.broker == 1} for one in (moved, plain))
        assert before
        assert {place: pytest.approx(time, abs=100) for place, time in before.items()} == at
        lengths = [[(w.kind, w.topic, w.partition, w.length and w.length // 1000) for w in one.windows] for one in (moved, plain)]
        assert lengths[0] == lengths[1]

    def test_nothing_was_set(self, plain):
        """As it was captured."""
        assert [clock.steps for clock in plain.clocks] == [()] * len(plain.clocks)


def lines(*times, kind="segment_rolled", broker=1, file="server.log"):
    return [event(kind, at, broker, line=number, file=file) for number, at in enumerate(times, start=1)]


class TestBack:
    def test_without_anything_to_hold_it_against(self):
        """Lines that go back and go on so are told; the stretch behind it could not be ordered."""
        found = examined(*lines(0, 60_000, 20_000, 30_000, 40_000))
        (step,) = clock_of(found, 1).steps
        assert (step.left - T0, step.shown - T0, step.skew) == (60_000, 20_000, None)
        assert (step.before, step.after) == ("brokers/1/logs/server.log:2", "brokers/1/logs/server.log:3")
        told = finding(found, "clocks")
        assert "back by 40 s or more" in told.title
        assert "could not be ordered" in told.why
        assert [silence.proof for silence in found.silences if silence.kind == "clock" and silence.broker == 1] == [step.after]

    def test_set_in_a_pause(self):
        """Lines that go on to later times do not tell how far: a pause may lie between them."""
        step = ClockStep("a.log:1", "a.log:2", T0, T0 + 9000, 7_200_000, 20, {}, False)
        clock = Clock("broker 1", 1, None, None, 0, "ZooKeeper", False, "", (step,))
        told = clock_checks.clocks(SimpleNamespace(clocks=(clock,), reference="ZooKeeper", timezone="UTC"))
        assert told.title == "The clock of broker 1 was set by an unknown time while its log was written"

    def test_a_thread_that_prints_late(self):
        """One line that comes late, or a few milliseconds of disorder, are no clock."""
        assert clock_of(examined(*lines(0, 60_000, 20_000, 60_010, 60_020)), 1).steps == ()
        assert clock_of(examined(*lines(0, 1000, 990, 980, 985, 1500)), 1).steps == ()

    def test_threads_that_waited_while_the_machine_slept(self):
        """Several lines that come seconds late, after which the clock goes on where it was; a set clock runs through that time anew."""
        woken = lines(0, 5943, 2532, 2841, 2540, 6089, 6098, 6200, 6300)
        assert clock_of(examined(*woken), 1).steps == ()
        assert len(clock_of(examined(*lines(0, 5943, 2532, 3400, 4300, 5200, 6089)), 1).steps) == 1

    def test_other_files_of_the_same_clock(self):
        """They are cut where they go back themselves, else where they are past what the clock showed last."""
        own, other = lines(0, 60_000, 20_000, 30_000, 40_000), lines(10_000, 55_000, 25_000, file="controller.log")
        quiet = lines(10_000, 61_000, file="state-change.log")
        (step,) = clock_of(examined(*own, *other, *quiet), 1).steps
        assert {file.rpartition("/")[2]: line for file, line in step.lines.items()} == {
            "server.log": 3,
            "controller.log": 3,
            "state-change.log": 2,
        }

    def test_files_that_lie_before_it(self):
        """One with lines of before the first is of behind the cut, unless older files are there, which begin earlier."""
        own, early = lines(0, 60_000, -50_000, -40_000, -30_000), lines(-45_000, -44_000, file="controller.log")
        (step,) = clock_of(examined(*own, *early), 1).steps
        assert step.lines["brokers/1/logs/controller.log"] == 1
        older = lines(-30_000, -20_000, file="server.log.2019-10-12-10")
        (step,) = clock_of(examined(*own, *early, *older), 1).steps
        assert step.lines.keys() == {"brokers/1/logs/server.log"}


class TestForward:
    def told(self, *skews, every=10_000, pause=0):
        """A controller's lines, each a few milliseconds after its transaction, by a clock that is ahead by so much."""
        told, printed = History(), []
        told.register(1, -50_000, 0xA)
        for number, skew in enumerate(skews):
            at = number * every + (pause if number >= len(skews) // 2 else 0)
            told.write("t", number, 1, (1, 2), 0, at)
            fields = {"topic": "t", "partition": number, "leader": 1, "leader_epoch": 0}
            printed.append(event("partition_changed", at + 4, 1, line=number + 1, skew=skew, **fields))
        return examined(*printed, told=told)

    def test_pairs_before_and_after(self):
        """What no line alone tells: a pause of three hours, in which ZooKeeper's clock went on for ten seconds."""
        (step,) = (clock := clock_of(self.told(0, 0, 0, HOURS, HOURS, HOURS), 1)).steps
        assert (clock.skew, step.skew) == (pytest.approx(0, abs=20), pytest.approx(HOURS, abs=20))
        assert (step.before, step.after) == ("brokers/1/logs/server.log:3", "brokers/1/logs/server.log:4")

    def test_nothing_tells_of_before(self):
        """All that dates its lines stands behind a pause as long as the clock is ahead: lines before it stay where they are."""
        told = History()
        told.register(1, 20_000, 0xA)
        before = lines(0, 5000, 10_000)
        behind = event("broker_registered", 20_004, 1, line=4, skew=HOURS)
        (step,) = (clock := clock_of(examined(*before, behind, told=told), 1)).steps
        assert (clock.skew, step.skew) == (None, pytest.approx(HOURS, abs=20))
        assert (step.before, step.after) == ("brokers/1/logs/server.log:3", "brokers/1/logs/server.log:4")
        steady = [line._replace(time=line.time + HOURS) for line in before]
        clock = clock_of(examined(*steady, behind, told=told), 1)
        assert (clock.skew, clock.steps) == (pytest.approx(HOURS, abs=20), ())

    def test_there_and_back(self):
        """Set forward, and back again."""
        clock = clock_of(self.told(0, 0, 0, HOURS, HOURS, HOURS, 0, 0, 0), 1)
        assert [step.skew for step in clock.steps] == [pytest.approx(HOURS, abs=20), pytest.approx(0, abs=20)]

    def test_a_pause_is_no_step(self):
        """Three hours of silence by both clocks."""
        assert clock_of(self.told(0, 0, 0, 0, 0, 0, pause=HOURS), 1).steps == ()

    def test_a_session_taken_up_again(self):
        """Its lines come hours after it began, behind as long a silence: it is the connection that was lost, not the clock set."""
        told = History()
        told.register(1, 0, 0xA)
        at = (-38, 2, HOURS, HOURS + 300)
        kinds = ("zk_session_established", "broker_registered", "zk_session_established", "zk_session_established")
        printed = [
            event(kind, time, 1, line=n, session="a") for n, (kind, time) in enumerate(zip(kinds, at, strict=True), start=1)
        ]
        clock = clock_of(examined(*printed, told=told), 1)
        assert (clock.skew, clock.steps) == (pytest.approx(0, abs=20), ())

    def test_lines_taken_for_others(self):
        """Some in a row are ahead by hours, and no pause lies before them."""
        told = History()
        told.register(1, -50_000, 0xA)
        told.write("t", 0, 1, (1, 2), 0, 0)
        told.write("t", 1, 1, (1, 2), 0, HOURS)
        fields = {"topic": "t", "leader": 1, "leader_epoch": 0}
        at = [(4, 0), (6, 0), (HOURS + 4, 1), (HOURS + 6, 1), (HOURS + 7, 0), (HOURS + 8, 0)]
        printed = [event("partition_changed", time, 1, line=n, partition=p, **fields) for n, (time, p) in enumerate(at, start=1)]
        assert clock_of(examined(*printed, told=told), 1).steps == ()


def test_of_one_machine():
    """Who writes a file together with a broker that logs in another zone does so in the same; who has a file of its own need not."""
    told = History()
    told.register(1, 20_000, 0xA)
    known = event("broker_registered", 20_004, 1, line=1, skew=HOURS)
    others = [event("segment_rolled", 25_000, broker, line=3, skew=HOURS, file="brokers/1/logs/server.log") for broker in (2, 3)]
    apart = event("segment_rolled", 26_000, 4, line=1)
    found = examined(known, *others, apart, told=told)
    assert [(clock_of(found, b).skew, clock_of(found, b).zone) for b in (2, 3, 4)] == [
        (HOURS, True),
        (HOURS, True),
        (None, False),
    ]


def test_zone_of_who_writes_a_file_beside_another_whose_lines_stand_elsewhere_too():
    """Lines that two files hold are taken from one of them; the other still tells who writes it."""
    told = History()
    told.register(1, 20_000, 0xA)
    known = event("broker_registered", 20_004, 1, line=1, skew=HOURS)
    shared = log(2)._replace(broker=None, speakers=((1, 9), (2, 4)))
    found = examined(known, event("segment_rolled", 25_000, 2, line=3, skew=HOURS), told=told, covered=[log(1), shared])
    assert (clock_of(found, 2).skew, clock_of(found, 2).zone) == (HOURS, True)


def test_covered_by_a_clock_that_was_set_back():
    """The largest of the times that are printed is not that of the last line."""
    clock = clock_of(examined(*lines(0, 3_590_000, 5000, 6000, 7000)), 1)
    printed = [event("segment_rolled", at, 1, line=n) for n, at in ((1, 0), (2, 3_590_000), (3, 5000), (5, 7000))]
    file = log(1, begins=0, ends=3_590_000)
    (covered,) = corrected.covered([file], [clock], lambda: printed)
    assert (covered.first - T0, covered.last) == (0, corrected.corrected(printed, [clock])[-1].time)
    assert covered.last - T0 == pytest.approx(3_607_000, abs=1000)


def test_covered_by_a_clock_that_may_have_been_set_forward_in_the_end():
    """No more is sure than its last line less by what it is late; files that end before it are covered as they say."""
    late = Late(at=T0 + 3_607_000, by=3_600_000, proof="brokers/1/logs/server.log:9")
    clock = clock_of(examined(*lines(0, 5000, 6000, 7000)), 1)._replace(late=late)
    files = [log(1, begins=0, ends=3_608_000), log(1, begins=0, ends=6000)]
    assert [file.last - T0 for file in corrected.covered(files, [clock], tuple)] == [8000, 6000]


def test_well_where_none_was_set():
    """The check stays as it was."""
    told = History()
    told.register(1, 0, 0xA)
    line = event("broker_registered", 3, 1)
    assert finding(examined(line, told=told), "clocks").status is Status.OK
    assert timedelta(milliseconds=clock_of(examined(line, told=told), 1).skew) < timedelta(seconds=1)
