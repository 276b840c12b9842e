"""Comparison of a run with the runs before it."""

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
    """Return the changes since the last run of the same cluster.

    Args:
        lead: Result of notebook 20.
        copies: Copies of the offsets topic.
        at: Time of the evidence, epoch ms; ``None`` when unknown.
        identity: Identity of the cluster.
        runs: Folder of the earlier runs.
        against: Run to compare with; ``""`` for the last one.
        findings: Findings of every notebook.

    Raises:
        UsageError: The run does not exist.
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
