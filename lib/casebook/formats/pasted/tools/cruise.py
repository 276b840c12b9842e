"""Output of Cruise Control: its own state, and partitions and brokers of ``kafka_cluster_state``, as JSON or text.

Its partitions come from Kafka's metadata: leader, replicas and ISR, without epochs or times. Source:
``ClusterPartitionState.java``, ``PartitionState.java``, ``ClusterBrokerState.java``, ``CruiseControlState.java`` of
``cruise-control/src/main/java/com/linkedin/kafka/cruisecontrol/servlet/response@2.5``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.facts.pasted import DescribedPartition
from casebook.facts.pasted_hosts import HostSaid, LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted import cut_json, forms
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.damage import sent
from casebook.formats.pasted.hosts.host import LONGEST, Frame
from casebook.formats.pasted.text import PastedLine, one, spanned

_KIND = "Cruise Control"
_LISTS = ("offline", "with-offline-replicas", "urp", "under-min-isr", "other")
_WORDS = {
    "offline": "without leader",
    "with-offline-replicas": "with replicas that are offline",
    "urp": "that it lists as under-replicated",
    "under-min-isr": "with too few in sync for acks=all",
    "other": "that it lists in none of these lists",
}
_STATES = re.compile(r"\s*\{(?=(?:Monitor|Executor|Analyzer|AnomalyDetector)State: \{)(?P<states>.*?)\}?\s*")
_NEXT = re.compile(r", (?=(?:Monitor|Executor|Analyzer|AnomalyDetector)State: \{)")
"""All of its states on one line, as its releases before JSON print them; a cut one lacks the last brace."""
_WINDOWS = re.compile(r"\s*Monitored Windows(?: \[.*\])?:\s*")
_OWN = re.compile(r"\s*(?P<what>MonitorState|ExecutorState|AnalyzerState|AnomalyDetectorState): (?P<told>\{.*)")
_MARK = re.compile(r"KafkaPartitionState|KafkaBrokerState|MonitorState|ExecutorState|AnalyzerState|AnomalyDetectorState")
_TABLE = re.compile(r"\s*TOPIC\s+PARTITION\s+LEADER\s+REPLICAS\s+IN-SYNC\s+OUT-OF-SYNC\s+OFFLINE(?:\s+MIN-ISR)?(?:\s+\S+)?\s*")
_LIST = r"\[[\d, ]*\]"
_ROW = re.compile(
    rf"\s*(?P<topic>[a-zA-Z0-9._-]{{1,249}})\s+(?P<partition>\d{{1,9}})\s+(?P<leader>-?\d{{1,9}})\s+(?P<replicas>{_LIST})"
    rf"\s+(?P<isr>{_LIST})"
    rf"\s+{_LIST}\s+(?P<offline>{_LIST})(?:\s+(?P<least>\d{{1,9}}))?(?:\s+\w+)?\s*"
)
_PART = re.compile(
    r"\s*(?P<part>Offline Partitions|Partitions with Offline Replicas|Under Replicated Partitions|Under MinIsr Partitions"
    r"|Other Partitions"
    r"|LogDirs of brokers with replicas|Under Replicated, Offline, and Under MinIsr Partitions"
    r"|All Partitions in the Cluster \(verbose\)):\s*"
)
_BROKERS = re.compile(r"\s*BROKER\s+LEADER\(S\)\s+REPLICAS\s+OUT-OF-SYNC\s+OFFLINE\s+IS_CONTROLLER(?:\s+\S+)?\s*")
_BROKER = re.compile(
    r"\s*(?P<id>\d{1,9})\s+(?P<leaders>\d{1,9})\s+(?P<replicas>\d{1,9})\s+(?P<out>\d{1,9})\s+(?P<offline>\d{1,9})"
    r"\s+(?P<controller>true|false)(?:\s+\S+)?\s*"
)
_TROUBLE = re.compile(r"recent\w*(?:Failures|Violations|Anomalies)|ongoingAnomaly\w*|offline\w*")
_FAILURES = re.compile(r"\b(recent\w*(?:Failures|Violations|Anomalies)):\s?\[(?=[^\]\s])")
"""Recent anomalies (``AnomalyDetectorState.java``): an empty list means none."""
_SUMMARY = re.compile(
    r"\s*(?P<told>(?:Summary: )?The cluster has \d+ brokers\b.*|Summary: .*"
    r"|Excluded (?:Topics|Brokers For [\w ]+): \[.*|Counts: \d+ brokers .*|Provision(?:ing)? Status: .*"
    r"|Optimization has \d+ .*|(?:Cluster|On-demand) .*[sS]core.*"
    r"|[\w ]{0,40}partition movements?:|\{EXE_ID: \d+, \w+, \{.*)"
)
"""Lines about the whole cluster, and tasks of its executor (``ExecutionTask.toString``) with the line above them."""
_MOST_BROKERS, _MOST_LEAST, _LONGEST_STATE, _LONGEST_PROPOSAL = 50, 40, 1500, 6000


def told(lines: Sequence[PastedLine]) -> Iterator[DescribedPartition | HostSaid | Frame | CutOutput]:
    """Yield its whole content."""
    yield from _as_json(lines)
    yield from _as_text(lines)


def _as_json(lines: Sequence[PastedLine]) -> Iterator[DescribedPartition | HostSaid | CutOutput]:
    at = 0
    while at < len(lines):
        if not lines[at].text.lstrip().startswith("{") or sent.is_of_transfer(lines[at].text):
            at += 1
            continue
        found, whole, after = cut_json.read(lines, at)
        if isinstance(found, dict) and (any(_MARK.fullmatch(key) for key in found) or _is_proposal(found)):
            yield from _of(found, spanned(lines, at, after), whole=whole)
            if not whole:
                yield cut_json.cut_output(lines, at, after)
        at = after


def _of(found: Mapping[str, object], where: LineSpan, *, whole: bool) -> Iterator[DescribedPartition | HostSaid]:
    partitions, brokers = found.get("KafkaPartitionState"), found.get("KafkaBrokerState")
    if _is_proposal(found):
        yield HostSaid(_KIND, where, f"proposal: {_proposed(found)}", facts={"proposal": found["summary"]})
    if isinstance(partitions, dict):
        is_cut = not whole and list(found)[-1] == "KafkaPartitionState"
        yield from _partitions(partitions, where, cut=list(partitions)[-1] if is_cut and partitions else "")
    if isinstance(brokers, dict):
        yield from _brokers(brokers, where)
        if isinstance(summary := brokers.get("Summary"), dict):
            yield from _summary(summary, where)
    for what in ("MonitorState", "ExecutorState", "AnalyzerState", "AnomalyDetectorState"):
        if isinstance(state := found.get(what), dict):
            failed = sorted(key for key, value in state.items() if _TROUBLE.fullmatch(key) and value)
            shown = ", ".join(f"{key} {value if key in failed else _short(value)}" for key, value in state.items())
            settle = "" if failed else _settle(what)
            text = f"{what}: {_trouble(failed)}{cut(shown, _LONGEST_STATE)}"
            yield HostSaid(_KIND, where, text, bad=bool(failed), settle=settle, facts={what: dict(state)})


def _is_proposal(found: Mapping[str, object]) -> bool:
    """Whether it is what ``rebalance`` and its like answer (``OptimizationResult.java``)."""
    return isinstance(summary := found.get("summary"), dict) and "numReplicaMovements" in summary


def _proposed(found: Mapping[str, object]) -> str:
    """The summary, and the result of each goal."""
    told = list(forms.flat(found["summary"]))
    goals = found.get("goalSummary")
    told += [
        f"{goal['goal']} {goal.get('status')}"
        for goal in (goals if isinstance(goals, list) else ())
        if isinstance(goal, dict) and "goal" in goal
    ]
    return ", ".join(told)[:_LONGEST_PROPOSAL]


def _partitions(told: Mapping[str, object], where: LineSpan, *, cut: str) -> Iterator[DescribedPartition | HostSaid]:
    """Yield the lists of partitions; a cut one may have had more."""
    for name in _LISTS:
        if not isinstance(rows := told.get(name), list):
            continue
        shown = ", ".join(f"{row.get('topic')}-{row.get('partition')}" for row in rows[:10] if isinstance(row, dict))
        more = f", and {len(rows) - 10} more" if len(rows) > 10 else ""
        many = f"{'at least ' if name == cut else ''}{len(rows)} partition{'' if len(rows) == 1 else 's'}"
        text = f"{many} {_WORDS[name]}: {shown}{more}" if rows else f"nothing is listed under {name}"
        yield HostSaid(_KIND, where, text, bad=bool(rows) and name != "other", facts={name: len(rows)})
        yield from (row for one_row in rows if (row := _partition(one_row, where)) is not None)
        least = {f"{row.get('topic')}-{row.get('partition')}": row["min-isr"] for row in rows if _has_least(row)}
        yield from [_least(least, where)] if least else []


def _has_least(row: object) -> bool:
    return isinstance(row, dict) and type(row.get("min-isr")) is int


def _least(least: Mapping[str, int], where: LineSpan) -> HostSaid:
    """Return the ``min.insync.replicas`` printed of partitions."""
    shown = ", ".join(f"{name} {value}" for name, value in list(least.items())[:_MOST_LEAST])
    more = f" and {len(least) - _MOST_LEAST} more" if len(least) > _MOST_LEAST else ""
    return HostSaid(_KIND, where, f"min-isr: {shown}{more}", facts={"min-isr": dict(least)})


def _partition(row: object, where: LineSpan) -> DescribedPartition | None:
    if not isinstance(row, dict):
        return None
    topic, partition, leader = (row.get(name) for name in ("topic", "partition", "leader"))
    replicas, isr = _ids(row.get("replicas")), _ids(row.get("in-sync"))
    if not (isinstance(topic, str) and type(partition) is int and type(leader) is int and replicas and isr is not None):
        return None
    offline = _ids(row.get("offline"))
    return DescribedPartition(
        topic, partition, where, leader if leader >= 0 else None, replicas, isr, offline=offline, tool=_KIND
    )


def _ids(told: object) -> tuple[int, ...] | None:
    return tuple(told) if isinstance(told, list) and all(type(one) is int and one >= 0 for one in told) else None


def _brokers(told: Mapping[str, object], where: LineSpan) -> Iterator[HostSaid]:
    def of(name: str, broker: str) -> object:
        counts = told.get(name)
        return counts.get(broker) if isinstance(counts, dict) else None

    named = {broker for counts in told.values() if isinstance(counts, dict) for broker in counts if str(broker).isdecimal()}
    for broker in sorted(named, key=int)[:_MOST_BROKERS]:
        counts = {
            "leaders": of("LeaderCountByBrokerId", broker),
            "replicas": of("ReplicaCountByBrokerId", broker),
            "out of sync": of("OutOfSyncCountByBrokerId", broker),
            "offline": of("OfflineReplicaCountByBrokerId", broker),
        }
        dirs = of("OfflineLogDirsByBrokerId", broker)
        failed = [str(one) for one in dirs] if isinstance(dirs, list) else []
        online = of("OnlineLogDirsByBrokerId", broker)
        dead = "broker_dead" in failed
        text = f"broker {broker}: " + ", ".join(f"{what} {count}" for what, count in counts.items() if count is not None)
        text += ", the controller" if of("IsController", broker) is True else ""
        text += ", dead" if dead else f", failed log dirs {', '.join(failed)}" if failed else ""
        text += ", no failed log dirs" if dirs == [] else ""
        text += f", log dirs {', '.join(map(str, online))}" if isinstance(online, list) and online else ""
        facts = {**counts, "dead": True} if dead else counts
        yield HostSaid(_KIND, where, text, int(broker), bool(failed) or bool(counts["offline"]), facts=facts)
    if empty := [str(name) for name, counts in told.items() if counts in ({}, [])]:
        yield HostSaid(_KIND, where, f"it lists nothing under {', '.join(empty)}", facts={"empty": empty})


def _summary(told: Mapping[str, object], where: LineSpan) -> Iterator[HostSaid]:
    """Yield numbers of the whole cluster, by their printed names."""
    if shown := ", ".join(f"{name} {value}" for name, value in told.items() if type(value) in (int, float)):
        yield HostSaid(_KIND, where, f"summary of the cluster: {shown}", facts={"summary": dict(told)})


def _as_text(lines: Sequence[PastedLine]) -> Iterator[DescribedPartition | HostSaid | Frame]:
    partitions = brokers = False
    least: dict[str, int] = {}
    with_least: list[LineSpan] = []
    for at, line in enumerate(lines):
        text, where = line.text, one(line)
        if not text or len(text) > LONGEST * 4:
            continue
        if states := _STATES.fullmatch(text):
            each = map(_OWN.fullmatch, _NEXT.split(states["states"]))
            yield from (_state(own["what"], own["told"].strip(), where) for own in each if own)
        elif own := _OWN.fullmatch(text):
            yield _state(own["what"], own["told"].strip(), where)
        elif _WINDOWS.fullmatch(text) and at + 1 < len(lines) and lines[at + 1].text.strip() == "{}":
            yield HostSaid(_KIND, spanned(lines, at, at + 2), "it has no monitored windows", facts={"windows": 0})
        elif summary := _SUMMARY.fullmatch(text):
            yield HostSaid(_KIND, where, summary["told"].rstrip(". "), facts={"summary": summary["told"]})
        elif _TABLE.fullmatch(text):
            partitions, brokers = True, False
            yield Frame(where)
        elif _BROKERS.fullmatch(text):
            partitions, brokers = False, True
            yield Frame(where)
        elif _PART.fullmatch(text):
            yield Frame(where)
        elif partitions and (row := _ROW.fullmatch(text)):
            lists = (re.findall(r"\d{1,9}", row[name]) for name in ("replicas", "isr", "offline"))
            replicas, isr, offline = (tuple(map(int, ids)) for ids in lists)
            leader = int(row["leader"])
            leads = leader if leader >= 0 else None
            number = int(row["partition"])
            yield DescribedPartition(row["topic"], number, where, leads, replicas, isr, offline=offline, tool=_KIND)
            if row["least"]:
                least[f"{row['topic']}-{number}"] = int(row["least"])
                with_least.append(where)
        elif brokers and (row := _BROKER.fullmatch(text)):
            text = f"broker {row['id']}: leaders {row['leaders']}, replicas {row['replicas']}, out of sync {row['out']}"
            text += f", offline {row['offline']}"
            text += ", the controller" if row["controller"] == "true" else ""
            yield HostSaid(_KIND, where, text, int(row["id"]), row["offline"] != "0", facts={"broker": int(row["id"])})
        else:
            partitions = brokers = False
    if least:
        yield _least(least, LineSpan(with_least[0].first, with_least[-1].last))


def _state(what: str, told: str, where: LineSpan) -> HostSaid:
    """Return one of its own states; a cut one may have had more."""
    failed = sorted(set(_FAILURES.findall(told)))
    is_cut = told.count("{") != told.count("}") or told.count("[") != told.count("]")
    text = f"{what}: {_trouble(failed)}{cut(told, _LONGEST_STATE)}{' (cut: what follows was not pasted)' if is_cut else ''}"
    settle = "" if failed else "paste all of kafkacruisecontrol/state: this one is cut" if is_cut else _settle(what)
    return HostSaid(_KIND, where, text, bad=bool(failed), settle=settle, facts={"what": what})


def _trouble(failed: Sequence[str]) -> str:
    return f"it reports {', '.join(failed)}; " if failed else ""


def _settle(what: str) -> str:
    return (
        "paste kafkacruisecontrol/kafka_cluster_state?json=true&verbose=true: it lists partitions and brokers"
        if what == "MonitorState"
        else ""
    )


def _short(value: object) -> str:
    return cut(str(value), 80)
