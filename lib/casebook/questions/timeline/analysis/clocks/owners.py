"""Owner of a log file: many lines name their broker, and the collector may have named another one.

A broker puts its own id before many messages (``[Controller id=1]``, ``[Replica Manager on Broker 1]``, ``[GroupCoordinator 1]``:
the ``logIdent`` of Kafka's classes, 0.8.2 to 3.9), while a person typed the owner, once for a whole pattern of files. So the
lines are trusted, and a log counts for the broker that it names. Ignoring such a log would lose evidence over a typing error;
keeping it would attribute events to the wrong broker. A line without a broker belongs to none, rather than to a wrong one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.events import Event
from casebook.kafka.past_rows import EventRow, Span
from casebook.kafka.releases import SETTINGS_PRINTED, KafkaVersion

SPEAKER = "speaker"
"""Field of an event with the id before its message."""
DIR = "dir"
"""Field of an event with its log dir."""
STARTING, SETTINGS, RELEASE = "broker_starting", "settings_printed", "version_line"
"""Kinds of lines that together identify the broker of a start."""
_OF_ITSELF = ("broker_registered", "broker_id", SETTINGS)
"""Kinds of lines whose message names the printing broker."""
FEW = 3
"""Fewer lines with a broker prove nothing about their file."""
_START = 60_000
_AGAIN = 5000
"""Milliseconds in which a starting broker prints its settings, and repeats them."""
SLIPS = 1
"""Maximum share of lines with other brokers in one broker's file: brokers that share a folder write few lines into another's
day."""


class Owner(NamedTuple):
    """Owner of a log that is not, or not only, of the broker that it was given for.

    Args:
        stated: Broker that it was given for.
        broker: Actual broker; ``None`` when unknown, or for several.
        named: Number of its lines by broker; empty without any.
        several: It has several brokers: each line counts for the broker that it names, or whose log dir it names.
        dirs: For such a file, brokers by log dir, from lines with both.
        starts: For such a file, brokers of the starts, by line.
    """

    stated: int
    broker: int | None
    named: Mapping[int, int]
    several: bool = False
    dirs: Mapping[str, int] = {}
    starts: Mapping[int, int] = {}


def stated(file: str) -> int | None:
    """Return the broker that a case's log was given for; ``None`` for a log of no broker."""
    parts = file.split("/")
    return int(parts[1]) if len(parts) > 3 and (parts[0], parts[2]) == ("brokers", "logs") and parts[1].isdecimal() else None


def misplaced(named: Mapping[str, Mapping[int, int]], files: Iterable[str]) -> dict[str, Owner]:
    """Return the logs that do not count for their given broker, by file.

    Rule: by the lines that name a broker. A file without them belongs to the same broker as all others given with it; it keeps
    its given owner when one of them was correct, unless several brokers write into that folder. A file that names no other broker
    keeps its owner, however few lines name it.

    Args:
        named: Number of lines by broker, of each file.
        files: All files.
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
    """Return an event with its actual broker."""
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
    """Add brokers by log dir to files of several brokers: adjacent files complement each other.

    Args:
        told: File, log dir and broker of lines with both.
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
    """Return the broker of each start in a file of several brokers, by line: the first line of a start does not name its broker.

    Rule: the settings name it, printed within a minute. Simultaneous starts are ambiguous.

    Args:
        told: Starts, settings and releases in the file, in its order.
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
    """Return where a release prints the settings; ``None`` for an unknown release."""
    try:
        return SETTINGS_PRINTED.at(KafkaVersion.parse(release))
    except ValueError:
        return None


def _is_near(one: Event, other: Event, within: int) -> bool:
    return None not in (one.time, other.time) and abs(one.time - other.time) <= within


def with_starts(rows: Sequence[EventRow], registered: Mapping[int, Sequence[Span]]) -> tuple[EventRow, ...]:
    """Assign each start in a file of several brokers to the only one of them that was away.

    Its first lines do not name the process. Otherwise it would have no owner, and the previous process would seem to continue.
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
    """Return the number of lines by broker, of each file.

    Args:
        lines: File, field :data:`SPEAKER`, and the number of such lines.
    """
    named: dict[str, Counter[int]] = defaultdict(Counter)
    for file, speaker, count in lines:
        if speaker.isdecimal():
            named[file][int(speaker)] += count
    return named
