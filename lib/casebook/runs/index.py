"""``runs/index.html``: every run, newest first, with its result and changes since the one before."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from casebook.findings import changes, words
from casebook.findings.changes import ChangeKind, CheckChange
from casebook.machine import whole
from casebook.page.assets import asset, stylesheet
from casebook.page.render import render
from casebook.page.sparkline import Sparkline, sparkline
from casebook.runs import history
from casebook.runs.found import INCOMPLETE, Run, newest

MOST_RUNS = 500
_KEPT_POINTS = 14
_MOST_NAMED = 2
_RANK = {"critical": 0, "warning": 1, INCOMPLETE: 2, "could_not_check": 3, "info": 4, "ok": 5}


def write_index(runs: Path) -> Path:
    """Write the index of a folder of runs atomically."""
    found, older = newest(runs, MOST_RUNS)
    path = runs / "index.html"
    whole.write(path, index(found, older=older))
    return path


def index(runs: Sequence[Run], *, older: int = 0) -> str:
    """Return the page over these runs, newest first.

    Args:
        older: Number of runs not shown.
    """
    rows = []
    earlier: dict[tuple[str | None, str | None], list[Run]] = defaultdict(list)
    for run in reversed(runs):
        line = earlier[run.line]
        before = next((one for one in reversed(line) if one.checks), None)
        line.append(run)
        rows.append({"run": run, "since": _since(run, before), "newest": False, "spark": _spark(line[-_KEPT_POINTS:])})
    latest = {id(line[-1]) for line in earlier.values()}
    for row in rows:
        row["newest"] = id(row["run"]) in latest
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


def _since(run: Run, before: Run | None) -> str:
    """Counts of new, worse, better, gone, and no longer checked or asked."""
    if not run.checks:
        return "cannot be compared"
    if before is None:
        return "first run"
    said: dict[ChangeKind, list[str]] = {how: [] for how in _IN_WORDS}
    for change in changes.compare(before.checks, run.checks):
        said[change.how].append(_changed(change))
    return (
        "; ".join(
            f"{len(names)} {_IN_WORDS[how]}: {words.some(names, _MOST_NAMED, ', ', ' and')}"
            for how, names in said.items()
            if names
        )
        or "nothing"
    )


_IN_WORDS = {how: how.value.replace("_", " ") for how in ChangeKind}


def _changed(change: CheckChange) -> str:
    """Name of the check, with its numbers if any."""
    name = change.check.rpartition(".")[2].replace("_", " ")
    before, now = (words.count(int(said)) if said.isdecimal() else "" for said in (change.before, change.now))
    if change.how is ChangeKind.NEW:
        return f"{name} {now}".rstrip()
    return f"{name} {before} → {now}" if before and now and change.how in (ChangeKind.WORSE, ChangeKind.BETTER) else name


def _spark(line: Sequence[Run]) -> Sparkline:
    """Sparkline of the check named in the last run's row, else of the recently worst, over the last runs."""
    drawn = next((name for run in reversed(line) if (name := _spoken_of(run)) is not None), None)
    if drawn is None:
        return sparkline(([0 if run.kind == "ok" else None for run in line], line[-1].kind))
    return sparkline((history.counts([run.checks.get(drawn) for run in line]), line[-1].kind), of=drawn)


def _spoken_of(run: Run) -> str | None:
    """Return the check of a run's main finding, else the first of equal severity."""
    bad = {name: check for name, check in run.checks.items() if check.severity == run.kind}
    return next((name for name, check in bad.items() if check.title == run.says), next(iter(bad), None))


def _span(runs: Iterable[Run]) -> str:
    """From the first day to the last."""
    started = sorted(run.started for run in runs if run.started)
    if not started:
        return ""
    first, last = words.day(started[0]), words.day(started[-1])
    return last if first == last else f"{first} to {last}"


def _needing(runs: Sequence[Run]) -> Mapping[bool, Sequence[tuple[str, str]]]:
    """Return the newest outcome of each case by its worst notebook, split by whether someone must act."""
    last: dict[tuple, Run] = {}
    for run in runs:
        last.setdefault(run.line, run)
    worst: dict[str, str] = {}
    for run in last.values():
        if run.case is not None:
            worst[run.case] = min(run.kind, worst.get(run.case, "ok"), key=_RANK.__getitem__)
    ranked = sorted(worst.items(), key=lambda item: (_RANK[item[1]], item[0]))
    return {needs: [item for item in ranked if (_RANK[item[1]] < _RANK["info"]) is needs] for needs in (True, False)}
