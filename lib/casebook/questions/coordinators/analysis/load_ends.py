"""Predicted end of each load in a broker's queue, and its basis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from casebook.findings.words import plural
from casebook.kafka.load_rate import Measured, Rate, TimeRange, rate
from casebook.kafka.load_work import Work
from casebook.questions.coordinators.analysis.load_queue import Load, Queue
from casebook.questions.coordinators.analysis.states import CoordinatorState, JudgedPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerQueue:
    """A broker's load queue with partition sizes.

    Args:
        broker: Broker id.
        log: Content of its logs; ``None`` without logs.
        loads: Finished loads with their work; ``None`` for unknown work.
        loading: Partition being loaded; ``None`` when idle or unknown.
        queued: Waiting partitions, in queue order when ``ordered``, else by number.
        ordered: The order of the queue is known.
        rate: Rate of its own loads, else of other brokers; ``None`` when no broker has finished one.
        coordinates: Number of partitions that it coordinates.
    """

    broker: int
    log: Queue | None
    loads: tuple[tuple[Load, Work | None], ...]
    loading: JudgedPartition | None
    queued: tuple[JudgedPartition, ...]
    ordered: bool
    rate: Rate | None
    coordinates: int


def broker_queues(judged: Sequence[JudgedPartition], queues: Mapping[int, Queue]) -> tuple[BrokerQueue, ...]:
    """Return the load queue of every broker that coordinates something or has logs, by id."""
    sizes = {one.partition: one.work for one in judged}
    of_others = _rate((pair for q in queues.values() for pair in _measured(q, sizes)), own=False)
    brokers = sorted({*queues, *(one.coordinator for one in judged if one.coordinator is not None)})
    return tuple(_queue(b, queues.get(b), [one for one in judged if one.coordinator == b], sizes, of_others) for b in brokers)


def _queue(
    broker: int, log: Queue | None, own: Sequence[JudgedPartition], sizes: Mapping[int, Work | None], of_others: Rate | None
) -> BrokerQueue:
    loads = tuple(_measured(log, sizes)) if log else ()
    ordered = bool(log and log.ordered)
    turn = {partition: at for at, partition in enumerate(log.said)} if ordered else {}
    queued = [one for one in own if one.state is CoordinatorState.QUEUED]
    return BrokerQueue(
        broker=broker,
        log=log,
        loads=loads,
        loading=next((one for one in own if one.state in (CoordinatorState.LOADING, CoordinatorState.LOADING_FOR_EVER)), None),
        queued=tuple(sorted(queued, key=lambda one: (turn.get(one.partition, len(turn)), one.partition))),
        ordered=ordered,
        rate=_rate(loads) or of_others,
        coordinates=len(own),
    )


def _measured(log: Queue, sizes: Mapping[int, Work | None]) -> Iterator[tuple[Load, Work | None]]:
    for load in log.finished:
        work = sizes.get(load.partition)
        yield load, work and work.then(load.start, log.opened.get(load.partition))


def _rate(loads: Iterable[tuple[Load, Work | None]], *, own: bool = True) -> Rate | None:
    return rate([Measured(work, load.milliseconds) for load, work in loads if work is not None], own=own)


def ends(queue: BrokerQueue) -> dict[int, tuple[TimeRange | None, str]]:
    """Return when each waiting partition of a broker is served, and the basis."""
    loading, queued = queue.loading, queue.queued
    if loading is None or queue.log is None or queue.log.ends is None:
        return {one.partition: (None, "the end of the queue's first load is unknown") for one in queued}
    if loading.state is CoordinatorState.LOADING_FOR_EVER:
        behind = {one.partition: (None, f"queued after partition {loading.partition}, whose load never ends") for one in queued}
        return behind | {loading.partition: (None, "a load that never ends")}
    if queue.rate is None:
        why = "no load with a known size has ended on any broker"
        return {one.partition: (None, why) for one in (loading, *queued)}
    head = _end_of_loading(loading, queue.log.ends, queue.rate)
    return {loading.partition: (head, _basis(loading, queue.rate, head))} | _ends_behind(head, queue)


def _end_of_loading(loading: JudgedPartition, ends: int, measured: Rate) -> TimeRange | None:
    if loading.work is None or loading.since is None:
        return None
    took = measured.takes(loading.work, ends - loading.since)
    return TimeRange(loading.since, loading.since, loading.since) + took


def _basis(loading: JudgedPartition, measured: Rate, end: TimeRange | None) -> str:
    if end is None:
        return "the size of its log is unknown"
    law, _ = measured.of(loading.work)
    loads = plural(law.loads, "finished load")
    whose = f"its broker's {loads}" if measured.own else f"{loads} of other brokers"
    if end.mid is None:
        return f"slower than {whose} allow: no estimate"
    by = (
        "segment sizes"
        if law is measured.by_bytes
        else "counted records"
        if loading.work.counted
        else "offsets and segment sizes"
    )
    copy = "" if loading.work.broker == loading.coordinator else f" of broker {loading.work.broker}'s copy"
    return f"{by}{copy}, {whose}"


def _ends_behind(head: TimeRange | None, queue: BrokerQueue) -> dict[int, tuple[TimeRange | None, str]]:
    """Advance a queue in known order step by step; otherwise each partition may be next, or last."""
    first = f"{queue.loading.partition} first"
    if head is None:
        return {one.partition: (None, f"{first}, whose size is unknown") for one in queue.queued}
    takes = {one.partition: queue.rate.takes(one.work) for one in queue.queued if one.work is not None}
    unsized = [str(one.partition) for one in queue.queued if one.work is None]
    order = "in the order of the log" if queue.ordered else "order unknown"
    why = f"{first}, {order}" + (f"; without {', '.join(unsized)} of unknown size" if unsized else "")
    found: dict[int, tuple[TimeRange | None, str]] = {}
    passed, everything = head, sum(takes.values(), head)
    for one in queue.queued:
        if (own := takes.get(one.partition)) is None:
            found[one.partition] = (None, "the size of its log is unknown")
            continue
        passed = passed + own
        found[one.partition] = (passed if queue.ordered else _any_place(head, own, everything), why)
    return found


def _any_place(head: TimeRange, own: TimeRange, everything: TimeRange) -> TimeRange:
    """Combine: next at the earliest, last at the latest, in the middle as a guess."""
    alone = head + own
    mid = None if alone.mid is None or everything.mid is None else (alone.mid + everything.mid) / 2
    return TimeRange(alone.low, mid, everything.high)
