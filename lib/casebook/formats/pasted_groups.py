"""What ``kafka-consumer-groups --describe`` prints, 0.9 to 3.9, and ``ConsumerOffsetChecker`` before it.

Three layouts: ``GROUP, TOPIC, ...`` with commas (0.9), columns that begin with GROUP (0.10.0, and from 2.1 on), columns
that begin with TOPIC (0.10.1 to 2.0). Source: ``core/src/main/scala/kafka/admin/ConsumerGroupCommand.scala@0.9.0.1, 0.10.2.1,
1.1.0, 2.8.2``, ``core/src/main/scala/kafka/tools/ConsumerOffsetChecker.scala@0.8.2.2``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.formats import znodes
from casebook.formats.pasted_text import Line
from casebook.formats.pasted_zookeeper import Cut
from casebook.pasted import GroupOffset, GroupSaid, Span

_HEAD = re.compile(
    r"\s*(?:GROUP[\s,]+)?TOPIC[\s,]+(?:PARTITION|PID)[\s,]+(?:CURRENT[ -]OFFSET|OFFSET)[\s,]+(?:LOG[ -]END[ -]OFFSET|LOGSIZE)"
    r"[\s,]+LAG(?:[\s,].*)?",
    re.IGNORECASE,
)
_STATE_HEAD = re.compile(r"\s*GROUP\s+COORDINATOR \(ID\)\s+.*STATE.*", re.IGNORECASE)
_STATE = re.compile(r"\s*(?P<group>\S+)\s+\S+:\d{1,5}\s+\((?P<id>\d{1,10})\)(?:\s+(?P<words>.*))?")
_COORDINATOR_SAID = re.compile(r"\s*COORDINATOR \(ID\)\s+ASSIGNMENT-STRATEGY\s+STATE.*", re.IGNORECASE)
_SAID = re.compile(
    r"\s*(?:Error: |Warning: )?Consumer group [`'\"]?(?P<group>[^`'\"\s]+)[`'\"]? (?P<what>has no active members|does not exist"
    r"|is rebalancing|is currently rebalancing).*"
)
_TROUBLE = re.compile(
    r"(?:Error: )?Executing consumer group command failed due to .*"
    r"|.*(?:(?:Group)?Coordinator(?:Not|Load|Un)\w*Exception|The coordinator is (?:not available|loading)"
    r"|COORDINATOR_NOT_AVAILABLE|COORDINATOR_LOAD_IN_PROGRESS|This is not the correct coordinator).*"
)
_LOGGED = re.compile(r"\s*[\[\d]|.*\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b")
_SPEAKS_OF_GROUPS = re.compile(r"[Gg]roup|GROUP|TOPIC|Topic|COORDINATOR|[Cc]oordinator")
_OPTION = re.compile(r".*kafka-consumer-groups\S*\s.*--group[ =]+[\"']?(?P<group>[^\s\"']+).*")
_NOTE = re.compile(r"\s*Note: This will (?:only |not )show information about.*")
_STATES = ("Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "AwaitingSync", "Assigning", "Reconciling")
_LONGEST = 16 << 10


def groups(lines: Sequence[Line]) -> Iterator[GroupOffset | GroupSaid | Cut]:
    """Every row below a header, and every sentence on a group."""
    head: list[str] = []
    state, asked = False, None
    for line in lines:
        text, span = line.text, Span(line.number, line.number)
        if len(text) > _LONGEST or (text and not head and not state and not _SPEAKS_OF_GROUPS.search(text)):
            continue
        if not text:
            head, state = ([], False) if not (head or state) else (head, state)
        elif option := _OPTION.fullmatch(text):
            asked, head, state = option["group"], [], False
        elif _HEAD.fullmatch(text):
            head, state = _columns(text), False
        elif _STATE_HEAD.fullmatch(text) or _COORDINATOR_SAID.fullmatch(text):
            head, state = [], True
        elif said := _SAID.fullmatch(text):
            yield GroupSaid(said["group"], span, said["what"])
        elif _TROUBLE.fullmatch(text) and not _LOGGED.match(text):
            yield GroupSaid(asked, span, text.strip()[:200])
        elif state and (found := _STATE.fullmatch(text)):
            yield _said(found, span)
        elif head:
            row = _offset(head, text, span, asked)
            head = head if row else []
            if row:
                yield row


def is_head(text: str) -> bool:
    """Whether it is a header, a note or a command of the tool."""
    patterns = (_HEAD, _STATE_HEAD, _COORDINATOR_SAID, _NOTE, _OPTION)
    return (
        len(text) < _LONGEST
        and _SPEAKS_OF_GROUPS.search(text) is not None
        and any(pattern.fullmatch(text) for pattern in patterns)
    )


def _columns(text: str) -> list[str]:
    """Names of the columns: of those with a blank in them as one word."""
    joined = re.sub(r"CURRENT OFFSET|LOG END OFFSET", lambda match: match[0].replace(" ", "-"), text.strip().upper())
    named = {"OFFSET": "CURRENT-OFFSET", "PID": "PARTITION", "LOGSIZE": "LOG-END-OFFSET"}
    return [named.get(name, name) for name in re.split(r"[\s,]+", joined)]


def _offset(head: Sequence[str], text: str, span: Span, asked: str | None) -> GroupOffset | None:
    values = re.split(r",\s*" if text.count(", ") >= len(head) - 2 else r"\s+", text.strip())
    row: Mapping[str, str] = dict(zip(head, values, strict=False))
    if not {"TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"} <= row.keys():
        return None
    partition = znodes.number(row["PARTITION"])
    offset, end, lag = (_count(row[name]) for name in ("CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"))
    if partition is None or -2 in (offset, end, lag):
        return None
    return GroupOffset(row.get("GROUP", asked), row["TOPIC"], partition, span, offset, end)


def _count(text: str) -> int | None:
    """A number; ``None`` for ``-`` and ``unknown``, and -2 for what stands in no such column."""
    if text in ("-", "unknown", "none"):
        return None
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else -2


def _said(found: re.Match[str], span: Span) -> GroupSaid:
    words = re.split(r"\s+", found["words"] or "")
    return GroupSaid(found["group"], span, next((word for word in words if word in _STATES), "described"), int(found["id"]))
