"""Horizontal bars: a whole, of which a part is left and the rest, hatched, is gone after a step.

One list of bars, drawn twice: by Plotly, and as a static picture for readers without scripts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.views.render import render
from casebook.views.view import Figure

_LEFT, _OTHER, _HATCH, _INK = "#9E3D00", "#5F666E", "#868D95", "#1A1E22"
_ROW = 46


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar.

    Args:
        label: What was done, in a few words.
        left: The part that stays.
        gone: The hatched rest.
        note: Written beside the hatched part.
        chosen: Belongs to the recommended order; others are grey.
    """

    label: str
    left: int
    gone: int
    note: str
    chosen: bool = True


def figure(bars: Sequence[Bar], *, axis: str, alternative: str) -> Figure:
    """The bars as a Plotly chart, first on top.

    Args:
        axis: What is counted.
        alternative: The chart in one sentence.
    """
    labels = [bar.label for bar in bars]
    widest = max((bar.left + bar.gone for bar in bars), default=1) or 1
    left = {
        "type": "bar",
        "orientation": "h",
        "y": labels,
        "x": [bar.left for bar in bars],
        "marker": {"color": [_LEFT if bar.chosen else _OTHER for bar in bars]},
        "text": [str(bar.left) if bar.left > widest * 0.06 else "" for bar in bars],
        "textposition": "inside",
        "insidetextanchor": "end",
        "textfont": {"color": "#FFFFFF"},
        "hovertemplate": "%{y}: %{x} left<extra></extra>",
        "meta": "left",
    }
    gone = {
        "type": "bar",
        "orientation": "h",
        "y": labels,
        "x": [bar.gone for bar in bars],
        "marker": {
            "color": "rgba(0,0,0,0)",
            "line": {"color": _HATCH, "width": 1},
            "pattern": {"shape": "/", "fgcolor": _HATCH, "size": 6, "solidity": 0.2, "fillmode": "overlay"},
        },
        "hovertemplate": "%{y}: %{x} healed<extra></extra>",
        "meta": "gone",
    }
    notes = [
        {
            "x": bar.left + bar.gone, "y": bar.label, "text": _beside(bar, widest), "xanchor": "left", "xshift": 6,
            "showarrow": False, "font": {"color": _INK, "size": 12},
        }
        for bar in bars
    ]  # fmt: skip
    return Figure(data=(left, gone), layout=_layout(axis, len(bars), widest, notes), alternative=alternative)


def picture(bars: Sequence[Bar], *, axis: str, alternative: str) -> Markup:
    """The same bars as a static picture, shown where scripts do not run."""
    widest = max((bar.left + bar.gone for bar in bars), default=1) or 1
    rows = [(bar, round(400 * bar.left / widest), round(400 * bar.gone / widest), _beside(bar, widest)) for bar in bars]
    return render("bars", rows=rows, axis=axis, alternative=alternative, height=len(bars) * 40 + 24)


def _beside(bar: Bar, widest: int) -> str:
    inside = bar.left > widest * 0.06 or not bar.left
    return bar.note if inside else f"{bar.left} left{', ' + bar.note if bar.note else ''}"


def _layout(axis: str, rows: int, widest: int, notes: list[dict]) -> dict[str, object]:
    return {
        "barmode": "stack",
        "bargap": 0.45,
        "height": rows * _ROW + 40,
        "margin": {"l": 130, "r": 12, "t": 30, "b": 10},
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 12, "color": _INK},
        "xaxis": {"side": "top", "title": {"text": axis, "font": {"size": 12}}, "range": [0, widest * 1.45], "showgrid": False,
                  "showticklabels": False, "zeroline": False, "fixedrange": True},
        "yaxis": {"autorange": "reversed", "showgrid": False, "zeroline": False, "fixedrange": True, "ticklen": 8, "tickcolor": "rgba(0,0,0,0)"},
        "annotations": notes,
        "dragmode": False,
    }  # fmt: skip
