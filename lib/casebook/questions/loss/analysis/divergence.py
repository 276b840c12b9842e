"""Differences between the copies of a partition, and whether they are visible to a broker."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from casebook.facts.copies import Absent, Compared, Copy, CopyContent, RecordRun
from casebook.facts.disks import Partition
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.words import brokers, count, plural, size


class DivergenceKind(StrEnum):
    """Kind of a difference, worst first."""

    DIFFERENT = "different"  # other records at the same offsets
    MISSING = "missing"  # a gap in a copy that compaction does not explain
    OTHER_EPOCHS = "other_epochs"  # the same records, appended under different leaders
    BEHIND = "behind"  # a copy ends earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """A row of ``tables/divergence``: adjacent records over which copies differ in one way.

    Before KIP-101 (0.11) no broker looks at anything but where a log ends.

    Columns:
        topic: Topic name.
        partition: Partition number.
        first_offset: First offset over which the copies differ in this way.
        last_offset: Last one.
        brokers: Brokers whose copies were compared.
        holds: Content of each copy there, in words, by broker.
        kind: different, missing, other_epochs or behind.
        silent: Other records and equal ends: no lag shows it.
    """

    topic: str
    partition: int
    first_offset: int
    last_offset: int
    brokers: tuple[int, ...]
    holds: Mapping[str, str]
    kind: DivergenceKind
    silent: bool


def divergences(compared: Compared) -> tuple[Divergence, ...]:
    """Return the differences by topic, partition and offset: the first of a partition is where its histories diverge.

    Records missing because a log starts later are retention, and no divergence.
    """
    ends = {(copy.topic, copy.partition, copy.broker): copy.end for copy in compared.copies}
    damaged = _damaged(compared)
    return tuple(_divergence(run, kind, ends) for run in compared.runs if (kind := _kind(run, damaged)))


def agreement(compared: Compared, gaps: Sequence[Gap]) -> Finding:
    """Do all copies of a partition contain the same records?

    Args:
        gaps: Why some copies were not compared.
    """
    partitions = copies_of(compared.copies)
    several = {partition: own for partition, own in partitions.items() if len(own) > 1}
    rows = divergences(compared)
    apart = [row for row in rows if row.kind in (DivergenceKind.DIFFERENT, DivergenceKind.MISSING)]
    silent = [row for row in apart if row.silent]
    damaged = _damaged(compared)
    unsure = {
        (row.topic, row.partition) for row in rows for broker in row.brokers if (row.topic, row.partition, broker) in damaged
    }
    behind = {(row.topic, row.partition) for row in rows if row.kind is DivergenceKind.BEHIND} - unsure
    loud = {(row.topic, row.partition) for row in apart if not row.silent}
    ask = Question(
        check="loss.replicas_agree",
        question="Do all copies of a partition hold the same records?",
        coverage=Coverage.counted(len(several), len(partitions), "partition", Source.SEGMENTS),
        threshold="other records at the same offset, or a hole that compaction does not explain",
        facts={
            "partitions": len({(row.topic, row.partition) for row in apart}),
            "silent": None if loud & unsure else len({(row.topic, row.partition) for row in silent}),
            "behind": None if unsure and not behind else len(behind),
            "damaged": sorted(_named(copy) for copy in compared.copies if copy.damaged_bytes),
        },
        evidence=(Evidence(file="tables/divergence"),),
        caveats=_caveats(compared.copies),
    )
    if apart:
        return ask.found(Severity.CRITICAL if silent else Severity.WARNING, _title(apart, silent), why=_why(silent or apart))
    if not several:
        return ask.could_not_check(
            "Agreement of copies is unknown: no partition has two",
            settle="Add the log dirs of all replicas (--log-dirs BROKER=DIR).",
        )
    if any(copy.damaged_bytes for own in several.values() for copy in own):
        return ask.could_not_check(
            "The copies agree as far as they could be read, and some could not", settle="Repair or replace the damaged copies."
        )
    lag = f", and {plural(len(behind), 'partition')} with a copy that ends earlier" if behind else ""
    return ask.ok(f"All copies agree{lag}", gaps=gaps)


def copies_of(copies: Iterable[Copy]) -> dict[Partition, tuple[Copy, ...]]:
    """Group copies by partition."""
    found: dict[Partition, tuple[Copy, ...]] = {}
    for copy in copies:
        place = copy.topic, copy.partition
        found[place] = (*found.get(place, ()), copy)
    return found


def _damaged(compared: Compared) -> Collection[tuple[str, int, int]]:
    """Return the copies with unreadable bytes."""
    return {(copy.topic, copy.partition, copy.broker) for copy in compared.copies if copy.damaged_bytes}


def _kind(run: RecordRun, damaged: Collection[tuple[str, int, int]]) -> DivergenceKind | None:
    """Return the worst difference of a run; ``None`` for retention alone, and for a gap that may be unreadable data."""
    absent = {held.absent for held in run.copies}
    if all((run.topic, run.partition, held.broker) in damaged for held in run.copies if held.absent is Absent.MISSING):
        absent.discard(Absent.MISSING)
    if len({held.like for held in run.copies} - {None}) > 1:
        return DivergenceKind.DIFFERENT
    if Absent.MISSING in absent:
        return DivergenceKind.MISSING
    if run.other_epochs:
        return DivergenceKind.OTHER_EPOCHS
    return DivergenceKind.BEHIND if Absent.BEHIND in absent else None


def _divergence(run: RecordRun, kind: DivergenceKind, ends: Mapping[tuple[str, int, int], int]) -> Divergence:
    present = [held for held in run.copies if held.absent is None]
    return Divergence(
        topic=run.topic,
        partition=run.partition,
        first_offset=run.first_offset,
        last_offset=run.last_offset,
        brokers=tuple(held.broker for held in run.copies),
        holds={str(held.broker): _in_words(held, ends[run.topic, run.partition, held.broker]) for held in run.copies},
        kind=kind,
        silent=kind is DivergenceKind.DIFFERENT and len({ends[run.topic, run.partition, held.broker] for held in present}) == 1,
    )


_WHY_ABSENT = {
    Absent.BEFORE: "its log begins later",
    Absent.BEHIND: "its log ends earlier",
    Absent.CLEANED: "compaction may have removed them",
    Absent.MISSING: "a hole",
}


def _in_words(held: CopyContent, end: int) -> str:
    """``20 records, 1.9 KiB, epoch 3, end 120``."""
    if held.absent is not None:
        return f"nothing: {_WHY_ABSENT[held.absent]}, end {end}"
    parts = [plural(held.records, "record"), size(held.bytes)]
    if held.first_epoch is not None:
        same = held.first_epoch == held.last_epoch
        parts.append(f"epoch {held.first_epoch}" if same else f"epochs {held.first_epoch} to {held.last_epoch}")
    if held.like != held.broker:
        parts.append(f"the same as broker {held.like}")
    return ", ".join((*parts, f"end {end}"))


def _title(apart: Sequence[Divergence], silent: Sequence[Divergence]) -> str:
    partitions = plural(len({(row.topic, row.partition) for row in apart}), "partition")
    unseen = len({(row.topic, row.partition) for row in silent})
    told = f", {count(unseen)} of them with equal log ends, so no lag shows it" if unseen else ""
    return f"The copies of {partitions} do not hold the same records{told}"


def _why(rows: Sequence[Divergence]) -> str:
    row = rows[0]
    told = "; ".join(f"{brokers([int(broker)])}: {text}" for broker, text in row.holds.items())
    return f"{row.topic}-{row.partition} from offset {row.first_offset} to {row.last_offset}: {told}."


def _caveats(copies: Iterable[Copy]) -> tuple[str, ...]:
    copies = tuple(copies)
    damaged = sorted(_named(copy) for copy in copies if copy.damaged_bytes)
    unknown = sorted(_named(copy) for copy in copies if copy.cleaned_to is None)
    told = (
        f"{damaged[0]} and {count(len(damaged) - 1)} others could be read only in part." if len(damaged) > 1 else "",
        f"{damaged[0]} could be read only in part." if len(damaged) == 1 else "",
        f"Holes in {plural(len(unknown), 'copy', 'copies')} prove nothing: the progress of compaction is unknown."
        if unknown
        else "",
    )
    return tuple(filter(None, told))


def _named(copy: Copy) -> str:
    return f"{copy.topic}-{copy.partition} of broker {copy.broker}"
