"""Output of ``kafka-consumer-groups``, 0.9 to 4.1, and of its predecessor ``ConsumerOffsetChecker``.

Offsets have three layouts: ``GROUP, TOPIC, ...`` with commas (0.9), columns that start with GROUP (0.10.0, and from 2.1 on),
columns that start with TOPIC (0.10.1 to 2.0). The owner of a partition follows its lag; a member without any has ``-`` in all
columns before it. ``--members`` and ``--state`` are in :mod:`casebook.formats.pasted.tools.members`. Source:
``core/src/main/scala/kafka/admin/ConsumerGroupCommand.scala@0.9.0.1, 0.10.2.1, 1.1.0, 2.8.2``,
``core/src/main/scala/kafka/tools/ConsumerOffsetChecker.scala@0.8.2.2``,
``tools/src/main/java/org/apache/kafka/tools/consumer/group/ConsumerGroupCommand.java@3.9.0``.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.facts.pasted import GroupMember, GroupSaid, PastedOffset, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.remarks import is_masked
from casebook.formats.pasted.text import PastedLine, is_end, is_gap, one, spanned
from casebook.formats.pasted.tools import headless, members
from casebook.formats.zookeeper import znodes

_HEAD = re.compile(
    r"\s*(?:GROUP[\s,|]+)?TOPIC[\s,|]+(?:PARTITION|PID)[\s,|]+(?:LEADER-EPOCH[\s,|]+)?(?:CURRENT[ -]OFFSET|OFFSET)[\s,|]+"
    r"(?:LOG[ -]END[ -]OFFSET|LOGSIZE)[\s,|]+LAG(?:[\s,|].*)?",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    r"(?:^|\s)(?P<head>(?:GROUP\s+)?TOPIC\s+(?:PARTITION|PID)\s+(?:CURRENT-)?OFFSET\s+(?:LOG-END-OFFSET|LOGSIZE)\s+LAG"
    r"(?:\s+OWNER|\s+CONSUMER-ID\s+HOST\s+CLIENT-ID)?)\s+(?P<rows>\S.*)",
    re.IGNORECASE,
)
"""A table without its line ends."""
_HEAD_BEGINS = re.compile(r"\s*(?:GROUP[\s,|]+)?TOPIC[\s,|]+(?:PARTITION|PID)\b.*", re.IGNORECASE)
_SAID = re.compile(
    r"\s*(?:Error: |Warning: )?(?:The )?[Cc]onsumer group [`'\"]?(?P<group>[^`'\"\s]+)[`'\"]? (?P<what>has no active members"
    r"|does not exist|is rebalancing|is currently rebalancing).*"
)
_TROUBLE = re.compile(
    r"(?:Error: )?Executing consumer group command failed due to .*"
    r"|.*(?:(?:Group)?Coordinator(?:Not|Load|Un)\w*Exception|The coordinator is (?:not available|loading)"
    r"|COORDINATOR_NOT_AVAILABLE|COORDINATOR_LOAD_IN_PROGRESS|This is not the correct coordinator).*"
)
_LOGGED = re.compile(
    r"\s*[\[\d]|[\w.-]{1,60} {0,40}\| \W?\d{4}-\d\d-\d\d|.{0,80}\b(?:ts|time|level|lvl)=\S"
    r"|.*\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b"
)
_OPTION = re.compile(
    r".*(?:kafka-consumer-groups\S*\s.*|--describe\b.*)--group[ =]+[\"']?(?P<group>[^\s\"'$`]+).*"
    r"|.*--group[ =]+[\"']?(?P<before>[^\s\"'$`]+)[\"']?\s.*--describe\b.*"
)
"""The tool may stand behind an alias."""
_NOTE = re.compile(r"\s*Note: This will (?:only |not )show information about.*")
_SKIPPED = re.compile(
    r"\s*(?:Could not (?:parse broker info|fetch offset) .*|No broker for partition .*|(?P<ends>Exiting due to: ).*)"
)
_SENTENCE = re.compile(r"\W*[A-Za-z][a-z']*,?(?: [A-Za-z][a-z']*,?){1,3}\b.*")
_MARK = re.compile(r"\A[#*>|/;-]+ ")
"""A script's or list's prefix of a row, which is no part of a group's name."""
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?:,\d{3})*(?:\s|$))")
"""A comma within a number, as people write it."""
_GLUED = re.compile(r"(?<=-[0-9a-f]{12})/(?=[\w.:%*-]+(?:\s|$))")  # a host right behind a member that fills its column
_HOST = re.compile(r"\s*/[\w.:-]+(?:\s+\S+)?\s*")
_ADDRESS = re.compile(r"[\w.-]*/[\w.:%*-]+")
"""Of a host, as ``InetAddress`` prints it."""
_NUMBERS = re.compile(r"\s*\d{1,6}(?: \d{1,6})?\s*")
_UNKNOWN = ("-", "unknown", "none", "non", "no", "n")
"""Placeholders for nothing, also cut."""
_OFFSETS = ("CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
_LONGEST, _MOST_FOLDED, _MOST_WORDS_OF_A_GROUP, _MOST_EMPTY = 16 << 10, 3, 4, 12
_TOOL, _CHECKER = "kafka-consumer-groups", "ConsumerOffsetChecker"
_IS_CHECKER = re.compile(r"\s*GROUP\s+TOPIC\s+PID\b", re.IGNORECASE)


class _Row(NamedTuple):
    """A row as far as pasted: values by column."""

    group: str | None
    values: dict[str, str]
    words: int


def groups(lines: Sequence[PastedLine]) -> Iterator[PastedOffset | GroupMember | GroupSaid | ToolStatement | CutOutput]:
    """Yield every row below a header, and every sentence on a group."""
    at, asked = 0, None
    while at < len(lines):
        text, after = lines[at].text, at + 1
        if not text or len(text) > _LONGEST:
            at = after
            continue
        if (flat := _WITHIN.search(text)) and (rows := _of_one_line(flat, one(lines[at]), asked)):
            yield from rows
        elif option := _OPTION.fullmatch(text):
            asked = option["group"] or option["before"]
        elif (head := _head(lines, at)) is not None:
            columns, begin = head
            tool = _CHECKER if _IS_CHECKER.match(text) else _TOOL
            yield ToolStatement(tool, spanned(lines, at, begin))
            rows, after = _table(lines, begin, columns, asked)
            yield from rows
            if not rows and is_end(lines, begin) and any(line.text for line in lines[begin:]):
                says = f"{f'of group {asked}' if asked else 'of the group'} the header was printed, and no row below it"
                yield ToolStatement(tool, spanned(lines, at, begin), says)
        elif (found := members.table(lines, at, asked)) is not None or (found := headless.rows(lines, at, asked)) is not None:
            rows, after = found
            yield from rows
        elif _SKIPPED.fullmatch(text):
            yield _skipped(lines[at])
        elif said := _SAID.fullmatch(text):
            yield GroupSaid(said["group"], one(lines[at]), said["what"])
        elif _TROUBLE.fullmatch(text) and not _LOGGED.match(text):
            yield GroupSaid(asked, one(lines[at]), text.strip()[:200])
        at = after


def _of_one_line(flat: re.Match[str], span: LineSpan, asked: str | None) -> list[PastedOffset | GroupMember | ToolStatement]:
    """Return the rows after a header on one line, each with as many words as columns; none when a word is left over."""
    columns, words = _columns(flat["head"]), flat["rows"].split()
    wide = len(flat["head"].split())
    rows = [_row(" ".join(words[at : at + wide]), columns) for at in range(0, len(words), wide)]
    if len(words) % wide or not all(rows):
        return []
    return [ToolStatement(_TOOL, span), *(fact for row in rows for fact in _facts(row, span, asked))]


def is_head(text: str) -> bool:
    """Return whether it is a note or a command of the tool."""
    return len(text) < _LONGEST and any(pattern.fullmatch(text) for pattern in (_NOTE, _OPTION, _SKIPPED))


def _head(lines: Sequence[PastedLine], at: int) -> tuple[list[str], int] | None:
    """Return the columns of a table of offsets, with a possibly folded header, and the start of its rows."""
    text = lines[at].text
    if "LOG-END-OFFSET" in text and not _HEAD_BEGINS.fullmatch(text):
        return _headless(lines, at)
    if "opic" not in text.lower() or not _HEAD_BEGINS.fullmatch(text):
        return None
    for after in range(at + 1, min(len(lines), at + _MOST_FOLDED) + 1):
        if _HEAD.fullmatch(text):
            if after < len(lines) and (whole := _joined(text, lines[after].text[:200])):
                text, after = whole, after + 1
            while after < len(lines) and re.fullmatch(
                r"\s*(?:(?:CONSUMER-ID|HOST|CLIENT-ID|OWNER)\s*)+", lines[after].text[:200]
            ):
                text, after = f"{text} {lines[after].text}", after + 1
            return _columns(text), after
        if after == len(lines) or not lines[after].text or len(lines[after].text) > _LONGEST:
            return None
        text = f"{text} {lines[after].text}"
    return None


def _joined(text: str, rest: str) -> str:
    """A head that a narrow screen has broken within a name, with its rest; ``""`` where it is not."""
    whole = f"{text}{rest.strip()}" if re.fullmatch(r"\s*[A-Z-]+(?:\s+[A-Z-]+){0,3}\s*", rest) else ""
    return whole if whole.split()[len(text.split()) - 1 :][:1] in (["CONSUMER-ID"], ["CLIENT-ID"], ["HOST"], ["OWNER"]) else ""


def _headless(lines: Sequence[PastedLine], at: int) -> tuple[list[str], int] | None:
    """Return the columns of a header without its start: those of the layout that fits the next line."""
    text = lines[at].text
    behind = _columns(text[text.index("LOG-END-OFFSET") :])
    for begin in (("TOPIC", "PARTITION"), ("GROUP", "TOPIC", "PARTITION")):
        for epoch in ((), ("LEADER-EPOCH",)):
            columns = [*begin, *epoch, "CURRENT-OFFSET", *behind]
            if "LAG" in behind and at + 1 < len(lines) and _adds_up(_row(lines[at + 1].text[:_LONGEST], columns)):
                return columns, at + 1
    return None


def _adds_up(row: _Row | None) -> bool:
    """Return whether a row by guessed columns is valid: its lag is the difference of its offsets."""
    if row is None:
        return False
    offset, end, lag = (_count(row.values[name]) for name in _OFFSETS)
    return None in (offset, end, lag) or end - offset == lag


def _columns(text: str) -> list[str]:
    """Return column names, those with a blank as one word."""
    joined = re.sub(r"CURRENT OFFSET|LOG END OFFSET", lambda match: match[0].replace(" ", "-"), text.strip().upper())
    named = {"OFFSET": "CURRENT-OFFSET", "PID": "PARTITION", "LOGSIZE": "LOG-END-OFFSET", "OWNER": "CONSUMER-ID"}
    columns = [named.get(name, name) for name in re.split(r"[\s,|]+", joined) if name]
    return [*columns, "HOST", "CLIENT-ID"] if columns[-1] == "CONSUMER-ID" and "OWNER" not in joined else columns


def _table(
    lines: Sequence[PastedLine], at: int, columns: Sequence[str], asked: str | None
) -> tuple[list[PastedOffset | GroupMember | ToolStatement | CutOutput], int]:
    """Parse the rows below a header; each may be folded, and error lines may be in between."""
    found: list[PastedOffset | GroupMember | ToolStatement | CutOutput] = []
    tool = _CHECKER if _IS_CHECKER.match(lines[at - 1].text) else _TOOL
    has_hosts = "HOST" in lines[at - 1].text.upper()
    apart: dict[tuple[str, str], list[tuple[str, LineSpan]]] = {}
    while at < len(lines):
        text = lines[at].text
        if (not text and not found) or is_gap(text):
            at += 1
            continue
        if _SKIPPED.fullmatch(text[:_LONGEST]):
            found.append(_skipped(lines[at]))
            at += 1
            continue
        row, after = _folded(lines, at, columns)
        if row is None:
            if (cut := _cut_row(lines, at, columns, asked)) is not None:
                found += cut
                at += 1
                break
            if not text and (below := _below_number(lines, at, columns)):
                at = below
                continue
            if not text or at + 1 >= len(lines) or _stops(text) or _row(lines[at + 1].text[:_LONGEST], columns) is None:
                break
            at += 1  # a foreign line between two rows
            continue
        span = spanned(lines, at, after)
        is_cut = has_hosts and row.words < len(columns) and not lines[after - 1].padded and _ends_table(lines, after, columns)
        if is_cut:
            *_, last = row.values.values()
            found.append(CutOutput(span, f"is a row of a group that is cut off at its end: {last} may go on"))
            row = _without_cut_end(row)
        if masks := [name for name, value in row.values.items() if is_masked(value.lstrip("/"))]:
            shown = ", ".join(f"{name} ({row.values[name]})" for name in masks)
            found.append(CutOutput(span, f"masks {shown}: unknown"))
        found += _facts(row, span, asked)
        which, group = f"{row.values['TOPIC']}-{row.values['PARTITION']}", row.group or asked
        of = f" of group {group}" if group else ""
        if (epoch := row.values.get("LEADER-EPOCH", "-")) != "-":
            apart.setdefault(("leader epochs of the committed offsets: ", of), []).append((f"{which} {epoch}", span))
        for what in _nothing(row, columns, is_cut=is_cut):
            apart.setdefault((f"{what} is printed for ", of), []).append((which, span))
        at = after
    for (says, of), rows in apart.items():
        span = LineSpan(rows[0][1].first, rows[-1][1].last)
        found.append(ToolStatement(tool, span, f"{says}{', '.join(told for told, _ in rows)}{of}"))
    return found, at


def _below_number(lines: Sequence[PastedLine], at: int, columns: Sequence[str]) -> int | None:
    """Return the next row below empty lines and a line of numbers, as where a page puts each row into a table of its own."""
    index = at
    while index < min(len(lines), at + _MOST_EMPTY) and not lines[index].text:
        index += 1
    is_number = index + 1 < len(lines) and _NUMBERS.fullmatch(lines[index].text[:40]) is not None
    return index + 1 if is_number and _row(lines[index + 1].text[:_LONGEST], columns) else None


def _nothing(row: _Row, columns: Sequence[str], *, is_cut: bool) -> Iterator[str]:
    """Yield printed absences: a partition without a consumer, without a committed offset, or without a lag.

    The last number of a cut row may be cut itself.
    """
    if row.values["TOPIC"] == "-":
        return
    if _is_unknown(member := row.values.get("CONSUMER-ID", "?")) and not is_masked(member) and member != "?":
        yield f"no {'owner' if 'HOST' not in columns else 'consumer'} ({member})"
    if _is_unknown(offset := row.values["CURRENT-OFFSET"]) and not is_masked(offset):
        yield f"no committed offset ({offset})"
    elif _is_unknown(lag := row.values["LAG"]) and not is_masked(lag):
        yield f"no lag ({lag})"
    elif not is_cut and not _adds_up(row):
        yield f"a lag ({lag}) that is not the difference of the printed offsets"


def _ends_table(lines: Sequence[PastedLine], after: int, columns: Sequence[str]) -> bool:
    """Return whether no row follows: the previous row may be cut."""
    return after >= len(lines) or not lines[after].text or _row(lines[after].text[:_LONGEST], columns) is None


def _without_cut_end(row: _Row) -> _Row:
    """Return the last row of a paste without its last value after the lag, which may be cut."""
    *others, last = row.values
    return row if last in (*_OFFSETS, "PARTITION") else row._replace(values={name: row.values[name] for name in others})


def _cut_row(
    lines: Sequence[PastedLine], at: int, columns: Sequence[str], asked: str | None
) -> list[PastedOffset | GroupMember | ToolStatement | CutOutput] | None:
    """Return the complete columns of the last row of a paste or block, cut before its lag."""
    words = lines[at].text.split()
    is_last = at + 1 >= len(lines) or is_end(lines, at + 1) or _SENTENCE.fullmatch(lines[at + 1].text[:_LONGEST]) is not None
    if not words or not is_last or len(words) >= len(columns):
        return None
    whole = words if lines[at].padded else words[:-1]
    first = 1 if columns[0] == "GROUP" else 0
    values = dict(zip(columns[first:], whole[first:], strict=False))
    if len(values) < 2 or values["TOPIC"] == "-" or not _is_row({**dict.fromkeys(_OFFSETS, "-"), **values}):
        return None
    missing = [name for name in _OFFSETS if name not in values]
    row = _Row(whole[0] if first else None, {**dict.fromkeys(_OFFSETS, "-"), **values}, len(whole))
    span = one(lines[at])
    reason = f"is a row of a group that is cut off: {', '.join(missing) or 'the part after its lag'} was not pasted in full"
    return [*_facts(row, span, asked), CutOutput(span, reason)]


def _skipped(line: PastedLine) -> ToolStatement:
    """Return the checker's message in place of a row."""
    ends = _SKIPPED.fullmatch(line.text[:_LONGEST])["ends"] is not None
    return ToolStatement(_CHECKER, one(line), cut(line.text.strip().rstrip("."), 300), bad=ends)


def _folded(lines: Sequence[PastedLine], at: int, columns: Sequence[str]) -> tuple[_Row | None, int]:
    """Return the row that starts at a line, joined with its folded lines."""
    text, row = "", None
    for after in range(at, min(len(lines), at + _MOST_FOLDED)):
        more = lines[after].text
        if not more or len(more) > _LONGEST:
            break
        is_rest = row is not None and (row.words + len(more.split()) <= len(columns) or _HOST.fullmatch(more))
        alone = _row(more, columns) if text and row is None else None
        if alone is not None and not alone.values["TOPIC"].isdecimal():
            break
        is_rest = is_rest and not (", " in text and " " in more.strip())
        if is_rest and row is not None and columns[row.words : row.words + 1] == ["HOST"]:
            is_rest = more.lstrip().startswith(("/", "-"))
        if row is not None and (not is_rest or _row(more, columns) is not None or _stops(more)):
            break
        text = f"{text} {more}" if text else more
        if (now := _row(text, columns)) is not None:
            row, end = now, after + 1
        elif row is not None or _stops(more):
            break
    return (row, end) if row is not None else (None, at)


def _stops(text: str) -> bool:
    """Return whether it is certainly no rest of a row."""
    return (
        _OPTION.fullmatch(text) is not None
        or _HEAD_BEGINS.fullmatch(text) is not None
        or re.match(r".*[$#%>](?: |$)", text) is not None
    )


def _row(text: str, columns: Sequence[str]) -> _Row | None:
    """Parse a row with its values at least up to the lag; a group name may have blanks."""
    text = _GLUED.sub(" /", _GROUPED.sub("", text))
    has_commas = text.count(", ") >= columns.index("LAG") - 1
    has_bars = text.count("|") >= columns.index("LAG")
    words = re.split(r",\s*" if has_commas else r"\s*\|\s*" if has_bars else r"\s+", text.strip().removeprefix("|").strip())
    first = 1 if columns[0] == "GROUP" else 0
    for skipped in range(first, _MOST_WORDS_OF_A_GROUP + 1) if first else (0,):
        rest = words[skipped:]
        values = dict(zip(columns[first:], rest, strict=False))
        if _is_row(values):
            cells = _with_whole_member(rest, columns[first:])
            values = dict(zip(columns[first:], cells, strict=False))
            return _Row(_MARK.sub("", " ".join(words[:skipped])) or None, values, len(cells) + min(first, skipped))
    return None


def _with_whole_member(words: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the cells of a row with the blanks of a client's id, which is also in its member's: the host stands between them.

    A member without its end, as where the host is not pasted, is left out.
    """
    if list(columns[-3:]) != ["CONSUMER-ID", "HOST", "CLIENT-ID"] or len(words) < len(columns) - 1:
        return list(words)
    member, host = len(columns) - 3, len(columns) - 2
    at = next((at for at in range(host, len(words)) if _ADDRESS.fullmatch(words[at])), None)
    if at is None:
        return list(words[:member] if "(" in words[host] else words)
    ends = [" ".join(words[member:at]), words[at], " ".join(words[at + 1 :])]
    return [*words[:member], *filter(None, ends)]


def _is_row(values: dict[str, str]) -> bool:
    numbers = [values.get(name, "") for name in _OFFSETS]
    partition = values.get("PARTITION", "")
    if not all(_is_unknown(number) or re.fullmatch(r"-?[0-9]{1,18}", number) for number in numbers):
        return False
    return znodes.number(partition) is not None if values["TOPIC"] != "-" else partition == "-"


def _is_unknown(text: str) -> bool:
    return text in _UNKNOWN or is_masked(text)


def _facts(row: _Row, span: LineSpan, asked: str | None) -> Iterator[PastedOffset | GroupMember]:
    group, values = row.group or asked, row.values
    topic, member = values["TOPIC"], values.get("CONSUMER-ID", "-")
    if topic != "-":
        offset, end = (_count(values[name]) for name in _OFFSETS[:2])
        yield PastedOffset(group, topic, int(values["PARTITION"]), span, offset, end)
    if not _is_unknown(member):
        assigned = ((topic, int(values["PARTITION"])),) if topic != "-" else ()
        host, client = (values.get(name) for name in ("HOST", "CLIENT-ID"))
        partitions = 0 if topic == "-" else None
        host = None if host is None or is_masked(host.lstrip("/")) else host.lstrip("/")
        yield GroupMember(group, member, span, host, None if client and is_masked(client) else client, partitions, assigned)


def _count(text: str) -> int | None:
    """Parse a number; ``None`` for ``-`` and ``unknown``."""
    return None if _is_unknown(text) else int(text)
