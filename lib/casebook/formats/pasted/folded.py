"""Outputs that a narrow screen has broken at one column, also within words, or a mail at blanks.

Only a second reading shows which lines belong together: lines of the same width, or to which the next word would not fit, are
joined with those below them. That reading counts if it understands more and loses nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.facts.pasted import OF_TOOLS, Pasted, ToldConfig, ToolStatement
from casebook.formats.pasted import forms
from casebook.formats.pasted.damage import sent
from casebook.formats.pasted.text import REDACTED, quote_mark

_LEAST_WIDE, _MOST_WIDE, _MOST_SOFT = 40, 600, 140
_MOST_LINES = 2000
_SAME, _ALIKE = 8, 6
_LONGEST = 4096
_LEAST, _SURE = 2, 3  # broken lines
_PROMPT = re.compile(r"\s*\S{1,120}(?: \S{1,80})?[$#%>]\s*")
_SETTING = re.compile(r"\s|[a-z][\w-]*\.[\w.-]+=")
_HEADER = re.compile(r"\s*[A-Z#][A-Z#()-]+(?:\s+[A-Z#(][A-Z#()-]+)+\s*")
_STATEMENTS = ("settings", "dumps", "logs", "hosts")


class Joined(NamedTuple):
    """Lines of which broken ones are whole, with the numbers of the first and the last line of each."""

    lines: list[str]
    numbers: list[int]
    ends: list[int]


def joined(texts: Sequence[str]) -> Joined | None:
    """Return the lines of a paste with the broken ones whole; nothing where none looks broken."""
    if len(texts) > _MOST_LINES:
        return None
    bodies = [text[len(quote_mark(text)) :].rstrip("\r\n") for text in texts]
    if not (wide := _width(bodies)):
        return None
    broken = [at for first, after in _blocks(bodies) for at in _broken(bodies[first:after], first, wide)]
    if len(broken) < _LEAST:  # a row and a remark below it
        return None
    whole = {at: bodies[at] if bodies[at].endswith(REDACTED) else bodies[at].ljust(wide) for at in broken}
    return _joined(texts, bodies, whole)


def softly(texts: Sequence[str]) -> Joined | None:
    """Return the lines of a paste with those whole that were broken at blanks: to each, the next word would not have fit."""
    bodies = [text[len(quote_mark(text)) :].rstrip() for text in texts[:_MOST_LINES]]
    wide = max((len(body) for body in bodies if " " in body.strip()), default=0)
    if len(texts) > _MOST_LINES or not _LEAST_WIDE <= wide <= _MOST_SOFT:
        return None
    whole: dict[int, str] = {}
    head = ""
    for at, (text, below) in enumerate(pairwise(bodies)):
        head = head or text
        if text and below.strip() and len(text) + 1 + len(below.split()[0]) > wide and not _begins_softly(below, head):
            whole[at] = f"{text.lstrip() if at - 1 in whole else text} "
        else:
            head = ""
    return (
        _joined(texts, [body.lstrip() if at - 1 in whole else body for at, body in enumerate(bodies)], whole) if whole else None
    )


def _begins_softly(text: str, head: str) -> bool:
    """Return whether a line begins something new: also a row with the indent or the first letters of the one above."""
    is_alike = _is_indented_like(text, head) or text.lstrip()[:_ALIKE] == head.lstrip()[:_ALIKE]
    return is_alike or _begins(text, head) or sent.is_output(text) or sent.is_command(text)


def _is_indented_like(text: str, head: str) -> bool:
    """Return whether two lines have the same indent, and have one."""
    indent = text[: len(text) - len(text.lstrip())]
    return indent != "" and head.startswith(indent) and not head[len(indent) :][:1].isspace()


def _joined(texts: Sequence[str], bodies: Sequence[str], whole: dict[int, str]) -> Joined:
    """Return the lines; each that goes on, with the next one behind it."""
    kept = [at for at in range(len(texts)) if at - 1 not in whole]
    for at in sorted(whole, reverse=True):
        whole[at] = (whole[at] + whole.get(at + 1, bodies[at + 1])).replace(2 * REDACTED, REDACTED)
    return Joined([whole.get(at, texts[at]) for at in kept], [at + 1 for at in kept], [*(at for at in kept if at), len(texts)])


def is_better(whole: Pasted, lines: Sequence[str], found: Pasted, texts: Sequence[str]) -> bool:
    """Return whether the reading of the joined lines holds no less than the other, and differs or leaves less of the text.

    Parts of broken lines may look like statements of hosts and logs, so these count where there is nothing else.
    """
    new, old = _rows(whole), _rows(found)
    left, before = _not_understood(whole, lines), _not_understood(found, texts)
    if new or old:
        more = _values(new) - _values(old)
        differs = new != old and len(texts) - len(lines) >= _SURE and _settings(whole) >= _settings(found)
        return more >= 0 and (sum(left) < sum(before) or (sum(left) == sum(before) and (more > 0 or differs)))
    keeps = all(len(getattr(whole, name)) >= len(getattr(found, name)) for name in _STATEMENTS)
    return keeps and len(before) > 1 and sum(left) < sum(before)


def may_be_broken(found: Pasted) -> bool:
    """Return whether a reading leaves lines that may be the rest of others."""
    return bool(found.not_understood) or any(_alone(found))


def _alone(found: Pasted) -> Iterator[ToolStatement]:
    """Yield lines of a form that no tool is known by, which may be the rest of a broken row."""
    return (each for each in found.told if each.tool == forms.NO_TOOL and each.span.first == each.span.last)


def holds_more(whole: Pasted, found: Pasted) -> bool:
    """Return whether the reading of joined lines has more values: text that a row has only taken in is none."""
    return _weight(whole) > _weight(found)


def _weight(found: Pasted) -> int:
    return _values(_rows(found)) + _settings(found) + sum(len(getattr(found, name)) for name in _STATEMENTS)


def _settings(found: Pasted) -> int:
    return sum(len(row.settings) for row in found.configs)


def _not_understood(found: Pasted, texts: Sequence[str]) -> list[int]:
    """Return the lengths of lines that were not understood; one alone may be the cut end."""
    spans = (each.span for each in (*found.not_understood, *_alone(found)))
    return [len(texts[at - 1]) for span in spans for at in range(span.first, span.last + 1)]


def _rows(found: Pasted) -> tuple:
    return tuple(row._replace(span=None) for name in OF_TOOLS for row in getattr(found, name))


def _values(held: object) -> int:
    """Return how many values rows hold, without lists of settings: a broken one has more parts."""
    if isinstance(held, ToldConfig):
        return 0
    if isinstance(held, Mapping):
        return sum(map(_values, held.values()))
    return sum(map(_values, held)) if isinstance(held, tuple) else held is not None


def _width(bodies: Sequence[str]) -> int:
    """Return the largest width that many lines with others below them have; 0 where no two have the same.

    A shell breaks what is typed at a column of its own where its prompt is coloured.
    """
    printed = [pair for pair in pairwise(bodies) if not sent.is_prompted(pair[0])]
    return _most_common(printed) or _most_common(pairwise(bodies))


def _most_common(pairs: Iterable[tuple[str, str]]) -> int:
    widths = Counter(len(text) for text, below in pairs if _LEAST_WIDE <= len(text) <= _MOST_WIDE and below.strip())
    least = max(2, max(widths.values(), default=0) // 3)
    return max((width for width, times in widths.items() if times >= least), default=0)


def _blocks(bodies: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines between empty ones and commands, from the first to behind the last."""
    first = 0
    for after in range(len(bodies) + 1):
        is_empty = after == len(bodies) or not bodies[after].strip()
        if is_empty or sent.is_prompted(bodies[after]):
            yield first, after
            first = after + is_empty


def _broken(block: Sequence[str], first: int, wide: int) -> Iterator[int]:
    """Yield the lines of a block that go on in the next one.

    Blanks that filled the screen may be lost from a row of a table; then the next line begins with some.
    """
    if any(len(text) > wide for text in block[1:]):
        return
    has_full = any(len(text) == wide for text in block[:-1])
    head = ""
    for at, (text, below) in enumerate(pairwise(block), first):
        head = head or text
        is_full = (len(text) == wide or (text.endswith(REDACTED) and not _SETTING.match(below))) and not _begins(below, head)
        is_row = has_full and len(text) < wide and "  " in text.strip()
        if is_full or (is_row and below.startswith("  ")):
            yield at
        else:
            head = ""


def _begins(text: str, above: str) -> bool:
    """Return whether a line begins something new: a command, a row below a header or like the one above, JSON, a remark."""
    is_json = text.startswith("{") and not above.endswith("=")
    is_row = _HEADER.fullmatch(above[:_LONGEST]) is not None and not text.isupper()
    is_entry = sent.is_output(text) or (text.startswith("  ") and _is_indented_like(text, above))
    return is_json or is_row or is_entry or text[:_SAME] == above[:_SAME] or text.startswith("(") or _is_prompt(text)


def _is_prompt(text: str) -> bool:
    return sent.is_prompted(text) or _PROMPT.fullmatch(text[:_LONGEST]) is not None
