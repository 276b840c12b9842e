"""What windows, chains and roots look things up in: all rows in order, by kind, broker and partition."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import merge
from itertools import pairwise
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.facts.events import LogFile
from casebook.findings import coverage
from casebook.kafka.past import Key, Past
from casebook.kafka.past_rows import Clock, EventRow, Span, StateRow, Window
from casebook.kafka.releases import VersionInUse
from casebook.kafka.settings import TOPIC, UNREADABLE, Setting, Settings
from casebook.questions.timeline.analysis.clusters import Renewal
from casebook.questions.timeline.analysis.lives import PREAMBLE
from casebook.questions.timeline.analysis.merge import in_order

SLACK = 250
"""Milliseconds by which an effect may seem to come before its cause: clocks are not known better."""
QUIET = 5_000
"""Milliseconds by which logs of one collection may end before other evidence of it."""


class Rows:
    """Dated rows in order."""

    def __init__(self, rows: Sequence[EventRow]) -> None:
        self.rows = rows
        self._times = [row.at for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def between(self, since: int | None, until: int | None) -> Sequence[EventRow]:
        """Those of that time, both ends included; an open end is ``None``."""
        first = 0 if since is None else bisect_left(self._times, since)
        return self.rows[first : len(self.rows) if until is None else bisect_right(self._times, until)]

    def before(self, at: int) -> EventRow | None:
        """The last one that is not later."""
        place = bisect_right(self._times, at)
        return self.rows[place - 1] if place else None

    def after(self, at: int) -> EventRow | None:
        """The first one that is later."""
        place = bisect_right(self._times, at)
        return self.rows[place] if place < len(self.rows) else None

    def pauses(self, least: int) -> int:
        """How often so many milliseconds or more lie between a row and the next."""
        return len(self._pauses) - bisect_left(self._pauses, least)

    @cached_property
    def _pauses(self) -> Sequence[int]:
        return sorted(after - before for before, after in pairwise(self._times))


_NONE = Rows(())


class _FirstLife(NamedTuple):
    """Of the process with which a broker's log begins: whether the log tells its start, and the sessions that it speaks of."""

    started: bool
    sessions: frozenset[str]


@dataclass(kw_only=True)
class TimelineInputs:
    """What is known before anything is concluded.

    Args:
        reference: Whose clock orders all; ``""`` when each log keeps its own.
        rows: By the reference clock; undated ones last.
        states: Of each partition, in order.
        registered: Of each broker, in order.
        renewals: Where a cluster was replaced by another, in order.
        lives: Of each broker with logs: its processes, in order.
        timezone: As the logs were read with it: ``UTC, 2=Asia/Shanghai``.
    """

    cluster: Cluster
    version: VersionInUse
    reference: str
    past: Past
    clocks: tuple[Clock, ...]
    rows: tuple[EventRow, ...]
    states: Mapping[Key, Sequence[StateRow]]
    registered: Mapping[int, Sequence[Span]]
    renewals: Sequence[Renewal]
    files: tuple[LogFile, ...]
    lives: Mapping[int, Sequence[Span]] = field(default_factory=dict)
    timezone: str = "UTC"

    @property
    def by_history(self) -> bool:
        """Whether registrations are those of ZooKeeper's own files: who is in none was not registered at such a moment."""
        return self.past.first is not None and self.registered is self.past.registered

    @cached_property
    def brokers(self) -> frozenset[int]:
        """Those that ZooKeeper tells of, now or in the past."""
        return frozenset({*self.registered, *coverage.known_brokers(self.cluster)})

    @cached_property
    def settings(self) -> Settings:
        """Effective settings, as they were when the evidence was collected."""
        return Settings(self.cluster, self.version.version)

    def setting(self, key: str, *, topic: str, broker: int | None, at: int) -> Setting:
        """The value that counted at a moment: a topic's override as the history has it then; all else as it was at the end."""
        known = [one for one in self.past.overrides.get(topic, ()) if one.time <= at]
        if not known:
            return self.settings.effective(key, topic=topic, broker=broker)
        if known[-1].config is None:
            return Setting(None, UNREADABLE)
        override = known[-1].config.get(key)
        return self.settings.of_broker(key, broker) if override is None else Setting(override, TOPIC)

    @cached_property
    def _by_kind(self) -> dict[str, Rows]:
        return _grouped(self.rows, lambda row: row.kind)

    @cached_property
    def _by_broker(self) -> dict[int, Rows]:
        return _grouped(self.rows, lambda row: row.broker if row.source == "broker" else None)

    @cached_property
    def _by_partition(self) -> dict[Key, Rows]:
        return _grouped(self.rows, lambda row: (row.topic, row.partition) if row.partition is not None else None)

    def kind(self, name: str) -> Rows:
        """All of a kind."""
        return self._by_kind.get(name, _NONE)

    def kinds(self, names: Iterable[str], since: int | None = None, until: int | None = None) -> Iterator[EventRow]:
        """Of several kinds, in order: lines of the same millisecond stand as their log has them."""
        return merge(*(self.kind(name).between(since, until) for name in names), key=in_order)

    def of_broker(self, broker: int) -> Rows:
        """What its own logs say."""
        return self._by_broker.get(broker, _NONE)

    def of_partition(self, key: Key) -> Rows:
        """What all logs and the history say of a partition."""
        return self._by_partition.get(key, _NONE)

    @cached_property
    def of_history(self) -> Rows:
        """What ZooKeeper wrote."""
        return Rows([row for row in self.rows if row.source == "history"])

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """First and last moment that any of the evidence tells of; ``None`` when none is dated."""
        dated = [row.at for row in self.rows[:1] if row.at is not None]
        dated += [row.at for row in reversed(self.rows) if row.at is not None][:1]
        dated += [time for time in (self.past.first, self.past.last and self.past.last[0]) if time is not None]
        return (min(dated), max(dated)) if dated else None

    def life(self, broker: int, at: int) -> Span | None:
        """The process that a broker ran at a moment, or that last ran before it.

        Its log may begin later than the moment, in the middle of that process's life.
        """
        found = [life for life in self.lives.get(broker, ()) if life.opened is not None and life.opened <= at]
        if found:
            return found[-1]
        return self.lives[broker][0] if self._ran_before_its_log(broker, at) else None

    def place(self, window: Window) -> tuple[str, int, int]:
        """Whose a window is: a partition of another cluster is another one, though it bears the same name."""
        return window.topic, window.partition, self.era(window.closed if window.opened is None else window.opened)

    def served_former(self, broker: int, at: int) -> bool:
        """Whether a broker's process of a moment said that it serves a cluster that another has replaced since."""
        life = self.life(broker, at) if self.renewals and at < self.renewals[-1].since else None
        told = self.kind("cluster_id").between(life.opened, life.closed) if life is not None else ()
        return any(row.broker == broker and row.fields["cluster"] != self.renewals[-1].cluster for row in told)

    def tells_start(self, life: Span) -> bool:
        """Whether the log tells that a process started: its first line of a known meaning says so, its preamble aside."""
        return _first_kind(self.of_broker(life.broker).between(life.opened, life.closed)) == "broker_starting"

    def begins_with_start(self, broker: int) -> bool | None:
        """Whether a broker's log begins with the start of a process; ``None`` when it has no line of a known meaning."""
        return self._first_lives[broker].started if broker in self._first_lives else None

    def ends_early(self, broker: int) -> bool:
        """Whether a broker's log ends before other evidence does, without a word on the end of its process: it may go on."""
        life = next(reversed(self.lives.get(broker, ())), None)
        return life is not None and not life.name and life.closed < self.span[1] - QUIET

    @property
    def former_until(self) -> int | None:
        """Up to when all that logs tell is surely of clusters that another has replaced; ``None`` where there is one cluster."""
        return self.renewals[-1].earliest if self.renewals else None

    def era(self, at: int | None) -> int:
        """Which of the clusters that followed one another was there at a moment, from 0 on."""
        return sum(at is not None and one.since <= at for one in self.renewals)

    @cached_property
    def _first_lives(self) -> Mapping[int, _FirstLife]:
        found = {}
        for broker, spans in self.lives.items():
            rows = self.of_broker(broker).between(spans[0].opened, spans[0].closed)
            started = _first_kind(rows) in ("broker_starting", None)
            started |= any(row.kind == "broker_started" for row in rows)  # each process says it once: the log begins as it starts
            found[broker] = _FirstLife(started, frozenset(_plain(row.fields.get("session", "")) for row in rows) - {""})
        return found

    def _ran_before_its_log(self, broker: int, at: int) -> bool:
        """Whether the process with which a log begins ran at a moment before it.

        Rule: it did when it speaks of the session of that time; or when it had not started in the log, and the broker had not
        registered anew in between, as another process would have.
        """
        if self.begins_with_start(broker) is not False:
            return False
        if self.speaks_of_its_session(broker, at):
            return True
        first, spans = self.lives[broker][0], self.registered.get(broker, ())
        return not any(span.opened is not None and at < span.opened < first.opened - SLACK for span in spans)

    def speaks_of_its_session(self, broker: int, at: int) -> bool:
        """Whether the process with which a broker's log begins names the session that the broker held at a moment."""
        spans = self.registered.get(broker, ())
        held = next((span.name for span in reversed(spans) if span.opened is None or span.opened <= at), "")
        return broker in self._first_lives and _plain(held) in self._first_lives[broker].sessions

    def uncertainty(self, broker: int) -> int | None:
        """Milliseconds by which times of a broker's lines may be wrong; ``None`` when its clock is not known, or not always."""
        clock = next((clock for clock in self.clocks if clock.broker == broker), None)
        known = (None,) if clock is None else (clock.uncertainty, *(step.uncertainty for step in clock.steps))
        return None if None in known else max(known)

    def is_registered(self, broker: int, at: int) -> bool | None:
        """Whether a broker's znode was there; ``None`` when nothing tells."""
        spans = self.registered.get(broker, ())
        if any(span._replace(closed=span.lasted).covers(at) for span in spans):
            return True
        if any(span.closed is not None and (span.lasted or 0) <= at < span.closed for span in spans if not self.by_history):
            return None
        if self.by_history and (
            at < self.past.first or any(gap.since < at < gap.until and not gap.registered for gap in self.past.breaks)
        ):
            return None
        told = self.by_history or any(span.opened is None or span.opened <= at for span in spans)
        return False if told else None


def _first_kind(rows: Sequence[EventRow]) -> str | None:
    """What a process says first, its preamble aside."""
    return next((row.kind for row in rows if row.kind not in PREAMBLE), None)


def _plain(session: str) -> str:
    return session.lower().removeprefix("0x")


def _grouped(rows: Iterable[EventRow], key: Callable[[EventRow], object]) -> dict[object, Rows]:
    groups: dict[object, list[EventRow]] = defaultdict(list)
    for row in rows:
        if row.at is not None and (name := key(row)) is not None:
            groups[name].append(row)
    return {name: Rows(found) for name, found in groups.items()}
