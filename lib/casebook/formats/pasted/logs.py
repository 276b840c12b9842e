"""Log lines in pasted text: recognition, unfolding, and owner.

A line is a log line by its date, its level, or its writer. A mail folds long lines: the rest of a message with its ``(logger)``
at the end of a following line is joined again. The owner is in the line itself (``[ReplicaManager broker=1]``) or in a heading
before it (``broker 1:``, ``==> broker-1/server.log <==``); otherwise it is unknown.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from casebook.facts.pasted import PastedLogLine
from casebook.facts.pasted_hosts import LineSpan
from casebook.formats.broker import log_patterns
from casebook.formats.pasted import prose
from casebook.formats.pasted.damage import sent
from casebook.formats.pasted.hosts import listing, services
from casebook.formats.pasted.text import PastedLine, one
from casebook.formats.zookeeper import znodes

_CLOCK = r"\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?"
_DATED = re.compile(
    rf"\s{{0,8}}\W{{0,3}}(?:\d{{4}}[-/]\d\d[-/]\d\d[ T]{_CLOCK}|{_CLOCK}[\s\]]|\w{{3}} [ \d]\d {_CLOCK} "
    rf"|\d{{2}}[./-]\w{{2,3}}[./-]\d{{2,4}} {_CLOCK}|%[0-7]\|\d{{10}}\.|I?\d{{10}}\.\d{{3}}[ |]"
    r"|\[\d{10}\.\d{3,9}\]|\{\"(?:log|@?timestamp|time|ts|instant|message|level)\":|[0-7]\|\d{4}-\d\d-\d\d )"
)
_COLLECTED = re.compile(
    r"(?:[\w#.-]{1,60} ?\| ?)?[\s*]{0,16}(?:\[[\d.,]+m?s\](?:\[[\w ]+\])*\[gc[\w,+ ]*\]"
    r"|(?:[\d.,]+: )?\[(?:Full )?GC(?: pause| \()"
    r"|Total time for which application threads were stopped: )"
)
"""A garbage collection, with the JVM's uptime or without any time (``-Xlog:gc``, ``-XX:+PrintGCTimeStamps``).

As ``casebook.logs.Foreign``."""
_OBJECT = re.compile(r"\s{0,8}(?:\{ ?)?\"[@\w.]+\" ?:.*\"(?:message|msg|log|textPayload|short_message)\" ?:")
"""An entry as a JSON object, with any first member, its brace copied or not: it has a message."""
_OF_RUBY = re.compile(r"\s{0,8}\{:timestamp=>\".*:message=>")
"""Logstash 1 and 2, which print Ruby's notation of an entry."""
_PAIRS = re.compile(r"(?:.{0,80} )?(?:ts|time|t|level|lvl|caller)=\S.* msg=")
"""Format of Go's loggers: ``time=… level=error msg="…"``."""
_TIMED = re.compile(rf".{{0,120}}?(?<![\w.]){_CLOCK}")
_CONTAINER = r"[\w.-]{1,60} {0,40}\| "
_PLACE = r"(?:[\w ]{1,30} >> )?(?:[\w./-]{1,80}\.(?:go|c|cc|cpp|js|ts|py|rb|rs):\d{1,6}:? (?=\S)|[\w.>-]{1,80}\(\):\d{1,6} - )"
"""Place in the source before a message, as loggers of Go, Python and C print it: as ``casebook.logs.Foreign``."""
_PLACED = re.compile(_PLACE)
_ANEW = re.compile(
    rf"{_PLACE}|.{{0,100}}?\d{{4}}-\d\d-\d\d[T ]{_CLOCK}\W{{1,3}}(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b|{_CONTAINER}"
    rf"|\s{{0,8}}(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\s"
    rf"|[\w.-]{{1,60}} {{0,40}}\|\W{{0,3}}\d{{4}}-\d\d-\d\d[ T]{_CLOCK}"
)
"""Starts that no rest of a folded message has: a container's name, a date or a level."""
_OF_CLIENTS = re.compile(
    r"\s{0,8}(?:\(?(?:RDKAFKA|LOG)-\d-|%\d\||(?i:error|warn(?:ing)?|info): \W*\["
    r"|\{:timestamp=>\"|Error(?: Trace)?:\s{2,}\S|[DIWE]! |\[(?i:[EWID]|err(?:or)?|warn(?:ing)?|info|debug|fatal)\] |[DIWEF], \["
    r"|(?:trce|dbug|info|warn|fail|crit): [A-Za-z_][\w.+`]*\[\d+\]\s*$"
    r"|(?:\[[^\]]{1,60}\] ){1,2}(?:[a-z]\w*\.)+[A-Z][\w$]* +: )"
)
_INSPECTED = re.compile(r"\s{0,8}\{ (?:\[\w+Error: |severity: \d, ?(?:fac|$))")
"""Node.js' notation of an error, and of node-rdkafka's messages."""
_LEVEL = re.compile(r"(?:.{0,60}?|(?:\[[^\]]{1,120}\] ?){1,4})\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b[\s:\]|]")
_LOGGER_AT_END = re.compile(r".*\((?:kafka|org|io|com|state)\.[\w.$]+(?::\d{1,6})?\)(?: \[[^\]]*\])?")
_STACK = re.compile(
    r"\s*(?:at [\w.$/<>@-]+\([^)]*\).*|\.{3} \d+ more|Caused by: .*|Suppressed: .*"
    r"|(?:[a-z]\w*\.)+(?:[A-Z][\w$]*)?(?:Exception|Error|Throwable)(?::.*)?|(?:[a-z]\w*\.){3,}[A-Z]\w*\$[A-Z]\w*: .*"
    r"|Traceback \(most recent call last\):)"
)
_OF_HTTP = re.compile(r"\s*[<>]? ?(?:Date|Expires|Last-Modified|Set-Cookie): .*", re.IGNORECASE)
"""Header of an answer, as ``curl -v`` prints it: its date is of no entry."""
_WITHIN = re.compile(r"\s(?:[a-z]+,?|: \d+)$")
"""An end within a sentence: neither a stop nor a name, nor a number but behind a colon apart."""
_EXCEPTION = re.compile(r"[A-Z]\w*(?:Exception|Error): .*")
"""One without its package: behind a log line it goes on with it."""
_BEFORE = re.compile(
    r"[>\s\u2026]{0,8}(?:\d{1,2}[.)\u3001] ?)?(?:[\w./-]{1,60}\.(?:go|c|cc|py|js|ts):\d{1,6}:? )?"
    r"(?:\[[^\]]{1,200}\]:? ?)?(?:[a-z]\w{1,20}:(?=[A-Z]))?"
)
"""Prefix of a quoted message: its number in a list, a file, its speaker."""
_QUOTES = re.compile(r"[>`\"'*\s\u201c\u2018]+")
"""Quote signs before a message."""
_SPEAKS = re.compile(
    r"\[(?:Controller|Replica ?Manager|Group ?Metadata ?Manager|Group ?Coordinator|Transaction(?: State Manager|Coordinator)"
    r"|Kafka ?Server|KafkaApi|Socket ?Server|Partition |Log |UnifiedLog|LogLoader|ReplicaFetcher|ReplicaAlterLogDirs"
    r"|(?:Partition|Replica) ?[sS]tate ?[mM]achine|BrokerChangeListener|SessionExpirationListener|kafka-log-cleaner-thread"
    r"|Broker id=|ZooKeeperClient|AdminClient|Consumer |Producer ).{0,200}\]"
    r"|Partition \[[^\]]+\] on broker \d+:"
)
_WORDS = re.compile(
    r"(?:Client s|S)ession timed out|zookeeper state changed|have not heard from server|negotiated timeout"
    r"|session 0x\S+ has expired|Unable to reconnect to ZooKeeper|Expiring session|[Ll]oading (?:offsets|group metadata)"
    r"|Shrinking ISR|Expanding ISR|Truncat(?:ing|ed) |Newly added brokers|Broker failure callback|Cached zkVersion"
    r"|uncaught exception|not the correct coordinator|[Oo]ffset ?[Cc]ommit (?:failed|for group)|[Gg]roup [Cc]oordinator"
    r"|\bKafkaJS[A-Z]\w+|kafka-node-client|BrokerNotAvailableError|KafkaError\{|\b(?:aio)?kafka\.errors\.|\bkafka server: "
    r"|\b(?:Broker|Local): [A-Z][a-z]+ |\[[Ss]arama\]|kafka-go: |org\.apache\.kafka\.common\.errors\.|\bkafka: \w+ |\[thrd:"
    r"|\bkafka-node:\w+|\bNoKafka\w*Error|\bWorker(?:Source|Sink)Task\{id=|\bstream-(?:thread|client) \[|\brdkafka#(?:con|pro)"
    r"|\bdial tcp \S+:909\d|ECONN\w+ \S+:909\d|\bkafkajs\b|\bLibrdKafkaError\b|\bResponse \w+\(key: \d+, version: \d+\)"
    r"|\b(?:Sending|Received) [A-Z_]{4,30} re(?:quest|sponse) .*\bnode -?\d+|\bProduced record to topic \S+ partition \[\d+\]"
    r"|\b(?:sasl_)?(?:ssl|plaintext)://\S+/(?:\d+|bootstrap): |\(after \d+ms in state [A-Z_]+\)|\b\d+ in-flight, \d+ retry-queued"
    r"|\bConnect to ipv[46]#\S+ failed: "
    r"|\bKafka(?:Timeout|Connection|Unavailable)?(?:Error|Exception): "
    r"|\bmaximum (?:application )?poll interval\b.*\bexceeded|\babandoned subscription to \S"
    r"|Exception in thread \"[^\"]{1,80}\" org\.apache\.kafka\.|\bFailed to (?:update metadata|construct kafka \w+)\b"
)
"""Messages quoted without date, level and logger."""
_ONLY_A_TIME = re.compile(
    rf"\s*(?:[^\W\d]+ ?: ?)?\W*\d{{4}}[-/]\d\d[-/]\d\d[ T]{_CLOCK}(?: ?(?:[+-]\d\d:?\d\d|[A-Z]{{1,4}}))?\W*"
)
"""When something was run, above its output: no entry has a time and no message."""
_MEASURED = re.compile(rf"[#\s]*\"?\d{{4}}[-/]\d\d[-/]\d\d[ T]{_CLOCK}[^,\s\"]*\"?(?:,\"?-?[\d.]+(?:E-?\d+)?\"?)+\s*")
"""A row of numbers, as from Kafka's JmxTool with ``--date-format``: no message follows its time."""
_OF_HOST = re.compile(r"\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] \S+.*")
"""Text that pssh prints above the answers of a host."""
_OF_TELNET = re.compile(r"Connection closed by foreign host\.?\s*")
_HEADING = re.compile(r"\s*==> (?P<path>\S+) <==\s*")
_BROKER_IN_PATH = re.compile(r"(?:^|[/_-])(?:broker|kafka|node)[-_]?(?P<broker>\d{1,9})(?=[/._-])", re.IGNORECASE)
_WHO = re.compile(
    r"\[(?:Controller|Replica Manager on Broker|Group Metadata Manager on Broker|GroupCoordinator|Kafka Server"
    r"|Socket Server on Broker|KafkaApi-|(?:Replica|Partition) state machine on [Cc]ontroller|BrokerChangeListener on Controller"
    r"|SessionExpirationListener on|AddPartitionsListener on|DeleteTopicsListener on|Controller id=|ReplicaManager broker="
    r"|GroupMetadataManager brokerId=|KafkaServer id=|(?:Replica|Partition)StateMachine controllerId=|ReplicaFetcher replicaId="
    r"|Broker id=|Partition \S+-\d+ broker=|Transaction(?:Coordinator id|StateManager broker)=|Admin Manager on Broker"
    r"|ThrottledChannelReaper-|RequestSendThread controllerId=|SocketServer (?:listenerType=\w+, )?(?:brokerId|nodeId)="
    r"|[A-Z]\w{2,40} id=)"
    r"\s?(?P<id>\d{1,10})\b|\bPartition \[[^\]]{1,260}\] on broker (?P<on>\d{1,10}):"
)
"""Writer: ``logIdent`` in ``core/src/main/scala/kafka@0.9.0.1, 1.1.0, 2.8.2, 3.9.0``. A controller is a broker."""
_ZOOKEEPER = re.compile(r"\borg\.apache\.zookeeper\.server\b|\bo\.a\.z\.s\.|\[myid:\d*\]")
_TELLING = 10
"""Minimum letters of a literal that never occurs in prose, as in ``casebook.logs.Rule``."""
_SENTENCE = 24
"""Letters of a literal from which on nothing else has it, wherever it stands."""
_FEW, _LONGEST_SEEN, _LONGEST_WORDING, _FOLDED_FROM, _MOST_FOLDED, _MOST_BROKERS, _MOST_OF_WORD = 2, 2000, 600, 55, 5, 200, 40


def log_lines(lines: Sequence[PastedLine]) -> Iterator[PastedLogLine]:
    """Yield every log line; stack traces belong to the line before them."""
    heading: int | None = None
    heads_lines = False
    brokers: set[int] = set()
    last: PastedLogLine | None = None
    at = 0
    while at < len(lines):
        line, after = lines[at], at + 1
        if (named := _headed(line.text)) is not None:
            heading, heads_lines, last = named[0], False, None
        elif _begins(line.text):
            text, after = _unfolded(lines, at)
            broker, heads_lines = _of(text, heading), True
            if broker is not None and broker not in brokers:
                broker = broker if len(brokers) < _MOST_BROKERS else None
                brokers |= {broker} - {None}
            zookeeper = broker is None and _ZOOKEEPER.search(text[:_LONGEST_SEEN]) is not None
            host = heading if services.is_of_kernel(text) else None
            last = PastedLogLine(LineSpan(line.number, lines[after - 1].number), text, broker, zookeeper, host)
            yield last
        elif last is not None and (
            _goes_on(line.text)
            or _is_wrapped(lines[at - 1].text, line.text)
            or _EXCEPTION.fullmatch(line.text[:_LONGEST_SEEN])
            or (line.text and _is_open(last.text))
        ):
            last = PastedLogLine(one(line), line.text, last.broker, last.zookeeper, last.host)
            yield last
        elif _STACK.fullmatch(line.text[:_LONGEST_SEEN]):
            last = PastedLogLine(one(line), line.text, heading, False)
            yield last
        else:
            last = last if not line.text else None
            heading = None if heads_lines else heading
        at = after


def is_dated(text: str) -> bool:
    """Return whether a line starts with a date, like log entries and no continuation."""
    return _DATED.match(text[:_LONGEST_SEEN]) is not None


def is_object(text: str) -> bool:
    """Return whether a line is an entry as a JSON object, or its start; also in Node.js' notation."""
    return any(pattern.match(text[:_LONGEST_SEEN]) for pattern in (_OBJECT, _INSPECTED))


def is_heading(text: str) -> bool:
    """Return whether it names the file or the broker of the next lines."""
    return _headed(text) is not None


def _headed(text: str) -> tuple[int | None] | None:
    """Return the broker that a heading announces, or none; ``None`` for no heading."""
    if len(text) > 400:
        return None
    if file := _HEADING.fullmatch(text):
        found = _BROKER_IN_PATH.search(file["path"])
        return (int(found["broker"]) if found else None,)
    named = None if "=" in text else listing.broker_named(text)  # a setting is of its own output
    return None if named is None else (named,)


def _begins(text: str) -> bool:
    seen = text[:_LONGEST_SEEN]
    if (
        not seen
        or seen.startswith("log4j:")
        or sent.is_prompted(seen)
        or prose.is_framed(seen)
        or any(pattern.fullmatch(seen) for pattern in (_STACK, _ONLY_A_TIME, _MEASURED, _OF_HOST, _OF_TELNET, _OF_HTTP))
    ):
        return False
    if _DATED.match(seen) or _SPEAKS.search(seen[:400]) or _LOGGER_AT_END.fullmatch(text[-_LONGEST_SEEN:]):
        return True
    if any(
        pattern.match(seen)
        for pattern in (_LEVEL, _TIMED, _OF_CLIENTS, _COLLECTED, _OBJECT, _INSPECTED, _OF_RUBY, _PAIRS, _PLACED)
    ):
        return True
    if said := _WORDS.search(seen):
        return not _is_prose(seen, said.start())
    message = _BEFORE.sub("", seen, count=1)
    if len(text) >= _LONGEST_WORDING:
        return False
    return any(
        (said[:1].isalpha() or said[:1] in ("[", "(")) and _is_wording(said) for said in (_unquoted(seen), _unquoted(message))
    )


def _unquoted(text: str) -> str:
    quotes = _QUOTES.match(text)
    return text[quotes.end() :] if quotes else text


def _is_wording(text: str) -> bool:
    """Return whether a text begins with a known message, without date, level and logger, or names an error of Kafka's clients."""
    by_begin = _wordings()
    return any(
        literal in text
        and (said := (re.search if is_anywhere else re.match)(wording, text))
        and not _is_prose(text, text.index(literal, said.start()))
        for begin in by_begin.keys() & {text[at : at + _TELLING] for at in range(len(text))}
        for literal, wording, is_anywhere in by_begin[begin]
    )


def _is_prose(text: str, at: int) -> bool:
    """Return whether a wording stands within a person's words: those before it, or the whole line where some are before it."""
    before = text[:at]
    return prose.is_of_person(before) or (len(before.split()) > _FEW and prose.is_of_person(text))


@cache
def _wordings() -> Mapping[str, Sequence[tuple[str, str, bool]]]:
    """Return literal and regex of specific messages, and whether they count wherever they stand, by how the literal begins.

    Few are ever compiled. The end of a message is not required: text may follow it within its quotes, or replace it.
    """
    found = defaultdict(list)
    for pattern in log_patterns.patterns():
        if pattern.scope != "line" and pattern.kind != "quiet" and not pattern.is_named and len(pattern.literal) >= _TELLING:
            is_anywhere = pattern.scope == "app" or len(pattern.literal) >= _SENTENCE
            found[pattern.literal[:_TELLING]].append((pattern.literal, re.sub(r"(?<!\\)\$$", "", pattern.regex), is_anywhere))
    return found


def _goes_on(text: str) -> bool:
    """Return whether it is an indented line of a stack trace, or of a multi-line message."""
    seen = text[:_LONGEST_SEEN]
    return _STACK.fullmatch(seen) is not None or (seen[:1] in ("\t", " ") and bool(seen.strip()))


def _is_wrapped(before: str, text: str) -> bool:
    """Return whether a line is the rest of a long one within a sentence, as an editor wraps it."""
    return len(before) >= _FOLDED_FROM and _WITHIN.search(before[-_MOST_OF_WORD:]) is not None and text[:1].islower()


def _is_open(text: str) -> bool:
    """Return whether an entry ends with its header: its message begins in the line below."""
    return is_dated(text) and text.rstrip().endswith(" -")


def _unfolded(lines: Sequence[PastedLine], at: int) -> tuple[str, int]:
    """Return the message with its folded rest, and the next line."""
    text = lines[at].text
    if at + 1 < len(lines) and (killed := services.rest(text, lines[at + 1].text)) is not None:
        return killed, at + 2
    if not _FOLDED_FROM <= len(text) < _LONGEST_SEEN or _LOGGER_AT_END.fullmatch(text) or not _DATED.match(text):
        return text, at + 1
    for after in range(at + 1, min(len(lines), at + 1 + _MOST_FOLDED)):
        more = lines[after].text
        if (
            not more
            or more[0] in " \t"
            or _DATED.match(more)
            or any(pattern.match(more) for pattern in (_ANEW, _LEVEL, _SPEAKS, _OF_CLIENTS))
            or _STACK.fullmatch(more)
            or _headed(more) is not None
        ):
            break
        text = f"{text} {more}"
        if _LOGGER_AT_END.fullmatch(more) or re.fullmatch(r"\((?:kafka|org|io|com|state)\.[\w.$]+\)", more):
            return text, after + 1
    return lines[at].text, at + 1


def _of(text: str, heading: int | None) -> int | None:
    """Return the owner of a line: its own content has precedence over a heading. A host's kernel writes no broker log."""
    if services.is_of_kernel(text):
        return None
    found = _WHO.search(text[:_LONGEST_SEEN])
    own = znodes.number(found["id"] or found["on"]) if found else None
    return own if own is not None else heading
