"""What is asked about the offsets topic of a cluster that has none: nothing."""

from dataclasses import replace

from casebook.findings.finding import Finding, Status

TITLE = "There is no offsets topic: no group has ever committed to Kafka"


def not_asked(answer: Finding) -> Finding:
    """The answer to a question that does not arise."""
    return replace(answer, status=Status.NOT_APPLICABLE, severity=None, title=TITLE, why="", settle=None, next=(), since=None)
