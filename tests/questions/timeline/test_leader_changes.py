"""Changes of leader: from when and from which offset on records of the old leader may be missing, and why."""

from casebook.facts.cluster import Cluster
from casebook.facts.disks import EpochStart, Replica
from casebook.questions.loss.analysis import causes
from casebook.questions.timeline.analysis.leader_changes import with_epochs
from tests.questions.timeline.scenes import CUT, ELECTED, GONE, NEW, OLD, T0, History, event, examined, incident, log

PLACE = {"topic": "t", "partition": 0}


def led(*isr, leader=1):
    """Brokers 1 to 3, of which one leads a partition."""
    told = History()
    for broker in (1, 2, 3):
        told.register(broker, -50_000 + broker, broker)
    told.write("t", 0, leader, isr, 0, -40_000)
    return told


def only(found):
    (change,) = found.changes
    return change


class TestDeposedLeader:
    def test_incident(self):
        """Since the session's last heartbeat, until the truncation, from its offset on."""
        found = incident(partitions=1)
        change = only(found)
        assert (change.opened, change.closed) == (T0 + ELECTED, T0 + CUT)
        assert change.since == T0 - 573 + 1000 - 4034  # "have not heard from server in 4034ms"
        assert (change.old_leader, change.new_leader, change.epoch, change.cut) == (57, 55, 1, 88_120_417)
        assert (change.unclean, change.alone, change.planned, change.cut_at_start, change.disk) == (
            False,
            None,
            False,
            False,
            False,
        )
        assert change.cut_proof == "brokers/57/logs/server.log:5561"

    def test_session_that_says_nothing(self):
        """Without the line, the session's timeout before its end."""
        told = led(1, 2)
        told.lose(1, GONE, 1)
        told.write("t", 0, 2, (2,), 1, ELECTED)
        assert only(examined(told=told)).since == T0 + GONE - 6000

    def test_own_words_of_the_new_leader(self):
        """Where it began to write goes before where the old one was told to cut."""
        told = led(1, 2)
        told.write("t", 0, 2, (2,), 1, 0)
        begun = event("become_leader", 20, 2, **PLACE, leader_epoch=1, offset=70)
        cut = event("truncated", 900, 1, **PLACE, offset=60)
        assert only(examined(begun, cut, told=told)).cut == 70

    def test_number(self):
        """In the order of time, over all partitions."""
        found = incident(partitions=3).changes
        assert [change.number for change in found] == [0, 1, 2]
        assert [change.opened for change in found] == sorted(change.opened for change in found)

    def test_open_end(self):
        """Nobody knows when a leader gave up whose log is not here: the next election does not tell, its return to the ISR does."""
        told = led(1, 2, 3)
        told.write("t", 0, 2, (2, 3), 1, 0)
        told.write("t", 0, 3, (3,), 2, 500)
        told.write("t", 0, 3, (3, 1), 2, 9000)
        first, second = examined(told=told).changes
        assert (first.closed, second.closed) == (T0 + 9000, None)
        assert first.closed_proof
        assert (first.by_then, causes.window(first)[-13:]) == (True, "at the latest")

    def test_an_end_that_nobody_read(self):
        """Of the old leader only a state-change.log is here, which goes on: that it gave up at once would be made up."""
        told = led(1, 2)
        told.lose(1, 1000, 1)
        told.write("t", 0, 2, (2,), 1, 1400)
        kinds = (("broker_starting", -50_100), ("scheduler_failed", 5000))
        lines = [event(kind, at, 1, file="state-change.log") for kind, at in kinds]
        (change,) = examined(*lines, told=told, covered=[log(1, "state-change.log")]).changes
        assert (change.closed, causes.takes(change, None, T0 + 6400)) == (None, True)
        told.write("t", 0, 2, (2, 1), 1, 60_000)
        (change,) = examined(*lines, told=told, covered=[log(1, "state-change.log")]).changes
        assert change.closed == T0 + 60_000


class TestUncleanElection:
    def alone(self):
        """Broker 1 leads alone from 1000 on and dies; broker 2 is elected."""
        told = led(1, 2)
        told.write("t", 0, 1, (1,), 0, 1000, by=1)
        told.lose(1, 5000, 1)
        told.write("t", 0, None, (1,), 1, 5100)
        told.write("t", 0, 2, (2,), 2, 9000)
        return told

    def test_out_of_sync(self):
        """It was not in the last ISR; records may be missing since it left, and twice the lag that is allowed before."""
        change = only(examined(told=self.alone(), version=NEW))
        assert change.unclean
        assert change.isr == (1,)
        assert change.alone == T0 + 1000
        assert change.since == T0 + 1000 - 2 * 30_000

    def test_lag_of_the_release(self):
        """10 s before 2.5."""
        assert only(examined(told=self.alone(), version=OLD)).since == T0 + 1000 - 2 * 10_000

    def test_lag_as_configured(self):
        """As the broker's properties have it."""
        of = Cluster(server_properties={1: {"replica.lag.time.max.ms": "3000"}})
        assert only(examined(told=self.alone(), of=of)).since == T0 + 1000 - 2 * 3000

    def test_empty_set(self):
        """0.9 writes an empty ISR where it gives up: the last that was not empty counts."""
        told = led(1, 2)
        told.write("t", 0, 1, (1,), 0, 1000, by=1)
        told.lose(1, 5000, 1)
        told.write("t", 0, None, (), 1, 5100)
        told.write("t", 0, 2, (2,), 2, 9000)
        change = only(examined(told=told))
        assert (change.unclean, change.alone) == (True, T0 + 1000)

    def test_old_leaders_own_cut(self):
        """Who was alone in sync cuts to its own end when it follows: that says nothing of the new leader's."""
        cut = event("truncated", 12_000, 1, **PLACE, offset=37)
        assert only(examined(cut, told=self.alone(), version=OLD)).cut is None

    def test_what_the_next_leader_had_loaded(self):
        """It has followed nobody since its start, so it began where the log that it loaded ends, wherever the old one cuts."""
        loaded = event("log_loaded", 8000, 2, **PLACE, line=318, offset=6)
        cut = event("truncated", 12_000, 1, **PLACE, offset=37)
        change = only(examined(loaded, cut, told=self.alone(), version=OLD))
        assert (change.cut, change.cut_proof) == (6, "brokers/2/logs/server.log:318")

    def test_what_it_had_loaded_and_fetched_more(self):
        """It has followed since: where its log ended then, nothing says."""
        earlier = event("log_loaded", -40_500, 2, **PLACE, offset=0), event("truncated", -39_900, 2, **PLACE, offset=0)
        assert only(examined(*earlier, told=self.alone(), version=OLD)).cut is None

    def test_same_leader_again(self):
        """Nobody else led, so nothing was cut."""
        told = led(1, 2)
        told.lose(1, 5000, 1)
        told.write("t", 0, None, (1,), 1, 5100)
        told.write("t", 0, 1, (1,), 2, 9000)
        assert examined(told=told).changes == ()


class TestCutAtStart:
    def restarted(self, *, shrinks=False):
        """Broker 2 restarts, cuts its log to 40, and is elected at 4000, a second later."""
        told = led(1, 2)
        if shrinks:
            told.write("t", 0, 1, (1,), 0, 3500, by=1)
            told.write("t", 0, 1, (1, 2), 0, 3900, by=1)
        told.write("t", 0, 2, (1, 2), 1, 4000)
        lines = (
            event("broker_starting", -50_100, 2), event("broker_started", -50_000, 2), event("truncated", -39_900, 2, **PLACE, offset=0),
            event("broker_starting", 2000, 2), event("broker_started", 2500, 2), event("truncated", 3000, 2, **PLACE, offset=40),
        )  # fmt: skip
        return only(examined(*lines, told=told, version=OLD, covered=[log(2)]))

    def test_in_sync_all_the_time(self):
        """It cut its log and led before it had fetched again: what was committed is gone."""
        change = self.restarted()
        assert (change.cut_at_start, change.cut, change.unclean) == (True, 40, False)

    def test_back_in_sync(self):
        """Who has left the ISR since is in it again because it has fetched all."""
        assert not self.restarted(shrinks=True).cut_at_start

    def test_created(self):
        """What is printed when a partition is created cuts nothing."""
        told = led(1, 2)
        told.write("t", 0, 2, (2,), 1, -39_000)
        assert not only(examined(event("truncated", -39_900, 2, **PLACE, offset=0), told=told, covered=[log(2)])).cut_at_start


class TestDisk:
    def test_named(self):
        """The broker says that its replica is offline; the controller elects another."""
        told = led(1, 2)
        told.write("t", 0, 2, (2,), 1, 4000)
        line = event("replicas_offline", 3900, 1, partitions="t-0", dir="/d")
        assert only(examined(line, told=told)).disk

    def test_another_partition(self):
        """One of another partition says nothing."""
        told = led(1, 2)
        told.write("t", 0, 2, (2,), 1, 4000)
        line = event("replicas_offline", 3900, 1, partitions="t-1", dir="/d")
        assert not only(examined(line, told=told)).disk


class TestEpochs:
    def copy(self, *starts):
        return Replica(2, "t", 0, "", "brokers/2/log_dirs.json", (), epochs=tuple(EpochStart(*start) for start in starts))

    def change(self, epoch=3):
        told = led(1, 2)
        told.write("t", 0, 2, (2,), epoch, 0)
        return only(examined(told=told))

    def test_begin_of_the_epoch(self):
        """The checkpoint of the copy that is read is exact."""
        (change,) = with_epochs([self.change()], {("t", 0): self.copy((0, 0), (3, 55), (5, 80))})
        assert (change.cut, change.cut_proof) == (55, "brokers/2/log_dirs.json")

    def test_leader_that_wrote_nothing(self):
        """The next epoch that is there begins where its own would have."""
        (change,) = with_epochs([self.change()], {("t", 0): self.copy((0, 0), (5, 80))})
        assert change.cut == 80

    def test_nothing_later(self):
        """Nobody has written since: the cut is not known this way."""
        (change,) = with_epochs([self.change()], {("t", 0): self.copy((0, 0))})
        assert change.cut is None
