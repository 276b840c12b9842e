"""JSON that may be cut: its pasted part, up to the last complete member.

A cut list of numbers or strings has an unknown rest, so it is no complete member. Lists of objects keep the complete ones.
"""

import json
import re
from collections.abc import Sequence

from casebook.facts.quotes import cut
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, is_gap, spanned

_MARKS = re.compile(r'"(?:\\.|[^"\\])*+"?|[{}\[\],]')
_MOST_FOLDED, _MOST_CHARACTERS, _ALIKE, _DEEPEST = 5000, 4 << 20, 12, 100
_CLOSE = {"{": "}", "[": "]"}


def read(lines: Sequence[PastedLine], at: int) -> tuple[object | None, bool, int]:
    """Return the value that starts at a line, folded or not.

    Returns:
        The value, ``None`` where nothing of it is whole; whether it is whole; where to go on.
    """
    texts: list[str] = []
    after, size, depth, inside, whole = at, 0, 0, False, True
    while after < min(len(lines), at + _MOST_FOLDED) and size < _MOST_CHARACTERS:
        text, is_whole = _without_dots(lines[after].text)
        if after > at and depth > 0 and not inside and is_gap(text):
            after, whole = after + 1, False
            continue
        whole = whole and is_whole
        if after > at and (not text or not _may_go_on(texts[-1], text) or _begins_anew(texts[0], text) or is_gap(text)):
            break
        texts.append(text)
        size, after = size + len(text), after + 1
        depth, inside = _depth(text, depth, inside)
        if depth > _DEEPEST:
            return None, False, after
        if depth <= 0 and not inside:
            if (found := _loaded("".join(texts))) is not None:
                return found, whole, after
            break
    for joined in ("".join(texts), texts[0]):
        if (found := _loaded(_closed(joined))) is not None:
            return found, False, after if joined != texts[0] else at + 1
    return None, False, after


_DOTS = re.compile(r",\s*(?:\.{2,}|…)\s*(?=[,}\]])|(?<=[{\[])\s*(?:\.{2,}|…)\s*,")
_STRINGS = re.compile(r'"(?:\\.|[^"\\])*+"')


def _without_dots(text: str) -> tuple[str, bool]:
    """A line without dots in place of members, and whether there were none; those in strings are the strings' own."""
    if "..." not in text:
        return text, True
    hidden = _STRINGS.sub(lambda found: "_" * len(found[0]), text)
    marks = [found.span() for found in _DOTS.finditer(hidden)]
    parts = [text[end:begin] for (_, end), (begin, _) in zip([(0, 0), *marks], [*marks, (len(text), 0)], strict=True)]
    return "".join(parts), not marks


def closed(text: str) -> str:
    """Complete a JSON text by closing its open braces and brackets."""
    open_: list[str] = []
    for mark in _MARKS.finditer(text):
        if mark[0] in _CLOSE:
            open_.append(mark[0])
        elif mark[0] in "}]" and open_:
            open_.pop()
    return text + "".join(_CLOSE[each] for each in reversed(open_))


def cut_output(lines: Sequence[PastedLine], at: int, after: int) -> CutOutput:
    """Return the report on a cut value between two lines: text after its last complete member is not decoded."""
    left = _end("".join(line.text for line in lines[at:after]))[0]
    first = at
    while first < after - 1 and left >= len(lines[first].text):
        left -= len(lines[first].text)
        first += 1
    open_end = _OPEN_END.search(lines[after - 1].text) if not is_gap(lines[after - 1].text) else None
    last = f"; what stands last, {cut(open_end[0], 100)}, may be cut itself" if open_end and not lines[after - 1].padded else ""
    return CutOutput(spanned(lines, first, after), f"is JSON that is cut off here: the rest was not pasted{last}")


_OPEN_END = re.compile(r"[\w.+/-]{1,1000}\Z")
"""A number, a word or a string that nothing closes."""


_DEPTHS = re.compile(r'\\.|["{}\[\]]')


def _depth(text: str, depth: int, inside: bool) -> tuple[int, bool]:
    """Return the number of open braces and brackets after the text, and whether a string is open."""
    for mark in _DEPTHS.finditer(text):
        if mark[0] == '"':
            inside = not inside
        elif not inside and mark[0] in "{}[]":
            depth += 1 if mark[0] in "{[" else -1
    return depth, inside


def _begins_anew(first: str, text: str) -> bool:
    """Return whether a line starts another value of the kind."""
    return len(text) > _ALIKE and text[:_ALIKE] == first[:_ALIKE]


def _may_go_on(before: str, text: str) -> bool:
    """Return whether a line may continue folded JSON: pretty-printed, or broken anywhere by a mail."""
    return (
        len(before) > 50 or text.lstrip()[:1] in '{}[]",' or before.rstrip()[-1:] in "{[,:" or _SCALAR.fullmatch(text) is not None
    )


_SCALAR = re.compile(r"\s*(?:-?\d[\d.eE+-]*|true|false|null),?\s*")
"""An element of a list on its own line, as pretty-printed."""


def _closed(text: str) -> str:
    end, closes = _end(text)
    return text[:end] + closes


def _end(text: str) -> tuple[int, str]:
    """Return the end of the last complete member, and the text that closes the rest.

    A member ends at a brace or bracket, or at the comma after it: among the elements of a cut list only objects and lists count.
    """
    open_: list[str] = []
    end = depth = 0
    for mark in _MARKS.finditer(text):
        if mark[0] in _CLOSE:
            open_.append(mark[0])
        elif mark[0] in "}]":
            if not open_ or _CLOSE[open_.pop()] != mark[0]:
                break
            end, depth = mark.end(), len(open_)
        elif mark[0] == "," and open_ and open_[-1] == "{":
            end, depth = mark.start(), len(open_)
    return end, "".join(_CLOSE[each] for each in reversed(open_[:depth]))


def _loaded(text: str) -> object | None:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
