"""The controller's writes on broker failures and starts: the state znode of a partition after an event.

:func:`after_deaths`, :func:`after_failover`, :func:`after_start`, :func:`after_controlled_shutdown`,
:func:`after_unclean_enabled`, and :func:`after_sessions_end` for sessions that ZooKeeper ends one after another. They take and
return an :class:`ElectionOutcome` (or a :class:`~casebook.facts.cluster.PartitionState`), so that events can be chained; ``None``
is a partition without a state znode. They do not apply to topics under deletion, for which the controller holds no elections.

:mod:`casebook.kafka.election` has the election rules, for the same releases.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations

from casebook.facts.cluster import PartitionState
from casebook.kafka import releases
from casebook.kafka.election import Brokers, Election, controlled_shutdown, new_partition, offline
from casebook.kafka.releases import KafkaVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionOutcome:
    """The part of a state znode that the controller decides, after an event.

    Args:
        leader: Broker id; ``None`` for -1.
        isr: In stored order.
        leader_epoch: Incremented on each write by the controller; ``None`` when unknown before.
        recovering: ``leader_recovery_state`` is 1.
        elr: Eligible leader replicas of KRaft.
        last_known_elr: Last known leader of KRaft.
    """

    leader: int | None
    isr: Brokers
    leader_epoch: int | None
    recovering: bool = False
    elr: Brokers = ()
    last_known_elr: Brokers = ()

    @classmethod
    def of(cls, state: PartitionState) -> "ElectionOutcome":
        """Return the predictable part of a state, to compare it with a prediction."""
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
    """Return the possible states after brokers fail in one event.

    The controller elects a leader where the leader failed, then removes the failed brokers from ISR and leadership, one by one.
    The order decides which member an entirely failed ISR keeps, so there can be several outcomes.

    Args:
        live: Brokers alive after the event.
        dead: Brokers that failed in it.
        controller_died: The controller is among them: see :func:`after_failover`.

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
    """Return the possible states after a new controller takes over with these live brokers.

    It elects a leader where the leader is dead. From 2.3 it first removes all dead replicas from ISR and leadership; before, a
    dead leader and dead ISR members stay in the znode when no leader can be elected.

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
    """Return the possible states after brokers are killed together, for every order in which ZooKeeper may end their sessions.

    Brokers killed at the same instant may fail in different events: each sequence of groups has its own outcomes, and all are
    returned. Nothing is decided before a dead controller's own session ends. The number of sequences grows fast: use it for a
    handful of dead brokers.

    Args:
        live: Live brokers after all failures.
        dead: Killed brokers.
        controller: Controller before the failures.
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
    """Return the state after brokers register: the controller elects a leader where the leader was dead.

    A leader that was named while dead and returns is elected again, and dead members leave the ISR. The controller never adds to
    an ISR; the leader adds a returned follower once that has caught up.

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
    """Return the state after a broker requests a controlled shutdown, before it stops.

    For the partitions that it leads, another ISR member is elected; failing that, nothing is written and it leads until it stops.
    For the partitions that it follows, it leaves the ISR. Partitions with a single replica do not change. :func:`after_deaths`
    has the effect of the stop itself.

    Args:
        live: Registered brokers.
        broker: Broker that shuts down.
        shutting_down: Other brokers with a pending shutdown.

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
    """Return the state after ``unclean.leader.election.enable`` is set to true, and nothing else happens.

    Releases that do not react leave the partition unchanged until the controller moves or a broker fails or starts.

    Args:
        scope: ``default`` for the dynamic default of the brokers, ``topic`` for the topic's own setting.

    Source: :data:`casebook.kafka.releases.ENABLING_UNCLEAN_ELECTS`.
    """
    if not releases.ENABLING_UNCLEAN_ELECTS[scope].at(version):
        return _outcome(state)
    return _elect_unless_led(_outcome(state), replicas, live, True, _rules(version))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """Rules of one release, where releases differ."""

    always_keeps_last: bool
    failover_removes_dead: bool
    marks_recovering: bool


@lru_cache
def _rules(version: KafkaVersion) -> _Rules:
    return _Rules(
        always_keeps_last=releases.LAST_ISR_MEMBER_KEPT.at(version) == "always",
        failover_removes_dead=releases.FAILOVER_REMOVES_DEAD.at(version) is True,
        marks_recovering=releases.UNCLEAN_MARKS_RECOVERING.at(version) is True,
    )


def _outcome(state: State) -> ElectionOutcome | None:
    return ElectionOutcome.of(state) if isinstance(state, PartitionState) else state


def _elect_unless_led(
    current: ElectionOutcome | None, replicas: Brokers, live: frozenset[int], unclean: bool, rules: _Rules
) -> ElectionOutcome | None:
    """Hold an election unless the leader is alive: this rule never replaces a live leader."""
    if current is not None and current.leader in live:
        return current
    return _elect(current, replicas, live, unclean, rules)


def _elect(
    current: ElectionOutcome | None, replicas: Brokers, live: frozenset[int], unclean: bool, rules: _Rules
) -> ElectionOutcome | None:
    """Hold the controller's election for a new or offline partition."""
    if current is None:
        created = new_partition(replicas=replicas, live=live)
        return None if created.reason else ElectionOutcome(leader=created.leader, isr=created.isr, leader_epoch=0)
    return _written(current, offline(replicas=replicas, isr=current.isr, live=live, unclean=unclean), rules)


def _written(current: ElectionOutcome, election: Election, rules: _Rules) -> ElectionOutcome:
    """Return the state after an election; a failed one writes nothing, a clean one keeps the recovery state."""
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
    """Return the possible states after these brokers are removed one by one, in any order.

    Only the last one matters: an entirely dead ISR may keep it.
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
    """Remove a broker from ISR and leadership. The epoch rises even when the last member is kept.

    Source: :data:`casebook.kafka.releases.LAST_ISR_MEMBER_KEPT`.
    """
    if broker not in current.isr:
        return current
    remaining = tuple(member for member in current.isr if member != broker)
    # 1.1 checks the ISR's size, earlier releases what would remain: they differ for a broker named twice.
    kept = len(current.isr) == 1 if rules.always_keeps_last else not remaining and not unclean
    return replace(
        current,
        leader=None if current.leader == broker else current.leader,
        isr=current.isr if kept else remaining,
        leader_epoch=_raised(current.leader_epoch),
    )


def _groups(brokers: frozenset[int]) -> Iterator[frozenset[int]]:
    """Return every non-empty subset."""
    ordered = sorted(brokers)
    return map(frozenset, chain.from_iterable(combinations(ordered, size) for size in range(1, len(ordered) + 1)))
