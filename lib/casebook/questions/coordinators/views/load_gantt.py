"""Load queues on a time axis: a lane per broker, solid for past, hatched for estimated, dashed for waiting.

One list of strips, drawn twice: by Plotly, and as a static image for readers without scripts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from casebook.findings import words
from casebook.kafka.load_rate import TimeRange
from casebook.page.palette import light
from casebook.page.render import render
from casebook.page.view import Figure
from casebook.questions.coordinators.analysis.rows import whole_ms

_ROW, _ABOVE, _BELOW, _LABELS, _BAR = 44, 26, 24, 112, 14
_WIDTH = 720
_ROOM = 0.3  # of the axis: further left, a text that ends here does not fit
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_MOST_TICKS = 5
_CLEAR = "rgba(0,0,0,0)"

Stretch = tuple[float, float]
"""Start and end, epoch ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GanttStrip:
    """One line of a lane.

    Args:
        note: Text above it.
        label: The broker, on the first strip of its lane.
        detail: Secondary line below the label.
        solid: Past part.
        hatched: Estimated rest.
        dashed: Wait.
        whisker: Estimated end and its interval.
        critical: The past part is no progress.
    """

    note: str
    label: str = ""
    detail: str = ""
    solid: Stretch | None = None
    hatched: Stretch | None = None
    dashed: Stretch | None = None
    whisker: TimeRange | None = None
    critical: bool = False

    @property
    def times(self) -> list[float]:
        """Return all its times."""
        bounds = self.whisker or ()
        return [t for stretch in (self.solid, self.hatched, self.dashed, bounds) for t in stretch or () if t is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gantt:
    """A whole figure.

    Args:
        strips: From top to bottom.
        ends: End of the evidence, epoch ms.
        alternative: Alternative text, one sentence.
    """

    strips: Sequence[GanttStrip]
    ends: float | None
    alternative: str

    @property
    def span(self) -> Stretch:
        """Return the first and last time on the axis, with a margin."""
        times = [t for strip in self.strips for t in strip.times] + ([self.ends] if self.ends else [])
        first, last = min(times), max(times)
        margin = max(last - first, 1000.0) * 0.03
        return first - margin, last + margin

    def ticks(self) -> list[float]:
        """Return round times along the axis."""
        first, last = self.span
        step = next((1000 * s for s in _STEPS if (last - first) / (1000 * s) <= _MOST_TICKS), 86_400_000)
        start = -(-first // step) * step
        return [start + step * n for n in range(int((last - start) // step) + 1)]


def figure(gantt: Gantt) -> Figure:
    """Return the Plotly chart."""
    notes, quiet = zip(*_notes(gantt), strict=True)
    meta = {"font.color": "text", "xaxis.gridcolor": "hair", "xaxis.tickfont.color": "quiet"}
    meta |= {f"annotations[{at}].font.color": token for at, token in enumerate(quiet) if token}
    meta |= {f"annotations[{at}].bgcolor": "page" for at, note in enumerate(notes) if "bgcolor" in note}
    shapes, edges = zip(*_shapes(gantt), strict=True)
    meta |= {f"shapes[{at}].line.color": token for at, token in enumerate(edges)}
    return Figure(
        data=(_solid(gantt.strips), _hatched(gantt.strips), _whiskers(gantt.strips)),
        layout=_layout(gantt, list(notes), list(shapes), meta),
        picture=_picture(gantt),
        alternative=gantt.alternative,
    )


def _picture(gantt: Gantt) -> Markup:
    first, last = gantt.span
    scale = (_WIDTH - _LABELS) / (last - first)

    def at(time: float) -> float:
        return round(_LABELS + (time - first) * scale, 1)

    drawn = [
        {
            "strip": strip,
            "solid": _box(strip.solid, at),
            "hatched": _box(strip.hatched, at),
            "dashed": _box(strip.dashed, at),
            "whisker": [None if t is None else at(t) for t in strip.whisker] if strip.whisker else None,
            "note": at(_anchor(strip, gantt)[0]),
            "to_the_left": _anchor(strip, gantt)[1] == "right",
        }
        for strip in gantt.strips
    ]
    return render(
        "load_gantt",
        rows=drawn,
        ticks=[(at(tick), _tick(tick, gantt)) for tick in gantt.ticks()],
        ends=at(gantt.ends) if gantt.ends else None,
        ended=words.clock(whole_ms(gantt.ends)),
        left=_ends_late(gantt),
        alternative=gantt.alternative,
        size={"width": _WIDTH, "row": _ROW, "above": _ABOVE, "below": _BELOW, "bar": _BAR},
    )


def _ends_late(gantt: Gantt) -> bool:
    """Return whether a text fits to the left of the evidence's end."""
    first, last = gantt.span
    return gantt.ends is not None and gantt.ends - first > (last - first) * _ROOM


def _box(stretch: Stretch | None, at: object) -> tuple[float, float] | None:
    """Return left edge and width; a moment is drawn as a line."""
    return None if stretch is None else (at(stretch[0]), max(2.0, round(at(stretch[1]) - at(stretch[0]), 1)))


def _anchor(strip: GanttStrip, gantt: Gantt) -> tuple[float, str]:
    """Return the position of the note: from the strip's start on, or up to its end, whichever leaves more room."""
    first, last = gantt.span
    begins, ends = min(strip.times, default=first), max(strip.times, default=first)
    return (begins, "left") if last - begins >= ends - first else (ends, "right")


def _tick(time: float, gantt: Gantt) -> str:
    first, last = gantt.span
    return words.clock(whole_ms(time))[: 8 if last - first < 600_000 else 5]


def _iso(time: float) -> str:
    """Format a time for Plotly, in UTC."""
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def _solid(strips: Sequence[GanttStrip]) -> dict[str, object]:
    rows = [(y, strip.solid, strip) for y, strip in enumerate(strips) if strip.solid]
    fills = ["bar" if strip.critical else "live" for _, _, strip in rows]
    return _bars(rows) | {"marker": {"color": [light(fill) for fill in fills]}, "meta": {"marker.color": fills}}


def _hatched(strips: Sequence[GanttStrip]) -> dict[str, object]:
    edge = light("edge")
    rows = [(y, strip.hatched, strip) for y, strip in enumerate(strips) if strip.hatched]
    marker = {
        "color": _CLEAR,
        "line": {"color": edge, "width": 1},
        "pattern": {"shape": "/", "fgcolor": edge, "size": 6, "solidity": 0.2, "fillmode": "overlay"},
    }
    return _bars(rows) | {"marker": marker, "meta": {"marker.line.color": "edge", "marker.pattern.fgcolor": "edge"}}


def _bars(rows: Sequence[tuple[int, Stretch, GanttStrip]]) -> dict[str, object]:
    return {
        "type": "bar",
        "orientation": "h",
        "y": [y for y, _, _ in rows],
        "base": [_iso(stretch[0]) for _, stretch, _ in rows],
        "x": [max(1.0, stretch[1] - stretch[0]) for _, stretch, _ in rows],
        "width": _BAR / _ROW,
        "hovertext": [strip.note for _, _, strip in rows],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _whiskers(strips: Sequence[GanttStrip]) -> dict[str, object]:
    """Return low, middle and high of each end; an unbounded end has no right mark."""
    rows = [(y, strip.whisker) for y, strip in enumerate(strips) if strip.whisker and strip.whisker.mid is not None]
    ink = light("text")
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [at for _, span in rows for at in (_iso(span.low), _iso(span.mid), span.high and _iso(span.high), None)],
        "y": [y for y, _ in rows for _ in range(4)],
        "line": {"color": ink, "width": 2},
        "marker": {
            "color": ink,
            "size": [11, 8, 11, 0] * len(rows),
            "symbol": ["line-ns", "circle", "line-ns", "circle"] * len(rows),
            "line": {"color": ink, "width": 2},
        },
        "hoverinfo": "skip",
        "meta": {"line.color": "text", "marker.color": "text", "marker.line.color": "text"},
    }


def _shapes(gantt: Gantt) -> Iterator[tuple[dict[str, object], str]]:
    """Yield lane borders, waits, and the end of the evidence, each with its line token."""
    bottom = len(gantt.strips) - 0.5
    for y, strip in enumerate(gantt.strips):
        if strip.label:
            yield _line({"x0": 0, "x1": 1, "xref": "paper", "y0": y - 0.5, "y1": y - 0.5}, "hair")
        if strip.dashed:
            ends = {"x0": _iso(strip.dashed[0]), "x1": _iso(strip.dashed[1])}
            half = _BAR / _ROW / 2
            box, token = _line(ends | {"y0": y - half, "y1": y + half}, "second", dash="dot")
            yield box | {"type": "rect"}, token
    yield _line({"x0": 0, "x1": 1, "xref": "paper", "y0": bottom, "y1": bottom}, "hair")
    if gantt.ends:
        yield _line({"x0": _iso(gantt.ends), "x1": _iso(gantt.ends), "y0": -0.5, "y1": bottom}, "critical", dash="dash", width=2)


def _line(where: dict[str, object], token: str, *, dash: str = "solid", width: int = 1) -> tuple[dict[str, object], str]:
    return {"type": "line", **where, "line": {"color": light(token), "dash": dash, "width": width}, "layer": "below"}, token


def _notes(gantt: Gantt) -> Iterator[tuple[dict[str, object], str]]:
    """Yield all texts, each with its colour token; none for the text's own colour."""
    plain = {"showarrow": False, "font": {"size": 12}}
    margin = plain | {"x": 0, "xref": "paper", "xanchor": "left", "xshift": -_LABELS, "align": "left"}
    quiet = {"font": {"size": 12, "color": light("quiet")}}
    for y, strip in enumerate(gantt.strips):
        if strip.label:
            yield margin | {"text": f"<b>{strip.label}</b>", "y": y, "yshift": 8}, ""
            yield margin | quiet | {"text": strip.detail, "y": y, "yshift": -7}, "quiet"
        time, side = _anchor(strip, gantt)
        above = {"x": _iso(time), "xanchor": side, "y": y, "yshift": _BAR + 1}
        yield plain | above | {"text": strip.note, "bgcolor": light("page")}, ""  # it may cross the evidence's end
    if gantt.ends:
        below = {"y": len(gantt.strips) - 0.5, "yanchor": "top", "x": _iso(gantt.ends), "text": _ending(gantt)}
        side = "right" if _ends_late(gantt) else "left"
        yield plain | below | {"xanchor": side, "font": {"size": 12, "color": light("critical")}}, "critical"


def _ending(gantt: Gantt) -> str:
    return f"<b>evidence ends {words.clock(whole_ms(gantt.ends))}</b>"


def _layout(gantt: Gantt, notes: list[dict], shapes: list[dict], meta: dict[str, str]) -> dict[str, object]:
    ticks, rows = gantt.ticks(), len(gantt.strips)
    return {
        "barmode": "overlay",
        "height": rows * _ROW + _ABOVE + _BELOW,
        "margin": {"l": _LABELS, "r": 4, "t": _ABOVE, "b": _BELOW},
        "showlegend": False,
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 12, "color": light("text")},
        "xaxis": {
            "type": "date",
            "side": "top",
            "fixedrange": True,
            "range": [_iso(time) for time in gantt.span],
            "tickvals": [_iso(tick) for tick in ticks],
            "ticktext": [_tick(tick, gantt) for tick in ticks],
            "tickfont": {"color": light("quiet"), "size": 12},
            "gridcolor": light("hair"),
        },
        "yaxis": {"visible": False, "fixedrange": True, "range": [rows - 0.5, -0.5]},
        "annotations": notes,
        "shapes": shapes,
        "dragmode": False,
        "meta": meta,
    }
