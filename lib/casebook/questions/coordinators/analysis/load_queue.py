"""A broker's load queue from its log: one thread loads its offsets partitions one after another.

``KafkaScheduler(threads = 1)`` in ``GroupMetadataManager.scala@0.9.0.1..3.9.0``. Up to 0.10.2 the log names a partition when its
load starts, and the queue's order is unknown; from 0.11 on it names it when queued, in queue order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.events import Event, LogFile
from casebook.kafka.load_work import Opened


class LoadStep(StrEnum):
    """Progress of a partition's load."""

    QUEUED = "queued"
    LOADING = "loading"
    SERVED = "served"
    FAILED = "failed"
    ENDED = "ended"
    MOVED = "moved"


class Said(NamedTuple):
    """Last line of a broker's log on a partition.

    Args:
        partition: Partition of ``__consumer_offsets``.
        step: Progress.
        since: Epoch ms by the broker's clock.
        proof: ``path:line``.
        text: The line.
    """

    partition: int
    step: LoadStep
    since: int
    proof: str
    text: str


class Load(NamedTuple):
    """A finished load.

    Args:
        partition: Partition of ``__consumer_offsets``.
        start: When the thread started it, epoch ms.
        end: When it ended.
        milliseconds: Time that the thread spent on it, without the wait for it.
        proof: ``path:line``.
    """

    partition: int
    start: int
    end: int
    milliseconds: int
    proof: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """State of a broker's queue at the end of its logs.

    Args:
        broker: Broker id.
        begins: Time of the first line; ``None`` when no log was read.
        last: Time of the last line, including shared files.
        ends: Until when they are valid: the end of the evidence, or ``last`` when older than :data:`FRESH`.
        born: Start of the process; ``None`` when its logs start later.
        stopped: It logged its shutdown.
        said: Last line by partition, since the process started, in line order.
        opened: Log of each partition when the process opened it, as far as logged.
        finished: Loads since then, in order of their end.
        ordered: The log has the load order.
    """

    broker: int
    begins: int | None = None
    last: int | None = None
    ends: int | None = None
    born: int | None = None
    stopped: bool = False
    said: Mapping[int, Said] = field(default_factory=dict)
    opened: Mapping[int, Opened] = field(default_factory=dict)
    finished: tuple[Load, ...] = ()
    ordered: bool = False

    @property
    def loading(self) -> Said | None:
        """The thread's current load; ``None`` when idle or unknown."""
        return next((said for said in self.said.values() if said.step is LoadStep.LOADING), None)


FRESH = 600_000
"""A log counts as current when its last line is at most this many ms older than the evidence: a loading broker may be silent for
so long."""

_STEPS = {
    "load_scheduled": LoadStep.QUEUED,
    "loading": LoadStep.LOADING,
    "loaded": LoadStep.SERVED,
    "load_failed": LoadStep.FAILED,
    "unloaded": LoadStep.MOVED,
}

KINDS = frozenset(_STEPS) | {"broker_starting", "broker_started", "broker_stopped", "log_loaded"}
"""Kinds of events about the queue."""


def queues(events: Iterable[Event], files: Sequence[LogFile] = (), until: int | None = None) -> dict[int, Queue]:
    """Return the queue of every broker with logs, by id.

    Args:
        events: Events of brokers' logs.
        files: Coverage of those logs.
        until: End of the evidence, epoch ms.
    """
    covered: dict[int, list[LogFile]] = {}
    for file in files:
        if file.broker is not None and file.last is not None:
            covered.setdefault(file.broker, []).append(file)
    told: dict[int, list[Event]] = {broker: [] for broker in covered}
    for event in events:
        if event.broker is not None and event.time is not None:
            told.setdefault(event.broker, []).append(event)
    for file in (file for file in files if file.broker is None and file.last is not None):
        for broker in told.keys() & dict(file.speakers).keys():
            covered.setdefault(broker, []).append(file)
    return {
        broker: _replay(broker, sorted(found, key=lambda e: e.time), covered.get(broker, ()), until)
        for broker, found in sorted(told.items())
    }


def _replay(broker: int, events: list[Event], covered: Sequence[LogFile], until: int | None) -> Queue:
    life = _last_life(events)
    said: dict[int, Said] = {}
    opened: dict[int, Opened] = {}
    finished: list[Load] = []
    for event in life:
        if event.partition is None or event.topic != OFFSETS_TOPIC:
            continue
        if event.kind == "log_loaded" and (end := event.number("offset")) is not None:
            opened[event.partition] = Opened(event.time, end)
        if event.kind not in _STEPS:
            continue
        if event.kind == "loaded":
            finished.append(_load(event))
        _say(said, event)
    born = life[0].time if life and life[0].kind == "broker_starting" else None
    last = max((file.last for file in covered), default=None)
    return Queue(
        broker=broker,
        begins=min((file.first for file in covered), default=None),
        last=last,
        ends=_reach(last, until),
        born=born,
        stopped=bool(life) and life[-1].kind == "broker_stopped",
        said=_with_head(said, finished),
        opened=opened,
        finished=tuple(finished),
        ordered=any(event.kind == "load_scheduled" for event in life),
    )


def _reach(last: int | None, until: int | None) -> int | None:
    return until if last is not None and until is not None and 0 <= until - last <= FRESH else last


def _last_life(events: list[Event]) -> list[Event]:
    """Return the events of the last process: a starting broker has no groups in memory."""
    starts = [at for at, event in enumerate(events) if event.kind == "broker_starting"]
    return events[starts[-1] :] if starts else events


def _say(said: dict[int, Said], event: Event) -> None:
    partition, step = event.partition, _STEPS[event.kind]
    before = said.get(partition)
    if step is LoadStep.SERVED and before is not None and before.step is LoadStep.FAILED:
        return  # "found no log" is followed by "Finished loading" (GroupMetadataManager.scala@0.11.0.2)
    for other in _ended(said, event, step):
        said[other] = said[other]._replace(step=LoadStep.ENDED)
    said.pop(partition, None)  # the dictionary is in line order
    said[partition] = Said(partition, step, event.time, event.proof, event.summary)


_PARALLEL = ("Loading offsets from", "Scheduling loading of metadata", "Finished loading of metadata", "Failed to load metadata")
"""0.8.2, and the new coordinator of 3.6 and later, load with several threads."""


def _ended(said: Mapping[int, Said], event: Event, step: LoadStep) -> list[int]:
    """Return partitions with a finished load, as the single thread works on another: the lines of their end are missing.

    A starting load implies the end of the previous one; an ending load, of those queued before it.
    """
    if event.text.startswith(_PARALLEL):
        return []
    others = [one for one in said.values() if one.partition != event.partition]
    if step is LoadStep.LOADING:
        return [one.partition for one in others if one.step is LoadStep.LOADING]
    own = said.get(event.partition)
    if step not in (LoadStep.SERVED, LoadStep.FAILED) or own is None or own.step is not LoadStep.QUEUED:
        return []
    before = list(said)[: list(said).index(event.partition)]
    return [partition for partition in before if said[partition].step is LoadStep.QUEUED]


def _with_head(said: dict[int, Said], finished: list[Load]) -> dict[int, Said]:
    """Mark the first queued partition as loading (0.11 and later), as the thread is free."""
    queued = [one for one in said.values() if one.step is LoadStep.QUEUED]
    if not queued or any(one.step is LoadStep.LOADING for one in said.values()):
        return said
    head = min(queued, key=lambda one: one.since)
    since = max([head.since, *(load.end for load in finished[-1:])])
    return said | {head.partition: head._replace(step=LoadStep.LOADING, since=since)}


def _load(event: Event) -> Load:
    spent = max(0, (event.number("ms") or 0) - (event.number("scheduler") or 0))
    return Load(event.partition, event.time - spent, event.time, spent, event.proof)
