"""Numbers, times and names as people read them."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from casebook.facts.observed import Observation
from casebook.findings import words
from casebook.findings.finding import Coverage

THIN = "\u202f"
"""The narrow space that no line breaks at: between thousands, and before a unit."""


_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[A-Za-z])")


def count(value: int | None) -> str:
    """A count with a narrow space at each thousand; ``?`` when unknown."""
    return "?" if value is None else f"{value:,}".replace(",", THIN)


def size(value: int | None) -> str:
    """Bytes as :func:`casebook.findings.words.size` spells them, with narrow spaces; ``?`` when unknown."""
    return "?" if value is None else _narrow(words.size(value))


def plural(value: int, noun: str, several: str = "") -> str:
    """``1 partition``, ``2 partitions``; ``several`` is the noun of many where an s does not make it."""
    return f"{count(value)} {noun if value == 1 else several or f'{noun}s'}"


def brokers(ids: Iterable[int]) -> str:
    """Broker ids without spaces, as in an ISR; a dash for none."""
    return ",".join(map(str, ids)) or "–"


def moment(instant: str | int | None) -> str:
    """``20 Nov 2026, 03:06:58 UTC`` of an ISO-8601 text or epoch milliseconds; ``unknown`` without one."""
    parsed = _parse(instant)
    return f"{parsed.day} {parsed:%b %Y, %H:%M:%S} UTC" if parsed else "unknown"


def when(instant: str | int | None, *, year: bool = False) -> str:
    """Day and minute, ``20 Nov, 03:06``, with the year where it is not plain; ``?`` without one."""
    parsed = _parse(instant)
    return f"{parsed.day} {parsed:%b %Y, %H:%M}" if parsed and year else f"{parsed.day} {parsed:%b, %H:%M}" if parsed else "?"


def looked_at(coverage: Coverage) -> str:
    """How many of how many, by which evidence, as of when: ``3 of 3 partitions, by znodes (20 Nov, 03:06 UTC)``."""
    by = [f"{source}{_as_of(coverage.observed.get(source))}" for source in coverage.by]
    return f"{coverage.amount}, by {' and '.join(by)}" if by else coverage.amount


def _as_of(observed: Observation | None) -> str:
    if observed is None:
        return ""
    return f" ({' to '.join(dict.fromkeys(map(when, observed)))} UTC)"


def day(instant: str | int | None) -> str:
    """``20 Nov 2026``; ``?`` without one."""
    parsed = _parse(instant)
    return f"{parsed.day} {parsed:%b %Y}" if parsed else "?"


def command(notebook: str, source: str, parameters: Mapping[str, str]) -> str:
    """What to type for the same headless, safe for a shell whatever folder and names are called."""
    where = [f"--source {shlex.quote(source)}"] if source else []
    return " ".join(["casebook run", notebook, *where, *(f"-p {name}={shlex.quote(text)}" for name, text in parameters.items())])


def on_source(said: str, *, source: str) -> str:
    """A command that runs a notebook, on this source: without one it would tell of a shipped sample."""
    words = said.split(" ")
    if words[:2] != ["casebook", "run"] or not source or "--source" in words:
        return said
    return " ".join([*words[:3], "--source", shlex.quote(source), *words[3:]])


def some(items: Sequence[str], most: int) -> str:
    """The first of many, and how many more there are."""
    more = len(items) - most
    return "; ".join(items[:most]) + (f"; and {count(more)} more" if more > 0 else "")


def clock(instant: str | int | None) -> str:
    """The time of day alone, ``03:06:58``."""
    parsed = _parse(instant)
    return f"{parsed:%H:%M:%S}" if parsed else "?"


def elapsed(since: str | None, until: str | None) -> str:
    """How long from one instant to another, as :func:`duration`; ``?`` when either is unknown."""
    start, end = _parse(since), _parse(until)
    return duration(max(0.0, (end - start).total_seconds())) if start and end else "?"


def duration(seconds: float) -> str:
    """As :func:`casebook.findings.words.duration` spells it, with narrow spaces before units."""
    return _narrow(words.duration(round(1000 * seconds)))


def _narrow(spelled: str) -> str:
    return _BEFORE_UNIT.sub(THIN, spelled)


def _parse(instant: str | int | None) -> datetime | None:
    try:
        if isinstance(instant, int):
            return datetime.fromtimestamp(instant / 1000, UTC)
        parsed = datetime.fromisoformat(instant) if instant else None
    except (ValueError, OverflowError, OSError):
        return None
    return parsed and parsed.astimezone(UTC)
