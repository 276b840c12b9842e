"""Lost records in their partitions' windows: a lane per partition, a disc per record, an open diamond per alarm.

Loss episodes that are far apart have separate figures. Very many records are drawn as counts, per 50 ms unless the figure is
long.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from casebook.facts.losses import LeaderChange, LostCount, LostRecord
from casebook.findings import words
from casebook.page.lanes import DISC, HATCHED, OPEN, Label, Lane, LaneRow, Mark, Picture, Strip, Tick, shortened
from casebook.questions.loss.analysis.causes import begin
from casebook.questions.loss.views.choice import named
from casebook.questions.loss.views.when import LossPicture, fitting, over, summed
from casebook.questions.loss.views.words import cause
from casebook.questions.timeline.views.hosts import second

MOST_DISCS, MOST_LANES, MOST_EPISODES = 200, 40, 3
_APART = 10_000
"""Minimum milliseconds between two episodes with separate figures."""
_COUNTED = 50
"""Milliseconds of a count of lost records."""
_MOST_LETTERS, _MOST_NAMED = 36, 3

Partition = tuple[str, int | None]


@dataclass(frozen=True, kw_only=True)
class Episode:
    """Losses that are close in time.

    Args:
        since: Start of its first window, or first acknowledgement.
        until: End of its last window, or last acknowledgement.
        counts: Lost records.
    """

    since: int
    until: int
    counts: Sequence[LostCount]

    @cached_property
    def partitions(self) -> Mapping[Partition, Sequence[LostCount]]:
        """Lost records by partition."""
        found: dict[Partition, list[LostCount]] = {}
        for row in self.counts:
            found.setdefault((row.topic, row.partition), []).append(row)
        return found

    @cached_property
    def lost(self) -> int:
        """Number of lost records."""
        return sum(row.records for row in self.counts)

    @property
    def bin(self) -> tuple[int, str]:
        """Width of bins for very many records: milliseconds, and in words."""
        return fitting(self.until - self.since)

    @property
    def span(self) -> tuple[float, float]:
        """Displayed span, with margins around the windows."""
        length = max(1000.0, self.until - self.since)
        return self.since - length * 0.15, self.until + length * 0.32


def episodes(scene: LossPicture) -> list[Episode]:
    """Return all episodes, in order of time."""
    changes = {change.number: change for change in scene.changes}
    dated = sorted((*_stretch(row, changes), n) for n, row in enumerate(scene.counts) if row.at is not None)
    heaps: list[list[tuple[int, int, int]]] = []
    until = 0
    for since, end, n in dated:
        if heaps and since <= until + _APART:
            heaps[-1].append((since, end, n))
            until = max(until, end)
        else:
            heaps.append([(since, end, n)])
            until = end
    return [
        Episode(since=heap[0][0], until=max(end for _, end, _ in heap), counts=[scene.counts[n] for _, _, n in heap])
        for heap in heaps
    ]


def _stretch(row: LostCount, changes: Mapping[int, LeaderChange]) -> tuple[int, int]:
    """Return the period of a loss: its window from start to end, or its moment."""
    change = changes.get(row.change) if row.change is not None else None
    times = [row.at, row.at + _COUNTED, *([_since(change), over(change)] if change else [])]
    return min(times), max(times)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Figures of lanes, and what does not fit.

    Args:
        pictures: Those with the largest losses, in order of time.
        more: Number of lanes not drawn.
        most: Largest count, when counts replace discs; otherwise 0.
    """

    pictures: Sequence[tuple[Episode, Picture]]
    more: int
    most: int


def drawn(scene: LossPicture) -> Drawn:
    """Return the partitions with the largest losses, in the episodes with the largest losses."""
    every = episodes(scene)
    largest = sorted(range(len(every)), key=lambda n: (-every[n].lost, n))[:MOST_EPISODES]
    ranked = sorted(
        ((-sum(row.records for row in own), n, of) for n in largest for of, own in every[n].partitions.items()),
        key=lambda one: (one[0], one[1], one[2][0], -1 if one[2][1] is None else one[2][1]),
    )
    kept: dict[int, list[Partition]] = {}
    for _, n, partition in ranked[:MOST_LANES]:
        kept.setdefault(n, []).append(partition)
    counted = scene.lost > MOST_DISCS or len(scene.found.lost) < (scene.found.lost_total or 0)
    pictures = [(every[n], _picture(scene, every[n], kept[n], counted)) for n in sorted(kept)]
    return Drawn(
        pictures=pictures,
        more=sum(len(one.partitions) for one in every) - len(ranked[:MOST_LANES]),
        most=max((tick.count for _, picture in pictures for tick in picture.bins), default=0),
    )


def _picture(scene: LossPicture, episode: Episode, partitions: Sequence[Partition], counted: bool) -> Picture:
    made = [_Lane(scene=scene, episode=episode, partition=partition, counted=counted) for partition in partitions]
    return Picture(
        lanes=[one.lane() for one in made],
        ticks=[tick for one in made for tick in one.bounds()],
        bins=[tick for one in made for tick in one.bins()] if counted else (),
        span=episode.span,
        extent=episode.span,
        alternative=said(episode),
    )


def said(episode: Episode) -> str:
    """Describe an episode, without its end."""
    where = words.plural(len(episode.partitions), "partition")
    since, until = words.clock_ms(episode.since), words.clock_ms(episode.until)
    return f"{words.plural(episode.lost, 'record')} of {where} lost from {since} to {until}"


@dataclass(frozen=True, kw_only=True)
class _Lane:
    """A partition's lane under construction."""

    scene: LossPicture
    episode: Episode
    partition: Partition
    counted: bool

    @property
    def name(self) -> str:
        return named(*self.partition)

    @property
    def counts(self) -> Sequence[LostCount]:
        return self.episode.partitions[self.partition]

    @cached_property
    def changes(self) -> Sequence[LeaderChange]:
        """Windows of the partition in the figure."""
        first, last = self.episode.span
        own = [change for change in self.scene.changes if (change.topic, change.partition) == self.partition]
        return [c for c in own if c.since <= last and over(c) >= first]

    def lane(self) -> Lane:
        lost = sum(row.records for row in self.counts)
        moved = [f"{_leader(c.old_leader)} → {_leader(c.new_leader)}" for c in self.changes if self._lost_in(c)]
        detail = moved[0] if len(moved) == 1 else f"{len(moved)} windows" if moved else "no window"
        name = shortened(Label(text=self.name, mono=True, pinned=True), _MOST_LETTERS)
        row = LaneRow(strips=list(self._strips()), labels=[*name, *self._labels()], marks=list(self._marks()))
        return Lane(key=self.name, name=f"{words.count(lost)} lost", detail=detail, rows=[row])

    def _lost_in(self, change: LeaderChange) -> int:
        return self.scene.by_change[change.number]

    def _strips(self) -> Iterator[Strip]:
        """Yield each window, tinted, with hatching above."""
        for change in self.changes:
            fill = "critical" if self._lost_in(change) else "warning"
            said = f"{self.name}: {_leader(change.old_leader)} → {_leader(change.new_leader)}, {_until(change)}"
            bounds = {"start": _since(change), "end": change.closed, "words": said, "proof": change.opened_proof}
            yield Strip(token=f"{fill}-tint", **bounds)
            yield Strip(token=f"{fill}-fill", how=HATCHED, **bounds)

    def _labels(self) -> Iterator[Label]:
        """Yield labels for what is outside, and for window bounds, where they fit."""
        alarms = [row.at for row in self.counts if row.cause is None]
        if alarms:
            label = Label(text="outside every window", start=min(alarms), bold=True, token="critical")
            yield label
            yield replace(label, start=None, end=min(alarms), side="right", instead=True)
        for change in self.changes if len(self.changes) <= _MOST_NAMED else ():
            elected = f"{_leader(change.new_leader)} elected {second(change.opened)}"
            yield Label(text=elected, end=_since(change), side="right", token="quiet")
            yield Label(text=elected, start=_since(change), end=change.closed, token="quiet", instead=True)
            if change.closed is not None:
                gone = f"{_gone(change)} {second(change.closed)}"
                yield Label(text=gone, start=change.closed, token="quiet")

    def bounds(self) -> Iterator[Tick]:
        """Yield elections of the next leader, and ends of the old one."""
        for change in self.changes:
            elected = f"{_leader(change.new_leader)} is elected"
            yield Tick(lane=self.name, at=change.opened, words=elected, proof=change.opened_proof)
            if change.closed is not None:
                gone = _gone(change)
                yield Tick(lane=self.name, at=change.closed, words=gone, proof=change.closed_proof)

    def _marks(self) -> Iterator[Mark]:
        """Yield each lost record; when counts replace them, only alarms, unless these are very many, too."""
        first, last = self.episode.since, self.episode.until
        alarms_alone = self.counted
        if self.scene.alarms > MOST_DISCS:
            return
        for record in self.scene.found.lost:
            inside = record.acked_at is not None and first <= record.acked_at <= last
            if inside and (record.topic, record.partition) == self.partition and not (alarms_alone and record.cause):
                yield _mark(record)

    def bins(self) -> Iterator[Tick]:
        """Yield counts of lost records of any cause; alarms have marks, unless very many."""
        marked, (width, per) = self.scene.alarms <= MOST_DISCS, self.episode.bin
        rows = (row for row in self.counts if row.cause is not None or not marked)
        for at, records in sorted(summed((row.at // width * width, row.records) for row in rows).items()):
            lost = f"{words.clock_ms(at)}: {words.count(records)} lost per {per}"
            yield Tick(lane=self.name, at=at, words=lost, count=records, width=width)


def _mark(record: LostRecord) -> Mark:
    place = "" if record.offset is None else f", offset {record.offset}"
    said = f"{record.id}{place}: {cause(record.cause)}"
    alarm = record.cause is None
    return Mark(at=record.acked_at, words=said, shape=OPEN if alarm else DISC, token="critical" if alarm else "text")


def _leader(broker: int | None) -> str:
    return "?" if broker is None else str(broker)


def _gone(change: LeaderChange) -> str:
    return f"{_leader(change.old_leader)} {'has given up by' if change.by_then else 'gives up'}"


def _until(change: LeaderChange) -> str:
    end = "an end that is not in the evidence" if change.closed is None else words.clock_ms(change.closed)
    end += " at the latest" if change.by_then else ""
    return f"{words.clock_ms(_since(change))} to {end}"


def _since(change: LeaderChange) -> int:
    """Return the start of its window.

    Records may be missing from then on; for an unclean election usually since the ISR shrank.
    """
    return begin(change) if change.unclean else change.since
