"""Restart of brokers in an order, step by step: leaders and ISRs after each. Nothing is sent to the cluster.

The brokers of a step stop together, each by controlled shutdown; the next step waits until they are back and in sync. Leaders are
not moved back in between: ``auto.leader.rebalance.enable`` would do that minutes later, and every coordinator loads once more.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition, PartitionState
from casebook.kafka import controller
from casebook.kafka.controller import ElectionOutcome
from casebook.kafka.election_rules import ElectionRules
from casebook.kafka.partitions import verdicts
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.verdict import PartitionCondition, Verdict

Order = tuple[tuple[int, ...], ...]
"""Brokers in order; those in one tuple stop together."""


class Stopped(NamedTuple):
    """The cluster while a step's brokers are down.

    Args:
        number: Number of the step, starting at 1.
        brokers: Stopped brokers.
        before: The cluster before them.
        cluster: The cluster without them.
    """

    number: int
    brokers: tuple[int, ...]
    before: Cluster
    cluster: Cluster


def part_of(cluster: Cluster, judged: Sequence[Verdict], wanted: Callable[[Partition], bool]) -> tuple[Cluster, list[Verdict]]:
    """Return some of a cluster's partitions with their verdicts: partitions are independent, so a few can be replayed alone."""
    some = [(p, v) for p, v in zip(cluster.partitions, judged, strict=True) if wanted(p)]
    return replace(cluster, partitions=tuple(p for p, _ in some)), [v for _, v in some]


def is_touched(partition: Partition, brokers: Collection[int]) -> bool:
    """Return whether it has a replica, or an in-sync one, on these brokers."""
    state = partition.state
    return any(b in brokers for b in partition.replicas) or (state is not None and any(b in brokers for b in state.isr))


def replay(cluster: Cluster, judged: Sequence[Verdict], order: Order, version: KafkaVersion) -> Iterator[Stopped]:
    """Yield every step of an order.

    Args:
        judged: Verdicts on the cluster's partitions, in the same order.
    """
    known = cache(partial(ElectionRules, cluster, version))
    ruled = [known(unclean=bool(verdict.unclean_allowed), min_isr=verdict.min_isr) for verdict in judged]
    fixed = [verdict.state in (PartitionCondition.DELETING, PartitionCondition.UNKNOWN) for verdict in judged]
    for number, brokers in enumerate(order, start=1):
        down = frozenset(brokers)
        meanwhile, after = [], []
        for partition, rules, left_alone in zip(cluster.partitions, ruled, fixed, strict=True):
            if left_alone or not is_touched(partition, down):
                meanwhile.append(partition)
                after.append(partition)
                continue
            without, then = _step(partition, brokers, cluster.live, rules)
            meanwhile.append(partition._replace(state=without))
            after.append(partition._replace(state=then))
        registered = {broker: row for broker, row in cluster.brokers.items() if broker not in down}
        yield Stopped(number, brokers, cluster, replace(cluster, brokers=registered, partitions=tuple(meanwhile)))
        cluster = replace(cluster, partitions=tuple(after))


def next_leader(partition: Partition, brokers: Sequence[int], live: frozenset[int], rules: ElectionRules) -> int | None:
    """Return the leader of a partition after these brokers have stopped; ``None`` without one."""
    state, _ = _step(partition, brokers, live, rules)
    return state.leader if state is not None and state.leader in live.difference(brokers) else None


def seen(stopped: Stopped, version: KafkaVersion) -> tuple[Verdict, ...]:
    """Return the verdicts at that moment, for partitions with a replica, or formerly an in-sync one, on a stopped broker."""
    names = {(p.topic, p.partition) for p in stopped.before.partitions if is_touched(p, stopped.brokers)}
    touched = tuple(p for p in stopped.cluster.partitions if (p.topic, p.partition) in names)
    return verdicts(replace(stopped.cluster, partitions=touched), version)


def _step(
    partition: Partition, brokers: Sequence[int], live: frozenset[int], rules: ElectionRules
) -> tuple[PartitionState | None, PartitionState | None]:
    """Return a partition's state while the brokers are down, and after they are back in sync."""
    before, replicas, down = partition.state, partition.replicas, frozenset(brokers)
    state: controller.State = before
    for at, broker in enumerate(brokers):
        asked = frozenset(brokers[:at])
        state = rules.after_controlled_shutdown(state, replicas, live=live, broker=broker, shutting_down=asked)
    gone = rules.after_deaths(state, replicas, live=live - down, dead=down & live)
    state = min(gone, key=repr)  # an entirely dead ISR may keep either member; there is no leader in any case
    back = rules.after_start(state, replicas, live=live, started=down & live, cleanly=True)
    caught_up = before is not None and back is not None and back.leader in live
    joined = tuple(b for b in (before.isr if before else ()) if b in down and b not in back.isr) if caught_up else ()
    return _as_state(state, before), _as_state(back and replace(back, isr=back.isr + joined), before)


def _as_state(outcome: "ElectionOutcome | PartitionState | None", before: PartitionState | None) -> PartitionState | None:
    if outcome is None or isinstance(outcome, PartitionState):
        return outcome
    epoch, stamp = (before.controller_epoch, before.stamp) if before else (None, None)
    elr = tuple(broker for broker in outcome.elr if broker not in outcome.isr)
    return PartitionState(
        outcome.leader, outcome.isr, outcome.leader_epoch, epoch, outcome.recovering, stamp, elr, outcome.last_known_elr
    )
