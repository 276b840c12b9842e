"""What has become of a cluster since the last run: changes, trends, and what only several runs together can tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from casebook.facts.cluster import Cluster
from casebook.facts.disks import Partition
from casebook.findings import changes
from casebook.findings.changes import CheckChange
from casebook.findings.finding import Finding, worst_first
from casebook.findings.past_runs import Measure, Written, outcomes
from casebook.kafka.verdict import Verdict
from casebook.questions.morning.analysis import since_checks
from casebook.questions.morning.analysis.measures import StateWrites, measures, moved
from casebook.questions.morning.analysis.run_line import RunLine
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """Everything the scheduled report shows of the runs before.

    Args:
        at: Of when the evidence is, epoch ms; ``None`` when the case does not say.
        line: Those runs.
        changes: Since the last of them; ``None`` when there is none.
        measures: Of this run.
        findings: One for every check, in a fixed order.
    """

    at: int | None
    line: RunLine
    changes: tuple[CheckChange, ...] | None
    measures: tuple[Measure, ...]
    findings: tuple[Finding, ...]


def examine(
    cluster: Cluster,
    *,
    at: int | None,
    line: RunLine,
    verdicts: Sequence[Verdict],
    copies: Sequence[OffsetsPartition],
    now: Mapping[Partition, Written],
    before: Mapping[Partition, Written] | None,
    findings: Sequence[Finding],
) -> Since:
    """Hold a run against those before it.

    Args:
        verdicts: Of every partition.
        copies: Of the offsets topic.
        now: How often states were written.
        before: The same at the last run; ``None`` when there is none, or it did not keep it.
        findings: All others of this run.
    """
    moves: Mapping[Partition, StateWrites] | None = None if before is None else moved(before, now)
    measured = measures(cluster, verdicts, copies, moves)
    own = since_checks.checks(line, at, measured, moves)
    told = outcomes(finding.as_json() for finding in worst_first((*findings, *own)))
    return Since(
        at=at,
        line=line,
        changes=changes.compare(line.last.outcomes, told) if line.last else None,
        measures=measured,
        findings=own,
    )
