"""The lines of a paste without secrets, also where a mail or a narrow screen has broken a line within one."""

import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise

from casebook.collect import redaction
from casebook.formats.pasted import text as pasted_text

_KEY_ALONE = re.compile(rb"""(?i).*(?:passw(?:or)?d|passphrase|secret|token|credential|[_.-]key)[\w.-]*["']?\s*(?:=|:)\s*["']?""")
_REST = re.compile(rb"\S{1,400}")
_BEGINS = re.compile(rb"\s{0,8}\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\s{1,40}[a-z][\w-]{0,80}(?:\.[\w-]{1,80}){1,20}=")
"""An entry of a log, or an indented setting."""
_WORD = re.compile(rb"[^\s\"'=,;:(){}\[\]]{4,}")
_REST_OF_VALUE = re.compile(rb"(?!\s|[\w.-]{1,200}\s{0,4}[=:]|[$#\[(/-])\S+")
_FOLDED_FROM = 55
_LEAST_WIDE, _MANY, _MOST_PARTS = 20, 8, 64
_SURE = 3
"""Lines as wide as the widest of the paste: it was broken by a screen."""


def redacted(texts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines without secrets, behind the quote marks of a mail, too.

    The last line has an end only if it has one in the paste.
    """
    pasted = list(texts)
    lines = [text.rstrip(b"\r\n").replace(b"\0", b"\xef\xbf\xbd") for text in pasted]
    marks = _quote_marks(lines)
    bodies = [line[len(mark) :] for line, mark in zip(lines, marks, strict=True)]
    clean = list(_without_rests(bodies))
    widths = [len(line.decode(errors="replace")) for line in lines]
    is_sure = widths.count(max(widths, default=0)) >= _SURE
    for first, after in _broken(bodies, widths):
        clean[first:after] = _without_whole(bodies[first:after], clean[first:after], is_sure=is_sure)
    last = len(lines) - 1 if lines and not pasted[-1].endswith((b"\n", b"\r")) else None
    for at, (mark, body) in enumerate(zip(marks, clean, strict=True)):
        yield mark + body + (b"" if at == last else b"\n")


def _quote_marks(lines: Sequence[bytes]) -> list[bytes]:
    """Return the quote mark of each line; what no line beside it has is its text, as in an arrow that a screen has broken."""
    marks = [pasted_text.quote_mark(line[:200].decode("latin-1")).encode("latin-1") for line in lines]
    beside = zip([b"", *marks], marks, [*marks[1:], b""], strict=False)
    return [mark if mark in (above, below) else above if mark.startswith(above) else b"" for above, mark, below in beside]


def _without_rests(bodies: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the lines without secrets, and without values alone below the name or the first part of one."""
    before = rest = b""
    for body, clean in zip(bodies, redaction.redact_log(bodies), strict=True):
        if (_KEY_ALONE.fullmatch(before[-4096:]) or rest) and _REST.fullmatch(body.strip()):
            rest = body
            clean = redaction.MARK
        else:
            rest = body if clean.endswith(redaction.MARK) and clean != body and len(body) >= _FOLDED_FROM else b""
        before = body
        yield clean


def _without_whole(parts: Sequence[bytes], clean: Sequence[bytes], *, is_sure: bool) -> Iterator[bytes]:
    """Yield the parts of a line that a screen may have broken, without what is a secret in the whole line.

    Unless that is sure, only one word may be the rest of a secret, below one that ends within a word; others are another line.
    """
    is_sure = is_sure or len(parts) > _MANY
    places = _secret_places(parts, is_sure=is_sure)
    goes_on, is_word = False, True
    for index, (part, safe) in enumerate(zip(parts, clean, strict=True)):
        rest: set[int] = set()
        if goes_on and not is_sure:
            word = _REST_OF_VALUE.match(part) if is_word else None
            rest = {*range(word.end())} if word else set()
            places[index:] = _secret_places(parts[index:], is_sure=False)
        secret = places[index] | rest
        known = _hidden(part, safe)
        goes_on = len(part) - 1 in secret
        begin = next((at + 1 for at in reversed(range(len(part))) if at not in secret), 0)
        is_word = goes_on and len(part[begin:].split()) == 1 and (begin > 0 or is_word)
        if known is None:
            yield redaction.MARK if secret else safe
        else:
            yield safe if secret <= known else _without(part, secret | known)


def _secret_places(parts: Sequence[bytes], *, is_sure: bool) -> list[set[int]]:
    """Return the places of secrets in each part, by the whole line, broken within a word or between two.

    Where its redacted form is not the line with marks, words that it lacks count, if it is sure that it is one line.
    """
    found: list[set[int]] = [set() for _ in parts]
    for glue in (b"", b" "):
        line = glue.join(parts)
        (whole,) = redaction.redact_log([line])
        secret = _hidden(line, whole) if redaction.MARK in whole else set()
        if secret is None:
            lacks = (word for word in _WORD.finditer(line) if is_sure and word[0] not in whole)
            secret = {at for word in lacks for at in range(*word.span())}
        begin = 0
        for places, part in zip(found, parts, strict=True):
            places |= {place - begin for place in secret if begin <= place < begin + len(part)}
            begin += len(part) + len(glue)
    return found


def _hidden(body: bytes, clean: bytes) -> set[int] | None:
    """Return the places in a line that its redacted form does not show; ``None`` where that form is not the line with marks."""
    found: set[int] = set()
    at = 0
    shown = clean.split(redaction.MARK)
    for index, text in enumerate(shown):
        begin = (len(body) - len(text) if index + 1 == len(shown) else body.find(text, at)) if index else 0
        if begin < at or body[begin : begin + len(text)] != text:
            return None
        found.update(range(at, begin))
        at = begin + len(text)
    return found


def _without(body: bytes, places: Container[int]) -> bytes:
    runs = itertools.groupby(range(len(body)), places.__contains__)
    return b"".join(redaction.MARK if is_hidden else bytes(body[at] for at in run) for is_hidden, run in runs)


def _broken(bodies: Sequence[bytes], widths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the lines that may be one: each but the last is as wide as others, or as wide as any up to an empty one.

    Args:
        bodies: Lines without quote marks.
        widths: Of each, with its marks: a mail may add them before or after lines are broken.
    """
    times = Counter(width for width, (_, below) in zip(widths, pairwise(bodies), strict=False) if below)
    full = [width >= _LEAST_WIDE and times[width] > 1 for width in widths]
    widest = 0
    for at in reversed(range(len(bodies))):
        widest = max(widest, widths[at]) if bodies[at] else 0
        full[at] |= _LEAST_WIDE <= widths[at] == widest
    at = 0
    while at < len(bodies):
        after = at
        while after + 1 < len(bodies) and full[after] and bodies[after + 1] and after - at < _MOST_PARTS:
            if _BEGINS.match(bodies[after + 1]):
                break
            after += 1
        if after > at:
            yield at, after + 1
        at = after + 1
