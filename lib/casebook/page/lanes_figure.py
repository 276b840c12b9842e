"""Lanes as a Plotly chart: it zooms along time, a click opens the line, a brushed range filters the tables below.

Every coloured element names its token, so that the script can redraw it in the dark scheme. A label's ``name`` has its possible
positions; the script moves it on zoom.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from casebook.findings.words import count
from casebook.page import lanes_picture
from casebook.page.lanes import (
    DASHED,
    DISC,
    HATCHED,
    LABELS,
    MIDDLE,
    OPEN,
    SOLID,
    Label,
    Lane,
    LaneRow,
    Mark,
    Picture,
    Shade,
    Strip,
    clipped,
    edges,
    text_at,
)
from casebook.page.palette import light
from casebook.page.proof import cited_as
from casebook.page.render import anchor
from casebook.page.view import Figure

_CLEAR = "rgba(0,0,0,0)"
_FONT = "system-ui, 'DejaVu Sans', sans-serif"
_MONO = "ui-monospace, 'DejaVu Sans Mono', monospace"
_DISC, _MARK = 19, 10

_MARGIN = {"x": 0, "xref": "paper", "xanchor": "left", "align": "left", "showarrow": False, "xshift": -LABELS}

Drawn = tuple[Strip, float, float]
"""A strip with its upper and lower edge."""


def figure(picture: Picture) -> Figure:
    """Return the Plotly chart."""
    height = picture.height
    drawn = [(strip, top + edges(strip)[0], top + edges(strip)[1]) for _, row, top, _ in picture.placed() for strip in row.strips]
    strips = [
        _strips(picture, [d for d in drawn if d[0].how == SOLID]),
        *(_patterned(picture, [d for d in drawn if d[0].how == how], how) for how in (HATCHED, DASHED)),
    ]
    notes = list(_notes(picture))
    shapes = list(_shapes(picture))
    meta = {"font.color": "text"}
    meta |= {
        f"{axis}.{part}": token
        for axis in ("xaxis", "yaxis")
        for part, token in (("gridcolor", "hair"), ("tickfont.color", "quiet"))
    }
    meta |= {f"annotations[{at}].{path}": token for at, (_, tokens) in enumerate(notes) for path, token in tokens.items()}
    meta |= {f"shapes[{at}].line.color": token for at, (_, token) in enumerate(shapes)}
    return Figure(
        data=(*_shades(picture), *strips, _levels(picture), _bins(picture), _ticks(picture), _marks(picture), _numbers(picture)),
        layout=_layout(picture, height, [note for note, _ in notes], [shape for shape, _ in shapes], meta),
        picture=lanes_picture.picture(picture),
        alternative=picture.alternative,
    )


def iso(time: float) -> str:
    """Format a time for Plotly, in UTC."""
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def target(proof: str) -> str:
    """Return the target of a click."""
    return f"#{anchor(cited_as(proof))}" if proof else ""


def _bars(rows: Sequence[tuple[float, float, float, float]]) -> dict[str, object]:
    """Return horizontal bars: start, end, upper and lower edge of each."""
    return {
        "type": "bar",
        "orientation": "h",
        "base": [iso(begin) for begin, _, _, _ in rows],
        "x": [max(1.0, end - begin) for begin, end, _, _ in rows],
        "y": [(upper + lower) / 2 for _, _, upper, lower in rows],
        "width": [lower - upper for _, _, upper, lower in rows],
        "hoverinfo": "skip",
    }


def _shades(picture: Picture) -> Iterator[dict[str, object]]:
    """Yield windows by token: a pattern on a tint has one colour only."""
    for token in dict.fromkeys(shade.token for shade in picture.shades):
        stretches = [clipped(s.start, s.end, picture.extent) for s in picture.shades if s.token == token]
        tokens = {"marker.color": f"{token}-tint", "marker.line.color": token, "marker.pattern.fgcolor": f"{token}-fill"}
        tint, edge, line = map(light, tokens.values())
        pattern = {"shape": "\\", "fgcolor": line, "size": 9, "solidity": 0.12, "fillmode": "overlay"}
        marker = {"color": tint, "line": {"color": edge, "width": 1.5}, "pattern": pattern}
        yield _bars([(*stretch, 0.0, picture.height) for stretch in stretches if stretch]) | {"marker": marker, "meta": tokens}


def _stretches(picture: Picture, drawn: Sequence[Drawn]) -> list[tuple[Strip, tuple[float, float, float, float]]]:
    found = [(strip, clipped(strip.start, strip.end, picture.extent), upper, lower) for strip, upper, lower in drawn]
    return [(strip, (*stretch, upper, lower)) for strip, stretch, upper, lower in found if stretch]


def _hover(strips: Sequence[Strip]) -> dict[str, object]:
    return {
        "hoverinfo": None,
        "hovertext": [escape(strip.words) for strip in strips],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "customdata": [target(strip.proof) for strip in strips],
    }


def _strips(picture: Picture, drawn: Sequence[Drawn]) -> dict[str, object]:
    rows = _stretches(picture, drawn)
    tokens = [strip.token for strip, _ in rows]
    page = {"marker.color": tokens, "marker.line.color": "page"}
    marker = {"color": [light(token) for token in tokens], "line": {"color": light("page"), "width": 0.5}}
    return _bars([row for _, row in rows]) | _hover([strip for strip, _ in rows]) | {"marker": marker, "meta": page}


def _patterned(picture: Picture, drawn: Sequence[Drawn], how: str) -> dict[str, object]:
    """Return patterned strips: hatched for an uncertain duration, dashed for absence."""
    rows = _stretches(picture, drawn)
    tokens = [strip.token for strip, _ in rows]
    colours = [light(token) for token in tokens]
    marker = {
        "color": _CLEAR,
        "line": {"color": colours, "width": 1},
        "pattern": {
            "shape": "/" if how == HATCHED else ".",
            "fgcolor": colours,
            "size": 6 if how == HATCHED else 5,
            "solidity": 0.2,
            "fillmode": "overlay",
        },
    }
    meta = {"marker.line.color": tokens, "marker.pattern.fgcolor": tokens}
    return _bars([row for _, row in rows]) | _hover([strip for strip, _ in rows]) | {"marker": marker, "meta": meta}


def _ticks(picture: Picture) -> dict[str, object]:
    """Return single events, as short stems below their lane's line."""
    rows = [(tick, middle) for tick in picture.ticks if (middle := picture.middle_of(tick.lane)) is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "ticks",
        "x": [iso(tick.at) for tick, _ in rows],
        "y": [y + 11 for _, y in rows],
        "customdata": [target(tick.proof) for tick, _ in rows],
        "hovertext": [escape(tick.words) for tick, _ in rows],
        "hovertemplate": "%{x|%H:%M:%S.%L} %{hovertext}<extra></extra>",
        "marker": {"symbol": "line-ns", "size": 7, "color": light("second"), "line": {"color": light("second"), "width": 1.2}},
        "meta": {"marker.color": "second", "marker.line.color": "second"},
    }


def _bins(picture: Picture) -> dict[str, object]:
    """Return counts, as bars to scale within the figure."""
    rows = list(picture.counted())
    stretches = [(tick.at, tick.at + tick.width, floor - height, float(floor)) for tick, height, floor in rows]
    return _bars(stretches) | {
        "name": "bins",
        "hoverinfo": None,
        "customdata": [tick.count for tick, _, _ in rows],
        "hovertext": [escape(tick.words) for tick, _, _ in rows],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"color": light("second"), "line": {"width": 0}},
        "meta": {"marker.color": "second"},
    }


def _levels(picture: Picture) -> dict[str, object]:
    """Return amounts, as bars to scale."""
    rows = list(picture.risen())
    tokens = [level.token for level, *_ in rows]
    return _bars([stretch for _, *stretch in rows]) | {
        "name": "levels",
        "hoverinfo": None,
        "customdata": [target(level.proof) for level, *_ in rows],
        "hovertext": [escape(level.words) for level, *_ in rows],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"color": [light(token) for token in tokens], "line": {"width": 0}},
        "meta": {"marker.color": tokens},
    }


def _scatter(rows: Sequence[tuple[Mark, float]]) -> dict[str, object]:
    return {
        "type": "scatter",
        "x": [iso(mark.at) for mark, _ in rows],
        "y": [y for _, y in rows],
        "customdata": [target(mark.proof) for mark, _ in rows],
        "hovertext": [escape(mark.words) for mark, _ in rows],
        "hovertemplate": "%{x|%H:%M:%S.%L} %{hovertext}<extra></extra>",
        "cliponaxis": True,
    }


def _marks(picture: Picture) -> dict[str, object]:
    rows = [(mark, float(top + row.middle)) for _, row, top, _ in picture.placed() for mark in row.marks if not mark.number]
    tokens = ["page" if mark.shape == OPEN else mark.token for mark, _ in rows]
    rims = ["page" if mark.shape == DISC else mark.token if mark.shape == OPEN else "text" for mark, _ in rows]
    return _scatter(rows) | {
        "mode": "markers",
        "marker": {
            "symbol": [mark.shape.removesuffix("-open") for mark, _ in rows],  # filled, to cover what is behind
            "size": _MARK,
            "color": [light(token) for token in tokens],
            "line": {"color": [light(rim) for rim in rims], "width": [2 if mark.shape == OPEN else 1 for mark, _ in rows]},
        },
        "meta": {"marker.color": tokens, "marker.line.color": rims},
    }


def _numbers(picture: Picture) -> dict[str, object]:
    """Return the story's sentences, each a disc with its number; the script moves overlapping ones apart."""
    rows = [(mark, float(top + MIDDLE)) for _, row, top, _ in picture.placed() for mark in row.marks if mark.number]
    return _scatter(rows) | {
        "mode": "markers+text",
        "name": "numbers",
        "hovertemplate": "%{hovertext}<extra></extra>",
        "customdata": [f"#story-{mark.number}" for mark, _ in rows],
        "text": [f"<b>{mark.number}</b>" for mark, _ in rows],
        "textposition": "middle center",
        "textfont": {"color": light("page"), "size": 11},
        "marker": {"symbol": "circle", "size": _DISC, "color": light("text"), "line": {"color": light("page"), "width": 1.5}},
        "meta": {"marker.color": "text", "marker.line.color": "page", "textfont.color": "page"},
    }


def _shapes(picture: Picture) -> Iterator[tuple[dict[str, object], str]]:
    """Yield borders of lanes and base lines, each with its colour token."""
    for _, row, top, first in picture.placed():
        if first:
            yield _line(
                {"x0": -LABELS, "x1": 0, "xref": "paper", "xsizemode": "pixel", "xanchor": 0, "y0": top, "y1": top}, "hair"
            )
            yield _line({"x0": 0, "x1": 1, "xref": "paper", "y0": top, "y1": top}, "hair")
        if row.base:
            middle = top + MIDDLE
            yield _line({"x0": 0, "x1": 1, "xref": "paper", "y0": middle, "y1": middle}, "edge")
    for at in picture.usual():
        yield _line({"x0": 0, "x1": 1, "xref": "paper", "y0": at, "y1": at}, "text", dash="dot", layer="above")


def _line(where: dict[str, object], token: str, *, dash: str = "solid", layer: str = "below") -> tuple[dict[str, object], str]:
    return {"type": "line", **where, "line": {"color": light(token), "width": 1, "dash": dash}, "layer": layer}, token


Note = tuple[dict[str, object], dict[str, str]]


def _notes(picture: Picture) -> Iterator[Note]:
    """Yield all texts, each with its colour tokens."""
    for lane, row, top, first in picture.placed():
        if first:
            yield _name(lane, row, top)
        for label in row.labels:
            yield _label(label, top)
    for lane, row, top, first in picture.placed():
        if first:
            yield _detail(lane, row, top)
    for shade in picture.shades:
        yield from _heading(picture, shade)


def _name(lane: Lane, row: LaneRow, top: int) -> Note:
    """Return the name of a lane in the left column; the script moves it above the lane when narrow."""
    beside, above = top + row.name_at, top + 8
    width = Label(text=lane.name, bold=True).width
    place = {"y": beside, "font": {"size": 12}, "name": f"lane|{beside}|{above}|{width:.0f}"}
    return _MARGIN | {"text": f"<b>{escape(lane.name)}</b>"} | place, {}


def _detail(lane: Lane, row: LaneRow, top: int) -> Note:
    """Return the text below a lane's name; above the lane when narrow, after the name, if the labels leave room."""
    below, above = top + row.name_at + 15, top + 8
    wide = "|".join(f"{label.width:.0f}" for label in (Label(text=lane.name, bold=True), Label(text=lane.detail)))
    place = {"y": below, "font": {"size": 11.5, "color": light("quiet")}, "name": f"detail|{below}|{above}|{wide}"}
    return _MARGIN | {"text": escape(lane.detail)} | place, {"font.color": "quiet"}


def _label(label: Label, top: int) -> Note:
    at = label.start if label.side == "left" or label.end is None else label.end
    where = {"x": 0, "xref": "paper"} if label.pinned or at is None else {"x": iso(at)}
    ends = "|".join("" if end is None else iso(end) for end in (label.start, label.end))
    text = f"<b>{escape(label.text)}</b>" if label.bold else escape(label.text)
    font = {"size": 12, "color": light(label.token)} | ({"family": _MONO} if label.mono else {})
    ground = {"bgcolor": "page"} if label.pinned or label.backed else {}
    return {
        "text": text,
        **where,
        "xanchor": "left" if label.pinned else label.side,
        "y": top + text_at(label),
        "showarrow": False,
        "borderpad": 0,
        "font": font,
        "visible": not label.instead,
        "name": f"{label.kind}|{ends}|{label.side}|{label.width:.0f}|{top + 1 if label.under else top}"
        + ("|instead" if label.instead else ""),
    } | {name: light(token) for name, token in ground.items()}, ground | {"font.color": label.token}


def _heading(picture: Picture, shade: Shade) -> Iterator[Note]:
    """Yield the title and the bounds of a window, above the lanes."""
    stretch = clipped(shade.start, shade.end, picture.extent)
    if stretch is None:
        return
    ends = "|".join(iso(end) for end in stretch)
    lines = (Label(text=shade.title, bold=True, token=shade.token), Label(text=shade.detail, token="quiet"))
    for line, above in zip(lines, (27, 11), strict=True):
        text = escape(line.text)
        where = {"x": iso(sum(stretch) / 2), "y": 0, "yshift": above, "showarrow": False}
        look = {"font": {"size": 12, "color": light(line.token)}, "name": f"head|{ends}|center|{line.width:.0f}|{-above}"}
        yield where | look | {"text": f"<b>{text}</b>" if line.bold else text}, {"font.color": line.token}


def _scale(picture: Picture) -> dict[str, object]:
    """Return the axis of readable counts; its numbers are inside, as a narrow figure has no room next to it."""
    lines = picture.scale()
    if not lines:
        return {"visible": False}
    return {
        "tickvals": [at for at, _ in lines],
        "ticktext": [count(number) for _, number in lines],
        "ticklabelposition": "inside top",
        "tickfont": {"color": light("quiet"), "size": 12},
        "gridcolor": light("hair"),
    }


def _layout(picture: Picture, height: int, notes: list[dict], shapes: list[dict], meta: dict[str, str]) -> dict[str, object]:
    return {
        "barmode": "overlay",
        "height": height + picture.head + picture.foot,
        "margin": {"l": LABELS, "r": 2, "t": picture.head, "b": picture.foot},
        "showlegend": False,
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"family": _FONT, "size": 12, "color": light("text")},
        "hovermode": "closest",
        "xaxis": {
            "type": "date",
            "range": [iso(time) for time in picture.span],
            "minallowed": iso(picture.extent[0]),
            "maxallowed": iso(picture.extent[1]),
            "tickformatstops": [
                {"dtickrange": [None, 999], "value": "%H:%M:%S.%L"},
                {"dtickrange": [1000, 59_999], "value": "%H:%M:%S"},
                {"dtickrange": [60_000, 86_399_999], "value": "%H:%M\n%-d %b"},
                {"dtickrange": [86_400_000, None], "value": "%-d %b"},
            ],
            "tickfont": {"color": light("quiet"), "size": 12},
            "gridcolor": light("hair"),
            "nticks": 7,
            "tickangle": 0,
            "zeroline": False,
        },
        "yaxis": {"fixedrange": True, "range": [height, 0], "zeroline": False} | _scale(picture),
        "annotations": notes,
        "shapes": shapes,
        "dragmode": "zoom",
        "selectdirection": "h",
        "meta": meta,
    }
