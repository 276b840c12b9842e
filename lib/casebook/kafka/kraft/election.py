"""The KRaft controller's election rules: one change of one partition.

:func:`change` is the result of a ``PartitionChangeBuilder``: leader, ISR, eligible leader replicas (ELR), last known leader,
recovery state, reassignment and epochs. :mod:`casebook.kafka.kraft.controller` applies it to brokers that go and come back;
:mod:`casebook.kafka.election` has the rules of ZooKeeper mode.

A broker is *active* if it is registered, not fenced and not in controlled shutdown. It is *eligible* for a partition if it is
active and, from 3.7, the log dir of its replica is online (``LeaderAcceptor``).

The rules are those of KRaft, 3.3 to 4.4. :mod:`casebook.kafka.releases` has the differences between releases. Up to 3.9 no
production ``metadata.version`` has eligible leader replicas; from 4.0 ``eligible.leader.replicas.version`` 1 enables them.
"""

from enum import StrEnum
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from casebook.kafka import releases
from casebook.kafka.election import Brokers
from casebook.kafka.releases import KafkaVersion

_NO_LEADER = -1  # LeaderConstants.NO_LEADER


class KraftElection(StrEnum):
    """Kind of election: ``PartitionChangeBuilder.Election``."""

    ONLINE = "online"  # keep the leader, else elect a member of ISR or ELR
    PREFERRED = "preferred"  # elect the first replica if it is in the ISR, else as ONLINE
    UNCLEAN = "unclean"  # as ONLINE, and as the last resort any eligible replica


class KraftNoLeaderReason(StrEnum):
    """Reason why a partition has no leader, or its preferred replica does not lead. The ids are stable."""

    NO_ELIGIBLE_ISR_MEMBER = "no_eligible_isr_member"  # no assigned ISR member is eligible, and the election is not unclean
    NO_ELIGIBLE_ELR_MEMBER = "no_eligible_elr_member"  # the ISR is empty, and no assigned member of the ELR is eligible
    LAST_KNOWN_LEADER_NOT_ELIGIBLE = "last_known_leader_not_eligible"  # ISR and ELR are empty, and the last leader is not back
    NO_LAST_KNOWN_LEADER = "no_last_known_leader"  # ISR and ELR are empty, and not exactly one last leader is known
    EMPTY_ISR = "empty_isr"  # ISR and ELR are empty, and the ELR feature is off
    NO_ELIGIBLE_REPLICA = "no_eligible_replica"  # the election is unclean, and no replica is eligible
    NOT_HELD = "not_held"  # an election would succeed, but this event is no occasion for one
    PREFERRED_NOT_ELIGIBLE = "preferred_not_eligible"  # another replica leads: the first one is not eligible
    PREFERRED_NOT_IN_ISR = "preferred_not_in_isr"  # another replica leads: the first one is out of sync


class ElectedFrom(StrEnum):
    """Origin of an elected leader. The last two are unclean: records that only others have are lost."""

    ISR = "isr"
    ELR = "elr"
    LAST_KNOWN_LEADER = "last_known_leader"
    OUT_OF_SYNC = "out_of_sync"


class KraftPartition(NamedTuple):
    """A partition as the controller stores it: ``PartitionRegistration``.

    Args:
        replicas: Assignment in order; the first is the preferred leader. During a reassignment the union.
        isr: In stored order. Empty only with eligible leader replicas.
        leader: Broker id; ``None`` for -1.
        elr: Eligible leader replicas, in stored order.
        last_known_elr: The last known leader, when there is none now.
        recovering: The leader was elected uncleanly and has not confirmed its recovery (``LeaderRecoveryState`` 1).
        adding: Replicas that a reassignment adds.
        removing: Replicas that a reassignment removes.
        leader_epoch: ``None`` when unknown.
        partition_epoch: Counts the changes; ``None`` when unknown.
    """

    replicas: Brokers
    isr: Brokers
    leader: int | None
    elr: Brokers = ()
    last_known_elr: Brokers = ()
    recovering: bool = False
    adding: Brokers = ()
    removing: Brokers = ()
    leader_epoch: int | None = None
    partition_epoch: int | None = None


class KraftSettings(NamedTuple):
    """Settings in effect for a partition. ``None`` is unknown: see :meth:`possible`.

    Args:
        elr: ``eligible.leader.replicas.version`` is 1 or more.
        min_isr: Effective ``min.insync.replicas`` of the topic; matters only for the ELR.
        unclean: Effective ``unclean.leader.election.enable`` of the topic; ignored before 3.9.
    """

    elr: bool | None
    min_isr: int | None
    unclean: bool | None

    def possible(self, replicas: int) -> tuple["KraftSettings", ...]:
        """Return the known settings that these may be, for a replication factor."""
        either = (False, True)
        return tuple(
            KraftSettings(elr, min_isr, unclean)
            for elr, min_isr, unclean in product(
                either if self.elr is None else (self.elr,),
                range(1, replicas + 1) if self.min_isr is None else (self.min_isr,),
                either if self.unclean is None else (self.unclean,),
            )
        )


class KraftChange(NamedTuple):
    """Result of an event for a partition.

    Args:
        after: The partition afterwards.
        elected: Origin of a new leader; ``None`` when the leader is the one from before, or there is none.
        reason: Why there is no leader, or why a preferred election elected another replica; else ``None``.
        written: The controller wrote a ``PartitionChangeRecord``.
    """

    after: KraftPartition
    elected: ElectedFrom | None = None
    reason: KraftNoLeaderReason | None = None
    written: bool = False


class _KraftRules(NamedTuple):
    """Rules of one release, where releases differ."""

    last_known_must_live: bool
    stores_last_known: str
    reassignment_ends: str
    shrink_raises_epoch: bool


@lru_cache
def _rules(version: KafkaVersion) -> _KraftRules:
    return _KraftRules(
        last_known_must_live=releases.KRAFT_LAST_KNOWN_LEADER_MUST_LIVE.at(version) is True,
        stores_last_known=str(releases.KRAFT_LAST_KNOWN_LEADER_STORED.at(version)),
        reassignment_ends=str(releases.KRAFT_REASSIGNMENT_ENDS.at(version)),
        shrink_raises_epoch=releases.KRAFT_ISR_SHRINK_RAISES_EPOCH.at(version) is True,
    )


def change(
    partition: KraftPartition,
    *,
    eligible: frozenset[int],
    settings: KraftSettings,
    version: KafkaVersion,
    election: KraftElection = KraftElection.ONLINE,
    isr: Brokers | None = None,
    lost: frozenset[int] = frozenset(),
) -> KraftChange:
    """Return the partition after the controller has built one change of it.

    Steps: a reassignment ends if it can; the ELR follows the ISR; an election is held, which keeps an eligible leader; the last
    known leader is stored or removed. Without the ELR feature the last ISR stays in place when all its members are gone.

    Args:
        eligible: Brokers that may lead.
        election: Kind of election; ``settings.unclean`` is not read here.
        isr: The ISR to set; ``None`` leaves it.
        lost: Brokers after an unclean shutdown: they leave the ELR, as their logs may miss acknowledged records.

    Source: build in metadata/src/main/java/org/apache/kafka/controller/PartitionChangeBuilder.java@3.9.0-rc3; run in the jars of
    3.9.2, 4.4.0; :data:`casebook.kafka.releases.KRAFT_ISR_SHRINK_RAISES_EPOCH`.
    """
    rules = _rules(version)
    before = _NO_LEADER if partition.leader is None else partition.leader
    target = _reassigned(partition._replace(isr=partition.isr if isr is None else isr), rules)
    target = target._replace(elr=_eligible_leader_replicas(partition, target.isr, settings, lost))
    leader, source = _winner(target, before, eligible, settings, election, rules)
    unclean = False
    if leader != before:
        if leader in target.elr:
            target = target._replace(isr=(leader,), elr=tuple(broker for broker in target.elr if broker != leader))
        unclean = source in (ElectedFrom.LAST_KNOWN_LEADER, ElectedFrom.OUT_OF_SYNC)
    kept = not target.isr and not settings.elr
    new_isr = (leader,) if unclean else partition.isr if kept else target.isr
    raises = leader != before or not set(partition.replicas) <= set(target.replicas)
    raises = raises or (rules.shrink_raises_epoch and not set(partition.isr) <= set(new_isr))
    after = target._replace(
        leader=None if leader == _NO_LEADER else leader,
        isr=new_isr,
        elr=() if unclean or not settings.elr else target.elr,
        last_known_elr=_last_known(partition, new_isr, before, leader if raises else None, settings, rules),
        recovering=partition.recovering or unclean,
    )
    written = raises or after != partition
    return KraftChange(
        after._replace(
            leader_epoch=_raised(partition.leader_epoch, raises), partition_epoch=_raised(partition.partition_epoch, written)
        ),
        elected=None if leader in (before, _NO_LEADER) else source,
        reason=_reason(target, partition, leader, eligible, settings, election),
        written=written,
    )


def _raised(epoch: int | None, raises: bool) -> int | None:
    return None if epoch is None else epoch + raises


def _reassigned(target: KraftPartition, rules: _KraftRules) -> KraftPartition:
    """Return the partition with its reassignment ended, if it can end with this ISR.

    Source: :data:`casebook.kafka.releases.KRAFT_REASSIGNMENT_ENDS`.
    """
    if not target.adding and not target.removing:
        return target
    isr = tuple(broker for broker in target.isr if broker not in target.removing)
    replicas = tuple(broker for broker in target.replicas if broker not in target.removing)
    if target.removing and not (isr and replicas):
        return target
    by_targets = rules.reassignment_ends == "targets" or (
        rules.reassignment_ends == "added_unless_fewer" and len(target.adding) < len(target.removing)
    )
    by_added = rules.reassignment_ends != "targets"
    if (by_added and not set(target.adding) <= set(isr)) or (by_targets and not set(replicas) <= set(isr)):
        return target
    return target._replace(isr=isr, replicas=replicas, adding=(), removing=())


def _eligible_leader_replicas(partition: KraftPartition, isr: Brokers, settings: KraftSettings, lost: frozenset[int]) -> Brokers:
    """Return the ELR for a new ISR: below min ISR, those that leave the ISR join it; from min ISR on it is empty.

    Without the feature it stays for this election, and is removed afterwards.

    Source: maybePopulateTargetElr in metadata/src/main/java/org/apache/kafka/controller/PartitionChangeBuilder.java@3.9.0-rc3.
    """
    if not settings.elr:
        return partition.elr
    if len(isr) >= settings.min_isr:
        return ()
    joined = _in_hash_order(partition.elr, partition.isr)
    return tuple(broker for broker in joined if broker not in isr and broker not in lost)


def _in_hash_order(first: Brokers, added: Brokers) -> Brokers:
    """Return broker ids in the order of Kafka's ``HashSet``: the stored order of the ELR."""
    distinct = tuple(dict.fromkeys((*first, *added)))
    capacity = 16
    while capacity < int(len(first) / 0.75) + 1 or len(distinct) > capacity * 0.75:
        capacity *= 2
    return tuple(sorted(distinct, key=lambda broker: (broker ^ broker >> 16) & (capacity - 1)))


def _winner(
    target: KraftPartition,
    before: int,
    eligible: frozenset[int],
    settings: KraftSettings,
    election: KraftElection,
    rules: _KraftRules,
) -> tuple[int, ElectedFrom | None]:
    """Return the leader after an election and its origin.

    The first of these: an eligible leader stays; the first eligible ISR member in assignment order; with an empty ISR the first
    eligible ELR member; with an empty ELR, too, the last known leader; in an unclean election the first eligible replica. A
    preferred election begins with the first replica. The last known leader also wins if unclean election is not allowed.

    Source: electLeader in metadata/src/main/java/org/apache/kafka/controller/PartitionChangeBuilder.java@3.9.0-rc3;
    :data:`casebook.kafka.releases.KRAFT_LAST_KNOWN_LEADER_MUST_LIVE`.
    """
    first = target.replicas[:1] if election is KraftElection.PREFERRED else ()
    members = target.isr or target.elr
    for broker in (*first, before, *target.replicas):
        if broker in members and broker in eligible:
            return broker, ElectedFrom.ISR if target.isr else ElectedFrom.ELR
    if settings.elr and not members and len(target.last_known_elr) == 1:
        (last,) = target.last_known_elr
        if last in eligible or not rules.last_known_must_live:
            return last, ElectedFrom.LAST_KNOWN_LEADER
    if election is KraftElection.UNCLEAN:
        for broker in target.replicas:
            if broker in eligible:
                return broker, ElectedFrom.OUT_OF_SYNC
    return _NO_LEADER, None


def _last_known(
    partition: KraftPartition, isr: Brokers, before: int, written: int | None, settings: KraftSettings, rules: _KraftRules
) -> Brokers:
    """Return the last known leader to store: the leader from before, while there is none.

    Args:
        written: The leader that the record names; ``None`` when it names none.

    Source: :data:`casebook.kafka.releases.KRAFT_LAST_KNOWN_LEADER_STORED`.
    """
    known = partition.last_known_elr
    if not settings.elr:
        return known
    if rules.stores_last_known == "leader_lost":
        if written == _NO_LEADER and not known:
            return (before,)
        return () if written is not None and written >= 0 else known
    if not isr and partition.isr != isr and known != (before,):
        return (before,)
    leads = before != _NO_LEADER if written is None else written >= 0
    return () if leads else known


def _reason(
    target: KraftPartition,
    partition: KraftPartition,
    leader: int,
    eligible: frozenset[int],
    settings: KraftSettings,
    election: KraftElection,
) -> KraftNoLeaderReason | None:
    if leader != _NO_LEADER:
        preferred = target.replicas[0] if target.replicas else leader
        if election is not KraftElection.PREFERRED or leader == preferred:
            return None
        is_eligible = preferred in eligible
        return KraftNoLeaderReason.PREFERRED_NOT_IN_ISR if is_eligible else KraftNoLeaderReason.PREFERRED_NOT_ELIGIBLE
    if election is KraftElection.UNCLEAN:
        return KraftNoLeaderReason.NO_ELIGIBLE_REPLICA
    if target.isr or (partition.isr and not target.elr and not settings.elr):
        return KraftNoLeaderReason.NO_ELIGIBLE_ISR_MEMBER
    if target.elr:
        return KraftNoLeaderReason.NO_ELIGIBLE_ELR_MEMBER
    if not settings.elr:
        return KraftNoLeaderReason.EMPTY_ISR
    known = len(partition.last_known_elr) == 1
    return KraftNoLeaderReason.LAST_KNOWN_LEADER_NOT_ELIGIBLE if known else KraftNoLeaderReason.NO_LAST_KNOWN_LEADER
