"""For a pasted case: what was pasted, and the next output to paste that would settle the most.

The effect of a command's output is computed, not guessed: the cluster is completed with the healthiest possible output, and the
checks on leadership run again. Log lines and groups follow when no partition is open.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from casebook.facts.cluster import Broker, Cluster, Partition, PartitionState
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.pasted import PASTED, QUORUM_REPLICATION, Pasted
from casebook.facts.proofs import state_path
from casebook.facts.quotes import literal
from casebook.findings import as_pasted
from casebook.findings.finding import Coverage, Finding, Question, Severity, Status, Step
from casebook.findings.words import agree, plural, size
from casebook.kafka.group_partition import group_partition
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.kafka.verdict import OFFLINE, PartitionCondition, is_rule_unknown
from casebook.questions.leadership.analysis import leadership
from casebook.questions.triage.analysis import pasted_statements

_SHOWN = 5
_OFFSETS_PARTITIONS = 50
"""``offsets.topic.num.partitions`` of every release (``KafkaConfig.scala@0.9.0.1, 3.9.0``)."""
_LARGE = 10 << 30

_LOADING = re.compile(r"(?<![a-z] )Loading (?:offsets and )?group metadata from (?P<at>\[\S+,\d+\]|\S+-\d+)")
_LOADED = re.compile(
    r"Finished loading (?:offsets(?: and group metadata)?|group metadata)?\s*(?:metadata )?from (?P<at>\[\S+,\d+\]|\S+-\d+)"
)
_EXPIRED = re.compile(r"session \S* ?has expired|state changed \(Expired\)|Session expired|Unable to reconnect to ZooKeeper")
_NOT_UNDERSTOOD = re.compile(
    r"Processor got uncaught exception|Closing processor \S+ due to|Processor \S+ poll failed"
    r"|Exception while processing request from"
    r"|ArrayIndexOutOfBoundsException: (?:Index )?-?\d|Unexpected ApiKeys id|Unexpected api key"
)
"""``SocketServer.scala@0.9.0.1, 1.0.2``, ``ApiKeys.java@0.9.0.1, 1.0.2, 2.8.2``."""
_DELETED = re.compile(r"deleted brokers: \S|Broker failure callback|deleted: \d|Newly added brokers")


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPaste:
    """A command whose output would settle something.

    Args:
        command: To be pasted with its output.
        why: One sentence.
        judged: Number of additional partitions with a verdict.
        settled: Number of additional answered checks.
    """

    command: str
    why: str
    judged: int = 0
    settled: int = 0


def checks(pasted: Pasted | None, cluster: Cluster, version: VersionInUse) -> tuple[Finding, ...]:
    """Return the findings of every notebook on pasted evidence; nothing for another case."""
    if pasted is None:
        return ()
    return (_understood(pasted), *pasted_statements.checks(pasted), _next(pasted, cluster, version))


def choose(pasted: Pasted, cluster: Cluster, version: VersionInUse) -> NextPaste:
    """Choose the next output to paste."""
    if pasted.kraft is not None:
        return _of_kraft(pasted)
    tried = tuple(_tried(_commands(cluster, version), cluster, version))
    judging = [one for one in tried if one.judged > 0]
    if judging:
        return max(judging, key=lambda one: (one.judged, one.settled))
    if spoken := next(_spoken_of(pasted, cluster, version), None):
        return spoken
    settling = [one for one in tried if one.settled > 0]
    if settling:
        return max(settling, key=lambda one: one.settled)
    return NextPaste(
        command=_describe(cluster, version),
        why="No pasted statement is open; this shows whether other partitions have no leader.",
    )


def _of_kraft(pasted: Pasted) -> NextPaste:
    """Choose for a cluster without ZooKeeper."""
    if not pasted.partitions:
        command = "bin/kafka-topics.sh --bootstrap-server HOST:9092 --describe --unavailable-partitions"
    elif not any(told.tool == QUORUM_REPLICATION for told in pasted.told):
        command = "bin/kafka-metadata-quorum.sh --bootstrap-server HOST:9092 describe --replication"
    else:
        command = "bin/kafka-broker-api-versions.sh --bootstrap-server HOST:9092   # the lines with (id: ...)"
        if any(told.tool == "kafka-broker-api-versions" for told in pasted.told):
            command = "grep -E 'ERROR|WARN' server.log* | tail -n 200   # write a line such as 'broker 3:' above them"
    return NextPaste(
        command=command,
        why=f"Line {pasted.kraft} shows a KRaft cluster: it has no ZooKeeper, and its brokers report the state.",
    )


def _understood(pasted: Pasted) -> Finding:
    parts = {
        "znode": len(pasted.znodes),
        "topic": len({row.topic for row in pasted.topics} - {row.topic for row in pasted.partitions}),
        "partition of kafka-topics": len([row for row in pasted.latest if row.tool == "kafka-topics"]),
        "partition of kcat": len([row for row in pasted.latest if row.tool == "kcat"]),
        "partition of Cruise Control": len([row for row in pasted.latest if row.tool == "Cruise Control"]),
        "row of consumer groups": len({row.span for row in (*pasted.offsets, *pasted.groups, *pasted.members)}),
        "list of settings": len(pasted.configs),
        "partition of kafka-reassign-partitions": len({(row.topic, row.partition) for row in (*pasted.assigned, *pasted.moves)}),
        "output of another tool": len({told.tool for told in pasted.told if told.says}),
        "file": len(pasted.files),
        "folder": len(pasted.used),
        "log line": len(pasted.logs),
        "statement of a host": len(pasted.hosts),
    }
    many = {
        "partition of kafka-topics": "partitions of kafka-topics",
        "partition of kcat": "partitions of kcat",
        "partition of Cruise Control": "partitions of Cruise Control",
        "row of consumer groups": "rows of consumer groups",
        "list of settings": "lists of settings",
        "partition of kafka-reassign-partitions": "partitions of kafka-reassign-partitions",
        "output of another tool": "outputs of other tools",
        "statement of a host": "statements of hosts",
    }
    held = ", ".join(plural(count, what, many.get(what, "")) for what, count in parts.items() if count)
    unknown = pasted.not_understood
    largest = sorted(pasted.used, key=lambda used: -used.about)[:_SHOWN]
    ask = Question(
        check="evidence.pasted",
        question="Was everything that was pasted understood?",
        coverage=Coverage.every(pasted.lines, "pasted line", Source.PASTE),
        threshold="any line that could not be interpreted",
        facts={
            "lines": pasted.lines,
            "parts": {what: count for what, count in parts.items() if count},
            "not_understood": [[part.span.first, part.span.last] for part in unknown],
            "largest_folders": {used.path: used.about for used in largest},
            "groups": sorted({row.group for row in (*pasted.offsets, *pasted.groups, *pasted.members) if row.group}),
            "tools": sorted({told.tool for told in pasted.told}),
        },
        caveats=(
            *(f"{used.path} takes {size(used.about)} (line {used.span.first})." for used in largest if used.about >= _LARGE),
            *(sentence for told in (as_pasted.not_understood, as_pasted.not_kept, as_pasted.beside) for sentence in told(pasted)),
        ),
    )
    if not unknown:
        less = f"; not kept of {plural(len(pasted.not_kept), 'line')}, see below" if pasted.not_kept else ""
        return ask.ok(f"Every line was read: {held}{less}", gaps=())  # some are quoted, of programs that no check knows
    lines = sum(part.span.last - part.span.first + 1 for part in unknown)
    title = f"{plural(lines, 'pasted line')} {agree(lines, 'was', 'were')} not understood" + (
        f"; understood: {held}" if held else ""
    )
    return ask.found(
        Severity.INFO if held else Severity.WARNING,
        title,
        why="; ".join(_said(part.span.first, part.text, part.reason) for part in unknown[:3]) + ".",
        evidence=tuple(Evidence(file=PASTED, line=part.span.first) for part in unknown[:_SHOWN]),
    )


def _said(line: int, text: str, reason: str) -> str:
    return f"line {line} {reason}: {literal(text, 60)}" if text else f"line {line} {reason}"


def _next(pasted: Pasted, cluster: Cluster, version: VersionInUse) -> Finding:
    best = choose(pasted, cluster, version)
    ask = Question(
        check="evidence.next",
        question="What should be pasted next?",
        coverage=Coverage.every(pasted.lines, "pasted line", Source.PASTE),
        threshold="always one",
        facts={"command": best.command, "judged": best.judged, "settled": best.settled},
    )
    step = Step(kind="first", text="Paste this command with all its output below the earlier paste.", command=best.command)
    return ask.found(Severity.INFO, f"Paste next: {best.command}", why=best.why, next=(step,))


_Try = tuple[str, str, Callable[[Cluster], Cluster]]


def _tried(commands: Iterable[_Try], cluster: Cluster, version: VersionInUse) -> Iterator[NextPaste]:
    """Yield the effect of each command that would settle anything."""
    unjudged, open_checks = _left(cluster, version)
    for command, why, answered in commands:
        still, left = _left(answered(cluster), version)
        yield NextPaste(command=command, why=why, judged=unjudged - still, settled=open_checks - left)


def _left(cluster: Cluster, version: VersionInUse) -> tuple[int, int]:
    """Return the number of partitions without a verdict, and of open checks."""
    found = leadership.examine(cluster, version)
    unjudged = sum(
        v.state is PartitionCondition.UNKNOWN or (is_rule_unknown(v) and not cluster.brokers_known) for v in found.verdicts
    )
    return unjudged, sum(finding.status is Status.COULD_NOT_CHECK for finding in found.findings)


def _commands(cluster: Cluster, version: VersionInUse) -> Iterator[_Try]:
    """Yield the commands for this cluster, with what a good output would add."""
    ask = partial(_shell, cluster)
    get = _get(version)
    if not cluster.brokers_known:
        yield ask("ls", "/brokers/ids"), "The live brokers decide who can lead which partition.", _with_brokers
    if topic := _most(p.topic for p in cluster.partitions if p.state is not None and not p.replicas):
        why = f"The assignment of {topic} is unknown."
        yield ask(get, f"/brokers/topics/{topic}"), why, lambda known: _with_replicas(known, topic)
    if first := _without_epochs(cluster):
        why = f"ZooKeeper's state of {first.name} shows since when it has held, and under which controller it was written."
        yield ask(get, state_path(first.topic, first.partition)), why, lambda known: _with_state(known, first)
    if not cluster.controller.readable:
        yield ask(get, "/controller"), "Whether there is a controller is unknown.", _with_controller
    elif cluster.controller.epoch is None:
        yield ask(get, "/controller_epoch"), "Whether a newer controller wrote a state is unknown.", _with_epoch
    if not cluster.partitions or cluster.unlisted:
        some = "For some partitions only" if cluster.partitions else "For no partition"
        yield (
            _describe(cluster, version),
            f"{some} the leader and the ISR are known; this shows all partitions without leader.",
            _with_all,
        )


def _get(version: VersionInUse) -> str:
    """Return the command for data and stat of a znode: ZooKeeper 3.5, in Kafka from 2.4 on, prints the stat only on request."""
    return "get -s" if _at_least(version, "2.4.0") else "get"


def _shell(cluster: Cluster, verb: str, path: str) -> str:
    """Return a ZooKeeper command for a shell that repeats its question in the output.

    It is piped: the shell of Kafka 0.9 and 0.10.0 ignores arguments after the server (``ZooKeeperMain.java@release-3.4.6``).
    """
    servers = ",".join(cluster.zookeeper) or "HOST:2181"
    return f"echo {shlex.quote(f'{verb} {cluster.chroot}{path}')} | bin/zookeeper-shell.sh {shlex.quote(servers)}"


def _at_least(version: VersionInUse, release: str) -> bool:
    return version.origin is not VersionOrigin.ASSUMED and version.version >= KafkaVersion.parse(release)


def _describe(cluster: Cluster, version: VersionInUse) -> str:
    """Return the command: ``kafka-topics`` connects to brokers from 2.2 on, to ZooKeeper until 2.8.

    Source: ``TopicCommand.scala@2.1.1, 2.2.0, 2.8.2, 3.0.0``.
    """
    by_brokers = "--bootstrap-server HOST:9092"
    where = by_brokers if _at_least(version, "2.2.0") else f"--zookeeper {shlex.quote(cluster.connect)}"
    otherwise = f"   # from 3.0 on: {by_brokers}" if version.origin is VersionOrigin.ASSUMED else ""
    return f"bin/kafka-topics.sh {where} --describe --unavailable-partitions{otherwise}"


def _most(names: Iterable[str]) -> str | None:
    """Return the most frequent name."""
    counts = Counter(names)
    return max(sorted(counts), key=counts.__getitem__) if counts else None


def _without_epochs(cluster: Cluster) -> Partition | None:
    """Return a partition with an unknown state, or only from kafka-topics; preferably without a leader."""
    hit = [p for p in cluster.partitions if p.state is None or p.state.leader_epoch is None]
    return min(hit, key=lambda p: (p.state is not None and p.state.leader is not None, p.topic, p.partition), default=None)


def _with_brokers(cluster: Cluster) -> Cluster:
    named = {b for p in cluster.partitions for b in (*p.replicas, *(p.state.isr if p.state else ()))}
    return replace(cluster, brokers_known=True, brokers={broker: Broker(id=broker) for broker in sorted(named)})


def _with_replicas(cluster: Cluster, topic: str) -> Cluster:
    return _changed(cluster, lambda p: _assigned(p) if p.topic == topic else p)


def _assigned(partition: Partition) -> Partition:
    """Use its ISR as its replicas, when it has none."""
    if partition.replicas or partition.state is None:
        return partition
    return partition._replace(replicas=partition.state.isr, problem=None)


def _with_state(cluster: Cluster, one: Partition) -> Cluster:
    leader = next(iter(one.replicas), None)
    state = one.state or PartitionState(leader=leader, isr=one.replicas, leader_epoch=0, controller_epoch=0)
    full = one._replace(state=state._replace(leader_epoch=0, controller_epoch=0), missing=False, problem=None)
    return _changed(cluster, lambda p: full if (p.topic, p.partition) == (one.topic, one.partition) else p)


def _with_controller(cluster: Cluster) -> Cluster:
    return replace(cluster, controller=replace(cluster.controller, readable=True, broker=next(iter(cluster.live), 0)))


def _with_epoch(cluster: Cluster) -> Cluster:
    newest = max((p.state.controller_epoch or 0 for p in cluster.partitions if p.state is not None), default=0)
    return replace(cluster, controller=replace(cluster.controller, epoch=newest))


def _with_all(cluster: Cluster) -> Cluster:
    """Complete a list that shows only partitions without a leader."""
    shown = _changed(cluster, lambda p: _assigned(p) if p.state is not None and p.state.leader is None else p)
    return replace(shown, unlisted=())


def _changed(cluster: Cluster, change: Callable[[Partition], Partition]) -> Cluster:
    return replace(cluster, partitions=tuple(map(change, cluster.partitions)))


def _spoken_of(pasted: Pasted, cluster: Cluster, version: VersionInUse) -> Iterator[NextPaste]:
    """Yield commands suggested by log lines, groups and sizes, most urgent first."""
    yield from _unfinished_loads(pasted)
    yield from _coordinator_of_group(pasted, cluster, version)
    yield from _expired_session(pasted)
    yield from _request_not_understood(pasted, version)
    yield from _offline_brokers(cluster, version)
    large = [used for used in pasted.used if used.about >= _LARGE and f"/{OFFSETS_TOPIC}-" in used.path]
    if large:
        most = max(large, key=lambda used: used.about)
        why = f"{most.path} takes {size(most.about)}: the age of its segments shows since when cleaning has stopped."
        yield NextPaste(command=f"ls -l --time-style=full-iso {most.path}", why=why)


def _unfinished_loads(pasted: Pasted) -> Iterator[NextPaste]:
    begun = {match["at"]: line for line in pasted.logs if (match := _LOADING.search(line.text[:2000]))}
    ended = {match["at"] for line in pasted.logs if (match := _LOADED.search(line.text[:2000]))}
    left = [at for at in begun if at not in ended]
    if left:
        broker = begun[left[0]].broker
        whose = "its coordinator" if broker is None else f"broker {broker}"
        why = (
            f"{plural(len(left), 'load')} of {left[0]} and other partitions began and did not end in the pasted lines, "
            f"on {whose}."
        )
        yield NextPaste(command="grep -E 'Loading|Finished loading|Failed to load|shutting down|started' server.log*", why=why)


def _coordinator_of_group(pasted: Pasted, cluster: Cluster, version: VersionInUse) -> Iterator[NextPaste]:
    counts = [topic.partitions for topic in pasted.topics if topic.topic == OFFSETS_TOPIC]
    known = {p.partition for p in cluster.partitions if p.topic == OFFSETS_TOPIC and p.state is not None}
    for group in dict.fromkeys(row.group for row in (*pasted.groups, *pasted.offsets) if row.group):
        partition = group_partition(group, counts[0] if counts and counts[0] else _OFFSETS_PARTITIONS)
        if partition not in known:
            assumed = "" if counts else f" (of {_OFFSETS_PARTITIONS}, the default)"
            yield NextPaste(
                command=_shell(cluster, _get(version), state_path(OFFSETS_TOPIC, partition)),
                why=f"Group {group} is coordinated by the leader of {OFFSETS_TOPIC}-{partition}{assumed}.",
            )


def _expired_session(pasted: Pasted) -> Iterator[NextPaste]:
    expired = [line for line in pasted.logs if _EXPIRED.search(line.text[:2000])]
    if expired and not any(_DELETED.search(line.text[:2000]) for line in pasted.logs):
        yield NextPaste(
            command="grep -E 'deleted brokers|deleted:|Broker failure|Processing expired|elected' controller.log*",
            why=f"A session expired (line {expired[0].span.first}); the controller's log shows its reaction.",
        )


def _request_not_understood(pasted: Pasted, version: VersionInUse) -> Iterator[NextPaste]:
    """Ask for the release, which determines the known requests; the source of a request is logged at DEBUG only."""
    failed = next((line for line in pasted.logs if _NOT_UNDERSTOOD.search(line.text[:2000])), None)
    if failed is None:
        return
    what = f"A network thread failed on a request (line {failed.span.first})"
    if version.origin is VersionOrigin.ASSUMED and not any("Kafka version" in line.text[:2000] for line in pasted.logs):
        yield NextPaste(
            command="grep 'Kafka version' server.log*", why=f"{what}; the broker's release decides which requests it supports."
        )
    if not any("DEBUG" in line.text[:2000] and "kafka.network" in line.text[:2000] for line in pasted.logs):
        yield NextPaste(
            command="grep kafka.network server.log*   # with log4j.logger.kafka.network=DEBUG in config/log4j.properties",
            why=f"{what}; the client is logged at DEBUG only.",
        )


def _offline_brokers(cluster: Cluster, version: VersionInUse) -> Iterator[NextPaste]:
    """Ask for the log of the broker whose start would heal most: why it is down."""
    if not cluster.brokers_known:
        return
    found = leadership.examine(cluster, version)
    waited_for = Counter(b for v in found.verdicts if v.state in OFFLINE for b in v.waits_for)
    if waited_for:
        broker = max(sorted(waited_for), key=waited_for.__getitem__)
        partitions = waited_for[broker]
        why = f"{plural(partitions, 'partition')} {agree(partitions, 'waits', 'wait')} for broker {broker}: why did it stop?"
        yield NextPaste(
            command=f"tail -n 200 server.log   # on broker {broker}; write the line 'broker {broker}:' above it", why=why
        )
