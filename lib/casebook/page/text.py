"""Formatting for pages: amounts with a no-break unit, and equivalent headless commands."""

import re
import shlex
from collections.abc import Mapping

from casebook.findings import words

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[A-Za-z])")


def size(value: int | None) -> str:
    """Bytes as :func:`casebook.findings.words.size` spells them, with narrow spaces."""
    return _narrow(words.size(value))


def duration(milliseconds: float) -> str:
    """As :func:`casebook.findings.words.duration` spells it, with narrow spaces before units."""
    return _narrow(words.duration(round(milliseconds)))


def elapsed(since: words.Instant, until: words.Instant) -> str:
    """Duration between two instants, as :func:`duration`; ``?`` when either is unknown."""
    start, end = words.parsed(since), words.parsed(until)
    return duration(max(0.0, 1000 * (end - start).total_seconds())) if start and end else words.UNKNOWN


def _narrow(spelled: str) -> str:
    return _BEFORE_UNIT.sub(words.THIN, spelled)


def command(notebook: str, source: str, parameters: Mapping[str, str]) -> str:
    """Return the equivalent headless command, quoted for a shell."""
    where = [f"--source {shlex.quote(source)}"] if source else []
    return " ".join(["casebook run", notebook, *where, *(f"-p {name}={shlex.quote(text)}" for name, text in parameters.items())])


def on_source(said: str, *, source: str) -> str:
    """Return a command that runs a notebook on this source: by default it would use a shipped sample."""
    parts = said.split(" ")
    if parts[:2] != ["casebook", "run"] or not source or "--source" in parts:
        return said
    return " ".join([*parts[:3], "--source", shlex.quote(source), *parts[3:]])
