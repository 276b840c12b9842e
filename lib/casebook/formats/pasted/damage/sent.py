"""Undo changes to lines by a chat, a script's comments and a narrow screen, when neighbours prove them.

A nick precedes lines only if repeated; a command continues on the next line after a backslash (``^`` and a backtick on Windows),
or when a screen has broken it before an option.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable

_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]M)?"
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? "
_NO_LEVEL = r"(?!(?i:trace|debug|info|warn(?:ing)?|error|fatal|verbose|silly|http|critical|notice)\b)"
_WHO = rf"(?:<[@+%~&]?[\w .@-]{{1,40}}>:?|{_NO_LEVEL}[\w.@-]{{1,40}}(?: [\w.@-]{{1,20}}){{0,2}}:)"
_TIMED = re.compile(
    rf"\s{{0,4}}(?:\[(?:\d\d?[/.]\d\d?[/.]\d{{2,4}}, )?{_CLOCK}\] ?{_WHO}|\({_CLOCK}\) ?{_WHO}"
    rf"|(?:{_DAY})?{_CLOCK} ?<[@+%~&]?[\w .@-]{{1,40}}>:?"
    rf"|\d\d?[./]\d\d?[./]\d{{2,4}}, {_CLOCK} - {_NO_LEVEL}[\w.@ -]{{1,40}}:)(?: |$)"
)
"""A time and a sender: one such line is enough."""
_LABELLED = re.compile(r"\s*(?:-?\d[\d.,]*(?:[kMGT]i?B?|ms|s|%)?(?:\s|$)|\w+:[\w.-]+=\S|[\w.-]+:\d+:\d+\s*$)")
"""A number, an offset, or values by broker."""
_MENTION = re.compile(r"\s{0,4}@[A-Za-z][\w.-]{0,40}: ")
"""A bot that is asked to run a command."""
_NICK = re.compile(
    r"\s{0,4}(?P<nick><(?!(?:snip|cut|skip|omitted|truncated))[@+%~& ]?[\w.-]{1,40}>|[A-Za-z][\w.-]{0,30}>)(?: |$)"
)
_NAMED = re.compile(r"\s{0,4}(?P<nick>[a-z][\w.-]{0,40}:) ?")
_COMMENTED = re.compile(r"\A\s{0,12}(?P<mark>#|//|;|\*|•|\|(?!.*\|\s*$)) ?")
_SHOWN_AS = re.compile(
    r"(?:(?i:returns?|outputs?|results?|responses?|prints?|answers?|shows|gives|expected(?: output)?)\s?:|[-=]>|→)\s*(?=[{\[])"
)
"""A person's words before an answer in a comment."""
_NUMBERED = re.compile(
    r"\s{0,8}(?P<added>\+)?(?:Line (?=\d+:))?(?P<number>\d{1,6})(?:(?P<sign>[:|)]|\.(?=\s))|(?=\s)|$) ?[|│]? ?"
)
"""A line's number; that of a line that a change adds has a plus."""
_OF_FILE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.*|\"[\w.-]+\" ?: .+|[a-z][a-z0-9]*(?:\.[a-z0-9]+)+ ?= ?.*|[\w-]+: .*)"
)
_LEAST_NUMBERED, _SURELY_NUMBERED = 3, 5
_ELEMENTS = frozenset(
    {"<pre>", "<code>", "<p>", "<li>", "<ul>", "<div>", "<span>", "<td>", "<tr>", "<table>", "<body>", "<html>", "<br>"}
)
_OUTPUT = re.compile(
    r"\s*(?:Topic: ?\S+\s+(?:TopicId: ?\S+\s+)?Partition(?:Count)?: ?\d.*|(?:GROUP[\s,]+)?TOPIC[\s,]+(?:PARTITION|PID)[\s,].*"
    r"|GROUP\s+(?:CONSUMER-ID|COORDINATOR|STATE|TYPE)\b.*|(?:CONSUMER-ID|COORDINATOR \(ID\))\s.*"
    r"|Reassignment of partition .*|partition \d+, leader .*|(?:Dynamic|All|Default) configs? for .* are:"
    r"|Configs for \w+(?::\S| ').* are .*"
    r"|Metadata for .*\(from broker .*|\S+:\d+ \(id: -?\d+ rack: .*|zk_\w+\s+\S.*|(?:Zookeeper version|Latency min/avg/max): .*"
    r"|SessionTracker dump:.*|/\S+\[\d\]\(queued=.*|(?:ClusterId|LeaderId|LeaderEpoch):\s+\S+|(?:NodeId|ReplicaId)\s.*Lag\s.*"
    r"|(?:TransactionalId|CoordinatorId|ProducerId)\s+\w+\s.*|[\w.-]*[a-zA-Z][\w.-]*:\d+:\d+|Filesystem\s+\S+\s+Used\s.*"
    r"|[-d](?:[r-][w-][xsS-]){3}[.+]?\s+\d+\s.*"
    r"|\{\"version\":.*|\[zk: .*|cZxid = 0x.*|Full thread dump .*|\"[^\"]+\" #\d+ .*prio=.*"
    r"|\"time\",\"kafka.*|(?:# TYPE )?kafka_\w+(?:\{.*\})? \S+|(?:NAMESPACE\s+)?NAME\s+READY\s+STATUS\s.*|Active: \w+ \(.*"
    r"|(?:Monitor|Executor|Analyzer)State: \{.*|Successfully completed leader election .*|Directory of .*"
    r"|NAME\s+(?:TYPE\s+)?CLUSTER-IP\s.*|(?:\d+ brokers|\d+ topics|topic \"\S+\" with \d+ partitions):.*"
    r"|[\d.]+[KMGT]?\s+/\S+-\d+|\S.*\s\d+%\s+/\S*|.*Kill(?:ed)? process \d+ .*|Name:\s+\S+|WatchedEvent state:.*"
    r"|Dumping /\S+|baseOffset: \d.*|Successfully (?:completed|started) .*election.*"
    r"|(?:Valid|Preferred) replica already elected .*"
    r"|(?:Error completing|Skipping|Created) (?:preferred )?(?:replica |leader )*election .*"
    r"|/consumers/[^/\s]+/offsets/[^/\s]+/\d+:\d+|(?:Log s|S)tarting offset: \d+|offset: \d+ position: \d+ .*"
    r"|Querying brokers for log director.*"
    r"|Received log directory information .*|(?:Current|Proposed) partition re(?:plica |)assignment.*|BROKER INFO"
    r"|Could not parse broker info due to .*"
    r"|Group\s+Topic\s+Pid\s+Offset\s.*|Consumer group '[^']*' (?:is|has|does) .*|\{\"[a-z_]{2,40}\" ?: ?[\[{\"\d].*"
    r"|(?:Mem:|Tasks:|total)\s+(?:\d+|used)\s.*|procs -+memory-+.*|[●*] \S+\.service - .*|Loaded: loaded \(.*"
    r"|CONTAINER ID\s+IMAGE\s.*|Volume in drive .*|Mode\s+LastWriteTime\s.*)",
    re.IGNORECASE,
)
"""Text that only output has, after a name."""
_LOGGED = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ")
_RUNS = re.compile(
    r"\s*(?:.*[$#%>]\s+)?(?:\S*/)?(?:\S*=\S*\s+)?(?:sudo |watch |time )?(?:\S*/)?(?:(?:docker"
    r"|docker-compose|kubectl|oc|k|podman|ssh)\s.*"
    r"|(?:kafka-[a-z-]+|zookeeper-shell|zkCli|zookeeper-client|connect-[a-z]+)(?:\.sh|\.bat)?|kcat|kafkacat|curl|echo|nc)\s.*"
)
"""A command line, after any prompt."""
_STOPS = re.compile(
    r"\s*(?:sudo )?(?:docker(?:-compose| compose)?|podman|systemctl|service)\s+(?:\S+ )?"
    r"(?:stop|start|restart|kill|pause|unpause|up|down)"
    r"(?: [\w.@-]{1,60}){0,4}\s*"
)
"""A command that stops or starts something, with names alone."""
_PROMPTED = re.compile(
    r"\s*[`'\"]?(?:PS )?(?:\S{1,80} ){0,3}\S{0,120}?[$#%>] ?(?:sudo |time |watch |bash |sh |exec )*(?:\.{0,2}[\w./~-]*/)?"
    r"(?:kafka-?\w|confluent\b|kcat|kafkacat|zk[A-Z]\w|zookeeper-|echo\s|n?cat\s|nc\s|telnet\s|ls\b|ll\b|dir\b|du\s|df\b|curl\s"
    r"|kubectl\s|oc\s|k\s|docker|podman|jstack|jcmd|jps|jmap|systemctl|service\s|dmesg|journalctl|cat\s|tail\s|grep\s|diff\s|cd\s|pwd\b"
    r"|free\b|top\b|ps\s|ss\s|netstat|lsof|ulimit|ping\s|openssl|helm\s|ssh\s|for\s).*"
)
"""A command after a prompt of any form."""
_IN_ZKCLI = re.compile(
    r"\s*\[zk:[^\]]*\]\s*(?:rmr|delete|deleteall|create|set|setAcl|getAcl|addauth|connect|close|help|history)\b.*"
)
_PLACES = re.compile(r"\s-{1,2}[A-Za-z]|https?:|\||\s\S+:\d{2,5}\b|\s/\S")
_GOES_ON = re.compile(r"(?P<before>.*?)\s*[\\^`]")
_OPTIONS = re.compile(
    r"(?!\s*-[r-][w-][xsS-])(?!\s*(?:Error|Warning|Exception|WARN|Option)\b)"
    r"(?!.*(?:<String|\S {2,}\S))(?:\s*-{1,2}[a-z][\w-]*(?:[ =].*)?|.*\s--[a-z][a-z-]+(?:[ =].*)?)"
)
"""A line of options: not a file mode, not a tool's usage text or refusal."""
_NAMED_OPTIONS = frozenset(
    f"--{name}"
    for name in (
        "all-groups", "all-topics", "at-min-isr-partitions", "bootstrap-controller", "bootstrap-server", "broker-list", "brokers",
        "command-config", "describe", "election-type", "entity-default", "entity-name", "entity-type", "exclude-internal",
        "execute", "generate", "group", "list", "members", "offsets", "partition", "partitions", "reassignment-json-file",
        "replication", "state", "status", "topic", "topics", "topic-list", "topics-with-overrides", "unavailable-partitions",
        "under-min-isr-partitions", "under-replicated-partitions", "verbose", "verify", "zookeeper",
    )
)  # fmt: skip
"""Options of Kafka's tools that describe or move something."""
_NARROW, _MOST_WRAPPED, _MOST_BROKEN, _MOST_OF_OBJECT, _LONGEST = 60, 14, 3, 60, 2000
_OF_TRANSFER = re.compile(r"[{}] \[\d+ bytes data\]|< ?(?:HTTP/[\d.]+ \d+.*|[A-Za-z][\w-]+: .*)?")
_WROTE = re.compile(
    r"\s*(?:(?:On|Am|Le|El|Il|Op|Em) .{6,120}(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef|escreveu).{0,60}:|-{2,}\s?"
    r"(?:Original Message|Forwarded message|Ursprüngliche Nachricht)\s?-{2,}|(?:From|Von|De|To|An|Cc|Sent"
    r"|Gesendet|Date|Subject|Betreff):"
    rf" .{{1,200}}|[\w.@]{{1,30}}(?: [\w.@]{{1,20}}){{0,2}}\s+(?:\[?{_CLOCK}\]?|(?:today|yesterday|heute"
    rf"|gestern) (?:at|um) {_CLOCK}))\s*",
    re.IGNORECASE,
)


def sender(text: str) -> str:
    """Return the time and the sender in front of a line, which :func:`without_senders` removes; ``""`` without."""
    found = _sent(text)
    return found[0].strip() if found else ""


def _sent(text: str) -> re.Match[str] | None:
    """Match time and sender; the label of a value, as in a script's own output, is no sender."""
    found = (_TIMED.match(text) if ":" in text[:24] else None) or _MENTION.match(text)
    return None if found and _LABELLED.match(text, found.end()) else found


def without_senders(texts: list[str]) -> list[str]:
    """Return the lines without nicks before them, and commented outputs without the comment sign."""
    bare = [text[len(found[0]) :] if (found := _sent(text)) else text for text in _without_numbers(texts)]
    nicks = [found["nick"] if (found := _NICK.match(text[:60])) and found["nick"] not in _ELEMENTS else None for text in bare]
    often = Counter(filter(None, nicks))
    for at, nick in enumerate(nicks):
        if nick is not None and often[nick] > 1 and (nick.startswith("<") or nick in _beside(nicks, at)):
            bare[at] = _NICK.sub("", bare[at], count=1)
    for pattern, name in ((_NAMED, "nick"), (_COMMENTED, "mark")):
        bare = _without_runs(bare, pattern, name)
    return _with_answers(bare)


def _with_answers(texts: list[str]) -> list[str]:
    """Return the lines; a comment that is an object of JSON, perhaps after a word such as ``Returns:``, is that object."""
    found, at = list(texts), 0
    while at < len(texts):
        after = at + 1
        if "{" in texts[at] and (first := _COMMENTED.match(texts[at][:80])):
            begun = _SHOWN_AS.sub("", texts[at][first.end() :].lstrip(), count=1)
            bodies = [begun] if begun.startswith("{") else []
            while bodies and not _is_object("".join(bodies)) and after < min(len(texts), at + _MOST_OF_OBJECT):
                mark = _COMMENTED.match(texts[after][:80])
                if mark is None or mark["mark"] != first["mark"]:
                    break
                bodies.append(texts[after][mark.end() :])
                after += 1
            if bodies and _is_object("".join(bodies)):
                found[at:after] = bodies
            else:
                after = at + 1
        at = after
    return found


def _is_object(text: str) -> bool:
    try:
        return text.rstrip().endswith("}") and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def is_output(text: str) -> bool:
    """Whether a line is surely one that a tool prints, and not a remark."""
    return _OUTPUT.fullmatch(text[:_LONGEST]) is not None


def _without_numbers(texts: list[str]) -> list[str]:
    """The lines without their numbers, as editors, ``cat -n`` and ``grep -n`` put them before each line of a run."""
    marks = [_NUMBERED.match(text[:_NARROW]) for text in texts]
    at, found = 0, list(texts)
    while at < len(texts):
        after = at + 1
        while marks[at] and after < len(texts) and (mark := marks[after]) and _follows(marks[after - 1], mark):
            after += 1
        bare = [text[mark.end() :] for text, mark in zip(texts[at:after], marks[at:after], strict=True) if mark]
        if len(bare) >= _LEAST_NUMBERED and (
            _is_counted(marks[at], bare)
            or any(is_output(text) or (_OF_FILE.fullmatch(text[:_LONGEST]) and not marks[at]["added"]) for text in bare)
        ):
            found[at:after] = bare
        at = after
    return found


def _is_counted(first: re.Match[str], bare: list[str]) -> bool:
    """Whether numbers count the lines of a text from its first one, with a sign behind each."""
    is_first = first["number"] == "1" and first["sign"] in (":", "|")
    return is_first and len(bare) >= _SURELY_NUMBERED and any(len(text.split()) > 1 for text in bare)


def _follows(before: re.Match[str], mark: re.Match[str]) -> bool:
    """Whether a number is the next one; what ``grep`` finds may have others between."""
    step = int(mark["number"]) - int(before["number"])
    if before["added"] != mark["added"]:
        return False
    return step == 1 or (step > 1 and mark["sign"] == before["sign"] == ":")


def _beside(names: list[str | None], at: int) -> Iterable[str | None]:
    return (names[at - 1] if at else None, names[at + 1] if at + 1 < len(names) else None)


def _without_runs(texts: list[str], pattern: re.Pattern[str], name: str) -> list[str]:
    """Return the lines without the prefix of each of a run of them, if output, a log or a prompted command follows it."""
    marks = [found[name] if (found := pattern.match(text[:80])) else None for text in texts]
    at = 0
    while at < len(texts):
        after = at + 1
        while marks[at] is not None and after < len(texts) and marks[after] == marks[at]:
            after += 1
        bare = [pattern.sub("", text, count=1) for text in texts[at:after]] if marks[at] is not None else []
        is_several = after - at > 1
        if any(is_output(text) or (is_several and (is_prompted(text) or _LOGGED.match(text[:_NARROW]))) for text in bare):
            texts[at:after] = bare if is_several or name == "mark" else texts[at:after]
        at = after
    return texts


def with_whole_commands(texts: list[str]) -> list[str]:
    """Join commands on their first line; their other lines are empty."""
    at = 0
    while at < len(texts):
        after = at + 1
        if texts[at] and len(texts[at]) < _LONGEST and _RUNS.fullmatch(texts[at]):
            parts, after = _parts(texts, at)
            if after > at + 1:
                texts[at:after] = [" ".join(parts), *([""] * (after - at - 1))]
        at = after
    return texts


def _parts(texts: list[str], at: int) -> tuple[list[str], int]:
    parts, after = [texts[at]], at + 1
    while after < min(len(texts), at + _MOST_WRAPPED):
        if found := _GOES_ON.fullmatch(parts[-1]):
            parts[-1:] = [found["before"], texts[after].strip()]
        elif (broken := parts[-1].rpartition(" ")[2]).startswith("--") and _is_option(broken, texts[after]):
            parts[-1] += texts[after].rstrip()
        elif (
            after - at <= _MOST_BROKEN
            and len(texts[after - 1]) >= _NARROW
            and _OPTIONS.fullmatch(texts[after][:_LONGEST])
            and not _RUNS.fullmatch(texts[after])
        ):
            parts.append(texts[after].strip())
        else:
            break
        after += 1
    return parts, after


def _is_option(broken: str, text: str) -> bool:
    """Return whether a line begins with the rest of an option that a screen has broken within its name."""
    return broken not in _NAMED_OPTIONS and f"{broken}{text.split(' ')[0]}" in _NAMED_OPTIONS


def is_command(text: str) -> bool:
    """Return whether it is a command line without a prompt: prose about a tool has neither options nor paths."""
    return len(text) < _LONGEST and (
        (_RUNS.fullmatch(text) is not None and _PLACES.search(text) is not None) or _STOPS.fullmatch(text) is not None
    )


def is_prompted(text: str) -> bool:
    """Return whether it is a command after a prompt, except a row that ends in a per cent sign, or contains an arrow."""
    return len(text) < _LONGEST and (
        (any(sign in text for sign in "$#%>") and _PROMPTED.fullmatch(text) is not None) or _IN_ZKCLI.fullmatch(text) is not None
    )


def is_of_transfer(text: str) -> bool:
    """Whether ``curl -v`` says it beside what it fetched."""
    return len(text) < _LONGEST and _OF_TRANSFER.fullmatch(text) is not None


def is_sender(text: str) -> bool:
    """Return whether it is a mail's or a chat's line with sender and time."""
    return len(text) < 300 and _WROTE.fullmatch(text) is not None
