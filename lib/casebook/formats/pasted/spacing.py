"""Pastes in which an empty line stands behind every line, as some pages and mails copy them.

They are read without the empty lines; what is told of them has the numbers of the lines as they were pasted.
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
    """The lines, and by what their numbers are to be multiplied: 2 where every second line was empty."""
    lines = list(itertools.islice(texts, MOST_LINES + 1))
    first = next((at for at, text in enumerate(lines) if text.strip()), 0)
    own, between = lines[first::2], lines[first + 1 :: 2]
    if first > 0 or len([text for text in own if text.strip()]) < _LEAST or any(text.strip() for text in between):
        return lines, 1
    return own, 2


def spread(found: Pasted, times: int) -> Pasted:
    """What was read, with the lines as they were pasted."""
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
    """Lines with the empty ones between them; those that a backslash joins stay together, and have theirs behind them."""
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
