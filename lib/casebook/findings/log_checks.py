"""Check on the readability of logs."""

from collections.abc import Iterable

from casebook.errors import CasebookError
from casebook.facts import events
from casebook.facts.events import LogFile
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import UNREADABLE, Coverage, Finding, Question
from casebook.findings.proof import SHOWN
from casebook.findings.words import plural


def unread(files: Iterable[LogFile], reason: CasebookError | None = None) -> tuple[Finding, ...]:
    """Return a finding for logs that are unreadable or incomplete; nothing when all were read.

    Args:
        files: Coverage of the logs.
        reason: Reason why none of them was read.
    """
    every = list(files)
    hit = events.unread(every)
    if not hit and reason is None:
        return ()
    ask = Question(
        check="evidence.logs",
        question="Could the logs be read?",
        coverage=Coverage.counted(len(every) - len(hit), len(every), "log", Source.LOGS),
        threshold="a log that is cut off, or has no line in a known layout",
        facts={UNREADABLE: [file.file for file in hit]},
        evidence=tuple(Evidence(file=file.file) for file in hit[:SHOWN]),
    )
    if reason is not None:
        return (ask.could_not_check(f"The logs were not read: {reason.what}", settle=reason.try_ or "Run `casebook doctor`."),)
    reasons = "; ".join(coverage.not_read(file) for file in hit[:3])
    title = f"{plural(len(hit), 'log')} could not be read in full"
    return (ask.could_not_check(title, why=f"{reasons}.", settle=coverage.read_again(hit)),)
