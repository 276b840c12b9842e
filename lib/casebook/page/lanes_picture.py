"""Lanes as a static image, for readers without scripts: the same rows at the same heights."""

from collections.abc import Iterator

from markupsafe import Markup

from casebook.findings import words
from casebook.page.lanes import FOOT, LABELS, MIDDLE, Label, LaneRow, Level, Picture, Shade, clipped, edges, text_at, ticks
from casebook.page.lanes_fit import fitted, spread
from casebook.page.render import render

_WIDTH = 744
_DISC = 9.5


def picture(p: Picture) -> Markup:
    """Return the image as SVG inside ``<noscript>``."""
    plot = _WIDTH - LABELS
    first, last = p.span
    scale = plot / (last - first)

    def at(time: float) -> float:
        return round(LABELS + (time - first) * scale, 1)

    rows = [
        _row(p, row, at, plot) | {"lane": lane, "row": row, "top": top, "first": begins, "name": row.name_at}
        for lane, row, top, begins in p.placed()
    ]
    return render(
        "lanes",
        alternative=p.alternative,
        width=_WIDTH,
        height=p.height,
        head=p.head,
        foot=FOOT,
        left=LABELS,
        middle=MIDDLE,
        rows=rows,
        shades=list(_shades(p, at, plot)),
        ticks=[(at(time), tick(time, p.span)) for time in ticks(p.span)],
        events=[
            (at(t.at), middle + 11) for t in p.ticks if (middle := p.middle_of(t.lane)) is not None and first <= t.at <= last
        ],
        bins=list(_bins(p, at)),
        levels=list(_levels(p, at)),
        usual=p.usual(),
        scale=p.scale(),
    )


def tick(time: float, span: tuple[float, float]) -> str:
    """Format a time on an axis, with a precision by its length."""
    length = span[1] - span[0]
    if length > 4 * 86_400_000:
        return words.when(round(time)).partition(",")[0]
    clock = words.clock(round(time))
    return clock[:5] if length > 900_000 else clock if length >= 4000 else f"{clock}.{round(time) % 1000:03d}"


def _row(p: Picture, row: LaneRow, at: object, plot: int) -> dict[str, object]:
    inside = [mark for mark in row.marks if p.span[0] <= mark.at <= p.span[1]]
    told = [mark for mark in inside if mark.number]
    return {
        "strips": [
            (strip, at(stretch[0]), max(1.5, round(at(stretch[1]) - at(stretch[0]), 1)), *edges(strip))
            for strip in row.strips
            if (stretch := clipped(strip.start, strip.end, p.span))
        ],
        "labels": [
            (label, LABELS + x, text_at(label) + 4)
            for under in (False, True)
            for label, x in fitted([one for one in row.labels if one.under is under], p.span, plot)
        ],
        "marks": [(mark, at(mark.at)) for mark in inside if not mark.number],
        "numbers": [(mark, round(LABELS + x, 1)) for mark, x in spread(told, p.span, plot, apart=2 * _DISC)],
    }


def _shades(p: Picture, at: object, plot: int) -> Iterator[tuple[Shade, float, float, list]]:
    """Yield each window with its left edge and width, and its fitting texts."""
    titles = [Label(text=s.title, start=None, end=None, side="center", bold=True) for s in p.shades]
    taken: list[tuple[float, float]] = []
    for shade, title in zip(p.shades, titles, strict=True):
        stretch = clipped(shade.start, shade.end, p.span)
        if stretch is None:
            continue
        begin, end = at(stretch[0]), at(stretch[1])
        half = max(title.width, Label(text=shade.detail).width) / 2
        middle = min(max((begin + end) / 2, LABELS + half), LABELS + plot - half)
        free = all(middle + half < a or b < middle - half for a, b in taken)
        taken += [(middle - half, middle + half)] * free
        yield shade, begin, max(1.5, round(end - begin, 1)), [round(middle, 1)] * free


def _levels(p: Picture, at: object) -> Iterator[tuple[Level, float, float, float, float]]:
    for level, start, end, upper, lower in p.risen():
        if stretch := clipped(start, end, p.span):
            begin = at(stretch[0])
            yield level, begin, round(upper, 1), max(1.0, round(at(stretch[1]) - begin, 1)), round(lower - upper, 1)


def _bins(p: Picture, at: object) -> Iterator[tuple[float, float, float, float]]:
    for t, height, floor in p.counted():
        stretch = clipped(t.at, t.at + t.width, p.span)
        if stretch:
            tall = round(height, 1)
            yield at(stretch[0]), floor - tall, max(1.0, round(at(stretch[1]) - at(stretch[0]), 1)), tall
