"""What is still wrong with a cluster that somebody heals: our own collector and analysis say so, from evidence, and only read."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from casebook.analysis import leadership, release
from casebook.case import Case
from casebook.errors import CasebookError
from casebook.findings import Finding, Status
from casebook.rehearsal.cluster import Cluster

_LEADERSHIP = "leadership."
_SYMPTOMS = {
    "leadership.offline": lambda facts: f"{_partitions(facts['offline'])} without leader",
    "leadership.under_min_isr": lambda facts: f"{_partitions(facts['under_min_isr'])} refuse acks=all",
    "leadership.under_replicated": lambda facts: f"{_partitions(facts['under_replicated'])} with too few in sync",
    "offsets_topic.compacted": lambda _: "a copy of __consumer_offsets is not compacted",
}
"""A finding by its symptom: its own title would say what to do."""


def still_wrong(cluster: Cluster, checks: Sequence[str], *, folder: Path) -> tuple[str, ...]:
    """What is wrong now, worst first; nothing once it is healed.

    Args:
        checks: Those that must hold.
        folder: Where the evidence is collected into, in the place of that of before.
    """
    try:
        found = {finding.check: finding for finding in _findings(cluster, checks, folder)}
    except CasebookError as error:
        return (f"the evidence cannot be collected: {error.what}",)
    return tuple(said for check in checks if (said := _symptom(found[check])))


def _symptom(finding: Finding) -> str:
    if finding.status is Status.FINDING:
        return _SYMPTOMS[finding.check](finding.facts)
    return f"it cannot be told: {finding.title}" if finding.status is Status.COULD_NOT_CHECK else ""


def _findings(cluster: Cluster, checks: Sequence[str], folder: Path) -> Sequence[Finding]:
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
        return leadership.examine(now, version).findings
    from casebook.offsets_evidence import OffsetsEvidence
    from casebook.scans import logs

    return OffsetsEvidence(case, now, version, logs=logs.read(case), scan=False).findings


def _partitions(count: int) -> str:
    return f"{count} partition{'' if count == 1 else 's'}"
