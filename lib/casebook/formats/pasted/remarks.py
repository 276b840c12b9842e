"""People's edits of an output: remarks after its lines, dots for omitted lines, stars for values.

A line that is undecodable is tried again without its remark. Omissions are reported with their line; masked values are unknown.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.pasted import Beside, BrokerSettings, DescribedTopic, PastedZnode, ToldConfig, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.damage import sent
from casebook.formats.pasted.text import BRACKETED, PastedLine, is_gap, is_remark, one, quote_mark

_BEHIND = re.compile(
    r"(?<=\S)\s+(?:<[-=~<]++(?!\s?[\"'])|[-=~]{1,3}>|>{2,}|←|⟵|⇐|→|#|//|;;?\s|\*{2,}|--(?=\s)|!{2,}|<<"
    rf"|{BRACKETED}|\^{{2,}})\s?.*"
)
_BEFORE = re.compile(r"\A\s*+(?:[-=~]{1,3}>|>{2,}|→|\*{1,3}|•|\+)\s+(?=\S)|\A\+(?=[a-zA-Z])")
"""Also what a comparison puts before an added line, of which the rest of an output is around it."""
_MASKED = re.compile(
    r"[\"'\[<({]*(?:\*{2,}|[xX]{3,}|#{3,}|_{3,}|\?{2,}|\.{3}|(?:redacted|hidden|masked|removed|censored"
    r"|confidential|snip|omitted|anonymi[sz]ed)(?:[ _-]\w+)?"
    r"|(?=.*[xX*]\.)(?:(?:\d{1,3}|[xX*]{1,3})\.){2,3}(?:\d{1,3}|[xX*]{1,3})(?::\d{1,5})?|my[_-]\w+[_-]here|your[_-]\w+)[\"'\]>)}]*",
    re.IGNORECASE,
)
"""Placeholders for a value; ``[redacted]`` is casebook's own for a secret."""
_OURS = "[redacted]"
_LAST_WORD = re.compile(r"[^\s\"'`\])}>]{1,400}\Z")
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*|\S+=\S")
_LONGEST, _MOST_GAPS, _MOST_SENDERS, _FEW, _MOST_SHOWN = 4096, 200, 40, 2, 200


def without(lines: Sequence[PastedLine], unknown: Sequence[PastedLine]) -> list[PastedLine]:
    """Return the lines, undecoded ones without the text after or before them."""
    bare = {line.number: _bare(line.text) for line in unknown}
    return [line._replace(text=bare.get(line.number, line.text)) for line in lines]


def has_remark(text: str) -> bool:
    """Return whether text that may be a remark follows or precedes a line."""
    return bool(text) and len(text) < _LONGEST and _bare(text) != text


def told(lines: Iterable[PastedLine]) -> Iterator[ToolStatement]:
    """Yield remarks after or before lines that are decoded without them."""
    for line in itertools.islice(lines, _MOST_GAPS):
        remark = line.text.replace(_bare(line.text), "", 1).strip()
        if any(map(str.isalnum, remark)):
            yield ToolStatement("a remark", one(line), f"a remark next to line {line.number}: {cut(remark, _MOST_SHOWN)}")


def notes(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield text removed before decoding: remarks after lines, names of containers and files before them."""
    noted = [line for line in lines if line.note and any(map(str.isalnum, line.note))]
    for line in noted[:_MOST_GAPS]:
        yield ToolStatement("a remark", one(line), f"a remark next to line {line.number}: {cut(line.note, _MOST_SHOWN)}")
    for (name, _), run in itertools.groupby(enumerate(lines), lambda each: (each[1].container, each[1].number - each[0])):
        rows = [line for _, line in run]
        if name:
            span = LineSpan(rows[0].number, rows[-1].number)
            which = f"lines {span.first}-{span.last} are" if len(rows) > 1 else f"line {span.first} is"
            yield ToolStatement("grep" if name.startswith("file ") else "docker compose", span, f"{which} of {name}")
    for (is_stamped, _), run in itertools.groupby(enumerate(lines), lambda each: (bool(each[1].stamp), each[1].number - each[0])):
        rows = [line for _, line in run]
        if is_stamped:
            stamps = list(dict.fromkeys((rows[0].stamp, rows[-1].stamp)))
            span = LineSpan(rows[0].number, rows[-1].number)
            yield ToolStatement("a collector", span, f"lines {span.first}-{span.last} bear the time {' to '.join(stamps)}")


def _bare(text: str) -> str:
    behind = _BEHIND.search(text)
    return _BEFORE.sub("", text[: behind.start()] if behind else text, count=1)


def open_end(texts: Sequence[str], lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield the last word of a paste whose last line alone has no line end: it may be the start of a longer one.

    Args:
        texts: The lines as given; without any line end nothing is known.
        lines: The same, cleaned.
    """
    if 1 < len(texts) == len(lines) and texts[-2].endswith("\n") and (last := _LAST_WORD.search(texts[-1])):
        says = f"the paste ends without a line end: its last word, {cut(last[0], _MOST_SHOWN)}, may be cut"
        yield ToolStatement("the end of the paste", one(lines[-1]), says)


def senders(texts: Sequence[str], lines: Sequence[PastedLine]) -> Iterator[Beside]:
    """Yield times and names before messages of a chat, or before lines of a script that look like one.

    Args:
        texts: The lines as given.
        lines: The same, cleaned.
    """
    found = ((line, sent.sender(text[len(quote_mark(text)) :])) for text, line in zip(texts, lines, strict=False))
    removed = ((line, before) for line, before in found if before and not line.text.lstrip().startswith(before))
    for line, before in itertools.islice(removed, _MOST_SENDERS):
        yield Beside(one(line), before)


def gaps(lines: Sequence[PastedLine]) -> Iterator[CutOutput]:
    """Yield places of omitted lines; a point may be the root of a tree below it."""
    found = [
        line
        for line, below in zip(lines, [*lines[1:], PastedLine(0, "")], strict=False)
        if line.text and is_gap(line.text) and not (line.text.strip() == "." and below.text.lstrip().startswith(("├", "└")))
    ]
    for line in found[:_MOST_GAPS]:
        yield CutOutput(one(line), "stands for lines that were left out")


def figures(lines: Sequence[PastedLine], found: Mapping[type, Sequence[NamedTuple]]) -> Iterator[CutOutput]:
    """Yield comments with numbers inside an output that does not include them: they may be output themselves."""
    spans = [
        part.span for kind in (PastedZnode, ToolStatement) for part in found.get(kind, ()) if part.span.last > part.span.first
    ]
    for line in lines:
        if has_figures(line.text) and any(span.first < line.number < span.last for span in spans):
            yield CutOutput(one(line), "is a comment with figures, which are not read")


def has_figures(text: str) -> bool:
    """Return whether a comment has numbers: it may be commented output."""
    return is_remark(text) and len(_FIGURES.findall(text)) >= _FEW


def is_masked(value: str) -> bool:
    """Return whether it is a placeholder."""
    return value.strip() != _OURS and _MASKED.fullmatch(value.strip()) is not None


def masked(found: dict[type, list]) -> Iterator[CutOutput]:
    """Remove masked values from settings; each is reported with its line."""
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
