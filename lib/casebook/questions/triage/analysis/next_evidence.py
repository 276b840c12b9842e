"""What to collect next for a case with few answers, by the open checks."""

from collections import Counter
from collections.abc import Collection, Sequence

from casebook.facts.observed import Source
from casebook.findings.declared import area_of
from casebook.findings.finding import Coverage, Finding, Question, Severity, Status, Step, completeness
from casebook.findings.words import agree, plural

CHECK = "evidence.next"
_COMMANDS = {
    Source.ZNODES: "casebook collect --zookeeper HOST:2181 --out ANOTHER-FOLDER",
    Source.LOGS: "casebook collect --logs BROKER='/var/log/kafka/*.log*' --out ANOTHER-FOLDER",
    Source.HISTORY: "casebook collect --zookeeper-data DATA-DIR --out ANOTHER-FOLDER",
    Source.LOG_DIRS: "casebook collect --log-dirs BROKER=/var/lib/kafka --out ANOTHER-FOLDER",
}
"""Commands for each kind of evidence, in order of preference: current leaders and live brokers first."""


def check(findings: Sequence[Finding], absent: Collection[Source], *, kraft: bool) -> tuple[Finding, ...]:
    """Return what to collect next; nothing when most is answered, or no missing evidence would help.

    Args:
        findings: Findings of all checks.
        absent: Kinds of evidence that the case lacks.
        kraft: There is no ZooKeeper.
    """
    counts = completeness(findings)
    missing = {source for source in absent if not (kraft and source in (Source.ZNODES, Source.HISTORY))}
    waiting = Counter(
        source
        for finding in findings
        if finding.status is Status.COULD_NOT_CHECK and (source := area_of(finding.check).rests_on) in missing
    )
    if not counts.inconclusive or not waiting:
        return ()
    source = next(source for source in _COMMANDS if waiting[source])
    count = waiting[source]
    ask = Question(
        check=CHECK,
        question="Which evidence would answer most questions?",
        coverage=Coverage.counted(counts.asked - counts.could_not_check, counts.asked, "question", Source.CASE),
        facts={"source": source.value},
    )
    title = (
        f"Collect {source} next: {plural(count, 'open question')} {agree(count, 'needs', 'need')} {agree(count, 'it', 'them')}"
    )
    step = Step(
        kind="first", text="Collect it together with the sources of this case, into one new case.", command=_COMMANDS[source]
    )
    return (ask.found(Severity.INFO, title, next=(step,)),)
