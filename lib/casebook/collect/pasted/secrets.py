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
_SETTING = re.compile(
    rb"\s{0,40}(?:advertised|authorizer|auto|background|broker|cleanup|compression|connections|controlled|controller|default|delete"
    rb"|fetch|flush|group|inter|leader|listeners?|log|max|message|metadata|metric|min|node|num|offsets?|process|producer|queued|quota"
    rb"|replica|replication|request|reserved|retention|sasl|security|segment|socket|ssl|super|transaction|transactional|unclean"
    rb"|zookeeper)(?:\.[a-z][\w.-]{0,200})?\s{0,4}[=:]"
)
"""Settings begin with these words, the rests of names that a screen has broken do not."""
_DATED = re.compile(rb"\s{0,8}\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_WORD = re.compile(rb"[^\s\"'=,;:(){}\[\]]{4,}")
_FOLDED_FROM = 55
_LEAST_WIDE, _MOST_PARTS = 20, 64


def redacted(texts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines without secrets, behind the quote marks of a mail, too.

    The last line has an end only if it has one in the paste.
    """
    pasted = list(texts)
    lines = [text.rstrip(b"\r\n").replace(b"\0", b"\xef\xbf\xbd") for text in pasted]
    marks = _quote_marks(lines)
    bodies = [line[len(mark) :] for line, mark in zip(lines, marks, strict=True)]
    clean = list(_without_rests(bodies))
    for first, after in _broken(bodies, list(map(len, lines)), clean):
        clean[first:after] = _without_whole(bodies[first:after], clean[first:after])
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


def _without_whole(parts: Sequence[bytes], clean: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the parts of a line that a screen may have broken, without what is a secret in the whole line."""
    (whole,) = redaction.redact_log([b"".join(parts)])
    secret = _hidden(b"".join(parts), whole) if redaction.MARK in whole else set()
    begin = 0
    for part, safe in zip(parts, clean, strict=True):
        known = _hidden(part, safe)
        if secret is None or known is None:
            yield _WORD.sub(lambda word: word[0] if word[0] in whole else redaction.MARK, safe)
        else:
            more = {place - begin for place in secret if begin <= place < begin + len(part)}
            yield safe if more <= known else _without(part, more | known)
        begin += len(part)


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


def _broken(bodies: Sequence[bytes], widths: Sequence[int], clean: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the lines that may be one: each but the last is as wide as others, or the widest between two empty lines.

    Args:
        bodies: Lines without quote marks.
        widths: Of each, with its marks: a mail may add them before or after lines are broken.
        clean: The lines without secrets: below one that ends with a secret, a setting is another line; so is a dated line.
    """
    times = Counter(width for width, (_, below) in zip(widths, pairwise(bodies), strict=False) if below)
    full = [width >= _LEAST_WIDE and times[width] > 1 for width in widths]
    for block in _blocks(bodies):
        widest = max(widths[at] for at in block)
        for at in block:
            full[at] |= _LEAST_WIDE <= widths[at] == widest
    at = 0
    while at < len(bodies):
        after = at
        while after + 1 < len(bodies) and full[after] and bodies[after + 1] and after - at < _MOST_PARTS:
            if _DATED.match(bodies[after + 1]) or (clean[after].endswith(redaction.MARK) and _SETTING.match(bodies[after + 1])):
                break
            after += 1
        if after > at:
            yield at, after + 1
        at = after + 1


def _blocks(bodies: Sequence[bytes]) -> Iterator[range]:
    first = 0
    for after in range(len(bodies) + 1):
        if after == len(bodies) or not bodies[after]:
            if first < after:
                yield range(first, after)
            first = after + 1
