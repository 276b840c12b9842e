"""Outputs of Kafka's tools without a row in a case: recognised by name, with their statements.

``kafka-broker-api-versions`` (responding brokers only), ``kafka-transactions``, ``kafka-leader-election`` and its predecessor,
``GetOffsetShell``, and lists of names. Source: ``BrokerApiVersionsCommand.scala@2.8.2``, ``TransactionsCommand.java@3.9.0``,
``LeaderElectionCommand.scala@2.8.2``, ``PreferredReplicaLeaderElectionCommand.scala@0.9.0.1, 2.3.1``,
``ConsumerOffsetChecker.scala@0.8.2.2``, all of ``kafka/admin`` and ``kafka/tools``.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import Elected, PastedZnode, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted import sentences, unread
from casebook.formats.pasted.answer_tables import TABLES, AnswerTable
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.damage import sent
from casebook.formats.pasted.text import TOPIC_NAME, PastedLine, is_gap, is_remark, one, spanned
from casebook.formats.pasted.tools import offsets
from casebook.formats.zookeeper import znodes

_ANSWERED = re.compile(
    r"\s*(?P<address>\S+:\d{1,5}) \(id: (?P<id>-?\d{1,10}) rack: (?P<rack>\S+)(?: isFenced: (?P<fenced>\w+))?\)"
    r"(?P<behind> -> (?:[({](?P<apis>.*)|(?P<error>ERROR.*)))?\s*"
)
_API = re.compile(
    r"\s*(?:[A-Za-z]+|UNKNOWN)\(\d+\): (?:UNSUPPORTED|\d+(?: to \d+)?(?: \[(?:usable|unusable)[^\]]*\])?)"
    r"(?:,?\s*(?:\.{2,}\s*)?\)?)\s*|\s*\)\s*"
)
_ELECTED = re.compile(
    r"\s*(?:Successfully (?:completed|started) (?:preferred )?(?:replica|leader) election.*|Valid replica already elected for .*"
    r"|Preferred replica already elected for .*|Created preferred replica election path with .*|Error completing (?:preferred )?"
    r"(?:replica|leader) election.*|Failed to start preferred replica election|Skipping preferred replica leader election for .*)"
)
_EXCEPTION = re.compile(r"\b[A-Z]\w*(?:Exception|Error)\b(?::? ?[^:]{0,4000})?")
_RANGE = re.compile(
    r"\s*\b(?P<name>[A-Za-z]+)\((?P<key>\d+)\): (?P<versions>UNSUPPORTED|\d++(?: to \d++)?+(?! ?t?o?\s*$))"
    r"(?: \[(?P<usable>(?:un)?usable[^\]]*)\])?"
)
_OF_API = re.compile(r"\s+[A-Za-z]{3,40}(?:\(\d*\)?:?(?: \d*)?(?: to?)?(?: \d*)?(?: \[[^\]]*)?)?")
"""A cut line of a version."""
_CUT_COMMAND = re.compile(
    r"\S*(?: --[a-z-]+(?:[ =]\S+)?)*(?= .*--topic)(?: --[a-z-]+(?:[ =]\S+)?)* --time[ =]\S+(?: --[a-z-]+(?:[ =]\S+)?)*"
)
"""Options of the tool without the start of the command."""
_SUMS = re.compile(r".*(?:GetOffsetShell|kafka-get-offsets).*\|.*\b(?:awk\b.*(?:\+=|sum)|paste\b.*\|\s*bc\b|bc\b).*")
_COUNTS = re.compile(r".*\|\s*(?:wc -l|grep -c\b.*)\s*")
_COUNTED = re.compile(r"(?P<topic>[a-zA-Z0-9._-]+)-(?P<partition>\d+)|\[(?P<old>[^\],]+), ?(?P<number>\d+)\]")
_BROKER_INFO = re.compile(r"BROKER INFO")
_BROKER_AT = re.compile(r"(?P<id>\d{1,10}) -> (?P<address>\S+:\d{1,5})\W*")
_LISTED = re.compile(rf"(?P<name>{TOPIC_NAME})(?P<deleting> - marked for deletion)?")
_NOTE = re.compile(r"\s*Note: This will (?:only |not )show information about")
_LISTS = re.compile(r".*\bkafka-(?P<what>topics|consumer-groups)\S*\s(?:.*\s)?--list\b.*")
_FAILED = re.compile(
    r"\s*(?P<said>(?:Error(?: occurred)?: |Error while executing |Exception in thread |Missing required argument |Timed out "
    r"|Command \"[^\"]+\" doesn't allow option"
    r"|Option combination \"[^\"]+\" can't be used with option"
    r"|Command must include (?:exactly|only) one |Option \W\S+ (?:can't|cannot|is not|requires|has) "
    r"|\S+ is not a recognized option)"
    r".*)"
)
_FILTER = re.compile(r"\|\s*(?:grep|egrep|awk|sed|rg|findstr|head|tail)\b.*")
_LEFT_OUT = re.compile(
    r"\s*(?:Error while getting (?:end |earliest |latest )?offsets? for (?:topic-)?partitions? |(?:Error:"
    r" )?(?:topic-)?partition (?=.*[Ss]kip)"
    r"|(?:Error: )?partition (?=\d+ does not exist)|Skip(?:ping)? (?:getting )?offsets? for (?:topic-)?partition )"
    r"[\[(]?(?P<which>[\w.-]+(?:[:,] ?\d+)?)[\])]?.*"
)
_OF_FIGURES = re.compile(
    r"ProducerId|\w*Epoch|Partition|PARTITION|Coordinator(?:Id)?|\w*Offset|NEW-OFFSET|\w*Ms|LastTimestamp|\w*Sequence"
)
_FIGURE = re.compile(r"-?\d+|None|-|[*xX#?.]+")
_PROMPT = re.compile(r".*[$#%>]\s.*|\s*(?:[^\s$#%>]{1,80}|\[[^\[\]]{1,80}\])?[$#%>]|.*\bkafka-[a-z-]+.*\s--.*")
_LONGEST, _SHOWN, _MOST_CONTINUED, _MOST_BROKERS, _MOST_FOLDS, _MOST_ROWS = 64 << 10, 20, 12, 60, 3, 60
_MOST_COMMAND = 200


def answers(lines: Sequence[PastedLine]) -> Iterator[ToolStatement | Elected | PastedZnode | CutOutput]:
    """Yield every such output; lists of ``kafka-topics --list`` as existing topics."""
    at, asked, command = 0, None, ""
    while at < len(lines):
        text = lines[at].text
        if not text or len(text) > _LONGEST:
            at += 1
            continue
        if (tool := unread.tool(text)) is not None:
            asked, command = tool, text[:_LONGEST]
        elif _CUT_COMMAND.fullmatch(text[:_LONGEST]):
            asked, command = "GetOffsetShell", f"GetOffsetShell {text[:_LONGEST]}"
        found, after = _at(lines, at, command)
        if _COUNTS.fullmatch(text) and (counted := _counted(lines, at)) is not None:
            found, after = (counted,), counted.span.last - lines[0].number + 1
        if _SUMS.fullmatch(text) and (total := offsets.total(lines, at + 1)) is not None:
            found, after = (total,), total.span.last - lines[0].number + 1
        if left_out := _LEFT_OUT.fullmatch(text):
            found = (
                ToolStatement(
                    asked or "GetOffsetShell",
                    one(lines[at]),
                    f"of {_whose(left_out['which'], command)} it printed nothing: {cut(text.strip(), 200)}",
                    bad=True,
                ),
            )
        elif asked and (failed := _FAILED.fullmatch(text)):
            found = (
                ToolStatement(asked, spanned(lines, at, after), f"it failed: {cut(failed['said'].rstrip('. '), 200)}", bad=True),
            )
        yield from found
        at = max(after, at + 1)


def _at(
    lines: Sequence[PastedLine], at: int, command: str
) -> tuple[Sequence[ToolStatement | Elected | PastedZnode | CutOutput], int]:
    text = lines[at].text
    if told := sentences.told(lines[at]):
        return (told,), at + 1
    if "(id: " in text and _ANSWERED.fullmatch(text):
        return _api_versions(lines, at)
    if "lect" in text and _ELECTED.fullmatch(text):
        return _elections(lines, at)
    if several := offsets.several(text):
        return (offsets.of_rows(several, one(lines[at]), command),), at + 1
    if offsets.is_row(text):
        return offsets.told(lines, at, command)
    if _BROKER_INFO.fullmatch(text.strip()):
        after = _while(lines, at + 1, _BROKER_AT)
        asked = [found for line in lines[at + 1 : after] if (found := _BROKER_AT.fullmatch(line.text.strip()))]
        places = ", ".join(f"{row['id']} at {row['address']}" for row in asked[:_MOST_BROKERS])
        more = f" and {len(asked) - _MOST_BROKERS} more" if len(asked) > _MOST_BROKERS else ""
        says = f"the checker asked broker{'' if len(asked) == 1 else 's'} {places}{more}" if asked else ""
        return (ToolStatement("ConsumerOffsetChecker", spanned(lines, at, after), says, offsets.DESCRIBE),), after
    if "--list" in text and (command := _LISTS.fullmatch(text)):
        return _list(lines, at, command["what"])
    for table in TABLES:
        if table.head.fullmatch(text):
            heads = ("".join(line.text for line in lines[at : at + folds]) for folds in range(1, _MOST_FOLDS + 1))
            folds = next((folds for folds, head in enumerate(heads, 1) if head.rstrip().endswith(table.last)), 1)
            return _of_table(_unfolded(lines, at, folds), table, command, at)
    return (), at + 1


def _unfolded(lines: Sequence[PastedLine], at: int, folds: int) -> list[tuple[LineSpan, str]]:
    """Return rows of a table folded by a narrow screen: each over as many lines as the header."""
    return [
        (spanned(lines, begin, min(len(lines), begin + folds)), "".join(line.text for line in lines[begin : begin + folds]))
        for begin in range(at, len(lines), folds)
    ]


def _while(lines: Sequence[PastedLine], at: int, *patterns: re.Pattern[str]) -> int:
    while at < len(lines) and (
        is_gap(lines[at].text) or any(pattern.fullmatch(lines[at].text.strip()[:_LONGEST]) for pattern in patterns)
    ):
        at += 1
    return at


def _api_versions(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[ToolStatement | CutOutput], int]:
    """Return the responding brokers: alive then, with an unknown registration."""
    after = _while(lines, at, _ANSWERED, _API)
    brokers = [found for line in lines[at:after] if (found := _ANSWERED.fullmatch(line.text[:_LONGEST]))]
    answered = [_placed(b) for b in brokers if b["behind"] and not b["error"]]
    named = [_placed(b) for b in brokers if not b["behind"]]
    silent = [_placed(b) for b in brokers if b["error"]]
    says = f"brokers {', '.join(answered)} answered" if answered else "no broker answered"
    says += f", {', '.join(silent)} did not" if silent else ""
    if named:
        of = f"of {', '.join(named)} it is not pasted whether they answered"
        says = f"{says}; {of}" if answered or silent else of
    for broker, apis in _apis(lines[at:after]).items():
        knows = ", ".join(
            f"{_api_name(api)} {api['versions']}{f' ({usable})' if (usable := api['usable']) else ''}"
            for api in apis
            if api["versions"] != "UNSUPPORTED"
        )
        without = [_api_name(api) for api in apis if api["versions"] == "UNSUPPORTED"]
        says += f"; {broker} knows {knows}" if knows else ""
        says += f"; {broker} does not support {_some(without)}" if without else ""
    fenced = [f"{b['id']} {b['fenced']}" for b in brokers if b["fenced"]]
    says += f"; fenced: {', '.join(fenced)}" if fenced else ""
    told = ToolStatement(
        "kafka-broker-api-versions",
        spanned(lines, at, after),
        says,
        "`kafka-metadata-quorum describe --status`, or `ls /brokers/ids` in ZooKeeper, shows the registered brokers",
    )
    if after < len(lines) and brokers and _OF_API.fullmatch(lines[after].text[:_LONGEST]):
        return (told, CutOutput(one(lines[after]), "is a line of kafka-broker-api-versions that is cut")), after + 1
    last = lines[after - 1].text.rstrip()
    is_open = not last.endswith((")", "...")) and brokers[-1]["behind"] is not None and brokers[-1]["error"] is None
    cut = (CutOutput(one(lines[after - 1]), "is where kafka-broker-api-versions is cut: what followed was not pasted"),)
    return (told, *(cut if is_open else ())), after


def _api_name(api: re.Match[str]) -> str:
    """Return the name of an API; one that the tool does not know has only its key."""
    return f"UNKNOWN({api['key']})" if api["name"] == "UNKNOWN" else api["name"]


def _placed(broker: re.Match[str]) -> str:
    """Return id, address, rack and error of a broker; ``Node.java@3.9.0`` prints ``null`` for one without a rack."""
    rack = "no rack" if broker["rack"] == "null" else f"rack {broker['rack']}"
    error = f"; {broker['error']}" if broker["error"] else ""
    return f"{broker['id']} at {broker['address']} ({rack}{error})"


def _apis(lines: Sequence[PastedLine]) -> dict[str, list[re.Match[str]]]:
    """Return the printed versions by the broker above them."""
    found: dict[str, list[re.Match[str]]] = {}
    broker = "a broker that was not pasted"
    for at, line in enumerate(lines):
        is_whole = at + 1 < len(lines) and bool(lines[at + 1].text.strip())  # the last one of a cut answer may be cut itself
        if head := _ANSWERED.fullmatch(line.text[:_LONGEST]):
            broker = f"broker {head['id']}"
            found.setdefault(broker, []).extend(_RANGE.finditer(head["apis"] or ""))
        elif api := _RANGE.match(f"{line.text}," if is_whole else line.text):
            found.setdefault(broker, []).append(api)
    return found


def _elections(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[ToolStatement | Elected], int]:
    after = _while(lines, at, _ELECTED)
    changed: list[Elected] = []
    named: dict[str, list[str]] = {"elected": [], "had their leader already": [], "failed": [], "asked for, not completed": []}
    for line in lines[at:after]:
        partitions = [match[0] for match in _COUNTED.finditer(line.text.partition("artition")[2])]
        if re.match(r"\s*(?:Error|Failed|Skipping)", line.text):
            reason = _EXCEPTION.search(line.text)
            named["failed"] += [f"{one} ({cut(reason[0], 140)})" if reason else one for one in partitions[:1] or ["all"]]
        elif "already" in line.text:
            named["had their leader already"] += partitions or ["partitions that are not named"]
        else:
            kind = "asked for, not completed" if re.match(r"\s*(?:Successfully started|Created)", line.text) else "elected"
            named[kind] += partitions
            changed += _changed(line)
    words = " ".join(line.text for line in lines[at:after])
    kinds = dict.fromkeys(kind.lower() for kind in re.findall(r"\b(PREFERRED|UNCLEAN)\b", words))
    says = f"{' and '.join(kinds)} elections of leaders: ".lstrip() + "; ".join(
        f"{_some(names)} {kind}" for kind, names in named.items() if names
    )
    told = ToolStatement(
        "kafka-leader-election", spanned(lines, at, after), says.rstrip(": "), offsets.DESCRIBE, bool(named["failed"])
    )
    return (*changed, told), after


def _changed(line: PastedLine) -> Iterator[Elected]:
    """Yield partitions with a possible leader change since."""
    for found in _COUNTED.finditer(line.text.partition("artition")[2]):
        number = znodes.number(found["partition"] or found["number"])
        if number is not None:
            yield Elected(found["topic"] or found["old"], number, one(line))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _counted(lines: Sequence[PastedLine], at: int) -> ToolStatement | None:
    """Return the number that a command ending in ``wc -l`` prints."""
    number = lines[at + 1].text.strip() if at + 1 < len(lines) else ""
    command = re.sub(r"^.{0,200}?[$#%>] ", "", lines[at].text.strip())
    says = f"`{cut(command, _MOST_COMMAND)}` counted {number} lines"
    return ToolStatement("wc", spanned(lines, at, at + 2), says) if number.isascii() and number.isdecimal() else None


def _whose(which: str, command: str) -> str:
    """Return a partition printed only as a number, with the requested topic."""
    topic = re.search(r"--topic[ =](\S+)", command) if which.isdecimal() else None
    return f"{topic[1]}-{which}" if topic else which


def _list(lines: Sequence[PastedLine], at: int, what: str) -> tuple[Sequence[ToolStatement | PastedZnode], int]:
    """Return names, one per line, after a command that lists them."""
    after, found = _behind_commands(lines, at + 1), []
    if after == at + 1 and (below := _below_gap(lines, after)) is not None:
        after = below
    while after < len(lines) and (is_remark(lines[after].text) or _NOTE.match(lines[after].text)):
        after += 1
    if after > at + 1 and _NOTE.match(lines[after - 1].text) and after < len(lines) and not lines[after].text:
        after += 1  # old releases print an empty line below the note
    while after < len(lines) and (row := _listed_name(lines[after].text)):
        found.append((row, lines[after].number))
        after += 1
    if not found:
        return (), at + 1
    span = LineSpan(found[0][1], found[-1][1])
    if what == "consumer-groups":
        says = f"{len(found)} groups: {', '.join(row['name'] for row, _ in found[:_MOST_ROWS])}"
        how = "`kafka-consumer-groups --describe --group NAME` shows the state of a group"
        return (ToolStatement("kafka-consumer-groups --list", span, says, how),), after
    topics = [PastedZnode(f"/brokers/topics/{row['name']}", LineSpan(number, number)) for row, number in found]
    deleting = [PastedZnode(f"/admin/delete_topics/{row['name']}", LineSpan(n, n)) for row, n in found if row["deleting"]]
    return (*topics, *deleting, ToolStatement("kafka-topics --list", span, "", offsets.DESCRIBE)), after


def _below_gap(lines: Sequence[PastedLine], at: int) -> int | None:
    """Return where names begin below one empty line: a block of words that prose does not have."""
    begin = at + 1
    if at >= len(lines) or lines[at].text or begin >= len(lines):
        return None
    after = begin
    while after < len(lines) and (row := _listed_name(lines[after].text)) and re.search(r"[-_.\d]", row["name"]):
        after += 1
    return begin if after > begin and (after == len(lines) or not lines[after].text) else None


def _listed_name(text: str) -> re.Match[str] | None:
    """Match a lone name on a line; dots alone represent omitted names."""
    return None if is_gap(text) else _LISTED.fullmatch(text[:300].strip())


def _behind_commands(lines: Sequence[PastedLine], at: int) -> int:
    """Return the first line of the output, when several commands were pasted in one block and their outputs in the next."""
    after = at
    while after < min(len(lines), at + _MOST_CONTINUED) and (
        not lines[after].text or sent.is_command(lines[after].text) or is_remark(lines[after].text)
    ):
        after += 1
    between = [line.text for line in lines[at:after] if line.text]
    return after if between and not lines[after - 1].text else at


def _fits(names: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether numbers are in the number columns: prose below a table is no row."""
    cells = zip(names, words, strict=False)
    return all(_FIGURE.fullmatch(word) for name, word in cells if _OF_FIGURES.fullmatch(name))


def _is_rest(lines: Sequence[tuple[LineSpan, str]], at: int, names: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a line is the rest of a row that a narrow screen has broken: as many figures as the row lacks values."""
    rest = lines[at][1][:_LONGEST].split() if at < len(lines) else []
    return len(words) + len(rest) == len(names) and bool(rest) and all(map(_FIGURE.fullmatch, rest))


def _of_table(
    lines: Sequence[tuple[LineSpan, str]], table: AnswerTable, command: str, at: int
) -> tuple[Sequence[ToolStatement], int]:
    """Return the rows with their column names."""
    names, after, rows = lines[0][1].split(), 1, []
    while after < len(lines) and (words := lines[after][1][:_LONGEST].split()):
        if is_gap(lines[after][1]):
            after += 1
            continue
        folded = 0
        if 0 < len(names) - len(words) <= _MOST_FOLDS and _is_rest(lines, after + 1, names, words):
            words, folded = [*words, *lines[after + 1][1].split()], 1
        is_whole = len(words) > 2 or (len(words) == 2 and rows and after + 1 == len(lines))
        if (
            not table.first.fullmatch(words[0])
            or not is_whole
            or not _fits(names, words)
            or _PROMPT.fullmatch(lines[after][1][:_LONGEST])
        ):
            break
        rows.append(", ".join(f"{name} {word}" for name, word in zip(names, words, strict=False)))
        after += 1 + folded
    more = f"; {len(rows) - _MOST_ROWS} more" if len(rows) > _MOST_ROWS else ""
    topic, partition = (re.search(rf"--{name}[ =](\S+)", command) for name in ("topic", "partition"))
    whose = f" of {topic[1]}-{partition[1]}" if topic and partition and "describe-producers" in table.tool else ""
    follows = rows or after == len(lines) or not lines[after][1] or _PROMPT.fullmatch(lines[after][1][:_LONGEST])
    none = (
        f"no {table.what}{whose}{_filtered(command)}"
        if follows
        else f"{table.what}{whose}: the line after the header is not a row"
    )
    says = f"{table.what}{whose}: {'; '.join(rows[:_MOST_ROWS])}{more}" if rows else none
    span = LineSpan(lines[0][0].first, lines[after - 1][0].last)
    return (ToolStatement(table.tool, span, says),), at + span.last - span.first + 1


def _filtered(command: str) -> str:
    """Return that an answer without rows passed a filter: it may have had other rows."""
    return f" that passed {found[0].strip('| ')}" if (found := _FILTER.search(command)) else ""
