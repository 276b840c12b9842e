"""One-line outputs: ``kafka-topics --version``, ``jps``, ``kcat -Q``, ``meta.properties``, the state in ``docker inspect``.

Source: ``core/src/main/scala/kafka/utils/VersionInfo.scala`` and ``CommandLineUtils.java@3.6.1`` (``3.6.1 (Commit:...)``);
``kcat.c@1.7.1`` (``topic [partition] offset n``); ``BrokerMetadataCheckpoint.scala@3.6.1``.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted_hosts import HostSaid
from casebook.formats.pasted.hosts.host import placed
from casebook.formats.pasted.text import PastedLine, one

_LONGEST = 300
_SHORT = (
    ("--version", re.compile(r"\s*(?P<version>\d+\.\d+\.\d+(?:\.\d+)?\S*) \(Commit:(?P<commit>\w+)\)\s*"),
     "the tools are of Kafka {version}, commit {commit}: brokers may be of another release"),
    ("kcat -Q", re.compile(r"\s*(?P<topic>[\w.-]{1,249}) \[(?P<partition>\d{1,9})\] offset (?P<offset>-?\d{1,19})\s*"),
     "{topic}-{partition} is at offset {offset} for the time that was asked"),
    (
        "jps", re.compile(r"\s*(?P<pid>\d{1,9}) (?P<main>kafka\.Kafka|Kafka|QuorumPeerMain"
        r"|org\.apache\.(?:zookeeper|kafka)\.[\w.]+)\s*"),
     "process {pid} is {main}"),
    ("meta.properties", re.compile(r"\s*(?P<name>cluster\.id|directory\.id)\s*=\s*(?P<value>[\w-]{22})\s*"), "{name} is {value}"),
    ("du or ls", re.compile(r"\s*(?P<tool>du|ls): (?P<what>(?:cannot|can't|kann|impossible|无法|不能|\S+:).{3,200}?)\.?\s*"),
     "{tool} failed: {what}"),
    ("kubectl", re.compile(r"\s*(?P<what>(?:[Ee]rror: (?:container \S+ not found|couldn't find key|cannot exec"
     r"|secret|configmap|failed to|You must be logged in|unable|the server|timed out)"
     r"|Error from server \(\w+\): ).{3,300}?)\.?\s*"),
     "it failed: {what}"),
    ("a shell", re.compile(r"\s*(?P<what>(?:-?bash|sh|ssh|scp|nc|curl|cat|kafka-\S+): .{3,200}?(?:[Nn]o route to host"
     r"|[Cc]onnection (?:refused|timed out|reset.{0,20})|[Nn]o such file or directory|[Pp]ermission denied(?: \(.{1,60}\))?"
     r"|command not found|[Nn]ame or service not known|[Oo]peration timed out))\.?\s*"),
     "it failed: {what}"),
    ("a check", re.compile(r"\s*(?P<what>(?:PASS(?:ED)?|FAIL(?:ED)?|CRITICAL)(?:: | - ).{3,250}?)\.?\s*"),
     "it printed {what}"),
    ("kafka-consumer-groups", re.compile(r"\s*(?P<what>No active members)\.?\s*"), "{what}; the group is not named"),
    ("docker inspect", re.compile(r"\s*\"(?P<name>ExitCode|StartedAt|FinishedAt|RestartCount)\": (?P<value>[^{\[]{1,80}?),?\s*"),
     "{name} is {value}"),
)  # fmt: skip
_IDS = re.compile(r"\s*(?P<name>node\.id|broker\.id|version)\s*=\s*(?P<value>\d{1,9})\s*")


def answers(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield every such line; ids and the version next to a cluster id are from ``meta.properties``."""
    is_meta = False
    for here in placed(lines):
        text = here.line.text
        if not text or len(text) > _LONGEST:
            continue
        known = next(((kind, found, says) for kind, row, says in _SHORT if (found := row.fullmatch(text))), None)
        if known is not None:
            kind, found, says = known
            is_meta = kind == "meta.properties"
            yield HostSaid(kind, one(here.line), says.format(**found.groupdict()), here.broker)
        elif is_meta and (found := _IDS.fullmatch(text)):
            yield HostSaid("meta.properties", one(here.line), f"{found['name']} is {found['value']}", here.broker)
        else:
            is_meta = False
