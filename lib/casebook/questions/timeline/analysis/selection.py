"""A part of a timeline: a stretch of time, a topic, a partition, a group, a broker; what of it is inside, and how much.

Whoever draws asks :class:`Events`: rows where there are few, counts where there are many. That they lie in memory is one way
to answer.
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
"""Up to so many typed entries, a timeline holds all of them; of more it may do without some kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is looked at; ``None`` for everything.

    Args:
        since: From here, epoch milliseconds by the reference clock.
        until: Up to here, inclusive.
        topic: Only what is about it.
        partition: Only what is about this one, of any topic.
        group: Only what is about it.
        broker: Only what stands in its log, or is about it.
    """

    since: int | None = None
    until: int | None = None
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    broker: int | None = None

    @property
    def timed(self) -> bool:
        """Whether a stretch of time was chosen."""
        return self.since is not None or self.until is not None

    @property
    def everything(self) -> bool:
        """Whether nothing was chosen."""
        return self == Selection()

    @property
    def about(self) -> "Selection":
        """The same, at any time."""
        return replace(self, since=None, until=None)

    def within(self, at: int | None) -> bool:
        """Whether a moment is inside; one that is unknown is, where no time was chosen."""
        if at is None:
            return not self.timed
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)

    def overlaps(self, opened: int | None, closed: int | None) -> bool:
        """Whether something that lasted is inside in part; an open end reaches as far as one likes."""
        begins_in_time = self.until is None or opened is None or opened <= self.until
        return begins_in_time and (self.since is None or closed is None or closed >= self.since)

    def names(self, topic: str | None, partition: int | None) -> bool:
        """Whether a partition is meant."""
        return self.topic in (None, topic) and self.partition in (None, partition)

    def holds(self, row: EventRow) -> bool:
        """Whether an event is inside."""
        return (
            self.names(row.topic, row.partition)
            and self.group in (None, row.group)
            and self.broker in (None, row.broker)
            and self.within(row.at)
        )

    def window(self, window: Window) -> bool:
        """Whether a window is inside in part."""
        brokers = (None, window.old_leader, window.new_leader)
        return (
            self.names(window.topic, window.partition) and self.broker in brokers and self.overlaps(window.opened, window.closed)
        )

    def parameters(self) -> Mapping[str, str]:
        """As a notebook's parameters say it: a partition is named with its topic, a whole second as that second."""
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
    """As :func:`parse` reads it: a second without a fraction is meant whole."""
    said = instant(until)
    return said.replace(".999Z", "Z") if said else None


class Count(NamedTuple):
    """Events of one kind in one log, within a bin of time.

    Args:
        start: Of the bin, epoch milliseconds.
        count: How many.
    """

    source: str
    broker: int | None
    kind: str
    start: int
    count: int


class Events(Protocol):
    """Events that may be more than fit into memory."""

    @property
    def total(self) -> int:
        """How many there are."""

    @property
    def extent(self) -> tuple[int, int] | None:
        """Moments of the first and the last dated one; ``None`` without any."""

    def rows(self, chosen: Selection, most: int) -> tuple[Sequence[EventRow], int]:
        """The first of those inside, by time, and how many are inside."""

    def counts(self, chosen: Selection, since: int, until: int, bins: int) -> Sequence[Count]:
        """Those inside, counted in equal bins of a stretch of time."""


class HeldEvents:
    """Events in memory.

    Args:
        rows: In the order of ``at``; undated ones last.
    """

    def __init__(self, rows: Sequence[EventRow]) -> None:
        self._rows = rows
        self._counted: dict[tuple[Selection, int, int, int], Sequence[Count]] = {}

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self._rows)

    @cached_property
    def _times(self) -> list[int]:
        return [row.at for row in self._rows if row.at is not None]

    @property
    def extent(self) -> tuple[int, int] | None:
        """Moments of the first and the last dated one."""
        return (self._times[0], self._times[-1]) if self._times else None

    def rows(self, chosen: Selection, most: int) -> tuple[Sequence[EventRow], int]:
        """The first of those inside, and how many are inside."""
        inside = self._inside(chosen)
        if chosen.about.everything:
            return [self._rows[n] for n in islice(inside, most)], len(inside)
        found = [row for n in inside if chosen.holds(row := self._rows[n])]
        return found[:most], len(found)

    def counts(self, chosen: Selection, since: int, until: int, bins: int) -> Sequence[Count]:
        """Those inside, counted in equal bins; bins without any are left out. A zoom asks again: the last answer is kept."""
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
        """Numbers of the rows in the stretch of time."""
        if not chosen.timed:
            return range(len(self._rows))
        first = 0 if chosen.since is None else bisect_left(self._times, chosen.since)
        last = len(self._times) if chosen.until is None else bisect_right(self._times, chosen.until)
        return range(first, max(first, last))


def parse(
    found: Timeline, *, since: str = "", until: str = "", topic: str = "", partition: str = "", group: str = "", broker: str = ""
) -> Selection:
    """Read what a person typed, or a notebook's parameters; ``""`` for everything.

    Args:
        since: ISO-8601, or a time of day of the day that the incident began.
        until: The same.
        topic: Its name, or that of one of its partitions, ``orders-3``.
        partition: Its number, where ``topic`` does not say it.

    Raises:
        UsageError: A value cannot be what it should, or nothing in the evidence is of that name or time; the text says which.
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
    """Nothing is told of what is nowhere: that would read as if all were well with it."""
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
    """Refuse a name that is not among the known ones.

    Args:
        known_as: The name, where more was said than that.
    """
    if (known_as or said) not in known:
        names = known - {None}
        hint = did_you_mean(known_as or said, names) if names else f"It names no {name} at all."
        raise UsageError(f"{name}={said} is not in the evidence.", try_=hint)


def _partitions(found: Timeline) -> Iterator[tuple[str | None, int | None]]:
    """Topic and partition of everything that is of one; there are topics without a known partition."""
    yield from ((row.topic, row.partition) for row in found.rows)
    yield from ((row.topic, row.partition) for row in found.partition_history)
    yield from ((window.topic, window.partition) for window in found.windows)
    yield from ((partition.topic, partition.partition) for partition in found.cluster.partitions)
    yield from ((topic, None) for topic in found.cluster.topics)


def _brokers(found: Timeline) -> Iterator[int | None]:
    """Everyone who is named; some twice."""
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
    """When something is told, by the reference clock: what the logs cover, and everything else that bears a date."""
    clocks = {clock.owner: clock for clock in found.clocks}
    for file in found.files:
        clock = clocks.get(owner_of(file.broker, file.file))
        if clock is None or not clock.steps:  # of a clock that was set the lines themselves tell
            skew = clock.skew or 0 if clock else 0
            yield from (end - skew for end in (file.first, file.last) if end is not None)
    yield from (row.at for row in found.rows if row.at is not None)
    yield from (row.time for row in found.partition_history)
    yield from (end for window in found.windows for end in (window.opened, window.closed) if end is not None)


def focus(found: Timeline) -> tuple[int, int] | None:
    """The stretch of time that the first chain took, with a margin; that of all events where there is no chain."""
    times = [row.at for row in found.rows if row.at is not None]
    chain = next((c for c in found.chains if c.opened is not None and c.closed is not None), None)
    if chain is None:
        return _margin(times[0], times[-1]) if times else None
    windows = [w for w in found.windows if w.opened is not None and chain.opened <= w.opened <= chain.closed]
    sentences = [s.at for s in found.story if s.at is not None and s.chain == found.chains.index(chain)]
    ends = [chain.closed, *sentences, *(w.closed for w in windows if w.closed is not None and w.kind == "two_leaders")]
    return _margin(min(chain.opened, *sentences) if sentences else chain.opened, max(ends))


def _margin(first: int, last: int) -> tuple[int, int]:
    """With a tenth before it and a third behind it, where those who lead then have to be named; half a second at least."""
    return first - max(500, (last - first) // 10), last + max(500, (last - first) * 7 // 20)


def _first_day(found: Timeline) -> int | None:
    around = focus(found)
    return None if around is None else around[0] // _DAY * _DAY


def _moment(name: str, text: str, day: int | None, *, end: bool) -> int | None:
    """Epoch milliseconds; a second that is named as an end is meant whole."""
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
    """``11:03`` and ``11:03:42,5`` in the one form that is parsed."""
    clock, _, fraction = text.replace(",", ".").partition(".")
    return f"{clock}{':00' * (2 - clock.count(':'))}.{fraction or '0'}"


def _subject(found: Timeline, name: str) -> tuple[str | None, int | None]:
    """Topic and partition that a name means: a topic may well be called ``orders-3`` itself."""
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
