"""Offsets: disappeared ones of a copy, and missing ones."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from casebook.facts.losses import CutRange
from casebook.findings import words
from casebook.page.render import render
from casebook.page.table import ALARM, CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Table, or_unknown, unknown
from casebook.questions.loss.analysis.gaps import GapKind, OffsetGap
from casebook.questions.loss.views.choice import named
from casebook.questions.loss.views.words import moments, offsets, proof_link

MOST_ROWS = 200


def disappeared(rows: Sequence[CutRange]) -> Table | None:
    """Return offsets that disappeared from a copy; ``None`` without any."""
    if not rows:
        return None
    shown = rows[:MOST_ROWS]
    head, at = moments(row.at for row in shown)
    return Table(
        name="cut-ranges",
        columns=(
            ("Partition", CODE),
            ("Copy of", UNBROKEN),
            ("Offsets", CODE),
            ("At least", NUMBER),
            (f"When, {head}", UNBROKEN),
            ("Epoch", UNBROKEN),
            ("Why", TEXT),
            ("Proof", TEXT),
        ),
        rows=[(PLAIN, _cut(row, at)) for row in shown],
        takeaway=_gone(rows),
        reading="? means unknown, possibly none. An offset that another copy held is lost only if no leader had it.",
        total=len(rows) if len(rows) > len(shown) else None,
        rest="cut_ranges",
        search=True,
        wide=True,
        tall=True,
    )


def _gone(rows: Sequence[CutRange]) -> str:
    """Describe the number of offsets, as far as known."""
    known = [row.to_offset - row.from_offset for row in rows if row.to_offset is not None]
    of = words.plural(len({(row.topic, row.partition) for row in rows}), "partition")
    if not known:
        return f"Offsets of {of} may have disappeared from a copy; the number is unknown and may be zero."
    told = words.plural(len({(row.topic, row.partition) for row in rows if row.to_offset is not None}), "partition")
    return f"At least {words.plural(sum(known), 'offset')} of {told} disappeared from a copy."


def _cut(row: CutRange, at: Callable[[int | None], str]) -> tuple[object, ...]:
    return (
        named(row.topic, row.partition),
        unknown() if row.broker is None else f"broker {row.broker}",
        offsets(row.from_offset, row.to_offset),
        "?" if row.to_offset is None else words.count(row.to_offset - row.from_offset),
        or_unknown(row.at, at),
        f"{'?' if row.epoch is None else row.epoch} → {'?' if row.next_epoch is None else row.next_epoch}",
        row.why,
        proof_link(row.proof),
    )


_GRAVE = (GapKind.UNEXPLAINED, GapKind.DAMAGE, GapKind.TRUNCATION)
_GAPS = {
    GapKind.UNEXPLAINED: "no rule explains them",
    GapKind.DAMAGE: "bytes there could not be read",
    GapKind.TRUNCATION: "the log was truncated, and continued under a new leader",
    GapKind.CANNOT_TELL: "whether the topic is compacted, or transactions were aborted, is unknown",
    GapKind.UNREAD: "not read",
    GapKind.ABORTED: "records of aborted transactions",
    GapKind.CONTROL: "markers of transactions",
    GapKind.COMPACTION: "removed by the cleaner",
    GapKind.LOG_START: "below where the log begins",
}
"""Labels with their rules, gravest first."""


def gaps(rows: Sequence[OffsetGap]) -> Table | None:
    """Return missing offsets by label, gravest first; ``None`` without any."""
    if not rows:
        return None
    order = list(_GAPS)
    ranked = sorted(rows, key=lambda gap: (order.index(gap.kind), gap.topic, gap.partition))
    shown = ranked[:MOST_ROWS]
    holes = sum(gap.ranges for gap in rows if gap.kind is GapKind.UNEXPLAINED)
    return Table(
        name="gaps",
        columns=(
            ("Label", TEXT),
            ("Partition", CODE),
            ("Ranges", NUMBER),
            ("Offsets", NUMBER),
            ("From, to", CODE),
            ("Rule", TEXT),
        ),
        rows=[
            (
                ALARM if gap.kind in _GRAVE[:2] else PLAIN,
                (
                    Markup("{} {}").format(render("query"), gap.kind) if gap.kind is GapKind.CANNOT_TELL else gap.kind,
                    named(gap.topic, gap.partition),
                    words.count(gap.ranges),
                    words.count(gap.offsets),
                    offsets(gap.first, gap.end),
                    _GAPS[gap.kind],
                ),
            )
            for gap in shown
        ],
        takeaway=_unexplained(holes),
        total=len(ranked) if len(ranked) > len(shown) else None,
        search=True,
        wide=True,
    )


def _unexplained(holes: int) -> str:
    return f"{words.plural(holes, 'range')} of missing offsets unexplained." if holes else "No missing offset is unexplained."
