"""Coordinators moved by a restart, and the wait of their groups: the new leader of a partition loads it first.

One thread per broker loads one partition after the other, at the rate of the broker's own loads, else of others
(:mod:`casebook.kafka.load_rate`). The stop and start itself is not part of the estimate.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cache, partial
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition
from casebook.facts.disks import OFFSETS_TOPIC, LogDir
from casebook.kafka.election_rules import ElectionRules
from casebook.kafka.load_rate import Measured, Rate, TimeRange, rate
from casebook.kafka.load_work import Work, works
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.verdict import Verdict
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.coordinators.analysis.load_ends import BrokerQueue, ends
from casebook.questions.coordinators.analysis.states import WAITING
from casebook.questions.maintenance.analysis.order import next_leader

TRANSACTIONS_TOPIC = "__transaction_state"


class Handover(NamedTuple):
    """An offsets partition that changes its coordinator; ``to`` is ``None`` without a new one."""

    partition: int
    broker: int
    to: int | None


class MovedLoads(NamedTuple):
    """Effect of stopping brokers together on coordinators.

    Args:
        handovers: Partitions of ``__consumer_offsets``.
        transactions: Number of moved partitions of ``__transaction_state``.
        groups: Number of known groups that lose their coordinator; ``None`` when groups are unknown.
        wait: Longest wait for a load, ms; ``None`` when unknown or endless.
        why: Why there is no time; empty with one.
    """

    handovers: tuple[Handover, ...]
    transactions: int | None
    groups: int | None
    wait: TimeRange | None
    why: str

    @property
    def endless(self) -> bool:
        """One of them has no new coordinator: its groups wait until a broker is back."""
        return any(one.to is None for one in self.handovers)

    @property
    def seconds(self) -> float | None:
        """Best estimate; 0 when nothing moves."""
        return None if self.wait is None or self.wait.mid is None else round(self.wait.mid / 1000, 1)


class CoordinatorMoves:
    """Moves of coordinators in one cluster.

    Args:
        cluster: Cluster with its leaders.
        judged: Verdicts on its partitions, in the same order.
        held: Coordinators and past loads; ``None`` without evidence of either.
        log_dirs: Log dirs, for load sizes.
    """

    def __init__(
        self,
        cluster: Cluster,
        judged: Sequence[Verdict],
        version: KafkaVersion,
        *,
        held: Coordinators | None = None,
        log_dirs: Iterable[LogDir] = (),
    ) -> None:
        self.version, self._live = version, cluster.live
        self._whole = bool(cluster.partitions) and not cluster.unlisted and cluster.brokers_known
        rules = cache(partial(ElectionRules, cluster, version))
        self._rules = {
            (v.topic, v.partition): rules(unclean=bool(v.unclean_allowed), min_isr=v.min_isr)
            for v in judged
            if is_internal(v.topic)
        }
        self._whole &= all(_is_known(p) for p in cluster.partitions if is_internal(p.topic))
        self._led = _led(cluster)
        self._works = works(log_dirs, held.segments if held else ())
        self._groups = {one.judged.partition: one.groups for one in held.partitions} if held and held.groups else None
        self._queues = {queue.broker: queue for queue in held.queues} if held else {}
        self._of_others = _of_all(self._queues.values())

    def as_led(self, cluster: Cluster) -> "CoordinatorMoves":
        """Return the same for other leaders: after the steps of an order."""
        other = copy(self)
        other._led = _led(cluster)
        return other

    def of(self, brokers: Iterable[int]) -> MovedLoads:
        """Return the effect of stopping these together."""
        down = tuple(sorted(set(brokers)))
        led = [partition for broker in down for partition in self._led.get(broker, ())]
        moved = tuple(sorted(self._handover(p, down) for p in led if p.topic == OFFSETS_TOPIC))
        transactions = sum(partition.topic == TRANSACTIONS_TOPIC for partition in led)
        if not self._whole:
            return MovedLoads(moved, None, None, None, "the partitions led by these brokers are unknown")
        wait, why = self._wait(moved)
        return MovedLoads(moved, transactions, self._known_groups(moved), wait, why)

    def _handover(self, partition: Partition, down: tuple[int, ...]) -> Handover:
        to = next_leader(partition, down, self._live, self._rules[partition.topic, partition.partition])
        return Handover(partition.partition, partition.state.leader, to)

    def _known_groups(self, moved: Sequence[Handover]) -> int | None:
        if not moved:
            return 0
        return None if self._groups is None else sum(len(self._groups.get(one.partition, ())) for one in moved)

    def _wait(self, moved: Sequence[Handover]) -> tuple[TimeRange | None, str]:
        """Return the longest wait among the new coordinators."""
        taken: dict[int, list[int]] = defaultdict(list)
        for one in moved:
            if one.to is None:
                return None, f"no broker takes over partition {one.partition}: its groups wait until a broker is back"
            taken[one.to].append(one.partition)
        longest = TimeRange(0, 0, 0)
        for broker, partitions in sorted(taken.items()):
            span, why = self._takes(broker, partitions)
            if span is None or span.mid is None:
                return None, why
            longest = max(longest, span, key=lambda one: one.mid)
        return longest, ""

    def _takes(self, broker: int, partitions: Iterable[int]) -> tuple[TimeRange | None, str]:
        """Return how long a broker loads partitions, after its current queue."""
        queue = self._queues.get(broker)
        measured = (queue.rate if queue else None) or self._of_others
        if measured is None:
            return None, "no load with a known size has ended on any broker"
        total = _backlog(queue) if queue else TimeRange(0, 0, 0)
        if total is None:
            return None, f"broker {broker} is loading; the end of the load is unknown"
        for partition in partitions:
            work = self._work(partition, broker)
            if work is None:
                return (
                    None,
                    f"the size of partition {partition} is unknown: the case has no log dir of a broker that holds it",
                )
            total = total + measured.takes(work)
        return total, "a load is slower than others allow: no estimate"

    def _work(self, partition: int, broker: int) -> Work | None:
        """Return the work of its own copy, else of the largest."""
        copies: Mapping[int, Work] = self._works.get(partition, {})
        return copies.get(broker) or max(copies.values(), key=lambda work: (work.bytes, -work.broker), default=None)


def is_internal(topic: str) -> bool:
    """Return whether its leaders coordinate groups or transactions."""
    return topic in (OFFSETS_TOPIC, TRANSACTIONS_TOPIC)


def _is_known(partition: Partition) -> bool:
    return partition.problem is None and partition.state is not None


def _led(cluster: Cluster) -> Mapping[int, Sequence[Partition]]:
    """Return the internal partitions that each broker leads, as far as their states are known."""
    led: dict[int, list[Partition]] = defaultdict(list)
    for partition in cluster.partitions:
        if is_internal(partition.topic) and _is_known(partition) and partition.state.leader is not None:
            led[partition.state.leader].append(partition)
    return led


def _of_all(queues: Iterable[BrokerQueue]) -> Rate | None:
    loads = [Measured(work, load.milliseconds) for queue in queues for load, work in queue.loads if work is not None]
    return rate(loads, own=False)


def _backlog(queue: BrokerQueue) -> TimeRange | None:
    """Return the remaining load of a broker's queue; ``None`` when it loads without an estimate."""
    waiting = [one for one in (queue.loading, *queue.queued) if one is not None and one.state in WAITING]
    if not waiting:
        return TimeRange(0, 0, 0)
    foretold = [span for span, _ in ends(queue).values()]
    if queue.log is None or queue.log.ends is None or any(span is None or span.mid is None for span in foretold):
        return None
    now = queue.log.ends
    last = max(foretold, key=lambda span: span.mid)
    high = None if last.high is None else max(0, last.high - now)
    return TimeRange(max(0, last.low - now), max(0, last.mid - now), high)
