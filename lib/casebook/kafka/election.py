"""The controller's election rules, and what it writes when brokers go and come.

The first part are the controller's five strategies for one partition. ``live`` is the set of brokers on which the
partition has a usable replica: registered, not shutting down, and (from 1.0) without a failed log dir under it. A
strategy answers with an :class:`Election`, which says what would be written; a failed election writes nothing.

The second part predicts the state znode after an event: :func:`after_deaths`, :func:`after_failover`,
:func:`after_start`, :func:`after_controlled_shutdown`, :func:`after_unclean_enabled`, and
:func:`after_sessions_end` for brokers whose sessions ZooKeeper ends one after another. They take and give an
:class:`ElectionOutcome` (or a :class:`~casebook.facts.cluster.PartitionState`), so that events can be chained; ``None`` is a
partition without state znode. They do not hold for topics being deleted, for which the controller elects nobody.

The rules are those of ZooKeeper mode, 0.9 to 3.9. What differs between releases is data in ``versions``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain, combinations
from typing import NamedTuple

from casebook.facts.cluster import PartitionState
from casebook.kafka import releases
from casebook.kafka.releases import KafkaVersion

Brokers = tuple[int, ...]


class NoLeaderReason(StrEnum):
    """Why an election chose nobody. The ids are stable."""

    NO_LIVE_ISR_MEMBER = "no_live_isr_member"  # nobody in the ISR is alive, and unclean election is not allowed
    NO_LIVE_REPLICA = "no_live_replica"  # unclean election is allowed, and no replica is alive
    LIVE_ISR_OUTSIDE_ASSIGNMENT = "live_isr_outside_assignment"  # those alive in the ISR are not assigned
    NO_LIVE_TARGET_IN_ISR = "no_live_target_in_isr"  # no target of the reassignment is alive and in the ISR
    PREFERRED_NOT_LIVE = "preferred_not_live"  # the first assigned replica is dead, or nothing is assigned
    PREFERRED_NOT_IN_ISR = "preferred_not_in_isr"  # the first assigned replica has fallen behind
    NO_OTHER_ISR_MEMBER = "no_other_isr_member"  # only those shutting down could lead
    NOT_NEEDED = "not_needed"  # the preferred replica leads already


class Election(NamedTuple):
    """What an election would write. A named tuple, as a large cluster makes 100,000 at once.

    Args:
        leader: Winner; ``None`` when the election fails.
        isr: The new ISR; empty when the election fails.
        unclean: The winner was not in the ISR: records that only others hold are dropped.
        reason: Why it failed; ``None`` when it did not.
    """

    leader: int | None
    isr: Brokers
    unclean: bool = False
    reason: NoLeaderReason | None = None


def _failed(reason: NoLeaderReason) -> Election:
    return Election(None, (), False, reason)


# Made once: most elections of an incident fail, and comparing a module constant costs nothing.
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
    """Elect for a partition without live leader: the first assigned replica that is alive and in the ISR.

    Without a live ISR member, and if unclean election is allowed, the first assigned replica that is alive, however
    far its log has fallen behind. The new ISR are the live members of the old one, also those outside the
    assignment; after an unclean election the winner alone. The same in every release.

    Source: OfflinePartitionLeaderSelector in core/src/main/scala/kafka/controller/PartitionLeaderSelector.scala@0.9.0.1, 1.0.2;
    PartitionLeaderElectionAlgorithms and collectUncleanLeaderElectionState in
    core/src/main/scala/kafka/controller/PartitionStateMachine.scala@1.1.0, 2.8.2, 3.9.0.
    """
    in_sync = [broker for broker in isr if broker in live]
    if in_sync:
        for replica in replicas:
            if replica in in_sync:
                return Election(replica, tuple(in_sync))
        # A live ISR member forbids an unclean election even where it cannot be elected itself; 0.9-1.0 throw here.
        return _LIVE_ISR_OUTSIDE_ASSIGNMENT
    if not unclean:
        return _NO_LIVE_ISR_MEMBER
    for replica in replicas:
        if replica in live:
            return Election(replica, (replica,), True)
    return _NO_LIVE_REPLICA


# Rule 2: reassignment


def reassign(*, targets: Brokers, isr: Brokers, live: frozenset[int]) -> Election:
    """Elect when a reassignment's targets have caught up: the first of them that is alive and in the ISR.

    The ISR stays as it is; the old replicas leave it afterwards, one by one. The same in every release.

    Source: ReassignedPartitionLeaderSelector in core/src/main/scala/kafka/controller/PartitionLeaderSelector.scala@0.9.0.1;
    leaderForReassign in core/src/main/scala/kafka/controller/Election.scala@2.3.0, 3.9.0.
    """
    for target in targets:
        if target in live and target in isr:
            return Election(target, isr)
    return _NO_LIVE_TARGET_IN_ISR


# Rule 3: preferred leader


def preferred(*, replicas: Brokers, isr: Brokers, live: frozenset[int], leader: int | None, version: KafkaVersion) -> Election:
    """Elect the first assigned replica, if it is alive and in the ISR; the ISR stays as it is.

    Where it leads already, 1.1 to 2.1 write the state again with the next leader epoch; other releases do nothing.

    Source: :data:`casebook.kafka.releases.PREFERRED_ALREADY_LEADS`; PreferredReplicaPartitionLeaderSelector in
    core/src/main/scala/kafka/controller/PartitionLeaderSelector.scala@0.9.0.1; leaderForPreferredReplica in
    core/src/main/scala/kafka/controller/Election.scala@2.3.0, 3.9.0.
    """
    first = replicas[0] if replicas else None
    if first is not None and first == leader and _rules(version).preferred_skips_leader:
        return _NOT_NEEDED
    if first not in live:
        return _PREFERRED_NOT_LIVE
    return Election(first, isr) if first in isr else _PREFERRED_NOT_IN_ISR


# Rule 4: controlled shutdown


def controlled_shutdown(
    *, replicas: Brokers, isr: Brokers, live: frozenset[int], shutting_down: frozenset[int], version: KafkaVersion
) -> Election:
    """Elect among the ISR members that are not shutting down; those that are leave the ISR. Never unclean.

    From 0.10.0 the first of them in assignment order that is alive; 0.9 takes the first in ISR order and asks neither
    whether it is alive nor whether it is assigned.

    Args:
        live: Registered brokers; whether it holds those shutting down makes no difference.

    Source: :data:`casebook.kafka.releases.CONTROLLED_SHUTDOWN_ORDER`; leaderForControlledShutdown in
    core/src/main/scala/kafka/controller/PartitionStateMachine.scala@1.1.0 and Election.scala@2.3.0, 3.9.0.
    """
    staying = tuple(broker for broker in isr if broker not in shutting_down)
    if _rules(version).shutdown_takes_isr_order:
        return Election(staying[0], staying) if staying else _NO_OTHER_ISR_MEMBER
    for replica in replicas:
        if replica in staying and replica in live:
            return Election(replica, staying)
    return _NO_OTHER_ISR_MEMBER


# Rule 5: new partition


def new_partition(*, replicas: Brokers, live: frozenset[int]) -> Election:
    """Elect for a partition that has no state yet: the first live replica; all live replicas become the ISR.

    The state is created with leader epoch 0. The same in every release.

    Source: initializeLeaderAndIsrForPartition(s) in core/src/main/scala/kafka/controller/PartitionStateMachine.scala@0.9.0.1,
    1.1.0, 3.9.0.
    """
    isr = tuple(replica for replica in replicas if replica in live)
    return Election(isr[0], isr) if isr else _NO_LIVE_REPLICA


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionOutcome:
    """What a state znode holds after an event, as far as the controller decides it.

    Args:
        leader: Broker id; ``None`` for -1.
        isr: In the order stored.
        leader_epoch: Raised by one with every write of the controller; ``None`` where it was unknown before.
        recovering: ``leader_recovery_state`` is 1.
    """

    leader: int | None
    isr: Brokers
    leader_epoch: int | None
    recovering: bool = False

    @classmethod
    def of(cls, state: PartitionState) -> "ElectionOutcome":
        """The part of a state that is predicted, to compare it with a prediction."""
        return cls(leader=state.leader, isr=state.isr, leader_epoch=state.leader_epoch, recovering=state.recovering)


State = PartitionState | ElectionOutcome | None


def _raised(epoch: int | None) -> int | None:
    return None if epoch is None else epoch + 1


def after_deaths(
    *,
    state: State,
    replicas: Brokers,
    live: frozenset[int],
    dead: frozenset[int],
    unclean: bool,
    version: KafkaVersion,
    controller_died: bool = False,
) -> frozenset[ElectionOutcome | None]:
    """What the state may become when brokers disappear in one event.

    The controller elects where the leader is gone, then removes the dead from ISR and leadership, broker by broker.
    Which member a wholly dead ISR keeps depends on that order, so there can be several outcomes.

    Args:
        live: Brokers alive after the event.
        dead: Brokers that disappeared in it.
        controller_died: The controller is one of them: see :func:`after_failover`.

    Source: onBrokerFailure in core/src/main/scala/kafka/controller/KafkaController.scala@0.9.0.1, 1.0.2;
    onReplicasBecomeOffline in the same file @1.1.0, 3.9.0.
    """
    if controller_died:
        return after_failover(state=state, replicas=replicas, live=live, unclean=unclean, version=version)
    rules = _rules(version)
    elected = _elect_unless_led(_outcome(state), replicas, live, unclean, rules)
    return _without(elected, dead.intersection(replicas), unclean, rules)


def after_failover(
    *, state: State, replicas: Brokers, live: frozenset[int], unclean: bool, version: KafkaVersion
) -> frozenset[ElectionOutcome | None]:
    """What the state may become when a new controller takes over and finds these brokers alive.

    It elects where the leader is not alive. From 2.3 it first removes every replica that is not alive from ISR and
    leadership; before that, a dead leader and dead ISR members stay in the znode when nobody can be elected.

    Source: :data:`casebook.kafka.releases.FAILOVER_REMOVES_DEAD`; startup in
    core/src/main/scala/kafka/controller/PartitionStateMachine.scala@0.9.0.1, 3.9.0.
    """
    rules = _rules(version)
    gone = frozenset(replicas).difference(live) if rules.failover_removes_dead else frozenset()
    removed = _without(_outcome(state), gone, unclean, rules)
    return frozenset(_elect_unless_led(outcome, replicas, live, unclean, rules) for outcome in removed)


def after_sessions_end(
    *,
    state: State,
    replicas: Brokers,
    live: frozenset[int],
    dead: frozenset[int],
    unclean: bool,
    version: KafkaVersion,
    controller: int | None = None,
) -> frozenset[ElectionOutcome | None]:
    """What the state may become when brokers are killed together, however ZooKeeper groups the ends of their sessions.

    Brokers killed in the same instant need not disappear in the same event: each sequence of groups has its own
    outcomes, and all of them are given. Nothing is decided before a dead controller's own session has ended. The
    sequences are many: meant for a handful of dead brokers.

    Args:
        live: Brokers alive after all of them are gone.
        dead: The brokers killed.
        controller: Broker that was the controller.
    """
    outcomes: set[ElectionOutcome | None] = set()
    for first in _groups(dead):
        if controller in dead and controller not in first:
            continue
        rest = dead - first
        now = after_deaths(
            state=state,
            replicas=replicas,
            live=live | rest,
            dead=first,
            unclean=unclean,
            version=version,
            controller_died=controller in first,
        )
        if not rest:
            outcomes |= now
            continue
        for outcome in now:
            outcomes |= after_sessions_end(
                state=outcome, replicas=replicas, live=live, dead=rest, unclean=unclean, version=version
            )
    return frozenset(outcomes)


def after_start(
    *, state: State, replicas: Brokers, live: frozenset[int], started: frozenset[int], unclean: bool, version: KafkaVersion
) -> ElectionOutcome | None:
    """What the state becomes when brokers register: the controller elects where the leader was not alive before.

    A leader that was named while dead and returns is elected anew, and those dead leave the ISR with it. The
    controller puts nobody into an ISR; the leader adds a returned follower once that has caught up.

    Args:
        live: Brokers alive after the event.
        started: Brokers that registered in it.

    Source: onBrokerStartup in core/src/main/scala/kafka/controller/KafkaController.scala@0.9.0.1, 3.9.0.
    """
    current = _outcome(state)
    if current is not None and current.leader in live and current.leader not in started:
        return current
    return _elect(current, replicas, live, unclean, _rules(version))


def after_controlled_shutdown(
    *,
    state: State,
    replicas: Brokers,
    live: frozenset[int],
    broker: int,
    unclean: bool,
    version: KafkaVersion,
    shutting_down: frozenset[int] = frozenset(),
) -> ElectionOutcome | None:
    """What the state becomes when a broker asks to stop, before it is gone.

    Where it leads, another ISR member is elected, or nothing is written and it keeps leading until it is gone. Where
    it follows, it leaves the ISR. Partitions with a single replica are left alone. What its going then changes is
    told by :func:`after_deaths`.

    Args:
        live: Registered brokers.
        broker: Who asks.
        shutting_down: Others that have asked before and are not gone yet.

    Source: shutdownBroker in core/src/main/scala/kafka/controller/KafkaController.scala@0.9.0.1; doControlledShutdown @3.9.0.
    """
    current = _outcome(state)
    if current is None or broker not in replicas or len(replicas) == 1:
        return current
    rules = _rules(version)
    if current.leader != broker:
        return _remove(current, broker, unclean, rules)
    election = controlled_shutdown(
        replicas=replicas, isr=current.isr, live=live, shutting_down=shutting_down | {broker}, version=version
    )
    return _written(current, election, rules)


def after_unclean_enabled(
    *, state: State, replicas: Brokers, live: frozenset[int], scope: str, version: KafkaVersion
) -> ElectionOutcome | None:
    """What the state becomes when ``unclean.leader.election.enable`` is set to true, and nothing else happens.

    Releases that do not react leave the partition as it is until the controller moves or a broker goes or comes.

    Args:
        scope: ``default`` for the dynamic default of the brokers, ``topic`` for the topic's own setting.

    Source: :data:`casebook.kafka.releases.ENABLING_UNCLEAN_ELECTS`.
    """
    if not releases.ENABLING_UNCLEAN_ELECTS[scope].at(version):
        return _outcome(state)
    return _elect_unless_led(_outcome(state), replicas, live, True, _rules(version))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """One release's choices among the rules that changed."""

    shutdown_takes_isr_order: bool
    preferred_skips_leader: bool
    always_keeps_last: bool
    failover_removes_dead: bool
    marks_recovering: bool


@lru_cache
def _rules(version: KafkaVersion) -> _Rules:
    return _Rules(
        shutdown_takes_isr_order=releases.CONTROLLED_SHUTDOWN_ORDER.at(version) == "isr",
        preferred_skips_leader=releases.PREFERRED_ALREADY_LEADS.at(version) == "skipped",
        always_keeps_last=releases.LAST_ISR_MEMBER_KEPT.at(version) == "always",
        failover_removes_dead=releases.FAILOVER_REMOVES_DEAD.at(version) is True,
        marks_recovering=releases.UNCLEAN_MARKS_RECOVERING.at(version) is True,
    )


def _outcome(state: State) -> ElectionOutcome | None:
    return ElectionOutcome.of(state) if isinstance(state, PartitionState) else state


def _elect_unless_led(
    current: ElectionOutcome | None, replicas: Brokers, live: frozenset[int], unclean: bool, rules: _Rules
) -> ElectionOutcome | None:
    """Hold an election unless the leader is alive: the controller never replaces a live leader by this rule."""
    if current is not None and current.leader in live:
        return current
    return _elect(current, replicas, live, unclean, rules)


def _elect(
    current: ElectionOutcome | None, replicas: Brokers, live: frozenset[int], unclean: bool, rules: _Rules
) -> ElectionOutcome | None:
    """Hold the election that the controller holds for every new or offline partition."""
    if current is None:
        created = new_partition(replicas=replicas, live=live)
        return None if created.reason else ElectionOutcome(leader=created.leader, isr=created.isr, leader_epoch=0)
    return _written(current, offline(replicas=replicas, isr=current.isr, live=live, unclean=unclean), rules)


def _written(current: ElectionOutcome, election: Election, rules: _Rules) -> ElectionOutcome:
    """The state after an election; a failed one writes nothing, a clean one keeps the recovery state."""
    if election.reason:
        return current
    return ElectionOutcome(
        leader=election.leader,
        isr=election.isr,
        leader_epoch=_raised(current.leader_epoch),
        recovering=current.recovering or (election.unclean and rules.marks_recovering),
    )


def _without(
    current: ElectionOutcome | None, gone: frozenset[int], unclean: bool, rules: _Rules
) -> frozenset[ElectionOutcome | None]:
    """The states that removing these brokers one after another can lead to, in any order.

    Only who comes last makes a difference: it is the one whom a wholly dead ISR may keep.
    """
    leaving = gone.intersection(current.isr) if current else frozenset()
    if not leaving:
        return frozenset({current})
    return frozenset(_remove_all(current, [*(leaving - {last}), last], unclean, rules) for last in leaving)


def _remove_all(current: ElectionOutcome, brokers: list[int], unclean: bool, rules: _Rules) -> ElectionOutcome:
    for broker in brokers:
        current = _remove(current, broker, unclean, rules)
    return current


def _remove(current: ElectionOutcome, broker: int, unclean: bool, rules: _Rules) -> ElectionOutcome:
    """Take a broker out of ISR and leadership. The epoch rises even when the last member is kept.

    Source: :data:`casebook.kafka.releases.LAST_ISR_MEMBER_KEPT`.
    """
    if broker not in current.isr:
        return current
    remaining = tuple(member for member in current.isr if member != broker)
    # 1.1 looks at the ISR's size, earlier releases at what would remain: they differ for a broker named twice.
    kept = len(current.isr) == 1 if rules.always_keeps_last else not remaining and not unclean
    return replace(
        current,
        leader=None if current.leader == broker else current.leader,
        isr=current.isr if kept else remaining,
        leader_epoch=_raised(current.leader_epoch),
    )


def _groups(brokers: frozenset[int]) -> Iterator[frozenset[int]]:
    """Every non-empty subset."""
    ordered = sorted(brokers)
    return map(frozenset, chain.from_iterable(combinations(ordered, size) for size in range(1, len(ordered) + 1)))
