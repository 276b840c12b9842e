"""``runs/index.html``: every run, newest first, what each says, and what changed since the one before."""

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from casebook.views.render import render
from casebook.views.view import asset

_KEPT_POINTS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run folder as the index reads it.

    Args:
        name: The folder's name.
        started: ISO-8601 UTC; the name when the record is unreadable.
        kind: Worst severity, ``ok``, or ``could_not_check`` for a run that did not complete.
        says: The worst finding's title, or what went wrong.
        checks: Status, severity and count by check.
    """

    name: str
    notebook: str
    case: str
    started: str
    seconds: float | None
    kind: str
    says: str
    checked: str
    checks: Mapping[str, tuple[str, str | None, int | None]]


def write_index(runs: Path) -> Path:
    """Write the index of a folder of runs, whole or not at all."""
    found = sorted(
        (_read(folder) for folder in runs.iterdir() if _is_run(folder)), key=lambda r: (r.started, r.name), reverse=True
    )
    path = runs / "index.html"
    partial = runs / ".index.html.partial"
    partial.write_text(index(found), encoding="utf-8")
    os.replace(partial, path)
    return path


def index(runs: Sequence[Run]) -> str:
    """The page over these runs, newest first."""
    series: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in reversed(runs):
        series[run.case, run.notebook].append(run)
    rows = []
    for run in runs:
        line = series[run.case, run.notebook]
        position = line.index(run)
        before = line[position - 1] if position else None
        rows.append(
            {"run": run, "since": _since(run, before), "newest": position == len(line) - 1, "spark": _spark(line[: position + 1])}
        )
    style, script = (Markup(asset(name)) for name in ("casebook.css", "index.js"))
    return str(render("runs_index", rows=rows, needing=_needing(runs), style=style + Markup(asset("report.css")), script=script))


def _is_run(folder: Path) -> bool:
    return (
        folder.is_dir()
        and not folder.name.startswith(".")
        and ((folder / "run.json").exists() or (folder / "notebook.ipynb").exists())
    )


def _read(folder: Path) -> Run:
    record, found = _json(folder / "run.json"), _json(folder / "findings.json")
    common = {
        "name": folder.name,
        "notebook": str(record.get("notebook") or "?"),
        "case": str(record.get("case") or record.get("source") or "?"),
        "started": str(record.get("started") or folder.name),
        "seconds": record["seconds"] if isinstance(record.get("seconds"), int | float) else None,
    }
    try:
        findings = found["findings"]
        checks = {f["check"]: (f["status"], f["severity"], _count(f)) for f in findings}
        counts = found["completeness"]
        asked = counts["ok"] + counts["finding"] + counts["could_not_check"]
        first = next((f for f in findings if f["status"] == "finding"), None)
        return Run(
            **common,
            kind=found["worst"] or "ok",
            says=first["title"] if first else f"nothing found in {counts['ok']} checks",
            checked=f"{asked - counts['could_not_check']} of {asked}",
            checks=checks,
        )
    except (KeyError, TypeError):
        said = record.get("error") or "its findings cannot be read"
        return Run(**common, kind="could_not_check", says=str(said), checked="?", checks={})


def _json(path: Path) -> Mapping:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _count(finding: Mapping) -> int | None:
    """The number a check is about: the fact named like the check, else its first plain number."""
    facts = finding["facts"]
    named = facts.get(finding["check"].rpartition(".")[2])
    numbers = [named, *facts.values()]
    return next((value for value in numbers if type(value) is int), None) if finding["status"] == "finding" else 0


def _since(run: Run, before: Run | None) -> str:
    """What is new, worse, better, gone or no longer checked."""
    if before is None:
        return "first run"
    if not before.checks or not run.checks:
        return "cannot be compared"
    said = []
    for check, (status, _, count) in run.checks.items():
        was_status, _, was = before.checks.get(check, ("not_applicable", None, 0))
        short = check.rpartition(".")[2].replace("_", " ")
        if status == "finding" and was_status != "finding":
            said.append(f"new: {short}")
        elif status == "finding" and count is not None and was is not None and count != was:
            said.append(f"{'worse' if count > was else 'better'}: {short} {was} → {count}")
        elif was_status == "finding" and status in ("ok", "not_applicable"):
            said.append(f"gone: {short}")
        elif status == "could_not_check" and was_status not in ("could_not_check", "not_applicable"):
            said.append(f"no longer checked: {short}")
    return "; ".join(said) or "nothing"


def _spark(line: Sequence[Run]) -> Mapping[str, object]:
    """The worst check's count over the last runs, from zero; unknown ones are gaps."""
    last = line[-1]
    worst = next(
        (check for check, (status, severity, _) in last.checks.items() if status == "finding" and severity == last.kind), None
    )
    points = [run.checks[worst][2] if worst in run.checks else (0 if run.kind == "ok" else None) for run in line[-_KEPT_POINTS:]]
    top = max((p for p in points if p is not None), default=0) or 1
    step = 100 / max(1, _KEPT_POINTS - 1)
    drawn = [(round(i * step, 1), round(20 - 16 * p / top, 1)) for i, p in enumerate(points) if p is not None]
    return {
        "points": " ".join(f"{x},{y}" for x, y in drawn),
        "end": drawn[-1] if drawn and points[-1] is not None else None,
        "value": points[-1],
    }


def _needing(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """The newest outcome of each case, those that need someone first."""
    rank = {"critical": 0, "warning": 1, "could_not_check": 2, "info": 3, "ok": 4}
    newest: dict[tuple[str, str], Run] = {}
    for run in runs:
        newest.setdefault((run.case, run.notebook), run)
    worst: dict[str, str] = {}
    for (case, _), run in newest.items():
        worst[case] = min(run.kind, worst.get(case, "ok"), key=lambda kind: rank.get(kind, 2))
    return sorted(worst.items(), key=lambda item: (rank.get(item[1], 2), item[0]))
