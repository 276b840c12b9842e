"""Output of ``kafka-consumer-groups`` on whole groups: ``--members`` (``--verbose``), ``--state``, ``--list --state``.

Source: ``core/src/main/scala/kafka/admin/ConsumerGroupCommand.scala@2.0.1, 2.8.2, 3.7.2``,
``tools/src/main/java/org/apache/kafka/tools/consumer/group/ConsumerGroupCommand.java@3.9.0``.
"""

import re
from collections.abc import Callable, Sequence

from casebook.facts.pasted import GroupMember, GroupSaid, ToolStatement
from casebook.formats.pasted.text import PastedLine, is_gap, one, spanned

_MEMBERS = re.compile(
    r"\s*(?:GROUP\s+)?CONSUMER-ID\s+(?:GROUP-INSTANCE-ID\s+)?HOST\s+CLIENT-ID(?:\s+#PARTITIONS(?:\s+[\w -]+)?)?\s*", re.IGNORECASE
)
_STATE = re.compile(r"\s*(?P<group>GROUP\s+)?COORDINATOR \(ID\)\s+.*STATE.*", re.IGNORECASE)
_LISTED = re.compile(r"\s*GROUP\s+(?:PROTOCOL\s+)?(?:TYPE\s+)?STATE\s*|\s*GROUP\s+TYPE(?:\s+PROTOCOL)?\s*", re.IGNORECASE)
_STATE_ROW = re.compile(r"\s*(?:(?P<group>\S.*?)\s+)?(?P<host>\S+:\d{1,5})\s+\((?P<id>\d{1,10}|[xX*?#]+)\)(?:\s+(?P<words>.*))?")
STATES = (
    "Stable",
    "Empty",
    "Dead",
    "PreparingRebalance",
    "CompletingRebalance",
    "AwaitingSync",
    "Assigning",
    "Reconciling",
    "Unknown",
)
_LISTED_ROW = re.compile(
    rf"\s*(?P<group>\S+)\s+(?:(?:Consumer|Classic|Share|Streams|consumer|share|connect|streams)\s+)*(?P<state>{'|'.join(STATES)}|Consumer|Classic|[cC]onsumer|share|connect|streams)\s*"
)
_OF_TOPIC = re.compile(r"(?P<topic>[a-zA-Z0-9._-]{1,249})(?:\((?P<in>[\d, ]+)\)|:(?P<behind>\d+(?:,\d+)*))")
_OF_NEXT = ("GROUP-INSTANCE-ID", "CURRENT-EPOCH", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED")
"""Columns for groups of the KIP-848 protocol: the target assignment of a member."""
_TOOL = "kafka-consumer-groups"
_REST = re.compile(r"[\w.(),: -]{1,400}")
"""A part of an assignment."""
_LONGEST, _LONGEST_FOLDED, _MOST_FOLDED, _MOST_NAMED = 64 << 10, 4096, 20, 60

_Rows = list[GroupMember | GroupSaid | ToolStatement]


def table(lines: Sequence[PastedLine], at: int, asked: str | None) -> tuple[_Rows, int] | None:
    """Return the table whose header a line is, and the next line; ``None`` for another header.

    Args:
        lines: Lines of the paste.
        at: Index of the line.
        asked: Group in the command.
    """
    text = lines[at].text
    if _MEMBERS.fullmatch(text):
        columns = text.upper().split()
        return _rows(lines, at, lambda line: _member(line, columns, asked, is_last=_is_last(lines, line)))
    if _STATE.fullmatch(text):
        return _rows(lines, at, lambda line: _state(line, asked, text.upper().rpartition("(ID)")[2].split()))
    if _LISTED.fullmatch(text):
        columns = text.upper().split()
        return _rows(lines, at, lambda line: _listed(line, columns))
    return None


def _rows(lines: Sequence[PastedLine], at: int, row: Callable[[PastedLine], _Rows]) -> tuple[_Rows, int]:
    found: _Rows = [ToolStatement(_TOOL, one(lines[at]))]
    after = at + 1
    while after < len(lines):
        line = lines[after]
        if is_gap(line.text):
            after += 1
            continue
        rows = row(line) if line.text and len(line.text) < _LONGEST else []
        if not rows and (line.text or len(found) > 1):
            break
        after += 1
        if rows and (whole := _folded(lines, after, row, rows)) is not None:
            rows, after = whole
        found += rows
    return found, after


def _folded(lines: Sequence[PastedLine], at: int, row: Callable[[PastedLine], _Rows], rows: _Rows) -> tuple[_Rows, int] | None:
    """Return a member with fewer named partitions than counted ones, and its next lines, if they name just the others."""
    text = lines[at - 1].text
    if _lacks(rows) <= 0 or len(text) > _LONGEST_FOLDED:
        return None
    for after in range(at, min(len(lines), at + _MOST_FOLDED)):
        if not _REST.fullmatch(lines[after].text) or row(lines[after]):
            return None
        most = sum(map(f"{text}{lines[after].text}".count, ",(:"))
        for glue in ("", " ") if most >= rows[0].partitions else ():
            joined = row(lines[at - 1]._replace(text=f"{text}{glue}{lines[after].text.strip()}"))
            if joined and joined[0].partitions == rows[0].partitions and _lacks(joined) == 0:
                span = spanned(lines, at - 1, after + 1)
                return [each._replace(span=span) for each in joined], after + 1
        text += lines[after].text.strip()
    return None


def _lacks(rows: _Rows) -> int:
    """Return how many partitions of a member are counted and not named; none of another row."""
    member = rows[0]
    return (member.partitions or 0) - len(member.assigned or ()) if isinstance(member, GroupMember) else 0


def _is_last(lines: Sequence[PastedLine], line: PastedLine) -> bool:
    """Return whether no member follows: the row may be cut."""
    index = line.number - lines[0].number + 1
    return index >= len(lines) or " /" not in lines[index].text[:_LONGEST]


def _member(line: PastedLine, columns: Sequence[str], asked: str | None, *, is_last: bool) -> _Rows:
    """Parse a member; the last value of a paste that ends within a row may be cut."""
    words = line.text.split()
    host = next((index for index, word in enumerate(words) if word.startswith("/")), None)
    if host is None or len(words) < 2 or host < (2 if columns[0] == "GROUP" else 1):
        return []
    whole = words[:-1] if is_last and len(words) < len(columns) and words[-1] != "0" else words
    values = dict(zip(columns, whole, strict=False))
    number = values.get("#PARTITIONS", "")
    behind = " ".join(words[columns.index("#PARTITIONS") + 1 :]) if "#PARTITIONS" in columns else ""
    assigned = tuple(_assigned(values.get("CURRENT-ASSIGNMENT", "") if "CURRENT-ASSIGNMENT" in columns else behind))
    count = int(number) if number.isdecimal() and len(number) < 10 else None
    is_part = bool(assigned) and len(assigned) < (count or 0)
    is_told = columns[-1].endswith("ASSIGNMENT") and (bool(assigned) or behind == "-") and not is_part
    member = GroupMember(
        group=values.get("GROUP", asked),
        member=values["CONSUMER-ID"],
        span=one(line),
        host=values.get("HOST", "").lstrip("/") or None,
        client=values.get("CLIENT-ID"),
        partitions=count,
        assigned=assigned if is_told else None,
    )
    told = [f"{name} {values[name]}" for name in _OF_NEXT if name in values]
    named = ", ".join(f"{topic}-{partition}" for topic, partition in assigned[:_MOST_NAMED])
    told += [f"of its {count} partitions {len(assigned)} are named: {named}"] if is_part else []
    return [member, *([ToolStatement(_TOOL, one(line), f"member {member.member}: {', '.join(told)}")] if told else [])]


def _assigned(text: str) -> list[tuple[str, int]]:
    """Parse ``orders(0,1), plain(2)``; 3.9 omits topics."""
    found = []
    for match in _OF_TOPIC.finditer(text):
        numbers = (match["in"] or match["behind"]).replace(" ", "").split(",")
        found += [(match["topic"], int(number)) for number in numbers if number.isdecimal() and len(number) < 11]
    return found


def _state(line: PastedLine, asked: str | None, columns: Sequence[str]) -> _Rows:
    found = _STATE_ROW.fullmatch(line.text)
    if found is None:
        return []
    words = re.split(r"\s+", (found["words"] or "").strip())
    state = next((word for word in words if word in STATES), "described")
    members = words[-1] if len(words) > 1 and words[-1].isdecimal() else None
    span, group = one(line), found["group"] or asked
    told = [
        state if state in STATES else "a state that was not pasted whole",
        f"{members} members" if members else "",
        f"assignment {words[0]}" if words[0] and words[0] != state and not words[0].isdecimal() else "",
        "no assignment strategy is printed" if words[0] == state and columns[:1] == ["ASSIGNMENT-STRATEGY"] else "",
        f"coordinator {found['host']} ({found['id']})",
    ]
    says = f"group {group or 'of the command'}: {', '.join(filter(None, told))}"
    epochs = [f"{name} {word}" for name, word in zip(columns, words, strict=False) if name.endswith("EPOCH")]
    says += f", {', '.join(epochs)}" if epochs and says else ""
    coordinator = int(found["id"]) if found["id"].isdecimal() else None
    return [GroupSaid(group, span, state, coordinator), ToolStatement(_TOOL, span, says)]


def _listed(line: PastedLine, columns: Sequence[str]) -> _Rows:
    found = _LISTED_ROW.fullmatch(line.text)
    if found is None:
        return []
    said = GroupSaid(found["group"], one(line), found["state"])
    words = line.text.split()
    others = [f"{name.lower()} {word}" for name, word in zip(columns[1:], words[1:], strict=False) if name != "STATE"]
    if len(words) != len(columns) or not others:
        return [said]
    return [said, ToolStatement(_TOOL, one(line), f"group {found['group']}: {', '.join(others)}")]
