"""Writers of a partition of the offsets topic: groups by bytes, each with its share and pace."""

from collections.abc import Sequence
from itertools import accumulate

from casebook.facts.offsets_topic import GroupBytes
from casebook.findings import words
from casebook.page import text
from casebook.page.render import render
from casebook.page.table import CODE, NUMBER, PLAIN, TEXT, Row, Table, numbers
from casebook.page.view import View, html
from casebook.questions.offsets_topic.analysis.writers import Writer

MOST_BARS, MOST_ROWS = 6, 200
_MOST_OF_IT, _NEARLY_ALL = 0.5, 0.9


def bars(writers: Sequence[Writer], written: Sequence[GroupBytes]) -> View:
    """Show the largest writers, and the numbers by committed topic and hour.

    Args:
        writers: Writers of one partition, largest first.
        written: Rows behind them.
    """
    largest = max(writers[0].bytes, 1) if writers else 1
    rest = writers[MOST_BARS:]
    return html(
        render(
            "writers",
            bars=[(writer, writer.bytes / largest, _pace(writer.busiest)) for writer in writers[:MOST_BARS]],
            rest=len(rest),
            rest_bytes=sum(writer.bytes for writer in rest),
            takeaway=_takeaway(writers),
            numbers=numbers(_table(written), f"The numbers ({words.plural(len(writers), 'group')}, by topic and hour)"),
        )
    )


def _takeaway(writers: Sequence[Writer]) -> str:
    if not writers:
        return "No group has written here."
    first = writers[0]
    if first.share < _MOST_OF_IT:
        return _together(writers)
    share = f"One group of {words.count(len(writers))} writes {100 * first.share:.1f}{words.THIN}% of the bytes."
    said = share if len(writers) > 1 else "A single group writes all of it."
    if first.per_commit is None:
        return said
    each = words.plural(max(1, round(first.per_commit)), "record")
    return f"{said} It commits once per {each} read." if first.per_commit > 0 else said


def _together(writers: Sequence[Writer]) -> str:
    """State how many groups write most of it together, when no single one does."""
    sums = list(accumulate(writer.share for writer in writers))
    few = next((place for place, share in enumerate(sums) if share >= _NEARLY_ALL), len(sums) - 1)
    shares = f"{100 * sums[few]:.1f}{words.THIN}% of the bytes, the first of them {100 * sums[0]:.1f}{words.THIN}%"
    return f"{words.count(few + 1)} of {words.count(len(writers))} groups write {shares}."


def _pace(busiest: float | None) -> str:
    return "?" if busiest is None else f"{busiest:.3g}" if busiest >= 0.1 else f"{busiest * 3600:.0f}{words.THIN}an hour"


def _table(rows: Sequence[GroupBytes]) -> Table:
    ordered = sorted(rows, key=lambda row: (-row.bytes, row.group, row.topic or "", row.hour or 0))
    return Table(
        name="writers",
        columns=(
            ("Group", CODE),
            ("Topic", CODE),
            ("Client", CODE),
            ("Hour, UTC", TEXT),
            ("Records", NUMBER),
            ("Bytes", NUMBER),
            ("Live", NUMBER),
        ),
        rows=[_row(row) for row in ordered[:MOST_ROWS]],
        label="Bytes by group, committed topic and hour",
        total=len(ordered),
        rest="group_bytes",
        search=True,
    )


def _row(row: GroupBytes) -> Row:
    hour = "all" if row.hour is None else words.when(row.hour)
    amounts = words.count(row.records), text.size(row.bytes), text.size(row.live_bytes)
    return PLAIN, (row.group, row.topic or "its own metadata", row.client or "–", hour, *amounts)
