"""Time of losses: an overview over the ledger's time, and a lane per partition, both with the windows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from casebook.facts.losses import LeaderChange, LostCount
from casebook.findings import words
from casebook.page.lanes import OPEN, Label, Lane, LaneRow, Mark, Picture, Shade, Tick
from casebook.questions.loss.analysis.causes import begin
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.loss.views.choice import LossChoice

_WIDTHS = (
    *((n * 50, f"{n * 50} ms") for n in (1, 2, 4, 10)),
    *((n * 1000, f"{n} s") for n in (1, 2, 5, 10, 30)),
    *((n * 60_000, f"{n} minutes") for n in (1, 2, 5, 10, 30)),
    *((n * 3_600_000, f"{n} hours") for n in (1, 2, 6, 12)),
    *((n * 86_400_000, f"{n} days") for n in (1, 7, 28)),
)
"""Widths of bins: milliseconds, and in words. The smallest is the resolution of counts."""
_ONE = {"1 s": "second", "1 minutes": "minute", "1 hours": "hour", "1 days": "day"}
_MOST_BINS, _MOST_SHADES = 400, 40
_LEAST_SHARE = 160
"""Minimum share of the whole time: shorter periods are widened to stay visible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderMove:
    """Leader changes that happened together.

    Args:
        since: First election.
        until: End of the last of them, if known.
        changes: Changes.
        lost: Number of records lost in them; those with several possible changes count for the first.
        possible: Whether any record may have been lost in them.
    """

    since: int
    until: int
    changes: Sequence[LeaderChange]
    lost: int
    possible: bool = False

    @property
    def planned(self) -> bool:
        """Whether an operator moved all of them."""
        return all(change.planned for change in self.changes)

    @property
    def words(self) -> str:
        """Description."""
        leaders = words.plural(len(self.changes), "leader")
        return f"planned move of {leaders}" if self.planned else f"{leaders} moved"


@dataclass(frozen=True, kw_only=True)
class LossPicture:
    """Content of a figure for a filter.

    Args:
        found: Result on lost records.
        chosen: Filter.
    """

    found: MessageLoss
    chosen: LossChoice

    @cached_property
    def counts(self) -> Sequence[LostCount]:
        """Lost records, counted."""
        return [row for row in self.found.counts if self.chosen.names(row)]

    @cached_property
    def changes(self) -> Sequence[LeaderChange]:
        """Leader changes, in order of time."""
        return sorted((c for c in self.found.changes if self.chosen.names(c)), key=lambda c: (begin(c), c.number))

    @cached_property
    def ranked(self) -> Sequence[LeaderChange]:
        """Leader changes, largest losses first."""
        return sorted(self.changes, key=lambda change: -self.by_change[change.number])

    @cached_property
    def lost(self) -> int:
        """Lost records."""
        return sum(row.records for row in self.counts)

    @cached_property
    def by_change(self) -> Counter[int]:
        """Lost records by number of the change."""
        return summed((row.change, row.records) for row in self.counts if row.change is not None)

    @cached_property
    def possible(self) -> Counter[int]:
        """Lost records by number of each possible change: more than one when undecided."""
        return summed(
            (number, row.records) for row in self.counts if row.change is not None for number in row.either or (row.change,)
        )

    @cached_property
    def doubtful(self) -> Counter[int]:
        """Lost records that another change may have lost instead, by number of the change."""
        return summed((number, row.records) for row in self.counts for number in row.either)

    @cached_property
    def alarms(self) -> int:
        """Number of lost records without a cause."""
        return sum(row.records for row in self.counts if row.cause is None)

    @cached_property
    def undated(self) -> int:
        """Number of lost records without a time."""
        return sum(row.records for row in self.counts if row.at is None)

    @cached_property
    def times(self) -> Sequence[int]:
        """Return every moment in the overview."""
        told = self.found.ledger
        ledger = [] if told is None else [told.first, told.last]
        return [at for at in (*ledger, *(row.at for row in self.counts)) if at is not None]

    @cached_property
    def bin(self) -> tuple[int, str]:
        """Width of the overview's bins in milliseconds, and in words: ``minute``, ``5 s``."""
        return fitting(max(self.times, default=0) - min(self.times, default=0))

    @cached_property
    def bins(self) -> Sequence[tuple[int, int, int]]:
        """Start of each bin with losses, its records, and how many of them have no cause."""
        width = self.bin[0]
        dated = [row for row in self.counts if row.at is not None]
        every = summed((row.at // width * width, row.records) for row in dated)
        alarms = summed((row.at // width * width, row.records) for row in dated if row.cause is None)
        return [(at, every[at], alarms[at]) for at in sorted(every)]

    @cached_property
    def moves(self) -> Sequence[LeaderMove]:
        """Return leader changes merged by the overview's resolution, largest losses first, then planned ones."""
        heaps: list[list[LeaderChange]] = []
        width, until = self.bin[0], 0
        for change in self.changes:
            if heaps and begin(change) <= until + width:
                heaps[-1].append(change)
            else:
                heaps.append([change])
            until = max(until, over(change))
        return sorted(map(self._move, heaps), key=lambda move: (-move.lost, not move.planned, move.since))

    def _move(self, heap: Sequence[LeaderChange]) -> LeaderMove:
        lost = sum(self.by_change[change.number] for change in heap)
        possible = any(self.possible[change.number] for change in heap)
        return LeaderMove(since=begin(heap[0]), until=max(map(over, heap)), changes=heap, lost=lost, possible=possible)


def fitting(length: float) -> tuple[int, str]:
    """Return a bin width for a period of so many milliseconds, and in words: ``minute``, ``50 ms``."""
    width, length_of = next((row for row in _WIDTHS if length <= row[0] * _MOST_BINS), _WIDTHS[-1])
    return width, _ONE.get(length_of, length_of)


def over(change: LeaderChange) -> int:
    """Return the end of a change, if known."""
    return change.opened if change.closed is None else change.closed


def summed(pairs: Iterable[tuple[object, int]]) -> Counter:
    """Sum records by key."""
    found: Counter = Counter()
    for key, records in pairs:
        found[key] += records
    return found


def takeaway(scene: LossPicture) -> str:
    """State how many fall in a window, in one sentence."""
    total = words.count(scene.lost)
    with_loss = [move for move in scene.moves if move.possible]
    inside = sum(move.lost for move in with_loss)
    other = f"; {words.count(scene.alarms)} outside every window" if scene.alarms else ""
    if not with_loss:
        return f"None of {words.plural(scene.lost, 'lost record')} falls into a window{other}."
    where = f"the {clock_of(with_loss[0].since)} window" if len(with_loss) == 1 else f"{words.count(len(with_loss))} windows"
    return f"{words.count(inside)} of {total} {'falls' if inside == 1 else 'fall'} into {where}{other}."


def clock_of(at: float) -> str:
    """Format a moment to the second."""
    return words.clock(round(at))


def overview(scene: LossPicture, alternative: str) -> Picture | None:
    """Return lost records over the ledger's time; ``None`` without any time."""
    if not scene.times:
        return None
    width = scene.bin[0]
    first, last = min(scene.times), max(scene.times)
    margin = max(width, (last - first) // 50)
    span = float(first - margin), float(last + margin)
    marks = [Mark(at=at + width / 2, words=_outside(n, at), shape=OPEN, token="critical") for at, _, n in scene.bins if n]
    row = LaneRow(tall=True, marks=marks, labels=list(_alarm_labels(scene)))
    return Picture(
        lanes=[Lane(key="lost", name="Lost records", detail=per(scene), rows=[row])],
        shades=list(_shades(scene, span)),
        bins=[_bar(scene, span, at, records) for at, records, _ in scene.bins],
        span=span,
        extent=span,
        alternative=alternative,
    )


def _bar(scene: LossPicture, span: tuple[float, float], at: int, records: int) -> Tick:
    begin, end = _seen(span, at, at + scene.bin[0], 2 * _LEAST_SHARE)
    return Tick(lane="lost", at=begin, words=f"{clock_of(at)}: {words.count(records)} lost", count=records, width=end - begin)


def _seen(span: tuple[float, float], begin: float, end: float, share: int) -> tuple[float, float]:
    """Return a period, widened around its middle to stay visible."""
    more = max(0.0, (span[1] - span[0]) / share - (end - begin)) / 2
    return begin - more, end + more


def per(scene: LossPicture) -> str:
    """Describe the unit of a bar: ``per minute``, ``per 5 s``."""
    return f"per {scene.bin[1]}"


def _outside(records: int, at: float) -> str:
    return f"{words.count(records)} outside every window, {clock_of(at)}"


def _alarm_labels(scene: LossPicture) -> Iterator[Label]:
    """Yield a label next to the first bin with alarms: to its right, to its left, or shortened."""
    width = scene.bin[0]
    alarms = [(at, n) for at, _, n in scene.bins if n]
    if not alarms:
        return
    at = alarms[0][0] + width / 2
    first = min(row.at for row in scene.counts if row.cause is None and row.at is not None)
    outside = _outside(alarms[0][1], first) if len(alarms) == 1 else f"{words.count(scene.alarms)} outside every window"
    common = {"bold": True, "token": "critical", "backed": True}
    for number, said in enumerate((f"▲ {outside}", f"▲ {words.count(scene.alarms)} outside")):
        yield Label(text=said, end=at, side="right", instead=number > 0, **common)
        yield Label(text=said, start=at, side="left", instead=True, **common)


def _shades(scene: LossPicture, span: tuple[float, float]) -> Iterator[Shade]:
    width = scene.bin[0]
    for move in scene.moves[:_MOST_SHADES]:
        if move.until < span[0] or move.since > span[1]:
            continue
        begin, end = _seen(span, move.since // width * width, (move.until // width + 1) * width, _LEAST_SHARE)
        title = f"{words.count(move.lost)} lost" if move.lost else f"{move.words}"
        detail = f"{clock_of(move.since)} window" if move.lost else f"{clock_of(move.since)}, 0 lost"
        yield Shade(start=begin, end=end, title=title, detail=detail, token="critical" if move.lost else "warning")
