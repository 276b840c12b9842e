"""``runs/index.html``: every run, newest first, what each says, and what changed since the one before.

Folders are read with distrust: whatever stands in a folder of runs is listed, readable or not.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from casebook.findings import Severity, Status
from casebook.views import text
from casebook.views.render import render
from casebook.views.sparkline import sparkline
from casebook.views.view import asset, stylesheet

MOST_RUNS = 500
_KEPT_POINTS = 14
_MOST_NAMED = 2
_INCOMPLETE = Status.COULD_NOT_CHECK.value
_RANK = {"critical": 0, "warning": 1, _INCOMPLETE: 2, "info": 3, "ok": 4}
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)_(\w+)_[0-9a-f]{4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How one check ended in one run.

    Args:
        severity: Of a finding.
        count: The number it is about; 0 when nothing was found, ``None`` when unknown.
    """

    status: Status
    severity: str | None
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run folder as the index reads it.

    Args:
        name: The folder's name.
        link: What to open: the report, else the folder.
        notebook: ``None`` when unknown, as are ``case``, ``started`` (ISO-8601 UTC) and ``seconds``.
        kind: Worst severity, ``ok``, or ``could_not_check`` for a run that did not complete or cannot be read.
        says: The worst finding's title, or what went wrong.
        checked: ``25 of 29``.
        checks: By name; empty when the findings cannot be read.
    """

    name: str
    link: str
    notebook: str | None
    case: str | None
    started: str | None
    seconds: float | None
    kind: str
    says: str
    checked: str = "?"
    checks: Mapping[str, Check] = field(default_factory=dict)


def write_index(runs: Path) -> Path:
    """Write the index of a folder of runs, whole or not at all."""
    folders = sorted((folder for folder in runs.iterdir() if _is_run(folder)), key=lambda folder: folder.name, reverse=True)
    found = sorted(map(_read, folders[:MOST_RUNS]), key=lambda run: (run.started or "", run.name), reverse=True)
    path = runs / "index.html"
    partial = runs / ".index.html.partial"
    partial.write_text(index(found, older=len(folders) - len(found)), encoding="utf-8", errors="replace")
    partial.replace(path)
    return path


def index(runs: Sequence[Run], *, older: int = 0) -> str:
    """The page over these runs, newest first.

    Args:
        older: How many more runs are not shown.
    """
    rows = []
    earlier: dict[tuple, list[Run]] = defaultdict(list)
    for run in reversed(runs):
        line = earlier[run.case, run.notebook]
        before = next((one for one in reversed(line) if one.checks), None)
        line.append(run)
        rows.append(
            {"run": run, "since": _since(run, before), "newest": False, "spark": sparkline(_points(line[-_KEPT_POINTS:]))}
        )
    newest = {id(line[-1]) for line in earlier.values()}
    for row in rows:
        row["newest"] = id(row["run"]) in newest
    return str(
        render(
            "runs_index",
            rows=rows[::-1],
            span=_span(runs),
            years=len({(run.started or "")[:4] for run in runs}) > 1,
            needing=_needing(runs),
            older=older,
            style=stylesheet() + Markup(asset("report.css")),
            script=Markup(asset("casebook.js") + asset("index.js")),
        )
    )


def _is_run(folder: Path) -> bool:
    if folder.name.startswith(".") or not folder.is_dir():
        return False
    return bool(_NAME.fullmatch(folder.name)) or any(
        (folder / name).exists() for name in ("run.json", "findings.json", "notebook.ipynb")
    )


def _read(folder: Path) -> Run:
    record, named = _json(folder / "run.json"), _NAME.fullmatch(folder.name)
    started = _text(record.get("started"))
    common = {
        "name": folder.name,
        "link": quote(os.fsencode(folder.name)) + ("/report.html" if (folder / "report.html").exists() else "/"),
        "notebook": _text(record.get("notebook")) or (named and named[5]),
        "case": _text(record.get("case")) or _case_meant(record),
        "started": started or (named and f"{named[1]}T{named[2]}:{named[3]}:{named[4]}Z"),
        "seconds": record["seconds"] if isinstance(record.get("seconds"), int | float) else None,
    }
    if error := record.get("error"):
        return Run(**common, kind=_INCOMPLETE, says=str(error))
    try:
        return Run(**common, **_outcome(_json(folder / "findings.json")))
    except (KeyError, TypeError, ValueError, AttributeError):
        return Run(**common, kind=_INCOMPLETE, says="its findings cannot be read")


def _case_meant(record: Mapping) -> str | None:
    """The case of a run that failed before it could open one, by its source."""
    parameters = record.get("parameters")
    source = _text(record.get("source")) or _text(isinstance(parameters, dict) and parameters.get("source"))
    return source and (source.removeprefix("sample:").rstrip("/").rpartition("/")[2] or source)


def _outcome(document: Mapping) -> dict[str, object]:
    """What the findings say; fails in some way on anything that is not a ``findings.json``."""
    findings, counts = document["findings"], document["completeness"]
    ok, unchecked = int(counts["ok"]), int(counts["could_not_check"])
    asked = ok + unchecked + int(counts["finding"])
    first = next((f for f in findings if f["status"] == Status.FINDING), None)
    return {
        "kind": Severity(document["worst"]).value if document["worst"] else "ok" if ok else _INCOMPLETE,
        "says": str(first["title"])
        if first
        else f"nothing found in {text.plural(ok, 'check')}"
        if ok
        else "nothing could be checked",
        "checked": f"{text.count(asked - unchecked)} of {text.count(asked)}",
        "checks": {str(f["check"]): _check(f) for f in findings},
    }


def _check(finding: Mapping) -> Check:
    status = Status(finding["status"])
    count = {Status.OK: 0, Status.NOT_APPLICABLE: 0, Status.COULD_NOT_CHECK: None}.get(status)
    return Check(status=status, severity=finding["severity"], count=_number(finding) if status is Status.FINDING else count)


def _number(finding: Mapping) -> int | None:
    """The number a finding is about: the fact named like the check, else its first plain number."""
    facts = finding["facts"]
    candidates = [facts.get(finding["check"].rpartition(".")[2]), *facts.values()]
    return next((value for value in candidates if type(value) is int), None)


def _json(path: Path) -> Mapping:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _since(run: Run, before: Run | None) -> str:
    """What is new, worse, better, gone or no longer checked."""
    if not run.checks:
        return "cannot be compared"
    if before is None:
        return "first run"
    said: dict[str, list[str]] = {"new": [], "worse": [], "better": [], "gone": [], "no longer checked": []}
    for name in {**run.checks, **before.checks}:
        how, detail = _compare(run.checks.get(name), before.checks.get(name))
        if how:
            said[how].append(f"{name.rpartition('.')[2].replace('_', ' ')}{detail}")
    return "; ".join(f"{len(names)} {how}: {_named(names)}" for how, names in said.items() if names) or "nothing"


def _compare(now: Check | None, before: Check | None) -> tuple[str, str]:
    """In one word how a check changed, and its numbers."""
    found, was_found = (check is not None and check.status is Status.FINDING for check in (now, before))
    ran, did_run = (check is not None and check.status in (Status.OK, Status.FINDING) for check in (now, before))
    if found and not was_found:
        return "new", f" {text.count(now.count)}" if now.count else ""
    if found and None not in (now.count, before.count) and now.count != before.count:
        return "worse" if now.count > before.count else "better", f" {text.count(before.count)} → {text.count(now.count)}"
    if was_found and now is not None and now.status in (Status.OK, Status.NOT_APPLICABLE):
        return "gone", ""
    return (
        ("no longer checked", "") if did_run and not ran and (now is None or now.status is Status.COULD_NOT_CHECK) else ("", "")
    )


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _points(line: Sequence[Run]) -> tuple[Sequence[int | None], str]:
    """The count of the worst check of late, over the last runs, and the last run's outcome."""
    worst = next((name for run in reversed(line) for name, check in run.checks.items() if check.severity == run.kind), None)
    unchecked = Check(status=Status.COULD_NOT_CHECK, severity=None, count=None)
    if worst is None:
        return [0 if run.kind == "ok" else None for run in line], line[-1].kind
    return [run.checks.get(worst, unchecked).count for run in line], line[-1].kind


def _span(runs: Iterable[Run]) -> str:
    """From the first day to the last."""
    started = sorted(run.started for run in runs if run.started)
    if not started:
        return ""
    first, last = text.day(started[0]), text.day(started[-1])
    return last if first == last else f"{first} to {last}"


def _needing(runs: Sequence[Run]) -> Mapping[bool, Sequence[tuple[str, str]]]:
    """The newest outcome of each case, its worst notebook; those that need someone, and those that do not."""
    newest: dict[tuple, Run] = {}
    for run in runs:
        newest.setdefault((run.case, run.notebook), run)
    worst: dict[str, str] = {}
    for run in newest.values():
        if run.case is not None:
            worst[run.case] = min(run.kind, worst.get(run.case, "ok"), key=_RANK.__getitem__)
    ranked = sorted(worst.items(), key=lambda item: (_RANK[item[1]], item[0]))
    return {needs: [item for item in ranked if (_RANK[item[1]] < _RANK["info"]) is needs] for needs in (True, False)}
