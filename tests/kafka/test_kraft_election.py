"""The KRaft controller's rules in telling cases. ``tests/differential`` proves them against Kafka's own code."""

import pytest

from casebook.kafka.kraft import controller
from casebook.kafka.kraft.controller import BrokerEvent
from casebook.kafka.kraft.election import (
    ElectedFrom,
    KraftElection,
    KraftNoLeaderReason,
    KraftPartition,
    KraftSettings,
    change,
)
from casebook.kafka.releases import KafkaVersion

V33, V38, V39, V40, V410, V411, V42, V44 = map(
    KafkaVersion.parse, ("3.3.2", "3.8.1", "3.9.2", "4.0.2", "4.1.0", "4.1.1", "4.2.2", "4.4.0")
)
VERSIONS = (V33, V38, V39, V40, V410, V411, V42, V44)
FENCED, UNFENCED = BrokerEvent.FENCED, BrokerEvent.UNFENCED


def _brokers(*ids):
    return frozenset(ids)


def _partition(replicas, isr, leader, **more):
    return KraftPartition(replicas=replicas, isr=isr, leader=leader, leader_epoch=4, partition_epoch=6, **more)


def _settings(*, elr=False, min_isr=2, unclean=False):
    return KraftSettings(elr=elr, min_isr=min_isr, unclean=unclean)


def _ends(partition, *events, eligible, version=V44, **settings):
    changes = controller.after_all(partition, events=events, eligible=eligible, settings=_settings(**settings), version=version)
    return changes[-1]


class TestWithoutElr:
    @pytest.mark.parametrize("version", VERSIONS)
    def test_the_first_assigned_isr_member_follows(self, version):
        """A fenced leader leaves the ISR, and the next one in assignment order leads, not the next one in ISR order."""
        got = _ends(_partition((1, 2, 3), (3, 1, 2), 1), (FENCED, 1), eligible=_brokers(1, 2, 3), version=version)
        assert (got.after.leader, got.after.isr, got.after.leader_epoch) == (2, (3, 2), 5)
        assert got.elected is ElectedFrom.ISR

    @pytest.mark.parametrize("version", VERSIONS)
    def test_the_last_isr_member_is_kept(self, version):
        """When the last ISR member is fenced, it stays in the ISR, the partition loses its leader, and only it can heal that."""
        lost = _ends(_partition((1, 2), (1,), 1), (FENCED, 1), eligible=_brokers(1, 2), version=version)
        assert (lost.after.leader, lost.after.isr) == (None, (1,))
        assert lost.reason is KraftNoLeaderReason.NO_ELIGIBLE_ISR_MEMBER
        back = _ends(lost.after, (UNFENCED, 2), (UNFENCED, 1), eligible=_brokers(), version=version)
        assert (back.after.leader, back.after.isr, back.after.recovering) == (1, (1,), False)

    def test_a_controlled_shutdown_of_the_last_member_ends_the_leadership(self):
        """Other than in ZooKeeper mode, the only ISR member loses the leadership as soon as it asks to stop."""
        got = _ends(_partition((1, 2), (1,), 1), (BrokerEvent.CONTROLLED_SHUTDOWN, 1), eligible=_brokers(1, 2))
        assert (got.after.leader, got.after.isr) == (None, (1,))

    @pytest.mark.parametrize(("version", "leader"), [(V38, None), (V39, 2), (V44, 2)])
    def test_the_unclean_setting_counts_from_3_9(self, version, leader):
        """Up to 3.8 a KRaft controller does not read unclean.leader.election.enable: the partition stays offline."""
        got = _ends(_partition((1, 2), (1,), 1), (FENCED, 1), eligible=_brokers(1, 2), version=version, unclean=True)
        assert got.after.leader == leader
        assert (got.elected is ElectedFrom.OUT_OF_SYNC) == got.after.recovering == (leader is not None)

    @pytest.mark.parametrize(("version", "isr"), [(V39, (1, 2)), (V40, (2,))])
    def test_a_new_incarnation_leaves_the_isr_from_4_0(self, version, isr):
        """Up to 3.9 a broker that registers again while it is in an ISR stays there."""
        got = _ends(_partition((1, 2), (1, 2), 2), (BrokerEvent.RESTARTED_CLEANLY, 1), eligible=_brokers(1, 2), version=version)
        assert got.after.isr == isr

    @pytest.mark.parametrize(("version", "raised"), [(V33, True), (V39, False)])
    def test_a_lost_follower_raises_the_leader_epoch_up_to_3_5(self, version, raised):
        """A smaller ISR alone is no reason for a new leader epoch from metadata.version 3.6 on."""
        got = _ends(_partition((1, 2), (1, 2), 1), (FENCED, 2), eligible=_brokers(1, 2), version=version)
        assert (got.after.leader_epoch, got.after.partition_epoch) == (4 + raised, 7)


class TestElr:
    def test_below_min_isr_a_lost_member_stays_eligible(self):
        """A member that leaves the ISR below min ISR joins the ELR: nothing was acknowledged without it."""
        first = _ends(_partition((1, 2, 3), (1, 2, 3), 1), (FENCED, 3), eligible=_brokers(1, 2, 3), elr=True)
        assert (first.after.isr, first.after.elr) == ((1, 2), ())
        second = _ends(first.after, (FENCED, 2), eligible=_brokers(1, 2), elr=True)
        assert (second.after.isr, second.after.elr) == ((1,), (2,))

    def test_the_last_member_is_fenced(self):
        """The ISR empties, all that could lead are in the ELR, and the last leader is remembered."""
        got = _ends(_partition((1, 2, 3), (1,), 1, elr=(2,)), (FENCED, 1), eligible=_brokers(1, 3), elr=True)
        assert (got.after.leader, got.after.isr, got.after.elr, got.after.last_known_elr) == (None, (), (1, 2), (1,))
        assert got.reason is KraftNoLeaderReason.NO_ELIGIBLE_ELR_MEMBER

    def test_an_elr_member_leads_cleanly(self):
        """A member of the ELR that comes back leads without a loss, alone in the ISR; the others stay eligible."""
        state = _partition((1, 2, 3), (), None, elr=(1, 2), last_known_elr=(1,))
        got = _ends(state, (UNFENCED, 2), eligible=_brokers(3), elr=True)
        assert (got.after.leader, got.after.isr, got.after.elr, got.after.last_known_elr) == (2, (2,), (1,), ())
        assert (got.elected, got.after.recovering) == (ElectedFrom.ELR, False)

    def test_an_unclean_restart_leaves_isr_and_elr(self):
        """After an unclean shutdown a log may miss acknowledged records: the broker is not eligible before it is in sync again."""
        state = _partition((1, 2), (), None, elr=(1, 2), last_known_elr=(2,))
        got = _ends(state, (BrokerEvent.RESTARTED, 1), (UNFENCED, 1), eligible=_brokers(), elr=True)
        assert (got.after.leader, got.after.elr) == (None, (2,))
        assert got.reason is KraftNoLeaderReason.NO_ELIGIBLE_ELR_MEMBER

    def test_the_last_known_leader_is_elected_uncleanly_also_if_forbidden(self):
        """With ISR and ELR empty the last known leader leads again, in recovery, whatever unclean.leader.election.enable is."""
        state = _partition((1, 2), (), None, last_known_elr=(2,))
        waiting = _ends(state, (UNFENCED, 1), eligible=_brokers(), elr=True)
        assert waiting.reason is KraftNoLeaderReason.LAST_KNOWN_LEADER_NOT_ELIGIBLE
        got = _ends(state, (UNFENCED, 1), (UNFENCED, 2), eligible=_brokers(), elr=True)
        assert (got.after.leader, got.after.isr, got.after.recovering, got.elected) == (
            *(2, (2,), True),
            ElectedFrom.LAST_KNOWN_LEADER,
        )

    def test_a_dead_broker_can_be_elected_before_4_1(self):
        """In 4.0 the last known leader wins although it is fenced, when any other broker comes back."""
        state = _partition((1, 2), (), None, last_known_elr=(2,))
        got = _ends(state, (UNFENCED, 1), eligible=_brokers(), version=V40, elr=True)
        assert (got.after.leader, got.after.isr, got.elected) == (2, (2,), ElectedFrom.LAST_KNOWN_LEADER)

    @pytest.mark.parametrize(("version", "known"), [(V410, ()), (V411, (1,))])
    def test_a_leader_with_an_isr_behind_it_is_remembered_from_4_1_1(self, version, known):
        """The last leader is stored when the partition loses it; before, only if the ISR empties at that moment."""
        got = change(
            _partition((1, 2, 3), (1, 2), 1), eligible=_brokers(3), settings=_settings(elr=True), version=version, isr=(2,)
        )
        assert (got.after.leader, got.after.isr, got.after.last_known_elr) == (None, (2,), known)

    def test_an_elr_of_a_disabled_feature_still_elects(self):
        """Without the feature a stored ELR counts for one more election, and is removed by it."""
        got = _ends(_partition((1, 2), (), None, elr=(2,)), (UNFENCED, 2), eligible=_brokers())
        assert (got.after.leader, got.after.isr, got.after.elr) == (2, (2,), ())

    def test_the_stored_order_is_that_of_a_hash_set(self):
        """The ELR of brokers 2, 17 and 33 is stored as 17, 33, 2: by id modulo 16."""
        got = change(
            _partition((2, 17, 33), (2, 17, 33), 2), eligible=_brokers(), settings=_settings(elr=True), version=V44, isr=()
        )
        assert got.after.elr == (17, 33, 2)


class TestPreferred:
    @pytest.mark.parametrize(
        ("isr", "eligible", "leader", "reason"),
        [
            ((1, 2), _brokers(1, 2), 1, None),
            ((2,), _brokers(1, 2), 2, KraftNoLeaderReason.PREFERRED_NOT_IN_ISR),
            ((1, 2), _brokers(2), 2, KraftNoLeaderReason.PREFERRED_NOT_ELIGIBLE),
        ],
    )
    def test_the_first_replica_leads_if_in_sync(self, isr, eligible, leader, reason):
        """A preferred election moves the leadership to the first replica, else it stays, and the reason is given."""
        got = change(
            _partition((1, 2), isr, 2),
            eligible=eligible,
            settings=_settings(),
            version=V44,
            election=KraftElection.PREFERRED,
        )
        assert (got.after.leader, got.reason) == (leader, reason)
        assert got.written == (leader == 1)


class TestReassignment:
    @pytest.mark.parametrize(("version", "ends"), [(V33, True), (V39, False), (V42, False), (V44, True)])
    def test_a_target_out_of_sync(self, version, ends):
        """A target that was there before and is out of sync holds up the end in 3.8 to 4.2 only."""
        state = _partition((1, 2, 3), (2, 3), 3, adding=(1,), removing=(3,))
        got = change(state, eligible=_brokers(1, 2, 3), settings=_settings(), version=version, isr=(3, 1))
        assert (got.after.adding == ()) == ends
        assert got.after.leader == (1 if ends else 3)
        assert got.after.replicas == ((1, 2) if ends else (1, 2, 3))


class TestUnknown:
    def test_unknown_settings_leave_several_ends(self):
        """Where the settings decide, each possible end is returned; where they do not, one."""
        unknown = KraftSettings(elr=None, min_isr=None, unclean=None)
        about = {"eligible": _brokers(1, 2), "settings": unknown, "version": V44}
        ends = controller.possible_ends(_partition((1, 2), (1,), 1), events=[(FENCED, 1)], **about)
        assert {(end.leader, end.isr, end.elr) for end in ends} == {(None, (1,), ()), (None, (), (1,)), (2, (2,), ())}
        calm = controller.possible_ends(_partition((1, 2), (1,), 1), events=[(FENCED, 2)], **about)
        assert {end.leader for end in calm} == {1}

    def test_an_event_that_holds_no_election(self):
        """A partition without a leader is not elected for when another broker is fenced: the next one that comes back decides."""
        got = _ends(_partition((1, 2, 3), (1,), None), (FENCED, 3), eligible=_brokers(1, 2, 3))
        assert (got.after.leader, got.reason, got.written) == (None, KraftNoLeaderReason.NOT_HELD, False)
