"""Notebook 90: changes since the last run, and trends."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from casebook.facts.cluster import instant
from casebook.findings import words
from casebook.findings.changes import ChangeKind, CheckChange
from casebook.findings.finding import Severity
from casebook.page import text
from casebook.page.render import render
from casebook.page.sparkline import sparkline
from casebook.page.table import ALARM, CODE, NUMBER, PLAIN, QUIET, TEXT, Row, Table, numbers, or_unknown
from casebook.page.view import View, html
from casebook.questions.morning.analysis import trends
from casebook.questions.morning.analysis.since import Since
from casebook.questions.morning.analysis.trends import Trend

_POINTS = 14
_MOST_NAMED, _MOST_COPIES = 4, 8

_HOW = {
    ChangeKind.NEW: "new",
    ChangeKind.WORSE: "worse",
    ChangeKind.OTHERS: "different from before",
    ChangeKind.NO_LONGER_CHECKED: "no longer checked",
    ChangeKind.BETTER: "better",
    ChangeKind.GONE: "gone",
    ChangeKind.NO_LONGER_APPLIES: "no longer applies",
    ChangeKind.CHECKED_AGAIN: "checked again",
}
_LOOKS = {
    ChangeKind.NO_LONGER_CHECKED: "could_not_check",
    ChangeKind.GONE: "ok",
    ChangeKind.NO_LONGER_APPLIES: "not_applicable",
    ChangeKind.CHECKED_AGAIN: "ok",
}
_BAD = frozenset({ChangeKind.NEW, ChangeKind.WORSE})

_MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "leaderless": ("Partitions without leader", lambda value: words.count(int(value))),
    "under_min_isr": ("Partitions under min ISR", lambda value: words.count(int(value))),
    "under_replicated": ("Partitions under-replicated", lambda value: words.count(int(value))),
    "single_copy": ("Partitions with a single replica", lambda value: words.count(int(value))),
    "isr_changes": ("ISR changes by leaders, since the previous run", lambda value: words.count(int(value))),
    "leader_epochs": ("Leader epochs by the controller, since the previous run", lambda value: words.count(int(value))),
    "controller_epoch": ("Controller epoch", lambda value: str(int(value))),
    "offsets_bytes": ("Bytes of __consumer_offsets, one copy", lambda value: text.size(int(value))),
    "bytes": ("Bytes", lambda value: text.size(int(value))),
    "dirty_ratio": ("Dirty ratio", lambda value: f"{value:.2f}"),
    "cleaner_point": ("Cleaner checkpoint", lambda value: str(int(value))),
    "load_ms": ("Load", lambda value: text.duration(value)),
}
"""Name of each measure, and format of its numbers."""


def changes(since: Since) -> View:
    """Show what is new, worse, better, gone, and no longer checked or asked since the last run."""
    rows = since.changes
    if rows is None:
        return html(render("since_first"), tables={"changes": ()})
    last = words.date(instant(since.line.last.at))
    table = Table(
        name="changes",
        stacked=True,
        columns=(("Since then", TEXT), ("What", TEXT), ("Before", NUMBER), ("Now", NUMBER)),
        rows=[(ALARM if _alarming(row) else PLAIN, _cells(row)) for row in rows],
        takeaway=f"{_counted(rows)} since {last}." if rows else "",
        reading=f"Compared with {since.line.last.name}; worst first." if rows else "",
        search=True,
    )
    return html(render("since_changes", table=table, rows=rows, last=last), tables={"changes": rows})


def _counted(rows: Sequence[CheckChange]) -> str:
    counts = {how: sum(row.how is how for row in rows) for how in ChangeKind}
    return ", ".join(f"{words.count(counts[how])} {_HOW[how]}" for how in ChangeKind if counts[how])


def _alarming(row: CheckChange) -> bool:
    return row.how in _BAD and row.severity in (Severity.CRITICAL, Severity.WARNING)


def _cells(row: CheckChange) -> tuple[object, ...]:
    kind = _LOOKS.get(row.how) or (row.severity and row.severity.value) or "not_applicable"
    named = [("+", row.came), ("−", row.went)]
    shown = [(sign, names[:_MOST_NAMED], len(names) - _MOST_NAMED) for sign, names in named if names]
    what = render("since_change", row=row, shown=shown)
    return render("since_how", kind=kind, how=_HOW[row.how]), what, _word(row.before), _word(row.now)


def _word(ended: str) -> str:
    return ended.replace("_", " ")


def overall(since: Since) -> View:
    """Show the trends of the whole cluster."""
    every_trend = (*trends.whole(since), *trends.loads(since))
    daily = any(trend.per_day is not None for trend in every_trend)
    table = Table(
        name="trends",
        stacked=True,
        columns=(
            ("Measure", TEXT), ("Now", NUMBER), ("Before", NUMBER), (f"Last {_POINTS} runs", TEXT),
            *([("A day", NUMBER)] if daily else []), ("So since", QUIET),
        ),
        rows=[_row(trend, daily=daily) for trend in every_trend],
        takeaway=f"{words.plural(len(since.line.kept) + 1, 'run')} of this cluster {_reaching(since)}.",
        reading="Each line has its own scale from zero; dashed: not measured.",
        wide=True,
    )  # fmt: skip
    every = Table(
        name="trend-numbers",
        columns=(("Evidence of", TEXT), *((_MEASURES[name][0], NUMBER) for name in trends.WHOLE)),
        rows=_by_run(trends.whole(since)),
        wide=True,
    )
    parts = [render("plain_table", table=table)]
    if since.line.kept:
        parts.append(numbers(every, f"The numbers ({words.plural(len(every.rows), 'run')})"))
    return html(*parts, tables={"measures": since.measures})


def _reaching(since: Since) -> str:
    return f"since {words.day(instant(since.line.kept[0].at))}" if since.line.kept else "so far: a trend needs two"


def _by_run(all_trends: Sequence[Trend]) -> list[Row]:
    times = [at for at, _ in all_trends[0].points]
    return [
        (PLAIN, (words.date(instant(at)), *(_number(trend.name, trend.points[place][1]) for trend in all_trends)))
        for place, at in enumerate(times)
    ]


def _row(trend: Trend, *, daily: bool) -> Row:
    name, _ = _MEASURES[trend.name]
    whose = f"{name} of what broker {trend.broker} coordinates" if trend.broker is not None else name
    day = ("–" if trend.per_day is None else f"{trend.per_day:.1f}",) if daily else ()
    return PLAIN, (
        whose,
        _number(trend.name, trend.now),
        _number(trend.name, trend.before),
        _line(trend),
        *day,
        _since(trend),
    )


def _line(trend: Trend) -> Markup:
    values = [value for _, value in trend.points[-_POINTS:]]
    return render("spark", spark=sparkline((values, ""), say=lambda value: _number(trend.name, value)))


def _since(trend: Trend) -> str:
    return "–" if trend.since is None else words.when(instant(trend.since))


def _number(name: str, value: float | None) -> str:
    return or_unknown(value, _MEASURES[name][1])


def of_copies(since: Since) -> View:
    """Show the trends of the copies of the offsets topic, largest first."""
    every = trends.copies(since)
    if not every:
        return html(render("since_no_copies"))
    largest = every[0]["bytes"]
    table = Table(
        name="copies",
        stacked=True,
        columns=(
            ("Partition", CODE), ("Broker", NUMBER), ("Bytes", NUMBER), (f"Last {_POINTS} runs", TEXT), ("Dirty ratio", NUMBER),
            ("Its runs", TEXT), ("Cleaner checkpoint", NUMBER), ("Still since", QUIET), ("Load", NUMBER),
        ),
        rows=[_copy(copy) for copy in every[:_MOST_COPIES]],
        takeaway=f"The largest copy, partition {largest.partition} of broker {largest.broker}, holds "
        f"{_number('bytes', largest.now)}{_was(largest)}.",
        reading="A ratio above its limit with an unchanged checkpoint means that nothing is compacted.",
        total=len(every),
        rest="measures",
        wide=True,
    )  # fmt: skip
    return html(render("plain_table", table=table))


def _was(trend: Trend) -> str:
    return "" if trend.before is None else f", and held {_number(trend.name, trend.before)} in the previous run"


def _copy(copy: dict[str, Trend]) -> Row:
    size, dirty, point = copy["bytes"], copy["dirty_ratio"], copy["cleaner_point"]
    limit = copy["limit"].now
    due = dirty.now is not None and limit is not None and dirty.now > limit
    return ALARM if due and point.since is not None else PLAIN, (
        size.partition, size.broker, _number("bytes", size.now), _line(size), _number("dirty_ratio", dirty.now), _line(dirty),
        _number("cleaner_point", point.now), _since(point), _number("load_ms", copy["load_ms"].now),
    )  # fmt: skip
