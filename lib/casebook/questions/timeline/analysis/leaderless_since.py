"""Start of leaderless times: a state has its last write; logs and ZooKeeper's history have the loss of its leader."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from casebook.facts.cluster import instant
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.findings.finding import Finding, Status
from casebook.kafka.past import Key
from casebook.kafka.past_rows import Window, WindowKind
from casebook.kafka.verdict import OFFLINE, Verdict
from casebook.questions.timeline.analysis.timeline import Timeline

_OFFLINE, _COORDINATORS = "leadership.offline", "coordinators.leaderless"


def dated(findings: Iterable[Finding], verdicts: Iterable[Verdict], told: Timeline) -> tuple[Finding, ...]:
    """Add the start of leaderless times to findings on partitions without a leader.

    Args:
        verdicts: Verdicts on every partition.
        told: Timeline of logs and history.
    """
    offline = {(verdict.topic, verdict.partition) for verdict in verdicts if verdict.state in OFFLINE}
    lost = {key: window for key, window in _lost(told).items() if key in offline}
    own = [window for (topic, _), window in lost.items() if topic == OFFSETS_TOPIC]
    known = {_OFFLINE: _first(lost.values()), _COORDINATORS: _first(own)}
    return tuple(_dated(finding, known.get(finding.check)) for finding in findings)


def _first(windows: Iterable[Window]) -> Window | None:
    return min(windows, key=lambda window: window.opened, default=None)


def _lost(told: Timeline) -> Mapping[Key, Window]:
    """Return when the last leader's registration was lost, for each partition without a leader ever since, if known."""
    gone = {span.closed_proof for span in told.spans if span.kind == "registered" and span.closed is not None} - told.unsettled
    still = [window for window in told.windows if window.kind is WindowKind.LEADERLESS and window.closed is None]
    return {(window.topic, window.partition): window for window in still if window.opened_proof in gone}


def _dated(finding: Finding, window: Window | None) -> Finding:
    since = None if window is None else instant(window.opened)
    if since is None or finding.status is not Status.FINDING or (finding.since is not None and finding.since < since):
        return finding
    return replace(finding, since=since, at_latest=window.opened_earliest is not None)
