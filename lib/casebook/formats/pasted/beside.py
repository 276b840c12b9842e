"""Parts of a paste besides outputs: commands, headings, and values of decoded lines without a row.

Nothing is silent: a command names servers, a namespace, a chroot or a folder; a heading names the owner of the next lines; each
named value of a decoded line is in a row, or listed as not kept.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from casebook.facts.pasted import Beside, BrokerSettings, NotKept, PastedLogLine
from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.pasted import pairs
from casebook.formats.pasted.text import PastedLine, one

_HEADING = re.compile(
    r"\s*(?:#\s+)?(?:(?:#+|-{2,}|={2,}>?|>{2,}|\*{2,}|\+{2,})\s*(?P<marked>[\w.-]{1,60}(?::\d{1,5})?)\s*(?:#+|-{2,}|={2,}|<{2,}|\*{2,})?:?"
    r"|\[(?P<boxed>[A-Za-z][\w.-]{1,60})\]|(?P<named>[A-Za-z][\w-]*[\d.][\w.-]*(?::\d{1,5})?):"
    r"|(?:#{2,}|-{2,}|={2,}|>{2,})(?=.*\d|.*(?i:broker|node|host|server|kafka|zoo))\s*"
    r"(?P<framed>[\w./:-]{1,60}(?: [\w./:-]{1,60}){1,4})\s*(?:#{2,}|-{2,}|={2,}|<{2,}):?"
    r"|(?P<resource>(?:pods?|po|node|container)/[a-z0-9][a-z0-9.-]*):?"
    r"|(?:[Hh]ost|[Ss]erver|[Nn]ode|[Pp]od|[Oo]n) (?P<called>[A-Za-z][\w.-]*):"
    r"|(?P<ansible>[\w.-]{1,60})\s*\|\s*(?:CHANGED|SUCCESS|FAILED!?|UNREACHABLE!?)\s*(?:\|\s*(?:rc=-?\d+|\(stdout\)|\(stderr\)).*|=>\s*\{?)"
    r"|\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<pssh>[\w.@-]+).*)\s*"
)
"""Headings above the output of one host, by shell loops, ansible, pssh and people."""
_AT = re.compile(
    r".*\b(?:(?:kubectl|oc|k)\s(?:(?:-\S+(?:\s+|=)[\w.-]+)\s+)*(?:exec|logs)"
    r"|docker(?:-compose| compose)?\s(?:exec|logs)|podman\s(?:exec|logs))"
    r"\s+(?:-(?:n|c|-namespace|-container|u|e|w|-env|-user|-tail|-workdir)[ =]\S+\s+|-\S+\s+)*"
    r"(?P<place>[\w./@-]+)(?![\w$.{/=:-]).*"
    r"|.*\bssh\s+(?:-[ipoFJ]\s*\S+\s+|-\S+\s+)*(?:\w+@)?(?P<host>[\w.-]+)\s+\S.*"
)
"""A command that runs in a pod, a container or on another host; one that a variable of a shell names is not known."""
_OF_FORMS = frozenset({
    "version", "class", "http", "https", "plaintext", "ssl", "sasl_ssl", "sasl_plaintext", "watcher", "zk", "sensitive",
    "warning", "note", "ctime", "mtime",
})  # fmt: skip
"""Names that are no facts: of an output's form, and schemes of addresses."""
_ABSENT = frozenset({"-1", "none", "null", "n/a", "-", "unknown", "optional.empty"})
"""Values that rows store as nothing."""
_HEX = re.compile(r"0x[0-9a-fA-F]{1,16}")
_UNIT = re.compile(r"(?<=\d)(?:[kmgt]i?b?|b|ms|s)$")
_CLASS = re.compile(r"(?:[a-z]\w*\.){2,}[A-Z]\w*")
_WORD = re.compile(r"[A-Za-z0-9]+")
_LONGEST, _MOST, _SHOWN, _FEW = 4096, 400, 3, 3


class _HeldWords(NamedTuple):
    """Values in rows on the lines of a span, in lower case."""

    text: str
    words: frozenset[str]


def is_heading(text: str) -> bool:
    """Return whether it announces a host, like a shell loop prints it."""
    return len(text) < 200 and _HEADING.fullmatch(text) is not None


def beside(lines: Iterable[PastedLine], whole: Sequence[PastedLine], is_typed: Callable[[str], bool]) -> list[Beside]:
    """Return lines with words that are no output: commands, headings, remarks, decoration of tools.

    Args:
        lines: Those lines.
        whole: All of the paste.
        is_typed: Whether a line is a command.
    """
    found = []
    for line in lines:
        if any(map(str.isalnum, line.text)):
            heading = _HEADING.fullmatch(line.text[:200])
            name = next(filter(None, heading.groups()), "") if heading else ""
            typed = not name and is_typed(line.text[:_LONGEST].lstrip("# "))
            name = _place(line.text[:_LONGEST]) if typed else name
            found.append(Beside(one(line), line.text.strip()[:_LONGEST], name, typed))
    return list(_placed(found, whole))


def _placed(found: Sequence[Beside], whole: Sequence[PastedLine]) -> Iterable[Beside]:
    """Commands one right below the other name no place: no answer has a certain command."""

    def is_next(first: int, second: int) -> bool:
        one_, other = found[first], found[second]
        between = whole[one_.span.last : other.span.first - 1]
        return one_.typed and other.typed and not any(line.text for line in between)

    for at, each in enumerate(found):
        is_one_of_several = (at > 0 and is_next(at - 1, at)) or (at + 1 < len(found) and is_next(at, at + 1))
        yield each._replace(heading="") if each.typed and is_one_of_several else each


def _place(command: str) -> str:
    """Where a command runs, as far as it says so."""
    found = _AT.fullmatch(command)
    return (found["place"] or found["host"] or "").rpartition("@")[2] if found else ""


def not_kept(lines: Sequence[PastedLine], parts: Iterable[tuple]) -> list[NotKept]:
    """Return named values in decoded lines that no row of these lines has, by output."""
    texts: dict[LineSpan, list[str]] = {}
    whole: set[int] = set()
    for part in parts:
        if isinstance(part, PastedLogLine | BrokerSettings):
            whole.update(range(part.span.first, part.span.last + 1))
        rest = [repr(value) for name, value in part._asdict().items() if name != "span"]
        texts.setdefault(part.span, []).append(" ".join(rest))
    held = {span: _held(rows) for span, rows in texts.items()}
    by_line: dict[int, list[_HeldWords]] = {}
    for span, each in held.items():
        for number in range(span.first, span.last + 1):
            by_line.setdefault(number, []).append(each)
    found: list[NotKept] = []
    for line in lines:
        if line.number not in by_line or line.number in whole or len(line.text) > _LONGEST:
            continue
        missing = _missing(line.text, by_line[line.number])
        if missing:
            found.append(NotKept(one(line), missing))
    return found[:_MOST]


def _held(rows: Iterable[str]) -> _HeldWords:
    text = "\n".join(rows).lower()
    return _HeldWords(text, frozenset(_WORD.findall(text)))


def _missing(text: str, held: Sequence[_HeldWords]) -> tuple[str, ...]:
    """Return the pairs of a line with a value in no row: each word of it, anywhere in a row."""
    missing = []
    for name, value in pairs.found(text):
        if name.lower() in _OF_FORMS or value.lower() in _ABSENT or not any(map(str.isalnum, value)):
            continue
        if value.rpartition("=")[2].lower() in _ABSENT:
            continue
        seen = str(int(value, 16)) if _HEX.fullmatch(value) else value.lower()
        words = set(_WORD.findall(_UNIT.sub("", seen)))
        last = {seen.rpartition(".")[2]} if _CLASS.fullmatch(value) else words
        if not any(words <= each.words or last <= each.words or value.lower() in each.words for each in held) and not (
            len(value) > _FEW and any(value.lower() in each.text for each in held)
        ):
            missing.append(f"{name} {value}"[:100])
    return tuple(dict.fromkeys(missing))
