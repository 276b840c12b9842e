"""What tells of states covers its own interval: what lies before its begin, or after its end, is a bound or not known."""

import pytest

from casebook.facts.cluster import Broker, Cluster, Partition, PartitionState
from casebook.facts.history import Happened, What
from casebook.facts.stamp import Stamp
from casebook.findings.finding import Status
from casebook.kafka.past import Past
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.registrations import registrations
from casebook.questions.timeline.analysis.states import states
from tests.questions.timeline.scenes import T0, History, event, examined, finding, incident, log

PLACE = {"topic": "t", "partition": 0}


def told(until=10_000):
    """Two brokers, and a partition that the first leads; at 2 s it is lost, and the second is elected."""
    found = History()
    found.register(1, -50_000, 0xA)
    found.register(2, -50_000, 0xB)
    found.write("t", 0, 1, (1, 2), 0, -40_000)
    if until > 2000:
        found.lose(1, 2000, 0xA)
        found.write("t", 0, 2, (2,), 1, 2100)
    return found


def election(after=2100):
    return event("partition_changed", after, 2, file="controller.log", **PLACE, leader=2, leader_epoch=1, isr="2")


class TestHistory:
    def test_that_begins_behind_a_registration(self):
        """Whoever registered before tells of a time of which the history tells nothing; it is no change behind its end."""
        for after, settled in ((-900_000, Status.COULD_NOT_CHECK), (-49_999, Status.OK)):
            lines = [event("broker_registered", at, 1, line=line) for line, at in enumerate((after, -49_999), 1)]
            assert finding(examined(*lines, told=told(until=0)), "unclean_elections").status is settled

    @pytest.mark.parametrize("check", ["two_leaders", "leaderless", "under_min_isr", "unclean_elections", "root"])
    def test_that_ends_before_what_a_log_tells(self, check):
        """That nothing was wrong up to its end says nothing of the time after it."""
        found = examined(election(), told=told(until=0), covered=[log(1), log(2)])
        assert finding(found, check).status is Status.COULD_NOT_CHECK
        assert "history ends" in found.untold[0].why

    def test_that_ends_before_what_znodes_tell(self):
        """A znode with a later transaction than its last."""
        state = PartitionState(
            leader=2, isr=(2,), leader_epoch=1, controller_epoch=1, stamp=Stamp(changed_in=1 << 40, changed_at=T0 + 2100)
        )
        of = Cluster(partitions=(Partition(topic="t", partition=0, replicas=(1, 2), state=state),))
        found = examined(told=told(until=0), of=of, covered=[log(1), log(2)])
        assert "/brokers/topics/t/partitions/0/state shows a later change" in found.untold[0].why

    def test_that_begins_after_what_a_log_tells(self):
        """An ISR that shrank before its first transaction."""
        line = event("isr_shrunk", -900_000, 2, topic="u", partition=0, old="2,1", new="2")
        found = examined(line, told=told(), covered=[log(1), log(2)])
        assert "history begins" in found.untold[0].why
        assert finding(found, "leaderless").at_latest

    @pytest.mark.parametrize(("epoch", "status"), [(0, Status.OK), (3, Status.COULD_NOT_CHECK)])
    def test_that_begins_with_a_leader_who_was_elected_before(self, epoch, status):
        """Of the elections before nothing is told: that none was in place of another is not known."""
        found = told(until=0)
        state = PartitionState(1, (1, 2), epoch, 1, stamp=Stamp(version=epoch, changed_at=T0 - 900_000))
        found.rows.insert(1, Happened(What.STATE, 1, T0 - 900_000, before=True, topic="u", partition=0, state=state))
        assert finding(examined(told=found, covered=[log(1), log(2)]), "two_leaders").status is status

    def test_that_spans_it(self):
        """The whole incident: nothing lies outside."""
        assert incident().untold == ()


def _walked(leader, isr, epoch, at):
    stamp = Stamp(changed_in=77, changed_at=T0 + at, version=epoch)
    state = PartitionState(leader=leader, isr=isr, leader_epoch=epoch, controller_epoch=1, stamp=stamp)
    return Cluster(partitions=(Partition(topic="t", partition=0, replicas=(1, 2), state=state),), read_to=T0 + 60_000)


def _row(kind, after, broker=3, **fields):
    return EventRow(T0 + after, T0 + after, "broker", broker, "brokers/3/logs/controller.log", 1, kind, "t", 0, None, fields)


class TestStates:
    def test_an_isr_that_only_the_walk_names_held_from_its_write_on(self):
        """Not since the line that names the leader alone, hours before."""
        rows = states(_walked(1, (1,), 2, 5000), Past(), [_row("partition_changed", -9000, leader="1")], {}, ())["t", 0]
        assert [(row.time - T0, row.isr) for row in rows] == [(-9000, None), (5000, (1,))]

    def test_what_was_walked_is_the_last_state(self):
        """A line of the same epoch by a clock that is ahead came before it all the same."""
        late = _row("partition_changed", 5030, leader="-1", leader_epoch="2", isr="1")
        rows = states(_walked(None, (), 2, 5000), Past(), [late], {}, ())["t", 0]
        assert [row.isr for row in rows] == [(1,), ()]
        assert rows[0].time <= rows[1].time

    def test_a_controller_that_writes_an_isr_does_not_lead(self):
        """From 2.7 on the leader asks for it, and the controller says that it wrote it."""
        lines = [_row("partition_changed", -9000, leader="1", isr="1,2"), _row("isr_updated", 1000, controller="3", isr="1")]
        rows = states(Cluster(), Past(), lines, {}, ())["t", 0]
        assert [(row.time - T0, row.leader, row.isr) for row in rows] == [(-9000, 1, (1, 2)), (1000, 1, (1,))]

    def test_a_line_behind_the_walk_stays_behind_it(self):
        """Logs may be collected later than znodes."""
        later = _row("partition_changed", 90_000, leader="2", leader_epoch="3", isr="2")
        rows = states(_walked(1, (1,), 2, 5000), Past(), [later], {}, ())["t", 0]
        assert [row.leader for row in rows] == [1, 2]


class TestRegistrations:
    def _seen(self, **fields):
        return [EventRow(T0, T0, "broker", 3, "brokers/3/logs/controller.log", 1, "broker_change", None, None, None, fields)]

    def test_a_return_that_no_log_saw(self):
        """The walk finds the broker: its znode tells since when."""
        back = Broker(id=2, stamp=Stamp(created_at=T0 + 30_000))
        of = Cluster(brokers={2: back}, brokers_known=True, read_to=T0 + 60_000)
        spans = registrations(of, Past(), self._seen(deleted="2", added="", live="3"))[2]
        assert [(span.opened and span.opened - T0, span.closed and span.closed - T0) for span in spans] == [
            (None, 0),
            (30_000, None),
        ]

    def test_a_broker_that_a_controller_sees_come_anew(self):
        """The former registration had ended by then; within seconds it is the same one, told by another controller."""
        first, again = (self._seen(deleted="", added="2", live="2,3")[0] for _ in range(2))
        for later, opened in ((60_000, [0, 60_000]), (2000, [0])):
            spans = registrations(Cluster(), Past(), [first, again._replace(at=T0 + later, time=T0 + later)])[2]
            assert [span.opened - T0 for span in spans] == opened
        spans = registrations(Cluster(), Past(), [first, again._replace(at=T0 + 60_000)])[2]
        assert (spans[0].closed - T0, spans[0].closed_earliest - T0) == (60_000, 0)

    def test_a_loss_that_no_log_saw(self):
        """The walk does not find it: it went between what was seen last and the walk."""
        of = Cluster(brokers={}, brokers_known=True, read_to=T0 + 60_000)
        (span,) = registrations(of, Past(), self._seen(deleted="", added="2", live="2"))[2]
        assert (span.closed - T0, span.closed_earliest - T0) == (60_000, 0)

    @pytest.mark.parametrize(
        ("back", "since"),
        [
            (("broker_registered", {}), None),
            (("broker_change", {"added": "", "deleted": "", "live": "2,3"}), 0),
            (("partition_changed", {"from": "OfflinePartition", "to": "OnlinePartition", "leader": "2"}), 0),
            (("partition_changed", {"from": "OnlinePartition", "to": "OfflinePartition", "leader": "2"}), ...),
        ],
    )
    def test_a_return_that_no_controller_saw(self, back, since):
        """Who becomes controller had registered before: its own line tells when, others by when."""
        kind, fields = back
        there = [*self._seen(deleted="2", added="", live="3"), _row(kind, 30_000, broker=2, **fields)]
        spans = registrations(Cluster(), Past(), there)[2]
        begun = [] if since is ... else [(30_000, None if since is None else since)]
        assert [(span.opened - T0, span.opened_earliest and span.opened_earliest - T0) for span in spans[1:]] == begun


def test_a_server_log_that_is_missing_makes_no_window():
    """A state-change.log bridges a restart: that the old leader lived on is possible, and no more."""
    found = told()
    found.register(1, 8000, 0xC)
    lines = [
        event("become_leader", -39_000, 1, file="state-change.log", **PLACE, leader_epoch=0),
        event("become_follower", 8500, 1, file="state-change.log", line=2, **PLACE, leader=2, leader_epoch=1),
    ]
    answer = finding(examined(*lines, told=found, covered=[log(1, "state-change.log")]), "two_leaders")
    assert (answer.status, answer.facts["unknown"]) == (Status.COULD_NOT_CHECK, 1)


def test_lines_behind_a_step_of_unknown_size_are_not_ordered():
    """Nobody knows whether they came before or after those of others."""
    lines = [event("segment_rolled", 1000 * n, 1, line=n, topic="u", partition=0) for n in range(1, 20)]
    lines += [event("segment_rolled", 1000 * n - 3_600_000, 1, line=n, topic="u", partition=0) for n in range(20, 40)]
    found = examined(*lines, covered=[log(1)])
    assert [row.at is None for row in found.rows] == [False] * 19 + [True] * 20
    assert "cannot be ordered" in " ".join(gap.why for gap in found.untold)


def test_who_is_down_decides_on_the_root():
    """Two brokers were lost, and nothing tells who is back: both are candidates, in order, with what would decide."""
    lines = [
        event("broker_starting", -60_000 + number, 3, file=name) for number, name in enumerate(("server.log", "controller.log"))
    ]
    for number, broker in ((10, 1), (20, 2)):
        at = {"file": "controller.log", "line": number}
        lines.append(event("broker_change", 1000 * number, 3, **at, deleted=broker, added="", live="3"))
        lines.append(event("broker_failure", 1000 * number + 1, 3, **at | {"line": number + 1}, brokers=broker))
        place = {"topic": f"t{broker}", "partition": 0}
        told_of = {"leader": 3, "leader_epoch": 1, "isr": "3", "from_": "OfflinePartition"}
        lines.append(event("partition_changed", 1000 * number + 2, 3, **at | {"line": number + 2}, **place, **told_of))
    covered = [log(3, name) for name in ("server.log", "controller.log", "state-change.log")]
    covered += [log(broker, name) for broker in (1, 2) for name in ("server.log", "controller.log", "state-change.log")]
    answer = finding(examined(*lines, covered=covered), "root")
    assert answer.status is Status.COULD_NOT_CHECK
    assert "1. Broker 1 lost its registration" in answer.why and "2. Broker 2 lost its registration" in answer.why


def test_cut_requests_are_a_lower_bound():
    """A log that was not read to its end, and one that does not reach back to the start of its broker."""
    start = event("broker_starting", -60_000, 1)
    line = event("bad_request", 0, 1, api_key=18, api_version=9, client="/10.0.0.7:4711")
    whole, part = log(1), replace_damage(log(1))
    of = Cluster(brokers={1: Broker(id=1)}, brokers_known=True)
    assert finding(examined(start, line, covered=[whole], of=of), "unknown_requests").title.startswith(
        "Broker 1 was sent 1 unknown"
    )
    for lines, covered in (((start, line), part), ((line,), whole)):
        told = finding(examined(*lines, covered=[covered], of=of), "unknown_requests")
        assert told.title.startswith("Broker 1 was sent at least 1 unknown")


def replace_damage(file):
    return file._replace(damage="its last line is incomplete")


def test_a_line_of_nobody_that_a_broker_has_as_well_is_told_once():
    """Two processes wrote one server.log; what one of them printed is there, too."""
    line = event("bad_request", 0, 1, file="broker-1.out", text="Key 18", api_key=18, api_version=9, client="/10.0.0.7:4711")
    twin = line._replace(broker=None, file="brokers/1/logs/server.log")
    other = twin._replace(time=T0 + 5, text="Key 18 again")
    answer = finding(examined(line, twin, other, covered=[log(1)]), "unknown_requests")
    assert answer.facts["requests"] == 2
