"""Clocks of generated clusters: skews, zones, daylight saving time; what is said of them holds, or nothing is said."""

from datetime import UTC, datetime
from random import Random
from zoneinfo import ZoneInfo

import pytest

from casebook.errors import UsageError
from casebook.facts.cluster import Broker
from casebook.facts.stamp import Stamp
from casebook.findings.finding import Status
from casebook.questions.timeline.analysis import timeline
from casebook.questions.timeline.analysis.clocks import zones as timeline_zones
from casebook.questions.timeline.analysis.clocks.zones import Zones
from tests.questions.timeline.scenes import NEW, T0, History, cluster, event, examined, finding, log

HOUR = 3_600_000
QUARTER = 900_000
CASES = 300


class Generated:
    """A cluster whose brokers print by clocks of their own; with a history, or with what a walk saw, or with logs alone."""

    def __init__(self, seed):
        self.random = random = Random(seed)
        self.brokers = range(1, random.randint(2, 5))
        self.skews = {broker: self._skew() for broker in self.brokers}
        self.starts = {broker: random.randint(1, 4) for broker in self.brokers}
        self.told, self.events, self.walked = History(), [], {}
        self.how = random.choice(("history", "walk", "logs"))
        self._play()

    def _skew(self):
        random = self.random
        wrong = random.choice((0, 0, random.randint(-400, 400), random.randint(-90_000, 90_000), random.randint(-HOUR, HOUR)))
        return wrong + random.choice((0, 0, 0, 1)) * QUARTER * random.randint(-48, 56)

    def late(self):
        """Milliseconds that a line takes: few, and now and then many."""
        return self.random.randint(0, 12) if self.random.random() < 0.95 else self.random.randint(12, 500)

    def _print(self, broker, kind, at, **fields):
        self.events.append(event(kind, at + self.late(), broker, line=len(self.events) + 1, skew=self.skews[broker], **fields))

    def _play(self):
        random, epochs = self.random, {}
        at, session = -40 * HOUR, 0x100
        order = [broker for broker in self.brokers for _ in range(self.starts[broker])]
        random.shuffle(order)
        for broker in order:
            at += random.randint(40_000, 3 * HOUR)
            session += 1
            stamp = T0 + at - random.randint(0, 9) + self.skews[broker]
            czxid = self.told.register(broker, at, session)
            self.told.rows[-1] = self.told.rows[-1]._replace(stamp=stamp)
            self.walked[broker] = Broker(id=broker, timestamp=stamp, stamp=Stamp(created_at=T0 + at, created_in=czxid))
            self._print(broker, "broker_starting", at - random.randint(600, 9000))
            self._print(broker, "zk_session_established", at - 40, session=f"{session:x}")
            self._print(broker, "broker_registered", at, **({"czxid": czxid} if random.random() < 0.3 else {}))
            if random.random() < 0.7:
                seen = at + random.randint(20, 180)
                self._print(1, "broker_change", seen, file="controller.log", added=broker, deleted="", live=broker)
            for partition in range(random.randint(0, 12)):
                at += random.randint(5, 60_000)
                epoch = epochs[partition] = epochs.get(partition, -1) + 1
                self.told.write("t", partition, broker, (broker,), epoch, at)
                place = {"topic": "t", "partition": partition, "leader": broker, "leader_epoch": epoch}
                self._print(1, "partition_changed", at, file="state-change.log", **place)
                self._print(broker, "become_leader", at + random.randint(3, 900), **place)
            if random.random() < 0.3:
                self._print(broker, "zk_session_established", at + random.randint(60_000, HOUR), session=f"{session:x}")
        self.events = [
            one._replace(line=number)
            for number, one in enumerate(sorted(self.events, key=lambda one: one.time - self.skews[one.broker]), 1)
        ]
        keep = {b for b in self.brokers if random.random() < 0.9} or {1}
        cut = {
            b: T0 + self.skews[b] + random.randint(-41 * HOUR, -5 * HOUR) if random.random() < 0.4 else 0 for b in self.brokers
        }
        self.events = [one for one in self.events if one.broker in keep and (not cut[one.broker] or one.time > cut[one.broker])]

    @property
    def clocks(self):
        history = self.told.rows if self.how == "history" else ()
        of = cluster(brokers=self.walked) if self.how == "walk" else cluster()
        files = [log(broker, begins=-50 * HOUR) for broker in sorted({one.broker for one in self.events})]
        return timeline.examine(of, NEW, events=self.events, files=files, history=history)


def reference(found, skews):
    """Milliseconds by which the clock is ahead that all are held against."""
    return skews[int(found.reference.removeprefix("broker "))] if found.reference.startswith("broker ") else 0


def test_nothing_outside_its_interval():
    """Of each clock that is said to be known, the truth lies within its uncertainty, and a vague one is not said to be known."""
    outside, known = [], 0
    for seed in range(CASES):
        made = Generated(seed)
        found = made.clocks
        by = reference(found, made.skews)
        for clock in found.clocks:
            if clock.skew is None or clock.owner == found.reference:
                continue
            known += 1
            assert clock.uncertainty <= max(1000, min(abs(clock.skew), QUARTER) // 2), seed
            if not clock.steps and abs(clock.skew - (made.skews[clock.broker] - by)) > clock.uncertainty:
                outside.append((seed, made.how, clock, made.skews[clock.broker] - by))
    assert outside == []
    assert known >= CASES


def test_a_zone_is_found_with_what_to_type():
    """Read again with it, nothing is off any more."""
    at = {1: 0, 2: 8 * HOUR, 3: -int(3.5 * HOUR)}
    told = History()
    lines = []
    for broker, zone in at.items():
        zxid = told.register(broker, 1000 * broker, 0x10 + broker)
        lines.append(event("broker_registered", 1000 * broker + 4, broker, skew=zone, czxid=zxid))
    found = finding(examined(*lines, told=told), "clocks")
    assert found.facts["timezone"] == "UTC, 2=+08:00, 3=-03:30"
    assert found.next[0].command.endswith('-p timezone="UTC, 2=+08:00, 3=-03:30"')
    assert [Zones.parse(found.facts["timezone"]).of(broker) for broker in at] == ["UTC", "+08:00", "-03:30"]


@pytest.mark.parametrize(
    ("printed", "timezone", "typed"),
    [
        (["-0400", "-0400"], "UTC", "UTC, 1=-04:00"),
        (["+0100", "+0200"], "UTC", "UTC, 1=Europe/Berlin"),
        (["+0100", "+0200"], "Europe/Berlin", None),
        (["+0000"], "UTC", None),
        ([], "UTC", None),
    ],
)
def test_a_zone_that_the_collector_of_garbage_prints(printed, timezone, typed):
    """A process has one zone: what to type is known though nothing else tells how far its clock is off."""
    winter, summer = 100 * 24 * HOUR, 300 * 24 * HOUR  # behind 12 October
    lines = [event("gc_pause", at, 1, file="kafkaServer-gc.log", line=at, ms=9, zone=zone)
             for at, zone in zip((winter, summer), printed, strict=False)]  # fmt: skip
    found = finding(examined(event("segment_rolled", 0, 1), *lines, timezone=timezone), "clocks")
    assert found.facts["timezone"] == typed
    assert [step.command.partition("timezone=")[2] for step in found.next] == ([f'"{typed}"'] if typed else [])
    assert found.status is Status.COULD_NOT_CHECK


def test_a_moment_by_logs_alone_says_in_which_zone_it_was_read():
    """Also below an answer that could not be checked wholly; where the collector of garbage names another, there is no moment."""
    lost = [event("partition_changed", 0, 1, topic="t", partition=0, leader=1, leader_epoch=0, isr="1"),
            event("isr_removed", 5000, 1, topic="t", partition=0, line=2, leader=-1, leader_epoch=1, isr="1")]  # fmt: skip
    pause = event("gc_pause", 6000, 1, file="kafkaServer-gc.log", ms=9, zone="-0400")
    found = [finding(examined(*lost, *more), "leaderless") for more in ((), (pause,))]
    assert [one.since is not None for one in found] == [True, False]
    plain, told = (one.caveats[-1] for one in found)
    assert plain == "The time zone of the logs is unknown; their times are read as UTC."
    assert told == "Lines of broker 1 show that it logged in -04:00 then; their times are read as UTC."


@pytest.mark.parametrize(
    ("ahead", "late", "timezone", "typed", "told"),
    [
        (0, 3, "UTC", None, True),
        (2 * HOUR, 3, "UTC", "UTC, 1=+02:00", True),
        (2 * HOUR, 60_000, "UTC", None, False),
        (2 * HOUR, 3, "+02:00", None, True),
    ],
)
def test_a_start_that_prints_its_moment_tells_the_zone(ahead, late, timezone, typed, told):
    """By logs alone; a line that came a minute late tells nothing."""
    read = ahead - (2 * HOUR if timezone == "+02:00" else 0)
    lines = [event("clock_told", late, 1, skew=read, epoch_ms=T0),
             event("partition_changed", 4000, 1, line=2, skew=read, topic="t", partition=0, leader=1, leader_epoch=0, isr="1"),
             event("isr_removed", 5000, 1, line=3, skew=read, topic="t", partition=0, leader=-1, leader_epoch=1, isr="1")]  # fmt: skip
    found = examined(*lines, timezone=timezone)
    assert finding(found, "clocks").facts["timezone"] == typed
    caveats = " ".join(finding(found, "leaderless").caveats)
    assert ("The time zone of the logs is unknown" in caveats, "logged in +02:00" in caveats) == (not told, typed is not None)


def test_a_zone_that_changed_while_nothing_was_logged():
    """There and back, with days between: no line goes back, but what happened with them tells."""
    told, printed = History(), []
    zones = (5.5, 5.5, -7, -7, 5.5, 5.5)
    for turn, zone in enumerate(zones):
        at = turn // 2 * 100 * HOUR + turn % 2 * HOUR
        zxid = told.register(1, at, 0x10 + turn)
        printed.append(event("broker_registered", at + 4, 1, line=turn + 1, skew=int(zone * HOUR), czxid=zxid))
        told.lose(1, at + 60_000, 0x10 + turn)
    found = examined(*printed, told=told)
    (clock,) = (one for one in found.clocks if one.broker == 1)
    skews = [clock.skew, *(step.skew for step in clock.steps)]
    assert [round(skew / HOUR, 3) for skew in skews] == [5.5, -7, 5.5]
    assert "its time zone changed" in finding(found, "clocks").title


@pytest.mark.parametrize(
    ("timezone", "broker", "ahead", "typed"),
    [
        ("UTC", 2, 8 * HOUR, "UTC, 2=+08:00"),
        ("Europe/Berlin", 2, -HOUR, "Europe/Berlin, 2=+01:00"),
        ("UTC, 2=+08:00", 2, -8 * HOUR, "UTC, 2=UTC"),
        ("UTC, 1=Asia/Shanghai", 2, 5 * HOUR + 2 * QUARTER, "UTC, 1=Asia/Shanghai, 2=+05:30"),
    ],
)
def test_typed(timezone, broker, ahead, typed):
    """What was typed before stays, but for the broker whose zone was found."""
    assert timeline_zones.typed(timezone, {broker: timeline_zones.offset(timezone, broker, ahead, T0)}) == typed


@pytest.mark.parametrize("name", ["+8", "+15:00", "08:00", "+08:60"])
def test_no_offset(name):
    with pytest.raises(UsageError):
        Zones.parse(f"UTC, 2={name}")


def change(zone, month, day):
    """A broker in a zone with daylight saving time, read as UTC, on the day on which the offset changes, every ten minutes."""
    told, lines = History(), []
    begin = int(datetime(2023, month, day, tzinfo=UTC).timestamp() * 1000) - T0
    zxid = told.register(1, begin - HOUR, 0xA)

    def skew(at):
        return 1000 * int(datetime.fromtimestamp((T0 + at) / 1000, UTC).astimezone(ZoneInfo(zone)).utcoffset().total_seconds())

    lines.append(event("broker_registered", begin - HOUR + 3, 1, skew=skew(begin - HOUR), czxid=zxid))
    for number in range(120):
        at = begin + number * 600_000
        told.write("t", number, 1, (1,), 0, at)
        fields = {"topic": "t", "partition": number, "leader": 1, "leader_epoch": 0}
        lines.append(event("partition_changed", at + 3, 1, line=number + 2, skew=skew(at + 3), **fields))
    return examined(*lines, told=told)


@pytest.mark.parametrize(("month", "day", "way"), [(3, 26, "forward"), (10, 29, "back")])
def test_daylight_saving_time(month, day, way):
    """A zone changed, and no clock was set; the zone to type knows of the change."""
    found = finding(change("Europe/Berlin", month, day), "clocks")
    assert found.title.startswith(f"The times of broker 1 moved {way} by 60 min")
    assert "clock of broker 1 was set" not in found.title
    assert found.facts["timezone"] == "UTC, 1=Europe/Berlin"


def test_daylight_saving_time_without_anything_to_hold_it_against():
    """An hour back, but for a few seconds: what the end of daylight saving time looks like."""
    times = [*range(0, 600_000, 60_000), *range(540_000 - HOUR + 60_000, 540_000, 60_000)]
    lines = [event("segment_rolled", at, 1, line=number) for number, at in enumerate(times, start=1)]
    title = finding(examined(*lines), "clocks").title
    assert "put together out of order" in title or "daylight saving time" in title
    assert not title.startswith("The clock")


def test_two_processes_in_one_file():
    """Their times go there and back, always by as much: nobody set a clock, and none is known."""
    times = [at + (8 * HOUR if number // 4 % 2 else 0) for number, at in enumerate(range(0, 600_000, 10_000))]
    lines = [event("segment_rolled", at, 1, line=number) for number, at in enumerate(times, start=1)]
    found = examined(*lines)
    told = finding(found, "clocks")
    assert told.title == "Two processes write the log of broker 1: their times differ by 8 h 0 min"
    assert found.clocks[0].steps == ()
    assert all(row.at == row.time for row in found.rows if row.source == "broker")


def test_files_put_together_out_of_order():
    """The newer one first: named as what it may be."""
    times = [*range(HOUR, 2 * HOUR, 60_000), *range(0, HOUR, 60_000)]
    lines = [event("segment_rolled", at, 1, line=number) for number, at in enumerate(times, start=1)]
    assert finding(examined(*lines), "clocks").title.startswith("brokers/1/logs/server.log was assembled out of order, or")


def test_pairs_of_different_starts():
    """A log of other starts than the one that the znode knows tells nothing of the clock, and nothing is moved by it."""
    walked = {1: Broker(id=1, timestamp=T0, stamp=Stamp(created_at=T0 + 4, created_in=9))}
    lines = [event("broker_registered", -58 * HOUR + 17_000 * n, 1, line=n) for n in range(1, 40)]
    found = examined(*lines, of=cluster(brokers=walked))
    (clock,) = found.clocks
    assert abs(clock.skew or 0) <= 5
    seen = [event("broker_change", at, 1, file="controller.log", added="2", deleted="", live="1,2") for at in (0, 7_000_000)]
    lines = [event("broker_registered", at, 2) for at in (-113_000, 5_000_000)]
    found = examined(*seen, *lines, event("broker_failure", 1, 1, brokers="3"))
    assert next(clock.skew for clock in found.clocks if clock.broker == 2) is None


@pytest.mark.parametrize(("least", "apart"), [(3, 0.25), (20, 1), (60, 5)])
def test_lines_that_contradict_one_another_by_hours(least, apart):
    """80 h, give or take 10 h, is far off and tells not even a zone: no finding, and no time is moved."""
    told, lines = History(), []
    told.register(1, -HOUR, 0xA)
    for number in range(9):
        at, fields = number * 60_000, {"topic": "t", "partition": number, "leader": 1, "leader_epoch": 0}
        told.write("t", number, 1, (1,), 0, at)
        skew = int((least + number * apart) * HOUR)
        lines.append(event("partition_changed", at + 3, 1, line=number + 2, skew=skew, **fields))
    found = examined(*lines, told=told)
    assert finding(found, "clocks").status is Status.COULD_NOT_CHECK
    assert all(row.at == row.time for row in found.rows)


@pytest.mark.parametrize(("ahead", "well"), [((0, 0, 1), False), ((0, 1), False), ((0, 1, 0), True), ((0, 0, 0), True)])
def test_the_last_line_tells_of_a_change(ahead, well):
    """Where the last start bears a time an hour late, nobody may say that the clock agrees; a later one tells that it was late."""
    told, lines = History(), []
    for number, hours in enumerate((0, *ahead)):
        broker = 1 if number == 0 else 2
        zxid = told.register(broker, number * 200 * HOUR, 0x20 + number)
        lines.append(event("broker_registered", number * 200 * HOUR + 4, broker, line=number, skew=hours * HOUR, czxid=zxid))
    found = finding(examined(*lines, told=told), "clocks")
    assert (found.status is Status.OK) == well


def test_nobody_agrees_with_itself():
    """One log, and nothing to hold it against: unknown."""
    lines = [event("partition_changed", n, 0, line=n + 1, topic="t", partition=n, leader=0, leader_epoch=0) for n in range(5)]
    told = finding(examined(*lines), "clocks")
    assert told.status is Status.COULD_NOT_CHECK
    assert "agrees" not in told.title
