"""The controller's election rules: its five strategies for one partition.

``live`` is the set of brokers with a usable replica of the partition: registered, not shutting down, and (from 1.0) without a
failed log dir under it. A strategy returns an :class:`Election`, the state to write; a failed election writes nothing.
:mod:`casebook.kafka.controller` applies it to broker failures and starts.

The rules are those of ZooKeeper mode, 0.9 to 3.9. :mod:`casebook.kafka.releases` has the differences between releases.
"""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from casebook.kafka import releases
from casebook.kafka.releases import KafkaVersion

Brokers = tuple[int, ...]


class NoLeaderReason(StrEnum):
    """Reason why an election failed. The ids are stable."""

    NO_LIVE_ISR_MEMBER = "no_live_isr_member"  # no ISR member is alive, and unclean election is not allowed
    NO_LIVE_REPLICA = "no_live_replica"  # unclean election is allowed, and no replica is alive
    LIVE_ISR_OUTSIDE_ASSIGNMENT = "live_isr_outside_assignment"  # the live ISR members are not assigned
    NO_LIVE_TARGET_IN_ISR = "no_live_target_in_isr"  # no target of the reassignment is alive and in the ISR
    PREFERRED_NOT_LIVE = "preferred_not_live"  # the first assigned replica is dead, or nothing is assigned
    PREFERRED_NOT_IN_ISR = "preferred_not_in_isr"  # the first assigned replica is out of sync
    NO_OTHER_ISR_MEMBER = "no_other_isr_member"  # all candidates are shutting down
    NOT_NEEDED = "not_needed"  # the preferred replica leads already


class Election(NamedTuple):
    """Result of an election. A named tuple, as a large cluster makes 100,000 at once.

    Args:
        leader: Winner; ``None`` when the election fails.
        isr: The new ISR; empty when the election fails.
        unclean: The winner was not in the ISR: records that only others have are lost.
        reason: Reason for the failure; ``None`` on success.
    """

    leader: int | None
    isr: Brokers
    unclean: bool = False
    reason: NoLeaderReason | None = None


def _failed(reason: NoLeaderReason) -> Election:
    return Election(None, (), False, reason)


# Built once: most elections of an incident fail, and comparing a module constant costs nothing.
_NO_LIVE_ISR_MEMBER = _failed(NoLeaderReason.NO_LIVE_ISR_MEMBER)
_NO_LIVE_REPLICA = _failed(NoLeaderReason.NO_LIVE_REPLICA)
_LIVE_ISR_OUTSIDE_ASSIGNMENT = _failed(NoLeaderReason.LIVE_ISR_OUTSIDE_ASSIGNMENT)
_NO_LIVE_TARGET_IN_ISR = _failed(NoLeaderReason.NO_LIVE_TARGET_IN_ISR)
_PREFERRED_NOT_LIVE = _failed(NoLeaderReason.PREFERRED_NOT_LIVE)
_PREFERRED_NOT_IN_ISR = _failed(NoLeaderReason.PREFERRED_NOT_IN_ISR)
_NO_OTHER_ISR_MEMBER = _failed(NoLeaderReason.NO_OTHER_ISR_MEMBER)
_NOT_NEEDED = _failed(NoLeaderReason.NOT_NEEDED)


# Rule 1: offline partition


def offline(*, replicas: Brokers, isr: Brokers, live: frozenset[int], unclean: bool) -> Election:
    """Elect for a partition without a live leader: the first assigned replica that is alive and in the ISR.

    Without a live ISR member, and if unclean election is allowed: the first live assigned replica, however far it lags. The new
    ISR contains the live members of the old one, including those outside the assignment; after an unclean election only the
    winner. The same in every release.

    Source: OfflinePartitionLeaderSelector in core/src/main/scala/kafka/controller/PartitionLeaderSelector.scala@0.9.0.1, 1.0.2;
    PartitionLeaderElectionAlgorithms and collectUncleanLeaderElectionState in
    core/src/main/scala/kafka/controller/PartitionStateMachine.scala@1.1.0, 2.8.2, 3.9.0.
    """
    in_sync = [broker for broker in isr if broker in live]
    if in_sync:
        for replica in replicas:
            if replica in in_sync:
                return Election(replica, tuple(in_sync))
        # A live ISR member prevents an unclean election even when it is not eligible; 0.9-1.0 throw here.
        return _LIVE_ISR_OUTSIDE_ASSIGNMENT
    if not unclean:
        return _NO_LIVE_ISR_MEMBER
    for replica in replicas:
        if replica in live:
            return Election(replica, (replica,), True)
    return _NO_LIVE_REPLICA


# Rule 2: reassignment


def reassign(*, targets: Brokers, isr: Brokers, live: frozenset[int]) -> Election:
    """Elect after a reassignment's targets have caught up: the first of them that is alive and in the ISR.

    The ISR does not change; the old replicas leave it afterwards, one by one. The same in every release.

    Source: ReassignedPartitionLeaderSelector in core/src/main/scala/kafka/controller/PartitionLeaderSelector.scala@0.9.0.1;
    leaderForReassign in core/src/main/scala/kafka/controller/Election.scala@2.3.0, 3.9.0.
    """
    for target in targets:
        if target in live and target in isr:
            return Election(target, isr)
    return _NO_LIVE_TARGET_IN_ISR


# Rule 3: preferred leader


def preferred(*, replicas: Brokers, isr: Brokers, live: frozenset[int], leader: int | None, version: KafkaVersion) -> Election:
    """Elect the first assigned replica, if it is alive and in the ISR; the ISR does not change.

    If it already leads, 1.1 to 2.1 rewrite the state with the next leader epoch; other releases do nothing.

    Source: :data:`casebook.kafka.releases.PREFERRED_ALREADY_LEADS`; PreferredReplicaPartitionLeaderSelector in
    core/src/main/scala/kafka/controller/PartitionLeaderSelector.scala@0.9.0.1; leaderForPreferredReplica in
    core/src/main/scala/kafka/controller/Election.scala@2.3.0, 3.9.0.
    """
    first = replicas[0] if replicas else None
    if first is not None and first == leader and _skips_preferred_leader(version):
        return _NOT_NEEDED
    if first not in live:
        return _PREFERRED_NOT_LIVE
    return Election(first, isr) if first in isr else _PREFERRED_NOT_IN_ISR


@lru_cache
def _skips_preferred_leader(version: KafkaVersion) -> bool:
    return releases.PREFERRED_ALREADY_LEADS.at(version) == "skipped"


# Rule 4: controlled shutdown


def controlled_shutdown(
    *, replicas: Brokers, isr: Brokers, live: frozenset[int], shutting_down: frozenset[int], version: KafkaVersion
) -> Election:
    """Elect among the ISR members that are not shutting down; the others leave the ISR. Never unclean.

    From 0.10.0, the first live one in assignment order; 0.9 takes the first in ISR order, alive and assigned or not.

    Args:
        live: Registered brokers, with or without those shutting down.

    Source: :data:`casebook.kafka.releases.CONTROLLED_SHUTDOWN_ORDER`; leaderForControlledShutdown in
    core/src/main/scala/kafka/controller/PartitionStateMachine.scala@1.1.0 and Election.scala@2.3.0, 3.9.0.
    """
    staying = tuple(broker for broker in isr if broker not in shutting_down)
    if _takes_isr_order(version):
        return Election(staying[0], staying) if staying else _NO_OTHER_ISR_MEMBER
    for replica in replicas:
        if replica in staying and replica in live:
            return Election(replica, staying)
    return _NO_OTHER_ISR_MEMBER


@lru_cache
def _takes_isr_order(version: KafkaVersion) -> bool:
    return releases.CONTROLLED_SHUTDOWN_ORDER.at(version) == "isr"


# Rule 5: new partition


def new_partition(*, replicas: Brokers, live: frozenset[int]) -> Election:
    """Elect for a partition without a state: the first live replica; all live replicas form the ISR.

    The state is created with leader epoch 0. The same in every release.

    Source: initializeLeaderAndIsrForPartition(s) in core/src/main/scala/kafka/controller/PartitionStateMachine.scala@0.9.0.1,
    1.1.0, 3.9.0.
    """
    isr = tuple(replica for replica in replicas if replica in live)
    return Election(isr[0], isr) if isr else _NO_LIVE_REPLICA
