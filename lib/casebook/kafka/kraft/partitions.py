"""Candidates for the leadership of a partition in KRaft, and why there is none.

Applies :mod:`casebook.kafka.kraft.election` to the evidence, for :mod:`casebook.kafka.partitions`.
"""

from collections.abc import Collection
from functools import cached_property

from casebook.facts.cluster import Cluster, Partition, PartitionState
from casebook.kafka.kraft.controller import BrokerEvent, after_all
from casebook.kafka.kraft.election import ElectedFrom, KraftChange, KraftElection, KraftPartition, KraftSettings, change
from casebook.kafka.releases import KRAFT_UNCLEAN_SETTING, KafkaVersion

_ELR = "eligible.leader.replicas.version"
_ELR_SINCE = KafkaVersion.parse("4.0.0")
_CLEAN = (None, ElectedFrom.ISR, ElectedFrom.ELR)


class KraftJudge:
    """Rules of KRaft applied to one cluster.

    Args:
        cluster: Its facts.
        version: Release of the controllers.
    """

    def __init__(self, cluster: Cluster, version: KafkaVersion) -> None:
        self._cluster, self._version = cluster, version
        self.reads_unclean_setting = KRAFT_UNCLEAN_SETTING.at(version) is True

    @cached_property
    def has_elr(self) -> bool | None:
        """Whether eligible leader replicas are enabled; ``None`` when unknown."""
        if self._version < _ELR_SINCE:
            return False
        return self._cluster.features.get(_ELR, 0) >= 1 if self._cluster.features else None

    def winners(self, partition: Partition, min_isr: int | None) -> tuple[int | None, int | None]:
        """Return the winner of a clean election, and of an unclean one."""
        clean = self._elected(partition, min_isr, KraftElection.ONLINE)
        if clean is not None and clean.elected in _CLEAN and clean.after.leader is not None:
            return clean.after.leader, None
        unclean = self._elected(partition, min_isr, KraftElection.UNCLEAN)
        return None, unclean.after.leader if unclean is not None else None

    def waits_for(self, partition: Partition, min_isr: int | None, *, unclean: bool) -> tuple[int, ...]:
        """Return dead brokers that would each bring the partition back by starting alone."""
        if (stored := self._stored(partition)) is None:
            return ()
        settings = KraftSettings(elr=bool(self.has_elr), min_isr=min_isr or 1, unclean=unclean)
        dead = sorted(set(partition.replicas) - self._cluster.live)
        return tuple(broker for broker in dead if self._heals(broker, stored, self._cluster.usable(partition), settings))

    def _heals(self, broker: int, stored: KraftPartition, live: frozenset[int], settings: KraftSettings) -> bool:
        """Whether a partition has a leader after a broker's start, however the broker was stopped."""
        starts = (BrokerEvent.RESTARTED, BrokerEvent.RESTARTED_CLEANLY)
        return all(
            after_all(
                stored,
                events=[(start, broker), (BrokerEvent.UNFENCED, broker)],
                eligible=live,
                settings=settings,
                version=self._version,
            )[-1].after.leader
            is not None
            for start in starts
        )

    def blocked_by(self, partition: Partition, state: PartitionState) -> tuple[str, str] | None:
        """Return the rule that keeps a partition without a leader, and the sentence; ``None`` when its ISR decides.

        Only without a member of the ISR do the eligible leader replicas, and after them the last known leader, decide.
        """
        if state.isr or not self.has_elr:
            return None
        if state.elr is None or state.last_known_elr is None:
            return "R11", "The ISR is empty, and the eligible leader replicas are unknown."
        if state.elr:
            dead = _dead(state.elr, self._cluster.usable(partition))
            return "R12", f"The ISR is empty, and of the eligible leader replicas {dead}. One counts only after a clean shutdown."
        if len(state.last_known_elr) == 1:
            (last,) = state.last_known_elr
            return "R13", f"The ISR and the eligible leader replicas are empty; the last known leader, {last}, is dead."
        return "R13", "The ISR and the eligible leader replicas are empty, and no last known leader is recorded."

    def _elected(self, partition: Partition, min_isr: int | None, election: KraftElection) -> KraftChange | None:
        """Return the result of an election among the live brokers; ``None`` when it depends on something unknown."""
        if (stored := self._stored(partition)) is None:
            return None
        settings = KraftSettings(elr=bool(self.has_elr), min_isr=min_isr or 1, unclean=None)
        return change(
            stored, eligible=self._cluster.usable(partition), settings=settings, version=self._version, election=election
        )

    def _stored(self, partition: Partition) -> KraftPartition | None:
        """Return the partition for an election; ``None`` when unknown eligible leader replicas decide it."""
        state, live = partition.state, self._cluster.usable(partition)
        elr, last = state.elr, state.last_known_elr
        if self.has_elr is None or (self.has_elr and None in (elr, last)):
            if any(member in live and member in partition.replicas for member in state.isr):
                elr, last = (), ()  # a live ISR member decides alone
            else:
                return None
        return KraftPartition(
            replicas=partition.replicas,
            isr=state.isr,
            leader=state.leader,
            elr=elr or (),
            last_known_elr=last or (),
            adding=partition.adding,
            removing=partition.removing,
        )


def _dead(members: Collection[int], live: Collection[int]) -> str:
    dead = [broker for broker in members if broker not in live]
    return f"{', '.join(map(str, dead))} {'is' if len(dead) == 1 else 'are'} dead"
