"""The lives of a broker's cleaner as its log lines tell them, in their true order.

A start prints ``starting``, then the cleaner's threads print ``Starting``, clean, and may die, and only then the broker prints
``started`` (``KafkaServer.scala@0.9.0.1..3.9.0``): a death before that line is the new cleaner's, not the old process's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from casebook.facts.events import Event
from casebook.findings.words import moment, plural

OF_THREADS = frozenset(("cleaner_started", "cleaner_stopped", "cleaner_died", "cleaned", "uncleanable"))
"""What only ``log-cleaner.log`` holds."""

FAILED = "clean_failed"
KINDS = OF_THREADS | {FAILED, "broker_starting", "broker_started"}
"""The kinds of events that tell of the cleaner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A run of the cleaner, from a start to the next.

    Args:
        began: The first line of its start; ``None`` when the log does not reach back so far.
        sure: That line was printed before anything of the cleaner; a broker that ``started`` may have begun before it.
        deaths: Of the threads that are dead at its end, in order.
        marked: Partitions that it gave up.
        failed: Cleans that failed with an IOException, of partitions that it has not cleaned since.
        cleaned: The last line of a finished clean.
        logged: A thread of it wrote anything.
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
    """What the lines of a life have told so far."""

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
        """Whether a line begins another life."""
        if event.kind == "broker_starting":
            return True
        if event.kind == "cleaner_started":
            return self.began is None or _thread(event) in self.threads or bool(self.dead)
        return event.kind == "broker_started" and (self.began is None or self.complete)

    def hear(self, event: Event) -> None:
        """Take a line of this life."""
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
    """The lives of a broker's cleaner, the last one last.

    Args:
        told: Of one broker, of :data:`KINDS`, in the order of their times.
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
    """The last death of each life, of the last lives in a row that ended in one; none when the last did not."""
    row = []
    for life in reversed(found):
        if not life.deaths:
            break
        row.append(life.deaths[-1])
        if life.cleaned is not None:
            break  # it had worked before it died: what was before is another story
    return tuple(reversed(row))


def doubt(found: Sequence[Life]) -> str:
    """Why it is not known whether the cleaner lives, in one sentence; ``""`` when it is."""
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
    """The cleans that failed, of the last lives in a row in which any did; none when it did not in the last.

    Who starts again has its log dir back, and cleans anew: ``LogCleaner.scala@1.0.2..3.9.0``.
    """
    row: list[Event] = []
    for life in reversed(found):
        if not life.failed:
            break
        row = [*life.failed, *row]
    return tuple(row)


def names(of: Iterable[Event], most: int = 3) -> str:
    """The partitions that lines are about, of several each with how often."""
    counted: dict[str, int] = {}
    for event in of:
        name = f"{event.topic}-{event.partition}" if event.topic is not None else "a partition that the line does not name"
        counted[name] = counted.get(name, 0) + 1
    said = [
        name if times == 1 or len(counted) == 1 else f"{name} ({times} times)" for name, times in list(counted.items())[:most]
    ]
    return ", ".join(said) + (f" and {plural(len(counted) - most, 'other')}" if len(counted) > most else "")
