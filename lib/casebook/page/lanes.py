"""Lanes on one time axis: what a picture of a timeline is made of, before anybody draws it.

Everything vertical is in pixels from the top, so that both drawings, Plotly's and the static one, agree. A row has a band for
texts and, below it, a body for strips and marks. A row of halves has two strips, and a text stands where the other half is free.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

LABELS = 112
"""Width of the column of names."""
HEAD, FOOT = 40, 24
"""Room for what the windows say above the lanes, and for the axis below them."""
_BARE, _DAYS = 6, 14
"""Room above lanes without windows, and for the days that an axis of minutes tells in a second line."""
_MINUTES = 7 * 60_000

MIDDLE = 23
"""Of a row's marks, from its top."""

FULL, LINE, LOWER, UPPER, FOOTNOTE = "full", "line", "lower", "upper", "footnote"
SOLID, HATCHED, DASHED = "solid", "hatched", "dashed"
SQUARE, DIAMOND, DISC, OPEN = "square", "diamond", "circle", "diamond-open"

_EDGES = {FULL: (15, 31), LINE: (21, 25), UPPER: (7, 14), LOWER: (15, 22), FOOTNOTE: (25, 28)}
_ROW, _HALVES, _QUIET, _TALL = 36, 31, 18, 124
_LEVELS = (34, 18)
"""The line from which levels rise, from their row's top, and the height of the highest."""
_COUNTS, _TALL_COUNTS = 14, 94
"""Height of the largest of a picture's counts."""
_ABOVE, _BELOW = 7, 23
_LETTER, _MONO, _BOLD = 6.7, 7.5, 7.4  # at 12 px, of the widest face in use
_STEPS = (
    *(step * scale for scale in (1, 10, 100, 1000) for step in (1, 2, 5)),
    *(1000 * step for step in (10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Something that lasted.

    Args:
        start: Epoch milliseconds; ``None``: since before the picture begins.
        end: ``None``: beyond its end, as far as anybody knows.
        token: Its colour.
        how: ``SOLID``, ``HATCHED`` or ``DASHED``.
        where: Which part of the row it takes: ``UPPER``, ``LOWER`` and ``FOOTNOTE`` are parts of a row of halves.
        words: What it is, in words.
        proof: Where it is told.
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
    """A text that belongs to a stretch of time, and is shown where that has room for it.

    Args:
        text: What is written.
        start: From here on; ``None``: from the picture's left edge.
        end: Up to here; ``None``: up to its right edge.
        side: ``left``, ``center`` or ``right`` of the stretch.
        bold: Whether it stands out.
        mono: Whether it is an id.
        token: Its colour.
        under: Whether it stands in the lower half of a row of halves.
        pinned: It stands at the left edge, whatever is shown.
        loose: It may be wider than its stretch.
        instead: It stands in for the label before it where that has no room.
        backed: The page's colour lies behind it, and hides what would cross it; so it does behind a pinned one.
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
        """How it is fitted in, in a word."""
        return "pinned" if self.pinned else "loose" if self.loose else "label"

    @property
    def width(self) -> float:
        """About so many pixels."""
        letter = _MONO if self.mono else _BOLD if self.bold else _LETTER
        return len(self.text) * letter + 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that happened.

    Args:
        at: Epoch milliseconds.
        words: What it is.
        number: Of the story's sentence, in a disc; 0 for a mark of another ``shape``.
        proof: Where it is told.
    """

    at: float
    words: str
    number: int = 0
    shape: str = SQUARE
    token: str = "text"
    proof: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How much of something there was for a while.

    Args:
        start: Epoch milliseconds.
        end: The same.
        share: Of the row's height, from 0 to 1.
        token: Its colour.
        words: What it is, in words.
        proof: Where it is told.
    """

    start: float
    end: float
    share: float
    words: str
    token: str = "second"
    proof: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneRow:
    """A line of a lane.

    Args:
        levels: How much there was, as bars that rise from its lower edge.
        usual: Height of the line that shows how much there is as a rule, as :attr:`Level.share`; ``None`` for no line.
        base: Whether a thin line goes through it: somebody was there all the time, and nothing is known to have lasted.
        halves: It has two strips.
        quiet: It has texts alone.
        tall: Its counts are to be read: they are high, and have a scale.
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
        """Pixels."""
        return _TALL if self.tall else _QUIET if self.quiet else _HALVES if self.halves else _ROW

    @property
    def middle(self) -> int:
        """Of its marks, from its top; in a tall row they stand on the line from which counts rise."""
        return _TALL - 8 if self.tall else MIDDLE

    @property
    def counts(self) -> tuple[int, int]:
        """The line from which counts rise, from its top, and the height of the largest."""
        return (self.middle, _TALL_COUNTS) if self.tall else (MIDDLE + 13, _COUNTS)

    @property
    def name_at(self) -> int:
        """Middle of its lane's name, when it is the first."""
        return 9 if self.quiet else 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Rows of one kind.

    Args:
        key: Names it among the lanes: events are counted by it.
        name: What it is.
        detail: A quiet second line below the name.
    """

    key: str
    name: str
    detail: str
    rows: Sequence[LaneRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shade:
    """A window that goes through all lanes.

    Args:
        start: Epoch milliseconds.
        end: ``None``: beyond the picture.
        title: Says what it is, and how long.
        detail: Says what bounds it.
        token: ``critical`` or ``warning``.
    """

    start: float
    end: float | None
    title: str
    detail: str
    token: str = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """An event, or many of one bin.

    Args:
        lane: Key of its lane.
        at: Epoch milliseconds; of a bin its begin.
        words: What it is.
        proof: Where it is told.
        count: How many.
        width: Of the bin, milliseconds; 0 for a single event.
    """

    lane: str
    at: float
    words: str
    proof: str = ""
    count: int = 1
    width: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The whole.

    Args:
        lanes: From the top.
        shades: Windows.
        ticks: Single events.
        bins: Counts, where there are too many events to draw each.
        span: First and last moment that is shown at first.
        extent: First and last moment of everything.
        alternative: The picture in one sentence.
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
        """Room above the lanes, pixels."""
        return HEAD if self.shades else _BARE

    @property
    def foot(self) -> int:
        """Room below the lanes, pixels."""
        return FOOT + (_DAYS if self.extent[1] - self.extent[0] >= _MINUTES else 0)

    @property
    def height(self) -> int:
        """Of the lanes, pixels."""
        return sum(row.height for lane in self.lanes for row in lane.rows)

    def placed(self) -> Iterator[tuple[Lane, LaneRow, int, bool]]:
        """Each row with its top, and whether it is its lane's first."""
        top = 0
        for lane in self.lanes:
            for number, row in enumerate(lane.rows):
                yield lane, row, top, number == 0
                top += row.height

    def middle_of(self, key: str) -> int | None:
        """Middle of a lane's first row that is no text."""
        return next((top + MIDDLE for lane, row, top, _ in self.placed() if lane.key == key and not row.quiet), None)

    def counted(self) -> Iterator[tuple[Tick, float, int]]:
        """Each count with its height, and the line from which it rises."""
        most = max((tick.count for tick in self.bins), default=1)
        floors = {lane.key: (top + row.counts[0], row.counts[1]) for lane, row, top, _ in self.placed() if not row.quiet}
        for tick in self.bins:
            if tick.lane in floors:
                floor, highest = floors[tick.lane]
                yield tick, max(1.0, tick.count / most * highest), floor

    def risen(self) -> Iterator[tuple[Level, float, float, float, float]]:
        """Each level that is within reach, with its begin and end, and its upper and lower edge."""
        floor, highest = _LEVELS
        for _, row, top, _ in self.placed():
            for level in row.levels:
                if stretch := clipped(level.start, level.end, self.extent):
                    yield level, *stretch, top + floor - max(0.5, level.share * highest), float(top + floor)

    def usual(self) -> list[int]:
        """How far from the top each line lies that shows how much there is as a rule."""
        floor, highest = _LEVELS
        return [round(top + floor - row.usual * highest) for _, row, top, _ in self.placed() if row.usual is not None]

    def scale(self) -> list[tuple[float, int]]:
        """Round counts along a tall row, each with its height from the picture's top."""
        most = max((tick.count for tick in self.bins), default=0)
        return [
            (top + row.counts[0] - number / most * row.counts[1], number)
            for _, row, top, _ in self.placed()
            if row.tall and most
            for number in rounded(most)
        ]


def shortened(label: Label, *lengths: int) -> Iterator[Label]:
    """A label, and for where it has no room the same with the middle of its text left out, down to so many letters."""
    yield label
    for most in lengths:
        if len(label.text) > most:
            tail = most // 3
            yield replace(label, text=f"{label.text[: most - tail - 1]}…{label.text[-tail:]}", instead=True)


def rounded(most: int) -> list[int]:
    """Round counts from 0 up to the largest, four at most above 0."""
    step = next(n * 10**power for power in range(20) for n in (1, 2, 5) if most <= 4 * n * 10**power)
    return list(range(0, most + 1, step))


def edges(strip: Strip) -> tuple[int, int]:
    """Upper and lower edge of a strip, from its row's top."""
    return _EDGES[strip.where]


def text_at(label: Label) -> int:
    """Middle of a text, from its row's top."""
    return _BELOW if label.under else _ABOVE


def clipped(start: float | None, end: float | None, bounds: tuple[float, float]) -> tuple[float, float] | None:
    """A stretch as far as it is shown; ``None`` when it is not."""
    first, last = bounds
    begin, stop = max(first, first if start is None else start), min(last, last if end is None else end)
    return (begin, stop) if begin <= stop else None


def ticks(span: tuple[float, float], *, most: int = 7) -> list[float]:
    """Round times along an axis."""
    first, last = span
    step = next((s for s in _STEPS if (last - first) / s <= most), _STEPS[-1])
    start = -(-first // step) * step
    return [start + step * n for n in range(int((last - start) // step) + 1)]
