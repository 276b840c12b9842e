"""Horizontal bars: a whole with a remaining and a hatched removed part.

One list of rows, drawn twice: by Plotly, and as a static image for readers without scripts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.findings import words
from casebook.page.palette import light
from casebook.page.render import render
from casebook.page.view import Figure

_ROW, _ABOVE, _LABELS = 40, 26, 140
_LEAST_LABELLED = 0.08  # of the widest bar: a shorter one has no room for its number


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar.

    Args:
        label: Step, in a few words.
        left: Remaining part.
        gone: Hatched part.
        note: Text next to the hatched part.
        detail: Secondary line below the label.
        chosen: Part of the recommended order; others are grey.
    """

    label: str
    left: int
    gone: int = 0
    note: str = ""
    detail: str = ""
    chosen: bool = True


Rows = Sequence[Bar | str]
"""Bars from top to bottom; a lone text is a heading of those below it."""


def figure(rows: Rows, *, axis: str, alternative: str) -> Figure:
    """Return the bars as a Plotly chart.

    Args:
        axis: Counted unit.
        alternative: Alternative text, one sentence.
    """
    widest = _widest(rows)
    bars = [(y, row) for y, row in enumerate(rows) if isinstance(row, Bar)]
    notes, quiet = zip(*_notes(rows, axis, widest), strict=True)
    meta = {"font.color": "text"} | {f"annotations[{i}].font.color": "quiet" for i, is_quiet in enumerate(quiet) if is_quiet}
    return Figure(
        data=(_left(bars, widest), _gone(bars)),
        layout=_layout(len(rows), widest, notes, meta),
        picture=_picture(rows, axis=axis, alternative=alternative),
        alternative=alternative,
    )


def _picture(rows: Rows, *, axis: str, alternative: str) -> Markup:
    scale = 320 / _widest(rows)
    drawn = [
        {"bar": row, "left": round(row.left * scale), "gone": round(row.gone * scale), "note": _beside(row, _widest(rows))}
        if isinstance(row, Bar)
        else {"heading": row}
        for row in rows
    ]
    return render("bars", rows=drawn, axis=axis, alternative=alternative, row=_ROW, above=_ABOVE, labels=_LABELS)


def _widest(rows: Rows) -> int:
    return max((row.left + row.gone for row in rows if isinstance(row, Bar)), default=0) or 1


def _labelled(bar: Bar, widest: int) -> bool:
    return bar.left > widest * _LEAST_LABELLED


def _beside(bar: Bar, widest: int) -> str:
    number = "" if _labelled(bar, widest) or not bar.left else f"{words.count(bar.left)} left"
    return ", ".join(part for part in (number, bar.note) if part)


def _left(bars: Sequence[tuple[int, Bar]], widest: int) -> dict[str, object]:
    fills = ["bar" if bar.chosen else "bar-other" for _, bar in bars]
    return {
        **_trace(bars, "%{hovertext}: %{x} left<extra></extra>"),
        "x": [bar.left for _, bar in bars],
        "text": [f"<b>{words.count(bar.left)}</b>" if _labelled(bar, widest) else "" for _, bar in bars],
        "textposition": "inside",
        "insidetextanchor": "end",
        "textangle": 0,
        "insidetextfont": {"color": light("on-mark")},
        "marker": {"color": [light(fill) for fill in fills]},
        "meta": {"marker.color": fills, "insidetextfont.color": "on-mark"},
    }


def _gone(bars: Sequence[tuple[int, Bar]]) -> dict[str, object]:
    edge = light("edge")
    return {
        **_trace(bars, "%{hovertext}: %{x} healed<extra></extra>"),
        "x": [bar.gone for _, bar in bars],
        "marker": {
            "color": "rgba(0,0,0,0)",
            "line": {"color": edge, "width": [1 if bar.gone else 0 for _, bar in bars]},
            "pattern": {"shape": "/", "fgcolor": edge, "size": 6, "solidity": 0.2, "fillmode": "overlay"},
        },
        "meta": {"marker.line.color": "edge", "marker.pattern.fgcolor": "edge"},
    }


def _trace(bars: Sequence[tuple[int, Bar]], hover: str) -> dict[str, object]:
    return {
        "type": "bar",
        "orientation": "h",
        "y": [y for y, _ in bars],
        "width": 0.52,
        "hovertext": [bar.label for _, bar in bars],
        "hovertemplate": hover,
    }


def _notes(rows: Rows, axis: str, widest: int) -> Iterator[tuple[dict[str, object], bool]]:
    """Yield all texts, each with whether it is secondary: Plotly's own tick labels do not support two weights."""
    plain = {"showarrow": False, "align": "left", "font": {"size": 12}}
    quiet = plain | {"font": {"size": 12, "color": light("quiet")}}
    yield quiet | {"text": axis, "x": 0, "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}, True
    margin = {"x": 0, "xref": "paper", "xanchor": "left", "xshift": -_LABELS}
    for y, row in enumerate(rows):
        if isinstance(row, str):
            yield quiet | margin | {"text": row, "y": y}, True
            continue
        yield plain | margin | {"text": f"<b>{row.label}</b>", "y": y, "yshift": 8 if row.detail else 0}, False
        if row.detail:
            yield quiet | margin | {"text": row.detail, "y": y, "yshift": -7}, True
        if beside := _beside(row, widest):
            yield plain | {"text": beside, "x": row.left + row.gone, "xanchor": "left", "xshift": 6, "y": y}, False


def _layout(rows: int, widest: int, notes: Sequence[dict], meta: dict[str, str]) -> dict[str, object]:
    axis = {"visible": False, "fixedrange": True}
    return {
        "barmode": "stack",
        "height": rows * _ROW + _ABOVE + 4,
        "margin": {"l": _LABELS, "r": 4, "t": _ABOVE, "b": 4},
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 12, "color": light("text")},
        "xaxis": axis | {"range": [0, widest * 1.4]},
        "yaxis": axis | {"range": [rows - 0.5, -0.5]},
        "annotations": list(notes),
        "dragmode": False,
        "meta": meta,
    }
