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
    r"\s*(?:(?:(?P<group>\S+)\s+)?(?P<topic>[a-zA-Z0-9._-]*[a-zA-Z][a-zA-Z0-9._-]*)\s+)?(?P<partition>\d{1,9})\s+(?P<offset>\d{1,18})"
    r"\s+(?P<end>\d{1,18})\s+(?P<lag>\d{1,18})\s+(?P<member>\S+)\s+(?:/(?P<host>\S+)|-)(?:\s+(?P<client>\S+))?\s*"
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
    after = at
    while after < len(lines) and (row := _row(lines[after].text)) is not None:
        found += _facts(row, lines[after], asked)
        after += 1
    if not found:
        return None
    reason = "is a table of offsets whose head was not pasted: its columns are taken by what they add up to"
    return [*found, CutOutput(spanned(lines, at, after), reason)], after


def _row(text: str) -> re.Match[str] | None:
    found = _ROW.fullmatch(text) if "/" in text and len(text) < _LONGEST else None
    return found if found and int(found["end"]) - int(found["offset"]) == int(found["lag"]) else None


def _facts(row: re.Match[str], line: PastedLine, asked: str | None) -> _Rows:
    offset, end, number = (int(row[name]) for name in ("offset", "end", "partition"))
    member = "" if row["member"] == "-" else row["member"]
    if row["topic"] is None:
        who = f", consumer {member} at {row['host']}" if member else ", no consumer (-)"
        says = f"partition {number} of a topic whose name is cut: offset {offset}, log end {end}, lag {row['lag']}{who}"
        return [ToolStatement(_TOOL, one(line), says)]
    found: _Rows = [PastedOffset(row["group"] or asked, row["topic"], number, one(line), offset, end)]
    if member:
        assigned = ((row["topic"], number),)
        found.append(GroupMember(row["group"] or asked, member, one(line), row["host"], row["client"], None, assigned))
    else:
        found.append(ToolStatement(_TOOL, one(line), f"no consumer (-) is printed for {row['topic']}-{number}"))
    return found
