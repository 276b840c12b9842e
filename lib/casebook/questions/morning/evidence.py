"""Comparison of a run with the runs before it."""

from collections.abc import Sequence
from dataclasses import dataclass

from casebook.findings.finding import Finding, worst_first
from casebook.findings.past_runs import Identity, PastRun, outcomes
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.morning.analysis import measures, run_line, since
from casebook.questions.morning.analysis.since import Since
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Morning:
    """One run of the scheduled report.

    Args:
        lead: Result of notebook 20.
        copies: Copies of the offsets topic.
        at: Time of the evidence, epoch ms; ``None`` when unknown.
        identity: Identity of the cluster.
        findings: Findings of every notebook.
    """

    lead: Leadership
    copies: Sequence[OffsetsPartition]
    at: int | None
    identity: Identity
    findings: Sequence[Finding]

    def since(self, past: Sequence[PastRun], *, against: str = "") -> Since:
        """Return the changes since the last run of the same cluster.

        Args:
            past: Earlier runs, of any cluster.
            against: Run to compare with; ``""`` for the last one.

        Raises:
            UsageError: The run does not exist.
        """
        line = run_line.RunLine(kept=())
        if self.at is not None:
            line = run_line.line(self.identity, self.at, self.lead.cluster.controller.epoch, past, against=against)
        return since.examine(
            self.lead.cluster,
            at=self.at,
            line=line,
            verdicts=self.lead.verdicts,
            copies=self.copies,
            now=measures.written(self.lead.verdicts),
            before=line.last.written() if line.last else None,
            findings=self.findings,
        )

    def as_past(self) -> PastRun:
        """Return this run, whose time is known, for a later one to compare with."""
        own = self.since(())
        return PastRun(
            name=self.identity.source,
            cluster=self.identity,
            at=self.at,
            outcomes=outcomes(finding.as_json() for finding in worst_first((*self.findings, *own.findings))),
            measures=own.measures,
            written=lambda: measures.written(self.lead.verdicts),
        )
