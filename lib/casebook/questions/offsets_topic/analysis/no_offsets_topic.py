"""Answers for a cluster without an offsets topic: not applicable."""

from dataclasses import replace

from casebook.findings.finding import Finding, Status

TITLE = "There is no offsets topic: no group has ever committed to Kafka"


def not_asked(answer: Finding) -> Finding:
    """Return the not applicable answer of a check."""
    return replace(answer, status=Status.NOT_APPLICABLE, severity=None, title=TITLE, why="", settle=None, next=(), since=None)
