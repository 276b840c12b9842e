"""Parts of decoded lines that no row holds: each is named with its line, whatever reader took the line.

A word between blanks, brackets and commas is held if a row of its line has it, also as a number in other notation; it needs no
row if it is of the tool's own form (:mod:`casebook.formats.pasted.own_words`). Every other word is named: so a column, a key or a
line that no reader expects cannot be silent.
"""

import itertools
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from casebook.facts.pasted import BrokerSettings, NotKept, PastedLogLine, PastedOffset, PastedZnode
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut, literal
from casebook.formats.pasted import pairs
from casebook.formats.pasted.hosts import listing
from casebook.formats.pasted.own_words import OWN_WORDS
from casebook.formats.pasted.text import PastedLine, one

_PIECE = re.compile(r"[^\s,;()\[\]{}|\"'`=<>]+")
_EDGES = ":+.*-_/\\!?&^~→←↑└├─│…"
_NO_FACTS = frozenset({
    "version", "class", "http", "https", "plaintext", "ssl", "sasl_ssl", "sasl_plaintext", "watcher", "zk", "sensitive",
    "warning", "note", "prio", "os_prio", "tid", "nid",
})  # fmt: skip
"""Names whose values are of an output's form, schemes of addresses, and addresses of threads."""
_ABSENT = frozenset({"-1", "none", "null", "n/a", "-", "unknown", "optional.empty"})
"""Values that rows store as nothing, where the name beside them is one that is read."""
_MODE = re.compile(r"[dlcbps-]?(?:[rwxsStT-]{8,9})[.+@]?|[dl-][a-z-]{4,5}")
_OF_FORM = re.compile(
    r"\s*at (?:[\w.-]+(?:@[\w.-]+)?/)?[\w.$/<>]+\([^)]*\)\s*|\s*\"[^\"]*\" .*\b[nt]id=\S+.*"
    r"|\d{1,9}(?:,\d{1,9})?[acd]\d{1,9}(?:,\d{1,9})?"
)
"""Stack frames and the heads of threads: addresses, which only their dump explains; places of lines that ``diff`` prints."""
_BEFORE = re.compile(
    r"\A[\s#]*[dlcbps-]?[rwxsStT-]{8,9}[.+@]?\s+\d+(?:\s+[\w.@+-]+\s+[\w.@+-]+(?=\s+[\d.]+[KMGT]?\s))?"
    r"|(?<=[a-zA-Z])\(\d{1,3}\)(?=: )|(?<=\d)\[\d\](?=\()"
)
"""Links and owners of a file, stated once for its listing; number of an API behind its name; state of a client's connection."""
_TIME_OF_ZNODE = re.compile(r"\s*[cm]time\s*=.*")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,16}")
_UNIT = re.compile(r"(?<=\d)(?:[kmgt]i?b?|b|ms|s)$")
_CLASS = re.compile(r"(?:[a-z]\w*\.){2,}[A-Z]\w*")
_WORD = re.compile(r"[A-Za-z0-9]+")
_GROUPED = re.compile(r"(?<![\d.,'])\d{1,3}(?:[.,']\d{3})+(?![\d.,'])")
_LONGEST, _FEW, _SHOWN, _MOST_SHOWN = 1 << 16, 3, 100, 300


class _HeldWords(NamedTuple):
    """Values in rows on the lines of a span, in lower case."""

    text: str
    words: frozenset[str]


def not_kept(lines: Sequence[PastedLine], parts: Iterable[tuple], quoted: Iterable[int]) -> list[NotKept]:
    """Return what no row of its line has, by line.

    Args:
        lines: All of the paste.
        parts: The rows, each with the span of its lines.
        quoted: Lines that are shown as pasted.
    """
    texts: dict[LineSpan, list[str]] = {}
    whole = set(quoted)
    timed: set[int] = set()
    for part in parts:
        if isinstance(part, PastedLogLine | BrokerSettings):
            whole.update(range(part.span.first, part.span.last + 1))
        if isinstance(part, PastedZnode) and part.stat is not None:
            timed.update(range(part.span.first, part.span.last + 1))
        texts.setdefault(part.span, []).append(_told(part))
    by_line: dict[int, list[_HeldWords]] = {}
    for span, rows in texts.items():
        held = _held(rows)
        for number in range(span.first, span.last + 1):
            by_line.setdefault(number, []).append(held)
    found = []
    for line in lines:
        held_here = by_line.get(line.number)
        is_time = line.number in timed and _TIME_OF_ZNODE.fullmatch(line.text)
        if held_here and line.number not in whole and not is_time and (missing := _missing(line.text, held_here)):
            found.append(NotKept(one(line), missing))
    return found


def _told(part: tuple) -> str:
    """Return the values of a row, with what follows from them."""
    rest = " ".join(repr(value) for name, value in part._asdict().items() if name != "span")
    if isinstance(part, PastedOffset) and part.offset is not None and part.end is not None:
        rest += f" {part.end - part.offset}"
    return rest


def _held(rows: Iterable[str]) -> _HeldWords:
    text = "\n".join(rows).lower()
    return _HeldWords(text, frozenset(_WORD.findall(text)))


def _missing(text: str, held: Sequence[_HeldWords]) -> tuple[str, ...]:
    """Return names with values of which either is missing, and other words by runs."""
    if len(text) > _LONGEST:
        return (f"{literal(text, _SHOWN)} ({len(text)} characters: too long to compare)",)
    if _OF_FORM.fullmatch(text):
        return ()
    text = _BEFORE.sub("", text, count=1)
    text = _GROUPED.sub(lambda found: " " if _is_held(found[0], held) else found[0], text)
    found, named = [], set()
    for name, value in pairs.found(text):
        pieces = _PIECE.findall(f"{name} {value}")
        if name.lower() in _NO_FACTS:
            named.update(pieces)
        elif not (_is_known(name, held) and (_is_held(value, held) or all(_is_known(piece, held) for piece in pieces))):
            named.update((*pieces, f"{name}:{pieces[1] if len(pieces) > 1 else ''}"))
            found.append(cut(f"{name} {value}", _SHOWN))
    return tuple(dict.fromkeys([*found, *_runs(text, held, named)]))


def _runs(text: str, held: Sequence[_HeldWords], named: Container[str]) -> Iterator[str]:
    """Yield adjacent words that are neither held, nor of the tool's form, nor named already."""
    pieces = _PIECE.findall(text)
    lost = {piece for piece in {*pieces} if not (piece.strip(":") in named or _is_known(piece, held))}
    for is_lost, run in itertools.groupby(pieces, lost.__contains__):
        if is_lost:
            yield cut(" ".join(run), _MOST_SHOWN)


def _is_known(piece: str, held: Sequence[_HeldWords]) -> bool:
    """Return whether a word needs no naming."""
    bare = piece.strip(_EDGES).removeprefix("zk_")
    if not any(map(str.isalnum, bare)) or piece.strip(":").lower() in _ABSENT or bare in OWN_WORDS or _MODE.fullmatch(piece):
        return True
    label, separated, rest = bare.partition(":")
    return _is_held(bare, held) or bool(separated and label in OWN_WORDS and _is_known(rest, held))


def _is_held(value: str, held: Sequence[_HeldWords]) -> bool:
    """Return whether a row has a value: each word of it, or all of it."""
    seen = str(int(value, 16)) if _HEX.fullmatch(value) else _UNIT.sub("", value.lower())
    plain = re.sub(r"\D", "", seen) if _GROUPED.fullmatch(seen) else seen
    words = set(_WORD.findall(plain))
    last = {seen.rpartition(".")[2]} if _CLASS.fullmatch(value) else words
    if any(words <= each.words or last <= each.words or value.lower() in each.words for each in held):
        return True
    about, at = listing.rounded(value), _instant(value)
    if any(str(one) in each.words for one in (about,) if one is not None for each in held):
        return True
    if at and any(at in each.text for each in held):
        return True
    return len(value) > _FEW and any(value.lower() in each.text for each in held)


def _instant(value: str) -> str:
    """Return an instant of epoch seconds or milliseconds as rows print it; ``""`` for another number."""
    if not value.isdecimal() or len(value) not in (10, 13):
        return ""
    return datetime.fromtimestamp(int(value[:10]), UTC).isoformat().removesuffix("+00:00").lower()
