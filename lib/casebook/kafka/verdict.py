"""Verdict on one partition: its state, the rule that blocks an election, and counts of verdicts."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class PartitionCondition(StrEnum):
    """State of a partition."""

    ONLINE = "online"
    LEADERLESS = "leaderless"
    LEADER_DEAD = "leader_dead"
    UNINITIALISED = "uninitialised"
    DELETING = "deleting"
    REASSIGNING = "reassigning"
    UNKNOWN = "unknown"


ONLINE = frozenset({PartitionCondition.ONLINE, PartitionCondition.REASSIGNING})
"""States with a live leader."""

ADVISED = 2
"""The usually recommended ``min.insync.replicas``, which a ``server.properties`` outside the evidence may set."""

OFFLINE = frozenset({PartitionCondition.LEADERLESS, PartitionCondition.LEADER_DEAD})
"""States without a live leader. Not always leader -1: when the controller fails with the leader, the leader stays named."""

RULES = {
    "R1": "The state names a leader that is not registered, and no member of its ISR is alive.",
    "R2": "An election is possible, but there is no controller to hold it.",
    "R3": "No member of the ISR is alive, and unclean election is not allowed.",
    "R4": "Unclean election is allowed, but no replica is alive.",
    "R5": "The state was written under a newer controller epoch than the controller's own: it must not elect.",
    "R6": ("The partition was never initialised: no replica has been alive since its creation, or no controller initialised it."),
    "R7": "The topic is being deleted: no leader is elected for it.",
    "R8": "Nothing blocks an election; the controller holds it at the next broker change or controller change.",
    "R9": "The evidence on this partition is contradictory or damaged.",
    "R10": "A living ISR member is outside the assignment: the controller's election fails on it.",
    "R12": "The ISR is empty, and no eligible leader replica is alive (KRaft).",
    "R13": "The ISR and the eligible leader replicas are empty, and the last known leader is not alive (KRaft).",
    "R14": "A live broker has a complete copy, but its log dir has failed.",
    "R11": "There is no living leader; this evidence does not show which rule applies.",
}
"""Reasons for a missing leader, by id. Source of all: the controller's election rules, see ``casebook.kafka.election``."""


class Verdict(NamedTuple):
    """A row of ``tables/partitions``: a partition's state and what follows from it.

    ``None`` is unknown, except where a column says otherwise. A named tuple, as a large cluster makes 100,000 at once.

    Columns:
        topic: Topic name.
        partition: Partition number.
        replicas: Assignment in order; the first is the preferred leader. During a reassignment the union.
        isr: In-sync replicas as stored; null when the state is missing or unreadable.
        leader: Leader named by the state; null when none, or unknown.
        leader_epoch: Leader epoch of the state.
        controller_epoch: Epoch of the controller that last wrote the state.
        state_version: Version of the state znode: counts its writes, of the leader's and the controller's.
        live_replicas: Replicas on registered brokers.
        state: online, leaderless, leader_dead, uninitialised, deleting, reassigning or unknown.
        rule: Id of the rule that blocks an election; null when nothing is blocked.
        clean_winner: Broker that a clean election would elect now; null for none.
        unclean_winner: Broker that an unclean election would elect, if allowed; null with a clean winner or no live replica.
        waits_for: Dead brokers, each of which heals the partition if it alone is started.
        min_isr: Effective min.insync.replicas.
        min_isr_origin: Where min_isr comes from.
        unclean_allowed: Effective unclean.leader.election.enable.
        unclean_origin: Where unclean_allowed comes from.
        under_replicated: Fewer replicas in sync than the replication factor, without those being added; null also for a deleted
            topic.
        under_min_isr: No leader, or fewer replicas in sync than min_isr: acks=all is refused.
        at_min_isr: Online with exactly min_isr replicas in sync.
        since: Last write of the state znode, ISO-8601 UTC by ZooKeeper's clock.
        why: The verdict in one sentence.
        elr: Eligible leader replicas of KRaft: out of the ISR, with all committed records; null when unknown, or without them.

    Args:
        min_isr_may_be: Its highest possible value, whichever ISR member leads: brokers may disagree, and without a collected
            ``server.properties``, :data:`ADVISED` is possible.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...] | None
    leader: int | None
    leader_epoch: int | None
    controller_epoch: int | None
    state_version: int | None
    live_replicas: tuple[int, ...]
    state: PartitionCondition
    rule: str | None
    clean_winner: int | None
    unclean_winner: int | None
    waits_for: tuple[int, ...]
    min_isr: int | None
    min_isr_origin: str | None
    min_isr_may_be: int | None
    unclean_allowed: bool | None
    unclean_origin: str | None
    under_replicated: bool | None
    under_min_isr: bool | None
    at_min_isr: bool | None
    since: str | None
    why: str
    elr: tuple[int, ...] | None = None

    @property
    def complete(self) -> frozenset[int]:
        """Brokers whose copy has all acknowledged records: the ISR and the eligible leader replicas."""
        return frozenset((*(self.isr or ()), *(self.elr or ())))


def offline(judged: Iterable[Verdict]) -> list[Verdict]:
    """Return partitions without a live leader, except those under deletion."""
    return [verdict for verdict in judged if verdict.state in OFFLINE]


def is_rule_unknown(verdict: Verdict) -> bool:
    """Whether it has no leader for an unknown reason: more starts than the known ones may heal it."""
    return verdict.rule == "R11"


def online(judged: Iterable[Verdict]) -> list[Verdict]:
    """Return partitions with a live leader: those that count for under-replicated or under min ISR."""
    return [verdict for verdict in judged if verdict.state in ONLINE]
