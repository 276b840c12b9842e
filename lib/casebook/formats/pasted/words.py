"""Output of a ZooKeeper server's four-letter words: ``dump``, ``mntr``, ``srvr``, ``stat``, ``cons`` ...

``dump`` lists every session with its ephemeral nodes, of the whole ensemble, on each server: registered brokers, and the session
of ``/controller``. The others concern only that server. Source: ``NIOServerCnxn.java@release-3.4.6``,
``command/{Dump,Monitor,Stat,Cons,Conf,Watch}Command.java@release-3.8.4``, ``DataTree.java@release-3.4.6, 3.8.4``
(``dumpEphemerals``), ``ServerStats.java@release-3.8.4`` (``toString``).
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.facts.pasted import PastedZnode, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted import cut_json, dump, forms
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, one, spanned

_CUT_CLIENT = re.compile(
    r"\s*(?:/(?P<address>\S+?)\[[0-9a-f]+\]\((?P<whole>queued=[^()]*)|(?:[a-z]*=\d*)?,?(?P<rest>(?:recved|sent|sid)=[^()]*)\))\s*"
)
"""A client's row that has lost its end or its begin."""
_OF_STAT = re.compile(
    r"\s*(?P<name>(?:Z?o?o?k?e?e?p?e)?r version|Latency min/avg/max|Received|Sent|Connections|Outstanding|Zxid|Mode|Node count"
    r"|Proposal sizes last/min/max):\s*(?P<value>.*?)\s*"
)
_JOINED = re.compile(
    r"\b(?P<name>version|Latency min/avg/max|Received|Sent|Connections|Outstanding|Zxid|Mode|Node count"
    r"|Proposal sizes last/min/max):"
    r"\s*(?P<value>\S+(?:, built on \S+ \d\d:\d\d \w+)?)"
)
_CLIENT = re.compile(r"(?:^|\s)(?:/\S+?\[[0-9a-f]+\])?\([^()]*\)|^[^(/]*\)")
_CONNECTION = re.compile(
    r"\s*/(?P<address>\S+?)\[[0-9a-f]+\]\(queued=(?P<queued>\d+),recved=(?P<received>\d+),sent=(?P<sent>\d+)"
    r"(?P<more>,sid=(?P<session>0x[0-9a-f]+)(?:,lop=(?P<last>\w+))?(?P<beside>(?:,\w+=[^,)]*)*))?\)\s*"
)
_SID = re.compile(r"(?<=\bsid=)0x[0-9a-f]+")
_REFUSED = re.compile(
    r".*(?:(?:Ncat|nc|telnet|netcat|socat|curl)\b.*(?:[Cc]onnection (?:refused|timed out|reset)|No route"
    r" to host|timed out|[Cc]ould not resolve|not known|nodename nor servname)"
    r"|\(UNKNOWN\) \[[^\]]+\] \d+ .*:.*|Unable to connect to remote host.*).*"
    r"|\s*[\w.-]{1,250} \[[^\]]+\] \d+ \([^)]*\) : (?:Connection|No route|timed out|Operation).*"
)
_REFUSING = re.compile(
    r"(?:connect to address |connectx? to |[Ff]ailed to connect to |getaddrinfo for host |[Cc]ould not resolve host: )"
    r"\"?(?P<host>\w[\w.-]*)\"?(?: \([\d.]+\))?(?: port (?P<port>\d{1,5}))?"
    r"|(?:\(UNKNOWN\)|^\s*[\w.-]{1,250}) \[(?P<address>[\d.]+)\] (?P<number>\d{1,5}) \("
    r"|^\s*(?P<prefix>\w[\w.-]*): (?:Ncat|nc|telnet|netcat|curl)\b"
)
"""The server that ``nc`` (of OpenBSD and macOS, and the traditional one), ``telnet`` and ``curl`` name, or that a loop over
servers prints before them."""
_PORTS = ("2181", "2182", "2281", "8080")
"""ZooKeeper's: of clients, of TLS, and of its AdminServer (``zkServer``'s ``admin.serverPort``)."""
_GLUED = re.compile(r"(?P<answer>imok|Mode: \w+)(?P<prompt>\s*\[?[\w.-]+@\S+(?: \S+\])?[$#%]?.*|\s*[$#%](?: .*)?)")
_PROMPT = re.compile(r"\s*[$#%>]\s*")
_BESIDE_STAT = re.compile(r"\s*(?:Clients:|READ-ONLY mode; serving only read-only clients|<[\w ]+>)\s*")
_MONITORED = re.compile(r"\s*(?P<name>zk_\w+)\s+(?P<value>\S+, built on \S.*|[a-z]+ - [a-z]+|\S+)\s*")
_CUT_MONITORED = re.compile(r"\s*zk?(?:_\w*)?\s*")
_CONFIGURED = re.compile(r"\s*(?:clientPort(?:Address)?|secureClientPort|dataDir(?:Size)?|dataLog(?:Dir|Size)|tickTime"
                         r"|maxClientCnxns|(?:min|max)SessionTimeout|serverId|initLimit|syncLimit|electionAlg|electionPort|quorumPort|peerType"
                         r"|clientPortListenBacklog|membership: ?|server\.\d+|version)\s*=.*|membership:\s*")  # fmt: skip
_ENVIRONMENT = re.compile(r"Environment:|\s*(?:zookeeper|host|java|os|user|jvm)\.[\w.]+=.*")
_WATCHES = re.compile(r"\d+ connections watching \d+ paths|Total watches:\s*\d+")
_TYPED = re.compile(
    r".*(?:\b(?:nc|ncat|netcat|telnet|socat)\s.*|echo\s+[\"']?(?:dump|mntr|srvr|stat|cons|conf|ruok|wchs|envi|isro)\b.*)"
    r"|\s*(?:dump|mntr|srvr|stat|cons|conf|ruok|wchs|envi|isro)\s*|Trying \S+\.\.\.|Connected to \S+"
    r"|Escape character is .*"
    r"|Connection (?:to \S+ )?closed(?: by foreign host)?\.?"
    r"|(?:Ncat|nc): (?:Broken pipe|Connection reset by peer)\.?"
)
_ISRO = {"rw": "it takes writes (rw)", "ro": "it is read-only (ro)"}
"""``IsroCommand.java@release-3.8.4``."""
_NOT_SERVING = re.compile(r".*This ZooKeeper instance is not currently serving requests.*")
_FORBIDDEN = re.compile(r".*?(?P<word>\w{4}) is not executed because it is not in the whitelist\.?.*")
_STATUS = re.compile(
    r"\s*(?:ZooKeeper JMX enabled by default|Using config: .*|Client port found: .*|Mode: \w+|Error contacting service\..*"
    r"|(?:Starting|Stopping) zookeeper \.\.\. ?.*)\s*"
)
_ASKED = re.compile(r"\b(?:nc|ncat|netcat|telnet)\s+(?:-\w+\s+(?:\d+\s+)?)*(?P<host>[a-zA-Z0-9][\w.-]*)[ :](?P<port>\d{1,5})\b")
_AT_HOST = re.compile(r"\s*\[?(?:[\w.-]+@)?(?P<host>(?!(?:ba|da|k|z)?sh-\d)[\w.-]+)(?::\S*| \S+\])?\s?[$#%>]\s")
_OWN_HOST = ("localhost", "127.0.0.1", "0")
"""Local addresses: the server is the host of the prompt."""
_HEADING = re.compile(
    r"[\s=#*>-]*(?P<host>(?:zk(?!_)|zoo)[\w.-]*)(?::\d{1,5})?(?:\s+(?:srvr|stat|mntr|cons|conf|dump|ruok|envi|wchs))?[\s=:<*-]*"
)
_OF_SERVER = re.compile(
    r"\s*\[?(?P<host>[a-zA-Z0-9][\w.-]*)(?::\d{1,5})?\]?(?:\s*(?::|[-=]*>|-|\|)\s*|\s+)"
    r"(?P<answer>imok|Mode: \w+|This ZooKeeper instance is not .*"
    r"|\w{4} is not executed because .*)\s*"
)
_ADMIN = '"session_id_to_ephemeral_paths"'
_LONGEST, _MOST, _FEW, _MOST_JSON, _MOST_CLIENTS = 64 << 10, 5000, 3, 20, 200
_MOST_VALUES, _LINE = 200, 4096
_VERSION = "version"
_LISTS = re.compile(r"\s*(?:\[zk:[^\]]*\]\s*)?ls2?\s+(?P<path>/\S*)\s*")
_NAMES = re.compile(r"\s*\[(?P<names>[^\[\]{}\"]{0,4000})\]\s*")
"""Znodes outside a case, e.g. ``/consumers``."""
_OF_CLIENT = {
    "est": "connected at",
    "llat": "last latency",
    "minlat": "least latency",
    "avglat": "mean latency",
    "maxlat": "greatest latency",
    "lresp": "last answer at",
    "lcxid": "last cxid",
    "lzxid": "last zxid",
}
"""``NIOServerCnxn.java@3.4.6`` (``dumpConnectionInfo``); times are epoch ms and ms of its own clock, latencies ms."""
_TELLING = ("version", "server_state", "followers", "synced_followers", "pending_syncs", "learners", "quorum_size", "znode_count",
            "watch_count", "ephemerals_count", "outstanding_requests", "avg_latency", "max_latency", "packets_received",
            "packets_sent", "num_alive_connections", "open_file_descriptor_count", "max_file_descriptor_count")  # fmt: skip
_WHO_LIVES = "`ls /brokers/ids`, or `echo dump | nc HOST 2181`, shows the registered brokers"


def words(lines: Sequence[PastedLine]) -> Iterator[PastedZnode | ToolStatement | CutOutput]:
    """Yield every such output."""
    at, server = 0, ""
    while at < len(lines):
        text, before = lines[at].text[:4096], server
        if asked := _ASKED.search(text) or _HEADING.fullmatch(text):
            prompt = _AT_HOST.match(text) if asked["host"] in _OWN_HOST else None
            server = prompt["host"] if prompt else asked["host"]
            port = asked.groupdict().get("port")
            server += f":{port}" if port not in (None, "2181") else ""
        found, after = _at(lines, at)
        whose = before if _GLUED.fullmatch(text) else server
        for part in found:
            yield _of_server(part, whose) if isinstance(part, ToolStatement) else part
        if asked and (not found or whose != server) and _is_silent(lines, at):
            yield _silent(one(lines[at]), server)
        at = max(after, at + 1)


def _silent(where: LineSpan, server: str) -> ToolStatement:
    says = "a ZooKeeper server printed nothing: it did not answer"
    told = ToolStatement("ZooKeeper's four-letter words", where, says, "see whether its process runs", bad=True)
    return _of_server(told, server)


def _of_server(told: ToolStatement, server: str) -> ToolStatement:
    if not server:
        return told
    return told._replace(says=told.says.replace("a ZooKeeper server", f"ZooKeeper server {server}", 1))


def is_typed(text: str) -> bool:
    """Return whether it sends such a word to a server, or is ``telnet``'s decoration."""
    return len(text) < 4096 and (_TYPED.fullmatch(text) or _HEADING.fullmatch(text)) is not None


def _at(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[PastedZnode | ToolStatement | CutOutput], int]:
    text = lines[at].text
    if not text or len(text) > _LONGEST:
        return (), at + 1
    if dump.begins(text):
        return dump.told(lines, at)
    if text.lstrip().startswith("{") and any(_ADMIN in line.text for line in lines[at : at + _MOST_JSON]):
        return _admin(lines, at)
    if text.lstrip().startswith("{") and (answer := _of_admin(lines, at)):
        return answer
    if re.match(r"\s*(?:ZooKeeper JMX enabled|Using config:)", text):
        return _status(lines, at)
    if text.lstrip().startswith("zk_") and _MONITORED.fullmatch(text):
        return _monitor(lines, at)
    if "Zxid: " in text and len(joined := list(_JOINED.finditer(text))) >= _FEW:
        return (_flat(text, joined, one(lines[at])),), at + 1
    if _OF_STAT.fullmatch(text):
        return _statistics(lines, at)
    if (asked := _LISTS.fullmatch(text)) and (listed := _names(lines, at + 1)):
        says = f"{asked['path']} holds {listed[0] or 'nothing'}"
        return (ToolStatement("zookeeper-shell", spanned(lines, at, listed[1]), says),), listed[1]
    if "queued=" in text and _CONNECTION.fullmatch(text):
        told, after = _statistics(lines, at)
        return (told, after) if told else _connections(lines, at)
    if "=" in text and _CUT_CLIENT.fullmatch(text) and _of_clients(lines, at):
        return _connections(lines, at)
    if "=" in text and _CONFIGURED.fullmatch(text):
        return _block(lines, at, _CONFIGURED, "conf", "how a ZooKeeper server is configured")
    if text == "Environment:" or text.startswith("zookeeper.version="):
        return _block(lines, at, _ENVIRONMENT, "envi", "in which environment a ZooKeeper server runs")
    return _sentence(text, one(lines[at])), at + 1


def _is_silent(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether the next command directly follows a word: output claimed by other readers is an empty line."""
    texts = [line.text[:4096] for line in lines[at : at + 2]]
    if len(texts) > 1 and _TYPED.fullmatch(texts[0]) and _PROMPT.fullmatch(texts[1]):
        return True
    return len(texts) > 1 and all(_AT_HOST.match(text) and (_TYPED.fullmatch(text) or not text.strip()) for text in texts)


def _sentence(text: str, span: LineSpan) -> Sequence[ToolStatement]:
    """Return one-line outputs; a loop over servers may prefix each with its name."""
    if prefixed := _OF_SERVER.fullmatch(text):
        mode = prefixed["answer"] if prefixed["answer"].startswith("Mode") else ""
        told = (ToolStatement("ZooKeeper's srvr or stat", span, f"a ZooKeeper server: {mode}", _WHO_LIVES),) if mode else ()
        told = told or _sentence(prefixed["answer"], span)
        return tuple(_of_server(t, prefixed["host"]) for t in told)
    if glued := _GLUED.fullmatch(text):
        text = glued["answer"]
    if _REFUSED.fullmatch(text[:_LINE]):
        return (_refused(text, span),)
    if text.strip() == "imok":
        return (
            ToolStatement("ZooKeeper's ruok", span, "a ZooKeeper server runs; whether it serves, imok does not say", _WHO_LIVES),
        )
    if _NOT_SERVING.fullmatch(text):
        says = "a ZooKeeper server runs and says that it is not currently serving requests; why, it does not say"
        return (ToolStatement("ZooKeeper's four-letter words", span, says, "ask another server of the ensemble", bad=True),)
    if refused := _FORBIDDEN.fullmatch(text):
        says = f"a ZooKeeper server does not answer {refused['word']}"
        allow = f"allow it with 4lw.commands.whitelist={refused['word']} in zoo.cfg, or ask with zookeeper-shell"
        return (ToolStatement("ZooKeeper's four-letter words", span, says, allow),)
    if text.strip() in _ISRO:
        return (ToolStatement("ZooKeeper's isro", span, f"a ZooKeeper server: {_ISRO[text.strip()]}", _WHO_LIVES),)
    if _WATCHES.fullmatch(text.strip()):
        return (ToolStatement("ZooKeeper's wchs", span, text.strip(), _WHO_LIVES),)
    return ()


def _names(lines: Sequence[PastedLine], at: int) -> tuple[str, int] | None:
    """Return the names of a list of znodes, folded or not, and the line behind it."""
    text = ""
    for after in range(at, min(len(lines), at + _FEW)):
        text = f"{text} {lines[after].text.strip()}".strip()
        if names := _NAMES.fullmatch(text):
            return names["names"].strip(), after + 1
    return None


def _refused(text: str, span: LineSpan) -> ToolStatement:
    """Return a refused connection: of the server that the line itself names, before that of a command above it."""
    named = _REFUSING.search(text)
    host = named and (named["host"] or named["address"] or named["prefix"])
    port = named and (named["port"] or named["number"])
    is_other = (port is not None and port not in _PORTS) or (port is None and "curl" in text)
    whose = "a ZooKeeper server" if not is_other else f"{host or 'a server'}{f' at port {port}' if port else ''}"
    how = "did not accept the connection" if "efused" in text else "was not reached"
    says = f"{whose} {how}: {cut(text.strip().rstrip('.'), 120)}"
    asked = "a connection" if is_other else "ZooKeeper's four-letter words"
    told = ToolStatement(asked, span, says, "see whether its process runs", bad=True)
    return _of_server(told, host) if host else told


def _run(lines: Sequence[PastedLine], at: int, *patterns: re.Pattern[str], blank: bool = False) -> int:
    """Return the line after the last matching one, with empty ones in between if allowed."""
    after = at + 1
    for index in range(at + 1, min(len(lines), at + _MOST)):
        text = lines[index].text
        if text and len(text) < _LONGEST and any(pattern.fullmatch(text) for pattern in patterns):
            after = index + 1
        elif text or not blank:
            break
    return after


def _monitor(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[ToolStatement | CutOutput], int]:
    after = _run(lines, at, _MONITORED)
    values = {match["name"]: match["value"] for line in lines[at:after] if (match := _MONITORED.fullmatch(line.text))}
    told = ToolStatement("ZooKeeper's mntr", spanned(lines, at, after), _monitored(values), _WHO_LIVES)
    if after < len(lines) and _CUT_MONITORED.fullmatch(lines[after].text[:200]):
        return (
            told,
            CutOutput(one(lines[after]), "is a row of ZooKeeper's mntr that is cut: its value was not pasted"),
        ), after + 1
    return (told,), after


def _monitored(values: Mapping[str, str]) -> str:
    first = [name for name in _TELLING if f"zk_{name}" in values]
    names = [*first, *(name for zk in values if (name := zk.removeprefix("zk_")) not in first)]
    more = f" and {len(names) - _MOST_VALUES} more" if len(names) > _MOST_VALUES else ""
    return (
        "a ZooKeeper server: " + ", ".join(f"{name} {values[f'zk_{name}'].rstrip(',')}" for name in names[:_MOST_VALUES]) + more
    )


def _statistics(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[ToolStatement], int]:
    """Parse ``srvr`` and ``stat``; a lone line, such as ``Sent: 3``, is ambiguous."""
    after = _run(lines, at, _OF_STAT, _CONNECTION, _CUT_CLIENT, _BESIDE_STAT, blank=True)
    rows = [match for line in lines[at:after] if (match := _OF_STAT.fullmatch(line.text))]
    values = {(_VERSION if row["name"].endswith(_VERSION) else row["name"]): row["value"] for row in rows}
    is_filtered = "Mode" in values and at > 0 and _TYPED.fullmatch(lines[at - 1].text[:4096]) is not None
    if len(values) < 2 and _VERSION not in values and not is_filtered:
        return (), after
    version = values.pop(_VERSION, "")
    parts = [f"version {version}" if version else "", *(f"{name} {value}" for name, value in values.items())]
    says = "a ZooKeeper server: " + ", ".join(filter(None, [*parts, _listed(lines[at:after])]))
    return (ToolStatement("ZooKeeper's srvr or stat", spanned(lines, at, after), says, _WHO_LIVES),), after


def _flat(text: str, joined: Sequence[re.Match[str]], span: LineSpan) -> ToolStatement:
    """Return ``stat`` that has lost its line ends."""
    told = [f"{row['name']} {row['value'].rstrip(',; ')}" for row in joined]
    rows = [f" {row[0].strip()}" for row in _CLIENT.finditer(text)]
    clients = _listed([PastedLine(span.first, row) for row in rows])
    says = "a ZooKeeper server: " + ", ".join(filter(None, [*told, clients]))
    return ToolStatement("ZooKeeper's srvr or stat", span, says, _WHO_LIVES)


def _listed(lines: Sequence[PastedLine]) -> str:
    clients = _clients(lines)
    more = f" and {len(clients) - _MOST_CLIENTS} more" if len(clients) > _MOST_CLIENTS else ""
    which = "1 client" if len(clients) == 1 else f"{len(clients)} clients"
    return f"{which} listed: {'; '.join(clients[:_MOST_CLIENTS])}{more}" if clients else ""


def _clients(lines: Sequence[PastedLine]) -> list[str]:
    """Return each client's row; of one that is cut, the rest of it."""
    found = []
    for line in lines:
        if len(line.text) >= _LONGEST:
            continue
        if client := _CONNECTION.fullmatch(line.text):
            found.append(_client(client))
        elif "=" in line.text and (cut := _CUT_CLIENT.fullmatch(line.text)):
            left = (cut["whole"] or cut["rest"]).replace("=", " ").replace(",", ", ")
            found.append(f"{cut['address'] or 'one whose address is cut'}, {left} (its row is cut)")
    return found


def _of_clients(lines: Sequence[PastedLine], at: int) -> bool:
    """Whether a row that is cut stands beside one that is whole."""
    return any(_CONNECTION.fullmatch(line.text) for line in (*lines[max(0, at - 1) : at], *lines[at + 1 : at + 2]))


def _status(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[ToolStatement], int]:
    """``zkServer.sh`` (``bin/zkServer.sh@release-3.8.4``): its state, or that it starts or stops."""
    after = _run(lines, at, _STATUS)
    said = [line.text.strip().rstrip(".") for line in lines[at:after] if not line.text.strip().startswith("ZooKeeper JMX")]
    says = f"a ZooKeeper server: {'; '.join(said)}" if said else ""
    return (ToolStatement("zkServer.sh", spanned(lines, at, after), says, _WHO_LIVES, bad="Error" in says),), after


def _admin(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[PastedZnode | ToolStatement], int]:
    """Parse ``dump`` of ZooKeeper's AdminServer, with sessions as decimal numbers (``admin/Commands.java@release-3.8.4``)."""
    value, whole, after = cut_json.read(lines, at)
    sessions = value.get("session_id_to_ephemeral_paths") if isinstance(value, dict) else None
    span = spanned(lines, at, after)
    if not isinstance(sessions, dict):
        return (), after
    held = [
        (int(session), path, span.first)
        for session, paths in sessions.items()
        if re.fullmatch(r"-?\d{1,19}", session) and isinstance(paths, list)
        for path in paths
        if isinstance(path, str)
    ]
    says = dump.of_others(held)
    return (*dump.of_kafka(held, span if whole else None), ToolStatement("ZooKeeper's dump", span, says)), after


def _of_admin(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[ToolStatement], int] | None:
    """Parse another answer of ZooKeeper's AdminServer: each names its command and its error (``CommandResponse.java``)."""
    value, whole, after = cut_json.read(lines, at)
    if not whole or not isinstance(value, dict) or not {"command", "error"} <= value.keys():
        return None
    told = ", ".join(row for name, inner in value.items() if name != "command" for row in forms.flat(inner, name))
    says = f"a ZooKeeper server: {cut(told, _LINE)}"
    bad = value["error"] is not None
    return (ToolStatement(f"ZooKeeper's {value['command']}", spanned(lines, at, after), says, _WHO_LIVES, bad=bad),), after


def _connections(lines: Sequence[PastedLine], at: int) -> tuple[Sequence[ToolStatement], int]:
    after = _run(lines, at, _CONNECTION, _CUT_CLIENT)
    clients = _clients(lines[at:after])
    ids = [_SID.search(line.text[:_LONGEST]) for line in lines[at:after]]
    sessions = len({found[0] for found in ids if found}) if all(ids) else 0
    more = f"; and {len(clients) - _MOST_CLIENTS} more" if len(clients) > _MOST_CLIENTS else ""
    of = f", of {sessions} session{'' if sessions == 1 else 's'}" if sessions else ""
    says = f"{len(clients)} connection{'' if len(clients) == 1 else 's'} to a ZooKeeper server{of}: "
    says += f"{'; '.join(clients[:_MOST_CLIENTS])}{more}"
    return (ToolStatement("ZooKeeper's cons", spanned(lines, at, after), says, _WHO_LIVES),), after


def _client(found: re.Match[str]) -> str:
    """Return a client of a server, with its printed session values: the timeout in ms."""
    session = f", session {found['session']}" if found["session"] else ""
    beside = dict(pair.split("=", 1) for pair in (found["beside"] or "").split(",") if pair)
    timeout = f", timeout {beside.pop('to')} ms" if "to" in beside else ""
    counts = f"queued {found['queued']}, received {found['received']}, sent {found['sent']}"
    last = f", last operation {found['last']}" if found["last"] else ""
    told = "".join(f", {_OF_CLIENT.get(name, name)} {value}" for name, value in beside.items())
    return f"{found['address']}{session}{timeout}, {counts}{last}{told}"


def _block(
    lines: Sequence[PastedLine], at: int, row: re.Pattern[str], word: str, says: str
) -> tuple[Sequence[ToolStatement], int]:
    """Parse lines ``name=value``; a few of them are ambiguous."""
    after = _run(lines, at, row)
    if after - at < _FEW:
        return (), after
    rows = [line.text.strip() for line in lines[at:after] if "=" in line.text]
    more = f" and {len(rows) - _MOST_VALUES} more" if len(rows) > _MOST_VALUES else ""
    says += f": {', '.join(rows[:_MOST_VALUES])}{more}"
    return (ToolStatement(f"ZooKeeper's {word}", spanned(lines, at, after), says, _WHO_LIVES),), after
