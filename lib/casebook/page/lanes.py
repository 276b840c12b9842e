"""Lanes on one time axis: the model of a timeline figure.

All vertical positions are in pixels from the top, so that the Plotly and the static drawing agree. A row has a band for texts
and, below it, a body for strips and marks. A row of halves has two strips, with texts in the free half.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

LABELS = 112
"""Width of the name column."""
HEAD, FOOT = 40, 24
"""Height of window titles above the lanes, and of the axis below them."""
_BARE, _DAYS = 6, 14
"""Height above lanes without windows, and of the second axis line with days."""
_MINUTES = 7 * 60_000

MIDDLE = 23
"""Position of a row's marks, from its top."""

FULL, LINE, LOWER, UPPER, FOOTNOTE = "full", "line", "lower", "upper", "footnote"
SOLID, HATCHED, DASHED = "solid", "hatched", "dashed"
SQUARE, DIAMOND, DISC, OPEN = "square", "diamond", "circle", "diamond-open"

_EDGES = {FULL: (15, 31), LINE: (21, 25), UPPER: (7, 14), LOWER: (15, 22), FOOTNOTE: (25, 28)}
_ROW, _HALVES, _QUIET, _TALL = 36, 31, 18, 124
_LEVELS = (34, 18)
"""Base line of levels, from their row's top, and the height of the highest."""
_COUNTS, _TALL_COUNTS = 14, 94
"""Height of a figure's largest count."""
_ABOVE, _BELOW = 7, 23
_LETTER, _MONO, _BOLD = 6.7, 7.5, 7.4  # at 12 px, for the widest font in use
_STEPS = (
    *(step * scale for scale in (1, 10, 100, 1000) for step in (1, 2, 5)),
    *(1000 * step for step in (10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A period.

    Args:
        start: Epoch milliseconds; ``None``: before the figure starts.
        end: ``None``: beyond its end, as far as known.
        token: Colour.
        how: ``SOLID``, ``HATCHED`` or ``DASHED``.
        where: Part of the row: ``UPPER``, ``LOWER`` and ``FOOTNOTE`` are parts of a row of halves.
        words: Description.
        proof: Proof.
    """

    start: float | None
    end: float | None
    token: str
    words: str
    how: str = SOLID
    where: str = FULL
    proof: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text for a period, shown when it fits there.

    Args:
        text: Text.
        start: Start; ``None``: left edge of the figure.
        end: End; ``None``: right edge.
        side: ``left``, ``center`` or ``right`` of the stretch.
        bold: Whether it is bold.
        mono: Whether it is an id.
        token: Colour.
        under: Whether it is in the lower half of a row of halves.
        pinned: It stays at the left edge at any zoom.
        loose: It may be wider than its period.
        instead: Replacement for the label before it when that does not fit.
        backed: It has the page's background colour, to hide crossing lines, like a pinned one.
    """

    text: str
    start: float | None = None
    end: float | None = None
    side: str = "left"
    bold: bool = False
    mono: bool = False
    token: str = "text"
    under: bool = False
    pinned: bool = False
    loose: bool = False
    instead: bool = False
    backed: bool = False

    @property
    def kind(self) -> str:
        """Kind of fitting, one word."""
        return "pinned" if self.pinned else "loose" if self.loose else "label"

    @property
    def width(self) -> float:
        """Approximate width in pixels."""
        letter = _MONO if self.mono else _BOLD if self.bold else _LETTER
        return len(self.text) * letter + 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An event.

    Args:
        at: Epoch milliseconds.
        words: Description.
        number: Number of the story's sentence, in a disc; 0 for a mark of another ``shape``.
        proof: Proof.
    """

    at: float
    words: str
    number: int = 0
    shape: str = SQUARE
    token: str = "text"
    proof: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """An amount over a period.

    Args:
        start: Epoch milliseconds.
        end: Epoch milliseconds.
        share: Share of the row's height, from 0 to 1.
        token: Colour.
        words: Description.
        proof: Proof.
    """

    start: float
    end: float
    share: float
    words: str
    token: str = "second"
    proof: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneRow:
    """A row of a lane.

    Args:
        levels: Amounts, as bars from its lower edge.
        usual: Height of the line for the usual amount, as :attr:`Level.share`; ``None`` for no line.
        base: Whether it has a thin base line: present all the time, without a known period.
        halves: It has two strips.
        quiet: It has only texts.
        tall: Its counts are readable: tall, with a scale.
    """

    strips: Sequence[Strip] = ()
    labels: Sequence[Label] = ()
    marks: Sequence[Mark] = ()
    levels: Sequence[Level] = ()
    usual: float | None = None
    base: bool = False
    halves: bool = False
    quiet: bool = False
    tall: bool = False

    @property
    def height(self) -> int:
        """Height in pixels."""
        return _TALL if self.tall else _QUIET if self.quiet else _HALVES if self.halves else _ROW

    @property
    def middle(self) -> int:
        """Position of its marks, from its top; in a tall row, the base line of counts."""
        return _TALL - 8 if self.tall else MIDDLE

    @property
    def counts(self) -> tuple[int, int]:
        """Base line of counts, from its top, and the height of the largest."""
        return (self.middle, _TALL_COUNTS) if self.tall else (MIDDLE + 13, _COUNTS)

    @property
    def name_at(self) -> int:
        """Middle of its lane's name, when it is the first."""
        return 9 if self.quiet else 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Rows of one kind.

    Args:
        key: Key of the lane, for counting its events.
        name: Name.
        detail: Secondary line below the name.
    """

    key: str
    name: str
    detail: str
    rows: Sequence[LaneRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shade:
    """A window across all lanes.

    Args:
        start: Epoch milliseconds.
        end: ``None``: beyond the figure.
        title: Kind and length.
        detail: Its bounds.
        token: ``critical`` or ``warning``.
    """

    start: float
    end: float | None
    title: str
    detail: str
    token: str = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """An event, or several in one bin.

    Args:
        lane: Key of its lane.
        at: Epoch milliseconds; of a bin, its start.
        words: Description.
        proof: Proof.
        count: Number of events.
        width: Width of the bin, milliseconds; 0 for a single event.
    """

    lane: str
    at: float
    words: str
    proof: str = ""
    count: int = 1
    width: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A whole figure.

    Args:
        lanes: From top to bottom.
        shades: Windows.
        ticks: Single events.
        bins: Counts, when there are too many events to draw each.
        span: First and last moment of the initial view.
        extent: First and last moment of all data.
        alternative: Alternative text, one sentence.
    """

    lanes: Sequence[Lane]
    shades: Sequence[Shade] = ()
    ticks: Sequence[Tick] = ()
    bins: Sequence[Tick] = ()
    span: tuple[float, float]
    extent: tuple[float, float]
    alternative: str

    @property
    def head(self) -> int:
        """Height above the lanes, pixels."""
        return HEAD if self.shades else _BARE

    @property
    def foot(self) -> int:
        """Height below the lanes, pixels."""
        return FOOT + (_DAYS if self.extent[1] - self.extent[0] >= _MINUTES else 0)

    @property
    def height(self) -> int:
        """Height of the lanes, pixels."""
        return sum(row.height for lane in self.lanes for row in lane.rows)

    def placed(self) -> Iterator[tuple[Lane, LaneRow, int, bool]]:
        """Yield each row with its top, and whether it is its lane's first."""
        top = 0
        for lane in self.lanes:
            for number, row in enumerate(lane.rows):
                yield lane, row, top, number == 0
                top += row.height

    def middle_of(self, key: str) -> int | None:
        """Return the middle of a lane's first row that is not only text."""
        return next((top + MIDDLE for lane, row, top, _ in self.placed() if lane.key == key and not row.quiet), None)

    def counted(self) -> Iterator[tuple[Tick, float, int]]:
        """Yield each count with its height and its base line."""
        most = max((tick.count for tick in self.bins), default=1)
        floors = {lane.key: (top + row.counts[0], row.counts[1]) for lane, row, top, _ in self.placed() if not row.quiet}
        for tick in self.bins:
            if tick.lane in floors:
                floor, highest = floors[tick.lane]
                yield tick, max(1.0, tick.count / most * highest), floor

    def risen(self) -> Iterator[tuple[Level, float, float, float, float]]:
        """Yield each visible level, with its start and end, and its upper and lower edge."""
        floor, highest = _LEVELS
        for _, row, top, _ in self.placed():
            for level in row.levels:
                if stretch := clipped(level.start, level.end, self.extent):
                    yield level, *stretch, top + floor - max(0.5, level.share * highest), float(top + floor)

    def usual(self) -> list[int]:
        """Return the position of each line for a usual amount, from the top."""
        floor, highest = _LEVELS
        return [round(top + floor - row.usual * highest) for _, row, top, _ in self.placed() if row.usual is not None]

    def scale(self) -> list[tuple[float, int]]:
        """Return round counts along a tall row, each with its position from the figure's top."""
        most = max((tick.count for tick in self.bins), default=0)
        return [
            (top + row.counts[0] - number / most * row.counts[1], number)
            for _, row, top, _ in self.placed()
            if row.tall and most
            for number in rounded(most)
        ]


def shortened(label: Label, *lengths: int) -> Iterator[Label]:
    """Yield a label, and shortened versions with the middle of its text left out, down to so many letters."""
    yield label
    for most in lengths:
        if len(label.text) > most:
            tail = most // 3
            yield replace(label, text=f"{label.text[: most - tail - 1]}…{label.text[-tail:]}", instead=True)


def rounded(most: int) -> list[int]:
    """Return round counts from 0 up to the largest, four at most above 0."""
    step = next(n * 10**power for power in range(20) for n in (1, 2, 5) if most <= 4 * n * 10**power)
    return list(range(0, most + 1, step))


def edges(strip: Strip) -> tuple[int, int]:
    """Return the upper and lower edge of a strip, from its row's top."""
    return _EDGES[strip.where]


def text_at(label: Label) -> int:
    """Return the middle of a text, from its row's top."""
    return _BELOW if label.under else _ABOVE


def clipped(start: float | None, end: float | None, bounds: tuple[float, float]) -> tuple[float, float] | None:
    """Return the visible part of a period; ``None`` when invisible."""
    first, last = bounds
    begin, stop = max(first, first if start is None else start), min(last, last if end is None else end)
    return (begin, stop) if begin <= stop else None


def ticks(span: tuple[float, float], *, most: int = 7) -> list[float]:
    """Return round times along an axis."""
    first, last = span
    step = next((s for s in _STEPS if (last - first) / s <= most), _STEPS[-1])
    start = -(-first // step) * step
    return [start + step * n for n in range(int((last - start) // step) + 1)]
