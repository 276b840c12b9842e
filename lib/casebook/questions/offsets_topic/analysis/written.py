"""Checks on the content of the offsets topic: its live part, what may go, and its writers.

For a partly read copy the answers are bounds: the rest may be live, may supersede what was read, and may be of any group.
"""

from collections.abc import Iterable, Sequence, Sized
from itertools import accumulate

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.offsets_topic import GroupBytes
from casebook.findings.coverage import Gaps
from casebook.findings.finding import Coverage, Finding, Question, Severity, Step
from casebook.findings.words import agree, count, duration, plural, size
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.offsets_topic.analysis.unread import GIVE_LOG_DIRS

_SEGMENTS = Evidence(file="tables/offsets_segments")
_SLOW_LOAD_MS = 60_000
_MUCH = 1 << 30
_DOMINANT, _NEARLY_ALL = 0.5, 0.9
_FEW = 10
_APART = 4
"""Factor by which each of the top groups exceeds any other."""


def _of_partitions(scanned: Iterable[OffsetsPartition], partitions: Iterable[OffsetsPartition]) -> Coverage:
    """Return the coverage of partitions with a non-empty copy: those with one read."""
    read = {one.partition for one in scanned}
    listed = read | {one.partition for one in partitions if one.bytes}
    return Coverage.counted(len(read), len(listed), "partition", Source.SEGMENTS)


def dead_weight(partitions: Sequence[OffsetsPartition], gaps: Gaps) -> Finding:
    """How much of it is live?"""
    scanned = [p for p in partitions if p.superseded_bytes is not None]
    total, live = sum(p.bytes for p in scanned), sum(p.live_bytes for p in scanned)
    slowest = max((p.load_ms for p in partitions if p.load_ms is not None), default=None)
    ask = Question(
        check="offsets_topic.dead_weight",
        question="How much of the offsets topic is live?",
        coverage=_of_partitions(scanned, partitions),
        threshold="1 GiB or a load of 1 min, and less than half of it live",
        facts={"bytes": total, "live_bytes": live, "load_ms": slowest} if scanned else {},
        evidence=(Evidence(file="tables/offsets_partitions"), _SEGMENTS),
    )
    if not scanned:
        return ask.could_not_check("The live share of the offsets topic is unknown", settle=GIVE_LOG_DIRS)
    slow = [p for p in scanned if p.bytes > _MUCH or (p.load_ms or 0) > _SLOW_LOAD_MS]
    heavy = [p for p in slow if 2 * _most_live(p) < p.bytes]
    if not heavy:
        if perhaps := [p for p in slow if 2 * p.live_bytes < p.bytes]:
            return _perhaps_dead(ask, perhaps[0])
        return ask.ok(f"{size(live)} of {size(total)} are the latest values", gaps=gaps)
    worst = heavy[0]
    live_ = size(_most_live(worst)) if worst.is_whole else f"at most {size(_most_live(worst))}"
    cost = f"; the coordinator needs {duration(worst.load_ms)} to load it" if worst.load_ms is not None else ""
    return ask.found(
        Severity.CRITICAL if (worst.load_ms or 0) > 5 * _SLOW_LOAD_MS else Severity.WARNING,
        f"{OFFSETS_TOPIC}-{worst.partition} keeps {size(worst.bytes)} for {live_} of latest values{cost}",
        why="Before it serves a group, the coordinator reads the whole partition, superseded records included.",
        subject={"kind": "partition", "topic": OFFSETS_TOPIC, "partition": worst.partition},
    )


def _most_live(copy: OffsetsPartition) -> int:
    """Return the maximum bytes of latest values, counting all unread ones."""
    return copy.live_bytes + copy.unread_bytes


def _perhaps_dead(ask: Question, copy: OffsetsPartition) -> Finding:
    name = f"{OFFSETS_TOPIC}-{copy.partition}"
    return ask.could_not_check(
        f"{name} keeps {size(copy.bytes)} for {size(copy.live_bytes)} to {size(_most_live(copy))} of latest values",
        why=f"{size(copy.unread_bytes)} of it could not be read.",
        settle=GIVE_LOG_DIRS,
    )


def safe_segments(partitions: Sequence[OffsetsPartition], gaps: Gaps) -> Finding:
    """Which segments could go without changing an answer?"""
    scanned = [p for p in partitions if p.safe_segments is not None]
    cut = [p for p in scanned if not p.is_whole]
    scanned = [p for p in scanned if p.is_whole]
    safe, size_ = sum(p.safe_segments for p in scanned), sum(p.safe_bytes for p in scanned)
    ask = Question(
        check="offsets_topic.safe_segments",
        question="Which segments are provably safe to remove?",
        coverage=_of_partitions(scanned, partitions),
        threshold="any such segment",
        facts={"segments": safe, "bytes": size_} if scanned else {},
        evidence=(_SEGMENTS,),
        caveats=(
            (
                "Before you delete files by hand, stop the broker. Treat every replica that may lead the same way, or "
                "a later election brings the old state back."
            ),
            "Proven for the copies that were read, at the time of reading.",
        ),
    )
    if cut and not safe:
        why = f"{size(cut[0].unread_bytes)} of {OFFSETS_TOPIC}-{cut[0].partition} could not be read and may hold an older value."
        return ask.could_not_check("No segment is proven safe to remove", why=why, settle=GIVE_LOG_DIRS)
    if not scanned:
        return ask.could_not_check("Which segments are safe to remove is unknown", settle=GIVE_LOG_DIRS)
    if not safe:
        return ask.ok("No segment is provably safe to remove", gaps=gaps)
    least, read = ("At least ", " that were read") if gaps else ("", "")
    every = f"{plural(sum(p.segments for p in scanned), 'segment')}{read}"
    return ask.found(
        Severity.INFO,
        f"{least}{count(safe)} of {every} {agree(safe, 'is', 'are')} provably safe to remove: {size(size_)}",
        why="They hold no key's latest value, and no marker or tombstone that decides about a remaining record.",
        next=(Step(kind="not", text="Do not delete them while the cleaner can be fixed: it removes them, and safely."),),
    )


def _once(group_bytes: Iterable[GroupBytes], partitions: Sequence[OffsetsPartition]) -> list[GroupBytes]:
    """Return only the rows of the largest read copy of each partition."""
    largest: dict[int, int] = {}
    for copy in partitions:  # largest first
        if copy.live_bytes is not None:
            largest.setdefault(copy.partition, copy.broker)
    return [row for row in group_bytes if largest.get(row.partition, row.broker) == row.broker]


def writers(group_bytes: Iterable[GroupBytes], partitions: Sequence[OffsetsPartition], gaps: Gaps) -> Finding:
    """Do one or a few groups write most of it?"""
    sums: dict[str, int] = {}
    for row in _once(group_bytes, partitions):
        sums[row.group] = sums.get(row.group, 0) + row.bytes
    total, unread = sum(sums.values()), _unread(partitions)
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    sizes = [size_ for _, size_ in ordered]
    few = _that_dominate(sizes)
    ask = Question(
        check="offsets_topic.writers",
        question="Do a few groups write most of the offsets topic?",
        coverage=Coverage.counted(len(sums), None if unread else len(sums), "group", Source.SEGMENTS),
        threshold="1 GiB, and more than half by one group of several, or nine tenths by up to ten groups",
        evidence=(Evidence(file="tables/group_bytes"),),
        facts={"groups": len(sums), "bytes": total, "writers": [name for name, _ in ordered[:few]]} if sums else {},
    )
    if not total:
        return ask.could_not_check("The writers of the offsets topic are unknown", settle=GIVE_LOG_DIRS)
    if not few:
        return ask.ok(f"The largest, {_share(ordered[:1], total)}", gaps=gaps)
    if not _that_dominate(sizes, unread):
        why = f"The share is of the {size(total)} that were read; {size(unread)} could not be read."
        return ask.could_not_check(
            f"{_few(few, sums)} may write most: {_share(ordered[:few], total)}", why=why, settle=GIVE_LOG_DIRS
        )
    named = ", ".join(name for name, _ in ordered[:few])
    return ask.found(
        Severity.WARNING,
        f"{_few(few, sums)}, {_share(ordered[:few], total)}{f' that were read, {size(total)}' if unread else ''}",
        why="A commit per record, or repeated commits for idle partitions, write far more than needed.",
        subject={"kind": "group", "group": named} if few == 1 else {"kind": "cluster"},
        next=(Step(kind="then", text=f"Let {named} commit by time or by batch, not by record."),),
    )


def _that_dominate(sizes: Sequence[int], unread: int = 0) -> int:
    """Return how many of the largest wrote most of it together; 0 for none.

    Args:
        sizes: Sizes of groups, largest first.
        unread: Bytes of unknown groups, counted as one other group.
    """
    total = sum(sizes) + unread
    for few, sum_ in enumerate(accumulate(sizes[:_FEW]), 1):
        if sum_ < _MUCH or few == len(sizes):
            continue
        if few == 1 and sum_ >= _DOMINANT * total:
            return 1
        if sum_ >= _NEARLY_ALL * total and sizes[few - 1] >= _APART * max(sizes[few], unread):
            return few
    return 0


def _unread(partitions: Sequence[OffsetsPartition]) -> int:
    """Return bytes of unknown groups in the largest read, or existing, copy of each partition."""
    found: dict[int, OffsetsPartition] = {}
    for copy in partitions:  # largest first
        if copy.partition not in found or (found[copy.partition].live_bytes is None and copy.live_bytes is not None):
            found[copy.partition] = copy
    return sum(copy.bytes if copy.unread_bytes is None else copy.unread_bytes for copy in found.values())


def _few(few: int, sums: Sized) -> str:
    return f"One group of {len(sums)}" if few == 1 else f"{few} groups of {len(sums)}"


def _share(largest: Sequence[tuple[str, int]], total: int) -> str:
    part = 100 * sum(size_ for _, size_ in largest) / total
    if len(largest) == 1:
        return f"{largest[0][0]} writes {part:.1f} % of the bytes"
    return f"{', '.join(name for name, _ in largest)} write {part:.1f} % of the bytes together"
