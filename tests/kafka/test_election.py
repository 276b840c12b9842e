"""The election rules, one class a rule. ``tests/differential`` proves them against Kafka's own code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.facts.cluster import PartitionState
from casebook.kafka import controller, election
from casebook.kafka.controller import ElectionOutcome
from casebook.kafka.election import NoLeaderReason
from casebook.kafka.releases import KafkaVersion

V09, V010, V10, V11, V21, V22, V23, V28, V39 = map(
    KafkaVersion.parse, ("0.9.0.1", "0.10.0.1", "1.0.2", "1.1.1", "2.1.1", "2.2.2", "2.3.1", "2.8.2", "3.9.2")
)
VERSIONS = (V09, V010, V10, V11, V21, V22, V23, V28, V39)


def _brokers(*ids):
    return frozenset(ids)


def _state(leader, isr, epoch=4):
    return ElectionOutcome(leader=leader, isr=isr, leader_epoch=epoch)


class TestOffline:
    def test_assignment_order_decides(self):
        """The winner is the first in assignment order, not in ISR order; the ISR keeps its own order."""
        got = election.offline(replicas=(1, 2, 3), isr=(3, 1, 2), live=_brokers(2, 3), unclean=False)
        assert (2, (3, 2), False, None) == got

    def test_waits_for_the_isr(self):
        """Without a live ISR member and without unclean election nobody wins, although a replica is alive."""
        got = election.offline(replicas=(1, 2), isr=(1,), live=_brokers(2), unclean=False)
        assert (None, NoLeaderReason.NO_LIVE_ISR_MEMBER) == (got.leader, got.reason)

    def test_unclean_takes_the_first_live_replica(self):
        """The unclean winner is alone in the new ISR."""
        got = election.offline(replicas=(1, 2, 3), isr=(1,), live=_brokers(3, 2), unclean=True)
        assert (2, (2,), True, None) == got

    def test_unclean_is_the_last_resort(self):
        """Where a clean winner exists it wins, also if unclean election is allowed."""
        got = election.offline(replicas=(1, 2), isr=(2,), live=_brokers(1, 2), unclean=True)
        assert (2, (2,), False, None) == got

    def test_needs_a_live_replica(self):
        """A live broker without a replica helps nobody."""
        got = election.offline(replicas=(1, 2), isr=(1,), live=_brokers(3), unclean=True)
        assert NoLeaderReason.NO_LIVE_REPLICA is got.reason

    @pytest.mark.parametrize("unclean", [True, False])
    def test_live_isr_member_outside_the_assignment_blocks(self, unclean):
        """It cannot be elected, and as it is alive there is no unclean election either."""
        got = election.offline(replicas=(1, 2), isr=(1, 4), live=_brokers(2, 4), unclean=unclean)
        assert NoLeaderReason.LIVE_ISR_OUTSIDE_ASSIGNMENT is got.reason

    def test_live_isr_member_outside_the_assignment_stays(self):
        """When somebody else wins, it remains in the ISR."""
        got = election.offline(replicas=(1, 2), isr=(4, 2), live=_brokers(2, 4), unclean=False)
        assert (2, (4, 2), False, None) == got


class TestReassign:
    def test_first_live_target_in_sync(self):
        """The first target that is alive and in the ISR wins, and the ISR stays."""
        got = election.reassign(targets=(4, 5), isr=(1, 5, 4), live=_brokers(1, 5))
        assert (5, (1, 5, 4), False, None) == got

    def test_no_target_in_sync(self):
        """Without one nobody is elected."""
        got = election.reassign(targets=(4, 5), isr=(1,), live=_brokers(1, 4, 5))
        assert NoLeaderReason.NO_LIVE_TARGET_IN_ISR is got.reason


class TestPreferred:
    def test_first_assigned_replica(self):
        """The preferred leader is the first assigned replica."""
        got = election.preferred(replicas=(1, 2), isr=(2, 1), live=_brokers(1, 2), leader=2, version=V09)
        assert (1, (2, 1), False, None) == got

    @pytest.mark.parametrize(
        ("isr", "live", "reason"),
        [((1, 2), (2,), NoLeaderReason.PREFERRED_NOT_LIVE), ((2,), (1, 2), NoLeaderReason.PREFERRED_NOT_IN_ISR)],
    )
    def test_no_second_choice(self, isr, live, reason):
        """When it cannot lead, nobody else is tried."""
        got = election.preferred(replicas=(1, 2), isr=isr, live=_brokers(*live), leader=2, version=V28)
        assert reason is got.reason

    @pytest.mark.parametrize("version", [V09, V10, V22, V39])
    def test_leads_already(self, version):
        """Where it leads already, no election is held."""
        got = election.preferred(replicas=(1, 2), isr=(1,), live=_brokers(1), leader=1, version=version)
        assert NoLeaderReason.NOT_NEEDED is got.reason

    @pytest.mark.parametrize("version", [V11, V21])
    def test_elected_anew(self, version):
        """1.1 to 2.1 elect it again."""
        got = election.preferred(replicas=(1, 2), isr=(1,), live=_brokers(1), leader=1, version=version)
        assert (1, (1,), False, None) == got

    def test_nothing_assigned(self):
        """An empty assignment has no preferred leader."""
        got = election.preferred(replicas=(), isr=(1,), live=_brokers(1), leader=None, version=V39)
        assert NoLeaderReason.PREFERRED_NOT_LIVE is got.reason


class TestControlledShutdown:
    @pytest.mark.parametrize(("version", "leader"), [(V09, 3), (V010, 2), (V39, 2)])
    def test_order(self, version, leader):
        """0.9 goes by the ISR's order, later releases by the assignment's."""
        got = election.controlled_shutdown(
            replicas=(1, 2, 3), isr=(3, 2, 1), live=_brokers(1, 2, 3), shutting_down=_brokers(1), version=version
        )
        assert (leader, (3, 2), False, None) == got

    @pytest.mark.parametrize("version", VERSIONS)
    def test_never_unclean(self, version):
        """A leader whose ISR holds nobody else cannot move."""
        got = election.controlled_shutdown(
            replicas=(1, 2), isr=(1,), live=_brokers(1, 2), shutting_down=_brokers(1), version=version
        )
        assert NoLeaderReason.NO_OTHER_ISR_MEMBER is got.reason

    def test_09_takes_a_dead_one(self):
        """0.9 does not ask whether the winner is alive."""
        got = election.controlled_shutdown(replicas=(1, 2), isr=(2, 1), live=_brokers(1), shutting_down=_brokers(1), version=V09)
        assert 2 == got.leader


class TestNewPartition:
    def test_live_replicas_become_the_isr(self):
        """The first live replica leads, and all live ones are in sync by definition."""
        assert (2, (2, 3), False, None) == election.new_partition(replicas=(1, 2, 3), live=_brokers(3, 2))

    def test_waits_for_a_replica(self):
        """Nobody alive: the partition stays without state."""
        assert NoLeaderReason.NO_LIVE_REPLICA is election.new_partition(replicas=(1,), live=_brokers(2)).reason


class TestAfterDeaths:
    @pytest.mark.parametrize("version", VERSIONS)
    def test_leader_moves_in_one_write(self, version):
        """A dead leader with a live ISR member costs one write, and is out of the ISR with it."""
        got = _deaths(_state(1, (1, 2)), replicas=(1, 2), live=(2,), dead=(1,), version=version)
        assert {_state(2, (2,), 5)} == got

    @pytest.mark.parametrize("version", VERSIONS)
    def test_follower_leaves_the_isr(self, version):
        """A dead follower costs one write too."""
        got = _deaths(_state(1, (1, 2)), replicas=(1, 2), live=(1,), dead=(2,), version=version)
        assert {_state(1, (1,), 5)} == got

    def test_stale_follower_changes_nothing(self):
        """Who was not in the ISR is not missed."""
        got = _deaths(_state(1, (1,)), replicas=(1, 2), live=(1,), dead=(2,), version=V28)
        assert {_state(1, (1,))} == got

    @pytest.mark.parametrize("version", VERSIONS)
    def test_last_isr_member_is_kept(self, version):
        """Leader -1, and whom to wait for stays on record."""
        got = _deaths(_state(1, (1,)), replicas=(1, 2), live=(2,), dead=(1,), version=version)
        assert {_state(None, (1,), 5)} == got

    @pytest.mark.parametrize("version", VERSIONS)
    def test_any_member_of_a_dead_isr_may_be_kept(self, version):
        """When a whole ISR dies at once, the controller's iteration order decides."""
        got = _deaths(_state(1, (1, 5)), replicas=(1, 5), live=(2,), dead=(1, 5), version=version)
        assert {_state(None, (1,), 6), _state(None, (5,), 6)} == got

    @pytest.mark.parametrize(("version", "isr"), [(V09, ()), (V10, ()), (V11, (1,)), (V39, (1,))])
    def test_unclean_and_nobody_alive(self, version, isr):
        """Up to 1.0 an allowed unclean election empties the ISR; from 1.1 the last member is always kept."""
        got = _deaths(_state(1, (1,)), replicas=(1,), live=(2,), dead=(1,), version=version, unclean=True)
        assert {_state(None, isr, 5)} == got

    @pytest.mark.parametrize(("version", "recovering"), [(V28, False), (V39, True)])
    def test_unclean_marks_recovering(self, version, recovering):
        """From 3.2 the state says that its leader comes from an unclean election."""
        got = _deaths(_state(1, (1,)), replicas=(1, 2), live=(2,), dead=(1,), version=version, unclean=True)
        assert {ElectionOutcome(leader=2, isr=(2,), leader_epoch=5, recovering=recovering)} == got

    def test_takes_a_state_as_read(self):
        """A state read from ZooKeeper goes in as it is, and compares with the prediction."""
        state = PartitionState(leader=1, isr=(1, 2), leader_epoch=4, controller_epoch=3)
        got = _deaths(state, replicas=(1, 2), live=(1, 2), dead=(), version=V28)
        assert {ElectionOutcome.of(state)} == got


class TestAfterFailover:
    @pytest.mark.parametrize("version", [V09, V10, V11, V22])
    def test_dead_leader_stays_on_record(self, version):
        """Up to 2.2 a new controller leaves a state alone that it cannot mend: offline is not always leader -1."""
        got = _deaths(_state(1, (1, 5)), replicas=(1, 5), live=(2,), dead=(1, 5), version=version, controller_died=True)
        assert {_state(1, (1, 5))} == got

    @pytest.mark.parametrize("version", [V23, V28, V39])
    def test_dead_leader_is_removed(self, version):
        """From 2.3 it writes leader -1 and keeps one of the ISR."""
        got = _deaths(_state(1, (1, 5)), replicas=(1, 5), live=(2,), dead=(1, 5), version=version, controller_died=True)
        assert {_state(None, (1,), 6), _state(None, (5,), 6)} == got

    @pytest.mark.parametrize(("version", "epoch"), [(V22, 5), (V23, 6)])
    def test_leader_moves(self, version, epoch):
        """From 2.3 the removal is a write of its own, before the election."""
        got = _deaths(_state(1, (1, 2)), replicas=(1, 2), live=(2,), dead=(1,), version=version, controller_died=True)
        assert {_state(2, (2,), epoch)} == got

    @pytest.mark.parametrize(("version", "epoch"), [(V22, 4), (V23, 5)])
    def test_offline_partition_is_written_again(self, version, epoch):
        """From 2.3 every failover raises the leader epoch of a partition that stays offline."""
        got = controller.after_failover(state=_state(None, (1,)), replicas=(1,), live=_brokers(2), unclean=False, version=version)
        assert {_state(None, (1,), epoch)} == got


class TestAfterSessionsEnd:
    def test_one_after_another_or_together(self):
        """Two brokers killed together may be seen in one event or in two, with different leader epochs."""
        got = controller.after_sessions_end(
            state=_state(1, (1, 5, 2)), replicas=(1, 5, 2), live=_brokers(2), dead=_brokers(1, 5), unclean=False, version=V28
        )
        assert {_state(2, (2,), 5), _state(2, (2,), 6)} == got

    def test_nothing_before_the_controllers_session_ends(self):
        """With the controller among the dead, no state tells of a controller that acted before."""
        got = controller.after_sessions_end(
            state=_state(1, (1, 5)),
            replicas=(1, 5),
            live=_brokers(2),
            dead=_brokers(1, 5),
            unclean=False,
            version=V09,
            controller=1,
        )
        assert {_state(1, (1, 5)), _state(None, (5,), 6)} == got


class TestAfterStart:
    @pytest.mark.parametrize("version", VERSIONS)
    def test_kept_isr_member_heals(self, version):
        """The broker waited for is elected, and costs one write."""
        assert _state(1, (1,), 5) == _start(_state(None, (1,)), replicas=(1, 2), live=(1, 2), started=(1,), version=version)

    def test_another_broker_does_not(self):
        """Who is not in the ISR changes nothing by returning."""
        assert _state(None, (1,)) == _start(_state(None, (1,)), replicas=(1, 2), live=(2,), started=(2,), version=V09)

    def test_leader_named_while_dead_is_elected_anew(self):
        """It returns with the next epoch, and those dead leave the ISR."""
        assert _state(1, (1,), 5) == _start(_state(1, (1, 5)), replicas=(1, 5), live=(1, 2), started=(1,), version=V09)

    def test_live_leader_stays(self):
        """A returning follower is not put into the ISR by the controller."""
        assert _state(1, (1,)) == _start(_state(1, (1,)), replicas=(2, 1), live=(1, 2), started=(2,), version=V39)

    def test_new_partition_is_created(self):
        """A partition that never had a state gets one."""
        assert _state(2, (2,), 0) == _start(None, replicas=(1, 2), live=(2,), started=(2,), version=V09)

    def test_new_partition_waits(self):
        """Without a live replica it stays without."""
        assert _start(None, replicas=(1,), live=(2,), started=(2,), version=V09) is None


class TestAfterControlledShutdown:
    def test_leader_moves(self):
        """Leadership and ISR leave the broker in one write, before it is gone."""
        assert _state(2, (2,), 5) == _stop(_state(1, (1, 2)), replicas=(1, 2), live=(1, 2), broker=1)

    def test_follower_leaves(self):
        """Where it follows, it leaves the ISR."""
        assert _state(1, (1,), 5) == _stop(_state(1, (1, 2)), replicas=(1, 2), live=(1, 2), broker=2)

    def test_nobody_to_take_over(self):
        """Alone in the ISR it keeps leading."""
        assert _state(1, (1,)) == _stop(_state(1, (1,)), replicas=(1, 2), live=(1, 2), broker=1)

    def test_single_replica(self):
        """A partition without other replicas is left alone."""
        assert _state(1, (1,)) == _stop(_state(1, (1,)), replicas=(1,), live=(1, 2), broker=1)

    def test_others_stopping_too(self):
        """Another broker that is shutting down is not chosen."""
        got = _stop(_state(1, (1, 2, 3)), replicas=(1, 2, 3), live=(1, 2, 3), broker=1, shutting_down=_brokers(2))
        assert _state(3, (3,), 5) == got


class TestAfterUncleanEnabled:
    @pytest.mark.parametrize(
        ("scope", "version", "elects"),
        [("default", V11, False), ("default", V21, True), ("topic", V09, False), ("topic", V21, True)],
    )
    def test_whether_it_elects(self, scope, version, elects):
        """Old releases wait for the next controller election or broker event."""
        got = controller.after_unclean_enabled(
            state=_state(None, (1,)), replicas=(1, 2), live=_brokers(2), scope=scope, version=version
        )
        assert (_state(2, (2,), 5) if elects else _state(None, (1,))) == got

    def test_topic_setting_in_20(self):
        """2.0 reacts to the dynamic default alone."""
        version = KafkaVersion.parse("2.0.1")
        about = {"state": _state(None, (1,)), "replicas": (1, 2), "live": _brokers(2), "version": version}
        assert _state(None, (1,)) == controller.after_unclean_enabled(**about, scope="topic")
        assert _state(2, (2,), 5) == controller.after_unclean_enabled(**about, scope="default")


BROKER = st.integers(min_value=1, max_value=6)
REPLICAS = st.lists(BROKER, min_size=1, max_size=6, unique=True).map(tuple)
ISR = st.lists(BROKER, max_size=6).map(tuple)
LIVE = st.frozensets(BROKER)
VERSION = st.sampled_from(VERSIONS)


class TestProperties:
    @given(replicas=REPLICAS, isr=ISR, live=LIVE, unclean=st.booleans())
    def test_winner_is_live_and_assigned(self, replicas, isr, live, unclean):
        """Whoever wins is alive, assigned and in the new ISR; clean winners were in the old one."""
        got = election.offline(replicas=replicas, isr=isr, live=live, unclean=unclean)
        assert (got.leader is None) == (got.reason is not None)
        if got.leader is not None:
            assert got.leader in live and got.leader in replicas and got.leader in got.isr
            assert got.unclean != (got.leader in isr)
            assert unclean or not got.unclean

    @given(replicas=REPLICAS, isr=ISR, live=LIVE)
    def test_allowing_unclean_takes_no_clean_winner_away(self, replicas, isr, live):
        """Unclean election changes nothing where a clean one succeeds."""
        clean = election.offline(replicas=replicas, isr=isr, live=live, unclean=False)
        either = election.offline(replicas=replicas, isr=isr, live=live, unclean=True)
        assert either == clean or clean.leader is None

    @given(replicas=REPLICAS, isr=ISR, live=LIVE, dead=LIVE, unclean=st.booleans(), version=VERSION, data=st.data())
    def test_a_live_leader_stays(self, replicas, isr, live, dead, unclean, version, data):
        """Deaths, failovers and returns of others never replace a live leader."""
        leader = data.draw(st.sampled_from(replicas))
        about = {"state": _state(leader, isr), "replicas": replicas, "live": live | {leader}, "unclean": unclean}
        gone = dead - live - {leader}
        after = controller.after_deaths(**about, dead=gone, version=version)
        after |= controller.after_failover(**about, version=version)
        after |= {controller.after_start(**about, started=live - {leader}, version=version)}
        assert {leader} == {outcome.leader for outcome in after}

    @given(replicas=REPLICAS, isr=ISR, live=LIVE, unclean=st.booleans(), version=VERSION, data=st.data())
    def test_one_event_is_among_the_sequences(self, replicas, isr, live, unclean, version, data):
        """What one event can lead to is among what any grouping of it can lead to; epochs never fall."""
        dead = data.draw(st.frozensets(BROKER, min_size=1, max_size=3)) - live
        about = {"state": _state(replicas[0], isr), "replicas": replicas, "live": live, "unclean": unclean}
        together = controller.after_deaths(**about, dead=dead, version=version)
        grouped = controller.after_sessions_end(**about, dead=dead, version=version)
        assert together <= grouped or not dead
        assert all(outcome.leader_epoch >= 4 for outcome in grouped)


def _deaths(state, *, replicas, live, dead, version, unclean=False, controller_died=False):
    return controller.after_deaths(
        state=state,
        replicas=replicas,
        live=_brokers(*live),
        dead=_brokers(*dead),
        unclean=unclean,
        version=version,
        controller_died=controller_died,
    )


def _start(state, *, replicas, live, started, version):
    return controller.after_start(
        state=state, replicas=replicas, live=_brokers(*live), started=_brokers(*started), unclean=False, version=version
    )


def _stop(state, *, replicas, live, broker, shutting_down=frozenset()):
    return controller.after_controlled_shutdown(
        state=state,
        replicas=replicas,
        live=_brokers(*live),
        broker=broker,
        unclean=False,
        version=V28,
        shutting_down=shutting_down,
    )
