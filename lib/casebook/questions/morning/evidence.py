"""What a run and the runs before it tell of what has changed."""

from collections.abc import Sequence
from pathlib import Path

from casebook.findings.finding import Finding
from casebook.findings.past_runs import Identity
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.morning.analysis import measures, run_line, since
from casebook.questions.morning.analysis.since import Since
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.runs import kept_runs


def examined(
    lead: Leadership,
    *,
    copies: Sequence[OffsetsPartition],
    at: int | None,
    identity: Identity,
    runs: Path,
    against: str,
    findings: Sequence[Finding],
) -> Since:
    """What has changed since the last run of the same cluster.

    Args:
        lead: The cluster as notebook 20 sees it.
        copies: Of the offsets topic.
        at: When the evidence was complete, epoch ms; ``None`` when that is not known.
        identity: What tells this cluster from another.
        runs: The folder of the earlier runs.
        against: The run to compare with; ``""`` for the last one.
        findings: Of every notebook.

    Raises:
        UsageError: There is no such run.
    """
    line = run_line.RunLine(kept=())
    if at is not None:
        line = run_line.line(identity, at, lead.cluster.controller.epoch, kept_runs.read(runs), against=against)
    return since.examine(
        lead.cluster,
        at=at,
        line=line,
        verdicts=lead.verdicts,
        copies=copies,
        now=measures.written(lead.verdicts),
        before=kept_runs.written(runs, line.last) if line.last else None,
        findings=findings,
    )
