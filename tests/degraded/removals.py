"""A degradation of a case: up to three removals, as a text that makes the same again.

    kill_before_drain: left out/server logs/2; at/znodes/50

Before the colon stands a sample, or the folder of a case; then a removal each: way, kind, and whose or how much. Ways are those of
:mod:`tests.unreadable.lesser`, and:

    left out/file/PATH              one file
    denied/subtree/PREFIX           the znodes at and below a path
    older/logs/PERCENT[ of BROKER]  what was logged in that part of the time, or afterwards
    newer/logs/PERCENT[ of BROKER]
    older/history/PERCENT           transactions of that part of the history, or those afterwards
    newer/history/PERCENT
    snapshots/history/COUNT         as ZooKeeper's snapshots alone tell it
    at/znodes/PERCENT               znodes as they were at that part of the history
    UTF-16/logs                     and the other ways of writing that are no damage
    swapped/logs/A B                each of two brokers' logs under the other's id
    ahead/clock/SECONDS of BROKER   a clock, or a zone, that the case does not tell of
    summer/clock/PERCENT of BROKER  clocks that were set forward, or back, an hour while it logged
    winter/clock/PERCENT of BROKER
    interleaved/server.log/A B      two processes wrote one file
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from casebook.facts.events import is_log
from tests.case_copies import CaseCopy
from tests.unreadable import lesser

LABELS = frozenset({"swapped", "ahead", "summer", "winter", "interleaved"})
"""Ways that take nothing away, and say something false of what is there."""
_CLOCKS = ("3600", "-3600", "28800", "19800", "900", "-240", "95", "3")
"""Zones of whole and part hours, and clocks that were wrong, in seconds."""
_PARTS = ("25", "50", "75", "90")
_TREES = ("/brokers/ids", "/brokers/topics", "/config", "/config/topics", "/controller", "/admin", "/isr_change_notification")


@dataclass(frozen=True, slots=True, order=True)
class Removal:
    """One thing that is taken from a case, or falsified in it.

    Args:
        way: How.
        kind: Of what.
        of: Whose, how much, or which; ``""`` for all.
    """

    way: str
    kind: str
    of: str = ""

    def __str__(self) -> str:
        return "/".join(filter(None, (self.way, self.kind, self.of)))

    @classmethod
    def parse(cls, text: str) -> "Removal":
        """The removal of its text."""
        way, kind, of = (*text.strip().split("/", 2), "")[:3]
        return cls(way, kind, of)

    @property
    def family(self) -> str:
        """What removals of one class have in common: way and kind, without whose and how much."""
        return f"{self.way}/{self.kind}"


@dataclass(frozen=True, slots=True)
class Degradation:
    """A case, and what is taken from it in this order."""

    case: str
    removals: tuple[Removal, ...]

    def __str__(self) -> str:
        return f"{self.case}: {'; '.join(map(str, self.removals))}"

    @classmethod
    def parse(cls, text: str) -> "Degradation":
        """The degradation of its text."""
        case, _, removals = text.partition(": ")
        return cls(case, tuple(map(Removal.parse, removals.split(";"))))

    def without(self, index: int) -> "Degradation":
        """One removal less."""
        return Degradation(self.case, self.removals[:index] + self.removals[index + 1 :])

    @property
    def has_false_label(self) -> bool:
        """Whether something false is said of the evidence."""
        return any(removal.way in LABELS for removal in self.removals)


def single(case: Path) -> tuple[Removal, ...]:
    """Every removal that a case allows, by text."""
    copy = _Looked(case)
    found = [
        *_of_kinds(copy),
        *(Removal("left out", "file", path) for path in copy.paths if is_log(path) and copy.size(path)),
        *(Removal("denied", "subtree", tree) for tree in _TREES),
        *_of_time(copy),
        *(Removal(way, "logs") for way in lesser.SAME),
        *_of_labels(copy),
    ]
    return tuple(sorted(found, key=str))


def drawn(case: Path, name: str, count: int, seed: int) -> Iterator[Degradation]:
    """Degradations of one to three removals; the same for the same seed."""
    by_family: dict[str, list[Removal]] = {}
    for removal in single(case):
        by_family.setdefault(removal.family, []).append(removal)
    chance = random.Random(f"{name} {seed}")
    families = chance.sample(sorted(by_family), len(by_family))
    for turn in range(count):
        chosen = chance.sample(families, chance.choice((1, 1, 1, 2, 2, 3)))
        if turn < len(families):  # each family once before any comes again
            chosen = [families[turn], *(family for family in chosen[1:] if family != families[turn])]
        yield Degradation(name, tuple(chance.choice(by_family[family]) for family in chosen))


class _Looked:
    """What a case holds, without a copy of it."""

    def __init__(self, case: Path) -> None:
        from casebook.case.case import Case

        opened = Case.open(case)
        self.paths, self._sizes = list(opened.items), {path: item.bytes for path, item in opened.items.items()}
        self.has_history = opened.has_history
        self.brokers = sorted(folder.name for folder in (case / "brokers").iterdir())

    def size(self, path: str) -> int:
        return self._sizes[path] or 0

    def logged(self) -> list[str]:
        return [one for one in self.brokers if any(path.startswith(f"brokers/{one}/logs/server.log") for path in self.paths)]


def _of_kinds(looked: _Looked) -> Iterator[Removal]:
    for kind, wanted in lesser.FILES.items():
        hit = [path for path in looked.paths if wanted(path) and looked.size(path)]
        for way in lesser.ways(kind) if hit else ():
            yield Removal(way, kind)
            owners = sorted({path.split("/")[1] for path in hit if path.startswith("brokers/")})
            if way != lesser.JAVA and len(owners) > 1:
                yield from (Removal(way, kind, owner) for owner in owners)
    for kind in (*lesser.SUBTREES, lesser.CHECKPOINTS):
        yield from (Removal(way, kind) for way in lesser.ways(kind))


def _of_time(looked: _Looked) -> Iterator[Removal]:
    for half in ("older", "newer"):
        for part in _PARTS:
            yield Removal(half, "logs", part)
            yield from (Removal(half, "logs", f"{part} of {broker}") for broker in looked.logged())
            if looked.has_history:
                yield Removal(half, "history", part)
    if looked.has_history:
        yield from (Removal("snapshots", "history", count) for count in ("1", "2", "5"))
        yield from (Removal("at", "znodes", part) for part in _PARTS)


def _of_labels(looked: _Looked) -> Iterator[Removal]:
    brokers = looked.logged()
    for broker in brokers:
        yield from (Removal("ahead", "clock", f"{seconds} of {broker}") for seconds in _CLOCKS)
        yield from (Removal(way, "clock", f"{part} of {broker}") for way in ("summer", "winter") for part in _PARTS[:3])
    for one, other in pairwise(brokers):
        yield Removal("swapped", "logs", f"{one} {other}")
        yield Removal("interleaved", "server.log", f"{one} {other}")


def apply(copy: CaseCopy, removals: Sequence[Removal]) -> tuple[Removal, ...]:
    """Take them all; those of which there was something to take. A clock was wrong before anything befell what it dated."""
    from tests.degraded import taking

    taken: list[Removal] = []
    for removal in sorted(removals, key=lambda one: one.kind != "clock"):
        if not _is_impossible(removal, taken) and taking.take(copy, removal):
            taken.append(removal)
    return tuple(taken)


def _is_impossible(removal: Removal, taken: Sequence[Removal]) -> bool:
    """Whether no cluster can leave that behind: two processes write one file as time goes by, not by times that a clock was set to."""
    moved = {one.of.rpartition(" of ")[2] for one in taken if one.kind == "clock"}
    return removal.way == "interleaved" and not moved.isdisjoint(removal.of.split())
