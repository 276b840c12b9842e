"""When records were lost: an overview over the ledger's time, and a lane for each partition, both against the windows."""

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
"""Of bins: milliseconds, and in words. The least is what lost records are counted in."""
_ONE = {"1 s": "second", "1 minutes": "minute", "1 hours": "hour", "1 days": "day"}
_MOST_BINS, _MOST_SHADES = 400, 40
_LEAST_SHARE = 160
"""Of the whole time: what is shorter is drawn so long, or nobody would see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderMove:
    """Changes of leader that went together.

    Args:
        since: When the first next leader was elected.
        until: When the last of them was over, as far as that is known.
        changes: Each of them.
        lost: Records lost in them; of those that several may have taken, those of which one of these is the first.
        possible: Whether any record may have been lost in them.
    """

    since: int
    until: int
    changes: Sequence[LeaderChange]
    lost: int
    possible: bool = False

    @property
    def planned(self) -> bool:
        """Whether somebody moved all of them."""
        return all(change.planned for change in self.changes)

    @property
    def words(self) -> str:
        """What it was."""
        leaders = words.plural(len(self.changes), "leader")
        return f"planned move of {leaders}" if self.planned else f"{leaders} moved"


@dataclass(frozen=True, kw_only=True)
class LossPicture:
    """What there is to draw of a choice.

    Args:
        found: What was lost.
        chosen: What of it is looked at.
    """

    found: MessageLoss
    chosen: LossChoice

    @cached_property
    def counts(self) -> Sequence[LostCount]:
        """Lost records, counted."""
        return [row for row in self.found.counts if self.chosen.names(row)]

    @cached_property
    def changes(self) -> Sequence[LeaderChange]:
        """Changes of leader, in the order of time."""
        return sorted((c for c in self.found.changes if self.chosen.names(c)), key=lambda c: (begin(c), c.number))

    @cached_property
    def ranked(self) -> Sequence[LeaderChange]:
        """Changes of leader, those with most loss first."""
        return sorted(self.changes, key=lambda change: -self.by_change[change.number])

    @cached_property
    def lost(self) -> int:
        """Lost records."""
        return sum(row.records for row in self.counts)

    @cached_property
    def by_change(self) -> Counter[int]:
        """Lost records by the number of the change."""
        return summed((row.change, row.records) for row in self.counts if row.change is not None)

    @cached_property
    def possible(self) -> Counter[int]:
        """Lost records by the number of each change that may have taken them: more than one where nobody can tell which."""
        return summed(
            (number, row.records) for row in self.counts if row.change is not None for number in row.either or (row.change,)
        )

    @cached_property
    def doubtful(self) -> Counter[int]:
        """Of those, the ones that another change may have taken instead."""
        return summed((number, row.records) for row in self.counts for number in row.either)

    @cached_property
    def alarms(self) -> int:
        """Lost records that nothing explains."""
        return sum(row.records for row in self.counts if row.cause is None)

    @cached_property
    def undated(self) -> int:
        """Lost records without a time."""
        return sum(row.records for row in self.counts if row.at is None)

    @cached_property
    def times(self) -> Sequence[int]:
        """Every moment that the overview has to show."""
        told = self.found.ledger
        ledger = [] if told is None else [told.first, told.last]
        return [at for at in (*ledger, *(row.at for row in self.counts)) if at is not None]

    @cached_property
    def bin(self) -> tuple[int, str]:
        """Width of the overview's bins in milliseconds, and in words: ``minute``, ``5 s``."""
        return fitting(max(self.times, default=0) - min(self.times, default=0))

    @cached_property
    def bins(self) -> Sequence[tuple[int, int, int]]:
        """Of each bin with loss its begin, the records, and those of them that nothing explains."""
        width = self.bin[0]
        dated = [row for row in self.counts if row.at is not None]
        every = summed((row.at // width * width, row.records) for row in dated)
        alarms = summed((row.at // width * width, row.records) for row in dated if row.cause is None)
        return [(at, every[at], alarms[at]) for at in sorted(every)]

    @cached_property
    def moves(self) -> Sequence[LeaderMove]:
        """Changes of leader that an overview cannot tell apart, those with most loss first, then planned ones."""
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
    """Width of the bins that a stretch of so many milliseconds is counted in, and in words: ``minute``, ``50 ms``."""
    width, length_of = next((row for row in _WIDTHS if length <= row[0] * _MOST_BINS), _WIDTHS[-1])
    return width, _ONE.get(length_of, length_of)


def over(change: LeaderChange) -> int:
    """When a change was over, as far as that is known."""
    return change.opened if change.closed is None else change.closed


def summed(pairs: Iterable[tuple[object, int]]) -> Counter:
    """Records by what they have in common."""
    found: Counter = Counter()
    for key, records in pairs:
        found[key] += records
    return found


def takeaway(scene: LossPicture) -> str:
    """How many fall into a window, in one sentence."""
    total = words.count(scene.lost)
    with_loss = [move for move in scene.moves if move.possible]
    inside = sum(move.lost for move in with_loss)
    other = f"; {words.count(scene.alarms)} outside every window" if scene.alarms else ""
    if not with_loss:
        return f"None of {words.plural(scene.lost, 'lost record')} falls into a window{other}."
    where = f"the {clock_of(with_loss[0].since)} window" if len(with_loss) == 1 else f"{words.count(len(with_loss))} windows"
    return f"{words.count(inside)} of {total} {'falls' if inside == 1 else 'fall'} into {where}{other}."


def clock_of(at: float) -> str:
    """A moment to the second."""
    return words.clock(round(at))


def overview(scene: LossPicture, alternative: str) -> Picture | None:
    """Lost records over the ledger's time; ``None`` when nothing has a time."""
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
    """A stretch, around its middle as long as is needed to be seen."""
    more = max(0.0, (span[1] - span[0]) / share - (end - begin)) / 2
    return begin - more, end + more


def per(scene: LossPicture) -> str:
    """What a bar counts: ``per minute``, ``per 5 s``."""
    return f"per {scene.bin[1]}"


def _outside(records: int, at: float) -> str:
    return f"{words.count(records)} outside every window, {clock_of(at)}"


def _alarm_labels(scene: LossPicture) -> Iterator[Label]:
    """What nothing explains, beside the first bin that has some: to its right, to its left, or in few words."""
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
