"""Output of ``GetOffsetShell`` (``kafka-get-offsets``): ``topic:partition:offset``, whose command or label says which they are.

Source: ``core/src/main/scala/kafka/tools/GetOffsetShell.scala@0.9.0.1, 2.5.1``.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import PastedOffset, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.pasted.damage import loops
from casebook.formats.pasted.text import TOPIC_NAME, PastedLine, is_gap, one, spanned

_OFFSET = re.compile(
    rf"(?=.{{0,248}}[a-zA-Z_])(?P<topic>{TOPIC_NAME}):(?P<partition>\d{{1,10}}):(?P<offset>\d{{0,19}}(?:,\d{{1,19}})*)"
)
_EXPORTED = re.compile(
    rf"/consumers/(?P<group>[^/\s]{{1,249}})/offsets/(?P<topic>{TOPIC_NAME})/(?P<partition>\d{{1,9}}):(?P<offset>\d{{1,18}})\s*"
)
_COMMITTED = re.compile(
    rf"\s*\[(?P<group>[^\],]{{1,249}}),(?P<topic>{TOPIC_NAME}),(?P<partition>\d{{1,9}})\]::(?:OffsetAndMetadata\(offset=(?P<offset>\d{{1,18}})"
    r"(?:,.*)?\)?|\[OffsetMetadata\[(?P<older>\d{1,18}),.*)\s*"
)
"""A record of ``__consumer_offsets`` (``OffsetAndMetadata.scala@0.9.0.1, 2.8.2``)."""
_TIME = re.compile(r"--time[ =](?P<time>[^\s;|&]+)")
_LABEL = re.compile(
    r"[\W_]*(?:(?:the |time |offsets? |GetOffsetShell |kafka-get-offsets )*"
    r"(?:(?P<first>earliest|beginning)|(?P<last>latest|log-end))(?: offsets?)?"
    r"(?: \(?(?:--time )?-[12]\)?)?"
    r"|(?:--)?time[ =:]+(?P<time>-[12]|earliest|latest))[\W_]*",
    re.IGNORECASE,
)
"""Text above offsets that says which they are."""
_ASKS_OFFSETS = re.compile(r"(?:GetOffsetShell|kafka-get-offsets)\S*\s.*--")
_WHICH = {"-1": "last", "latest": "last", "-2": "first", "earliest": "first"}
_TOTAL = re.compile(r"(?:[\w ]{0,30}[:=] ?)?(?P<sum>\d{1,19}(?:\.\d+(?:e\+\d+)?)?)")
DESCRIBE = "`kafka-topics --describe` shows leaders and ISRs"
_LEAST_ON_A_LINE, _MOST_LABEL, _MOST_ROWS, _LONGEST = 4, 80, 60, 64 << 10


def is_row(text: str) -> bool:
    """Return whether it is one offset."""
    return text.count(":") == 2 and _OFFSET.fullmatch(text.strip()[:_LONGEST]) is not None


def exported(lines: Sequence[PastedLine]) -> Iterator[PastedOffset | ToolStatement]:
    """Yield the rows of ``ExportZkOffsets`` (``core/src/main/scala/kafka/tools/ExportZkOffsets.scala@0.9.0.1``)."""
    for line in lines:
        if line.text.startswith("/consumers/") and (row := _EXPORTED.fullmatch(line.text[:_LONGEST])):
            yield PastedOffset(row["group"], row["topic"], int(row["partition"]), one(line), int(row["offset"]), None)
            yield ToolStatement("ExportZkOffsets", one(line), line.text.strip())


def committed(lines: Sequence[PastedLine]) -> Iterator[PastedOffset | ToolStatement]:
    """Yield commits that ``kafka-console-consumer`` prints with the formatter of the offsets topic."""
    for line in lines:
        if "]::" in line.text and (row := _COMMITTED.fullmatch(line.text[:_LONGEST])):
            offset = int(row["offset"] or row["older"])
            yield PastedOffset(row["group"], row["topic"], int(row["partition"]), one(line), offset, None)
            yield ToolStatement("kafka-console-consumer", one(line), f"the record {line.text.strip()}")


def told(lines: Sequence[PastedLine], at: int, command: str) -> tuple[Sequence[ToolStatement], int]:
    """Return offsets by the command: without ``--time`` the tool prints the latest ones."""
    after = at
    while after < len(lines) and (is_gap(lines[after].text) or is_row(lines[after].text)):
        after += 1
    rows = [row for line in lines[at:after] if (row := _OFFSET.fullmatch(line.text.strip()))]
    label = loops.printed(lines[at - 1].text.strip()) if at else ""
    if (asked := _LABEL.fullmatch(label[:_MOST_LABEL])) is None:
        return (of_rows(rows, spanned(lines, at, after), command),), after
    time = "earliest" if asked["first"] else "latest" if asked["last"] else asked["time"]
    told = of_rows(rows, spanned(lines, at - 1, after), f"GetOffsetShell --time {time.lower()}")
    return (told._replace(says=f"below {label!a}: {told.says}"),), after


def several(text: str) -> list[re.Match[str]]:
    """Return offsets on a line that lost its line ends, with nothing else on it."""
    if text.count(":") < _LEAST_ON_A_LINE:
        return []
    rows = [_OFFSET.fullmatch(word) for word in text.split()]
    return rows if len(rows) > 1 and all(rows) else []


def of_rows(rows: Sequence[re.Match[str]], span: LineSpan, command: str) -> ToolStatement:
    """Return rows of offsets in one sentence, as far as the command says which they are."""
    time = _time(command) if _ASKS_OFFSETS.search(command) else ""
    which = _WHICH.get(time, "")
    given = f" (--time {time})" if time and not which else ""
    found = [f"{row['topic']}-{row['partition']} at {row['offset'] or 'none'}" for row in rows]
    unsaid = "" if time else "; the value of --time decides which they are"
    more = f" and {len(found) - _MOST_ROWS} more" if len(found) > _MOST_ROWS else ""
    says = f"{which or 'some'} offsets{given} of {', '.join(found[:_MOST_ROWS])}{more}{unsaid}"
    return ToolStatement("GetOffsetShell", span, says, DESCRIBE)


def total(lines: Sequence[PastedLine], at: int) -> ToolStatement | None:
    """Return the output of a command that sums offsets."""
    after = next((index for index in range(at, min(len(lines), at + 4)) if lines[index].text), None)
    found = _TOTAL.fullmatch(lines[after].text.strip()) if after is not None else None
    if found is None:
        return None
    command = lines[at - 1].text
    topic = re.search(r"--topic[ =](\S+)", command)
    whose = f" of {topic[1]}" if topic else ""
    which = _WHICH.get(_time(command), "printed")
    says = f"the sum of the {which} offsets{whose}, over the partitions that answered, is {found['sum']}"
    return ToolStatement("GetOffsetShell", one(lines[after]), says, DESCRIBE)


def _time(command: str) -> str:
    """Return the value of ``--time``, or the tool's own; ``""`` for several runs in one line, and for another tool."""
    asked = {found["time"] for found in _TIME.finditer(command)}
    return "" if len(asked) > 1 else next(iter(asked), "-1" if _ASKS_OFFSETS.search(command) else "")
