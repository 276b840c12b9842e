"""Outputs without use for any check: reported by name, with what to paste in their place.

Each is recognised by its first line, and includes its further lines.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.facts.pasted_hosts import TABLE, HostSaid
from casebook.formats.pasted import forms, logs
from casebook.formats.pasted.hosts import tables
from casebook.formats.pasted.hosts.host import LONGEST, is_command, placed
from casebook.formats.pasted.text import PastedLine, spanned

_MOST = 5000
_NUMBERS = re.compile(r"(?:\s*+\S++){0,3}(?:\s+-?[\d.,]++[%KMGkbB]*+){2}.*")


class _Kind(NamedTuple):
    name: str
    begins: re.Pattern[str]
    goes_on: re.Pattern[str]
    """Lines that belong to it; without a typical form, everything up to the next empty line."""
    instead: str


_DISKS = "df -h and df -i on the broker's host show whether its disk is full"
_ALIVE = "echo 'ls /brokers/ids' | zookeeper-shell.sh HOST:2181 lists the live brokers"
_MEMORY = "dmesg -T | grep -i -E 'killed process|out of memory' shows whether the kernel killed the broker"
_ANY = re.compile(r".+")
_KINDS = (
    _Kind("vmstat", re.compile(r"\s*procs -+\s?-*memory-+.*|\s*r\s+b\s+swpd\s+free\s+buff\s+cache.*"), _NUMBERS, _MEMORY),
    _Kind(
        "top",
        re.compile(
            r"\s*top - \d\d:\d\d:\d\d up .*|\s*(?:Threads|Tasks):\s+\d+ total,.*"
            r"|\s*PID USER\s+PR\s+NI\s.*|Mem: \d+K used, \d+K free.*"
            r"|Processes: \d+ total.*"
        ),
        _ANY,
        _MEMORY,
    ),
    _Kind(
        "free",
        re.compile(r"\s*total\s+used\s+free\s+shared\s+(?:buff/cache|buffers).*"),
        re.compile(r"\s*(?:Mem|Swap|Total|-/\+ buffers/cache|Low|High):.*"),
        _MEMORY,
    ),
    _Kind(
        "iostat",
        re.compile(
            r"Linux \S+ \(\S+\)\s+\S+\s+_\w+_\s+\(\d+ CPU\)|\s*avg-cpu:\s+%user.*|\s*Device:?\s+(?:r/s|tps|rrqm/s)\s.*"
            r"|(?:nvme\d+n\d+\w*|(?:sd|vd|xvd)[a-z]\d*|dm-\d+|md\d+)(?:\s+\d+\.\d+){5,24}\s*"
        ),
        _NUMBERS,
        _DISKS,
    ),
    _Kind(
        "mpstat or sar",
        re.compile(
            r"(?:\d\d:\d\d:\d\d(?: [AP]M)?)\s+(?:CPU\s+%usr|CPU\s+%user|IFACE\s|kbmemfree|tps\s"
            r"|DEV\s).*"
        ),
        _NUMBERS,
        _MEMORY,
    ),
    _Kind(
        "netstat or ss",
        re.compile(
            r"\s*Active (?:Internet connections|UNIX domain sockets).*|\s*Proto\s+(?:Recv-Q\s+Send-Q|RefCnt\s+Flags).*"
            r"|\s*(?:tcp|udp)6?\s+\d+\s+\d+\s+\S+:\S+\s+\S+:\S+.*"
            r"|\s*(?:Netid\s+)?State\s+Recv-Q\s+Send-Q.*"
            r"|\s*(?:tcp|udp|u_str)\s+(?:LISTEN|ESTAB|[A-Z]+-WAIT(?:-\d)?|SYN-\w+|UNCONN)\s+\d+\s+\d+\s+\S+\s+\S+.*"
        ),
        re.compile(
            r"\s*(?:tcp|udp|unix|raw|LISTEN|ESTAB|TIME[-_]WAIT|CLOSE[-_]WAIT|SYN|FIN|UNCONN|Proto|Active|State|Netid"
            r"|\S+\s+(?:LISTEN|ESTAB|UNCONN)).*"
        ),
        _ALIVE,
    ),
    _Kind(
        "ps",
        re.compile(
            r"\s*(?:(?:USER|UID|root)\s+)?PID\s+(?:TTY|%CPU|PPID)\s.*|\s*USER\s+PID\s+%CPU.*"
            r"|\s*UID\s+PID\s+PPID.*|\s*[\w.+-]+\s+\d+\s+[\d.]+\s+[\d.]+\s+\d+\s+\d+\s+\S+\s+\S+\s+\S+\s+\d+:\d\d\s+\S*java\s.*"
        ),
        _ANY,
        _ALIVE,
    ),
    _Kind(
        "lsof",
        re.compile(
            r"COMMAND\s+PID(?:\s+TID)?\s+.*\bFD\s+TYPE\s+DEVICE.*"
            r"|\S+\s+\d+\s+(?:\d+\s+)?\S+\s+(?:\d+[a-zA-Z]*|cwd|rtd|txt|mem|DEL)\s+(?:IPv[46]|REG|DIR|CHR|FIFO|sock|unix|a_inode)\s.*"
        ),
        re.compile(r"\S+\s+\d+\s+.*"),
        "ls -l of the partition's folder lists its segments",
    ),
    _Kind(
        "HTML",
        re.compile(r"\s*<(?:!DOCTYPE\s+html|html|head|body|div|table|script|meta|p|span)\b.*", re.IGNORECASE),
        _ANY,
        "the text of the page as a terminal showed it",
    ),
    _Kind(
        "a YAML manifest",
        re.compile(r"(?:apiVersion: \S+|kind: [A-Z]\w+)"),
        re.compile(
            r"\s*(?:- |[\w./\"'-]+:(?:\s|$)|#"
            r"|---|\s).*"
        ),
        "kubectl get pods and kubectl describe pod show its state; server.properties shows its broker settings",
    ),
    _Kind(
        "a docker-compose file",
        re.compile(r"(?:services:|version: ['\"]?[23](?:\.\d)?['\"]?)"),
        re.compile(r"\s*(?:- |[\w./\"'-]+:(?:\s|$)|#|\s).*"),
        "docker logs of the broker show its start settings (KafkaConfig values)",
    ),
    _Kind(
        "Helm's output",
        re.compile(
            r"NAME: \S+|NAME\s+NAMESPACE\s+REVISION\s+UPDATED\s+STATUS\s+CHART.*"
            r"|Release \"\S+\" has been upgraded\..*|REVISION\s+UPDATED\s+STATUS\s+CHART.*"
        ),
        _ANY,
        "kubectl get pods and kubectl describe pod show the state of the release",
    ),
    _Kind(
        "docker ps",
        re.compile(r"CONTAINER ID\s+IMAGE\s+COMMAND\s+CREATED\s+STATUS.*"),
        re.compile(r"[0-9a-f]{12}\s+.*"),
        "docker logs of the broker show its activity",
    ),
    _Kind(
        "a table of a JVM's memory",
        re.compile(
            r"\s*S0C\s+S1C\s+S0U\s.*|\s*S0\s+S1\s+E\s+O\s+M\s.*"
            r"|\s*num\s+#instances\s+#bytes\s+class name.*"
        ),
        re.compile(r"\s*(?:\d|-{3,}|Total|num).*"),
        "the GC log, or server.log around the time, shows whether the broker was paused",
    ),
    _Kind(
        "a list of kubectl",
        re.compile(
            r"\s*NAME\s+(?:STATUS\s+(?:VOLUME|ROLES|AGE)|(?:TYPE\s+)?CLUSTER-IP|CPU\(cores\)|DATA\s+AGE|DESIRED(?:"
            r" KAFKA)?|READY\s+METADATA|CLASS\s+HOSTS)\b.*"
        ),
        re.compile(r"(?!.*\w:\s)(?:\s*[\w./-]+(?:\s{2,}|\t).*|\s*\S.*\s(?:\d{1,6}[ydhms]){1,5}(?:\s+\S+)*\s*)"),
        "kubectl get pods and kubectl describe pod show the state of the brokers' containers",
    ),
    _Kind(
        "docker compose",
        re.compile(
            r"\s*(?:Container|Network|Volume) \S+\s+(?:Creat|Start|Stopp|Restart|Recreat|Remov|Runn|Wait|Kill|Health|Err)\w*"
            r"(?:\s+[\d.]+s)?\s*"
            r"|\s*(?:Creating|Starting|Stopping|Restarting|Recreating|Removing|Killing) \S+\s*\.{3}(?: ?done)?\s*"
        ),
        re.compile(r"(?!)"),
        "docker logs of the broker show its activity",
    ),
    _Kind(
        "systemctl show",
        re.compile(
            r"(?:NRestarts|ExecMain\w+|(?:Active|Load|Sub|UnitFile)State|MainPID|ActiveEnterTimestamp|Result|Limit[A-Z]+)=\S.*"
        ),
        re.compile(r"[A-Z]\w+=.*"),
        "systemctl status shows the state of the broker's service",
    ),
    _Kind("checksums", re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}) [ *]?\S+"), re.compile(r"(?!)"), _DISKS),
    _Kind(
        "jstack -m",
        re.compile(r"\s*[0o]x[0-9a-f]{8,16}\s+[\w*].*"),
        re.compile(r"\s*[0o]x[0-9a-f]{8,16}\s+.*|-{3,}.*"),
        "jstack without -m prints the threads by name",
    ),
    _Kind("lsblk", re.compile(r"NAME\s+MAJ:MIN\s.*"), _ANY, _DISKS),
    _Kind("ping or traceroute", re.compile(r"PING \S+ .*bytes.*|traceroute to \S+ .*|Pinging \S+ .*"), _ANY, _ALIVE),
)


_TABLES = (
    "vmstat", "top", "free", "iostat", "mpstat or sar", "docker ps", "a list of kubectl", "netstat or ss", "ps", "lsof", "lsblk",
    "a table of a JVM's memory", "Helm's output", "ping or traceroute",
)  # fmt: skip
_ROWS = ("docker compose", "systemctl show", "checksums", "jstack -m")
"""Without a header."""
_TREES = ("a YAML manifest", "a docker-compose file")
"""Reported with the names that lead to each value."""


def named(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield every output recognised by name only."""
    whose = {here.at: here.broker for here in placed(lines)}
    at = 0
    while at < len(lines):
        text = lines[at].text
        kind = next((kind for kind in _KINDS if kind.begins.fullmatch(text)), None) if text and len(text) <= LONGEST else None
        if kind is None:
            at += 1
            continue
        after = _end(lines, at, kind)
        rows = _rows(kind, lines[at:after])
        said = f"no check uses {kind.name}; it printed {rows}" if rows else f"{kind.name} is not read"
        yield HostSaid(
            kind.name,
            spanned(lines, at, after),
            said,
            whose.get(at),
            settle=kind.instead,
            facts={TABLE: kind.name} if rows else {},
        )
        at = after


def _rows(kind: _Kind, lines: Sequence[PastedLine]) -> str:
    """Return what is printed; ``""`` for a kind without rows."""
    texts = [line.text for line in lines if line.text]
    if kind.name in _TABLES:
        return tables.told(texts)
    return tables.printed(texts) if kind.name in _ROWS else forms.tree(lines) if kind.name in _TREES else ""


def _end(lines: Sequence[PastedLine], at: int, kind: _Kind) -> int:
    """Return its end; an inner empty line is allowed when the following lines certainly belong to it."""
    last = at
    for index in range(at + 1, min(len(lines), at + _MOST)):
        text = lines[index].text
        if text and (
            is_command(text) or len(text) > LONGEST or not (kind.goes_on.fullmatch(text) or kind.begins.fullmatch(text))
        ):
            break
        if kind.goes_on is _ANY and logs.is_dated(text):
            break
        if not text and (kind.goes_on is _ANY or index - last > 1):
            break
        last = index if text else last
    return last + 1
