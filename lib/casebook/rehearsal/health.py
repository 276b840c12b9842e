"""Remaining problems of a cluster under repair, by the collector and the analysis: from evidence, read only."""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from casebook.case.case import Case
from casebook.errors import CasebookError
from casebook.findings.finding import Finding, Status
from casebook.findings.words import plural
from casebook.kafka import release
from casebook.kafka.verdict import OFFLINE, ONLINE, Verdict
from casebook.questions.leadership.analysis import leadership
from casebook.rehearsal.servers.cluster import PlayedCluster

_LEADERSHIP = "leadership."
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
_COMPACTED = {"offsets_topic.compacted": "a copy of __consumer_offsets is not compacted"}


def still_wrong(cluster: PlayedCluster, checks: Sequence[str], *, folder: Path) -> tuple[str, ...]:
    """Return the current problems, worst first; none once healed.

    Args:
        checks: Checks that must hold.
        folder: Folder of the collected evidence, replaced each time.
    """
    try:
        findings, verdicts = _examined(cluster, checks, folder)
    except CasebookError as error:
        return (f"the evidence cannot be collected: {error.what}",)
    found = {finding.check: finding for finding in findings}
    return tuple(said for check in checks if (said := _symptom(found[check], verdicts)))


def _symptom(finding: Finding, verdicts: Sequence[Verdict]) -> str:
    if finding.status is Status.COULD_NOT_CHECK:
        return f"unknown: {finding.title}"
    if finding.status is not Status.FINDING:
        return ""
    if finding.check in _COMPACTED:
        return _COMPACTED[finding.check]
    hit, words = _OF_PARTITIONS[finding.check]
    topics = Counter(verdict.topic for verdict in verdicts if hit(verdict))
    return words.format(plural(topics.total(), "partition"), ", ".join(f"{topic} {n}" for topic, n in sorted(topics.items())))


def _examined(cluster: PlayedCluster, checks: Sequence[str], folder: Path) -> tuple[Sequence[Finding], Sequence[Verdict]]:
    from casebook.collect import collect_case

    led = all(check.startswith(_LEADERSHIP) for check in checks)
    shutil.rmtree(folder, ignore_errors=True)
    collect_case(
        folder,
        zookeeper=cluster.zookeeper,
        properties={broker: cluster.server_properties(broker) for broker in cluster.ids},
        logs={} if led else {broker: list(cluster.log_files(broker)) for broker in cluster.ids},
        log_dirs=[] if led else [(broker, str(cluster.log_dir(broker))) for broker in cluster.ids],
        command="casebook rehearse --practice",
    )
    case = Case.open(folder)
    now = case.cluster()
    version = release.release(now, given=cluster.kafka)
    if led:
        lead = leadership.examine(now, version)
        return lead.findings, lead.verdicts
    from casebook.questions.coordinators.evidence import OffsetsEvidence
    from casebook.questions.timeline.scans import logs

    return OffsetsEvidence(case, now, version, logs=logs.read(case), scan=False).findings, ()
