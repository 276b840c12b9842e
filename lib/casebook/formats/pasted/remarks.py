"""What people write into an output: remarks behind its lines, dots in place of lines, stars in place of values.

Where a line says nothing to anybody, it is read once more without the remark behind it. What was left out is told with its line;
what is masked is unknown, and no value.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.pasted import BrokerSettings, DescribedTopic, PastedZnode, ToldConfig, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, is_gap, is_remark, one

_BEHIND = re.compile(
    r"(?<=\S)\s+(?:<[-=~<]+|[-=~]{1,3}>|>{2,}|←|⟵|⇐|→|#|//|;;?\s|\*{2,}|--(?=\s)|!{2,}|<<|\((?=[^()\d]{2,}\s[^()]*\)\s*$)|\^{2,})\s?.*"
)
_BEFORE = re.compile(r"\A\s*+(?:[-=~]{1,3}>|>{2,}|→|\*{1,3}|•|\+)\s+(?=\S)")
_MASKED = re.compile(
    r"[\"'\[<({]*(?:\*{2,}|[xX]{3,}|#{3,}|_{3,}|\?{2,}|\.{3}|(?:redacted|hidden|masked|removed|censored"
    r"|confidential|snip|omitted|anonymi[sz]ed)(?:[ _-]\w+)?"
    r"|(?=.*[xX*]\.)(?:(?:\d{1,3}|[xX*]{1,3})\.){2,3}(?:\d{1,3}|[xX*]{1,3})(?::\d{1,5})?|my[_-]\w+[_-]here|your[_-]\w+)[\"'\]>)}]*",
    re.IGNORECASE,
)
"""What somebody put in place of a value; ``[redacted]`` stands for a secret that casebook itself took out."""
_OURS = "[redacted]"
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*|\S+=\S")
_LONGEST, _MOST_GAPS, _FEW, _MOST_SHOWN = 4096, 200, 2, 200


def without(lines: Sequence[PastedLine], unknown: Sequence[PastedLine]) -> list[PastedLine]:
    """The lines, those that nobody knows without what stands behind or before them."""
    bare = {line.number: _bare(line.text) for line in unknown}
    return [line._replace(text=bare.get(line.number, line.text)) for line in lines]


def has_remark(text: str) -> bool:
    """Whether something stands behind or before a line that may be a remark."""
    return bool(text) and len(text) < _LONGEST and _bare(text) != text


def told(lines: Iterable[PastedLine]) -> Iterator[ToolStatement]:
    """What somebody wrote behind or before lines that are understood without it."""
    for line in itertools.islice(lines, _MOST_GAPS):
        remark = line.text.replace(_bare(line.text), "", 1).strip()
        if any(map(str.isalnum, remark)):
            yield ToolStatement("a remark", one(line), f"beside line {line.number} somebody wrote: {remark[:_MOST_SHOWN]}")


def notes(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """What was taken away before anybody read the lines: remarks behind them, names of containers before them."""
    noted = [line for line in lines if line.note and any(map(str.isalnum, line.note))]
    for line in noted[:_MOST_GAPS]:
        yield ToolStatement("a remark", one(line), f"beside line {line.number} somebody wrote: {line.note[:_MOST_SHOWN]}")
    for (name, _), run in itertools.groupby(enumerate(lines), lambda each: (each[1].container, each[1].number - each[0])):
        rows = [line for _, line in run]
        if name:
            span = LineSpan(rows[0].number, rows[-1].number)
            which = f"lines {span.first}-{span.last} are" if len(rows) > 1 else f"line {span.first} is"
            yield ToolStatement("docker compose", span, f"{which} of container {name}")
    for (is_stamped, _), run in itertools.groupby(enumerate(lines), lambda each: (bool(each[1].stamp), each[1].number - each[0])):
        rows = [line for _, line in run]
        if is_stamped:
            stamps = list(dict.fromkeys((rows[0].stamp, rows[-1].stamp)))
            span = LineSpan(rows[0].number, rows[-1].number)
            yield ToolStatement("a collector", span, f"lines {span.first}-{span.last} bear the time {' to '.join(stamps)}")


def _bare(text: str) -> str:
    behind = _BEHIND.search(text)
    return _BEFORE.sub("", text[: behind.start()] if behind else text, count=1)


def gaps(lines: Sequence[PastedLine]) -> Iterator[CutOutput]:
    """Where somebody left lines out."""
    found = [line for line in lines if line.text and is_gap(line.text)]
    for line in found[:_MOST_GAPS]:
        yield CutOutput(one(line), "stands for lines that were left out")


def figures(lines: Sequence[PastedLine], found: Mapping[type, Sequence[NamedTuple]]) -> Iterator[CutOutput]:
    """Comments with figures that stand within an answer of which they are no part: they may be an answer themselves."""
    spans = [
        part.span for kind in (PastedZnode, ToolStatement) for part in found.get(kind, ()) if part.span.last > part.span.first
    ]
    for line in lines:
        if has_figures(line.text) and any(span.first < line.number < span.last for span in spans):
            yield CutOutput(one(line), "is a comment with figures, which nobody reads")


def has_figures(text: str) -> bool:
    """Whether a comment has figures: it may be an output that somebody put in a comment."""
    return is_remark(text) and len(_FIGURES.findall(text)) >= _FEW


def is_masked(value: str) -> bool:
    """Whether it stands in place of a value."""
    return value.strip() != _OURS and _MASKED.fullmatch(value.strip()) is not None


def masked(found: dict[type, list]) -> Iterator[CutOutput]:
    """Take values that are masked out of settings; each is told with its line."""
    for rows in (found.get(ToldConfig, []), found.get(DescribedTopic, []), found.get(BrokerSettings, [])):
        for at, row in enumerate(rows):
            rows[at], hidden = _unmasked(row)
            for name, where in hidden:
                yield CutOutput(where, f"masks the value of {name}: it is unknown")
            if hidden and isinstance(row, DescribedTopic):
                rest = {name: value for name, value in (row.configs or {}).items() if not is_masked(value)}
                found.setdefault(ToldConfig, []).append(ToldConfig("topics", row.topic, row.span, rest, whole=False))


def _unmasked(row: ToldConfig | DescribedTopic | BrokerSettings) -> tuple[object, list[tuple[str, LineSpan]]]:
    if isinstance(row, BrokerSettings):
        values = [(text, text.partition("=")[0].strip(), is_masked(text.partition("=")[2])) for text in row.lines]
        lines = tuple("" if hidden else text for text, _, hidden in values)
        names = [
            (name, LineSpan(row.span.first + at, row.span.first + at)) for at, (_, name, hidden) in enumerate(values) if hidden
        ]
        return row._replace(lines=lines), names
    settings = row.settings if isinstance(row, ToldConfig) else row.configs or {}
    hidden = [(name, row.span) for name, value in settings.items() if is_masked(value)]
    if not hidden:
        return row, []
    rest = {name: value for name, value in settings.items() if not is_masked(value)}
    return (row._replace(settings=rest, whole=False) if isinstance(row, ToldConfig) else row._replace(configs=None)), hidden
