"""What stands in a paste beside its answers: what was typed, headings, and what no row holds of a line that was read.

Nothing of it is silent: a command names servers, a namespace, a chroot or a folder; a heading says whose the next lines are; of a
line that was read each value with its name is held by a row, or named as not kept.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from casebook.facts.pasted import Beside, BrokerSettings, NotKept, PastedLogLine
from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.pasted.text import PastedLine, one

_PAIR = re.compile(
    r"(?P<quote>\"?)(?<![\w/.-])(?P<name>[A-Za-z#%][\w.#%-]{1,40})(?P=quote) ?[:=] ?"
    r"(?P<value>\"[^\"]*\"|[^\s,;{}\[\]\"()]+)(?=[\s,;}\])]|$)"
)
_HEADING = re.compile(
    r"\s*(?:(?:#+|-{2,}|={2,}>?|>{2,}|\*{2,}|\+{2,})\s*(?P<marked>[\w.-]{1,60}(?::\d{1,5})?)\s*(?:#+|-{2,}|={2,}|<{2,}|\*{2,})?:?"
    r"|\[(?P<boxed>[A-Za-z][\w.-]{1,60})\]|(?P<named>[A-Za-z][\w-]*[\d.][\w.-]*(?::\d{1,5})?):)\s*"
)
_KEPT = frozenset({
    "topic", "partition", "partitioncount", "replicationfactor", "configs", "leader", "replicas", "isr", "isrs",
    "offline", "elr", "lastknownelr", "topicid", "size", "version", "partitions", "broker", "brokers", "logdir",
    "logdirs", "error", "sensitive", "offsetlag", "isfuture", "offset", "observers", "liveobservers",
    "markedfordeletion", "adding", "removing", "http", "https", "plaintext", "class", "type", "recved", "llat",
    "minlat", "avglat", "maxlat", "lcxid", "dataversion", "aclversion", "static_broker_config", "watcher",
    "localhost",
})  # fmt: skip
"""Names whose values the rows hold without the name, or tell of all at once."""
_WORD = re.compile(r"[A-Za-z0-9]+")
_LONGEST, _MOST, _SHOWN, _FEW = 4096, 400, 3, 3


class _HeldWords(NamedTuple):
    """What rows hold of the lines of a span, in small letters."""

    text: str
    words: frozenset[str]


def is_heading(text: str) -> bool:
    """Whether it announces a host, as a loop in a shell prints it."""
    return len(text) < 200 and _HEADING.fullmatch(text) is not None


def beside(lines: Iterable[PastedLine], is_typed: "re.Pattern[str]") -> list[Beside]:
    """Lines that are no answers and hold words: commands, headings, remarks, what tools say around their answers."""
    found = []
    for line in lines:
        if any(map(str.isalnum, line.text)):
            heading = _HEADING.fullmatch(line.text[:200])
            name = (heading["marked"] or heading["boxed"] or heading["named"]) if heading else ""
            found.append(
                Beside(
                    one(line),
                    line.text.strip()[:_LONGEST],
                    name or "",
                    is_typed.match(line.text[:_LONGEST].lstrip("# ")) is not None,
                )
            )
    return found


def not_kept(lines: Sequence[PastedLine], parts: Iterable[tuple]) -> list[NotKept]:
    """Values with their names that stand in lines which were read, and that no row of these lines holds; an output at a time."""
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
    found = []
    for pair in _PAIR.finditer(text):
        name, value = pair["name"].lower(), pair["value"].strip('"').lower()
        if name in _KEPT or not value or name.endswith((".java", ".scala")):
            continue
        is_told = any(name in each.text for each in held) or (
            len(value) > _FEW and any(value in each.text or set(_WORD.findall(value)) <= each.words for each in held)
        )
        if not is_told:
            found.append(f"{pair['name']} {pair['value']}"[:100])
    return tuple(dict.fromkeys(found))
