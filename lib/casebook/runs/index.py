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

from casebook.case.case import LIVE
from casebook.findings import changes
from casebook.findings.changes import Change, How
from casebook.findings.past_runs import Outcome, outcomes
from casebook.machine import whole
from casebook.page import text
from casebook.page.render import render
from casebook.page.sparkline import Sparkline, sparkline
from casebook.page.view import asset, stylesheet
from casebook.runs import history, summary

MOST_RUNS = 500
_KEPT_POINTS = 14
_MOST_NAMED = 2
_ENDLESS = 1e12
"""Seconds that no run takes."""

_INCOMPLETE = "could_not_complete"
_RANK = {"critical": 0, "warning": 1, _INCOMPLETE: 2, "could_not_check": 3, "info": 4, "ok": 5}
NAME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)_(\w+)_[0-9a-f]{4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run folder as the index reads it.

    Args:
        name: The folder's name.
        link: What to open: the report, else the folder.
        notebook: ``None`` when unknown, as are ``case``, ``started`` (ISO-8601 UTC) and ``seconds``.
        kind: As :func:`casebook.runs.summary.kind` says; ``could_not_complete`` for a run that did not, or cannot be read.
        says: The worst finding's title, or what went wrong.
        checked: ``25 of 29``.
        checks: How each ended, by name; empty when the findings cannot be read.
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
    checks: Mapping[str, Outcome] = field(default_factory=dict)

    @property
    def line(self) -> tuple[str | None, str | None]:
        """What runs of one line share, of which each continues the one before: case and notebook."""
        return self.case, self.notebook


def write_index(runs: Path) -> Path:
    """Write the index of a folder of runs, whole or not at all."""
    folders = _folders(runs)
    found = _newest_first(map(_read, folders[:MOST_RUNS]))
    path = runs / "index.html"
    whole.write(path, index(found, older=len(folders) - len(found)))
    return path


def every(runs: Path) -> Sequence[Run]:
    """All runs of a folder, newest first."""
    return _newest_first(map(_read, _folders(runs)))


def _folders(runs: Path) -> Sequence[Path]:
    return sorted((folder for folder in runs.iterdir() if _is_run(folder)), key=lambda folder: folder.name, reverse=True)


def _newest_first(runs: Iterable[Run]) -> Sequence[Run]:
    return sorted(runs, key=lambda run: (run.started or "", run.name), reverse=True)


def index(runs: Sequence[Run], *, older: int = 0) -> str:
    """The page over these runs, newest first.

    Args:
        older: How many more runs are not shown.
    """
    rows = []
    earlier: dict[tuple[str | None, str | None], list[Run]] = defaultdict(list)
    for run in reversed(runs):
        line = earlier[run.line]
        before = next((one for one in reversed(line) if one.checks), None)
        line.append(run)
        rows.append({"run": run, "since": _since(run, before), "newest": False, "spark": _spark(line[-_KEPT_POINTS:])})
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
            histories=history.histories(runs),
            case_names=sorted({run.case for run in runs if run.case}),
            notebook_names=sorted({run.notebook for run in runs if run.notebook}),
            older=older,
            style=stylesheet() + Markup(asset("report.css")),
            script=Markup(asset("casebook.js") + asset("index.js")),
        )
    )


def _is_run(folder: Path) -> bool:
    if folder.name.startswith(".") or not folder.is_dir():
        return False
    return bool(NAME.fullmatch(folder.name)) or any(
        (folder / name).exists() for name in ("run.json", "findings.json", "notebook.ipynb")
    )


def _read(folder: Path) -> Run:
    record, named = _json(folder / "run.json"), NAME.fullmatch(folder.name)
    started = _text(record.get("started"))
    common = {
        "name": folder.name,
        "link": quote(os.fsencode(folder.name)) + ("/report.html" if (folder / "report.html").exists() else "/"),
        "notebook": _text(record.get("notebook")) or (named and named[5]),
        "case": _case(record),
        "started": started or (named and f"{named[1]}T{named[2]}:{named[3]}:{named[4]}Z"),
        "seconds": _seconds(record.get("seconds")),
    }
    if error := record.get("error"):
        return Run(**common, kind=_INCOMPLETE, says=str(error))
    try:
        return Run(**common, **_outcome(_json(folder / "findings.json")))
    except (KeyError, TypeError, ValueError, AttributeError):
        return Run(**common, kind=_INCOMPLETE, says="its findings cannot be read")


def _seconds(value: object) -> float | None:
    """A duration; whatever else can stand there, as NaN and 1e999 can in Python's JSON, is none."""
    return value if isinstance(value, int | float) and 0 <= value < _ENDLESS else None


def _case(record: Mapping) -> str | None:
    """What a run was about: a live cluster by its source, as each run collects a case of its own; else the case, which a run that
    failed before it could open one names by its source, too."""
    parameters = record.get("parameters")
    source = _text(record.get("source")) or _text(isinstance(parameters, dict) and parameters.get("source"))
    if source and source.startswith(LIVE):
        return source
    return _text(record.get("case")) or (source and (source.removeprefix("sample:").rstrip("/").rpartition("/")[2] or source))


def _outcome(document: Mapping) -> dict[str, object]:
    """What the findings say; fails in some way on anything that is not a ``findings.json``."""
    findings, counts = document["findings"], document["completeness"]
    ok, unchecked = int(counts["ok"]), int(counts["could_not_check"])
    asked = ok + unchecked + int(counts["finding"])
    kind, says = summary.said(document)
    return {
        "kind": kind,
        "says": str(says),
        "checked": f"{text.count(asked - unchecked)} of {text.count(asked)}",
        "checks": outcomes(findings),
    }


def _json(path: Path) -> Mapping:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _since(run: Run, before: Run | None) -> str:
    """What is new, worse, better, gone or no longer checked or asked."""
    if not run.checks:
        return "cannot be compared"
    if before is None:
        return "first run"
    said: dict[How, list[str]] = {how: [] for how in _IN_WORDS}
    for change in changes.compare(before.checks, run.checks):
        said[change.how].append(_changed(change))
    return "; ".join(f"{len(names)} {_IN_WORDS[how]}: {_named(names)}" for how, names in said.items() if names) or "nothing"


_IN_WORDS = {how: how.value.replace("_", " ") for how in How}


def _changed(change: Change) -> str:
    """The check's own word, with its numbers where there are any."""
    name = change.check.rpartition(".")[2].replace("_", " ")
    before, now = (text.count(int(said)) if said.isdecimal() else "" for said in (change.before, change.now))
    if change.how is How.NEW:
        return f"{name} {now}".rstrip()
    return f"{name} {before} → {now}" if before and now and change.how in (How.WORSE, How.BETTER) else name


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _spark(line: Sequence[Run]) -> Sparkline:
    """The count of the check that the last run's row speaks of, else of the worst of late, over the last runs."""
    drawn = next((name for run in reversed(line) if (name := _spoken_of(run)) is not None), None)
    if drawn is None:
        return sparkline(([0 if run.kind == "ok" else None for run in line], line[-1].kind))
    return sparkline((history.counts([run.checks.get(drawn) for run in line]), line[-1].kind), of=drawn)


def _spoken_of(run: Run) -> str | None:
    """The check whose finding is what a run says, else the first that is as bad."""
    bad = {name: check for name, check in run.checks.items() if check.severity == run.kind}
    return next((name for name, check in bad.items() if check.title == run.says), next(iter(bad), None))


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
        newest.setdefault(run.line, run)
    worst: dict[str, str] = {}
    for run in newest.values():
        if run.case is not None:
            worst[run.case] = min(run.kind, worst.get(run.case, "ok"), key=_RANK.__getitem__)
    ranked = sorted(worst.items(), key=lambda item: (_RANK[item[1]], item[0]))
    return {needs: [item for item in ranked if (_RANK[item[1]] < _RANK["info"]) is needs] for needs in (True, False)}
