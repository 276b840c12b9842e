"""Output of ``diff``, plain, unified (``-u``, ``git diff``), or side by side (``-y``, of settings): lines only in either file.

A person may leave out the places of the lines (``2c2``), and put common lines between. Where both files are of a broker, and each
has an id of its own, each broker's settings are also reported as such.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import BrokerSettings, ToolStatement
from casebook.facts.pasted_hosts import HostSaid
from casebook.formats.pasted.text import PastedLine, spanned
from casebook.formats.pasted.tools import properties

_HUNK = re.compile(r"\d{1,9}(?:,\d{1,9})?[acd]\d{1,9}(?:,\d{1,9})?")
_PLAIN = re.compile(r"(?P<sign>[<>])(?: (?P<text>.*))?|---|\\ No newline at end of file")
_EDITED = re.compile(r"(?P<sign>[<>])(?: (?P<text>.*))?|---|(?P<both>\s*[#a-z][\w.#-]*[ \w.-]*=.*)")
"""A line where places were left out: one without a sign is common."""
_ABREAST = re.compile(
    r"(?P<left>[a-z][\w.]*=\S*(?: \S+)*)?(?: ?\t|   )[ \t]*"
    r"(?:(?P<sign>[|<>])(?:[ \t]+|$)|(?=(?P=left)$))(?P<right>[a-z][\w.]*=.*)?"
)
"""A setting of each file on one line."""
_FIRST = re.compile(r"--- (?P<file>\S+)(?:\s.*)?")
_SECOND = re.compile(r"\+\+\+ (?P<file>\S+)(?:\s.*)?")
_UNIFIED = re.compile(r"(?P<sign>[-+ ])(?P<text>.*)|@@ .*|\\ No newline at end of file|(?:diff|index) .*")
_ASKED = re.compile(r".*\bdiff\s+(?:-\S+\s+)*(?P<first>[^\s-]\S*)\s+(?P<second>[^\s-]\S*)\s*")
_PAGE = re.compile(r"< (?:HTTP/|[\w-]+: |/?[a-z]+>)")
"""A header that ``curl -v`` has received, or an element of a page."""
_UNNAMED = ("the first file", "the second file")
_MOST, _MOST_SHOWN, _LONGEST = 5000, 100, 2000


def differences(lines: Sequence[PastedLine]) -> Iterator[ToolStatement | BrokerSettings | HostSaid]:
    """Yield every comparison, with file names from its command, or its own."""
    at, names, asked_at = 0, _UNNAMED, -1
    while at < len(lines):
        text, after, form, begin = lines[at].text, at + 1, _PLAIN, at
        if "diff" in text and (asked := _ASKED.fullmatch(text[:_LONGEST])):
            names, asked_at = (asked["first"], asked["second"]), at
        elif _HUNK.fullmatch(text):
            after = _end(lines, at, _PLAIN)
        elif "=" in text[:_LONGEST] and _ABREAST.fullmatch(text[:_LONGEST]):
            form, after = _ABREAST, _end(lines, at, _ABREAST)
            begin = asked_at if asked_at == at - 1 and at else at
        elif text.startswith("< ") and not _PAGE.match(text):
            form, after = _EDITED, _end(lines, at, _EDITED)
            begin = asked_at if asked_at == at - 1 and at else at
            signs = {line.text[:1] for line in lines[at:after]}
            after = after if {"<", "-", ">"} <= signs else at + 1
        elif (first := _FIRST.fullmatch(text[:_LONGEST])) and at + 2 < len(lines):
            second = _SECOND.fullmatch(lines[at + 1].text[:_LONGEST])
            if second and lines[at + 2].text.startswith("@@"):
                form, after = _UNIFIED, _end(lines, at + 1, _UNIFIED)
                names = first["file"], second["file"]
        if after > at + 1:
            own = [line.text for line in lines[at + 2 * (form is _UNIFIED) : after]]
            sides = [_sides(each, form) for each in own]
            yield ToolStatement("diff", spanned(lines, begin, after), _said(sides, names))
            yield from properties.compared(spanned(lines, after - len(own), after), sides)
        at = after


def _end(lines: Sequence[PastedLine], at: int, row: re.Pattern[str]) -> int:
    after = at + 1
    while after < min(len(lines), at + _MOST) and lines[after].text:
        text = lines[after].text[:_LONGEST]
        if not (row.fullmatch(text) or _HUNK.fullmatch(text)):
            break
        after += 1
    return after


def _sides(text: str, form: re.Pattern[str]) -> tuple[str, str]:
    """Return a line as either file has it; ``""`` for a file without it, and for the diff's own lines."""
    found = form.fullmatch(text[:_LONGEST])
    if found is None:
        return "", ""
    named = found.groupdict()
    if "left" in named:
        return (found["left"] or "").strip(), (found["right"] or "").strip()
    common, sign, own = named.get("both") or "", found["sign"] or "", (found["text"] or "").strip()
    return (own if sign in ("<", "-", " ") else common.strip()), (own if sign in (">", "+", " ") else common.strip())


def _said(rows: Sequence[tuple[str, str]], names: tuple[str, str]) -> str:
    """Return the lines of each side, except text after ``#``."""
    first = [left for left, right in rows if left and left != right]
    second = [right for left, right in rows if right and left != right]
    both = [left for left, right in rows if left and left == right]
    parts = [f"{names[0]} has {', '.join(first[:_MOST_SHOWN])}"] if first else []
    parts += [f"{names[1]} has {', '.join(second[:_MOST_SHOWN])}"] if second else []
    parts += [f"both have {', '.join(both[:_MOST_SHOWN])}"] if both else []
    return "; ".join(parts) or "the files differ in empty lines"
