"""Pastes with an empty line after every line, as copied from some pages and mails: all of it, or the rows of a table.

They are read without the empty lines, and without what kubectl, Java and curl print beside an answer; results have the
original line numbers.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from casebook.facts.pasted import Beside, BrokerSettings, Pasted
from casebook.facts.pasted_hosts import LineSpan, ListedFile
from casebook.formats.pasted.damage import chatter, sent
from casebook.formats.pasted.text import MOST_LINES, quote_mark

_LEAST = 3
_COLUMNS = re.compile(r"\s*\S+(?: \S+)*(?:(?: {2,}|\t+ *)\S+(?: \S+)*){2,}\s*")
_NUMBERS = re.compile(r"\b(?P<what>[Ll]ines? )(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?")
_LONGEST = 2000


def without(texts: Iterable[str]) -> tuple[list[str], list[int], list[Beside]]:
    """Return the lines without those, the number of each, and what was printed beside the answers."""
    lines = list(itertools.islice(texts, MOST_LINES + 1))
    bare = [text[len(quote_mark(text)) :].strip() for text in lines]
    aside = [Beside(LineSpan(at, at), text) for at, text in enumerate(bare, 1) if chatter.is_chatter(text)]
    dropped = _between(lines) | {each.span.first - 1 for each in aside}
    kept = [at for at in range(len(lines)) if at not in dropped]
    return [lines[at] for at in kept], [at + 1 for at in kept], aside


def _between(lines: Sequence[str]) -> set[int]:
    """Return the empty lines between others: every second one, or every second one among rows of a table."""
    first = next((at for at, text in enumerate(lines) if text.strip()), 0)
    own, between = lines[first::2], lines[first + 1 :: 2]
    if first == 0 and len([text for text in own if text.strip()]) >= _LEAST and not any(text.strip() for text in between):
        return set(range(1, len(lines), 2))
    found: set[int] = set()
    at = 0
    while at < len(lines):
        last = at
        while last + 2 < len(lines) and not lines[last + 1].strip() and _is_row(lines[last]) and _is_row(lines[last + 2]):
            last += 2
        if last - at >= 2 * (_LEAST - 1):
            found.update(range(at + 1, last, 2))
        at = last + 1
    return found


def _is_row(text: str) -> bool:
    return len(text) < _LONGEST and (_COLUMNS.fullmatch(text) is not None or sent.is_output(text))


def spread(found: Pasted, numbers: Sequence[int], ends: Sequence[int] = ()) -> Pasted:
    """Return the result with original line numbers.

    Args:
        found: What was read of fewer lines.
        numbers: The original number of each line.
        ends: That of its end, where lines were joined.
    """
    if not numbers or len(numbers) == (ends or numbers)[-1]:
        return found
    rows = {
        name: tuple(_spread(row, numbers, ends or numbers) for row in value)
        for name in found.__slots__
        if isinstance(value := getattr(found, name), tuple)
    }
    return Pasted(**{**rows, "lines": numbers[found.lines - 1]})


def _spread(row: tuple, numbers: Sequence[int], ends: Sequence[int]) -> tuple:
    def renumbered(found: re.Match[str]) -> str:
        first, last = int(found["first"]), int(found["last"] or found["first"])
        if not 0 < first <= last <= len(numbers):
            return found[0]
        return f"{found['what']}{numbers[first - 1]}{f'-{numbers[last - 1]}' if found['last'] else ''}"

    span = LineSpan(numbers[row.span.first - 1], ends[row.span.last - 1])
    changed: dict[str, object] = {"span": span}
    for name in {"says", "reason"} & {*row._fields}:
        changed[name] = _NUMBERS.sub(renumbered, getattr(row, name))
    if isinstance(row, BrokerSettings):
        changed["lines"] = tuple(_spaced(row.lines, numbers[row.span.first - 1 :]))
    if isinstance(row, ListedFile):
        changed["listing"] = numbers[row.listing - 1]
    return row._replace(**changed)


def _spaced(lines: Sequence[str], numbers: Sequence[int]) -> Iterator[str]:
    """Return lines with empty ones in between; those joined by a backslash stay together, with theirs after them."""
    owed = 0
    for at, line in enumerate(lines):
        yield line
        owed += numbers[at + 1] - numbers[at] - 1 if at + 1 < len(lines) else 0
        if not line.endswith("\\"):
            yield from [""] * owed
            owed = 0
