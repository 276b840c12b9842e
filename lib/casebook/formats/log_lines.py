"""Lines of a broker's logs (``server.log``, ``log-cleaner.log``, 0.9.0.1 to 3.9) to events.

An entry is a dated line and the lines that follow it without a date: a stack trace, a cleaner's figures. What looks like
one of the known messages and is in no known wording becomes an event too, of kind ``unreadable``: nothing is dropped silently.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo

from casebook.formats.log_patterns import MARKS, PATTERNS
from casebook.storage import Event, EventKind

_HEADER = re.compile(
    r"\ufeff?\s{0,8}\[?(?P<day>\d{4}-\d\d-\d\d)[ T](?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    r"\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?\]?\s+(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+(?P<message>.*)"
)
"""``[%d] %p %m (%c)%n`` of ``config/log4j.properties@0.9.0.1..3.9.0``, also with an ISO date, a zone, a point for the comma."""

_LOGGER = re.compile(r" \([\w.$]+\)(?=\s|$)")
_MOST_LINES, _MOST_CHARACTERS = 60, 4000
_SPEAKER_ALONE = re.compile(r"(?:\[[^\]]*\][,:])?\s*")
_EXCEPTION = re.compile(r"^(?:Caused by: )?[\w.$]+(?:Exception|Error|Throwable)\b.*", re.MULTILINE)


def events(broker: int, path: str, lines: Iterable[str], zone: tzinfo = UTC) -> Iterator[Event]:
    """The events of one log file, in its order; the last one tells which time the file covers.

    Args:
        broker: Whose log.
        path: Of the file inside the case.
        lines: The file's lines.
        zone: What a time without zone is in; an hour that a clock change doubles counts as its first.
    """
    first = last = None
    entries = 0
    for number, line, entry in _entries(lines):
        if (time := _time(line, zone)) is None:
            continue
        first, last, entries = first if first is not None else time, time, entries + 1
        if entry is not None and (event := _event(broker, time, f"{path}:{number}", entry)) is not None:
            yield event
    if first is not None and last is not None:
        yield Event(broker, last, EventKind.LOG_READ, path, numbers={"first": first, "entries": entries})


def _entries(lines: Iterable[str]) -> Iterator[tuple[int, re.Match[str], str | None]]:
    """(line number, dated line, text of the entry where it bears a mark)."""
    header, number, held = None, 0, None
    for count, line in enumerate(lines, start=1):
        if (dated := _HEADER.match(line)) is None:
            if held is not None and len(held) < _MOST_LINES:
                held.append(line[:_MOST_CHARACTERS].rstrip())
            continue
        if header is not None:
            yield number, header, None if held is None else "\n".join(held)
        header, number = dated, count
        held = [dated["message"][:_MOST_CHARACTERS].rstrip()] if MARKS.search(line) else None
    if header is not None:
        yield number, header, None if held is None else "\n".join(held)


def _time(header: re.Match[str], zone: tzinfo) -> int | None:
    """Epoch milliseconds; ``None`` for a date that is none."""
    stated = header["zone"]
    offset = "" if stated is None else "+00:00" if stated in ("Z", "UTC") else stated
    try:
        moment = datetime.fromisoformat(f"{header['day']}T{header['clock']}{offset}")
        whole = int((moment if offset else moment.replace(tzinfo=zone)).timestamp())
    except (ValueError, OverflowError, OSError):
        return None
    return whole * 1000 + int((header["fraction"] or "0").ljust(3, "0")[:3])


def _event(broker: int, time: int, proof: str, entry: str) -> Event | None:
    """The event of an entry; ``None`` when it is known and says nothing that is needed."""
    message = _LOGGER.sub("", entry)
    for pattern in PATTERNS:
        if found := pattern.regex.search(message):
            return None if pattern.kind is None else _said(broker, time, proof, pattern.kind, found, message)
    return Event(broker, time, EventKind.UNREADABLE, proof, text=_summary(message))


def _said(broker: int, time: int, proof: str, kind: EventKind, found: re.Match[str], message: str) -> Event:
    groups = {name: value for name, value in found.groupdict().items() if value is not None}
    topic, partition = _partition(groups.pop("at", None) or groups.pop("or_at", None))
    took = groups.pop("ms", None)
    numbers = {name: int(value) for name, value in groups.items()}
    if kind is EventKind.CLEANED:
        numbers, took = _cleaned(numbers, message)
    return Event(
        broker=broker,
        time=time,
        kind=kind,
        proof=proof,
        topic=topic,
        partition=partition,
        milliseconds=None if took is None else int(took),
        text=_summary(message),
        numbers=numbers,
    )


def _partition(at: str | None) -> tuple[str | None, int | None]:
    """``[topic,3]`` (to 0.10.1) or ``topic-3``."""
    if at is None:
        return None, None
    topic, _, partition = at[1:-1].rpartition(",") if at.startswith("[") else at.rpartition("-")
    return topic, int(partition)


def _summary(message: str) -> str:
    """The first line that says something, and the exception that follows it."""
    said = next((line.strip() for line in message.splitlines() if not _SPEAKER_ALONE.fullmatch(line)), "")
    found = _EXCEPTION.search(message, len(said))
    return f"{said} {found[0].strip()}" if found else said


_FIGURES = {
    "start_bytes": re.compile(r"Start size: ([\d.,\s]+) MB"),
    "end_bytes": re.compile(r"End size: ([\d.,\s]+) MB"),
    "start_messages": re.compile(r"Start size: .*?\(([\d.,\s]+) messages\)"),
    "end_messages": re.compile(r"End size: .*?\(([\d.,\s]+) messages\)"),
}
_SECONDS = re.compile(r"MB of log processed in ([\d.,\s]+) seconds")


def _cleaned(numbers: Mapping[str, int], message: str) -> tuple[dict[str, int], int | None]:
    """The figures of a clean, and its milliseconds. Sizes are printed in tenths of MiB, in the broker's own locale."""
    found = {name: match[1] for name, regex in _FIGURES.items() if (match := regex.search(message))}
    figures = {name: _digits(text) * (1 << 20) // 10 if name.endswith("bytes") else _digits(text) for name, text in found.items()}
    known = {name: value for name, value in numbers.items() if name != "to" or value != numbers["from"]}
    seconds = _SECONDS.search(message)
    return known | figures, _digits(seconds[1]) * 100 if seconds else None


def _digits(text: str) -> int:
    """``1,234`` and ``1.234`` as a count; ``1,234.5`` and ``1.234,5`` in tenths: they have one digit after the last separator."""
    return int("".join(filter(str.isdigit, text)))
