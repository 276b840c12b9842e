"""Evidence of different moments: said once, and never joined as if it were of one."""

from dataclasses import replace

import pytest

from casebook.facts.cluster import Broker, Cluster, Controller, Partition, PartitionState
from casebook.facts.disks import EpochStart, LogDir, Replica, SegmentFile
from casebook.facts.logged import LoggedEpoch, LoggedExpiry, LoggedRegistration
from casebook.facts.observed import Observation, Source, gap, observation
from casebook.facts.proofs import state_path
from casebook.facts.stamp import Stamp
from casebook.facts.znodes import Stat, Znode, ZnodeChange
from casebook.findings.finding import Coverage, Question, Severity, Status
from casebook.questions.leadership.analysis import leadership
from casebook.questions.timeline.analysis import moments, one_collection, past_znodes
from casebook.questions.timeline.analysis.past_znodes import Ends
from casebook.questions.triage.analysis import plan
from tests.evidence import made, state
from tests.questions.timeline.scenes import NEW

NOON = 1_700_000_000_000
MINUTE, HOUR = 60_000, 3_600_000
HERE = made(topics={"t": {0: ([1, 2], state(1, [1, 2], leader_epoch=3))}})
"""A cluster with one partition, in leader epoch 3."""
OURS = replace(HERE, cluster_id="ours")


def walked(at, cluster=HERE):
    return replace(cluster, read_from=at, read_to=at)


def log_dir(at=NOON, topic="t", epochs=()):
    copy = Replica(
        1, topic, 0, "/d/x", "brokers/1/log_dirs.json", (SegmentFile(0, 10, at),), epochs=tuple(EpochStart(e, 0) for e in epochs)
    )
    return LogDir(broker=1, place="/d", listed_at=at, replicas=(copy,))


def apart(cluster, *log_dirs, from_files=False):
    known = moments.observations(cluster, log_dirs=log_dirs)
    return one_collection.apart(cluster, known, log_dirs, from_files=from_files)


def answer(status, *by):
    ask = Question(check="a.b", question="Is it compacted?", coverage=Coverage.counted(1, 1, "partition", *by))
    return (
        ask.ok("It is", gaps=())
        if status is Status.OK
        else ask.found(Severity.CRITICAL, "It is not", since="2023-11-14T22:13:20Z")
    )


class TestObservations:
    def test_from_first_to_last(self):
        assert observation([None, 5, 3, 0, 9]) == Observation(3, 9)
        assert observation([None, 0]) is None

    @pytest.mark.parametrize(
        ("one", "other", "between"), [((1, 5), (9, 12), 4), ((9, 12), (1, 5), 4), ((1, 9), (5, 12), 0), ((1, 5), (5, 9), 0)]
    )
    def test_the_gap_between_two(self, one, other, between):
        assert gap(Observation(*one), Observation(*other)) == between

    def test_what_has_no_moment_has_none(self):
        """A case that does not say when it was collected is not of 1970."""
        assert moments.observations(HERE, log_dirs=[log_dir(None)]) == {}


class TestApart:
    @pytest.mark.parametrize("later", [0, 14 * MINUTE, -14 * MINUTE])
    def test_one_collection(self, later):
        assert apart(walked(NOON + later), log_dir()) is None

    def test_older_znodes(self):
        found = apart(walked(NOON - 6 * HOUR), log_dir())
        assert found.words == "The znodes are 6 h 0 min older than the log dirs"
        assert found.certain

    def test_log_dirs_of_several_moments(self):
        """Those of one broker that are as old as the znodes do not hide that those of another are hours newer."""
        found = apart(walked(NOON - 6 * HOUR), log_dir(NOON - 6 * HOUR), log_dir())
        assert found.words == "The znodes are 6 h 0 min older than the log dirs"
        found = apart(walked(NOON - 3 * HOUR), log_dir(NOON - 6 * HOUR), log_dir())
        assert found is not None and found.certain

    def test_older_log_dirs(self):
        found = apart(walked(NOON + 6 * HOUR), log_dir())
        assert found.words == "The log dirs are 6 h 0 min older than the znodes"

    def test_a_quiet_cluster_is_current(self):
        """ZooKeeper's last transaction may be long past when nothing changes; then nothing in the log dirs is newer."""
        found = apart(walked(NOON - 6 * HOUR), log_dir(), from_files=True)
        assert (found.certain, found.witness) == (False, None)

    @pytest.mark.parametrize("newer", [log_dir(topic="made_since"), log_dir(epochs=(0, 3, 4))])
    def test_what_was_made_since_is_its_witness(self, newer):
        """A copy of a topic that these znodes do not have, or of a later leader epoch."""
        found = apart(walked(NOON - 6 * HOUR), newer, from_files=True)
        assert found.witness == newer.replicas[0]

    def test_a_topic_that_was_made_since_is_a_witness_within_minutes(self):
        """Its log dir cannot be judged by znodes that do not know it; a change of leader meanwhile is no reason."""
        cluster = walked(NOON - 2 * MINUTE)
        assert apart(cluster, log_dir(topic="made_since")).witness.topic == "made_since"
        assert apart(cluster, log_dir(epochs=(0, 3, 4))) is None

    def test_what_a_deletion_left_behind_is_none(self):
        """A folder of a topic that the znodes do not have either, last written to before their moment."""
        left = log_dir(NOON - 7 * HOUR, topic="deleted")._replace(listed_at=NOON)
        assert apart(walked(NOON - 6 * HOUR), left, from_files=True).witness is None

    def test_an_earlier_epoch_is_none(self):
        assert apart(walked(NOON - 6 * HOUR), log_dir(epochs=(0, 3)), from_files=True).witness is None


class TestCheck:
    def said(self, cluster, *log_dirs, from_files=False):
        known = moments.observations(cluster, log_dirs=log_dirs)
        return moments.check(cluster, known, log_dirs, from_files=from_files)

    def test_of_one_collection(self):
        assert [one.status for one in self.said(walked(NOON), log_dir())] == [Status.OK]

    def test_hours_apart_is_no_ok(self):
        (said,) = self.said(walked(NOON - 6 * HOUR), log_dir())
        assert said.status is Status.COULD_NOT_CHECK
        assert said.title == "The znodes are 6 h 0 min older than the log dirs"
        assert "2023-11-14 16:13:20 UTC" in said.why and "2023-11-14 22:13:20 UTC" in said.why

    def test_a_quiet_cluster(self):
        (said,) = self.said(walked(NOON - 6 * HOUR), log_dir(), from_files=True)
        assert said.status is Status.OK
        assert said.caveats == ("The znodes are 6 h 0 min older than the log dirs, unless nothing changed since.",)

    def test_nothing_to_compare(self):
        assert self.said(walked(NOON)) == ()

    def test_log_dirs_of_nobody_knows_when(self):
        """They may be of any moment: that they are of one collection is no ok; whose they are is looked at all the same."""
        (said,) = self.said(walked(NOON), log_dir(None))
        assert (said.status, said.title) == (Status.COULD_NOT_CHECK, "The time of the log dirs is unknown")
        (said,) = self.said(walked(NOON, OURS), log_dir(None)._replace(meta={"cluster.id": "theirs"}))
        assert said.facts["of_another_cluster"] == [1]

    def test_of_another_cluster(self):
        """Though listed within the same minute, and with the ids of both."""
        (said,) = self.said(walked(NOON, OURS), log_dir()._replace(meta={"cluster.id": "theirs"}))
        assert said.status is Status.COULD_NOT_CHECK
        assert said.title == "The log dirs of broker 1 are of another cluster than the znodes"
        assert "theirs" in said.why and "ours" in said.why

    def test_one_of_its_log_dirs_is_of_another(self):
        own, strange = (log_dir()._replace(meta={"cluster.id": name}) for name in ("ours", "theirs"))
        for dirs in ((own, strange), (strange, own)):
            (said,) = self.said(walked(NOON, OURS), *dirs)
            assert said.facts["of_another_cluster"] == [1]

    @pytest.mark.parametrize("cluster", [HERE, OURS])
    @pytest.mark.parametrize("meta", [None, {}, {"cluster.id": "ours"}])
    def test_nothing_says_so(self, cluster, meta):
        """Releases before 2.4 write no id, those before 0.10.1 have none."""
        assert [one.status for one in self.said(walked(NOON, cluster), log_dir()._replace(meta=meta))] == [Status.OK]


class TestHeld:
    APART = apart(walked(NOON - 6 * HOUR), log_dir())

    @pytest.mark.parametrize("status", [Status.OK, Status.FINDING])
    @pytest.mark.parametrize("disks", [Source.LOG_DIRS, Source.SEGMENTS])
    def test_what_joins_both_is_withheld(self, status, disks):
        """With what it would say if nothing had changed; without advice and begin."""
        (held,) = moments.held([answer(status, Source.ZNODES, disks)], self.APART)
        assert (held.status, held.severity, held.next, held.since) == (Status.COULD_NOT_CHECK, None, (), None)
        assert held.title == "Unknown: the znodes are 6 h 0 min older than the log dirs"
        assert held.why.startswith("If nothing changed in between: It is")

    @pytest.mark.parametrize("by", [(Source.ZNODES,), (Source.SEGMENTS, Source.LOGS), (Source.ZNODES, Source.HISTORY)])
    def test_what_joins_nothing_stands(self, by):
        said = answer(Status.OK, *by)
        assert moments.held([said], self.APART) == (said,)

    def test_another_cluster_is_withheld(self):
        strange = apart(walked(NOON, OURS), log_dir()._replace(meta={"cluster.id": "theirs"}))
        (held,) = moments.held([answer(Status.OK, Source.ZNODES, Source.LOG_DIRS)], strange)
        assert held.status is Status.COULD_NOT_CHECK
        assert held.why == "If they were of one cluster: It is."

    def test_all_stands_where_they_meet(self):
        said = answer(Status.FINDING, Source.ZNODES, Source.LOG_DIRS)
        assert moments.held([said], None) == (said,)

    def test_quiet_is_not_apart(self):
        said = answer(Status.FINDING, Source.ZNODES, Source.LOG_DIRS)
        assert moments.held([said], apart(walked(NOON - 6 * HOUR), log_dir(), from_files=True)) == (said,)


class TestOutdated:
    """Znodes of ZooKeeper's files that something later contradicts."""

    ENDS = Ends(0x20, NOON)

    def said(self, zxid, printed=NOON, found=None, ends=ENDS):
        told = [LoggedRegistration(3, zxid, printed, "brokers/3/logs/server.log:7")]
        return past_znodes.outdated(found, ends, told, Cluster())

    @pytest.mark.parametrize("printed", [NOON - 10 * HOUR, NOON + 10 * HOUR, None])
    def test_by_the_transaction_of_a_later_start(self, printed):
        """In whatever zone its log is written."""
        past = self.said(0x21, printed)
        assert past.words == "The znodes are older than the last start of broker 3"
        assert "0x20" in past.why and "0x21" in past.why
        assert [one.label for one in past.evidence] == ["brokers/3/logs/server.log:7"]

    @pytest.mark.parametrize("zxid", [0x20, 0x1F])
    def test_not_by_a_start_that_they_know(self, zxid):
        assert self.said(zxid) is None

    def test_not_by_a_zookeeper_whose_data_is_gone(self):
        """Its transactions were counted from 1 as well."""
        assert self.said(0x900, NOON - 60 * HOUR) is None

    @pytest.mark.parametrize(("hours", "later"), [(20, False), (30, True)])
    def test_before_2_2_by_a_time_that_is_later_in_any_zone(self, hours, later):
        assert (self.said(None, NOON + hours * HOUR) is not None) is later

    @pytest.mark.parametrize(("epoch", "hours", "later"), [(5, 0, True), (4, 0, False), (5, -60, False)])
    def test_by_a_later_controller(self, epoch, hours, later):
        """An epoch that they do not know, unless it is of days before: of a ZooKeeper whose data is gone."""
        told = [LoggedEpoch(epoch, NOON + hours * HOUR, "brokers/3/logs/state-change.log:7")]
        past = past_znodes.outdated(None, self.ENDS, told, Cluster(controller=Controller(epoch=4)))
        assert (past is not None and past.words == "The znodes are older than controller epoch 5") is later

    @pytest.mark.parametrize(("session", "later"), [(0xAB, True), (0xCD, False)])
    def test_by_the_end_of_a_session(self, session, later):
        """Whose registration they still hold."""
        known = Cluster(brokers={3: Broker(id=3, stamp=Stamp(session=0xAB))})
        past = past_znodes.outdated(None, self.ENDS, [LoggedExpiry(session, "brokers/3/logs/server.log:7")], known)
        assert (past is not None and past.words == "The znodes are older than the end of broker 3's session") is later

    def test_by_what_a_log_dir_holds(self):
        found = apart(walked(NOON - 6 * HOUR), log_dir(topic="made_since"), from_files=True)
        assert past_znodes.outdated(found, self.ENDS, [], Cluster()).words == "The znodes are older than the log dir of broker 1"
        assert past_znodes.outdated(apart(walked(NOON - 6 * HOUR), log_dir(), from_files=True), self.ENDS, [], Cluster()) is None

    @pytest.mark.parametrize(("written", "later"), [("2023-11-14T22:43:20Z", True), ("2023-11-14T22:20:00Z", False)])
    def test_by_what_a_broker_wrote_when_it_started(self, written, later):
        """Its clock may differ by minutes."""
        started = log_dir()._replace(meta={"broker.id": "1", "written": written})
        past = past_znodes.outdated(None, self.ENDS, [], Cluster(), [started])
        assert (past is not None and past.words == "The znodes are older than the last start of broker 1") is later

    def test_the_last_transaction_is_that_of_the_history_or_of_a_znode_behind_it(self):
        changes = [ZnodeChange(0x9, NOON, None, "set", None, ())]
        known = replace(walked(NOON + 5), brokers={1: Broker(id=1, stamp=Stamp(created_in=0x11, changed_in=0x11))})
        assert past_znodes.last_transaction(known, changes) == Ends(0x11, NOON + 5)
        assert past_znodes.last_transaction(known, []) is None

    @pytest.mark.parametrize(
        ("mzxid", "leader", "later"), [(7, 2, True), (7, 1, False), (9, 2, False), (12, 2, False), (7, -1, True)]
    )
    def test_by_a_leader_that_the_history_has_later(self, mzxid, leader, later):
        """A walk that was made before ZooKeeper's files were copied, or after; an ISR that changed meanwhile is no matter."""
        stat = Stat(mzxid=9)
        partition = Partition("t", 0, (1,), state=PartitionState(1, (1,), 0, 1, stamp=Stamp(changed_in=mzxid)))
        changes = [
            ZnodeChange(
                0x9,
                NOON,
                None,
                "setData",
                None,
                (Znode(path=state_path(partition.topic, partition.partition), data=b'{"leader": %d}' % leader, stat=stat),),
            )
        ]
        ends = past_znodes.last_transaction(replace(walked(NOON), partitions=(partition,)), changes)
        past = past_znodes.outdated(None, ends, [], Cluster())
        assert (past is not None and past.words == "The znodes are older than ZooKeeper's history") is later

    @pytest.mark.parametrize(
        ("check", "stands"), [("leadership.offline", False), ("coordinators.leaderless", False), ("durability.single_copy", True)]
    )
    def test_what_they_say_of_the_present_is_withheld(self, check, stands):
        """How a topic was set up stands, as of then."""
        said = replace(answer(Status.FINDING, Source.ZNODES), check=check)
        (held,) = moments.held([said], None, self.said(0x21))
        assert (held.status is Status.FINDING) is stands
        if not stands:
            assert held.title == "Unknown: the znodes are older than the last start of broker 3"
            assert held.settle.startswith("Add ZooKeeper's later transaction logs")

    def test_it_is_said_without_log_dirs_as_well(self):
        known = moments.observations(walked(NOON), log_dirs=[])
        (said,) = moments.check(walked(NOON), known, [], from_files=True, past=self.said(0x21))
        assert (said.status, said.title) == (Status.COULD_NOT_CHECK, "The znodes are older than the last start of broker 3")

    def test_nobody_is_to_be_started_by_them(self):
        """Broker 1 is not registered there; whether it is now nobody knows."""
        lead = leadership.examine(replace(HERE, brokers={}, brokers_known=True), NEW)
        assert any(step.brokers for step in plan.make(lead).steps)
        assert plan.make(leadership.unknown(lead)).steps == ()


def test_each_answer_says_of_when_its_evidence_is():
    known = moments.observations(walked(NOON), log_dirs=[log_dir()])
    (said,) = moments.dated([answer(Status.OK, Source.ZNODES, Source.LOGS)], known, Source.ZNODES)
    assert said.coverage.observed == {Source.ZNODES: Observation(NOON, NOON)}
