"""Maintenance: restarts and orders against the controller's rules, coordinators that move, drains, what is left, and hardly any evidence."""

import json
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.errors import UsageError
from casebook.facts.disks import OFFSETS_TOPIC, LogDir, Replica, SegmentFile
from casebook.findings.finding import Severity, Status
from casebook.kafka.commands import Commands
from casebook.kafka.drain import KeepReason
from casebook.kafka.partitions import verdicts
from casebook.kafka.release import release
from casebook.kafka.releases import RELEASES, KafkaVersion
from casebook.kafka.restart_sets import RestartSets, _limit, harm
from casebook.kafka.verdict import OFFLINE
from casebook.questions.maintenance.analysis import asked as maintenance_asked
from casebook.questions.maintenance.analysis import maintenance
from casebook.questions.maintenance.analysis.evacuation import evacuate
from casebook.questions.maintenance.analysis.loads import CoordinatorMoves, Handover
from tests.evidence import K09, K28, made, of_brokers, override, state, znode
from tests.kafka.test_restart_sets import KNOWN, LIVE, clusters, sets
from tests.questions.coordinators.test_coordinators import AT, OLD, examined, loaded, log

MIB = 1 << 20
WELL = {"t": {0: ([1, 2], state(1, [1, 2])), 1: ([2, 3], state(2, [2, 3])), 2: ([3, 1], state(3, [3, 1]))}}


def asked_of(cluster, **asked):
    log_dirs = asked.pop("log_dirs", ())
    held = asked.pop("held", None)
    version = release(cluster, given=asked.pop("version", "2.8.2"))
    return maintenance.examine(cluster, version, asked=maintenance_asked.parse(cluster, **asked), held=held, log_dirs=log_dirs)


def finding(found, check):
    """The finding of that check."""
    return next(one for one in found.findings if one.check == f"maintenance.{check}")


def log_dir(broker, sizes):
    """A log dir with these partitions, by topic and number."""
    replicas = (Replica(broker, *at, "/d", "x", (SegmentFile(0, size, AT - 90_000),)) for at, size in sizes.items())
    return LogDir(broker, "/d", AT, tuple(replicas))


ONE = (override("t", min_insync_replicas="1"),)
"""Known to be so: what nobody collected may be anything."""


class TestBatches:
    @given(clusters(), st.integers(1, 3), st.booleans())
    def test_a_limit_tells_every_harm(self, partitions, min_isr, unclean):
        """Whoever stops: a partition suffers when more of those that matter stop than may."""
        _, asked = sets(partitions, min_isr=min_isr, unclean=unclean)
        for like in asked._names:
            if like.leader is None:
                continue
            members, spare = _limit(like)
            for many in range(len(KNOWN) + 1):
                for stopped in map(frozenset, combinations(KNOWN, many)):
                    suffers = harm(like, stopped) is not None
                    exact = like.leader in like.isr and set(like.isr) <= set(like.replicas)
                    assert (
                        suffers == (len(stopped & set(members)) > spare)
                        if exact
                        else not (suffers and len(stopped & set(members)) <= spare)
                    )

    @given(clusters(), st.integers(1, 3), st.booleans())
    def test_batches_are_safe_and_nobody_can_be_added(self, partitions, min_isr, unclean):
        """The largest set, and each step of the rolling order that is not one broker that harms by itself."""
        _, asked = sets(partitions, min_isr=min_isr, unclean=unclean)
        largest = asked.largest()
        alone = [broker for broker in LIVE if asked.of([broker]).safe is not False]
        assert (largest is None) == (not alone)
        if largest is not None:
            assert largest.safe is not False
            assert all(asked.of((*largest.brokers, other)).safe is False for other in set(LIVE) - set(largest.brokers))
        steps = asked.rolling(LIVE)
        assert sorted(broker for step in steps for broker in step.brokers) == list(LIVE)
        assert all(step.safe is not False or len(step.brokers) == 1 for step in steps)


class TestOrder:
    @given(clusters(), st.integers(1, 3), st.booleans(), st.sampled_from([K09, K28]), st.permutations(LIVE), st.integers(1, 3))
    def test_it_says_what_the_sets_say(self, partitions, min_isr, unclean, version, brokers, many):
        """The controller's own rules, replayed, take offline whom the sets name, and nobody else."""
        cluster, _ = sets(partitions, min_isr=min_isr, unclean=unclean)
        judged = verdicts(cluster, version)
        asked = RestartSets(judged, cluster.live)
        before = {(v.topic, v.partition) for v in judged if v.state in OFFLINE}
        found = maintenance.examine(cluster, release(cluster, given=str(version)))
        stopped = found.stopped((tuple(brokers[:many]),), 1)
        after = {(v.topic, v.partition) for v in verdicts(stopped.cluster, version) if v.state in OFFLINE}
        named = next((names for of, names in asked.harmed(brokers[:many]).items() if of == "offline"), [])
        assert sorted(after - before) == named

    def test_leaders_stay_where_they_went(self):
        """Restarting 1 hands its leaders to 2; restarting 2 next moves twice as many, and back: the second act of an incident."""
        partitions = {n: ([1 + n % 2, 2 - n % 2], state(1 + n % 2, [1, 2])) for n in range(6)}
        found = asked_of(made(live=(1, 2), topics={OFFSETS_TOPIC: partitions}), brokers="1,2")
        assert [step.row.offsets_partitions for step in found.chosen] == [3, 6]
        assert [row.offsets_partitions for row in found.singles] == [3, 3]
        last = found.stopped(((1,), (2,)), 2)
        assert {p.state.leader for p in last.cluster.partitions} == {1}
        assert {p.state.isr for p in last.cluster.partitions} == {(1,)}
        assert {frozenset(p.state.isr) for p in last.before.partitions} == {frozenset((1, 2))}

    def test_the_next_step_waits(self):
        """For everything that a broker of the step was in sync of."""
        found = asked_of(made(topics=WELL), brokers="3,1+2")
        assert [(step.row.brokers, step.catch_up) for step in found.chosen] == [((3,), 2), ((1, 2), 3)]

    def test_finding(self):
        """Safe one by one, not together; what is broken already is not held against it."""
        cluster = made(topics=WELL | {"old": {0: ([1, 9], state(-1, [9]))}}, extra=ONE)
        assert finding(asked_of(cluster, brokers="1,2,3"), "chosen").status is Status.OK
        together = finding(asked_of(cluster, brokers="1+2,3"), "chosen")
        assert (together.severity, together.facts["unsafe_steps"]) == (Severity.CRITICAL, [1])
        assert finding(asked_of(cluster), "chosen").status is Status.NOT_APPLICABLE
        assert [row.already_broken for row in asked_of(cluster).singles] == [1, 0, 0]


class TestRestartOne:
    def test_what_waiting_heals(self):
        """The last one in sync of a partition that should have two; once they have caught up all is well."""
        cluster = made(topics={"t": {0: ([1, 2], state(1, [1]))}})
        found = finding(asked_of(cluster), "restart_one")
        assert (found.severity, found.facts["unsafe"], found.facts["safe"]) == (Severity.INFO, [1], [2, 3])
        assert found.facts["missing_in_sync"] == 1
        assert found.next[0].text.startswith("Wait")

    def test_what_is_made_so(self):
        """A single replica, and min ISR as large as the replication factor: nothing to wait for."""
        cluster = made(
            topics={"one": {0: ([1], state(1, [1]))}, "two": {0: ([2, 3], state(2, [2, 3]))}},
            extra=[override("two", min_insync_replicas="2")],
        )
        found = finding(asked_of(cluster), "restart_one")
        assert (found.severity, found.facts["unsafe"]) == (Severity.INFO, [1, 2, 3])
        assert found.facts["goes_offline"] == {"1": 1, "2": 0, "3": 0}
        assert (found.facts["missing_in_sync"], found.next[0].text.startswith("Drain")) == (0, True)
        assert found.facts["falls_under_min_isr"] == {"1": 0, "2": 1, "3": 1}

    def test_all_well(self):
        assert finding(asked_of(made(topics=WELL, extra=ONE)), "restart_one").status is Status.OK
        pairs = finding(asked_of(made(topics=WELL, extra=ONE)), "restart_pairs")
        assert (pairs.severity, pairs.facts["only_together"]) == (Severity.INFO, [[1, 2], [1, 3], [2, 3]])

    def test_min_isr_that_nobody_collected(self):
        """With one of two down, acks=all is refused where brokers set 2, as everybody is advised to: nothing tells."""
        found = asked_of(made(topics=WELL))
        answer = finding(found, "restart_one")
        assert answer.status is Status.COULD_NOT_CHECK
        assert "server.properties" in answer.settle
        assert [(row.safe, row.falls_under_min_isr, row.unknown) for row in found.singles] == [(None, 0, 2)] * 3
        three = {"t": {0: ([1, 2, 3], state(1, [1, 2, 3]))}}
        assert [row.safe for row in asked_of(made(topics=three)).singles] == [True] * 3

    def test_the_next_leader_may_ask_for_more(self):
        """Brokers disagree: what the present leader asks for says nothing of who leads once it has stopped."""
        dynamic = (of_brokers("1", min_insync_replicas="1"), of_brokers("2", min_insync_replicas="2"))
        found = asked_of(made(live=(1, 2), topics={"t": {0: ([1, 2], state(1, [1, 2]))}}, extra=dynamic))
        assert [row.safe for row in found.singles] == [None, None]

    def test_unknown_is_not_safe(self):
        """A state that cannot be read, and registrations that could not be."""
        unread = made(topics=WELL | {"bad": {0: ([1, 2], b"?")}})
        assert finding(asked_of(unread), "restart_one").status is Status.COULD_NOT_CHECK
        nobody = replace(made(topics=WELL), brokers={}, brokers_known=False)
        found = asked_of(nobody)
        undecided = {
            "restart_one",
            "restart_pairs",
            "coordinators",
            "unfinished_reassignments",
            "unpreferred_leaders",
            "unregistered_replicas",
        }
        assert {one.check.partition(".")[2] for one in found.findings if one.status is Status.COULD_NOT_CHECK} == undecided

    def test_partitions_that_nobody_saw(self):
        """A topic whose assignment cannot be read: nothing is called safe, and nothing well; what harms is still said."""
        unread = znode("/brokers/topics/t2", b"?")
        found = asked_of(made(topics=WELL, extra=[unread]), drain="1")
        assert {row.safe for row in found.singles} == {None}
        assert {one.status for one in found.findings if one.check != "maintenance.chosen"} <= {
            Status.COULD_NOT_CHECK,
            Status.FINDING,
        }
        assert finding(found, "drain").status is Status.COULD_NOT_CHECK
        harmed = asked_of(made(topics={"t": {0: ([1], state(1, [1]))}}, extra=[unread]))
        assert finding(harmed, "restart_one").facts["unsafe"] == [1]

    def test_in_short_says_the_same(self):
        """Triage asks less, and is answered alike."""
        cluster = made(topics={"t": {0: ([1, 2], state(2, [1, 2])), 1: ([3, 9], state(3, [3]))}})
        found = asked_of(cluster)
        short = maintenance.in_short(cluster, found.version, found.verdicts).findings
        assert list(short) == [one for one in found.findings if one.check in {it.check for it in short}]
        assert len(short) == 5


class TestCoordinators:
    def offsets(self, leaders, isr=(1, 2)):
        return made(live=(1, 2), topics={OFFSETS_TOPIC: {n: ([1, 2], state(b, isr)) for n, b in enumerate(leaders)}})

    def held(self, cluster, sizes, took):
        """Broker 2 has loaded a partition of 10 MiB in so many ms; sizes in MiB by partition."""
        dirs = [log_dir(broker, {(OFFSETS_TOPIC, n): int(size * MIB) for n, size in sizes.items()}) for broker in (1, 2)]
        events = log(2, *loaded(2, 0, ago=20_000, took=took))
        return dirs, examined(cluster, OLD, events=events, log_dirs=dirs, groups=["my-group", "other"])

    def test_how_long_groups_wait(self):
        """20 MiB at the 10 MiB a second that broker 2 has shown; one thread, so two partitions take as long as both."""
        cluster = self.offsets([2, 1, 1])
        dirs, held = self.held(cluster, {0: 10, 1: 20, 2: 20}, took=1000)
        moves = CoordinatorMoves(cluster, verdicts(cluster, K09), K09, held=held, log_dirs=dirs)
        moved = moves.of([1])
        assert moved.handovers == (Handover(1, 1, 2), Handover(2, 1, 2))
        assert moved.seconds == pytest.approx(4.0, rel=0.02)
        assert moved.wait.low < 4000 < moved.wait.high
        assert moved.groups == sum(group in held.groups for group in ("my-group", "other")) - moves.of([2]).groups

    def test_no_size_no_time(self):
        """Unknown is not zero: without log dirs, or without a load that has ended, there is no time, and it is said why."""
        cluster = self.offsets([1])
        without = CoordinatorMoves(cluster, verdicts(cluster, K09), K09).of([1])
        assert (without.seconds, without.groups) == (None, None)
        assert "no load" in without.why
        dirs, held = self.held(self.offsets([2, 1]), {0: 10}, took=1000)
        moves = CoordinatorMoves(self.offsets([2, 1]), verdicts(self.offsets([2, 1]), K09), K09, held=held, log_dirs=dirs)
        assert (moves.of([1]).seconds, "size of partition 1" in moves.of([1]).why) == (None, True)
        assert finding(asked_of(cluster), "coordinators").status is Status.COULD_NOT_CHECK

    def test_nobody_takes_over(self):
        """Without another one in sync groups wait until the broker is back: that has no end that could be told."""
        cluster = self.offsets([1], isr=(1,))
        found = asked_of(cluster)
        assert finding(found, "coordinators").severity is Severity.WARNING
        assert found.moves.of([1]).seconds is None
        assert found.moves.of([2]).seconds == 0

    def test_long(self):
        """More than a minute is worth a warning."""
        cluster = self.offsets([2, 1])
        dirs, held = self.held(cluster, {0: 10, 1: 1000}, took=1000)
        found = asked_of(cluster, held=held, log_dirs=dirs, version="0.9.0.1")
        assert finding(found, "coordinators").severity is Severity.WARNING
        assert finding(found, "coordinators").facts["seconds"]["1"] == pytest.approx(100, rel=0.05)

    def test_none_there(self):
        """A cluster whose topics were all read and that has no such topic has nobody who waits."""
        found = asked_of(made(topics=WELL))
        assert finding(found, "coordinators").status is Status.NOT_APPLICABLE
        assert {row.seconds_without_coordinator for row in found.restarts} == {0.0}

    def test_transactions(self):
        """Their coordinators move as well."""
        cluster = made(topics={"__transaction_state": {n: ([1, 2], state(1, [1, 2])) for n in range(3)}})
        assert [row.transaction_partitions for row in asked_of(cluster).singles] == [3, 0, 0]


class TestAsked:
    def test_order(self):
        cluster = made(topics=WELL)
        assert maintenance_asked.parse_order(cluster, " 2, 1+3 ") == ((2,), (1, 3))
        assert maintenance_asked.written(((2,), (1, 3))) == "2,1+3"

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ({"brokers": "2,2"}, "twice"),
            ({"brokers": "7"}, "not registered"),
            ({"brokers": "two"}, "not a list"),
            ({"drain": "-1"}, "not a list"),
            ({"drain": "1", "moves": 0}, "too small"),
            ({"throttle": -1.0}, "too small"),
        ],
    )
    def test_what_cannot_be_meant(self, wrong, said):
        with pytest.raises(UsageError, match=said):
            maintenance_asked.parse(made(topics=WELL), **wrong)

    def test_a_single_broker_as_papermill_gives_it(self):
        """A text that looks like a number comes as one."""
        asked = maintenance_asked.parse(made(topics=WELL), brokers=1, drain=2, exclude=3, targets=1)
        assert (asked.order, asked.wanted.brokers, asked.wanted.excluded) == (((1,),), {2}, {3})

    def test_targets_and_megabytes(self):
        """Only the targets take something; a megabyte is a million bytes, as --throttle counts."""
        asked = maintenance_asked.parse(made(live=(1, 2, 3, 4), topics=WELL), drain="1", targets="2,3", exclude="3", throttle=2.5)
        assert asked.wanted.excluded == {3, 4}
        assert asked.throttle == 2_500_000

    @pytest.mark.parametrize("given_", [{"targets": "2,33"}, {"exclude": "33"}, {"drain": "33"}, {"drain": "1,33"}])
    def test_brokers_that_are_not_there(self, given_):
        """An id that is mistyped is not obeyed in silence."""
        with pytest.raises(UsageError, match="33 is neither registered"):
            maintenance_asked.parse(made(topics=WELL), **{"drain": "1", **given_})


class TestDrain:
    def test_files(self):
        """Each step forth and back, as the tool takes it: together they move what is to move, and put it back."""
        cluster = made(live=(1, 2, 3, 4), topics=WELL)
        drain = asked_of(cluster, drain="1", moves=1).drain
        files = {name: json.loads(text) for name, text in drain.files().items() if name.endswith(".json")}
        now = {(p.topic, p.partition): list(p.replicas) for p in cluster.partitions}
        for back in ("", "-rollback"):
            steps = [
                rows for name, rows in sorted(files.items()) if name.startswith("step") and ("rollback" in name) == bool(back)
            ]
            assert [rows["version"] for rows in steps] == [1, 1]
            after = now | {(r["topic"], r["partition"]): r["replicas"] for rows in steps for r in rows["partitions"]}
            assert (1 in {b for replicas in after.values() for b in replicas}) is bool(back)
            assert (after == now) is bool(back)

    def test_bytes_and_time(self):
        """The leader's copy counts; 30 MB at 1 MB/s take 30 s, and what is not known is no time at all."""
        cluster = made(live=(1, 2, 3, 4), topics=WELL)
        known = {("t", 0): 30_000_000, ("t", 2): 9}
        dirs = [log_dir(1, known), log_dir(3, {("t", 2): 10_000_000})]
        drain = asked_of(cluster, drain="1", throttle=1.0, moves=1, log_dirs=dirs).drain
        assert [row.bytes for row in drain.rows] == [30_000_000, 10_000_000]
        assert [drain.seconds(step) for step in drain.plan.steps] == [30, 10]
        unsized = asked_of(cluster, drain="1", throttle=1.0, log_dirs=dirs[1:])
        assert (unsized.drain.unsized, unsized.drain.seconds(unsized.drain.plan.steps[0])) == (1, None)
        assert "are unknown" in finding(unsized, "drain").caveats[0]
        assert asked_of(cluster, drain="1", throttle=1.0, version="0.10.0.1").drain.throttle is None

    def test_nothing_there(self):
        """A broker that holds nothing, and none at all."""
        idle = asked_of(made(live=(1, 2, 3, 4), topics=WELL), drain="4")
        assert finding(idle, "drain").status is Status.OK
        assert idle.drain.files() == {}
        assert finding(asked_of(made(topics=WELL)), "drain").status is Status.NOT_APPLICABLE

    def test_no_broker_left_as_target(self):
        """Nothing is moved to nowhere: it is said what stays, and why."""
        found = asked_of(made(topics=WELL), drain="1,2,3")
        assert found.drain.plan.moves == ()
        assert {one.reason for one in found.drain.plan.blocked} == {KeepReason.NO_TARGET}
        assert (finding(found, "drain").severity, finding(found, "drain").facts["blocked"]) == (Severity.WARNING, 3)

    def test_racks_on_some_brokers_only(self):
        """Those without count as one rack: the copy goes where no other is."""
        racks = [znode(f"/brokers/ids/{b}", {"version": 4, "host": "h", "port": 1, "endpoints": [], "rack": r})
                 for b, r in ((2, "a"), (4, "b"))]  # fmt: skip
        cluster = made(live=(1, 2, 3, 4), topics={"t": {0: ([3, 1], state(3, [3, 1]))}}, extra=racks)
        assert asked_of(cluster, drain="1").drain.plan.moves[0].to_replicas in ((3, 2), (3, 4))
        both = made(live=(1, 2, 3, 4), topics={"t": {0: ([3, 4, 1], state(3, [3, 4, 1]))}}, extra=racks)
        assert asked_of(both, drain="1").drain.plan.moves[0].to_replicas == (3, 4, 2)

    def test_in_the_middle_of_another(self):
        """The plan builds on where the running one leads; older releases have to wait for it."""
        running = znode("/admin/reassign_partitions",
                        {"version": 1, "partitions": [{"topic": "t", "partition": 1, "replicas": [3, 1]}]})  # fmt: skip
        cluster = made(live=(1, 2, 3, 4), topics=WELL, extra=[running])
        found = asked_of(cluster, drain="1")
        move = next(move for move in found.drain.plan.moves if move.partition == 1)
        assert (move.from_replicas, found.drain.running) == ((3, 1), 1)
        assert "--additional" in found.drain.step_commands(found.drain.plan.steps[0])[0]
        assert "Wait until that has ended" in finding(asked_of(cluster, drain="1", version="2.4.1"), "drain").next[0].text

    def test_registrations_unknown(self):
        """Who lives is not known: there is no plan, and nobody is called dead."""
        found = asked_of(replace(made(topics=WELL), brokers={}, brokers_known=False), drain="1")
        assert finding(found, "drain").status is Status.COULD_NOT_CHECK
        assert (found.drain.plan.moves, found.drain.plan.blocked, found.drain.files()) == ((), (), {})

    def test_dead(self):
        """Its replicas are made anew by others; it needs no leader to hand over."""
        found = asked_of(made(live=(1, 2), topics={"t": {0: ([1, 9], state(1, [1]))}}), drain="9")
        assert found.drain.plan.moves[0].to_replicas == (1, 2)
        assert found.drain.dead == (9,)
        assert found.drain.evacuation.turned == ()
        assert set(found.drain.files()) == {"step-1.json", "commands.txt"}  # a way back would name a dead broker
        assert "There is no rollback" in " ".join(finding(found, "drain").caveats)
        assert "not" not in {step.kind for step in finding(found, "drain").next}

    def test_what_is_under_way_could_not_be_read(self):
        """The assignment may be that of both sides of a reassignment: the plan is doubted, as it is not when nothing is under way."""
        cluster = made(live=(1, 2, 3), topics=WELL, extra=[znode("/admin/reassign_partitions", b"?")])
        assert "/admin/reassign_partitions" in asked_of(cluster, drain="1").drain.doubt
        assert asked_of(made(live=(1, 2, 3), topics=WELL), drain="1").drain.doubt == ""

    def test_minimal_replication_factor(self):
        cluster = made(live=(1, 2, 3, 4), topics={"t": {0: ([1], state(1, [1]))}})
        assert len(asked_of(cluster, drain="1", min_rf=3).drain.plan.moves[0].to_replicas) == 3


class TestEvacuation:
    @given(clusters(), st.sets(st.sampled_from(LIVE), min_size=1, max_size=2))
    def test_leaders_leave_and_replicas_stay(self, partitions, drained):
        """The same brokers in another order; whoever leads next is alive, in sync and stays; nobody is forgotten."""
        cluster, _ = sets(partitions)
        turned, blocked = evacuate(cluster, frozenset(drained))
        there = {(p.topic, p.partition): p for p in cluster.partitions}
        for one in turned:
            before = there[one.topic, one.partition]
            assert sorted(one.to_replicas) == sorted(before.replicas)
            assert one.leader_after in cluster.live - drained
            assert one.leader_after in before.state.isr
        theirs = {name for name, p in there.items() if p.state.leader in cluster.live
                  and drained & {p.state.leader, p.replicas[0]}}  # fmt: skip
        assert {(one.topic, one.partition) for one in (*turned, *blocked)} == theirs
        for one in blocked:
            state_ = there[one.topic, one.partition].state
            unfit = not (set(state_.isr) & cluster.live & set(one.replicas)) - drained
            assert unfit or (one.reason is KeepReason.DEAD_REPLICA and not cluster.live.issuperset(one.replicas))
        assert all(cluster.live.issuperset(one.to_replicas) for one in turned if one.to_replicas != one.from_replicas)

    def test_a_dead_replica(self):
        """The tool refuses another order that names it, and all others in the same file; and nobody is elected by the old one."""
        cluster = made(live=(1, 2), topics={"t": {0: ([1, 2, 9], state(2, [1, 2]))}})
        turned, blocked = evacuate(cluster, frozenset({1}))
        assert turned == ()
        assert [one.reason for one in blocked] == [KeepReason.DEAD_REPLICA]

    def test_they_are_spread(self):
        """Six leaders of broker 1 go to the two others by turns."""
        cluster = made(topics={"t": {n: ([1, 2, 3], state(1, [1, 2, 3])) for n in range(6)}})
        after = [one.leader_after for one in evacuate(cluster, frozenset({1})).turned]
        assert (after.count(2), after.count(3)) == (3, 3)

    def test_an_election_is_enough(self):
        """Where the preferred leader is another one and in sync, the order stays as it is."""
        cluster = made(topics={"t": {0: ([2, 1], state(1, [1, 2]))}})
        drain = asked_of(cluster, drain="1").drain
        assert drain.evacuation.turned[0].to_replicas == (2, 1)
        assert "leaders.json" not in drain.files()
        assert json.loads(drain.files()["election.json"]) == {"partitions": [{"topic": "t", "partition": 0}]}
        assert len(drain.leader_commands()) == 1


class TestCommands:
    """As the options of Kafka's own tools stand in its source at each tag."""

    @pytest.mark.parametrize(
        ("version", "asks", "throttle", "election"),
        [
            ("0.9.0.1", "--zookeeper HOST:2181/kafka", False, "kafka-preferred-replica-election.sh --zookeeper HOST:2181/kafka"),
            ("0.10.1.0", "--zookeeper HOST:2181/kafka", True, "kafka-preferred-replica-election.sh --zookeeper HOST:2181/kafka"),
            ("2.2.0", "--zookeeper HOST:2181/kafka", True, "kafka-preferred-replica-election.sh --bootstrap-server HOST:9092"),
            ("2.5.1", "--zookeeper HOST:2181/kafka", True, "kafka-leader-election.sh --bootstrap-server HOST:9092"),
            ("2.6.0", "--bootstrap-server HOST:9092", True, "kafka-leader-election.sh --bootstrap-server HOST:9092"),
            ("3.9.2", "--bootstrap-server HOST:9092", True, "kafka-leader-election.sh --bootstrap-server HOST:9092"),
        ],
    )
    def test_by_release(self, version, asks, throttle, election):
        commands = Commands(KafkaVersion.parse(version), "HOST:2181/kafka")
        executed = commands.execute("step-1.json", throttle=1000)
        assert executed.startswith(f"bin/kafka-reassign-partitions.sh {asks} --reassignment-json-file step-1.json --execute")
        assert ("--throttle 1000" in executed) is throttle
        assert election in commands.elect("e.json")
        assert commands.elect("e.json").endswith("--path-to-json-file e.json")

    def test_zookeeper_is_gone_from_3_0_on(self):
        """No tool of 3.x takes it."""
        for version, ask in product(RELEASES, ("execute", "verify", "elect", "under_replicated")):
            commands = Commands(version, "HOST:2181/kafka")
            said = getattr(commands, ask)(*(["f.json"] if ask in ("execute", "verify", "elect") else []))
            assert ("--zookeeper" in said) is False or version < KafkaVersion.parse("3.0.0")

    def test_the_servers_that_are_known(self):
        """Of those of the case, with the chroot once, at the end."""
        known = replace(made(), zookeeper=("zk1:2181", "zk2:2181"), chroot="/kafka")
        asked = Commands(KafkaVersion.parse("0.9.0.1"), known.connect).set("topics", "t", "min.insync.replicas=2")
        assert asked == (
            "bin/kafka-configs.sh --zookeeper zk1:2181,zk2:2181/kafka --entity-type topics --entity-name t --alter "
            "--add-config min.insync.replicas=2"
        )

    def test_names_are_one_word_for_the_shell(self):
        assert "'$(rm x)'" in Commands(K28).unset("topics", "$(rm x)", "k")
        assert "--zookeeper 'zk:2181/$(rm x)'" in Commands(KafkaVersion.parse("0.9.0.1"), "zk:2181/$(rm x)").under_replicated()


class TestLeftovers:
    def test_throttle(self):
        """With the command that takes it off."""
        cluster = made(topics=WELL, extra=[override("t", leader_replication_throttled_replicas="0:1")])
        found = finding(asked_of(cluster), "unremoved_throttles")
        assert found.severity is Severity.WARNING
        assert "--entity-type topics --entity-name t" in found.next[0].command
        assert found.next[0].command.endswith("--delete-config leader.replication.throttled.replicas")

    def test_throttle_of_all_brokers(self):
        """They are no broker by a name: the tool has an option of its own."""
        cluster = made(topics=WELL, extra=[of_brokers("<default>", leader_replication_throttled_rate="1000")])
        command = finding(asked_of(cluster), "unremoved_throttles").next[0].command
        assert "--entity-type brokers --entity-default --alter" in command

    def test_reassignment(self):
        """One that waits for a broker that is gone, and one that moves nothing."""
        entries = [{"topic": "t", "partition": 0, "replicas": [2, 9]}, {"topic": "t", "partition": 1, "replicas": [2, 3]}]
        cluster = made(topics=WELL, extra=[znode("/admin/reassign_partitions", {"version": 1, "partitions": entries})])
        found = finding(asked_of(cluster), "unfinished_reassignments")
        assert (found.severity, found.facts["waits_for"], found.facts["nothing_to_move"]) == (Severity.WARNING, [9], 1)

    def test_leaders_away_from_home(self):
        """As the controller counts it: more than a tenth of what a broker is preferred for."""
        topics = {"t": {n: ([1, 2], state(2 if n < 2 else 1, [1, 2])) for n in range(10)}}
        found = finding(asked_of(made(topics=topics)), "unpreferred_leaders")
        assert (found.severity, found.facts["imbalance"]) == (Severity.INFO, {"1": 0.2})
        topics["t"] |= {n: ([1, 2], state(1, [1, 2])) for n in range(10, 20)}
        assert finding(asked_of(made(topics=topics)), "unpreferred_leaders").status is Status.OK

    @pytest.mark.parametrize(
        ("isr", "severity"), [([1, 9], Severity.INFO), ([9], Severity.WARNING)], ids=["another is in sync", "nobody is"]
    )
    def test_the_last_copy_is_on_a_dead_broker(self, isr, severity):
        """An empty broker with its id would be elected as one in sync: worse than a copy that is missing for a while."""
        topics = {"t": {0: ([1, 9], state(1 if 1 in isr else -1, isr))}, "old": {0: ([1, 9], state(-1, [9]))}}
        cluster = made(topics=topics, extra=[znode("/admin/delete_topics/old")])
        found = finding(asked_of(cluster), "unregistered_replicas")
        assert (found.severity, found.facts["last_copies"]) == (severity, int(1 not in isr))
        assert ("broker 9 holds the last complete copy of 1 partition" in found.title) is (1 not in isr)
        assert any(step.kind == "not" and "empty broker" in step.text for step in found.next)

    @pytest.mark.parametrize(("replicas", "state_of"), [([2, 9], state(-1, [])), ([9], None)], ids=["ISR emptied", "no state"])
    def test_whether_a_dead_broker_has_the_last_copy_is_unknown(self, replicas, state_of):
        """Unknown is not none: its disk may be the only one that has everything."""
        found = finding(asked_of(made(topics={"t": {0: (replicas, state_of)}})), "unregistered_replicas")
        assert (found.severity, found.facts["last_copies"], found.facts["unknown_copies"]) == (Severity.INFO, None, 1)
        assert "for 1 partition, the holder of a complete copy is unknown" in found.title
        assert any(step.kind == "not" and "an empty broker as broker 9" in step.text for step in found.next)

    def test_nothing_left(self):
        found = asked_of(made(topics=WELL))
        left = ("unfinished_reassignments", "unremoved_throttles", "unpreferred_leaders", "unregistered_replicas")
        assert {finding(found, check).status for check in left} == {Status.OK}
