"""Events and what logs cover by the reference clock, for whoever asks about brokers without their timeline."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from casebook.facts.events import Event, LogFile, owner_of
from casebook.kafka.past_rows import Clock
from casebook.questions.timeline.analysis.clocks.clocks import zone_back

OFF = 1000
"""Milliseconds of skew from which on logs read side by side mislead."""


def corrected(events: Iterable[Event], clocks: Iterable[Clock]) -> tuple[Event, ...]:
    """Events by the reference clock where that of their log is off by more than :data:`OFF`, or was set while it was written.

    What is less moves no verdict on what brokers did for minutes. Lines behind a step of unknown size keep their order: they are
    taken to have moved by a zone, or else to follow at once.
    """
    off = _off(clocks)

    def moved(event: Event) -> Event:
        found = off.get(owner_of(event.broker, event.file))
        if found is None or event.time is None:
            return event
        return event._replace(time=event.time - found.ahead(event.file, event.line))

    return tuple(map(moved, events)) if off else tuple(events)


def covered(files: Iterable[LogFile], clocks: Iterable[Clock], events: Callable[[], Iterable[Event]]) -> tuple[LogFile, ...]:
    """What logs cover, by the same clock; where that may have been set forward in the end, no more than is sure.

    Args:
        events: All of these files; read where a clock was set inside one. They tell how far it reaches then: the largest of the
            times that are printed there need not be the last.
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
    """A clock that is off, and by how much between its steps; where nobody knows, by how far its lines went back."""

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
