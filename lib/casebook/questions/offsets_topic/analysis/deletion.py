"""What-if: segments of the offsets topic deleted. Sets to try, and the meaning of each answer. Nothing is deleted."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from casebook.facts.offsets_topic import Deletion, GroupLoss, GroupState, LostCommit, Segment
from casebook.findings.finding import Severity
from casebook.questions.offsets_topic.analysis.writers import LoadTime

NOTHING, SAFE, OLDER, BELOW = "nothing", "provably safe", "older", "below an offset"
ALL_BUT_ACTIVE, PICKED = "all but the active", "picked"

Place = tuple[int, int, int]
"""Broker, partition and base offset of a segment."""


def sets(
    segments: Iterable[Segment], *, older_than: int | None = None, below: int | None = None, picked: Collection[int] = ()
) -> dict[str, tuple[Place, ...]]:
    """Return the sets of segments to try, by name, in display order.

    Args:
        segments: Segments of one copy.
        older_than: Epoch ms: segments with an older last record; ``None`` for none.
        below: Segments with all offsets below this one; ``None`` for none.
        picked: Base offsets of segments.
    """
    ordered = sorted(segments, key=lambda segment: segment.base_offset)
    closed = ordered[:-1]
    tried = {NOTHING: (), SAFE: tuple(place(s) for s in closed if s.safe_to_do_without)}
    if older_than is not None:
        tried[OLDER] = tuple(place(s) for s in closed if s.last_time is not None and s.last_time < older_than)
    if below is not None:
        tried[BELOW] = tuple(place(one) for one, after in pairwise(ordered) if after.base_offset <= below)
    tried[ALL_BUT_ACTIVE] = tuple(place(s) for s in closed)
    if picked:
        tried[PICKED] = tuple(place(s) for s in ordered if s.base_offset in set(picked))
    return tried


def place(segment: Segment) -> Place:
    """Return the location of a segment."""
    return segment.broker, segment.partition, segment.base_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionChoice:
    """A row of ``tables/deletion``: cost and benefit of one set.

    Columns:
        partition: Partition of __consumer_offsets.
        choice: The set: nothing, provably safe, older, below an offset, all but the active, picked.
        segments: How many segments it has.
        bytes: Their size.
        load_ms: What a load would then take; null when no load was measured.
        commits_lost: Commits that OffsetFetch would no longer answer.
        fell_back: Commits that would be answered with an older record.
        again: Records that would be consumed again for these.
        revived: Removed or expired commits that would be answered again.
        groups_emptied: Groups that would have no commit left.
        metadata_lost: Groups whose latest metadata would go.
        open_lost: Records of open transactions that would go.
        verdict: same answers, its worst effect, or unknown.

    Args:
        severity: ``None`` when it changes no answer.
    """

    partition: int
    choice: str
    segments: int
    bytes: int
    load_ms: int | None
    commits_lost: int
    fell_back: int
    again: int
    revived: int
    groups_emptied: int
    metadata_lost: int
    open_lost: int
    verdict: str
    severity: Severity | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LostGroup:
    """Effect on a group.

    Args:
        commits_lost: Number of lost commits.
        last: Time of the latest of them, epoch ms.
        then: Reaction of its consumers.
    """

    partition: int
    group: str
    commits_lost: int
    fell_back: int
    again: int
    last: int | None
    then: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletions:
    """Effect of sets of segments.

    Args:
        choices: Every set with its price, in display order.
        groups: Affected groups by name of the set, worst first.
        commits: Commits with a changed answer by name of the set.
    """

    choices: tuple[DeletionChoice, ...]
    groups: Mapping[str, Sequence[LostGroup]]
    commits: Mapping[str, Sequence[LostCommit]]


def choices(
    tried: Mapping[str, Sequence[Place]],
    deletions: Iterable[Deletion],
    segments: Iterable[Segment],
    load_time: LoadTime,
    *,
    is_whole: bool = True,
) -> tuple[DeletionChoice, ...]:
    """Return every set with its price, in the order of :func:`sets`.

    Args:
        tried: Sets.
        deletions: Scan results for this partition; a set without segments has none.
        segments: All segments of the partition.
        load_time: Duration of a load by bytes and records.
        is_whole: Whether the whole copy was read: otherwise the rest is unknown.
    """
    answers = {answer.scenario: answer for answer in deletions}
    every = list(segments)
    size, records = sum(s.bytes for s in every), sum(s.records + s.markers for s in every)
    partition = every[0].partition if every else 0
    found = []
    for name, some in tried.items():
        answer = answers.get(name)
        load = load_time(size - answer.bytes, records - answer.records) if answer else load_time(size, records)
        found.append(_choice(name, len(some), answer, load, partition, is_whole=is_whole))
    return tuple(found)


def lost_groups(deletion: Deletion, groups: Iterable[GroupState]) -> tuple[LostGroup, ...]:
    """Return the groups that lose commits, largest losses first."""
    kinds = {group.group: group for group in groups if (group.broker, group.partition) == (deletion.broker, deletion.partition)}
    return tuple(
        LostGroup(
            partition=deletion.partition,
            group=loss.group,
            commits_lost=loss.lost,
            fell_back=loss.fell_back,
            again=loss.again,
            last=loss.last_lost,
            then=_then(loss, kinds.get(loss.group)),
        )
        for loss in deletion.by_group
    )


def _then(loss: GroupLoss, group: GroupState | None) -> str:
    if loss.lost == loss.commits and loss.lost:
        alone = group is not None and group.members == 0
        return "none left; starts at auto.offset.reset when it returns" if alone else "none left, resets"
    if loss.lost:
        return f"{loss.lost} of {loss.commits} reset"
    if loss.fell_back:
        return f"{loss.fell_back} go back, {loss.again} records again"
    return f"{loss.revived} old commits return"


def _choice(
    name: str, segments: int, answer: Deletion | None, load_ms: int | None, partition: int, *, is_whole: bool
) -> DeletionChoice:
    verdict, severity = _verdict(answer)
    if answer and severity is None and not is_whole:
        verdict, severity = "unknown: not all was read", Severity.WARNING
    return DeletionChoice(
        partition=partition,
        choice=name,
        segments=segments,
        bytes=answer.bytes if answer else 0,
        load_ms=load_ms,
        commits_lost=answer.lost if answer else 0,
        fell_back=answer.fell_back if answer else 0,
        again=answer.again if answer else 0,
        revived=answer.revived if answer else 0,
        groups_emptied=answer.groups_emptied if answer else 0,
        metadata_lost=answer.metadata_lost if answer else 0,
        open_lost=answer.open_lost if answer else 0,
        verdict=verdict,
        severity=severity,
    )


def _verdict(answer: Deletion | None) -> tuple[str, Severity | None]:
    if answer is None:
        return "same answers", None
    if answer.lost:
        return "commits lost", Severity.CRITICAL
    if answer.fell_back:
        return "commits go back", Severity.CRITICAL
    if answer.open_lost:
        return "open transactions lost", Severity.CRITICAL
    if answer.metadata_lost or answer.revived:
        return "members lost" if answer.metadata_lost else "old commits return", Severity.WARNING
    return "same answers", None
