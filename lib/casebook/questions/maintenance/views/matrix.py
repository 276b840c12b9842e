"""Brokers by brokers: what breaks when one stops, on the diagonal, or two, below it.

Each outcome has its own mark shape, with the number of partitions next to it: it works without colours. Drawn twice: by Plotly,
and as a static image for readers without scripts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.findings import words
from casebook.page.palette import light
from casebook.page.render import render
from casebook.page.view import Figure
from casebook.questions.maintenance.analysis.rows import RestartRow

MOST_BROKERS = 24
_NUMBERED = 12  # maximum number of brokers with room for numbers
_COLUMNS = 7  # minimum number of columns' room, so that few brokers are not far apart
_ASIDE = 0.24  # of a cell: a mark moves aside for its number
_ABOVE, _LABELS, _CELL = 44, 64, 34
_FONT = "system-ui, 'DejaVu Sans', sans-serif"

OFFLINE, REFUSES, SAFE, UNKNOWN = "offline", "refuses", "safe", "unknown"
KINDS = (OFFLINE, REFUSES, SAFE, UNKNOWN)

_MARKS = {
    OFFLINE: {"symbol": "triangle-up", "size": 13, "fill": "critical-fill", "line": "critical-fill", "width": 1},
    REFUSES: {"symbol": "diamond", "size": 12, "fill": "warning-fill", "line": "warning", "width": 1},
}
_SAID = {
    OFFLINE: "go offline or lose records",
    REFUSES: "refuse acks=all",
    SAFE: "nothing breaks",
    UNKNOWN: "not known",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Effect of stopping the brokers of a row and a column.

    Args:
        row: Index of one broker among those drawn.
        column: Index of the other; the same on the diagonal.
        kind: A kind of this module.
        number: Number of harmed partitions.
        said: In words.
    """

    row: int
    column: int
    kind: str
    number: int
    said: str

    @property
    def short(self) -> str:
        """The number as it fits in a cell; ``12k`` above 9999, and in full on hover."""
        return str(self.number) if self.number < 10_000 else f"{self.number // 1000}k"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A whole figure.

    Args:
        brokers: Drawn brokers, by id.
        cells: On the diagonal and below it.
        alternative: Alternative text, one sentence.
    """

    brokers: Sequence[int]
    cells: Sequence[Cell]
    alternative: str

    @property
    def numbered(self) -> bool:
        """Whether numbers fit next to the marks."""
        return len(self.brokers) <= _NUMBERED


def matrix(rows: Sequence[RestartRow], alternative: str) -> Matrix:
    """Return the figure of single brokers and pairs; on large clusters those that break most alone, or with others."""
    brokers = _drawn(rows)
    place = {broker: at for at, broker in enumerate(brokers)}
    cells = [_cell(row, place) for row in rows if len(row.brokers) <= 2 and place.keys() >= set(row.brokers)]
    return Matrix(brokers=brokers, cells=cells, alternative=alternative)


def kind(row: RestartRow) -> str:
    """Return its worst effect."""
    if row.goes_offline or row.unclean:
        return OFFLINE
    if row.falls_under_min_isr:
        return REFUSES
    return SAFE if row.safe else UNKNOWN


def figure(m: Matrix) -> Figure:
    """Return the Plotly chart."""
    notes, quiet = zip(*_notes(m), strict=True)
    shapes = list(_lines(m))
    meta = {"font.color": "text"} | {f"annotations[{at}].font.color": token for at, token in enumerate(quiet) if token}
    meta |= {f"shapes[{at}].{path}": token for at, (_, path, token) in enumerate(shapes)}
    traces = [_trace(m, one) for one in KINDS if any(cell.kind == one for cell in m.cells)]
    return Figure(
        data=tuple(traces),
        layout=_layout(m, list(notes), [s for s, _, _ in shapes], meta),
        picture=_picture(m),
        alternative=m.alternative,
    )


def _picture(m: Matrix) -> Markup:
    size = {"cell": 62 if m.numbered else 30, "row": _CELL if m.numbered else 26, "above": _ABOVE, "labels": _LABELS}
    return render("maintenance_matrix", matrix=m, size=size)


def _drawn(rows: Sequence[RestartRow]) -> list[int]:
    brokers = [row.brokers[0] for row in rows if len(row.brokers) == 1]
    if len(brokers) <= MOST_BROKERS:
        return brokers
    breaks = dict.fromkeys(brokers, 0)
    alone = {row.brokers[0]: row.goes_offline + row.unclean + row.falls_under_min_isr for row in rows if len(row.brokers) == 1}
    for row in rows:
        if len(row.brokers) == 2 and row.safe is False:
            for broker in row.brokers:
                breaks[broker] += 1
    ranked = sorted(brokers, key=lambda broker: (-alone[broker], -breaks[broker], broker))
    return sorted(ranked[:MOST_BROKERS])


def _cell(row: RestartRow, place: dict[int, int]) -> Cell:
    first, *other = (place[broker] for broker in row.brokers)
    below = max([first, *other])
    what = kind(row)
    number = {OFFLINE: row.goes_offline + row.unclean, REFUSES: row.falls_under_min_isr}.get(what, 0)
    whom = " and ".join(map(str, row.brokers))
    many = f"{words.plural(number, 'partition')} " if number else ""
    return Cell(row=below, column=min([first, *other]), kind=what, number=number, said=f"Stop {whom}: {many}{_SAID[what]}")


def _trace(m: Matrix, what: str) -> dict[str, object]:
    cells = [cell for cell in m.cells if cell.kind == what]
    common = {
        "type": "scatter",
        "x": [cell.column - (_ASIDE if cell.number and m.numbered else 0) for cell in cells],
        "y": [cell.row for cell in cells],
        "hovertext": [cell.said for cell in cells],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    if what not in _MARKS:
        sign, token = ("✓", "ok") if what == SAFE else ("?", "unknown")
        font = {"size": 15 if m.numbered else 12, "color": light(token)}
        return common | {
            "mode": "text",
            "text": [f"<b>{sign}</b>"] * len(cells),
            "textfont": font,
            "meta": {"textfont.color": token},
        }
    mark = _MARKS[what]
    small = 0 if m.numbered else 3
    return common | {
        "mode": "markers+text" if m.numbered else "markers",
        "text": [f" {cell.short}" for cell in cells],
        "textposition": "middle right",
        "textfont": {"size": 12, "color": light("text")},
        "marker": {
            "symbol": mark["symbol"],
            "size": mark["size"] - small,
            "color": light(mark["fill"]),
            "line": {"color": light(mark["line"]), "width": mark["width"]},
        },
        "meta": {"marker.color": mark["fill"], "marker.line.color": mark["line"], "textfont.color": "text"},
        "cliponaxis": False,
    }


def _notes(m: Matrix) -> Iterator[tuple[dict[str, object], str]]:
    """Yield all texts, each with its colour token; none for the text's own colour."""
    plain = {"showarrow": False, "font": {"size": 12}}
    quiet = {"showarrow": False, "font": {"size": 12, "color": light("quiet")}}
    left = {"x": 0, "xref": "paper", "xanchor": "left", "xshift": -_LABELS}
    top = {"y": 1, "yref": "paper", "yanchor": "bottom"}
    yield quiet | top | {"text": "together with broker", "x": -0.5, "xanchor": "left", "yshift": 20}, "quiet"
    for at, broker in enumerate(m.brokers):
        yield plain | top | {"text": f"<b>{broker}</b>", "x": at, "yshift": 2}, ""
        yield plain | left | {"text": f"stop <b>{broker}</b>", "y": at}, ""


def _lines(m: Matrix) -> Iterator[tuple[dict[str, object], str, str]]:
    """Yield the diagonal's background and a line between rows, each with its path and colour token."""
    count = len(m.brokers)
    for at in range(count):
        box = {"x0": at - 0.5, "x1": at + 0.5, "y0": at - 0.5, "y1": at + 0.5, "type": "rect", "layer": "below"}
        yield box | {"fillcolor": light("sunk"), "line": {"width": 0}}, "fillcolor", "sunk"
    for at in range(count + 1):
        line = {"type": "line", "x0": -0.5, "x1": min(max(at, 1), count) - 0.5, "y0": at - 0.5, "y1": at - 0.5, "layer": "below"}
        yield line | {"line": {"color": light("hair"), "width": 1}}, "line.color", "hair"


def _layout(m: Matrix, notes: list[dict], shapes: list[dict], meta: dict[str, str]) -> dict[str, object]:
    count = len(m.brokers)
    axis = {"visible": False, "fixedrange": True}
    return {
        "height": count * (_CELL if m.numbered else 26) + _ABOVE + 6,
        "margin": {"l": _LABELS, "r": 4, "t": _ABOVE, "b": 6},
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": _FONT, "size": 12, "color": light("text")},
        "xaxis": axis | {"range": [-0.5, max(count, _COLUMNS) - 0.5]},
        "yaxis": axis | {"range": [count - 0.5, -0.5]},
        "annotations": notes,
        "shapes": shapes,
        "dragmode": False,
        "meta": meta,
    }
