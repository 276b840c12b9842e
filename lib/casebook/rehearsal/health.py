"""Remaining problems of a cluster under repair, by the collector and the analysis: from evidence, read only."""

import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from casebook.case.case import Case
from casebook.errors import CasebookError
from casebook.facts.cluster import Cluster
from casebook.findings.finding import Finding, Status
from casebook.findings.words import plural
from casebook.kafka import release
from casebook.kafka.releases import VersionInUse
from casebook.kafka.verdict import OFFLINE, ONLINE, Verdict
from casebook.questions.durability import evidence as durability_evidence
from casebook.questions.durability.analysis.rows import LossVerdict
from casebook.questions.leadership.analysis import leadership
from casebook.rehearsal.servers.cluster import PlayedCluster

_OF_PARTITIONS: Mapping[str, tuple[Callable[[Verdict], bool | None], str]] = {
    "leadership.offline": (lambda v: v.state in OFFLINE, "{} without leader ({})"),
    "leadership.under_min_isr": (
        lambda v: v.state in ONLINE and v.under_min_isr,
        "{} with a leader, and too few in sync to take acks=all ({})",
    ),
    "leadership.under_replicated": (
        lambda v: v.state in ONLINE and v.under_replicated,
        "{} with a leader, and under-replicated: a replica is missing from the ISR, until its broker runs and has caught up ({})",
    ),
}
"""Partitions of a check, and its symptom: the title of its finding would reveal the fix."""
_OF_OFFSETS: Mapping[str, str] = {
    "offsets_topic.compacted": "a copy of __consumer_offsets is not compacted",
    "coordinators.leaderless": "a partition of __consumer_offsets has no leader",
    "coordinators.waiting": "groups wait: a coordinator still loads",
}
_OF_CLIENTS = "durability.acks_1"
_OF_SETTINGS: Mapping[str, tuple[str, str]] = {
    _OF_CLIENTS: ("D3", "an application can lose acknowledged records at each change of leader"),
    "durability.isr_of_one": ("D4", "records acknowledged with acks=all can be lost while one replica is in sync ({})"),
    "durability.unclean_election": ("D5", "a replica that lacks acknowledged records can become leader ({})"),
}
"""Rule of a check, and its symptom with the topics."""
CHECKS = frozenset((*_OF_PARTITIONS, *_OF_OFFSETS, *_OF_SETTINGS))
"""Checks that can say whether an incident is healed."""


class _Now(NamedTuple):
    """Findings and rows by the evidence of this moment."""

    findings: tuple[Finding, ...]
    partitions: tuple[Verdict, ...] = ()
    losses: tuple[LossVerdict, ...] = ()


def still_wrong(
    cluster: PlayedCluster,
    checks: Sequence[str],
    *,
    folder: Path,
    clients: Mapping[str, Path] | None = None,
    topics: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the current problems, worst first; none once healed.

    Args:
        checks: Checks of :data:`CHECKS` that must hold.
        folder: Folder of the collected evidence, replaced each time.
        clients: Properties of applications, by name.
        topics: Topics whose settings count; empty for all.
    """
    try:
        now = _examined(cluster, checks, folder, clients or {})
    except CasebookError as error:
        return (f"the evidence cannot be collected: {error.what}",)
    found = {finding.check: finding for finding in now.findings}
    return tuple(said for check in checks if (said := _symptom(found[check], now, topics)))


def _symptom(finding: Finding, now: _Now, topics: Collection[str]) -> str:
    if finding.status is Status.COULD_NOT_CHECK:
        return f"unknown: {finding.title}"
    if finding.check == _OF_CLIENTS and finding.status is Status.NOT_APPLICABLE:
        return "unknown: no settings of the application were found"
    if finding.status is not Status.FINDING:
        return ""
    if finding.check in _OF_OFFSETS:
        return _OF_OFFSETS[finding.check]
    if finding.check in _OF_SETTINGS:
        return _of_settings(finding.check, now.losses, topics)
    hit, words = _OF_PARTITIONS[finding.check]
    by_topic = Counter(verdict.topic for verdict in now.partitions if hit(verdict))
    return words.format(plural(by_topic.total(), "partition"), ", ".join(f"{topic} {n}" for topic, n in sorted(by_topic.items())))


def _of_settings(check: str, losses: Sequence[LossVerdict], topics: Collection[str]) -> str:
    rule, words = _OF_SETTINGS[check]
    hit = [one for one in losses if one.rule == rule and (one.topic is None or not topics or one.topic in topics)]
    return words.format(", ".join(sorted({one.topic for one in hit if one.topic}))) if hit else ""


def _examined(cluster: PlayedCluster, checks: Sequence[str], folder: Path, clients: Mapping[str, Path]) -> _Now:
    from casebook.collect.collection import collect_case

    of_offsets = not _OF_OFFSETS.keys().isdisjoint(checks)
    shutil.rmtree(folder, ignore_errors=True)
    collect_case(
        folder,
        zookeeper=cluster.zookeeper,
        properties={broker: cluster.server_properties(broker) for broker in cluster.ids},
        logs={broker: list(cluster.log_files(broker)) for broker in cluster.ids} if of_offsets else {},
        log_dirs=[(broker, str(cluster.log_dir(broker))) for broker in cluster.ids] if of_offsets else [],
        clients={client: [path] for client, path in clients.items()},
        command="casebook rehearse --practice",
    )
    case = Case.open(folder)
    now = case.cluster()
    version = release.release(now, given=cluster.kafka)
    lead = leadership.examine(now, version)
    audit = durability_evidence.examined(case, now, version, "")
    findings = (*lead.findings, *audit.findings, *(_of_offsets(case, now, version) if of_offsets else ()))
    return _Now(findings, lead.verdicts, audit.verdicts)


def _of_offsets(case: Case, now: Cluster, version: VersionInUse) -> tuple[Finding, ...]:
    from casebook.questions.coordinators.evidence import OffsetsEvidence
    from casebook.questions.timeline.scans import logs

    return OffsetsEvidence(case, now, version, logs=logs.read(case), scan=False).findings
