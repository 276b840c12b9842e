"""Pastes with an empty line after every line, as copied from some pages and mails.

They are read without the empty lines; results have the original line numbers.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from casebook.facts.pasted import BrokerSettings, Pasted
from casebook.facts.pasted_hosts import LineSpan, ListedFile
from casebook.formats.pasted.text import MOST_LINES

_LEAST = 3
_NUMBERS = re.compile(r"\b(?P<what>[Ll]ines? )(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?")


def without(texts: Iterable[str]) -> tuple[list[str], int]:
    """Return the lines, and the factor of their numbers: 2 when every second line was empty."""
    lines = list(itertools.islice(texts, MOST_LINES + 1))
    first = next((at for at, text in enumerate(lines) if text.strip()), 0)
    own, between = lines[first::2], lines[first + 1 :: 2]
    if first > 0 or len([text for text in own if text.strip()]) < _LEAST or any(text.strip() for text in between):
        return lines, 1
    return own, 2


def spread(found: Pasted, times: int) -> Pasted:
    """Return the result with original line numbers."""
    if times == 1:
        return found
    rows = {name: tuple(map(_spread, value)) for name in found.__slots__ if isinstance(value := getattr(found, name), tuple)}
    return Pasted(**{**rows, "lines": found.lines * times})


def _number(line: int) -> int:
    return 2 * line - 1


def _spread(row: tuple) -> tuple:
    changed: dict[str, object] = {"span": LineSpan(_number(row.span.first), _number(row.span.last))}
    for name in {"says", "reason"} & {*row._fields}:
        changed[name] = _NUMBERS.sub(_renumbered, getattr(row, name))
    if isinstance(row, BrokerSettings):
        changed["lines"] = tuple(_spaced(row.lines))[:-1]
    if isinstance(row, ListedFile):
        changed["listing"] = _number(row.listing)
    return row._replace(**changed)


def _spaced(lines: Iterable[str]) -> Iterator[str]:
    """Return lines with empty ones in between; those joined by a backslash stay together, with theirs after them."""
    owed = 1
    for line in lines:
        yield line
        if line.endswith("\\"):
            owed += 1
        else:
            yield from [""] * owed
            owed = 1


def _renumbered(found: re.Match[str]) -> str:
    last = f"-{_number(int(found['last']))}" if found["last"] else ""
    return f"{found['what']}{_number(int(found['first']))}{last}"
