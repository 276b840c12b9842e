"""Pasted ZooKeeper output: ``get``, ``ls`` and ``stat`` of zkCli and zookeeper-shell, 3.4 to 3.9.

``get`` of 3.4 prints data and stat; from 3.5 on it prints the stat only with ``-s``. ``ls`` prints ``[1, 2, 3]``, ``ls2`` and
``ls -s`` also the stat (``ZooKeeperMain.java@release-3.4.6``, ``cli/{Get,Ls,Stat}Command.java@release-3.5.5``,
``cli/StatPrinter.java@release-3.8.0``). A znode without a pasted path is recognised by its data, and by a path in the lines
before it. The output does not repeat a command piped into the tool, ``echo ls /brokers/ids | zookeeper-shell.sh HOST``.
"""

import json
import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import PastedZnode, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.facts.znodes import Stat
from casebook.formats.pasted import cut_json, forms, logs
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.damage import loops
from casebook.formats.pasted.text import PastedLine, is_gap, is_remark, one, spanned
from casebook.formats.pasted.tools import shells, stat_times

_KAFKA = re.compile(
    r"(?P<chroot>(?:/[^\s/\"',`]+)*?)(?P<path>/(?:brokers(?:/(?:ids|topics|seqid)(?:/[^\s\"',)\]`:;]*)?)?"
    r"|controller_epoch|controller|cluster(?:/id)?|feature|admin(?:/[^\s\"',)\]`:;]+)?|config(?:/[^\s\"',)\]`:;]+)?"
    r"|(?:isr_change|log_dir_event)_notification(?:/[^\s\"',)\]`:;]+)?|latest_producer_id_block))(?=$|[\s\"',.:;)\]`])"
)
_COMMAND = re.compile(
    r"\s*(?P<zk>\[zk:[^\]]*\]\s*|.*\b(?:zkCli|zookeeper-shell|zookeeper-client|ZooKeeperMain)\S*\s.*?(?=\b(?:get|ls2?"
    r"|stat)\s))?(?:[$#%]\s+)?"
    r"(?P<verb>get|ls2?|stat)\s+(?P<options>(?:-\w\s+)*)(?P<path>/\S*)(?:\s+(?:watch|true|1))?\s*"
)
_PIPED = re.compile(
    r"(?:.*[\s$#%>])?echo\s+(?P<quote>[\"']?)(?P<command>[^\"'|]*?)(?P=quote)\s*\|.*"
    r"\b(?:zkCli|zookeeper-shell|zookeeper-client|ZooKeeperMain)\b.*"
)
_HERE = re.compile(
    r".*\b(?:zkCli|zookeeper-shell|zookeeper-client|ZooKeeperMain)\S*\s.*<<<\s*(?P<quote>[\"']?)(?P<command>[^\"']*)(?P=quote)\s*"
)
_VERB = re.compile(r"\b(?:get|ls2?|stat)\s")
_STAT = re.compile(
    r"\s*(?P<name>cZxid|ctime|mZxid|mtime|pZxid|cversion|dataVersion|aclVersion|ephemeralOwner|dataLength|numChildren)"
    r"\s*=\s*(?P<value>.*?)\s*(?:\[zk: ?\S*\([A-Z]+\).*)?"
)
_NOT_THERE = re.compile(
    r".*(?:Node does not exist: (?P<said>/\S+)|(?:NoNodeException: )?KeeperErrorCode = NoNode for (?P<code>/\S+))\s*"
)
_REFUSED = re.compile(r".*KeeperErrorCode = (?P<code>(?!NoNode)\w+) for (?P<path>/\S*)\s*")
_RULE = re.compile(r"[-=*_~]{4,}\s*")
"""A line that a person drew between a command and its answer."""
_CHATTER = re.compile(
    r"\s*(?:WATCHER::|WatchedEvent state:.*|Connecting to \S+|Welcome to (?:ZooKeeper!|zk-shell .*)|JLine support is \w+"
    rf"|{shells.PROMPT}\s*|\[zk:[^\]]*\]\s*(?:quit)?"
    r"|null|quit|Quitting\.\.\.|log4j:WARN .*|'ls2' has been deprecated.*|Command failed: .*)\s*"
)
_BANNER = re.compile(r"\s*(?:WATCHER::|WatchedEvent state:.*|Connecting to \S+|Welcome to ZooKeeper!|JLine support is \w+)\s*")
_CHILDREN = re.compile(r"\s*\[(?:[^\[\]{}\":=]*)\]?\s*")
_CHILDREN_ON = re.compile(r"[^\[\]{}\":=\s][^\[\]{}\":=]*\]?\s*")
_GLUED = re.compile(r"(?P<list>[^\]]*\])(?P<stat>cZxid = .*)")
_ON_ITS_LINE = re.compile(
    r"(?P<command>\s*\[zk:[^\]]*\]\s*(?:get|ls2?)\s+(?:-\w\s+)*/\S+)\s+"
    r"(?P<answer>\{.*\}|\[(?:[\w.-]*\w(?:, [\w.-]*\w)*)?\]|(?<=_epoch )\d{1,10})\s*"
)
"""A command with its answer behind it, as a page without line ends shows them."""
_OBJECT = re.compile(r"\s*\{\s*(?:[\"}]|\[(?!\d+ bytes data)|$)")
"""Start of JSON; ``{ BrokerNotAvailableError: ...`` is node's notation of an error."""
_DONE = re.compile(r"\s*(?:>\s*)?(?:done|echo)\b.*|\s*do\s*")
_FILTERED = re.compile(
    r"(?:\s+\d?&?>+\s?\S+|\s*\|\s*(?:tail|head|grep|egrep|sed|awk|jq|python3?|tr|cat)\b[^|]*|\s*;\s*(?:echo\b[^|;]*|done))+\s*$"
)
"""Shell syntax after a command that does not change its answer."""
_NUMBER = re.compile(r"\s*[0-9]{1,10}\s*")
_FIELDS = {"cZxid": "czxid", "mZxid": "mzxid", "pZxid": "pzxid", "dataVersion": "version", "aclVersion": "aversion"}
_TIMES = ("ctime", "mtime")
_NAMES = re.compile(r"\s*\[[^\[\]{}\":=]+\]\s*")
_MOST_FOLDED, _MOST_CHARACTERS, _LONGEST, _NEAR, _MOST_CHATTER, _MOST_SAID = 5000, 4 << 20, 4096, 3, 11, 4000


def kafka_path(path: str) -> tuple[str, str] | None:
    """Return chroot and path below it of a Kafka znode; ``None`` for another."""
    found = _KAFKA.fullmatch(path.rstrip("/") or "/")
    return (found["chroot"], found["path"]) if found else None


def znodes(lines: Sequence[PastedLine]) -> Iterator[PastedZnode | ToolStatement | CutOutput]:
    """Yield every znode in order; empty lines are claimed by other readers."""
    at = 0
    while at < len(lines):
        found, after = _at(lines, at)
        if found is not None and (loop := _loop(lines, at)) is not None:
            found, after = None, loop[1]
            yield from loop[0]
        if isinstance(found, PastedZnode) and "$" in (found.path or ""):
            found = found._replace(path=None)  # of which the shell put in one name after the other
        if found is not None:
            yield found
        if isinstance(found, CutOutput):
            yield from _left(lines, at, after)
        at = max(after, at + 1)


def _left(lines: Sequence[PastedLine], at: int, after: int) -> Iterator[ToolStatement]:
    """Return the complete part of an answer that is cut or has a gap."""
    begin = next((index for index in range(at, after) if _OBJECT.match(lines[index].text)), None)
    value = cut_json.read(lines, begin)[0] if begin is not None else None
    if isinstance(value, dict) and value:
        command = _command(lines[at].text)
        told = cut(", ".join(forms.flat(value)), _MOST_SAID)
        says = f"{command['path'] if command else 'a znode whose path was not pasted'} holds, as far as it is whole, {told}"
        yield ToolStatement("zookeeper-shell", spanned(lines, begin, after), says)


def _loop(lines: Sequence[PastedLine], at: int) -> tuple[list[PastedZnode], int] | None:
    """The answers to a command in a loop of a shell, each with the path of its turn; ``None`` where they are not as many."""
    command = _command(lines[at].text)
    if command is None or command["verb"] != "get" or "$" not in command["path"]:
        return None
    name, values = loops.turns([line.text[:_LONGEST] for line in lines[max(0, at - _NEAR) : at + 1]])
    found, after = [], at + 1
    for value in values:
        while after < len(lines) and (
            not lines[after].text or _DONE.fullmatch(lines[after].text) or is_chatter(lines[after].text)
        ):
            after += 1
        data, end = _json(lines, after) if after < len(lines) and _OBJECT.match(lines[after].text) else (None, after)
        path = name.sub(value, command["path"]).strip("\"'")
        if data is None or kafka_path(path) is None:
            return None
        stat, undated, end = _stat(lines, end)
        found.append(PastedZnode(path, spanned(lines, after, end), data, stat, undated=undated))
        after = end
    return (found, after) if found and not (after < len(lines) and _OBJECT.match(lines[after].text)) else None


def is_chatter(text: str) -> bool:
    """Return whether it is decoration by zkCli."""
    return _CHATTER.fullmatch(text) is not None


def is_command(text: str) -> bool:
    """Return whether it requests a Kafka znode from ZooKeeper."""
    return _command(text) is not None


def _at(lines: Sequence[PastedLine], at: int) -> tuple[PastedZnode | CutOutput | None, int]:
    """Return the znode that starts at a line, and the next line."""
    text = lines[at].text
    if not text:
        return None, at + 1
    if "Node" in text and (missing := _NOT_THERE.fullmatch(text[:_LONGEST])):
        path = missing["said"] or missing["code"]
        return (PastedZnode(path, one(lines[at]), there=False) if kafka_path(path) else None), at + 1
    if "[zk:" in text and (both := _ON_ITS_LINE.fullmatch(text[:_LONGEST])) and not _is_answered_below(lines, at):
        apart = [lines[at]._replace(text=both["command"]), lines[at]._replace(text=both["answer"]), *lines[at + 1 : at + _NEAR]]
        found, after = _at(apart, 0)
        return found, at + max(after - 1, 1)
    if (command := _command(text)) is not None:
        return _answer(lines, at, command)
    if text.lstrip().startswith("[") and _NAMES.fullmatch(text[:_LONGEST]) and _behind_banner(lines, at):
        number = lines[at].number
        what = "answers a command that was not pasted"
        how = f"write the command, e.g. `ls /brokers/ids`, on a line above line {number}"
        return CutOutput(LineSpan(number, number), f"{what}: {how}"), at + 1
    if _OBJECT.match(text):
        return _bare(lines, at)
    if "=" in text and _STAT.fullmatch(text[:_LONGEST]):
        stat, undated, after = _stat(lines, at)
        path = path_near(lines, at)
        return PastedZnode(path, spanned(lines, at, after), stat=stat, undated=undated), after
    return None, at + 1


def _is_answered_below(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether a list, JSON or a number follows a command: text behind it is then part of what was typed."""
    text = next((line.text for line in lines[at + 1 : at + 1 + _NEAR] if line.text), "")
    return (text.lstrip().startswith(("{", "[")) and "[zk:" not in text) or _NUMBER.fullmatch(text) is not None


def _command(text: str) -> re.Match[str] | None:
    """Match a command of zkCli; ``ls`` of a shell only with a path of Kafka's znodes."""
    if len(text) >= _LONGEST or "/" not in text or not _VERB.search(text):
        return None
    if shell := shells.of_zk_shell(text):
        return _COMMAND.fullmatch(f"[zk: shell] {shell}")
    piped = _PIPED.fullmatch(text) if "|" in text else _HERE.fullmatch(text) if "<<<" in text else None
    found = _COMMAND.fullmatch(f"[zk: piped] {piped['command']}" if piped else _FILTERED.sub("", text))
    return found if found and (kafka_path(found["path"]) or _is_root(found)) else None


def _is_root(command: re.Match[str]) -> bool:
    """Match ``ls /kafka`` at the prompt of zkCli: the root of a chroot."""
    return command["zk"] is not None and command["verb"].startswith("ls")


def _behind_banner(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether the tool's greeting is the last text before a line: the command was not on the screen."""
    before = next((line.text for line in reversed(lines[max(0, at - _NEAR) : at]) if line.text), "")
    return _BANNER.fullmatch(before) is not None


def _answer(
    lines: Sequence[PastedLine], at: int, command: re.Match[str]
) -> tuple[PastedZnode | ToolStatement | CutOutput | None, int]:
    """Parse the output of a command."""
    path, after = command["path"].rstrip("/") or "/", _behind_chatter(lines, at + 1)
    if after < len(lines) and _repeats(lines[after].text, command):
        after = _behind_chatter(lines, after + 1)
    if after == len(lines) or _CHATTER.fullmatch(lines[after].text):
        return CutOutput(spanned(lines, at, after), "asks for a znode; its answer was not pasted"), after
    data, children, text, glued = None, None, lines[after].text, None
    if command["verb"].startswith("ls"):
        listed, end, glued = _children(lines, after)
        if end is None:
            is_answered = _NOT_THERE.fullmatch(text) or _REFUSED.fullmatch(text[:_LONGEST])
            reason = "asks for children; their list was not pasted whole"
            return _refused(lines, at, after, path) if is_answered else (CutOutput(spanned(lines, at, at + 1), reason), after)
        children, after = listed, end
    elif command["verb"] == "get" and text.lstrip().startswith("{"):
        data, end = _json(lines, after)
        if data is None:
            return CutOutput(spanned(lines, at, end), "holds JSON that is cut off or was changed"), end
        after = end
    elif command["verb"] == "get" and _NUMBER.fullmatch(text) and path.endswith("/controller_epoch"):
        data, after = text.strip(), after + 1
    elif not _STAT.fullmatch(text):
        return _refused(lines, at, after, path)
    stat, undated, end = _stat(lines, after, glued)
    return PastedZnode(path, spanned(lines, at, end), data, stat, children, undated=undated), end


def _behind_chatter(lines: Sequence[PastedLine], at: int) -> int:
    """Return the next line with content, or with a prompt, within a limit."""
    at = shells.behind_client_log(lines, at)
    for index in range(at, min(len(lines), at + _MOST_CHATTER)):
        text = lines[index].text
        says = text.startswith("[zk:") or not (_CHATTER.fullmatch(text) or _RULE.fullmatch(text) or shells.is_client_log(text))
        if text and says and not is_remark(text):
            return index
    return min(len(lines), at + _MOST_CHATTER)


def _repeats(text: str, command: re.Match[str]) -> bool:
    """Return whether it repeats the command, as a terminal does for piped input."""
    again = _command(text)
    return again is not None and (again["verb"], again["path"]) == (command["verb"], command["path"])


def _refused(lines: Sequence[PastedLine], at: int, after: int, path: str) -> tuple[PastedZnode | ToolStatement | CutOutput, int]:
    """Return a command without a result: the znode does not exist, it was refused, or the output is invalid."""
    missing = _NOT_THERE.fullmatch(lines[after].text)
    if missing and (missing["said"] or missing["code"]) == path:
        return PastedZnode(path, spanned(lines, at, after + 1), there=False), after + 1
    if (refused := _REFUSED.fullmatch(lines[after].text[:_LONGEST])) and refused["path"] == path:
        span = spanned(lines, at, after + 1)
        return ToolStatement("ZooKeeper's shell", span, f"ZooKeeper refused {path}: {refused['code']}", bad=True), after + 1
    return CutOutput(spanned(lines, at, at + 1), "asks for a znode; what follows is not its answer"), at + 1


def _bare(lines: Sequence[PastedLine], at: int) -> tuple[PastedZnode | CutOutput | None, int]:
    """Parse JSON without a command: a Kafka znode by its fields, else unknown."""
    data, end = _json(lines, at)
    if data is None and (logs.is_dated(lines[at].text) or logs.is_object(lines[at].text)):
        return None, at + 1
    if data is None and isinstance(left := cut_json.read(lines, at)[0], dict) and left and _kind(left) is None:
        return None, end
    if data is None:
        return CutOutput(spanned(lines, at, end), "is JSON that is cut off or was changed"), end
    try:
        row = _loaded(data)
    except (ValueError, RecursionError):
        return CutOutput(spanned(lines, at, end), "is JSON that is cut off or was changed"), end
    kind = _kind(row)
    if kind is None:
        return None, end
    path = path_near(lines, at)
    known = kafka_path(path) if path else None
    if known is None and kind == "^/admin/":
        return None, end  # a plan for kafka-reassign-partitions
    stat, undated, after = _stat(lines, end)
    path = path if known and re.search(kind, known[1]) else "/controller" if kind == "^/controller$" else None
    return PastedZnode(path, spanned(lines, at, after), data, stat, undated=undated), after


def _kind(row: object) -> str | None:
    """Return a pattern of Kafka's paths for such an object; ``None`` for other objects."""
    if not isinstance(row, dict):
        return None
    if {"leader", "isr", "leader_epoch"} <= row.keys():
        return "/state$"
    if "brokerid" in row:
        return "^/controller$"
    if "endpoints" in row or {"host", "port"} <= row.keys():
        return "^/brokers/ids/"
    if isinstance(row.get("partitions"), dict):
        return "^/brokers/topics/[^/]+$"
    if isinstance(row.get("partitions"), list) and row.keys() <= {"version", "partitions"}:
        return "^/admin/"
    return "^/config/" if "config" in row else None


def path_near(lines: Sequence[PastedLine], at: int) -> str | None:
    """Return the only znode path in the lines just before, e.g. in a sentence; ``None`` for none or several."""
    for line in reversed(lines[max(0, at - _NEAR) : at]):
        if "{" in line.text or _STAT.fullmatch(line.text) or is_gap(line.text):
            return None
        found = [match[0].rstrip("./") for match in _KAFKA.finditer(line.text[:4096])]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _json(lines: Sequence[PastedLine], at: int) -> tuple[str | None, int]:
    """Parse an object, folded over lines or not; ``None`` when something else starts before its end."""
    whole, depth, inside = "", 0, False
    for index in range(at, min(len(lines), at + _MOST_FOLDED)):
        text = lines[index].text if inside else lines[index].text.strip()
        if index > at and not inside and (not text or _STAT.fullmatch(text) or text.startswith("[zk:")):
            return None, index
        if index > at and logs.is_dated(lines[index].text):
            return None, index
        whole += text
        depth, inside = _depth(text, depth, inside)
        if depth <= 0:
            return (whole.strip() if _is_json(whole) else None), index + 1
        if len(whole) > _MOST_CHARACTERS:
            return None, index + 1
    return None, min(len(lines), at + _MOST_FOLDED)


_MARKS = re.compile(r'\\.|["{}]')


def _depth(text: str, depth: int, inside: bool) -> tuple[int, bool]:
    """Return the number of open braces after the text, and whether a string is open."""
    for mark in _MARKS.finditer(text):
        if mark[0] == '"':
            inside = not inside
        elif not inside and mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
    return depth, inside


def _loaded(text: str) -> object:
    """Parse JSON, also with a secret removed together with its quotes.

    Raises:
        ValueError: It is invalid.
    """
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text.replace("[redacted]", '"[redacted]"'))


def _is_json(text: str) -> bool:
    try:
        return isinstance(_loaded(text), dict)
    except (ValueError, RecursionError):
        return False


def _children(lines: Sequence[PastedLine], at: int) -> tuple[tuple[str, ...], int | None, str | None]:
    """Parse ``[1, 2, 3]``, folded or not; no end when it is open. 3.5 prints the stat's first line directly after it."""
    texts: list[str] = []
    for index in range(at, min(len(lines), at + _MOST_FOLDED)):
        text, glued = lines[index].text.strip(), None
        if behind := _GLUED.fullmatch(text):
            text, glued = behind["list"], behind["stat"]
        if not (_CHILDREN_ON if texts else _CHILDREN).fullmatch(text):
            break
        texts.append(text)
        if text.endswith("]"):
            names = [name.strip() for name in "".join(texts)[1:-1].split(",")]
            return tuple(name for name in names if name), index + 1, glued
    return (), None, None


def _stat(lines: Sequence[PastedLine], at: int, first: str | None = None) -> tuple[Stat | None, tuple[str, ...], int]:
    """Return the stat that starts at a line, perhaps with a first line before it, its times in unknown zones, and its end."""
    fields: dict[str, int | None] = {}
    undated = []
    while match := _STAT.fullmatch(first or (lines[at].text if at < len(lines) else "")):
        name, value = match["name"], match["value"]
        field = _FIELDS.get(name, name)
        if field in fields:
            break
        if name in _TIMES:
            fields[field] = stat_times.parsed(value)
            undated += [f"{name} = {value}"] if fields[field] is None else []
        else:
            fields[field] = _integer(value)
        at, first = (at, None) if first else (at + 1, None)
    return (Stat(**fields) if fields else None), tuple(undated), at


def _integer(text: str) -> int | None:
    if re.fullmatch(r"0x[0-9a-f]{1,16}", text):
        value = int(text, 16)
        return value - (1 << 64) if value >= 1 << 63 else value
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
