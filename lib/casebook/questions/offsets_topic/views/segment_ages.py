"""Segments by age: size, superseded part, and position of the latest values. One list of spans, drawn twice.

The upper chart shows bytes by the start of a segment, hatched for superseded ones; the lower one, on the same time axis, has a
stem for every span with a live record. The cleaner point crosses both.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.facts.offsets_topic import Segment
from casebook.findings import words
from casebook.page import text
from casebook.page.lanes_figure import iso
from casebook.page.palette import light
from casebook.page.render import render
from casebook.page.view import Figure

_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
_WIDTHS = (
    *(n * _SECOND for n in (1, 2, 5, 10, 30)),
    *(n * _MINUTE for n in (1, 5, 15)),
    *(n * _HOUR for n in (1, 3, 6)),
    *(n * _DAY for n in (1, 7, 28, 91, 364)),
)
_MOST_SPANS = 30
_MONDAY = 4 * _DAY  # the epoch's first Monday: weeks begin there
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))
_WIDTH, _UPPER, _LOWER, _GAP, _LEFT, _TOP = 720, 170, 90, 40, 44, 36


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeSpan:
    """Segments that started within a period.

    Args:
        start: Start, epoch milliseconds.
        end: End.
        segments: Number of segments that started in it.
        bytes: Size.
        live_bytes: Bytes of latest values.
        live_records: Number of latest values.
    """

    start: int
    end: int
    segments: int
    bytes: int
    live_bytes: int
    live_records: int

    @property
    def superseded_bytes(self) -> int:
        """Bytes that a clean would remove."""
        return self.bytes - self.live_bytes


def spans(segments: Iterable[Segment]) -> tuple[AgeSpan, ...]:
    """Return segments by start time, in at most 30 equal spans of a round length; those without a time are left out."""
    known = [segment for segment in segments if segment.first_time is not None]
    if not known:
        return ()
    first, last = (pick(segment.first_time for segment in known) for pick in (min, max))
    width = next((w for w in _WIDTHS if (last - first) // w < _MOST_SPANS - 1), _WIDTHS[-1])
    origin = (first - _MONDAY) // width * width + _MONDAY if width >= 7 * _DAY else first // width * width
    within: dict[int, list[Segment]] = {}
    for segment in known:
        within.setdefault((segment.first_time - origin) // width, []).append(segment)
    return tuple(_span(origin + n * width, width, within.get(n, ())) for n in range(max(within) + 1))


def _span(start: int, width: int, segments: Sequence[Segment]) -> AgeSpan:
    return AgeSpan(
        start=start,
        end=start + width,
        segments=len(segments),
        bytes=sum(s.bytes for s in segments),
        live_bytes=sum(s.live_bytes for s in segments),
        live_records=sum(s.live_records for s in segments),
    )


def unit(drawn: Sequence[AgeSpan]) -> tuple[int, str]:
    """Return a suitable unit for the largest span: (bytes, name)."""
    largest = max((span.bytes for span in drawn), default=0)
    return next((u for u in _UNITS if largest >= u[0]), _UNITS[-1])


def length(span: AgeSpan) -> str:
    """Name the length of a span: ``week``, ``30 seconds``."""
    width = span.end - span.start
    for size, name in ((7 * _DAY, "week"), (_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute"), (_SECOND, "second")):
        if width % size == 0:
            return name if width == size else words.plural(width // size, name)
    raise ValueError(f"a span of {width} ms")


def figure(drawn: Sequence[AgeSpan], *, cleaned_to: int | None, note: str, alternative: str) -> Figure:
    """Return the two charts as one Plotly chart.

    Args:
        drawn: See :func:`spans`.
        cleaned_to: Start of the first uncleaned segment; ``None`` when unknown.
        note: Text at that line.
        alternative: Alternative text, one sentence.
    """
    size, name = unit(drawn)
    middle = [iso(span.start + (span.end - span.start) // 2) for span in drawn]
    bars = {
        "type": "bar",
        "x": middle,
        "width": [(s.end - s.start) * 0.94 for s in drawn],
        "customdata": [_hover(s) for s in drawn],
    }
    edge, live = light("edge"), light("live")
    hatched = {
        **bars,
        "y": [span.superseded_bytes / size for span in drawn],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {
            "color": "rgba(0,0,0,0)",
            "line": {"color": edge, "width": 1},
            "pattern": {"shape": "/", "fgcolor": edge, "size": 6, "solidity": 0.2, "fillmode": "overlay"},
        },
        "meta": {"marker.line.color": "edge", "marker.pattern.fgcolor": "edge"},
    }
    solid = {
        **bars,
        "y": [span.live_bytes / size for span in drawn],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": live},
        "meta": {"marker.color": "live"},
    }
    return Figure(
        data=(solid, hatched, _stems(drawn, middle)),
        layout=_layout(drawn, cleaned_to, note, name),
        picture=_picture(drawn, cleaned_to=cleaned_to, note=note, alternative=alternative),
        alternative=alternative,
    )


def _picture(drawn: Sequence[AgeSpan], *, cleaned_to: int | None, note: str, alternative: str) -> Markup:
    size, name = unit(drawn)
    begin, end = drawn[0].start, drawn[-1].end
    largest, most = max(s.bytes for s in drawn) or 1, _height(max(s.live_records for s in drawn)) or 1

    def x(instant: int) -> float:
        return round(_LEFT + (instant - begin) / (end - begin) * (_WIDTH - _LEFT), 1)

    columns = [
        {
            "x": x(s.start),
            "width": round(x(s.end) - x(s.start), 1) - 1,
            "live": round(s.live_bytes / largest * _UPPER, 1),
            "gone": round(s.superseded_bytes / largest * _UPPER, 1),
            "stem": round(_height(s.live_records) / most * (_LOWER - 20), 1),
            "records": s.live_records,
            "date": _tick(s, drawn),
        }
        for s in drawn
    ]
    return render(
        "segment_ages",
        columns=columns,
        line=None if cleaned_to is None else x(min(max(cleaned_to, begin), end)),
        note=note,
        alternative=alternative,
        width=_WIDTH,
        upper=_UPPER,
        lower=_LOWER,
        gap=_GAP,
        left=_LEFT,
        top=_TOP,
        largest=f"{largest / size:.3g} {name}",
        every=max(1, len(drawn) // 6),
    )


def _stems(drawn: Sequence[AgeSpan], middle: Sequence[str]) -> dict[str, object]:
    holding = [(x, span) for x, span in zip(middle, drawn, strict=True) if span.live_records]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [x for x, _ in holding],
        "y": [_height(span.live_records) for _, span in holding],
        "yaxis": "y2",
        "text": [words.count(span.live_records) for _, span in holding],
        "textposition": "top center",
        "cliponaxis": False,
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [0] * len(holding),
            "arrayminus": [_height(s.live_records) for _, s in holding],
            "color": light("live"),
            "thickness": 3,
            "width": 0,
        },
        "marker": {"color": light("live"), "size": 9},
        "hovertemplate": "%{customdata}<extra></extra>",
        "customdata": [_hover(span) for _, span in holding],
        "meta": {"marker.color": "live", "error_y.color": "live"},
    }


def _layout(drawn: Sequence[AgeSpan], cleaned_to: int | None, note: str, name: str) -> dict[str, object]:
    quiet = {"showarrow": False, "xref": "paper", "yref": "paper", "x": 0, "xanchor": "left", "font": {"size": 12}}
    notes = [
        quiet
        | {"text": f"<b>Size of segments begun that {length(drawn[0])}, {name}</b>", "y": 1.0, "yanchor": "bottom", "yshift": 18},
        quiet | {"text": "<b>Latest values (live records) in them</b>", "y": 0.30, "yanchor": "bottom"},
    ]
    meta = {"font.color": "text", "xaxis.linecolor": "edge", "yaxis.gridcolor": "hair"}
    shapes = []
    if cleaned_to is not None:
        at = iso(min(max(cleaned_to, drawn[0].start), drawn[-1].end))
        right = cleaned_to > (drawn[0].start + drawn[-1].end) / 2
        shapes.append(
            {
                "type": "line",
                "x0": at,
                "x1": at,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"color": light("critical"), "width": 2},
            }
        )
        notes.append(
            {
                "text": note,
                "x": at,
                "xanchor": "right" if right else "left",
                "xshift": -6 if right else 6,
                "yref": "paper",
                "y": 1,
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 12, "color": light("critical")},
            }
        )
        meta |= {"shapes[0].line.color": "critical", "annotations[2].font.color": "critical"}
    axis = {"fixedrange": True, "zeroline": False}
    return {
        "barmode": "stack",
        "height": 368,
        "margin": {"l": 44, "r": 8, "t": 46, "b": 40},
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 12, "color": light("text")},
        "xaxis": axis
        | {"type": "date", "range": [iso(drawn[0].start), iso(drawn[-1].end)], "linecolor": light("edge"), "anchor": "y2"},
        "yaxis": axis | {"domain": [0.42, 1], "rangemode": "tozero", "gridcolor": light("hair"), "nticks": 4},
        "yaxis2": axis | {"domain": [0, 0.24], "visible": False, "range": [0, _top(drawn)]},
        "annotations": notes,
        "shapes": shapes,
        "dragmode": False,
        "meta": meta,
    }


def _height(records: int) -> float:
    """Return the height of a stem: logarithmic, so that one live record and ten thousand are both visible."""
    return 1 + math.log10(records) if records else 0.0


def _top(drawn: Sequence[AgeSpan]) -> float:
    return max((_height(span.live_records) for span in drawn), default=1) * 1.25 or 1


def _hover(span: AgeSpan) -> str:
    return (
        f"{words.when(span.start)}: {words.plural(span.segments, 'segment')}, {text.size(span.bytes)}, "
        f"{words.plural(span.live_records, 'latest value')}"
    )


def _tick(span: AgeSpan, drawn: Sequence[AgeSpan]) -> str:
    return words.clock(span.start) if drawn[-1].end - drawn[0].start < 2 * _DAY else f"{words.when(span.start).partition(',')[0]}"
