"""Development of a cluster since the last run: changes, trends, and checks over several runs."""

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
    """Content of the scheduled report on earlier runs.

    Args:
        at: Time of the evidence, epoch ms; ``None`` when unknown.
        line: Earlier runs.
        changes: Changes since the last of them; ``None`` without one.
        measures: Measures of this run.
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
    """Compare a run with earlier ones.

    Args:
        verdicts: Verdicts on every partition.
        copies: Copies of the offsets topic.
        now: Write counters of states.
        before: The same at the last run; ``None`` without one, or when not recorded.
        findings: All other findings of this run.
    """
    moves: Mapping[Partition, StateWrites] | None = None if before is None else moved(before, now)
    measured = measures(cluster, verdicts, copies, moves)
    own = since_checks.checks(line, at, measured, moves, cluster.proofs)
    told = outcomes(finding.as_json() for finding in worst_first((*findings, *own)))
    return Since(
        at=at,
        line=line,
        changes=changes.compare(line.last.outcomes, told) if line.last else None,
        measures=measured,
        findings=own,
    )
