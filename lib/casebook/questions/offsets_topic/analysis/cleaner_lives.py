"""Lives of a broker's cleaner from its log lines, in their true order.

At start, a broker prints ``starting``, then the cleaner's threads print ``Starting``, clean, and may die, and only then the
broker prints ``started`` (``KafkaServer.scala@0.9.0.1..3.9.0``): a death before that line belongs to the new cleaner, not to the
old process.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from casebook.facts.events import Event
from casebook.findings.words import moment, plural

OF_THREADS = frozenset(("cleaner_started", "cleaner_stopped", "cleaner_died", "cleaned", "uncleanable"))
"""Kinds that only ``log-cleaner.log`` contains."""

FAILED = "clean_failed"
KINDS = OF_THREADS | {FAILED, "broker_starting", "broker_started"}
"""Kinds of events about the cleaner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A run of the cleaner, from a start to the next.

    Args:
        began: First line of its start; ``None`` when the log starts later.
        sure: That line precedes all lines of the cleaner; for ``started``, the life may have begun before it.
        deaths: Deaths of the threads that are dead at its end, in order.
        marked: Partitions marked uncleanable.
        failed: Cleans that failed with an IOException, without a later clean of the partition.
        cleaned: Last line of a completed clean.
        logged: One of its threads logged anything.
    """

    began: Event | None
    sure: bool
    deaths: tuple[Event, ...]
    marked: tuple[Event, ...]
    failed: tuple[Event, ...]
    cleaned: Event | None
    logged: bool


@dataclass(slots=True)
class _LifeSoFar:
    """State of a life while its lines are read."""

    began: Event | None = None
    sure: bool = True
    complete: bool = False
    events: int = 0
    threads: set[str | None] = field(default_factory=set)
    dead: dict[str | None, Event] = field(default_factory=dict)
    marked: list[Event] = field(default_factory=list)
    failed: list[Event] = field(default_factory=list)
    cleaned: Event | None = None
    logged: bool = False

    def ends_with(self, event: Event) -> bool:
        """Return whether a line starts another life."""
        if event.kind == "broker_starting":
            return True
        if event.kind == "cleaner_started":
            return self.began is None or _thread(event) in self.threads or bool(self.dead)
        return event.kind == "broker_started" and (self.began is None or self.complete)

    def hear(self, event: Event) -> None:
        """Add a line of this life."""
        thread = _thread(event)
        self.logged |= event.kind in OF_THREADS
        if event.kind == "cleaner_started":
            self.threads.add(thread)
        elif event.kind == "broker_started":
            self.complete = True
        elif event.kind == "cleaner_died":
            self.dead[thread] = event
        elif event.kind == "uncleanable":
            self.marked.append(event)
        elif event.kind == FAILED:
            self.failed.append(event)
        elif event.kind == "cleaned":
            self.cleaned = event
            self.failed = [one for one in self.failed if (one.topic, one.partition) != (event.topic, event.partition)]
            self.dead.pop(thread, None)  # it lives: the lines of its start are missing


def _thread(event: Event) -> str | None:
    return event.fields.get("thread")


def lives(told: Iterable[Event]) -> tuple[Life, ...]:
    """Return the lives of a broker's cleaner, in order.

    Args:
        told: Events of one broker and :data:`KINDS`, in order of time.
    """
    found = [_LifeSoFar()]
    for event in told:
        if found[-1].ends_with(event):
            found.append(_LifeSoFar(began=event, sure=event.kind != "broker_started"))
        found[-1].hear(event)
    begun = found if len(found) == 1 or found[0].logged else found[1:]
    return tuple(
        Life(
            began=one.began,
            sure=one.sure,
            deaths=tuple(one.dead.values()),
            marked=tuple(one.marked),
            failed=tuple(one.failed),
            cleaned=one.cleaned,
            logged=one.logged,
        )
        for one in begun
    )


def deaths(found: Sequence[Life]) -> tuple[Event, ...]:
    """Return the last death of each of the consecutive last lives that ended in one; none when the last did not."""
    row = []
    for life in reversed(found):
        if not life.deaths:
            break
        row.append(life.deaths[-1])
        if life.cleaned is not None:
            break  # it had worked before it died: earlier lives are unrelated
    return tuple(reversed(row))


def doubt(found: Sequence[Life]) -> str:
    """Return why it is unknown whether the cleaner lives, in one sentence; ``""`` when it is known."""
    last = found[-1]
    if last.logged:
        return ""
    before = [death for life in found[:-1] for death in life.deaths]
    if last.began is None or not before:
        return "None of its log-cleaner.log was read: a dead thread would not be noticed." if last.began is None else _SINCE
    died = moment(before[-1].time)
    if not last.sure and found[-2].deaths:
        return f"A thread died at {died}, before or after the broker's last start: the log lacks the line of that start."
    return f"It had died {plural(len(before), 'time')} before its last start, last at {died}. {_SINCE}"


_SINCE = "No line of its log-cleaner.log since its last start was read: a dead thread would not be noticed."


def failures(found: Sequence[Life]) -> tuple[Event, ...]:
    """Return the failed cleans of the consecutive last lives with any; none when the last had none.

    A restarted broker has its log dir back, and cleans again: ``LogCleaner.scala@1.0.2..3.9.0``.
    """
    row: list[Event] = []
    for life in reversed(found):
        if not life.failed:
            break
        row = [*life.failed, *row]
    return tuple(row)


def names(of: Iterable[Event], most: int = 3) -> str:
    """List the partitions of lines, with the number of repetitions."""
    counted: dict[str, int] = {}
    for event in of:
        name = f"{event.topic}-{event.partition}" if event.topic is not None else "a partition that the line does not name"
        counted[name] = counted.get(name, 0) + 1
    said = [
        name if times == 1 or len(counted) == 1 else f"{name} ({times} times)" for name, times in list(counted.items())[:most]
    ]
    return ", ".join(said) + (f" and {plural(len(counted) - most, 'other')}" if len(counted) > most else "")
