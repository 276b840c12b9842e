"""Partitions as strips: leader by ZooKeeper, and brokers that still believe to lead.

Each leader is a half strip, and the next one uses the other half: two drawn halves are two leaders.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from casebook.findings.words import count
from casebook.kafka.past_rows import StateRow, Window, WindowKind
from casebook.page.lanes import DASHED, FOOTNOTE, HATCHED, LOWER, SOLID, UPPER, Label, LaneRow, Strip, shortened

MOST_STRIPS = 40
_SHOWN_OF_MANY = 12
_MOST_LETTERS = 36
"""Maximum letters of a partition's name in a narrow window."""

Colour = Callable[[int], str]
"""Colour token of a broker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stint:
    """A broker's time as leader of a partition.

    Args:
        leader: ``None``: no leader.
        epoch: Leader epoch; ``None`` when unknown.
        start: Start by ZooKeeper.
        end: End by ZooKeeper; ``None``: no successor.
        until: End of its belief to lead; ``end`` if not longer.
        endless: Its end is not in the evidence, though another leads.
        silent: End of its silence that began before the next leader, perhaps a pause; ``None`` without one.
        proof: Proof of its start.
    """

    leader: int | None
    epoch: int | None
    start: int
    end: int | None
    until: int | None
    endless: bool
    silent: int | None = None
    proof: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStrips:
    """Everything to draw of a partition.

    Args:
        stints: In order of time.
        windows: Windows of its problems.
    """

    topic: str
    number: int
    stints: Sequence[Stint]
    windows: Sequence[Window]

    @property
    def name(self) -> str:
        """Name in the notation of Kafka's own tools."""
        return f"{self.topic}-{self.number}"

    @property
    def weight(self) -> tuple[object, ...]:
        """Sort key: two leaders, none, too few in sync, a move; the longest; internal topics last."""
        kinds = [window.kind for window in self.windows]
        worst = [kinds.count(kind) > 0 for kind in (WindowKind.TWO_LEADERS, WindowKind.LEADERLESS, WindowKind.UNDER_MIN_ISR)]
        longest = max((w.length for w in self.windows if w.kind is WindowKind.TWO_LEADERS and w.length is not None), default=0)
        internal = self.topic.startswith("__")
        return ([not found for found in worst], internal, -longest, len(self.stints) < 2, self.topic, self.number)


def partitions(history: Iterable[StateRow], windows: Sequence[Window]) -> list[PartitionStrips]:
    """Return partitions with leader changes or problems, most important first."""
    wrong: dict[tuple[str, int], list[Window]] = {}
    for window in windows:
        if window.kind is not WindowKind.LOADING:
            wrong.setdefault((window.topic, window.partition), []).append(window)
    found = []
    for key, rows in groupby(history, key=lambda row: (row.topic, row.partition)):
        stints = _stints(list(rows), wrong.get(key, ()))
        if len(stints) > 1 or key in wrong:
            found.append(PartitionStrips(topic=key[0], number=key[1], stints=stints, windows=wrong.get(key, ())))
    return sorted(found, key=lambda partition: partition.weight)


def shown(found: Sequence[PartitionStrips]) -> Sequence[PartitionStrips]:
    """Return as many as fit in a figure."""
    return found if len(found) <= MOST_STRIPS else found[:_SHOWN_OF_MANY]


def _stints(rows: Sequence[StateRow], windows: Sequence[Window]) -> list[Stint]:
    """Return leaders in turn; consecutive states with the same one are merged."""
    turns = [next(group) for _, group in groupby(rows, key=lambda row: (row.leader, row.deleted))]
    stints = [
        Stint(
            leader=row.leader,
            epoch=row.leader_epoch,
            start=row.time,
            end=following.time if following else None,
            until=following.time if following else None,
            endless=False,
            proof=row.proof,
        )
        for row, following in pairwise([*turns, None])
        if not row.deleted
    ]
    return [_outlived(stint, windows) for stint in stints]


def _outlived(stint: Stint, windows: Sequence[Window]) -> Stint:
    """Extend a stint by the time in which its leader did not know of the next one."""
    for window in windows:
        if (
            window.kind is WindowKind.TWO_LEADERS
            and stint.leader is not None
            and window.old_leader == stint.leader
            and stint.end is not None
            and (window.opened is None or stint.start <= window.opened <= stint.end)
        ):
            return replace(stint, until=window.closed, endless=window.closed is None, silent=window.silent)
    return stint


def row(partition: PartitionStrips, colour: Colour) -> LaneRow:
    """Return the partition's row."""
    strips = [*_strips(partition, colour), *_short_of(partition)]
    name = Label(text=partition.name, mono=True, pinned=True)
    labels = [*shortened(name, _MOST_LETTERS), *_labels(partition)]
    return LaneRow(strips=strips, labels=labels, halves=True)


def _strips(partition: PartitionStrips, colour: Colour) -> Iterator[Strip]:
    for number, stint in enumerate(partition.stints):
        where = UPPER if number % 2 else LOWER
        words = f"{partition.name}: {_words(stint)}"
        token, how = ("critical", DASHED) if stint.leader is None else (colour(stint.leader), SOLID)
        told = {"token": token, "where": where, "proof": stint.proof}
        unsure = stint.endless or stint.silent is not None
        yield Strip(start=stint.start, end=stint.end if unsure else stint.until, how=how, words=words, **told)
        for start, end, how, words in _outliving(stint) if unsure else ():
            yield Strip(start=start, end=end, how=how, words=f"{partition.name}: {stint.leader} {words}", **told)


def _outliving(stint: Stint) -> Iterator[tuple[int, int | None, str, str]]:
    """Yield a leader's time after the next one's election: start, end, style, words."""
    if stint.silent is not None:
        yield stint.end, stint.silent, HATCHED, "logged nothing: it may have been paused, or still answered"
    awake = stint.end if stint.silent is None else stint.silent
    if stint.endless:
        yield awake, None, HATCHED, "may still believe that it leads; its log does not show it"
    elif awake < stint.until:
        yield awake, stint.until, SOLID, "ran, and still believed that it led"


def _short_of(partition: PartitionStrips) -> Iterator[Strip]:
    for window in partition.windows:
        if window.kind is WindowKind.UNDER_MIN_ISR:
            words = f"{partition.name}: fewer in sync than min.insync.replicas"
            bounds = {"start": window.opened, "end": window.closed, "proof": window.opened_proof}
            yield Strip(token="warning", how=HATCHED, where=FOOTNOTE, words=words, **bounds)


def _labels(partition: PartitionStrips) -> Iterator[Label]:
    """Yield leader labels, each next to its own strip, if the other half is free."""
    for number, (before, stint) in enumerate(pairwise([None, *partition.stints])):
        label = Label(
            text=_words(stint),
            start=stint.start if before is None or before.until is None else max(stint.start, before.until),
            end=stint.end,
            side="center" if before is None else "left",
            bold=True,
            under=bool(number % 2),
            token="critical" if stint.leader is None else "text",
        )
        yield label
        if stint.leader is not None:
            for words in (f"{stint.leader} leads", str(stint.leader)):
                yield replace(label, text=words, instead=True)


def _words(stint: Stint) -> str:
    if stint.leader is None:
        return "no leader"
    return f"{stint.leader} leads" if stint.epoch is None else f"{stint.leader} leads, epoch {stint.epoch}"


def summary(found: Sequence[PartitionStrips], drawn: Sequence[PartitionStrips]) -> str:
    """Describe how many of them are drawn."""
    return f"{count(len(drawn))} of {count(len(found))} strips" if len(drawn) < len(found) else f"{count(len(found))} moved"


def named(found: Sequence[PartitionStrips]) -> Mapping[str, PartitionStrips]:
    """Return strips by name."""
    return {partition.name: partition for partition in found}
