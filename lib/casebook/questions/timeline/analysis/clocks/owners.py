"""Whose log a file is: many lines name who speaks, and whoever collected it may have named another broker.

A broker puts its own id before many messages (``[Controller id=1]``, ``[Replica Manager on Broker 1]``, ``[GroupCoordinator 1]``:
the ``logIdent`` of Kafka's classes, 0.8.2 to 3.9), while a person typed the owner, once for a whole pattern of files. So the
lines are believed, and a log counts for the broker that it names. To use it for neither would lose a broker's log over a slip of
a finger; to leave it would tell of one broker what another did. What no line tells is nobody's, rather than somebody else's.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.events import Event
from casebook.kafka.past_rows import EventRow, Span
from casebook.kafka.releases import SETTINGS_PRINTED, KafkaVersion

SPEAKER = "speaker"
"""The field of an event with the id that stands before its message."""
DIR = "dir"
"""The field of an event with the log dir that it is about."""
STARTING, SETTINGS, RELEASE = "broker_starting", "settings_printed", "version_line"
"""Kinds of lines that tell together whose a start is."""
_OF_ITSELF = ("broker_registered", "broker_id", SETTINGS)
"""Kinds of lines whose message names the broker that prints it."""
FEW = 3
"""Fewer lines than so many that name a broker say nothing of their file."""
_START = 60_000
_AGAIN = 5000
"""Milliseconds in which a broker that starts prints its settings, and prints them once more."""
SLIPS = 1
"""A file is a broker's when no more of its lines name others: brokers that share a folder write few lines into another's day."""


class Owner(NamedTuple):
    """Of a log that is not, or not alone, of the broker that it was given for.

    Args:
        stated: For whom it was given.
        broker: Whose it is; ``None`` where nobody knows, or when it is of several.
        named: Its lines by the broker that they name; empty when they name none.
        several: It is of several brokers: each line counts for the one that it names, or whose log dir it names.
        dirs: Of such a file, the log dirs and whose they are, as lines tell that name both.
        starts: Of such a file, whose the starts are, by line.
    """

    stated: int
    broker: int | None
    named: Mapping[int, int]
    several: bool = False
    dirs: Mapping[str, int] = {}
    starts: Mapping[int, int] = {}


def stated(file: str) -> int | None:
    """The broker that a log of a case was given for; ``None`` for a log of no broker."""
    parts = file.split("/")
    return int(parts[1]) if len(parts) > 3 and (parts[0], parts[2]) == ("brokers", "logs") and parts[1].isdecimal() else None


def misplaced(named: Mapping[str, Mapping[int, int]], files: Iterable[str]) -> dict[str, Owner]:
    """The logs that do not count for the broker that they were given for, by file.

    Rule: by the lines that name a broker. A file without them is of the same broker as all others that were given with it; it
    stays where it was given when one of them was given rightly, unless several brokers write into that folder. One that names
    nobody else stays, however seldom it names its broker.

    Args:
        named: Of each file, its lines by the broker that they name.
        files: All of them.
    """
    by_stated: dict[int, list[str]] = defaultdict(list)
    for file in files:
        if (broker := stated(file)) is not None:
            by_stated[broker].append(file)
    found = {}
    for broker, together in by_stated.items():
        own = {file: _owner(broker, named[file]) for file in together if sum(named.get(file, {}).values()) >= FEW}
        others = {owner.broker for owner in own.values()}
        if others and (broker not in others or any(owner.several for owner in own.values())):
            alike = next(iter(others)) if len(others) == 1 else None
            silent = [file for file in together if file not in own and named.get(file, {}).keys() != {broker}]
            own |= {file: Owner(broker, alike, named.get(file, {})) for file in silent}
        found |= {file: owner for file, owner in own.items() if owner.broker != broker}
    return found


def _owner(broker: int, named: Mapping[int, int]) -> Owner:
    most = max(sorted(named), key=named.__getitem__)
    several = sum(named.values()) - named[most] > SLIPS
    return Owner(broker, None if several else most, named, several)


def settled(event: Event, owners: Mapping[str, Owner]) -> Event:
    """An event as one of the broker whose it is."""
    owner = owners.get(event.file)
    if owner is None:
        return event
    speaker = event.number("broker" if event.kind in _OF_ITSELF else SPEAKER) if owner.several else None
    if speaker is None and event.kind == STARTING:
        speaker = owner.starts.get(event.line)
    if speaker is None and DIR in event.fields:
        whose = {owner.dirs.get(one) for one in event.fields[DIR].split(", ")}
        speaker = whose.pop() if len(whose) == 1 else None
    return event._replace(broker=owner.broker if speaker is None else speaker)


def with_dirs(owners: Mapping[str, Owner], told: Iterable[tuple[str, str, int]]) -> dict[str, Owner]:
    """The owners, and whose log dirs the files of several brokers name: those that lie together tell it of each other.

    Args:
        told: File, log dir and broker of lines that name both.
    """
    whose: dict[tuple[int, str], set[int]] = defaultdict(set)
    for file, folder, broker in told:
        whose[owners[file].stated, folder].add(broker)
    dirs: dict[int, dict[str, int]] = defaultdict(dict)
    for (given, folder), brokers in whose.items():
        if len(brokers) == 1:
            dirs[given][folder] = min(brokers)
    return {file: owner._replace(dirs=dirs[owner.stated]) if owner.several else owner for file, owner in owners.items()}


def starts(told: Sequence[Event]) -> dict[int, int]:
    """Whose the starts in a file of several brokers are, by line: the first line of a start does not name its broker.

    Rule: its settings do, which it prints within a minute. Where two start at once, whose are whose nobody knows.

    Args:
        told: The starts, settings and releases that the file holds, in its order.
    """
    printed = {_printed(event.fields["release"]) for event in told if event.kind == RELEASE}
    if len(printed) != 1 or None in printed:
        return {}
    found: dict[int, int] = {}
    open_: list[Event] = []
    last: Event | None = None
    for event in told if printed == {"behind"} else reversed(told):
        open_ = [one for one in open_ if _is_near(one, event, _START)]
        if event.kind == STARTING:
            open_.append(event)
        elif event.kind == SETTINGS and not (last and last.fields == event.fields and _is_near(last, event, _AGAIN)):
            if len(open_) == 1:
                found[open_[0].line] = event.number("broker")
            open_, last = [], event
    return found


def _printed(release: str) -> str | None:
    """Where a release prints the settings; ``None`` where nobody knows which it is."""
    try:
        return SETTINGS_PRINTED.at(KafkaVersion.parse(release))
    except ValueError:
        return None


def _is_near(one: Event, other: Event, within: int) -> bool:
    return None not in (one.time, other.time) and abs(one.time - other.time) <= within


def with_starts(rows: Sequence[EventRow], registered: Mapping[int, Sequence[Span]]) -> tuple[EventRow, ...]:
    """The rows, each start in a file of several brokers as one of the broker that started: of those the only one that was away.

    Its first lines do not say which process starts. Without this it would be nobody's, and the process before it seem to go on.
    """
    sharing: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        if row.source == "broker" and row.broker is not None:
            sharing[row.file].add(row.broker)

    shared = {file: brokers for file, brokers in sharing.items() if len(brokers) > 1}

    def settled_start(row: EventRow) -> EventRow:
        if row.broker is not None or row.kind != "broker_starting" or row.at is None or row.file not in shared:
            return row
        away = [broker for broker in shared[row.file] if not any(span.covers(row.at) for span in registered.get(broker, ()))]
        return row._replace(broker=away[0]) if len(away) == 1 else row

    return tuple(map(settled_start, rows)) if shared else tuple(rows)


def tallied(lines: Iterable[tuple[str, str, int]]) -> dict[str, Counter[int]]:
    """Of each file, its lines by the broker that they name.

    Args:
        lines: File, field :data:`SPEAKER`, and how many such lines there are.
    """
    named: dict[str, Counter[int]] = defaultdict(Counter)
    for file, speaker, count in lines:
        if speaker.isdecimal():
            named[file][int(speaker)] += count
    return named
