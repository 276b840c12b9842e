"""A shell's loop in a command: what it goes through, and the lines that it prints between its answers.

``for i in 1 2; do echo kb$i; ...`` prints ``kb1`` above the first answer. Such a line is a heading of the lines below, and looks
like any word: only the loop's command names it.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

_LOOP = re.compile(r".*?\bfor\s+(?P<name>\w+)\s+in\s+(?P<values>[^;]{1,400}?)\s*(?:;|$)")
_RANGE = re.compile(r"\{(?P<first>\d{1,6})\.\.(?P<last>\d{1,6})\}|(?:\$\(|`)seq (?:(?P<begin>\d{1,6}) )?(?P<end>\d{1,6})(?:\)|`)")
_ECHO = re.compile(r"(?:[;&{(]|\bdo)\s*echo\s+(?:-[ne]+ )?(?P<said>\"[^\"]{1,80}\"|'[^']{1,80}'|[^\s;|&<>\"']{1,80})(?=\s*[;|&])")
_NOTHING = re.compile(r"(?!)")
_MOST_TURNS, _LONGEST = 500, 4096
_BEFORE, _BEHIND = "===\t", "\t==="
"""Signs of a heading, with a tab, which is not typed there: :func:`printed` takes them away."""


def turns(heads: Sequence[str]) -> tuple[re.Pattern[str], list[str]]:
    """How the loop that begins in one of the lines writes its variable, and what it goes through; nothing for no loop."""
    head = next(filter(None, map(_LOOP.match, reversed(heads))), None)
    if head is None:
        return _NOTHING, []
    return re.compile(rf"\$(?:{head['name']}\b|\{{{head['name']}\}})"), _values(head["values"])


def headed(texts: list[str]) -> list[str]:
    """Return the lines; those that a loop's ``echo`` printed are marked as headings."""
    heads: set[str] = set()
    found = []
    for text in texts:
        if "for " in text and "echo" in text and len(text) < _LONGEST:
            heads.update(itertools.islice(_heads(text), _MOST_TURNS))
        said = text.strip()
        found.append(f"{_BEFORE}{said}{_BEHIND}" if said in heads else text)
    return found


def printed(text: str) -> str:
    """Return a heading as the loop printed it."""
    return text.removeprefix(_BEFORE).removesuffix(_BEHIND)


def _heads(text: str) -> Iterator[str]:
    """Yield what its echoes print for each value; a line with other signs before a name is a heading already."""
    variable, values = turns([text])
    for echo in _ECHO.finditer(text):
        said = echo["said"].strip("\"'")
        if said[:1] == "$" or (said[:1].isalpha() and variable.search(said)):
            yield from (variable.sub(lambda _, value=value: value, said).strip() for value in values)


def _values(text: str) -> list[str]:
    """Values of a loop: names, ``{0..3}``, ``$(seq 0 3)``."""
    if span := _RANGE.fullmatch(text.strip()):
        first, last = int(span["first"] or span["begin"] or 1), int(span["last"] or span["end"])
        return list(map(str, range(first, min(last, first + _MOST_TURNS) + 1)))
    return text.split() if "$" not in text and "`" not in text and "*" not in text else []
