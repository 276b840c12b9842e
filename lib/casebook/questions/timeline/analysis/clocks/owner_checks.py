"""Check on the owners of logs."""

from collections import Counter
from collections.abc import Mapping, Sequence

from casebook.facts.events import FileExtent, LogFile
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Question, Severity, Step
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, brokers, plural
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.clocks.owners import SPEAKER, stated
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows.silences import COLLECT_LOGS
from casebook.questions.timeline.analysis.words import named


def owners(scene: TimelineInputs) -> Finding:
    """Is each log of the broker that it was given for?"""
    tallies = {file.file: Counter(dict(file.speakers)) for file in scene.files if file.speakers}
    wrong = [file for file in scene.files if file.broker != stated(file.file)]
    own = [file for file in scene.files if file.broker is not None and not file.is_empty]
    ask = Question(
        check="timeline.owners",
        question="Does each log belong to the broker that it was collected for?",
        coverage=Coverage.counted(sum(file.extent is not FileExtent.NOT for file in own), len(own), "log", Source.LOGS),
        threshold="any log whose lines name another broker",
        facts={"misplaced": {file.file: _fact(file, tallies) for file in wrong}},
        evidence=tuple(proof(text) for text in _examples(scene.rows, wrong)[:SHOWN]),
    )
    if wrong:
        return _misplaced(ask, wrong, tallies, own)
    if not any(file.broker is not None for file in scene.files):
        return ask.could_not_check("There is no broker log", settle=COLLECT_LOGS)
    if not tallies:
        return ask.could_not_check(
            "No line names the broker that wrote it", settle="Add server.log and controller.log: their lines name their broker."
        )
    return ask.ok(
        "Every log names the broker that it was collected for, or none", gaps=coverage.unread_logs(scene.files, scene.cluster)
    )


def _misplaced(ask: Question, wrong: Sequence[LogFile], tallies: Mapping[str, Counter[int]], own: Sequence[LogFile]) -> Finding:
    given = sorted({stated(file.file) for file in wrong})
    whose = {file.broker for file in wrong}
    only = next(iter(whose)) if len(whose) == 1 else None
    mixed = any(tallies.get(file.file, {}).get(stated(file.file)) for file in wrong)
    silent = any(file.broker is None and not tallies.get(file.file) for file in wrong)
    doubt = ", or may not be" if silent else ", or not theirs alone" if mixed else ""
    owner = f"not theirs{doubt}" if only is None else f"broker {only}'s"
    untold = any(stated(file.file) in given and not tallies.get(file.file) for file in own if file not in wrong)
    least = "At least " if (doubt and only is None) or untold else ""  # a few lines in a file prove nothing
    return ask.found(
        Severity.WARNING,
        f"{least}{plural(len(wrong), 'log')} collected for {brokers(given)} {agree(len(wrong), 'is', 'are')} {owner}",
        why=" ".join(_described(file, tallies.get(file.file, Counter())) for file in wrong[:SHOWN]),
        next=(Step(kind="first", text=f"Collect the logs again, each broker's under its own id: {COLLECT_LOGS}."),),
        caveats=("Their lines count for the broker that they name, not for the one that they were collected for.",),
    )


def _described(file: LogFile, tally: Mapping[int, int]) -> str:
    if not tally:
        taken = f"is taken for {named(file.broker)}'s" if file.broker is not None else "is assigned to no broker"
        others = f"other logs of the same collection are not of broker {stated(file.file)}, or not only"
        return f"{file.file} names no broker and {taken}, as {others}."
    total = sum(tally.values())
    by_count = sorted(tally.items(), key=lambda counted: (-counted[1], counted[0]))
    counts = ", ".join(f"{count} of broker {broker}" for broker, count in by_count)
    return f"{file.file}: of {plural(total, 'line')} that {agree(total, 'names', 'name')} a broker, {counts}."


def _fact(file: LogFile, tallies: Mapping[str, Counter[int]]) -> dict[str, object]:
    tally = tallies.get(file.file, {})
    return {"stated": stated(file.file), "broker": file.broker, "named": {str(broker): tally[broker] for broker in sorted(tally)}}


def _examples(rows: Sequence[EventRow], wrong: Sequence[LogFile]) -> list[str]:
    """Return the first line of each log that names another broker."""
    first: dict[str, str] = {}
    files = {file.file for file in wrong}
    for row in rows:
        if row.file in files and row.number(SPEAKER) not in (None, stated(row.file)):
            first.setdefault(row.file, row.proof)
    return list(first.values())
