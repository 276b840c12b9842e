"""Output of Kafka's JmxTool, in each of its formats (``core/src/main/scala/kafka/tools/JmxTool.scala@2.8.2``)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.facts.pasted_hosts import HostSaid, LineSpan
from casebook.formats.pasted.hosts import mbeans
from casebook.formats.pasted.hosts.host import LONGEST, Frame, uncommented
from casebook.formats.pasted.text import PastedLine, one, spanned

_FLAT = re.compile(r"\s*\"?(?P<mbean>kafka(?:\.\w+)+:[^\"=\s]+=[^\"\s]*?):(?P<name>\w+)\"?(?:=|\t|,)\"?(?P<value>[^\"]*)\"?\s*")
_FLAT_TIME = re.compile(r"\s*time(?:=|\t|,)\"?(?P<ms>\d{13})\"?\s*")
_COLUMNS = re.compile(r"\s*\"?time\"?,\s*\"?kafka\.")
_COLUMN = re.compile(r"(kafka(?:\.\w+)+:[^:\"]+:[\w-]+)")
_ROW_OF_COLUMNS = re.compile(r"\s*\"?[\w]{1,12}[\w :./+-]{3,40}(?:,[^,]{0,200}){1,5000}")
"""A row of JmxTool: its first cell is a time in any form of ``--date-format``."""
_ROW_ALONE = re.compile(r"\d{13}(?:,-?(?:\d[\d.]*(?:E-?\d+)?|NaN|Infinity)){1,500}")
_ASKS_ONE = re.compile(
    r".*JmxTool\b.*?--object-name[ =]['\"]?(?P<mbean>kafka\S+?)['\"]?(?=\s|$)(?:.*--attributes[ =](?P<attribute>\w+)(?![\w,]))?.*"
)
"""A command that names the MBean of the rows below it."""
_MOST_FOLDED = 40


def columns(lines: Sequence[PastedLine], whose: Mapping[int, int | None]) -> Iterator[HostSaid | Frame]:
    """Parse JmxTool: a header of names, and a row per time."""
    names: list[str] = []
    after, asked, attribute = 0, "", ""
    for at, line in enumerate(lines):
        text = uncommented(line.text) if len(line.text) <= 64 << 10 else ""
        if at < after:
            continue
        if _COLUMNS.match(text):
            header, after = _header(lines, at)
            names = _COLUMN.findall(header)
            yield from (Frame(one(each)) for each in lines[at:after])
        elif names and len(cells := _cells(text)) > len(names):
            when, values = ",".join(cells[: -len(names)]), cells[-len(names) :]
            at_ms = int(when) if re.fullmatch(r"\d{13}", when) else None
            yield from _of_row(names, values, one(line), whose.get(at), at_ms, "" if at_ms else when)
        elif _ROW_ALONE.fullmatch(text):
            when, _, values = text.partition(",")
            if asked and "," not in values:
                yield mbeans.said(asked, {attribute or "Value": values}, one(line), whose.get(at), int(when))
                continue
            said = f"this looks like a row of JmxTool: at {when} the values {values}; only its header line names the metrics"
            settle = "paste JmxTool's rows together with their first line"
            yield HostSaid("metrics", one(line), said, whose.get(at), settle=settle, facts={"row": text})
        elif text:
            names = []
            if command := _ASKS_ONE.fullmatch(text[:LONGEST]):
                asked, attribute = command["mbean"], command["attribute"]


def _header(lines: Sequence[PastedLine], at: int) -> tuple[str, int]:
    """Return the header, joined where a narrow screen has broken it: a name is open, or a comma has no name behind it."""
    text, after = uncommented(lines[at].text).rstrip(), at + 1
    while after < min(len(lines), at + _MOST_FOLDED) and (more := lines[after].text.strip()) and len(more) < LONGEST:
        if not (text.count('"') % 2 or text.endswith(",") or more.startswith((',"', '"kafka.'))):
            break
        text, after = f"{text}{more}", after + 1
    return text, after


def _cells(text: str) -> list[str]:
    """Return the cells of a row; none with more words than a date and a value."""
    return [cell.strip().strip('"') for cell in text.split(",")] if _ROW_OF_COLUMNS.fullmatch(text) else []


def _of_row(
    names: Sequence[str], values: Sequence[str], where: LineSpan, broker: int | None, at: int | None, printed: str
) -> Iterator[HostSaid]:
    by_mbean: dict[str, dict[str, str]] = {}
    for name, value in zip(names, values, strict=True):
        mbean, _, attribute = name.rpartition(":")
        if mbeans.MBEAN.fullmatch(mbean):
            by_mbean.setdefault(mbean, {})[attribute] = value
    for mbean, attributes in by_mbean.items():
        yield mbeans.said(mbean, attributes, where, broker, at, printed)


def flat(lines: Sequence[PastedLine], whose: Mapping[int, int | None]) -> Iterator[HostSaid | Frame]:
    """Parse JmxTool's other formats: an attribute per line."""
    at_ms, block, begin = None, {}, 0
    for at, line in enumerate(lines):
        text = line.text[:LONGEST]
        found = _FLAT.fullmatch(text) if "kafka." in text and ":" in text else None
        mbean = found["mbean"] if found and mbeans.MBEAN.fullmatch(found["mbean"]) else None
        if block and (mbean is None or mbean not in block):
            for name, values in block.items():
                yield mbeans.said(name, values, spanned(lines, begin, at), whose.get(begin), at_ms)
            block = {}
        if mbean is not None:
            begin = at if not block else begin
            block.setdefault(mbean, {})[found["name"]] = found["value"]
        elif time := _FLAT_TIME.fullmatch(text):
            at_ms = int(time["ms"])
            yield Frame(one(line))
        elif text:
            at_ms = None
    for name, values in block.items():
        yield mbeans.said(name, values, spanned(lines, begin, len(lines)), whose.get(begin), at_ms)
