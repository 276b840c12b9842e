"""Output of ``diff``, plain or unified (``-u``, ``git diff``): lines only in either file.

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
            sides = [_signed(each, form) for each in own]
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


def _signed(text: str, form: re.Pattern[str]) -> tuple[str, str]:
    """Return whose a line is, ``<``, ``>`` or both, and its text; nobody's for the diff's own."""
    found = form.fullmatch(text[:_LONGEST])
    if found is None:
        return "", ""
    both = found.groupdict().get("both")
    sign = " " if both is not None else found["sign"] or ""
    return {"-": "<", "+": ">"}.get(sign, sign), ((both or found["text"] or "").strip() if sign else "")


def _said(rows: Sequence[tuple[str, str]], names: tuple[str, str]) -> str:
    """Return the lines of each side, except text after ``#``."""
    parts = []
    for sign, who in (("<", names[0]), (">", names[1]), (" ", "both")):
        own = [text for whose, text in rows if whose == sign and text]
        parts += [f"{who} {'have' if sign == ' ' else 'has'} {', '.join(own[:_MOST_SHOWN])}"] if own else []
    return "; ".join(parts) or "the files differ in empty lines"
