"""Who waits for which coordinator: small scenes for each rule, and the real sample against what its script wrote down."""

import json
from dataclasses import replace
from datetime import datetime

import pytest

from casebook.case.case import Case
from casebook.facts.cluster import Broker, Cluster, Partition, PartitionState, Problem, Topic
from casebook.facts.disks import OFFSETS_TOPIC, LogDir, Replica, SegmentFile
from casebook.facts.events import Event, LogFile
from casebook.facts.offsets_topic import Segment
from casebook.facts.stamp import Stamp
from casebook.findings.finding import Severity, Status, names_unreadable
from casebook.kafka import release
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.machine import places
from casebook.questions.coordinators.analysis import coordinators
from casebook.questions.coordinators.analysis.states import CoordinatorState
from casebook.questions.coordinators.evidence import OffsetsEvidence
from casebook.questions.offsets_topic.analysis import offsets_topic
from casebook.questions.timeline.scans import logs
from casebook.questions.triage.analysis import plan_groups

AT = 1_795_168_800_000
MIB = 1 << 20
OLD, NEW = (VersionInUse(version=KafkaVersion.parse(v), origin=VersionOrigin.PARAMETER) for v in ("0.9.0.1", "2.8.2"))


def cluster(leaders, live=(1, 2), isr=None, replicas=(1, 2)):
    """Offsets partitions with these leaders (-1: none), each on these brokers."""
    return Cluster(
        brokers={b: Broker(id=b) for b in live},
        partitions=tuple(
            Partition(
                OFFSETS_TOPIC,
                number,
                replicas,
                state=PartitionState(None if leader == -1 else leader, isr or (1, 2), 1, 1, stamp=Stamp(changed_at=AT - 90_000)),
            )
            for number, leader in enumerate(leaders)
        ),
    )


def log_dir(broker, mebibytes):
    """A log dir with these partitions, to which nothing was written of late."""
    replicas = tuple(
        Replica(broker, OFFSETS_TOPIC, number, f"/d/{number}", "x", (SegmentFile(0, int(size * MIB), AT - 90_000),))
        for number, size in mebibytes.items()
    )
    return LogDir(broker, "/d", AT, replicas)


def said(broker, kind, partition=None, *, ago=0, took=None, text=""):
    """A line of a log, so many ms before the end of the evidence."""
    topic = None if partition is None else OFFSETS_TOPIC
    fields = {} if took is None else {"ms": str(took)}
    return Event(kind, AT - ago, broker, f"brokers/{broker}/logs/server.log", 7, None, None, topic, partition, None, fields, text)


def log(broker, *events):
    """Events of a log that begins with the broker's start."""
    return [said(broker, "broker_starting", ago=60_000), *events]


def examined(cluster, version, *, events=(), damage="", **more):
    """With logs that reach to the end of the evidence, of every broker that says something; what of them cannot be read."""
    brokers = sorted({event.broker for event in events})
    files = [LogFile(f"brokers/{broker}/logs/server.log", broker, AT - 60_000, AT, 9, 9, 9, damage) for broker in brokers]
    return coordinators.examine(cluster, version, events=events, files=files, **more)


def loaded(broker, partition, *, ago, took):
    """The two lines of a load that ended so long ago."""
    begins = said(broker, "loading", partition, ago=ago + took)
    return [begins, said(broker, "loaded", partition, ago=ago, took=took)]


def states(held):
    """State by partition."""
    return {one.judged.partition: one.judged.state for one in held.partitions}


def finding(held, check):
    """The finding of that check."""
    return next(found for found in held.findings if found.check == f"coordinators.{check}")


def told(broker, kind, partition=None, *, ago, group=None, topic=OFFSETS_TOPIC, line=7, **fields):
    """A line of a state-change or server log that names a leader or a group."""
    topic = None if partition is None else topic
    return Event(kind, AT - ago, broker, f"brokers/{broker}/logs/x.log", line, None, None, topic, partition, group, fields, "")


class TestLinesAlone:
    """Without znodes and segments, lines name leaders and groups, as of their moment."""

    def test_leaders(self):
        """The highest epoch counts, whoever's clock is ahead; what lines do not tell stays unknown."""
        lines = [
            told(1, "become_leader", 0, ago=9000, leader_epoch="4"),
            told(2, "become_follower", 0, ago=90_000, leader_epoch="5", leader="2"),
            told(1, "partition_changed", 1, ago=9000, leader="-1", leader_epoch="7"),
            told(1, "role_changed", 2, ago=9000, role="leader"),
            told(1, "become_leader", 3, ago=9000, topic="orders", leader_epoch="1"),
        ]
        held = examined(Cluster(), NEW, lines=lines)
        assert {one.judged.partition: one.judged.coordinator for one in held.partitions} == {0: 2, 1: None, 2: 1}
        assert set(states(held).values()) == {CoordinatorState.UNKNOWN}
        known = finding(held, "known")
        assert known.status is Status.COULD_NOT_CHECK and "Broker 2 led it at" in known.why
        assert known.evidence[0].line == 7 and "no znode shows a later state" in known.why

    def test_with_the_log_of_the_leader(self):
        """It was loaded by whom the line names; by another before that line, it is as good as not said."""
        lines = [told(2, "become_leader", 0, ago=9000, leader_epoch="4")]
        assert states(examined(Cluster(), NEW, events=log(2, *loaded(2, 0, ago=3000, took=9)), lines=lines)) == {
            0: CoordinatorState.SERVED
        }
        old = examined(Cluster(), NEW, events=log(1, *loaded(1, 0, ago=30_000, took=9)), lines=lines)
        assert (states(old), old.partitions[0].judged.coordinator) == ({0: CoordinatorState.UNKNOWN}, 2)
        new = examined(Cluster(), NEW, events=log(1, *loaded(1, 0, ago=3000, took=9)), lines=lines)
        assert (states(new), new.partitions[0].judged.coordinator) == ({0: CoordinatorState.SERVED}, 1)

    def test_znodes_count_more(self):
        lines = [told(2, "become_leader", 0, ago=9, leader_epoch="4")]
        assert examined(cluster([1]), NEW, lines=lines).partitions[0].judged.coordinator == 1

    def test_groups(self):
        """In every wording, with the line; a group that is dead is none; and there may be more of them."""
        lines = [
            told(1, "group_rebalance", ago=900, group="billing", line=3),
            told(1, "group_stable", ago=800, group="billing", line=4),
            told(1, "group_loaded", ago=700, group="audit", line=5),
            told(1, "group_stable", ago=700, group="gone", line=6),
            told(1, "group_dead", ago=600, group="gone", line=8),
        ]
        events = log(1, *(said(1, "load_scheduled", number, ago=5000) for number in range(50)))
        held = examined(cluster([1] * 50), NEW, events=events, lines=lines)
        assert held.groups == ("audit", "billing")
        assert {row.group_proof for row in held.rows if row.group == "billing"} == {"brokers/1/logs/x.log:4"}
        assert finding(held, "waiting").title.startswith("At least 2 groups named in logs cannot consume")
        assert examined(cluster([1] * 50), NEW, events=events, lines=lines, groups=["shop"]).groups == (
            "audit",
            "billing",
            "shop",
        )


class TestNoTopic:
    """Nobody has ever committed."""

    WALKED = frozenset({"/brokers/topics"})

    @pytest.mark.parametrize("topics", [{"orders": Topic(name="orders")}, {}], ids=["others", "none at all"])
    def test_a_whole_walk_did_not_see_it(self, topics):
        """Then nothing is asked about it, and nobody is sent for znodes or logs of it."""
        whole = Cluster(topics=topics, there=self.WALKED)
        held = coordinators.examine(whole, OLD, at=AT).findings + offsets_topic.examine(whole, OLD).findings
        assert {one.status for one in held} == {Status.NOT_APPLICABLE}

    def test_other_compacted_topics_are_asked_about(self):
        """A segment that stops the cleaner may be of any of them."""
        compacted = {"prices": {"cleanup.policy": "compact"}}
        whole = Cluster(topics={"prices": Topic(name="prices")}, topic_configs=compacted, there=self.WALKED)
        asked = [one for one in offsets_topic.examine(whole, OLD).findings if one.status is not Status.NOT_APPLICABLE]
        assert [(one.check, one.status) for one in asked] == [("offsets_topic.cleaner_map", Status.COULD_NOT_CHECK)]

    def test_a_walk_that_is_not_whole_tells_nothing(self):
        """It may be among the topics that were not seen."""
        torn = Cluster(there=self.WALKED, unlisted=(Problem(path="/brokers/topics", reason="not whole"),))
        for unknown in (torn, Cluster()):
            assert finding(coordinators.examine(unknown, OLD, at=AT), "leaderless").status is Status.COULD_NOT_CHECK

    def test_a_case_without_logs_and_log_dirs(self):
        """Nor is what would be asked of all of these as one."""
        case, none = Case.open(places.samples_dir() / "healthy"), logs.Logs(None, {})
        told = {OffsetsEvidence(case, of, OLD, logs=none, scan=False).findings[0].status for of in (case.cluster(), Cluster())}
        assert told == {Status.NOT_APPLICABLE, Status.COULD_NOT_CHECK}

    def test_logs_that_name_it_are_believed(self):
        """It was there when they were written: what became of the load is asked."""
        gone = Cluster(topics={"orders": Topic(name="orders")}, there=self.WALKED)
        held = examined(gone, OLD, events=log(1, *loaded(1, 0, ago=900, took=5)), at=AT)
        assert finding(held, "failed").status is Status.OK


class TestStates:
    def test_one_thread_loads_one_after_the_other(self):
        """Served, loading, and, as nothing else can be at work, queued."""
        events = log(1, *loaded(1, 0, ago=30_000, took=1000), said(1, "loading", 1, ago=30_000))
        held = examined(cluster([1, 1, 1]), OLD, events=events, at=AT)
        assert states(held) == {0: CoordinatorState.SERVED, 1: CoordinatorState.LOADING, 2: CoordinatorState.QUEUED}

    def test_from_0_11_the_first_of_the_queue_is_at_work(self):
        """Only the queueing is logged: the thread takes up the next when it is free."""
        queued = [said(1, "load_scheduled", p, ago=50_000 - p) for p in range(3)]
        events = log(1, *queued, said(1, "loaded", 0, ago=20_000, took=30_000))
        held = examined(cluster([1, 1, 1]), NEW, events=events, at=AT)
        assert states(held) == {0: CoordinatorState.SERVED, 1: CoordinatorState.LOADING, 2: CoordinatorState.QUEUED}
        assert held.partitions[1].judged.since == AT - 20_000

    def test_a_failed_load_is_served_in_part(self):
        """It counts as failed also when "Finished loading" follows; the finding is critical."""
        error = said(1, "load_failed", 0, ago=9, text="Attempted to load ..., but found no log")
        held = examined(cluster([1]), NEW, events=log(1, error, said(1, "loaded", 0, took=1)), at=AT)
        assert states(held) == {0: CoordinatorState.FAILED}
        assert finding(held, "failed").severity is Severity.CRITICAL

    def test_without_leader_there_is_no_coordinator(self):
        """Leader -1, or a leader that is not registered."""
        held = examined(cluster([-1, 2], live=(1,)), OLD, at=AT)
        assert states(held) == {0: CoordinatorState.LEADERLESS, 1: CoordinatorState.LEADERLESS}
        assert finding(held, "leaderless").facts["partitions"] == [0, 1]

    def test_a_new_coordinator_without_log_is_not_called_served(self):
        """The former one gave it up; whether the new one has loaded it nobody knows."""
        events = log(1, *loaded(1, 0, ago=900, took=5), said(1, "unloaded", 0, ago=100))
        held = examined(cluster([2]), OLD, events=events, at=AT)
        assert states(held) == {0: CoordinatorState.MOVED}
        assert finding(held, "known").status is Status.COULD_NOT_CHECK

    def test_a_log_that_begins_later_does_not_tell(self):
        """What was loaded before it begins is unknown, not queued."""
        events = log(1, said(1, "loading", 0, ago=900))[1:]
        assert states(examined(cluster([1, 1]), OLD, events=events, at=AT)) == {
            0: CoordinatorState.LOADING,
            1: CoordinatorState.UNKNOWN,
        }

    def test_a_restart_forgets_what_was_loaded(self):
        """The process that runs has not named it yet."""
        events = [said(1, "loaded", 0, ago=99_000, took=5), *log(1, said(1, "loading", 1, ago=900))]
        assert states(examined(cluster([1, 1]), OLD, events=events, at=AT))[0] is CoordinatorState.QUEUED

    @pytest.mark.parametrize(("version", "state"), [(OLD, CoordinatorState.LOADING_FOR_EVER), (NEW, CoordinatorState.LOADING)])
    def test_a_batch_larger_than_the_buffer_is_read_for_ever(self, version, state):
        """Before 0.10.1; those behind it are never served either."""
        big = Segment(1, 0, 0, MIB, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 6 * MIB, 0, False)
        events = log(1, said(1, "loading", 0, ago=900))
        read = replace(cluster([1, 1]), server_properties={1: {"broker.id": "1"}})
        held = examined(read, version, events=events, segments=[big], at=AT)
        assert states(held)[0] is state
        expected = Status.FINDING if version is OLD else Status.NOT_APPLICABLE
        assert finding(held, "loading_for_ever").status is expected

    @pytest.mark.parametrize(("largest", "first"), [({}, "Read the segments of"), ({0: 300}, "Wait"), ({0: 6 * MIB}, "Raise")])
    def test_nobody_waits_for_what_may_never_end(self, largest, first):
        """Up to 0.10.0 waiting is advised when every batch is known to fit; from then on always."""
        events = log(1, said(1, "loading", 0, ago=900))
        read = replace(cluster([1]), server_properties={1: {"broker.id": "1"}})
        dirs = [log_dir(1, {0: 900})]
        told = examined(read, OLD, events=events, log_dirs=dirs, largest=largest, at=AT)
        assert next(plan_groups.loads(told)).text.startswith(first)
        told = examined(read, NEW, events=events, log_dirs=dirs, at=AT)
        assert next(plan_groups.loads(told)).text.startswith("Wait")

    def test_an_estimate_bounds_a_wait(self):
        """Where it is not known whether the load can end, it is said by when it would have."""
        events = log(1, *loaded(1, 1, ago=30_000, took=10_000), said(1, "loading", 0, ago=900))
        read = replace(cluster([1, 1]), server_properties={1: {"broker.id": "1"}})
        held = examined(read, OLD, events=events, log_dirs=[log_dir(1, {0: 90, 1: 90})], at=AT)
        assert "If it ends, all groups are served by" in next(plan_groups.loads(held)).text

    def test_a_buffer_that_nobody_has_read_ends_no_load(self):
        """By the release's default it may never end; by the same default it may, whatever the batches are."""
        big = Segment(1, 0, 0, MIB, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 6 * MIB, 0, False)
        events = log(1, said(1, "loading", 0, ago=900))
        for segment, possible in ((big, True), (big._replace(largest_batch=300), False)):
            held = examined(cluster([1, 1]), OLD, events=events, segments=[segment], at=AT)
            asked = finding(held, "loading_for_ever")
            assert (states(held)[0], asked.status) == (CoordinatorState.LOADING, Status.COULD_NOT_CHECK)
            assert ("never ends" in asked.why) == possible and "--properties" in asked.settle

    def test_a_checkpoint_that_could_not_be_read(self):
        """It was given, and what is said of sizes and ends rests on it: such a run does not end as if all was well."""
        torn = log_dir(1, {0: 1})._replace(problems=(Problem(path="replication-offset-checkpoint", reason="is denied"),))
        for found in (
            coordinators.examine(cluster([1]), OLD, log_dirs=[torn]),
            offsets_topic.examine(cluster([1]), OLD, log_dirs=[torn]),
        ):
            (asked,) = (one for one in found.findings if one.check == "evidence.log_dirs")
            assert names_unreadable(asked)

    def test_whether_a_load_ends_is_not_known_without_its_batches(self):
        """Unless the whole partition fits into the buffer."""
        events = log(1, said(1, "loading", 0, ago=900))
        read = replace(cluster([1], live=(1,)), server_properties={1: {"broker.id": "1"}})
        answers = [
            finding(examined(read, OLD, events=events, log_dirs=dirs, at=AT), "loading_for_ever").status
            for dirs in ([log_dir(1, {0: 900})], [log_dir(1, {0: 1})])
        ]
        assert answers == [Status.COULD_NOT_CHECK, Status.OK]


class TestOfItsTime:
    """Loads whose end no line tells, and logs that end before the evidence does."""

    def test_one_thread_has_ended_what_came_before(self):
        """It began another load, or ended one that was queued later: lines are missing, and how it ended is not known."""
        began = log(1, said(1, "loading", 0, ago=9000), said(1, "loading", 1, ago=900))
        held = examined(cluster([1, 1]), OLD, events=began, at=AT)
        assert states(held) == {0: CoordinatorState.UNKNOWN, 1: CoordinatorState.LOADING}
        assert "the result is not in the log" in finding(held, "known").why
        queued = [said(1, "load_scheduled", number, ago=9000 - number) for number in range(3)]
        held = examined(cluster([1] * 3), NEW, events=log(1, *queued, said(1, "loaded", 1, ago=900, took=9)), at=AT)
        assert states(held) == {0: CoordinatorState.UNKNOWN, 1: CoordinatorState.SERVED, 2: CoordinatorState.LOADING}

    def test_several_threads_load_at_once(self):
        """0.8.2, and the new coordinator: the end of one tells nothing of the others."""
        words = "Scheduling loading of metadata from __consumer_offsets-0"
        queued = [said(1, "load_scheduled", number, ago=9000 - number, text=words) for number in range(2)]
        done = said(1, "loaded", 1, ago=900, took=9, text="Finished loading of metadata from __consumer_offsets-1")
        assert states(examined(cluster([1] * 2), NEW, events=log(1, *queued, done), at=AT))[0] is CoordinatorState.LOADING

    def test_a_log_that_ended_long_ago(self):
        """They waited then; whether they still do, the log does not tell."""
        events = log(1, said(1, "loading", 0, ago=900))
        later = AT + 3_600_000
        told = finding(examined(cluster([1]), NEW, events=events, at=later), "waiting")
        assert (told.status, "waited for a load when the log of broker 1 ended" in told.title) == (Status.COULD_NOT_CHECK, True)
        assert finding(examined(cluster([1]), NEW, events=events, at=AT), "waiting").status is Status.FINDING

    @pytest.mark.parametrize(("silent", "status"), [(50_000, Status.FINDING), (70_000, Status.COULD_NOT_CHECK)])
    def test_a_log_that_is_silent_for_longer_than_it_told_of_the_load(self, silent, status):
        """It was seen to load for a minute: a log that was copied a little earlier than the rest holds no end of it."""
        events = log(1, said(1, "loading", 0, ago=60_000))
        assert finding(examined(cluster([1]), NEW, events=events, at=AT + silent), "waiting").status is status


class TestEnds:
    def test_those_behind_wait_for_the_one_at_work(self):
        """Own rate, own sizes; the order of the queue is unknown in 0.9, so each may be next or last."""
        events = log(1, *loaded(1, 0, ago=30_000, took=10_000), said(1, "loading", 1, ago=30_000))
        dirs = [log_dir(1, {0: 10, 1: 60, 2: 10, 3: 10})]
        first, second, third = examined(cluster([1] * 4), OLD, events=events, log_dirs=dirs, at=AT).partitions[1:]
        assert first.eta.low < AT + 30_000 < first.eta.high
        assert second.eta == third.eta
        assert first.eta.mid + 10_000 < second.eta.mid < first.eta.mid + 20_000

    def test_without_sizes_there_is_no_estimate(self):
        """And the check says what would settle it."""
        events = log(1, said(1, "loading", 0, ago=900))
        held = examined(cluster([1]), OLD, events=events, at=AT)
        assert held.partitions[0].eta is None
        assert "log-dirs" in finding(held, "foretold").settle


class TestPartsOfTheEvidence:
    def test_logs_alone_give_state_and_broker(self):
        """Who took it up last coordinates it; where groups lie is an assumption."""
        events = log(2, *loaded(2, 7, ago=30_000, took=10), said(2, "loading", 8, ago=900))
        held = examined(Cluster(brokers_known=False), OLD, events=events, groups=["test"], at=AT)
        assert states(held) == {7: CoordinatorState.SERVED, 8: CoordinatorState.LOADING}
        assert finding(held, "partition_count").status is Status.COULD_NOT_CHECK
        assert held.look_up("test").partition == 48

    def test_who_is_dead_takes_nothing_over(self):
        """In sync by the last state, and not registered any more: the coordinator is alone."""
        found = coordinators.examine(cluster([1, 1], live=(1,), isr=(1, 2)), OLD, at=AT)
        assert finding(found, "alone").severity is Severity.WARNING
        assert [(one.broker, one.alone) for one in found.radius] == [(1, (0, 1))]

    @pytest.mark.parametrize(("replicas", "step"), [((1, 2), "Raise the replication factor"), ((1, 2, 3), "Start the brokers")])
    def test_more_replicas_where_there_are_too_few(self, replicas, step):
        """Three of which two are away only need to return."""
        found = coordinators.examine(cluster([1], live=(1,), isr=(1,), replicas=replicas), OLD, at=AT)
        assert finding(found, "alone").next[0].text.startswith(step)

    def test_znodes_alone_give_leaders_and_blast_radius(self):
        """Nothing is called served."""
        held = examined(cluster([1, 2, 1], isr=(1,)), OLD, groups=["a", "b", "c"])
        assert set(states(held).values()) == {CoordinatorState.UNKNOWN}
        assert [(r.broker, r.partitions) for r in held.radius] == [(1, 2), (2, 1)]
        assert finding(held, "alone").facts["partitions"] == [0, 2]

    def test_log_dirs_alone_give_sizes(self):
        """And nothing else."""
        held = examined(Cluster(brokers_known=False), OLD, log_dirs=[log_dir(3, {0: 5})])
        assert [(r.partition, r.bytes, r.state) for r in held.rows] == [(0, 5 * MIB, "unknown")]

    def test_nothing_gives_nothing(self):
        """No check is ok that looked at nothing."""
        held = examined(Cluster(brokers_known=False), OLD)
        assert not [found.check for found in held.findings if found.status is Status.FINDING]
        assert finding(held, "known").status is Status.COULD_NOT_CHECK


SAMPLE = places.samples_dir() / "coordinators_loading"


@pytest.fixture(scope="module")
def truth():
    """What clients of the groups were answered, and when each was served."""
    return json.loads((SAMPLE / "expected.json").read_text())["facts"]["coordinators"]


@pytest.fixture(scope="module")
def held(truth):
    """The sample, examined."""
    case = Case.open(SAMPLE)
    facts = case.cluster()
    told = logs.read(case)
    version = release.release(facts, logged=case.logged_versions(), configured=case.configured_versions())
    return coordinators.examine(
        facts, version, log_dirs=case.log_dirs(), events=told.events(), files=told.files, groups=truth["groups"]
    )


class TestSample:
    """Real 0.9.0.1 brokers, captured while they load; when each group was served is what a client saw."""

    def test_groups_lie_where_their_commits_are(self, held, truth):
        """By the name alone."""
        assert {g: held.look_up(g).partition for g in truth["groups"]} == {g: t["partition"] for g, t in truth["groups"].items()}

    def test_who_waits_is_who_was_refused(self, held, truth):
        """Served later than the evidence ends: loading or queued, and no one else."""
        waits = {row.group for row in held.rows if row.group and row.state in (CoordinatorState.LOADING, CoordinatorState.QUEUED)}
        assert waits == {group for group, told in truth["groups"].items() if _ms(told["served_at"]) > held.at}

    def test_each_is_served_within_its_interval(self, held, truth):
        """The whole wait is foretold within 30 % for those at work; all lie within their bounds."""
        for one in held.partitions:
            for group in one.groups:
                served = _ms(truth["groups"][group]["served_at"])
                if one.eta is None:
                    continue
                assert one.eta.low <= served <= one.eta.high, group
                if one.judged.state is CoordinatorState.LOADING:
                    assert one.eta.mid - one.judged.since == pytest.approx(served - one.judged.since, rel=0.3)


def _ms(moment):
    return datetime.fromisoformat(moment).timestamp() * 1000
