"""Result of a run for alerting: ``summary.json``, and from it one line, a Prometheus text file and a webhook's body.

    {"schema": 1, "run", "notebook", "source", "case", "collected_at", "started", "ended", "seconds", "exit_code", "completed",
     "verdict", "since", "first", "why", "error", "worst", "checks": {outcome: count}, "findings": [...],
     "could_not_check": [...], "changes": {how: count}, "report": {"run", "started", "age_seconds"}}

Unknown values are null; ``docs/schedules/README.md`` has every field.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from casebook.errors import CasebookError
from casebook.findings import words
from casebook.findings.changes import ChangeKind
from casebook.findings.finding import UNREADABLE, Completeness, Severity, Status, at_or_above, undecided
from casebook.findings.headline import BELOW, headline
from casebook.findings.past_runs import RUN_BEFORE
from casebook.machine import whole
from casebook.page import text

SCHEMA = 1
FILE = "summary.json"
COULD_NOT_COMPLETE = 3
_EXIT_CODES = {Severity.WARNING: 1, Severity.CRITICAL: 2, Severity.INFO: 1}
_CHANGES = "changes"
_NO_SUMMARY = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, OSError)
"""Errors from summarising anything but a run; the last is for times outside the system clock's range."""

Document = Mapping[str, object]


def exit_code(found: Document, fail_on: Severity = Severity.WARNING) -> int:
    """Return the exit code of findings: never 0 when given evidence was unreadable.

    Args:
        found: ``findings.json``.
        fail_on: Lowest severity for a nonzero code.
    """
    worst = Severity(found["worst"]) if found["worst"] else None
    if undecided(worst, Completeness(**found["completeness"])):
        return COULD_NOT_COMPLETE
    return _EXIT_CODES[worst] if at_or_above(worst, fail_on) else 0


def kind(worst: str | None, checks: Mapping[str, int]) -> str:
    """``could_not_check`` when no overall conclusion is possible, else the worst severity, else ``ok``.

    Args:
        worst: The worst severity; ``None`` for none.
        checks: Number of checks by outcome.
    """
    severity = Severity(worst) if worst else None
    if undecided(severity, Completeness(**checks)):
        return Status.COULD_NOT_CHECK.value
    return severity.value if severity else Status.OK.value


def summary(record: Document, found: Document | None, changes: Sequence[str] | None, *, run: str) -> dict[str, object]:
    """Build a summary.

    Args:
        record: ``run.json``.
        found: ``findings.json``; ``None`` for an incomplete run.
        changes: Kind of each change in ``tables/changes``; ``None`` when the notebook does not compare.
        run: Name of the run folder.
    """
    error = record.get("error")
    completed = found is not None and error is None
    first = headline(found) if completed else None
    started, seconds = record["started"], record["seconds"]
    own = {"run": run, "started": started, "age_seconds": round(seconds)}
    return {
        "schema": SCHEMA,
        "run": run,
        "notebook": record["notebook"],
        "source": record.get("source") or (record.get("parameters") or {}).get("source"),
        "case": record.get("case"),
        "collected_at": record.get("collected_at"),
        "started": started,
        "ended": _iso(_epoch(started) + seconds),
        "seconds": seconds,
        "exit_code": record.get("exit_code", exit_code(found) if completed else COULD_NOT_COMPLETE),
        "completed": completed,
        "verdict": first.line if first else f"COULD NOT COMPLETE: {_one_line(error or 'it did not reach its last cell')}",
        **dict.fromkeys(BELOW, None),
        **(first.below if first else {}),
        "error": error,
        "worst": found["worst"] if completed else None,
        "checks": dict(found["completeness"]) if completed else None,
        "findings": _short(found, Status.FINDING) if completed else None,
        "could_not_check": _short(found, Status.COULD_NOT_CHECK) if completed else None,
        "changes": dict(sorted(Counter(changes).items())) if completed and changes is not None and _compared(found) else None,
        "report": own if completed else None,
    }


def beside(document: Document, report: Document | None) -> dict[str, object]:
    """Return a summary with the report next to it, which may be another run's.

    Args:
        report: Run and start of the existing report; ``None`` without one.
    """
    age = None if report is None else round(_epoch(document["ended"]) - _epoch(report["started"]))
    return dict(document) | {"report": report and {"run": report["run"], "started": report["started"], "age_seconds": age}}


def of_folder(folder: Path, *, run: str | None = None) -> dict[str, object]:
    """Return the summary of a run folder, from its record, findings and changes.

    Args:
        run: Name of the run, when the folder does not have it yet.

    Raises:
        CasebookError: It is not a run folder, or a damaged one.
    """
    record = _json(folder / "run.json")
    if record is None or not {"notebook", "started", "seconds"} <= record.keys():
        raise CasebookError(f"{folder} has no record of a run.", try_="Use a run folder, or a --publish destination.")
    found = _json(folder / "findings.json")
    changes = _changes(folder) if found is not None and record.get("error") is None else None
    try:
        document = summary(record, found, changes, run=run or folder.name)
    except _NO_SUMMARY:
        document = None
    if document is None or not is_one(document):
        raise CasebookError(
            f"{folder} has a record or findings that casebook did not write.",
            cause="run.json or findings.json was damaged or changed after the run.",
            try_="Use another run; `casebook runs` lists them.",
        )
    return document


def write(folder: Path, document: Document) -> None:
    """Write ``summary.json``."""
    whole.write(folder / FILE, encoded(document))


def encoded(document: Document) -> str:
    """Encode a summary."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def is_overdue(document: Document, max_age: float) -> bool:
    """Whether the run ended longer ago than the maximum age.

    Args:
        max_age: In seconds.
    """
    return time.time() - _epoch(document["ended"]) > max_age


def line(document: Document, *, overdue: bool = False) -> str:
    """Format one line for people: result, subject, changes, time; and the report's age when it is another run's.

    Args:
        overdue: The next run is overdue, which is stated first.
    """
    parts = [
        f"NO RUN SINCE {document['ended']}: {document['verdict']}" if overdue else f"{document['verdict']}",
        *(f"{name}: {document[name]}" for name in BELOW if document.get(name)),
        f"{document['notebook']} {document['source']}",
        _changed(document["changes"]),
        f"{document['started']}, {document['seconds']:.0f} s",
        _old(document),
    ]
    return _one_line(" | ".join(filter(None, parts)))


def webhook(document: Document, *, overdue: bool = False) -> str:
    """Format a body for chat and paging services: ``text`` for people, ``status`` for routing, the whole summary for scripts.

    Args:
        overdue: The next run is overdue: the status is ``missing``.
    """
    word = "missing" if overdue else status(document)
    return json.dumps({"text": line(document, overdue=overdue), "status": word, "summary": document}, ensure_ascii=False) + "\n"


def status(document: Document) -> str:
    """Status in one word: ``could_not_complete``, ``could_not_check``, ``critical``, ``warning``, ``info`` or ``ok``."""
    if not document["completed"]:
        return "could_not_complete"
    return kind(document["worst"], document["checks"])


def prometheus(document: Document) -> str:
    """Format the summary in Prometheus' text format. Unknown values have no sample: they are never 0."""
    said = []
    for name, meaning, samples in _metrics(document):
        known = [(labels, value) for labels, value in samples if value is not None]
        if known:
            said += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]
            said += [f"{name}{{{_labels(document, labels)}}} {value:.15g}" for labels, value in known]
    return "\n".join(said) + "\n"


_Samples = list[tuple[dict[str, str], float | None]]


def _metrics(document: Document) -> Iterator[tuple[str, str, _Samples]]:
    def one(value: float | None) -> _Samples:
        return [({}, value)]

    yield (
        "casebook_run_exit_code",
        "Of the last run: 0, 1 warning, 2 critical, 3 not complete.",
        one(document["exit_code"]),
    )
    yield "casebook_run_completed", "Whether the last run reached its end.", one(int(document["completed"]))
    yield "casebook_run_started_timestamp_seconds", "When the last run began.", one(_epoch(document["started"]))
    yield "casebook_run_ended_timestamp_seconds", "When the last run ended.", one(_epoch(document["ended"]))
    yield "casebook_run_duration_seconds", "How long the last run took.", one(document["seconds"])
    yield "casebook_report_timestamp_seconds", "When the run of the published report began.", one(_reported(document))
    counts = document["checks"] or {}
    yield (
        "casebook_checks",
        "Checks by how they ended.",
        [({"outcome": how}, count) for how, count in counts.items() if how != UNREADABLE],
    )
    if document["completed"]:
        severities = Counter(finding["severity"] for finding in document["findings"])
        yield "casebook_findings", "Findings by severity.", [({"severity": s.value}, severities[s.value]) for s in Severity]
        named = Counter((finding["check"], finding["severity"]) for finding in document["findings"])
        labels = [({"check": check, "severity": severity}, count) for (check, severity), count in sorted(named.items())]
        yield "casebook_finding", "Findings of a check; a check without findings has no sample.", labels
        unchecked = sorted({finding["check"] for finding in document["could_not_check"]})
        yield "casebook_check_unanswered", "Checks that could not be answered.", [({"check": check}, 1) for check in unchecked]
    changes = document["changes"] or {}
    yield "casebook_changes", "Changes since the previous run.", [({"how": how}, count) for how, count in changes.items()]


def is_one(document: Document) -> bool:
    """Whether a document is a summary that every format accepts."""
    try:
        webhook(document)
        prometheus(document)
        _epoch(document["ended"])
    except _NO_SUMMARY:
        return False
    return True


def began_later(document: Document | None, other: Document) -> bool:
    """Whether a run, or the run of its report, started after another one; ``False`` without one.

    A start time in the future comes from a wrong clock: the run would precede all others until then.
    """
    return document is not None and _epoch(other["started"]) < _epoch(document["started"]) <= time.time()


def _labels(document: Document, more: Mapping[str, str]) -> str:
    labels = {"notebook": document["notebook"], "source": document["source"] or ""} | more
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    return value.encode(errors="replace").decode().replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _reported(document: Document) -> float | None:
    return _epoch(document["report"]["started"]) if document["report"] else None


def _short(found: Document, status: Status) -> list[dict[str, object]]:
    keys = ("check", "severity", "title", "since", "at_latest") if status is Status.FINDING else ("check", "title")
    return [{key: finding.get(key) for key in keys} for finding in found["findings"] if finding["status"] == status]


def _changed(changes: Mapping[str, int] | None) -> str:
    if changes is None:
        return ""
    known = tuple(ChangeKind)
    ordered = sorted(changes, key=lambda how: known.index(how) if how in known else len(known))
    return "since the previous run: " + (", ".join(f"{changes[how]} {how.replace('_', ' ')}" for how in ordered) or "nothing")


def _old(document: Document) -> str:
    report = document["report"]
    if report is None:
        return "there is no report"
    if report["run"] == document["run"]:
        return ""
    return f"the report is of {report['started']}, {text.duration(1000 * report['age_seconds'])} old".replace(words.THIN, " ")


def _compared(found: Document) -> bool:
    """Whether a previous run was compared: a first run has no changes, which does not mean that nothing changed."""
    asked = next((finding for finding in found["findings"] if finding["check"] == RUN_BEFORE), None)
    return asked is None or asked["facts"].get("run") is not None


def _changes(folder: Path) -> list[str] | None:
    path = folder / "tables" / f"{_CHANGES}.parquet"
    if not path.is_file():
        return None
    import pyarrow.parquet

    try:
        hows = pyarrow.parquet.read_table(path, columns=["how"]).column("how").to_pylist()
    except (OSError, ValueError, KeyError, NotImplementedError):  # a partial or foreign file: unknown
        return None
    return hows if all(isinstance(how, str) for how in hows) else None


def _json(path: Path) -> dict[str, object] | None:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _one_line(words: str) -> str:
    return " ".join(str(words).split())


def _epoch(instant: str) -> float:
    return datetime.fromisoformat(instant).timestamp()


def _iso(epoch: float) -> str:
    return f"{datetime.fromtimestamp(epoch, UTC):%Y-%m-%dT%H:%M:%SZ}"
