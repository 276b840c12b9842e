"""Rows of ``kafka-consumer-groups --describe`` whose head was not pasted: known by what they add up to.

Behind two offsets stands what lies between them, behind that a member, and its host with a slash
(``ConsumerGroupCommand.scala@2.8.2``, ``printOffsets``): nothing else prints such rows. Rows of unknown numbers are none of them.
"""

import re
from collections.abc import Sequence

from casebook.facts.pasted import GroupMember, PastedOffset, ToolStatement
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, one, spanned

_ROW = re.compile(
    r"\s*(?:(?:(?P<group>\S+)\s+)?(?P<topic>[a-zA-Z0-9._-]*[a-zA-Z][a-zA-Z0-9._-]*)\s+)?(?P<partition>\d{1,9})\s+(?P<offset>\d{1,18}|-)"
    r"\s+(?P<end>\d{1,18})\s+(?P<lag>\d{1,18}|-)\s+(?P<member>\S+)\s+(?:/(?P<host>\S+)|-)(?:\s+(?P<client>\S+))?\s*"
)
_LONGEST = 2000
_TOOL = "kafka-consumer-groups"

_Rows = list[PastedOffset | GroupMember | ToolStatement | CutOutput]


def rows(lines: Sequence[PastedLine], at: int, asked: str | None) -> tuple[_Rows, int] | None:
    """The rows from a line on, and where to go on; ``None`` where none begins.

    Args:
        lines: Of the paste.
        at: Which of them.
        asked: The group that the command names: of rows that do not name one.
    """
    found: _Rows = []
    after, known = at, []
    while after < len(lines) and (row := _row(lines[after].text)) is not None:
        known.append(row)
        after += 1
    if not known:
        return None
    for row, line in zip(known, lines[at:after], strict=True):
        is_cut = line.number == 1 and _is_cut_before(known)
        found += [_cut(row, line)] if is_cut else _facts(row, line, asked)
    reason = "is a table of offsets whose head was not pasted: its columns are taken by what they add up to"
    return [*found, CutOutput(spanned(lines, at, after), reason)], after


def _row(text: str) -> re.Match[str] | None:
    found = _ROW.fullmatch(text) if "/" in text and len(text) < _LONGEST else None
    if found is None or "-" in (found["offset"], found["lag"]):
        return found if found and found["offset"] == found["lag"] and found["topic"] and found["host"] else None
    return found if int(found["end"]) - int(found["offset"]) == int(found["lag"]) else None


def _is_cut_before(rows: Sequence[re.Match[str]]) -> bool:
    """Return whether the first row of a paste lacks its begin: its columns stand left of others, or a name ends like its own."""
    first = rows[0]["group"] or rows[0]["topic"] or ""
    names = [row["group"] or row["topic"] or "" for row in rows[1:]]
    is_left = {row.start("partition") > rows[0].start("partition") for row in rows[1:]} == {True}
    return bool(first) and (is_left or any(name != first and name.endswith(first) for name in names))


def _cut(row: re.Match[str], line: PastedLine) -> ToolStatement:
    """Return a row whose name was not pasted whole."""
    who = ", no consumer (-)" if row["member"] == "-" else f", consumer {row['member']} at {row['host']}"
    client = f" as client {row['client']}" if row["client"] else ""
    name = " ".join(filter(None, (row["group"], row["topic"])))
    ends = f" (it ends in {name})" if name else ""
    says = f"partition {row['partition']} of a topic whose name is cut{ends}: offset {row['offset']}, log end {row['end']}"
    return ToolStatement(_TOOL, one(line), f"{says}, lag {row['lag']}{who}{client}")


def _facts(row: re.Match[str], line: PastedLine, asked: str | None) -> _Rows:
    if row["topic"] is None:
        return [_cut(row, line)]
    offset, end, number = (None if row[name] == "-" else int(row[name]) for name in ("offset", "end", "partition"))
    member = "" if row["member"] == "-" else row["member"]
    found: _Rows = [PastedOffset(row["group"] or asked, row["topic"], number, one(line), offset, end)]
    if offset is None:
        found.append(ToolStatement(_TOOL, one(line), f"no committed offset (-) is printed for {row['topic']}-{number}"))
    if member:
        assigned = ((row["topic"], number),)
        found.append(GroupMember(row["group"] or asked, member, one(line), row["host"], row["client"], None, assigned))
    else:
        found.append(ToolStatement(_TOOL, one(line), f"no consumer (-) is printed for {row['topic']}-{number}"))
    return found
