"""Order of a group's commits: moves back, external sets, and late ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.disks import Partition
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.words import plural
from casebook.questions.loss.analysis.unprocessed_rows import CommitStep, StepKind


class CommitMove(NamedTuple):
    """A commit and its predecessor.

    Args:
        group: Committing group.
        topic: Topic name.
        partition: Partition number.
        before: Previous offset.
        offset: Committed offset.
        before_at: Time of the previous commit, epoch ms by its coordinator.
        at: Time of the commit.
        members: Whether the group had members, by its last state in the log; ``None`` without one.
        forgotten: Whether the offset was deleted or expired in between.
        log_partition: Partition of ``__consumer_offsets``.
        source_offset: Offset of the record there.
        segment: Base offset of its segment.
    """

    group: str
    topic: str
    partition: int
    before: int
    offset: int
    before_at: int | None
    at: int | None
    members: bool | None
    forgotten: bool
    log_partition: int
    source_offset: int
    segment: int


def steps(
    moves: Iterable[CommitMove], *, log_starts: Mapping[Partition, int], coordinator_moves: Mapping[int, Sequence[int]]
) -> tuple[CommitStep, ...]:
    """Return irregular commits, with their kind.

    Args:
        moves: Commits with their predecessors.
        log_starts: Log start offsets, as far as known.
        coordinator_moves: Leader changes of each partition of ``__consumer_offsets``, epoch ms.
    """
    found = []
    for of in moves:
        moved = any(_between(at, of.before_at, of.at) for at in coordinator_moves.get(of.log_partition, ()))
        if odd := kind(of, begin=log_starts.get((of.topic, of.partition)), moved=moved):
            found.append(CommitStep(*of[:7], odd, of.log_partition, of.source_offset, of.segment))
    return tuple(found)


def kind(of: CommitMove, *, begin: int | None, moved: bool) -> StepKind | None:
    """Return how a commit is irregular; ``None`` when it is regular.

    A coordinator accepts a commit without a member only while the group is empty (``GroupCoordinator.scala@0.9.0.1, 2.8.2``,
    ``doCommitOffsets``): that is how tools set offsets. A member continues from its coordinator's answer: when the coordinator
    changed and the next commit is lower, it answered with an older offset.

    Args:
        of: The commit.
        begin: Log start offset of the partition; ``None`` when unknown.
        moved: The coordinator changed between the two.
    """
    if of.offset != of.before and of.forgotten:
        return StepKind.AGAIN
    if of.offset != of.before and of.members is False:
        return StepKind.RESET
    older = of.at is not None and of.before_at is not None and of.at < of.before_at
    if of.offset >= of.before:
        return StepKind.LATE if older else None
    if moved or older:
        return StepKind.STALE
    return StepKind.TO_START if of.offset in (0, begin) else StepKind.BACK


def commits_backwards(rows: Sequence[CommitStep], *, total: int, groups: int, gaps: Sequence[Gap] = ()) -> Finding:
    """Did commits of a group go back, or were they set externally?

    Args:
        rows: Irregular commits, up to a limit.
        total: Number of irregular commits.
        groups: Number of groups examined.
        gaps: Why some commits of these groups are unknown.
    """
    back = [row for row in rows if row.offset < row.before]
    set_on = [row for row in rows if row.kind in (StepKind.RESET, StepKind.AGAIN) and row.offset > row.before]
    stale = [row for row in rows if row.kind is StepKind.STALE]
    ask = Question(
        check="loss.commits_backwards",
        question="Did a group's commits go back, or were they set by a tool?",
        coverage=Coverage.every(groups, "group", Source.SEGMENTS),
        threshold="a commit below the previous one, or one that no member made",
        facts={
            "back": len(back),
            "stale": len(stale),
            "set_forward": len(set_on),
            "odd": total,
            "groups": sorted({row.group for row in rows}),
        },
        evidence=(Evidence(file="tables/commit_steps"),),
        caveats=(f"Of {plural(total, 'such commit')}, the first {len(rows)} were judged.",) if total > len(rows) else (),
    )
    if not groups:
        return ask.could_not_check(
            "Commits of groups are unknown: no segments of __consumer_offsets were read",
            settle="Add the log dirs of the brokers that hold __consumer_offsets (--log-dirs BROKER=DIR).",
        )
    if not (back or set_on):
        left = f"{plural(total - len(rows), 'odd commit')} were not judged one by one."
        gaps = (*gaps, *((Gap(why=left, settle="Set one group: -p group=NAME."),) if total > len(rows) else ()))
        return ask.ok("No commit went back, and none was set by a tool", gaps=gaps)
    severity = Severity.WARNING if stale or set_on else Severity.INFO
    title = f"{'At least ' if gaps else ''}{_title(back, set_on)}"
    return ask.found(severity, title, why=_why((*stale, *set_on, *back)[0]))


def _title(back: Sequence[CommitStep], set_on: Sequence[CommitStep]) -> str:
    told = (
        f"{plural(len(back), 'commit')} went back" if back else "",
        f"{plural(len(set_on), 'commit')} jumped forward without a member or after the offset was forgotten" if set_on else "",
    )
    return ", and ".join(filter(None, told))


_WHY = {
    StepKind.RESET: "while the group had no member, as tools do",
    StepKind.AGAIN: "after its offset had been deleted or had expired",
    StepKind.TO_START: "back to where the log begins",
    StepKind.STALE: "after its coordinator changed or with an older time, so that an earlier offset survived",
    StepKind.BACK: "by a member",
    StepKind.LATE: "with an older time than the previous one",
}


def _why(row: CommitStep) -> str:
    place = f"offset {row.source_offset} of __consumer_offsets-{row.log_partition}"
    return f"{row.group} on {row.topic}-{row.partition} went from {row.before} to {row.offset}, {_WHY[row.kind]} ({place})."


def _between(at: int, since: int | None, until: int | None) -> bool:
    return since is not None and until is not None and since <= at <= until
