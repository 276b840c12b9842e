"""Selection of a timeline's part: by time, topic, partition, group, broker; with rows and counts.

Figures query :class:`Events`: for few rows, or counts of many. In-memory events are one implementation.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

from casebook.errors import UsageError, did_you_mean
from casebook.facts.cluster import instant
from casebook.facts.events import owner_of
from casebook.kafka.past_rows import EventRow, Window
from casebook.questions.timeline.analysis.timeline import Timeline

_DAY = 86_400_000
_SURELY_HELD = 100_000
"""Maximum number of typed entries that a timeline holds completely; beyond it some kinds may be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A selection; ``None`` for everything.

    Args:
        since: Start, epoch milliseconds by the reference clock.
        until: End, inclusive.
        topic: Only events of this topic.
        partition: Only events of this partition, of any topic.
        group: Only events of this group.
        broker: Only events in its log, or about it.
    """

    since: int | None = None
    until: int | None = None
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    broker: int | None = None

    @property
    def timed(self) -> bool:
        """Whether a period is selected."""
        return self.since is not None or self.until is not None

    @property
    def everything(self) -> bool:
        """Whether nothing is restricted."""
        return self == Selection()

    @property
    def about(self) -> "Selection":
        """Return the same without a period."""
        return replace(self, since=None, until=None)

    def within(self, at: int | None) -> bool:
        """Return whether a moment is inside; an unknown one is, without a selected period."""
        if at is None:
            return not self.timed
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)

    def overlaps(self, opened: int | None, closed: int | None) -> bool:
        """Return whether a period overlaps; an open end is unlimited."""
        begins_in_time = self.until is None or opened is None or opened <= self.until
        return begins_in_time and (self.since is None or closed is None or closed >= self.since)

    def names(self, topic: str | None, partition: int | None) -> bool:
        """Return whether a partition matches."""
        return self.topic in (None, topic) and self.partition in (None, partition)

    def holds(self, row: EventRow) -> bool:
        """Return whether an event matches."""
        return (
            self.names(row.topic, row.partition)
            and self.group in (None, row.group)
            and self.broker in (None, row.broker)
            and self.within(row.at)
        )

    def window(self, window: Window) -> bool:
        """Return whether a window overlaps."""
        brokers = (None, window.old_leader, window.new_leader)
        return (
            self.names(window.topic, window.partition) and self.broker in brokers and self.overlaps(window.opened, window.closed)
        )

    def parameters(self) -> Mapping[str, str]:
        """Return the equivalent notebook parameters: a partition with its topic, a whole second as that second."""
        numbered = "" if self.partition is None else f"-{self.partition}"
        said = {
            "since": instant(self.since),
            "until": _end(self.until),
            "topic": None if self.topic is None else f"{self.topic}{numbered}",
            "group": self.group,
            "broker": None if self.broker is None else str(self.broker),
        }
        return {name: value for name, value in said.items() if value is not None}


def _end(until: int | None) -> str | None:
    """Format for :func:`parse`: a second without a fraction includes all of it."""
    said = instant(until)
    return said.replace(".999Z", "Z") if said else None


class Count(NamedTuple):
    """Number of events of one kind in one log, within a time bin.

    Args:
        start: Start of the bin, epoch milliseconds.
        count: Number of events.
    """

    source: str
    broker: int | None
    kind: str
    start: int
    count: int


class Events(Protocol):
    """Events, possibly more than fit in memory."""

    @property
    def total(self) -> int:
        """Total number."""

    @property
    def extent(self) -> tuple[int, int] | None:
        """First and last moment; ``None`` without dated events."""

    def rows(self, chosen: Selection, most: int) -> tuple[Sequence[EventRow], int]:
        """Return the first matching events, by time, and their total."""

    def counts(self, chosen: Selection, since: int, until: int, bins: int) -> Sequence[Count]:
        """Return the number of matching events in equal bins of a period."""


class HeldEvents:
    """Events in memory.

    Args:
        rows: Ordered by ``at``; undated ones last.
    """

    def __init__(self, rows: Sequence[EventRow]) -> None:
        self._rows = rows
        self._counted: dict[tuple[Selection, int, int, int], Sequence[Count]] = {}

    @property
    def total(self) -> int:
        """Total number."""
        return len(self._rows)

    @cached_property
    def _times(self) -> list[int]:
        return [row.at for row in self._rows if row.at is not None]

    @property
    def extent(self) -> tuple[int, int] | None:
        """First and last moment."""
        return (self._times[0], self._times[-1]) if self._times else None

    def rows(self, chosen: Selection, most: int) -> tuple[Sequence[EventRow], int]:
        """Return the first matching events, and their total."""
        inside = self._inside(chosen)
        if chosen.about.everything:
            return [self._rows[n] for n in islice(inside, most)], len(inside)
        found = [row for n in inside if chosen.holds(row := self._rows[n])]
        return found[:most], len(found)

    def counts(self, chosen: Selection, since: int, until: int, bins: int) -> Sequence[Count]:
        """Return the number of matching events in equal bins, without empty ones. The last result is cached for zooming."""
        asked = (chosen, since, until, bins)
        if asked not in self._counted:
            self._counted = {asked: self._count(*asked)}
        return self._counted[asked]

    def _count(self, chosen: Selection, since: int, until: int, bins: int) -> Sequence[Count]:
        width = max(1, -(-(until - since) // bins))
        narrowed = replace(chosen, since=since, until=until)
        every = chosen.about.everything
        inside = (self._rows[n] for n in self._inside(narrowed))
        found = Counter(
            (row.source, row.broker, row.kind, since + (row.at - since) // width * width)
            for row in inside
            if every or narrowed.holds(row)
        )
        return [Count(*key, count) for key, count in found.items()]

    def _inside(self, chosen: Selection) -> range:
        """Return the row numbers within the period."""
        if not chosen.timed:
            return range(len(self._rows))
        first = 0 if chosen.since is None else bisect_left(self._times, chosen.since)
        last = len(self._times) if chosen.until is None else bisect_right(self._times, chosen.until)
        return range(first, max(first, last))


def parse(
    found: Timeline, *, since: str = "", until: str = "", topic: str = "", partition: str = "", group: str = "", broker: str = ""
) -> Selection:
    """Parse typed values, or a notebook's parameters; ``""`` for everything.

    Args:
        since: ISO-8601, or a time on the day when the incident started.
        until: The same.
        topic: A topic, or one of its partitions, ``orders-3``.
        partition: Partition number, unless part of ``topic``.

    Raises:
        UsageError: A value is invalid, or not in the evidence; the message says which.
    """
    day = _first_day(found)
    named, number = _subject(found, topic.strip())
    chosen = Selection(
        since=_moment("since", since, day, end=False),
        until=_moment("until", until, day, end=True),
        topic=named,
        partition=_number("partition", partition) if number is None else number,
        group=group or None,
        broker=_number("broker", broker),
    )
    if chosen.since is not None and chosen.until is not None and chosen.since > chosen.until:
        raise UsageError(f"since={since} is later than until={until}.")
    _refuse_unknown(found, chosen)
    _refuse_uncovered(found, chosen)
    return chosen


def _refuse_unknown(found: Timeline, chosen: Selection) -> None:
    """Refuse unknown names: an empty result would look healthy."""
    whole = sum(file.typed for file in found.files) <= _SURELY_HELD
    if whole and (chosen.topic is not None or chosen.partition is not None):
        _refuse_partition(set(_partitions(found)), chosen)
    if whole and chosen.group is not None:
        _refuse("group", chosen.group, {row.group for row in found.rows})
    if chosen.broker is not None:
        _refuse("broker", str(chosen.broker), {str(broker) for broker in _brokers(found) if broker is not None})


def _refuse_partition(known: set[tuple[str | None, int | None]], chosen: Selection) -> None:
    named, number = chosen.topic, chosen.partition
    if named is not None:
        _refuse("topic", named if number is None else f"{named}-{number}", {topic for topic, _ in known}, known_as=named)
    numbers = sorted({n for topic, n in known if n is not None and named in (None, topic)})
    if number is not None and number not in numbers:
        whose = f"partition={number}" if named is None else f"topic={named}-{number}"
        reach = f"It names partitions {numbers[0]} to {numbers[-1]}." if numbers else "It names no partition."
        raise UsageError(f"{whose} is not in the evidence.", try_=reach if named is None else f"{reach[:-1]} of {named}.")


def _refuse(name: str, said: str, known: set[str | None], *, known_as: str | None = None) -> None:
    """Refuse a name outside the known ones.

    Args:
        known_as: The name, if it differs from the typed text.
    """
    if (known_as or said) not in known:
        names = known - {None}
        hint = did_you_mean(known_as or said, names) if names else f"It names no {name} at all."
        raise UsageError(f"{name}={said} is not in the evidence.", try_=hint)


def _partitions(found: Timeline) -> Iterator[tuple[str | None, int | None]]:
    """Yield topic and partition of everything with one; some topics have no known partition."""
    yield from ((row.topic, row.partition) for row in found.rows)
    yield from ((row.topic, row.partition) for row in found.partition_history)
    yield from ((window.topic, window.partition) for window in found.windows)
    yield from ((partition.topic, partition.partition) for partition in found.cluster.partitions)
    yield from ((topic, None) for topic in found.cluster.topics)


def _brokers(found: Timeline) -> Iterator[int | None]:
    """Yield all named brokers, with repetitions."""
    yield from (one.broker for many in (found.rows, found.files, found.spans) for one in many)
    yield from found.cluster.brokers
    for window in found.windows:
        yield from (window.old_leader, window.new_leader)
    for state in found.partition_history:
        yield from (state.leader, *(state.isr or ()))
    for partition in found.cluster.partitions:
        yield from partition.replicas
        yield from partition.state.isr if partition.state else ()


def _refuse_uncovered(found: Timeline, chosen: Selection) -> None:
    moments = list(_moments(found)) if chosen.timed else []
    if not moments:
        return
    first, last = min(moments), max(moments)
    if not chosen.overlaps(first, last):
        said = " ".join(f"{name}={value}" for name, value in chosen.parameters().items() if name in ("since", "until"))
        raise UsageError(f"{said} is outside the evidence, which reaches from {instant(first)} to {instant(last)}.")


def _moments(found: Timeline) -> Iterator[int]:
    """Yield all moments by the reference clock: coverage of logs, and everything else with a date."""
    clocks = {clock.owner: clock for clock in found.clocks}
    for file in found.files:
        clock = clocks.get(owner_of(file.broker, file.file))
        if clock is None or not clock.steps:  # lines of a clock with steps count themselves
            skew = clock.skew or 0 if clock else 0
            yield from (end - skew for end in (file.first, file.last) if end is not None)
    yield from (row.at for row in found.rows if row.at is not None)
    yield from (row.time for row in found.partition_history)
    yield from (end for window in found.windows for end in (window.opened, window.closed) if end is not None)


def focus(found: Timeline) -> tuple[int, int] | None:
    """Return the period of the first chain, with a margin; that of all events without a chain."""
    times = [row.at for row in found.rows if row.at is not None]
    chain = next((c for c in found.chains if c.opened is not None and c.closed is not None), None)
    if chain is None:
        return _margin(times[0], times[-1]) if times else None
    windows = [w for w in found.windows if w.opened is not None and chain.opened <= w.opened <= chain.closed]
    sentences = [s.at for s in found.story if s.at is not None and s.chain == found.chains.index(chain)]
    ends = [chain.closed, *sentences, *(w.closed for w in windows if w.closed is not None and w.kind == "two_leaders")]
    return _margin(min(chain.opened, *sentences) if sentences else chain.opened, max(ends))


def _margin(first: int, last: int) -> tuple[int, int]:
    """Add a tenth before and a third after, where labels of the next leaders need room; at least half a second."""
    return first - max(500, (last - first) // 10), last + max(500, (last - first) * 7 // 20)


def _first_day(found: Timeline) -> int | None:
    around = focus(found)
    return None if around is None else around[0] // _DAY * _DAY


def _moment(name: str, text: str, day: int | None, *, end: bool) -> int | None:
    """Return epoch milliseconds; a second given as an end includes all of it."""
    text = text.strip()
    if not text:
        return None
    whole = 999 if end and "." not in text and "," not in text else 0
    try:
        return _of_day(text, day) + whole
    except (ValueError, OverflowError):
        raise UsageError(
            f"{name}={text} is not a valid time.",
            try_="Write it as 2019-10-12T11:03:42Z, or as 11:03:42.5 for the day of the incident.",
        ) from None


def _of_day(text: str, day: int | None) -> int:
    if "-" not in text and "T" not in text and day is not None:
        clock = datetime.strptime(_to_milliseconds(text), "%H:%M:%S.%f").replace(year=1970, month=1, day=1, tzinfo=UTC)
        return day + round(clock.timestamp() * 1000)
    parsed = datetime.fromisoformat(text)
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)


def _to_milliseconds(text: str) -> str:
    """Normalise ``11:03`` and ``11:03:42,5``."""
    clock, _, fraction = text.replace(",", ".").partition(".")
    return f"{clock}{':00' * (2 - clock.count(':'))}.{fraction or '0'}"


def _subject(found: Timeline, name: str) -> tuple[str | None, int | None]:
    """Return topic and partition of a name: a topic itself may be called ``orders-3``."""
    topic, dash, number = name.rpartition("-")
    known = {row.topic for row in found.partition_history} | {row.topic for row in found.rows}
    if name in known or not (dash and topic and number.isdecimal()):
        return name or None, None
    return topic, int(number)


def _number(name: str, text: str) -> int | None:
    try:
        return int(text) if text.strip() else None
    except ValueError:
        raise UsageError(f"{name}={text} is not a number.") from None
