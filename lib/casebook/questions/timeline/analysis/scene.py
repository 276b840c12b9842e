"""Lookup of windows, chains and roots: all rows in order, by kind, broker and partition."""

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
"""Milliseconds by which an effect may seem to precede its cause, the error of clocks."""
QUIET = 5_000
"""Milliseconds by which logs of one collection may end before other evidence."""


class Rows:
    """Dated rows in order."""

    def __init__(self, rows: Sequence[EventRow]) -> None:
        self.rows = rows
        self._times = [row.at for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def between(self, since: int | None, until: int | None) -> Sequence[EventRow]:
        """Return rows in a period, both ends included; an open end is ``None``."""
        first = 0 if since is None else bisect_left(self._times, since)
        return self.rows[first : len(self.rows) if until is None else bisect_right(self._times, until)]

    def before(self, at: int) -> EventRow | None:
        """Return the last row up to a moment."""
        place = bisect_right(self._times, at)
        return self.rows[place - 1] if place else None

    def after(self, at: int) -> EventRow | None:
        """Return the first row after a moment."""
        place = bisect_right(self._times, at)
        return self.rows[place] if place < len(self.rows) else None

    def pauses(self, least: int) -> int:
        """Return the number of gaps of at least so many milliseconds."""
        return len(self._pauses) - bisect_left(self._pauses, least)

    @cached_property
    def _pauses(self) -> Sequence[int]:
        return sorted(after - before for before, after in pairwise(self._times))


_NONE = Rows(())


class _FirstLife(NamedTuple):
    """First process in a broker's log: whether its start is included, and its sessions."""

    started: bool
    sessions: frozenset[str]


@dataclass(kw_only=True)
class TimelineInputs:
    """Inputs of all conclusions.

    Args:
        reference: Owner of the reference clock; ``""`` when each log keeps its own.
        rows: Rows by the reference clock; undated ones last.
        states: States of each partition, in order.
        registered: Registrations of each broker, in order.
        renewals: Cluster replacements, in order.
        lives: Processes of each broker with logs, in order.
        timezone: Zone the logs were read with: ``UTC, 2=Asia/Shanghai``.
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
        """Whether registrations are from ZooKeeper's own files: a broker outside of them was not registered."""
        return self.past.first is not None and self.registered is self.past.registered

    @cached_property
    def brokers(self) -> frozenset[int]:
        """Brokers in ZooKeeper, now or in the past."""
        return frozenset({*self.registered, *coverage.known_brokers(self.cluster)})

    @cached_property
    def settings(self) -> Settings:
        """Effective settings at the time of collection."""
        return Settings(self.cluster, self.version.version)

    def setting(self, key: str, *, topic: str, broker: int | None, at: int) -> Setting:
        """Return the effective value at a moment: a topic's override from the history; everything else as at the end."""
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
        """Return all rows of a kind."""
        return self._by_kind.get(name, _NONE)

    def kinds(self, names: Iterable[str], since: int | None = None, until: int | None = None) -> Iterator[EventRow]:
        """Yield rows of several kinds, in order: lines of the same millisecond in log order."""
        return merge(*(self.kind(name).between(since, until) for name in names), key=in_order)

    def of_broker(self, broker: int) -> Rows:
        """Return a broker's own lines."""
        return self._by_broker.get(broker, _NONE)

    def of_partition(self, key: Key) -> Rows:
        """Return the rows of a partition in logs and history."""
        return self._by_partition.get(key, _NONE)

    @cached_property
    def of_history(self) -> Rows:
        """Return ZooKeeper's own writes."""
        return Rows([row for row in self.rows if row.source == "history"])

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """First and last moment of all evidence; ``None`` without dates."""
        dated = [row.at for row in self.rows[:1] if row.at is not None]
        dated += [row.at for row in reversed(self.rows) if row.at is not None][:1]
        dated += [time for time in (self.past.first, self.past.last and self.past.last[0]) if time is not None]
        return (min(dated), max(dated)) if dated else None

    def life(self, broker: int, at: int) -> Span | None:
        """Return the process of a broker at a moment, or the last one before.

        Its log may start later, in the middle of that process's life.
        """
        found = [life for life in self.lives.get(broker, ()) if life.opened is not None and life.opened <= at]
        if found:
            return found[-1]
        return self.lives[broker][0] if self._ran_before_its_log(broker, at) else None

    def registered_after(self, broker: int, at: int) -> int | None:
        """Return when a broker registered next after a moment; ``None`` if it did not."""
        return next((span.opened for span in self.registered.get(broker, ()) if span.opened and span.opened > at), None)

    def log_reaches(self, broker: int, at: int) -> bool | None:
        """Return whether a broker's log reaches to a moment, as far as its clock is known; ``None`` without a log."""
        life = self._last_life(broker)
        return None if life is None else life.closed >= at - (self.uncertainty(broker) or 0) - SLACK

    def came_back(self, life: Span, at: int) -> bool:
        """Return whether a process registered again after a moment.

        Rule: it did when its log reaches to the next registration and names no later start.
        """
        back = self.registered_after(life.broker, at)
        return back is not None and life == self._last_life(life.broker) and self.log_reaches(life.broker, back) is True

    def place(self, window: Window) -> tuple[str, int, int]:
        """Return the key of a window's partition, including its cluster: equal names in another cluster are different."""
        return window.topic, window.partition, self.era(window.closed if window.opened is None else window.opened)

    def served_former(self, broker: int, at: int) -> bool:
        """Return whether a broker's process at a moment served a replaced cluster."""
        life = self.life(broker, at) if self.renewals and at < self.renewals[-1].since else None
        told = self.kind("cluster_id").between(life.opened, life.closed) if life is not None else ()
        return any(row.broker == broker and row.fields["cluster"] != self.renewals[-1].cluster for row in told)

    def tells_start(self, life: Span) -> bool:
        """Return whether the log includes the start of a process.

        Its first line of a known kind, after its preamble, is a start.
        """
        return _first_kind(self.of_broker(life.broker).between(life.opened, life.closed)) == "broker_starting"

    def begins_with_start(self, broker: int) -> bool | None:
        """Return whether a broker's log begins with the start of a process; ``None`` without a line of a known kind."""
        return self._first_lives[broker].started if broker in self._first_lives else None

    def ends_early(self, broker: int) -> bool:
        """Return whether a broker's log ends before other evidence, without a shutdown: it may continue elsewhere."""
        life = self._last_life(broker)
        return life is not None and not life.name and life.closed < self.span[1] - QUIET

    @property
    def former_until(self) -> int | None:
        """Return until when all logs are certainly of replaced clusters; ``None`` for a single cluster."""
        return self.renewals[-1].earliest if self.renewals else None

    def era(self, at: int | None) -> int:
        """Return the number of the cluster at a moment, from 0 on."""
        return sum(at is not None and one.since <= at for one in self.renewals)

    @cached_property
    def _first_lives(self) -> Mapping[int, _FirstLife]:
        found = {}
        for broker, spans in self.lives.items():
            rows = self.of_broker(broker).between(spans[0].opened, spans[0].closed)
            started = _first_kind(rows) in ("broker_starting", None)
            started |= any(row.kind == "broker_started" for row in rows)  # printed once: the log begins with a start
            found[broker] = _FirstLife(started, frozenset(_plain(row.fields.get("session", "")) for row in rows) - {""})
        return found

    def _last_life(self, broker: int) -> Span | None:
        return next(reversed(self.lives.get(broker, ())), None)

    def _ran_before_its_log(self, broker: int, at: int) -> bool:
        """Return whether the first process in a log ran at an earlier moment.

        Rule: it did when it names the session of that time; or when its log has no start, and the broker did not register again
        in between, as another process would have.
        """
        if self.begins_with_start(broker) is not False:
            return False
        if self.speaks_of_its_session(broker, at):
            return True
        first, spans = self.lives[broker][0], self.registered.get(broker, ())
        return not any(span.opened is not None and at < span.opened < first.opened - SLACK for span in spans)

    def speaks_of_its_session(self, broker: int, at: int) -> bool:
        """Return whether the first process in a broker's log names its session at a moment."""
        spans = self.registered.get(broker, ())
        held = next((span.name for span in reversed(spans) if span.opened is None or span.opened <= at), "")
        return broker in self._first_lives and _plain(held) in self._first_lives[broker].sessions

    def uncertainty(self, broker: int) -> int | None:
        """Return the error of times in a broker's lines, milliseconds.

        ``None`` when its clock is unknown, or not always known.
        """
        clock = next((clock for clock in self.clocks if clock.broker == broker), None)
        known = (None,) if clock is None else (clock.uncertainty, *(step.uncertainty for step in clock.steps))
        return None if None in known else max(known)

    def is_registered(self, broker: int, at: int) -> bool | None:
        """Return whether a broker's znode existed; ``None`` when unknown."""
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
    """Return the kind of a process's first line after its preamble."""
    return next((row.kind for row in rows if row.kind not in PREAMBLE), None)


def _plain(session: str) -> str:
    return session.lower().removeprefix("0x")


def _grouped(rows: Iterable[EventRow], key: Callable[[EventRow], object]) -> dict[object, Rows]:
    groups: dict[object, list[EventRow]] = defaultdict(list)
    for row in rows:
        if row.at is not None and (name := key(row)) is not None:
            groups[name].append(row)
    return {name: Rows(found) for name, found in groups.items()}
