"""Output of ``diff``, plain or unified (``-u``, ``git diff``): lines only in either file."""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.formats.pasted.text import PastedLine, spanned

_HUNK = re.compile(r"\d{1,9}(?:,\d{1,9})?[acd]\d{1,9}(?:,\d{1,9})?")
_PLAIN = re.compile(r"(?P<sign>[<>])(?: (?P<text>.*))?|---|\\ No newline at end of file")
_FIRST = re.compile(r"--- (?P<file>\S+)(?:\s.*)?")
_SECOND = re.compile(r"\+\+\+ (?P<file>\S+)(?:\s.*)?")
_UNIFIED = re.compile(r"(?P<sign>[-+ ])(?P<text>.*)|@@ .*|\\ No newline at end of file|(?:diff|index) .*")
_ASKED = re.compile(r".*\bdiff\s+(?:-\S+\s+)*(?P<first>[^\s-]\S*)\s+(?P<second>[^\s-]\S*)\s*")
_MOST, _MOST_SHOWN, _LONGEST = 5000, 100, 2000


def differences(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield every comparison, with file names from its command, or its own."""
    at, names = 0, ("the first file", "the second file")
    while at < len(lines):
        text, after = lines[at].text, at + 1
        if "diff" in text and (asked := _ASKED.fullmatch(text[:_LONGEST])):
            names = asked["first"], asked["second"]
        elif _HUNK.fullmatch(text):
            after = _end(lines, at, _PLAIN)
            if after > at + 1:
                yield ToolStatement("diff", spanned(lines, at, after), _said(lines[at:after], _PLAIN, names))
        elif (first := _FIRST.fullmatch(text[:_LONGEST])) and at + 2 < len(lines):
            second = _SECOND.fullmatch(lines[at + 1].text[:_LONGEST])
            if second and lines[at + 2].text.startswith("@@"):
                after = _end(lines, at + 1, _UNIFIED)
                names = first["file"], second["file"]
                yield ToolStatement("diff", spanned(lines, at, after), _said(lines[at + 2 : after], _UNIFIED, names))
        at = after


def _end(lines: Sequence[PastedLine], at: int, row: re.Pattern[str]) -> int:
    after = at + 1
    while after < min(len(lines), at + _MOST) and lines[after].text:
        text = lines[after].text[:_LONGEST]
        if not (row.fullmatch(text) or _HUNK.fullmatch(text)):
            break
        after += 1
    return after


def _said(lines: Sequence[PastedLine], row: re.Pattern[str], names: tuple[str, str]) -> str:
    """Return the lines of each side, except text after ``#``."""
    sides: dict[str, list[str]] = {"<": [], ">": [], " ": []}
    for line in lines:
        found = row.fullmatch(line.text[:_LONGEST])
        if found and found["sign"]:
            sides[{"-": "<", "+": ">"}.get(found["sign"], found["sign"])].append((found["text"] or "").strip())
    parts = [
        f"{who} {'have' if sign == ' ' else 'has'} {', '.join(filter(None, sides[sign][:_MOST_SHOWN]))}"
        for sign, who in (("<", names[0]), (">", names[1]), (" ", "both"))
        if any(sides[sign])
    ]
    return "; ".join(parts) or "the files differ in empty lines"
