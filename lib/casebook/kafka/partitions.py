"""State and verdict of every partition.

Applies Kafka's own rules (:mod:`casebook.kafka.election`) to the evidence. Under-replicated and under min ISR are defined as in
Kafka's own tool (``core/src/main/scala/kafka/admin/TopicCommand.scala@2.8.2``): by the stored ISR, without the replicas that a
reassignment adds; a partition without a live leader is under min ISR.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache

from casebook.facts.cluster import Cluster, Partition, PartitionState, instant
from casebook.kafka import election
from casebook.kafka.kraft.partitions import KraftJudge
from casebook.kafka.releases import LAST_ISR_MEMBER_KEPT, KafkaVersion
from casebook.kafka.settings import BUILT_IN_ASSUMED, INFERRED, TOPIC, UNREAD, Setting, Settings
from casebook.kafka.verdict import ADVISED, OFFLINE, PartitionCondition, Verdict

_MIN_ISR = "min.insync.replicas"


def verdicts(cluster: Cluster, version: KafkaVersion) -> tuple[Verdict, ...]:
    """Return a verdict for every partition, by topic and partition."""
    judge = _Judge(cluster, version)
    return tuple(judge.verdict(partition) for partition in cluster.partitions)


def dead_brokers(cluster: Cluster) -> tuple[int, ...]:
    """Return brokers in assignments or ISRs that are not registered; empty when registrations are unknown."""
    if not cluster.brokers_known:
        return ()
    named = {broker for p in cluster.partitions for broker in (*p.replicas, *(p.state.isr if p.state else ()))}
    return tuple(sorted(named - cluster.live))


class _Judge:
    """Rules applied to one cluster."""

    def __init__(self, cluster: Cluster, version: KafkaVersion) -> None:
        self._cluster = cluster
        self._live = cluster.live
        self._kraft = KraftJudge(cluster, version) if cluster.is_kraft else None
        self._settings = Settings(cluster, version)
        self._keeps_only_when_off = LAST_ISR_MEMBER_KEPT.at(version) != "always"
        self._deleting = {name for name, topic in cluster.topics.items() if topic.deleting}
        self._maybe_deleted = cluster.maybe_deleted

    def verdict(self, partition: Partition) -> Verdict:
        state = partition.state
        min_isr = self._min_isr(partition)
        clean_winner, unclean_winner = self._winners(partition, min_isr.number)
        unclean = self._unclean(partition, clean_winner)
        condition, rule, why = self._condition(partition, unclean.flag, clean_winner)
        under_min_isr, at_min_isr = _against_min_isr(condition, state, min_isr.number)
        if self._has_known_isr(partition, condition) and min_isr.number is not None and len(state.isr) < min_isr.number:
            under_min_isr = True  # with any live members of its ISR
        return Verdict(
            topic=partition.topic,
            partition=partition.partition,
            replicas=partition.replicas,
            isr=state.isr if state and state.isr_known else None,
            leader=state.leader if state else None,
            leader_epoch=state.leader_epoch if state else None,
            controller_epoch=state.controller_epoch if state else None,
            state_version=state.stamp.version if state and state.stamp else None,
            live_replicas=self._alive(partition),
            state=condition,
            rule=rule,
            clean_winner=clean_winner,
            unclean_winner=unclean_winner,
            waits_for=self._waits_for(partition, unclean.flag, min_isr.number)
            if rule in _WAITING and self._cluster.brokers_known
            else (),
            min_isr=min_isr.number,
            min_isr_origin=min_isr.origin,
            min_isr_may_be=self._min_isr_may_be(partition, min_isr),
            unclean_allowed=unclean.flag,
            unclean_origin=unclean.origin,
            under_replicated=self._under_replicated(partition, condition),
            under_min_isr=under_min_isr,
            at_min_isr=at_min_isr,
            since=instant(state.stamp.changed_at) if state and state.stamp else None,
            why=why,
            elr=state.elr if state else None,
        )

    def _under_replicated(self, partition: Partition, condition: PartitionCondition) -> bool | None:
        """``None`` without a judgement. With unknown registrations only ``True`` or ``None``."""
        state = partition.state
        if state is None or partition.problem is not None or not state.isr_known:
            return None
        if self._has_known_isr(partition, condition):
            return _is_under_replicated(partition, state, self._cluster) or None
        return None if condition in _UNJUDGED else _is_under_replicated(partition, state, self._cluster)

    def _has_known_isr(self, partition: Partition, condition: PartitionCondition) -> bool:
        """Whether its ISR is known without registrations: Kafka's tools print one without the other."""
        told = partition.state is not None and partition.state.leader is not None and partition.problem is None
        return told and condition is PartitionCondition.UNKNOWN and not self._cluster.brokers_known

    def _condition(
        self, partition: Partition, unclean: bool | None, clean_winner: int | None
    ) -> tuple[PartitionCondition, str | None, str]:
        """Return the state, the blocking rule and a sentence with the reason."""
        if partition.topic in self._deleting:
            return PartitionCondition.DELETING, "R7", self._deleting_because(partition)
        if (offline := self._surely_offline(partition)) is not None:
            return offline, "R11", self._offline_because(partition)
        if partition.problem is not None:
            return PartitionCondition.UNKNOWN, "R9", f"The evidence {partition.problem}."
        if not self._cluster.brokers_known:
            return PartitionCondition.UNKNOWN, "R9", "The registered brokers are unknown."
        if partition.topic in self._maybe_deleted:
            return PartitionCondition.UNKNOWN, "R9", "The topic may be in deletion: requests to delete topics could not be read."
        if partition.state is None:
            return PartitionCondition.UNINITIALISED, "R6", self._uninitialised_because(partition)
        leader = partition.state.leader
        if leader in self._live:
            if is_reassigning(partition, self._cluster):
                return PartitionCondition.REASSIGNING, None, f"Led by {leader} while its replicas are being reassigned."
            return PartitionCondition.ONLINE, None, _led_by(leader)
        condition = PartitionCondition.LEADERLESS if leader is None else PartitionCondition.LEADER_DEAD
        return condition, *self._blocked_by(partition, partition.state, unclean, clean_winner)

    def _surely_offline(self, partition: Partition) -> PartitionCondition | None:
        """Judge by the state alone, when registrations or the assignment are not in the evidence."""
        state, known = partition.state, self._cluster.brokers_known
        if state is not None and not state.isr_known:
            return PartitionCondition.LEADERLESS
        unassigned = not partition.replicas and bool(self._cluster.unlisted)
        if state is None or not (unassigned if partition.problem is not None else not known):
            return None
        if state.leader is None:
            return PartitionCondition.LEADERLESS
        is_dead = state.leader not in self._live if known else state.leader in self._cluster.unregistered
        return PartitionCondition.LEADER_DEAD if is_dead else None

    def _offline_because(self, partition: Partition) -> str:
        isr, leader = (partition.state.isr, partition.state.leader) if partition.state else ((), None)
        if partition.state is not None and not partition.state.isr_known:
            return "Leader -1. Brokers of this release do not answer the ISR of such a partition."
        named = "Leader -1" if leader is None else f"Named leader {leader} is not registered"
        if not isr:
            return f"{named}, and the ISR is empty."
        if not self._cluster.brokers_known:
            candidates = [member for member in isr if member not in self._cluster.unregistered]
            which = f"{ids(candidates)} can be elected without loss" if candidates else "the ISR has no other member"
            return f"{named}. {which[0].upper()}{which[1:]}; the live brokers are unknown."
        alive = [member for member in isr if member in self._live]
        which = f"{ids(alive)} {_is_are(alive)} alive" if alive else f"{ids(isr)} {_is_are(isr)} dead"
        return f"{named}, and of its ISR {which}; its assignment is unknown."

    def _blocked_by(
        self, partition: Partition, state: PartitionState, unclean: bool | None, clean_winner: int | None
    ) -> tuple[str, str]:
        """Return the rule that keeps an offline partition without a leader, and the sentence."""
        controller = self._cluster.controller
        alive = self._alive(partition)
        if None not in (controller.epoch, state.controller_epoch) and state.controller_epoch > controller.epoch:
            return "R5", f"Written under controller epoch {state.controller_epoch}; the controller's own is {controller.epoch}."
        failed = [member for member in state.isr if member in self._live and member not in self._cluster.usable(partition)]
        if clean_winner is None and failed:
            return (
                "R14",
                f"{ids(failed)} {_is_are(failed)} alive and in the ISR, but the log dir of this partition has failed there.",
            )
        if clean_winner is None and any(member in self._live for member in state.isr):
            stray = next(member for member in state.isr if member in self._live)
            return "R10", f"{stray} is alive and in the ISR, but not among the replicas."
        if clean_winner is not None or (unclean and alive):
            if self._cluster.has_controller is False:
                return "R2", "There is no controller to hold the election."
            return "R8", f"{clean_winner if clean_winner is not None else alive[0]} can lead as soon as an election is held."
        if self._kraft is not None and (found := self._kraft.blocked_by(partition, state)) is not None:
            return found
        if unclean:
            return "R4", f"{ids(partition.replicas)} {_is_are(partition.replicas)} dead; no replica is alive."
        in_sync = f"{ids(state.isr)} {_is_are(state.isr)} dead" if state.isr else "the ISR is empty"
        rest = f"{in_sync}{_besides(partition, state, alive)}."
        because = rest[0].upper() + rest[1:] if state.leader is None else f"Named leader {state.leader} is not registered; {rest}"
        if unclean is None:
            return "R11", f"{because} Whether unclean election is allowed is unknown."
        return ("R3" if state.leader is None else "R1"), because

    def _winners(self, partition: Partition, min_isr: int | None) -> tuple[int | None, int | None]:
        """Return the winner of a clean election, and of an unclean one."""
        state = partition.state
        if partition.problem is not None or partition.topic in self._deleting or not self._cluster.brokers_known:
            return None, None
        if state is not None and not state.isr_known:
            return None, None
        if state is None:
            return election.new_partition(replicas=partition.replicas, live=self._live).leader, None
        if self._kraft is not None:
            return self._kraft.winners(partition, min_isr)
        elected = election.offline(replicas=partition.replicas, isr=state.isr, live=self._cluster.usable(partition), unclean=True)
        return (None, elected.leader) if elected.unclean else (elected.leader, None)

    def _alive(self, partition: Partition) -> tuple[int, ...]:
        replicas = partition.replicas
        if partition.offline:
            replicas = tuple(r for r in replicas if r not in partition.offline)
        return replicas if self._live.issuperset(replicas) else tuple(r for r in replicas if r in self._live)

    def _waits_for(self, partition: Partition, unclean: bool | None, min_isr: int | None) -> tuple[int, ...]:
        """Dead brokers that would each bring the partition back by starting alone."""
        state = partition.state
        replicas = partition.replicas or (state.isr if state else ())  # ISR members are normally assigned
        dead = sorted(r for r in replicas if r not in self._live)
        if state is None:
            return tuple(dead)
        if self._kraft is not None:
            return self._kraft.waits_for(partition, min_isr, unclean=bool(unclean))
        elections = (
            election.offline(replicas=replicas, isr=state.isr, live=self._live | {b}, unclean=bool(unclean)) for b in dead
        )
        return tuple(b for b, elected in zip(dead, elections, strict=True) if elected.leader is not None)

    def _min_isr(self, partition: Partition) -> Setting:
        """min.insync.replicas as applied by the leader; without one, by the next leader."""
        state = partition.state
        leader = state.leader if state and state.leader is not None else next(iter(state.isr if state else ()), None)
        return self._settings.effective(_MIN_ISR, topic=partition.topic, broker=leader)

    def _min_isr_may_be(self, partition: Partition, now: Setting) -> int | None:
        """``None`` for an unknown setting. See :class:`Verdict`."""
        if now.number is None or now.origin == TOPIC:
            return now.number
        if len(self._min_isr_of_brokers) == 1:
            return next(iter(self._min_isr_of_brokers.values()))
        isr = partition.state.isr if partition.state else ()
        asked = [self._min_isr_of_brokers[broker] for broker in isr if broker in self._min_isr_of_brokers]
        return None if None in asked else max([now.number, *asked])

    @cached_property
    def _min_isr_of_brokers(self) -> Mapping[int | None, int | None]:
        """Highest min ISR of each live broker for topics without an override; a single entry when all are equal."""
        found = {broker: _at_most(self._settings.of_broker(_MIN_ISR, broker)) for broker in self._live or {None}}
        return {None: next(iter(found.values()))} if len(set(found.values())) == 1 else found

    def _unclean(self, partition: Partition, clean_winner: int | None) -> Setting:
        """unclean.leader.election.enable as the controller applies it.

        Where only a default allows it, an offline partition can prove the opposite: a live replica was not elected, or (before
        1.1) the last ISR member was kept, which requires the setting to be off
        (:data:`casebook.kafka.releases.LAST_ISR_MEMBER_KEPT`).
        """
        controller, state = self._cluster.controller.broker, partition.state
        if self._kraft is not None and not self._kraft.reads_unclean_setting:
            return Setting("false", UNREAD)
        setting = self._settings.effective("unclean.leader.election.enable", topic=partition.topic, broker=controller)
        if state is None or clean_winner is not None or setting.origin != BUILT_IN_ASSUMED or not setting.flag:
            return setting
        passed_over = controller in self._live and bool(self._alive(partition))
        kept = state.leader is None and bool(state.isr) and self._keeps_only_when_off
        if state.leader not in self._live and (passed_over or kept):
            return Setting("false", INFERRED)
        return setting

    def _uninitialised_because(self, partition: Partition) -> str:
        alive = self._alive(partition)
        if not partition.replicas:
            return "It has neither state nor replicas."
        if alive:
            return f"No state was ever written, though {ids(alive)} {_is_are(alive)} alive: no controller has initialised it."
        return f"No state was ever written: {ids(partition.replicas)} {_is_are(partition.replicas)} dead."

    def _deleting_because(self, partition: Partition) -> str:
        dead = [r for r in partition.replicas if r not in self._live] if self._cluster.brokers_known else []
        return f"In deletion; waits for {ids(dead)} to delete its replica." if dead else "Being deleted."


_UNJUDGED = (PartitionCondition.UNKNOWN, PartitionCondition.DELETING)

_WAITING = frozenset({"R1", "R3", "R4", "R6", "R10", "R11", "R12", "R13", "R14"})
"""Rules that end when the right broker starts."""


def is_reassigning(partition: Partition, cluster: Cluster) -> bool:
    """Whether its replicas are under reassignment: by its topic znode (2.4+) or by ``/admin/reassign_partitions``.

    An entry with the current replicas as target is a leftover and moves nothing (KAFKA-9478).
    """
    if partition.adding or partition.removing:
        return True
    target = _old_target(partition, cluster)
    return target is not None and target != partition.replicas


def _old_target(partition: Partition, cluster: Cluster) -> tuple[int, ...] | None:
    return cluster.reassigning.get((partition.topic, partition.partition)) if cluster.reassigning else None


def _is_under_replicated(partition: Partition, state: PartitionState, cluster: Cluster) -> bool:
    """Whether the ISR is smaller than the replication factor, without the replicas that a reassignment adds."""
    target = _old_target(partition, cluster)
    factor = len(partition.replicas) - len(partition.adding)
    if target and not partition.adding:
        factor = min(factor, len(target))
    return len(state.isr) < factor


def _at_most(setting: Setting) -> int | None:
    return max(setting.number, ADVISED) if setting.number is not None and setting.assumed else setting.number


def _against_min_isr(
    condition: PartitionCondition, state: PartitionState | None, min_isr: int | None
) -> tuple[bool | None, bool | None]:
    """Return whether a partition is under its min ISR, and whether it is exactly at it."""
    if condition in _UNJUDGED:
        return None, None
    if state is None or condition in OFFLINE:
        return True, False
    if min_isr is None:
        return None, None
    return len(state.isr) < min_isr, len(state.isr) == min_isr


def _besides(partition: Partition, state: PartitionState, alive: Iterable[int]) -> str:
    """Rest of the sentence: live replicas that are out of sync."""
    outside = [r for r in alive if r not in state.isr]
    if outside:
        return f"; {ids(outside)} {_is_are(outside)} alive but not in the ISR"
    return "; replication factor 1" if len(partition.replicas) == 1 else "; no other replica is alive"


@lru_cache(4096)
def _led_by(leader: int) -> str:
    """Return the verdict on a healthy partition: one text for all of a leader's."""
    return f"Led by {leader}."


def ids(brokers: Iterable[int]) -> str:
    """Format broker ids for people."""
    return ", ".join(map(str, brokers)) or "nobody"


def _is_are(brokers: Iterable[int]) -> str:
    return "is" if len(tuple(brokers)) == 1 else "are"
