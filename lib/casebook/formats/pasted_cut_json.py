"""JSON that may be cut: what of it was pasted, up to the last part that is whole."""

import json
import re
from collections.abc import Sequence

from casebook.formats.pasted_text import Line

_MARKS = re.compile(r'"(?:\\.|[^"\\])*+"?|[{}\[\]]')
_MOST_FOLDED, _MOST_CHARACTERS, _ALIKE = 5000, 4 << 20, 12
_CLOSE = {"{": "}", "[": "]"}


def read(lines: Sequence[Line], at: int) -> tuple[object | None, bool, int]:
    """The value that begins at a line, folded or not.

    Returns:
        The value, ``None`` where nothing of it is whole; whether it is whole; where to go on.
    """
    texts: list[str] = []
    after, size = at, 0
    while after < min(len(lines), at + _MOST_FOLDED) and size < _MOST_CHARACTERS:
        text = lines[after].text
        if after > at and (not text or not _may_go_on(texts[-1], text) or _begins_anew(texts[0], text)):
            break
        texts.append(text)
        size, after = size + len(text), after + 1
        if text.rstrip().endswith(("}", "]")) and (found := _loaded("".join(texts))) is not None:
            return found, True, after
    for joined in ("".join(texts), texts[0]):
        if (found := _loaded(_closed(joined))) is not None:
            return found, False, after if joined != texts[0] else at + 1
    return None, False, after


def _begins_anew(first: str, text: str) -> bool:
    """Whether a line is the beginning of another one of the kind."""
    return len(text) > _ALIKE and text[:_ALIKE] == first[:_ALIKE]


def _may_go_on(before: str, text: str) -> bool:
    """Whether a line can be the next of folded JSON: pretty-printed, or broken wherever a mail breaks."""
    return len(before) > 50 or text.lstrip()[:1] in '{}[]",' or before.rstrip()[-1:] in "{[,:"


def _closed(text: str) -> str:
    """The text up to the last brace or bracket that closes something, and what closes the rest."""
    open_: list[str] = []
    end = depth = 0
    for mark in _MARKS.finditer(text):
        if mark[0] in _CLOSE:
            open_.append(mark[0])
        elif mark[0] in "}]":
            if not open_ or _CLOSE[open_.pop()] != mark[0]:
                break
            end, depth = mark.end(), len(open_)
    return text[:end] + "".join(_CLOSE[each] for each in reversed(open_[:depth]))


def _loaded(text: str) -> object | None:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
