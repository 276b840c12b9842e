"""Events and coverage of logs by the reference clock, for checks on brokers without their timeline."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from casebook.facts.events import Event, LogFile, owner_of
from casebook.kafka.past_rows import Clock
from casebook.questions.timeline.analysis.clocks.clocks import zone_back

OFF = 1000
"""Minimum skew in milliseconds that matters when logs are compared."""


def corrected(events: Iterable[Event], clocks: Iterable[Clock]) -> tuple[Event, ...]:
    """Return events by the reference clock, if their log's clock is off by more than :data:`OFF`, or has steps.

    Smaller skews do not change verdicts on minutes. Lines after a step of unknown size keep their order: they are shifted by a
    zone, or else to follow at once.
    """
    off = _off(clocks)

    def moved(event: Event) -> Event:
        found = off.get(owner_of(event.broker, event.file))
        if found is None or event.time is None:
            return event
        return event._replace(time=event.time - found.ahead(event.file, event.line))

    return tuple(map(moved, events)) if off else tuple(events)


def covered(files: Iterable[LogFile], clocks: Iterable[Clock], events: Callable[[], Iterable[Event]]) -> tuple[LogFile, ...]:
    """Return the coverage of logs by the same clock; before a possible late step forward, only the certain part.

    Args:
        events: Events of all these files; read for a clock with steps inside one, to find its end: the largest printed time need
            not be the last.
    """
    clocks = tuple(clocks)
    off, late = _off(clocks), {clock.owner: clock.late for clock in clocks if clock.late is not None}

    def moved(file: LogFile) -> LogFile:
        if file.first is None or file.last is None:
            return file
        name = owner_of(file.broker, file.file)
        first, last = (file.first, file.last) if name not in off else _moved(file, off[name], events)
        doubtful = name in late and file.last >= late[name].at
        return file._replace(first=first, last=max(first, last - late[name].by) if doubtful else last)

    return tuple(map(moved, files)) if off or late else tuple(files)


class _Off(NamedTuple):
    """A wrong clock, with its skew between steps; for unknown ones, from the distance its lines went back."""

    clock: Clock
    by: Sequence[int]

    def ahead(self, file: str, line: int) -> int:
        return self.by[self.clock.stretch(file, line)]


def _moved(file: LogFile, off: _Off, events: Callable[[], Iterable[Event]]) -> tuple[int, int]:
    if off.clock.stretch(file.file, 1) == off.clock.stretch(file.file, file.lines):
        ahead = off.ahead(file.file, 1)
        return file.first - ahead, file.last - ahead
    own = (event for event in events() if event.file == file.file and event.time is not None)
    times = [event.time - off.ahead(file.file, event.line) for event in own]
    return min(times), max(times)


def _off(clocks: Iterable[Clock]) -> dict[str, _Off]:
    wrong = (clock for clock in clocks if clock.steps or abs(clock.skew or 0) > OFF + (clock.uncertainty or 0))
    return {clock.owner: _Off(clock, _between_steps(clock)) for clock in wrong}


def _between_steps(clock: Clock) -> list[int]:
    known = [clock.skews[0] or 0]
    for step in clock.steps:
        back = zone_back(step) or min(0, step.shown - step.left)
        known.append(known[-1] + back if step.skew is None else step.skew)
    return known
