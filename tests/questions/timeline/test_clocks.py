"""Clocks: what bounds them, what does not, and what a wrong zone looks like."""

import pytest

from casebook.facts.cluster import Broker, epoch_ms
from casebook.facts.events import Event, owner_of
from casebook.facts.stamp import Stamp
from casebook.findings.finding import Severity, Status
from tests.questions.timeline.scenes import CUT, ELECTED, T0, History, cluster, event, examined, files, finding, incident, windows

SHIFTS = {55: -40_000, 56: 3000, 57: 7_200_000}


def skews(found):
    return {clock.owner: clock.skew for clock in found.clocks}


def test_a_latest_moment_bears_the_doubt_of_the_clocks():
    """A log that was not wholly read makes the moment a bound; the clock that tells of it may be wrong."""
    whole, torn = incident(), incident(files=[files()[0]._replace(damage="its end is torn"), *files()[1:]])
    first, bound = (finding(one, "two_leaders") for one in (whole, torn))
    assert (first.at_latest, bound.at_latest) == (False, True)
    assert epoch_ms(bound.since) - epoch_ms(first.since) == max(clock.uncertainty for clock in torn.clocks)


class TestShifted:
    def test_skews_are_found(self):
        """Logs that are 40 s late, 3 s early and 2 h early are known to be, within their uncertainty."""
        found = incident(skew=SHIFTS)
        assert {clock.broker for clock in found.clocks} == set(SHIFTS)
        for clock in found.clocks:
            assert abs(clock.skew - SHIFTS[clock.broker]) <= max(clock.uncertainty, 20)
        assert [clock.broker for clock in found.clocks if clock.zone] == [57]

    def test_windows_stay(self):
        """They are those of the true clocks, within 100 ms."""
        hit = windows(incident(skew=SHIFTS), "two_leaders")
        assert [window.opened for window in hit] == [T0 + ELECTED + n for n in range(24)]
        assert [window.closed for window in hit] == pytest.approx([T0 + CUT + n for n in range(24)], abs=100)

    def test_chain_stays(self):
        """The order of links does not depend on the clocks."""
        kinds = [[link.effect.kind for link in incident(skew=skew).chains[0].links] for skew in (None, SHIFTS)]
        assert kinds[0] == kinds[1]

    def test_finding(self):
        """A clock that is off is a warning; a zone is said to be likelier."""
        found = finding(incident(skew=SHIFTS), "clocks")
        assert found.severity is Severity.WARNING
        assert "2 h 0 min ahead of ZooKeeper: it may log in another time zone" in found.title
        assert finding(incident(), "clocks").status is Status.OK

    def test_without_history(self):
        """Then the controller's clock is the reference; who prints before it was told is late by at least that."""
        found = incident(skew={57: -40_000}, history=())
        assert found.reference == "broker 56"
        clock = next(clock for clock in found.clocks if clock.broker == 57)
        assert abs(clock.skew + 40_000) <= 1500
        assert clock.uncertainty >= 1000

    def test_doubtful_skew_is_not_applied(self):
        """Between logs alone, a skew that is no more than its uncertainty may be none: times stay as printed."""
        seen = [event("broker_change", at + 70, 1, line=at, added="2", deleted="", live="1,2") for at in (0, 50_000)]
        lines = [event("broker_registered", at, 2, skew=-100) for at in (0, 50_000)]
        found = examined(*seen, *lines, event("broker_failure", 1, 1, brokers="3"))
        clock = next(clock for clock in found.clocks if clock.broker == 2)
        assert (clock.skew, clock.uncertainty) == (0, pytest.approx(350, abs=100))
        assert "no more than its uncertainty" in clock.why
        assert all(row.at == row.time for row in found.rows)

    @pytest.mark.parametrize("hours", [2, 0])
    def test_lines_on_another_topic_of_the_name_do_not_count(self, hours):
        """A topic that was deleted unseen had the same epochs: a few lines would be minutes, or months, before the state."""
        shift = hours * 3_600_000
        told, lines = History(), []
        told.register(1, -50_000, 0xA)
        for number in range(40):
            told.write("t", number, 1, (1,), 0, number)
            early = {5: -700_000, 9: -800_000, 20: -90 * 86_400_000}.get(number, 0)
            lines.append(event("partition_changed", number + 3 + early, 1, skew=shift, line=number + 9, topic="t", partition=number,
                               from_="NewPartition", to="OnlinePartition", leader=1, leader_epoch=0, isr="1"))  # fmt: skip
        (clock,) = examined(*lines, told=told).clocks
        assert abs(clock.skew - shift) <= clock.uncertainty + 5 <= 100

    def test_words(self):
        """A clock is ahead of another, or behind it; two unknown ones are off."""
        assert "40 s behind ZooKeeper" in finding(incident(skew={57: -40_000}), "clocks").title
        found = examined(event("segment_rolled", 0, 1), event("segment_rolled", 0, 2))
        assert finding(found, "clocks").title == "It is unknown how far the clocks of broker 1, broker 2 are off"
        assert finding(examined(), "clocks").title == "It is unknown how far the clocks of the logs are off"

    def test_a_single_clock(self):
        """One clock is no "all"."""
        told = History()
        told.register(57, 0)
        assert finding(examined(told=told), "clocks").title.startswith("The clock of broker 57 agrees with ZooKeeper within ")
        assert finding(incident(), "clocks").title.startswith("All 3 clocks agree with ZooKeeper within ")

    def test_seen_to_register(self):
        """Who registers is seen by the controller at about that time, one after the other."""
        seen = [event("broker_change", at + 90, 1, line=at, added="2", deleted="", live="1,2") for at in (0, 50_000)]
        lines = [event("broker_registered", at, 2, skew=-40_000) for at in (0, 50_000)]
        found = examined(*seen, *lines, event("broker_failure", 1, 1, brokers="3"))
        clock = next(clock for clock in found.clocks if clock.broker == 2)
        assert (clock.skew, clock.uncertainty) == (pytest.approx(-40_000, abs=200), 200)


class TestBounds:
    def history(self):
        told = History()
        self.zxid = told.register(1, 0, 0xA)
        for number in range(6):
            told.write("t", number, 1, (1, 2), 0, 1000 + number)
        return told

    def test_line_after_transaction(self):
        """What reports a write bounds the clock from above, what announces one from below."""
        told = self.history()
        told.write("t", 0, 1, (1,), 0, 5000, by=1)
        lines = [
            event("partition_changed", 1004, 1, topic="t", partition=0, leader=1, leader_epoch=0, skew=500),
            event("isr_shrunk", 4998, 1, topic="t", partition=0, old="1,2", new="1", skew=500),
        ]
        clock = examined(*lines, told=told).clocks[0]
        assert (clock.skew, clock.uncertainty, clock.pairs) == (501, 3, 3)

    @pytest.mark.parametrize("lines", [1, 2])
    def test_a_change_of_which_the_history_knows_nothing(self, lines):
        """An ISR as it was made, or changed once, is not the same change again behind the history's end."""
        told = self.history()
        if lines == 2:
            told.write("t", 0, 1, (1,), 0, 5000, by=1)
            told.write("t", 0, 1, (1, 2), 0, 6000, by=1)
        known = event("partition_changed", 1004, 1, topic="t", partition=0, leader=1, leader_epoch=0)
        again = [
            event("isr_expanded", at, 1, line=at, topic="t", partition=0, old="1", new="1,2") for at in (5998, 34_000)[-lines:]
        ]
        clock = examined(known, *again, told=told).clocks[0]
        assert abs(clock.skew) < 100

    def test_a_state_of_which_an_earlier_write_is_missing(self):
        """It tells when it was written last, as a snapshot's does: its leader may have been elected before."""
        told = self.history()
        told.versions["t", 0] += 1
        told.write("t", 0, 2, (1, 2), 1, 9000)
        known = event("partition_changed", 1004, 1, topic="t", partition=1, leader=1, leader_epoch=0)
        elected = event("partition_changed", 2000, 1, line=2, topic="t", partition=0, leader=2, leader_epoch=1)
        assert abs(examined(known, elected, told=told).clocks[0].skew) < 100

    def test_hearing_late_is_no_bound(self):
        """A broker that learns of its leader minutes later is not ahead: its clock is unknown."""
        told = self.history()
        told.rows = [row._replace(stamp=None) for row in told.rows]
        lines = [event("become_follower", 90_000, 2, topic="t", partition=n, leader=1, leader_epoch=0) for n in range(6)]
        clock = next(clock for clock in examined(*lines, told=told).clocks if clock.broker == 2)
        assert clock.skew is None
        assert "at most" in clock.why

    def retold(self, elected=None, **request):
        """Broker 2 heard at 1000 of leaders of which broker 1, a controller, tells at 3000; 1 elected them itself at ``elected``."""
        places = [{"topic": "t", "partition": number, "leader": 1} for number in range(6)]
        learnt = [event("become_follower", 1000, 2, leader_epoch=5, **place) for place in places]
        lines = [event("partition_changed", elected, 1, line=2, **place) for place in places if elected is not None]
        lines += [
            event("controller_request_sent", 3000, 1, line=3, controller_epoch=4, leader_epoch=5, **place, **request)
            for place in places
        ]
        at = Broker(id=1, timestamp=T0, stamp=Stamp(created_at=T0 + 4, created_in=9))
        found = examined(event("broker_registered", 9, 1), *lines, *learnt, of=cluster(brokers={1: at}))
        return next(clock for clock in found.clocks if clock.broker == 2)

    @pytest.mark.parametrize("request_", [{"epoch": 5}, {}], ids=["0.9", "1.0"])
    def test_what_a_new_controller_tells_again_is_no_bound(self, request_):
        """A broker that knew it from the one before is not behind; a request that does not name whose state it is may be such a one."""
        assert self.retold(elected=2999, **request_).skew is None

    def test_what_a_controller_elected_itself_is_one(self):
        """Nobody can have known that before."""
        assert self.retold(elected=2999, epoch=4).skew == -2000

    def test_what_a_controller_wrote_before_its_log_begins_is_none(self):
        """It tells a broker that starts what it had told others before."""
        assert self.retold(epoch=4).skew is None

    @pytest.mark.parametrize(("lines", "skew"), [(1, None), (2, None), (3, -2000)])
    def test_few_lines_fix_no_clock(self, lines, skew):
        """They may be of another request than they are taken for; it is said what they would mean."""
        places = [{"topic": "t", "partition": number, "leader": 1, "leader_epoch": 5} for number in range(lines)]
        told = [event("partition_changed", 3000, 1, **place) for place in places]
        learnt = [event("become_follower", 1000, 2, **place) for place in places]
        at = Broker(id=1, timestamp=T0, stamp=Stamp(created_at=T0 + 4, created_in=9))
        found = examined(event("broker_registered", 9, 1), *told, *learnt, of=cluster(brokers={1: at}))
        clock = next(clock for clock in found.clocks if clock.broker == 2)
        assert clock.skew == skew
        assert skew is not None or "It may lag by 2 s or more, but only" in clock.why
        assert finding(found, "clocks").status is (Status.COULD_NOT_CHECK if skew is None else Status.OK)

    def test_stray_pair(self):
        """One line that was taken for another does not move the clock."""
        told = self.history()
        lines = [event("partition_changed", 1003 + n, 1, topic="t", partition=n, leader=1, leader_epoch=0) for n in range(5)]
        lines.append(event("partition_changed", -9000, 1, topic="t", partition=5, leader=1, leader_epoch=0))
        assert examined(*lines, told=told).clocks[0].skew == pytest.approx(0, abs=5)

    def test_walk_alone(self):
        """Without history the registration that a walk read tells, zones aside: the line follows its stamp."""
        broker = Broker(id=1, timestamp=T0, stamp=Stamp(created_at=T0 + 4, created_in=9))
        lines = [event("broker_registered", -400_000, 1), event("broker_registered", 9, 1)]
        found = examined(*lines, of=cluster(brokers={1: broker}))
        assert (found.reference, found.clocks[0].skew) == ("ZooKeeper", pytest.approx(2, abs=3))

    def test_as_many_lines_as_registrations_of_other_starts(self):
        """The log was cut behind the first start, the history before the second: the line of one is not of the other."""
        told = History()
        told.register(1, 13_000, 0xA)
        line = event("broker_registered", 6, 1)
        (clock,) = examined(line, told=told).clocks
        assert clock.skew is None or abs(clock.skew) < 100

    def test_zookeepers_own_log(self):
        """A server's log is held against the sessions of the history."""
        told = self.history()
        told.lose(1, 9000, 0xA)
        line = Event(
            "zks_session_expiring", T0 + 8999 + 60_000, None, "zookeeper/logs/1/zookeeper.log", 3, fields={"session": "a"}
        )
        assert skews(examined(line, told=told))["zookeeper/logs/1"] == 59_999


def test_owner():
    """A broker, a ZooKeeper server, a client."""
    assert owner_of(57, "brokers/57/logs/server.log") == "broker 57"
    assert owner_of(None, "zookeeper/logs/zk1/zookeeper.log") == "zookeeper/logs/zk1"
    assert owner_of(None, "clients/app/logs/app.log") == "clients/app"


def test_a_zone_that_nothing_tells_is_said():
    """Moments of logs alone, with nothing of ZooKeeper's, are of the zone that was given, or of none."""
    caveat = "The time zone of the logs is unknown; their times are read as UTC."
    place = {"topic": "t", "partition": 0, "file": "state-change.log"}
    led = event("partition_changed", 0, 1, **place, leader=2, leader_epoch=0, isr="2")
    left = event("partition_changed", 1000, 1, **place, line=2, leader=-1, leader_epoch=1, isr="2")
    assert caveat in finding(examined(led, left), "leaderless").caveats
    made = event("znode_made", 500, 1, line=3, path="/brokers/ids/1", czxid=24, ctime=T0 + 490)
    assert caveat not in finding(examined(led, left, made), "leaderless").caveats


def test_by_the_answer_to_a_registration():
    """A log of a broker that ZooKeeper answered when its znode was made is dated by that alone."""
    made = event("znode_made", 0, 1, skew=7 * 3_600_000, path="/brokers/ids/1", czxid=24, ctime=T0 - 4)
    found = examined(made)
    (clock,) = found.clocks
    assert (found.reference, clock.skew, clock.zone) == ("ZooKeeper", 7 * 3_600_000 + 4, True)


def test_years_of_another_calendar():
    """Thailand counts 543 more: that is no clock to be mended."""
    years = 17_135_478_000_000
    made = event("znode_made", 0, 1, skew=years, path="/brokers/ids/1", czxid=24, ctime=T0 - 4)
    found = finding(examined(made), "clocks")
    assert "by another calendar" in found.title
    assert [step.text.partition(":")[0] for step in found.next] == ["Check the broker's locale"]
