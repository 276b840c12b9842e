"""Windows: no leader, two leaders, too few in sync, loading; and their open ends."""

import pytest

from casebook.facts.cluster import Broker, Partition, PartitionState, Topic, instant
from casebook.facts.history import Happened, What
from casebook.facts.stamp import Stamp
from casebook.findings.finding import Severity, Status
from casebook.questions.timeline.analysis import checks
from casebook.questions.timeline.analysis.windows.silences import COLLECT_HISTORY
from tests.questions.timeline.scenes import NEW, OLD, T0, History, cluster, event, examined, finding, log, windows

OFFSETS = {"topic": "__consumer_offsets", "partition": 19}


def started(leader=1, isr=(1, 2)):
    told = History()
    told.register(1, -50_000, 0xA)
    told.register(2, -50_000, 0xB)
    told.write("t", 0, leader, isr, 0, -40_000)
    return told


def written_before(mtime, leader=1):
    """A state that a snapshot holds."""
    stamp = Stamp(version=0, changed_at=mtime)
    state = PartitionState(leader, (leader,), 0, 1, stamp=stamp)
    return Happened(What.STATE, 1, mtime, before=True, topic="t", partition=0, state=state)


def spans(found, kind):
    return [(w.opened and w.opened - T0, w.closed and w.closed - T0) for w in windows(found, kind)]


class TestLeaderless:
    def test_from_the_znode_to_the_election(self):
        """ZooKeeper's transactions on both ends."""
        told = started()
        gone = told.lose(1, 1000, 0xA)
        elected = told.write("t", 0, 2, (2,), 1, 1400)
        window = windows(examined(told=told), "leaderless")[0]
        assert (window.opened, window.closed) == (T0 + 1000, T0 + 1400)
        assert window.opened_proof.endswith(f"0x{gone:x}")
        assert window.closed_proof.endswith(f"0x{elected:x}")

    def test_leader_minus_one_goes_on(self):
        """The controller's -1 is part of the same window, which the broker's return ends."""
        told = started()
        told.lose(1, 1000, 0xA)
        told.write("t", 0, None, (1,), 1, 1400)
        told.register(1, 9000, 0xC)
        told.write("t", 0, 1, (1,), 2, 9200)
        assert spans(examined(told=told), "leaderless") == [(1000, 9200)]

    @pytest.mark.parametrize(("behind", "closed"), [(40, 9000), (0, None)], ids=["written behind it", "of its last transaction"])
    def test_a_znode_tells_who_leads_behind_the_last_transaction(self, behind, closed):
        """The walk came later than the copy of the history: the partition had a leader by its znode's last write."""
        told = started()
        told.lose(1, 1000, 0xA)
        last = told.configure("t", {}, 2000)
        state = PartitionState(2, (2,), 1, 1, stamp=Stamp(version=1, changed_at=T0 + 9000, changed_in=last + behind))
        of = cluster(partitions=(Partition("t", 0, (1, 2), state=state),))
        (window,) = windows(examined(told=told, of=of), "leaderless")
        assert (window.opened, window.closed, window.new_leader) == (T0 + 1000, closed and T0 + closed, closed and 2)
        assert window.closed_earliest == (closed and T0 + 2000)

    def test_a_log_tells_who_came_back_behind_the_last_transaction(self):
        """Its line names the transaction, by a clock that is 5 ms behind; since when it was back nobody knows, nor who leads since."""
        told = started()
        told.lose(1, 1000, 0xA)
        last = told.configure("t", {}, 2000)
        line = event("broker_registered", 9000, 1, czxid=last + 40)
        found = examined(line, told=told)
        (window,) = windows(found, "leaderless")
        assert (window.opened, window.closed_earliest, window.closed) == (T0 + 1000, T0 + 2000, T0 + 9005)
        assert window.closed_proof.endswith("server.log:1")
        assert finding(found, "leaderless").title.endswith(
            f"; it had one again by {instant(T0 + 9000)[:19].replace('T', ' ')} UTC"
        )

    @pytest.mark.parametrize(("zxid", "after"), [(2, 9000), (4000, -200_000_000)])
    def test_a_line_on_an_earlier_start_does_not(self, zxid, after):
        """One that the history knows, or one of a ZooKeeper whose data is gone."""
        told = started()
        told.lose(1, 1000, 0xA)
        found = examined(event("broker_registered", after, 1, czxid=zxid), told=told)
        assert windows(found, "leaderless")[0].closed is None

    def test_without_election_until_it_registers(self):
        """0.9 leaves the state alone: the same leader is there again once it is registered."""
        told = started()
        told.lose(1, 1000, 0xA)
        told.register(1, 3000, 0xC)
        assert spans(examined(told=told), "leaderless") == [(1000, 3000)]

    def test_not_registered_when_the_history_begins(self):
        """The state was written long before: that says nothing of when its leader went."""
        told = History()
        told.rows.append(written_before(T0 - 86_400_000))
        told.register(1, 9000, 0xC)
        assert spans(examined(told=told), "leaderless") == [(-600_000, 9000)]

    def test_a_snapshot_alone_tells_of_one_moment(self):
        """Who leads and is not registered is missed, since nobody knows when: it was taken at its last write or later."""
        told = History()
        told.rows.append(written_before(T0 - 700_000))
        found = examined(told=told)
        assert finding(found, "two_leaders").status is Status.COULD_NOT_CHECK
        missed = finding(found, "leaderless")
        assert (missed.status, missed.since) == (Status.FINDING, None)
        assert missed.title.endswith("or later")

    def test_taken_up_behind_a_snapshot_before_it_was_lost_again(self):
        """Who took a partition up ends no window that opens later."""
        told, place = History(), {"topic": "t", "partition": 0}
        told.rows.append(written_before(T0 - 700_000))
        led = event("become_leader", 1000, 1, **place)
        lost = event("partition_changed", 5000, 3, **place, file="state-change.log", leader=-1, leader_epoch=3, isr="1")
        assert spans(examined(led, lost, told=told), "leaderless")[-1] == (5000, None)

    def test_named_behind_a_snapshot(self):
        """A leader that a log names later was there, whoever was registered when the snapshot was taken; its end nobody knows."""
        told, place = History(), {"topic": "t", "partition": 0, "file": "state-change.log"}
        told.rows.append(written_before(T0 - 700_000, leader=2))
        named = event("partition_changed", 0, 3, **place, line=1, leader=1, leader_epoch=2, isr="1")
        left = event("partition_changed", 5000, 3, **place, line=2, leader=-1, leader_epoch=3, isr="1")
        assert spans(examined(named, told=told), "leaderless") == [(-600_000, 0)]
        answer = finding(examined(named, left, told=told), "leaderless")
        assert answer.severity is Severity.WARNING
        assert answer.title.endswith(
            "; for 1 it is unknown whether it has one again; the longest that is known to have ended lasted at most 12 min"
        )

    def test_a_deleted_topic_is_missed_by_nobody(self):
        """Logs alone: a deletion leaves -1 behind, and the next topic of that name begins with epoch 0 again."""
        place, log_ = {"topic": "t", "partition": 0}, {"file": "state-change.log"}
        led = {"from_": "NewPartition", "to": "OnlinePartition", "leader": 1, "leader_epoch": 0, "isr": "1"}
        made = event("partition_changed", 0, 1, **place, **log_, line=1, **led)
        taken = event("isr_removed", 5000, 1, **place, **log_, line=2, leader=-1, leader_epoch=1, isr="1")
        gone = event("log_deleted", 5020, 1, **place, line=9, path="/d/t-0.c0-delete")
        assert spans(examined(made, taken), "leaderless") == [(5000, None)]
        assert spans(examined(made, taken, gone), "leaderless") == []
        anew = event(
            "partition_changed", 9000, 1, **place, **log_, line=4, from_="NonExistentPartition", to="NewPartition", assigned=1
        )
        again = event("partition_changed", 9010, 1, **place, **log_, line=5, **led)
        lost = event("isr_removed", 9500, 1, **place, **log_, line=6, leader=-1, leader_epoch=1, isr="1")
        assert spans(examined(made, taken, anew, again), "leaderless") == []
        assert spans(examined(made, taken, gone, again, lost), "leaderless") == [(9500, None)]

    def test_nobody_could_be_elected(self):
        """A controller that finds a partition without living replica; not where an election that was asked for leaves the old leader."""
        place = {"topic": "t", "partition": 0, "file": "state-change.log"}
        led = event("partition_changed", 0, 1, **place, leader=2, leader_epoch=0, isr="2")
        failed = event("election_failed", 1000, 1, **place, line=2, from_="OfflinePartition", to="OnlinePartition")
        again = event("partition_changed", 3000, 1, **place, line=3, leader=2, leader_epoch=1, isr="2")
        assert spans(examined(led, failed, again), "leaderless") == [(1000, 3000)]
        told = finding(examined(led, failed), "leaderless")
        assert "for 1 it is unknown whether it has one again" in told.title
        asked = event("election_failed", 1000, 1, **place, line=2, from_="OnlinePartition", to="OnlinePartition")
        assert spans(examined(led, asked), "leaderless") == []

    @pytest.mark.parametrize(
        ("leader", "epoch", "certain"), [(1, 3, True), (1, 4, True), (1, 5, False), (-1, 3, True), (-1, 4, False)]
    )
    def test_who_led_meanwhile_is_not_known(self, leader, epoch, certain):
        """Epochs that no log tells of are elections, and losses: two of them are a leader who came and went."""
        place = {"topic": "t", "partition": 0, "file": "state-change.log"}
        lost = event("isr_removed", 1000, 1, **place, leader=-1, leader_epoch=2, isr="2")
        next_ = event("partition_changed", 90_000_000, 1, **place, line=2, leader=leader, leader_epoch=epoch, isr="2")
        led = event("partition_changed", 90_001_000, 1, **place, line=3, leader=2, leader_epoch=epoch + 1, isr="2")
        window = windows(examined(lost, next_, led), "leaderless")[0]
        assert (window.closed_earliest is None) == certain
        assert window.closed_earliest in (None, window.opened)

    @pytest.mark.parametrize(("epoch", "certain"), [(2, True), (3, True), (4, False)])
    def test_an_election_that_failed_names_no_epoch(self, epoch, certain):
        place = {"topic": "t", "partition": 0, "file": "state-change.log"}
        led = event("partition_changed", 0, 1, **place, leader=2, leader_epoch=0, isr="2")
        failed = event("election_failed", 1000, 1, **place, line=2, from_="OfflinePartition", to="OnlinePartition")
        again = event("partition_changed", 90_000_000, 1, **place, line=3, leader=2, leader_epoch=epoch, isr="2")
        assert (windows(examined(led, failed, again), "leaderless")[0].closed_earliest is None) == certain

    @pytest.mark.parametrize(("leader", "isr", "certain"), [(-1, "1", False), (1, "1", True), (1, "1,2", False), (2, "2", True)])
    def test_an_isr_that_grew_had_a_leader(self, leader, isr, certain):
        """Nobody else lets anyone in, but an unclean election."""
        place = {"topic": "t", "partition": 0, "file": "state-change.log"}
        lost = event("isr_removed", 1000, 1, **place, leader=-1, leader_epoch=2, isr="2")
        next_ = event("partition_changed", 90_000_000, 1, **place, line=2, leader=leader, leader_epoch=3, isr=isr)
        led = event("partition_changed", 90_001_000, 1, **place, line=3, leader=2, leader_epoch=4, isr="2")
        assert (windows(examined(lost, next_, led), "leaderless")[0].closed_earliest is None) == certain

    @pytest.mark.parametrize("seen", [False, True])
    @pytest.mark.parametrize("led", [False, True])
    def test_a_controller_that_finds_it_so(self, seen, led):
        """Since when a partition was without leader a new controller does not say; one that saw its leader fail does."""
        place = {"topic": "t", "partition": 0, "file": "state-change.log"}
        told = [event("partition_changed", 0, 1, **place, leader=2, leader_epoch=0, isr="2")] if led else []
        told += [event("broker_failure", 89_999_990, 1, file="controller.log", brokers="2")] if seen else []
        told.append(event("isr_removed", 90_000_000, 1, **place, line=2, leader=-1, leader_epoch=1, isr="2"))
        told.append(event("partition_changed", 90_005_000, 1, **place, line=3, leader=2, leader_epoch=2, isr="2"))
        found = examined(*told)
        title = finding(found, "leaderless").title
        assert title.endswith("lasted about 5.000 s") == seen
        assert seen or title.endswith("lasted at least 5.000 s and at most 25 h 1 min" if led else "lasted at least 5.000 s")

    def test_a_replica_that_was_moved_away(self):
        """Its log goes, too, and the partition is led on elsewhere."""
        place = {"topic": "t", "partition": 0}
        led = event("partition_changed", 0, 1, **place, file="state-change.log", leader=2, leader_epoch=0, isr="1,2")
        gone = event("log_deleted", 5000, 1, **place, line=9, path="/d/t-0.c0-delete")
        lost = event("isr_removed", 9000, 1, **place, file="state-change.log", line=7, leader=-1, leader_epoch=1, isr="2")
        assert spans(examined(led, gone, lost), "leaderless") == [(9000, None)]

    def test_open_end(self):
        """Nobody came: the end is open, with the end of the history as its proof, and it is critical."""
        told = started()
        told.lose(1, 1000, 0xA)
        last = told.write("t", 0, None, (1,), 1, 1400)
        found = examined(told=told)
        assert spans(found, "leaderless") == [(1000, None)]
        assert windows(found, "leaderless")[0].closed_proof.endswith(f"0x{last:x}")
        assert finding(found, "leaderless").severity is Severity.CRITICAL

    def test_who_is_still_without_is_named(self):
        """Partition 0 healed at once and would come first: what is told and shown as proof is partition 1."""
        told = started()
        told.write("t", 1, 1, (1,), 0, -39_000)
        told.lose(1, 1000, 0xA)
        told.write("t", 0, 2, (2,), 1, 1400)
        last = told.write("t", 1, None, (1,), 1, 1500)
        said = finding(examined(told=told), "leaderless")
        end = "the end of ZooKeeper's history, 2019-10-12 11:03:40 UTC"
        assert said.title == f"2 partitions had no leader, 1 of them to {end}; the longest that ended lasted 400 ms"
        assert said.why.startswith("Still without: t-1. t-1: The znode of leader 1 was removed.")
        assert f"0x{last:x}" in said.evidence[1].file

    def test_nobody_is_without_any_more(self):
        """Then nothing is to be brought back, and the title says so; a partition that was deleted is not called well."""
        told = started()
        told.write("t", 1, 1, (1,), 0, -39_000)
        told.lose(1, 1000, 0xA)
        told.write("t", 0, 2, (2,), 1, 1400)
        told.write("t", 1, None, (1,), 1, 1500)
        told.add(What.STATE_GONE, 2000, topic="t", partition=1)
        said = finding(examined(told=told), "leaderless")
        deleted = "1 was deleted, or is being deleted, the other has one again"
        assert said.title == f"2 partitions had no leader, for up to 1.000 s; {deleted}"
        assert said.next == ()
        told.rows.pop()
        told.write("t", 1, 2, (2,), 2, 2000)
        said = finding(examined(told=told), "leaderless")
        assert said.title == "2 partitions had no leader, for up to 1.000 s; all have one again since 2019-10-12 11:03:41 UTC"
        assert said.next == ()

    def test_before_the_history(self):
        """A leader that was never registered: leaderless since its state is known."""
        told = History()
        told.register(2, -50_000, 0xB)
        told.write("t", 0, 2, (2,), 0, -40_000)
        told.write("u", 0, 1, (1,), 0, -30_000)
        found = examined(told=told)
        assert [w.topic for w in windows(found, "leaderless")] == ["u"]

    def test_deleted(self):
        """A partition that is deleted is no longer leaderless."""
        told = started()
        told.lose(1, 1000, 0xA)
        told.add(What.STATE_GONE, 2000, topic="t", partition=0)
        found = examined(told=told)
        assert spans(found, "leaderless") == [(1000, 2000)]
        assert found.partition_history[-1].deleted

    def test_marked_for_deletion(self):
        """Its partitions are counted apart, as in every verdict: that its deletion left leader -1 behind nobody waits for."""
        told = started()
        told.write("t", 0, None, (1,), 1, 1400)
        assert len(windows(examined(told=told, of=cluster(topics={"t": Topic(name="t")})), "leaderless")) == 1
        for since in (None, T0 + 1300):
            marked = cluster(topics={"t": Topic(name="t", deleting=True, deleting_since=since)})
            found = examined(told=told, of=marked)
            assert windows(found, "leaderless") == []
            assert finding(found, "leaderless").status is Status.OK

    @pytest.mark.parametrize("written", [True, False], ids=["leader -1", "the dead leader"])
    def test_an_outage_that_ends_with_the_mark(self, written):
        """Who deletes a topic after an hour without leader has not undone that hour, whether its state got -1 or not."""
        told = started()
        told.lose(1, 1000, 0xA)
        if written:
            told.write("t", 0, None, (1,), 1, 1400)
        marked = Topic(name="t", deleting=True, deleting_since=T0 + 3_600_000)
        found = examined(told=told, of=cluster(topics={"t": marked}))
        assert spans(found, "leaderless") == [(1000, 3_600_000)]
        assert windows(found, "leaderless")[0].closed_proof.endswith("/admin/delete_topics/t")
        assert finding(found, "leaderless").severity is Severity.WARNING

    def test_an_outage_before_a_mark_of_unknown_time(self):
        """The leader was lost before -1 was written, so the deletion did not write it: it had no leader until the walk, or less."""
        told = started()
        told.lose(1, 1000, 0xA)
        told.write("t", 0, None, (1,), 1, 1400)
        topics = {"t": Topic(name="t", deleting=True)}
        assert spans(examined(told=told, of=cluster(topics=topics)), "leaderless") == [(1000, None)]
        read = cluster(topics=topics, read_to=T0 + 9000)
        assert spans(examined(told=told, of=read), "leaderless") == [(1000, 9000)]

    def test_what_is_written_under_the_mark(self):
        """From the mark on nothing counts as an outage: brokers come and go, and a deletion that hangs writes on."""
        told = started()
        told.write("t", 0, 1, (1,), 0, 1400, by=1)
        told.lose(1, 2000, 0xA)
        told.write("t", 0, None, (1,), 1, 2400)
        marked = Topic(name="t", deleting=True, deleting_since=T0 + 1200)
        two = cluster(topics={"t": marked}, topic_configs={"t": {"min.insync.replicas": "2"}})
        found = examined(told=told, of=two)
        assert [windows(found, kind) for kind in ("leaderless", "under_min_isr")] == [[], []]

    def test_gap_in_the_history(self):
        """Behind missing transactions nothing is concluded about the time between, and nothing is well."""
        told = started()
        told.rows.append(Happened(What.BEGIN, 90, T0 + 60_000))
        for broker, session in ((1, 0xA), (2, 0xB)):
            told.rows.append(Happened(What.BROKER_REGISTERED, broker * 2 + 1, T0 - 50_000, session, True, broker))
        found = examined(told=told)
        assert windows(found, "leaderless") == []
        assert finding(found, "leaderless").status is Status.COULD_NOT_CHECK
        assert any(silence.kind == "no_history" for silence in found.silences)

    def test_none(self):
        """A history without a loss is well."""
        assert finding(examined(told=started()), "leaderless").status is Status.OK


def controlled(kind, after, line, **told):
    """A line about t-0 in which a controller says what it does."""
    return event(kind, after, 1, file="state-change.log", line=line, topic="t", partition=0, **told)


LED = controlled("partition_changed", 0, 1, from_="NewPartition", to="OnlinePartition", leader=1, leader_epoch=0, isr="1,2")
TAKEN = controlled("partition_changed", 1000, 2, from_="OnlinePartition", to="OfflinePartition")


class TestLeftOffline:
    """A partition that a controller takes offline, and for which it elects nobody before it ends."""

    def test_its_window(self):
        """It lasts until its leader is told to lead again, under the same epoch: of the loss nothing was written."""
        again = controlled("leader_request_received", 5_000_000, 3, leader=1, leader_epoch=0, isr="1,2")
        assert spans(examined(LED, TAKEN, again), "leaderless") == [(1000, 5_000_000)]

    def test_no_window_before_an_election(self):
        """The line that tells whether somebody could be elected tells of it."""
        elected = controlled(
            "partition_changed", 1005, 3, from_="OfflinePartition", to="OnlinePartition", leader=2, leader_epoch=1, isr="2"
        )
        assert spans(examined(LED, TAKEN, elected), "leaderless") == []

    @pytest.mark.parametrize(
        "between",
        [
            controlled("leader_request_ignored", 9000, 4, leader_epoch=3),
            controlled("leader_request_received", 60_000, 4, leader=1, leader_epoch=5, isr="1"),
        ],
    )
    def test_led_meanwhile(self, between):
        """An epoch that was raised meanwhile: how long nobody led is not known, but no lower bound is told."""
        lost = controlled("isr_removed", 1000, 2, leader=-1, leader_epoch=1, isr="1")
        again = controlled("leader_request_received", 5_000_000, 5, leader=1, leader_epoch=7, isr="1")
        (window, *_) = windows(examined(LED, lost, between, again), "leaderless")
        assert (window.opened, window.least) == (T0 + 1000, 0)

    def test_registered_again_without_leading(self):
        """Who is told afterwards that nobody leads did not lead again when it registered."""
        lines = [
            LED,
            event("broker_change", 1000, 2, file="controller.log", deleted=1, added="", live="2"),
            event("broker_failure", 1000, 2, file="controller.log", line=2, brokers=1),
            event("broker_registered", 3000, 1, line=5),
        ]
        unled = controlled("leader_request_received", 3200, 6, leader=-1, leader_epoch=1, isr="1")
        again = controlled("leader_request_received", 4000, 7, leader=1, leader_epoch=2, isr="1")
        assert spans(examined(*lines, again), "leaderless") == [(1000, 3000)]
        assert spans(examined(*lines, unled, again), "leaderless") == [(1000, 4000)]


class TestTwoLeaders:
    def test_nobody_was_elected(self):
        """A whole history without an election answers; nobody is sent for the history that is there."""
        found = examined(told=started())
        assert finding(found, "two_leaders").status is Status.OK
        assert COLLECT_HISTORY not in str([one.settle for one in checks.in_short(found.findings)])
        assert finding(examined(), "two_leaders").status is Status.COULD_NOT_CHECK

    def lost(self, *events, version=NEW):
        told = started()
        told.lose(1, 1000, 0xA)
        told.write("t", 0, 2, (2,), 1, 1400)
        begun = event("broker_starting", -50_100, 1)
        return examined(
            begun, *events, told=told, version=version, covered=[log(1, ends=90_000)] if events else [log(1, ends=500)]
        )

    def test_killed(self):
        """A process that ended before takes no writes: its next line is that it starts."""
        found = self.lost(
            event("fetcher_added", 100, 1), event("broker_starting", 9000, 1), event("truncated", 9500, 1, topic="t", partition=0)
        )
        assert windows(found, "two_leaders") == []
        assert finding(found, "two_leaders").status is Status.OK

    def test_silent_for_ever(self):
        """A log that ends without a word of a stop: nobody knows."""
        found = self.lost()
        assert windows(found, "two_leaders") == []
        assert finding(found, "two_leaders").status is Status.COULD_NOT_CHECK

    def test_stopped_later(self):
        """A process that lived on and never followed: until it ended."""
        found = self.lost(event("broker_stopping", 5000, 1), event("broker_stopped", 6000, 1), event("broker_starting", 9000, 1))
        assert spans(found, "two_leaders") == [(1400, pytest.approx(6000, abs=10))]

    def test_controlled_shutdown(self):
        """A broker that stops takes nothing once its controlled shutdown is done, whenever its process ends."""
        told = started()
        told.write("t", 0, 2, (2,), 1, 1400)
        told.lose(1, 4000, 0xA)
        stop = (
            ("broker_starting", -50_100),
            ("broker_stopping", 1300),
            ("controlled_shutdown_done", 1440),
            ("broker_stopped", 3990),
        )
        found = examined(*(event(kind, after, 1) for kind, after in stop), told=told, covered=[log(1)])
        assert spans(found, "two_leaders") == [(1400, pytest.approx(1440, abs=10))]
        assert "logged that its controlled shutdown had succeeded" in windows(found, "two_leaders")[0].closed_by
        assert finding(found, "two_leaders").severity is Severity.WARNING

    STOP = (event("broker_starting", -50_100, 1), event("controlled_shutdown_begun", 1000, 1))

    def moved(self, *events):
        """Broker 1 is told to stop, hands over at 1400, and is gone at 4000."""
        told = started()
        told.write("t", 0, 2, (2,), 1, 1400)
        told.lose(1, 4000, 0xA)
        return examined(*self.STOP, *events, told=told, covered=[log(1, ends=3990)])

    @pytest.mark.parametrize("end", [(), (event("broker_stopped", 3990, 1),)], ids=["log ends", "stopped"])
    def test_a_stop_that_is_not_logged_to_its_end(self, end):
        """Who is stopping hands over: however long its process takes to end, that is a planned move."""
        found = self.moved(*end)
        (window,) = windows(found, "two_leaders")
        assert (window.planned, window.closed - T0) == (True, pytest.approx(3990, abs=10))
        assert finding(found, "two_leaders").severity is Severity.WARNING

    def test_a_stop_that_failed_is_none(self):
        """It went without having handed over: what follows it is no planned move."""
        told = started()
        told.lose(1, 1300, 0xA)
        told.write("t", 0, 2, (2,), 1, 1400)
        found = examined(
            *self.STOP, event("unclean_shutdown", 1200, 1), event("scheduler_failed", 5000, 1), told=told, covered=[log(1)]
        )
        assert not windows(found, "two_leaders")[0].planned
        assert finding(found, "two_leaders").severity is Severity.CRITICAL

    def test_a_stop_that_hangs_past_its_session(self):
        """It was told to stop, hung, and was taken for dead: it had handed over nothing, and no length makes that planned."""
        told = started()
        told.lose(1, 1300, 0xA)
        told.write("t", 0, 2, (2,), 1, 1400)
        found = examined(*self.STOP, event("scheduler_failed", 61_000, 1), told=told, covered=[log(1, ends=61_000)])
        assert not any(window.planned for window in windows(found, "two_leaders"))
        assert finding(found, "two_leaders").severity is Severity.CRITICAL

    def test_a_stop_that_outlives_its_session(self):
        """Who stops gives its session up last: a process that lives on without one is not merely slow to end."""
        told = started()
        told.write("t", 0, 2, (2,), 1, 1400)
        told.lose(1, 4000, 0xA)
        found = examined(*self.STOP, event("scheduler_failed", 61_000, 1), told=told, covered=[log(1, ends=61_000)])
        assert finding(found, "two_leaders").severity is Severity.CRITICAL

    def test_a_stop_before_a_registration_that_the_walk_saw(self):
        """Whether a broker was registered before its present znode, logs without a controller's do not tell: it was stopping."""
        place = {"topic": "t", "partition": 0}
        told = [
            event("partition_changed", -9000, 2, line=1, **place, leader=1, leader_epoch=0, isr="1,2"),
            event("partition_changed", 1400, 2, line=2, **place, leader=2, leader_epoch=1, isr="2"),
        ]
        back = cluster(brokers={1: Broker(id=1, stamp=Stamp(created_at=T0 + 90_000))})
        found = examined(*self.STOP, event("broker_stopped", 3990, 1), *told, of=back, covered=[log(1, ends=3990), log(2)])
        assert windows(found, "two_leaders")[0].planned

    def unstamped(self, *events, ends=61_000):
        """Broker 1, whose clock nothing tells, is told to stop and hands over at 1400."""
        told = started()
        told.rows = [row._replace(stamp=None) for row in told.rows]
        told.write("t", 0, 2, (2,), 1, 1400)
        return examined(*self.STOP, *events, told=told, covered=[log(1, ends=ends)])

    def test_a_long_move_by_an_unknown_clock(self):
        """Ten minutes are no hand-over; that nobody knows the clock makes them no shorter, and is said."""
        follows = event("become_follower", 601_400, 1, topic="t", partition=0, leader=2, leader_epoch=1)
        found = finding(self.unstamped(follows, ends=700_000), "two_leaders")
        assert found.severity is Severity.CRITICAL
        assert any("clock of broker 1" in caveat for caveat in found.caveats)

    def test_connections_closed_before_by_an_unknown_clock(self):
        """By a clock that nobody knows they may have been closed long after: that is unknown, not well."""
        found = self.unstamped(event("controlled_shutdown_done", 1300, 1))
        assert windows(found, "two_leaders") == []
        unknown = finding(found, "two_leaders")
        assert (unknown.status, unknown.facts["unknown"]) == (Status.COULD_NOT_CHECK, 1)
        assert "100 ms before an election" in unknown.why

    def test_its_connections_were_closed_before(self):
        """Who had handed over and closed its connections takes nothing when the controller comes to the rest."""
        assert windows(self.moved(event("controlled_shutdown_done", 1300, 1)), "two_leaders") == []

    def test_logs_alone_tell_a_stop(self):
        """Without history nobody knows who was registered; who says that it stops was well."""
        place = {"topic": "t", "partition": 0}
        lines = [
            event("partition_changed", -9000, 2, line=1, **place, leader=1, leader_epoch=0, isr="1,2"),
            event("partition_changed", 1400, 2, line=2, **place, leader=2, leader_epoch=1, isr="2"),
            event("become_follower", 1430, 1, **place, leader=2, leader_epoch=1),
        ]
        found = examined(*self.STOP, *lines, covered=[log(1), log(2)])
        assert finding(found, "two_leaders").severity is Severity.WARNING

    def test_an_end_within_the_doubt_of_a_clock(self):
        """By a clock that is known to 20 ms a process that ended 20 ms after the election may have ended before it."""
        told = started(isr=(1,))
        told.write("t", 0, 1, (1, 2), 0, -39_000)
        told.rows = [row._replace(stamp=None) for row in told.rows]
        told.lose(1, 1000, 0xA)
        told.write("t", 0, 2, (2,), 1, 1400)
        bounds = [event("isr_expanded", -39_000, 1, topic="t", partition=0, old="1", new="1,2")]
        bounds.append(event("become_follower", 1420, 1, line=9, topic="u", partition=0, leader=2, leader_epoch=0))
        found = examined(event("broker_starting", -50_100, 1), *bounds, told=told, covered=[log(1, ends=1420)])
        assert windows(found, "two_leaders") == []
        unknown = finding(found, "two_leaders")
        assert (unknown.status, unknown.facts["unknown"]) == (Status.COULD_NOT_CHECK, 1)
        assert "20 ms after an election" in unknown.why

    def test_open_end(self):
        """It lived on, and its log does not say that it follows."""
        found = self.lost(event("scheduler_failed", 5000, 1))
        assert spans(found, "two_leaders") == [(1400, None)]
        assert finding(found, "two_leaders").severity is Severity.CRITICAL

    def test_became_follower(self):
        """Without a truncation, the line in which it follows; one of an older epoch does not count."""
        place = {"topic": "t", "partition": 0}
        found = self.lost(
            event("become_follower", 2000, 1, **place, leader=2, leader_epoch=0),
            event("become_follower", 5000, 1, **place, leader=2, leader_epoch=1),
        )
        assert spans(found, "two_leaders") == [(1400, pytest.approx(5000, abs=10))]

    def test_planned(self):
        """A preferred election hands over in milliseconds: a warning."""
        told = started()
        told.write("t", 0, 2, (1, 2), 1, 1400)
        lines = [
            event("broker_starting", -50_100, 1),
            event("become_follower", 1430, 1, topic="t", partition=0, leader=2, leader_epoch=1),
        ]
        found = examined(*lines, told=told, covered=[log(1)])
        assert windows(found, "two_leaders")[0].planned
        assert finding(found, "two_leaders").severity is Severity.WARNING

    @pytest.mark.parametrize("name", ["server.log", "state-change.log"])
    def test_an_end_that_another_log_tells(self, name):
        """Where the server.log of the old leader was not read, it may have followed before: a bound, of which nothing grave is said."""
        told = started()
        told.write("t", 0, 2, (1, 2), 1, 1400)
        lines = [
            event("broker_starting", -50_100, 1, file=name),
            event("become_follower", 6400, 1, file=name, topic="t", partition=0, leader=2, leader_epoch=1),
        ]
        found = examined(*lines, told=told, covered=[log(1, name)])
        answer, read = finding(found, "two_leaders"), name == "server.log"
        assert windows(found, "two_leaders")[0].at_most is not read
        assert answer.severity is (Severity.CRITICAL if read else Severity.WARNING)
        assert ("at most" in answer.title) is not read

    def test_an_end_behind_a_history_that_lost_the_old_leader(self):
        """It has registered again since, and nobody knows whether as another process, which took no writes before."""
        told = started()
        told.lose(1, 1000, 0xA)
        told.write("t", 0, 2, (2,), 1, 1400)
        lines = [
            event("broker_starting", -50_100, 1, file="state-change.log"),
            event("become_follower", 6400, 1, file="state-change.log", topic="t", partition=0, leader=2, leader_epoch=1),
        ]
        found = examined(*lines, told=told, covered=[log(1, "state-change.log")])
        assert windows(found, "two_leaders") == []
        assert finding(found, "two_leaders").status is Status.COULD_NOT_CHECK

    def test_an_open_end_of_a_log_that_was_not_read(self):
        """That it lived on stands in another log; whether it took writes, nobody knows."""
        told = started()
        told.lose(1, 1000, 0xA)
        told.write("t", 0, 2, (2,), 1, 1400)
        lines = [
            event(kind, at, 1, file="state-change.log") for kind, at in (("broker_starting", -50_100), ("scheduler_failed", 5000))
        ]
        found = examined(*lines, told=told, covered=[log(1, "state-change.log")])
        assert windows(found, "two_leaders") == []
        assert finding(found, "two_leaders").status is Status.COULD_NOT_CHECK


class TestUnderMinIsr:
    def test_effective_setting(self):
        """The topic's override counts; both ends are transactions."""
        told = started()
        told.write("t", 0, 1, (1,), 0, 1000, by=1)
        told.write("t", 0, 1, (1, 2), 0, 5000, by=1)
        two = cluster(topic_configs={"t": {"min.insync.replicas": "2"}}, partitions=(Partition("t", 0, (1, 2)),))
        assert spans(examined(told=told, of=two), "under_min_isr") == [(1000, 5000)]
        assert spans(examined(told=told), "under_min_isr") == []

    def test_the_setting_of_that_moment(self):
        """Raised while one was in sync and lowered again: the window is that of the setting, whatever holds at the end."""
        told = started()
        told.configure("t", {}, -45_000)
        told.write("t", 0, 1, (1,), 0, 1000, by=1)
        raised = told.configure("t", {"min.insync.replicas": "2"}, 3000)
        told.configure("t", {"min.insync.replicas": "2", "retention.ms": "1"}, 4000)
        lowered = told.configure("t", {"min.insync.replicas": "1"}, 6000)
        told.write("t", 0, 1, (1, 2), 0, 9000, by=1)
        two = cluster(topic_configs={"t": {"min.insync.replicas": "2"}}, partitions=(Partition("t", 0, (1, 2)),))
        found = examined(told=told, of=two)
        (window,) = windows(found, "under_min_isr")
        assert (window.opened, window.closed) == (T0 + 3000, T0 + 6000)
        assert window.opened_proof.endswith(f"0x{raised:x}")
        assert window.closed_proof.endswith(f"0x{lowered:x}")
        assert "each moment" in finding(found, "under_min_isr").caveats[0]

    def test_setting_that_came_later(self):
        """A topic whose settings are written first inside of the history had none before; one without any there has the last ones."""
        told = started()
        told.write("t", 0, 1, (1,), 0, 1000, by=1)
        two = cluster(topic_configs={"t": {"min.insync.replicas": "2"}}, partitions=(Partition("t", 0, (1, 2)),))
        assert spans(examined(told=told, of=two), "under_min_isr") == [(1000, None)]
        assert "end of the evidence" in finding(examined(told=told, of=two), "under_min_isr").caveats[0]
        told.configure("t", {"min.insync.replicas": "2"}, 3000)
        assert spans(examined(told=told, of=two), "under_min_isr") == [(3000, None)]

    def test_setting_that_nobody_can_read(self):
        """From then on nobody knows."""
        told = started()
        told.configure("t", {"min.insync.replicas": "2"}, -45_000)
        told.write("t", 0, 1, (1,), 0, 1000, by=1)
        told.configure("t", None, 3000)
        assert spans(examined(told=told), "under_min_isr") == [(1000, 3000)]


class TestLoading:
    def test_from_line_to_line(self):
        """0.9 names the begin, later releases the queueing."""
        lines = [event("loading", 0, 1, **OFFSETS), event("loaded", 90_000, 1, **OFFSETS, ms=90_000)]
        assert spans(examined(*lines, version=OLD), "loading") == [(0, 90_000)]

    def test_open_ends(self):
        """One that never ends, and one whose begin was rolled away: its end tells how long it took."""
        assert spans(examined(event("loading", 10, 1, **OFFSETS)), "loading") == [(10, None)]
        assert spans(examined(event("loaded", 9000, 1, **OFFSETS, ms=4000)), "loading") == [(5000, 9000)]

    def test_broker_stops(self):
        """A broker that stops or starts again loads no more."""
        lines = [event("load_scheduled", 10, 1, **OFFSETS), event("broker_stopped", 400, 1)]
        assert spans(examined(*lines), "loading") == [(10, 400)]


def test_stopped_by_the_word_of_the_controller():
    """Of a broker whose own log has nothing of its stop: it led no longer than until its registration went."""
    told = started()
    told.write("t", 0, 2, (2,), 1, 1000)
    told.lose(1, 2000, 0xA)
    told.register(1, 3_600_000, 0xC)
    own = [event("segment_rolled", at, 1, line=line) for line, at in enumerate((-30_000, 3_700_000), start=1)]
    served = event("shutting_down_broker", 990, 2, line=1, file="controller.log")._replace(fields={"broker": "1"})
    (window,) = windows(examined(*own, served, told=told), "two_leaders")
    assert (window.closed - window.opened, window.planned) == (1000, True)
    assert window.closed_by == "Broker 1 was being stopped, and its registration was removed."
    assert [one.closed for one in windows(examined(*own, told=told), "two_leaders")] == [None]
