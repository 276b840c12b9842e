"""Why the content of the offsets topic is unknown: empty, not read, or unreadable."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from casebook.errors import CasebookError, NotHereError
from casebook.facts.cluster import Cluster
from casebook.facts.disks import CHECKPOINTS, OFFSETS_TOPIC, LogDir, Replica, SegmentFile, is_listing
from casebook.facts.observed import Source
from casebook.facts.offsets_topic import Scanned, Segment
from casebook.findings.finding import NOTHING, UNREADABLE, Coverage, Finding, Question, Status
from casebook.findings.words import plural
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition

GIVE_LOG_DIRS = "Add the coordinators' log dirs: collect with --log-dirs BROKER=DIR."
_LOOK = "Run notebook 40 on the same source: casebook run offsets_topic --source ..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """No segment was read.

    Args:
        why: Reason, one sentence.
        settle: Evidence that would settle it.
    """

    why: str
    settle: str


def unread(copies: Sequence[Replica], failed: CasebookError | None, *, looked: bool) -> Unread:
    """Return why no segment of the offsets topic was read.

    Args:
        copies: Copies in the case.
        failed: Why they were unreadable; ``None`` when not tried, or without error.
        looked: Whether segments may be read.
    """
    if failed is not None:
        said = " ".join(part for part in (failed.what, failed.cause) if part)
        return Unread(why=said, settle=failed.try_ or "Run `casebook doctor`.")
    if not copies:
        return Unread(why="This case has no log dir of a broker that holds the offsets topic.", settle=GIVE_LOG_DIRS)
    if not any(copy.bytes for copy in copies):
        return Unread(why="Every copy of the offsets topic in this case is empty.", settle=GIVE_LOG_DIRS)
    if not looked:
        return Unread(
            why="The segments were not read: triage reads none, and other notebooks read none with scan=False.", settle=_LOOK
        )
    return Unread(why="The segments hold no countable record.", settle=GIVE_LOG_DIRS)


def unread_bytes(copy: Replica | None, segments: Iterable[Segment]) -> int:
    """Return the unread bytes of a copy: in listed segments, and damage except the torn end of the active segment.

    Args:
        copy: Listed copy; ``None`` without a listing.
        segments: Its scanned segments.
    """
    read = {segment.base_offset: segment for segment in segments}
    if copy is None:
        return sum(segment.damaged_bytes for segment in read.values())
    active = copy.segments[-1].base_offset if copy.segments else None
    return sum(_unread(one, read.get(one.base_offset), is_active=one.base_offset == active) for one in copy.segments)


def proven(scan: Scanned, copies: Iterable[Replica]) -> Scanned:
    """Return the scan with no segment marked as safe to delete in a partly read copy.

    The unread part may contain an older value that such a segment's tombstone hides.
    """
    found: dict[tuple[int, int], list[Segment]] = {}
    for segment in scan.segments:
        found.setdefault((segment.broker, segment.partition), []).append(segment)
    listed = {(copy.broker, copy.partition): copy for copy in copies}
    cut = {at for at, some in found.items() if unread_bytes(listed.get(at), some)}
    if not cut:
        return scan
    segments = tuple(
        one._replace(safe_to_do_without=False) if (one.broker, one.partition) in cut else one for one in scan.segments
    )
    return replace(scan, segments=segments)


def _unread(listed: SegmentFile, read: Segment | None, *, is_active: bool) -> int:
    if read is None:
        return listed.bytes
    return max(0, listed.bytes - read.bytes - (read.damaged_bytes if is_active else 0))


def unread_segments(failed: CasebookError | None) -> tuple[Finding, ...]:
    """Return a finding on unreadable segments; nothing when read, elsewhere, or not tried."""
    if failed is None or isinstance(failed, NotHereError):
        return ()
    ask = Question(
        check="evidence.segments", question="Could the segments be read?", coverage=NOTHING, facts={UNREADABLE: [OFFSETS_TOPIC]}
    )
    title = f"The segments of {OFFSETS_TOPIC} were not read: {failed.what}"
    return (ask.could_not_check(title, why=failed.cause or "", settle=failed.try_ or "Run `casebook doctor`."),)


def unread_listings(log_dirs: Iterable[LogDir]) -> tuple[Finding, ...]:
    """Return a finding on unreadable or incomplete listings of log dirs, or their checkpoints; nothing when all were read."""
    lines = [
        problem for log_dir in log_dirs for problem in log_dir.problems if is_listing(problem.path) or problem.path in CHECKPOINTS
    ]
    if not lines:
        return ()
    files = sorted({problem.path.rpartition(":")[0] or problem.path for problem in lines})
    ask = Question(
        check="evidence.log_dirs", question="Could the lists of log dirs be read?", coverage=NOTHING, facts={UNREADABLE: files}
    )
    title = f"{plural(len(files), 'file')} of or about log dirs could not be read in full"
    return (ask.could_not_check(title, why=f"{lines[0].path} {lines[0].reason}.", settle=GIVE_LOG_DIRS),)


def is_empty(cluster: Cluster, copies: Sequence[OffsetsPartition]) -> bool:
    """Return whether the offsets topic is empty: all copies are, including that of every coordinator."""
    own = [p for p in cluster.partitions if p.topic == OFFSETS_TOPIC]
    here = {(copy.broker, copy.partition) for copy in copies}
    led = all(p.state is not None and (p.state.leader, p.partition) in here for p in own)
    return bool(own) and led and not any(copy.bytes for copy in copies)


def answered(answer: Finding, reason: Unread, cluster: Cluster, copies: Sequence[OffsetsPartition]) -> Finding:
    """Return the answer to a check on segment content when none is known: without its own ``why``, it gets the reason given."""
    if answer.status is not Status.COULD_NOT_CHECK:
        return answer
    if is_empty(cluster, copies):
        every = plural(len(copies), "copy", "copies")
        empty = Coverage.every(len(copies), "copy", Source.LOG_DIRS, Source.ZNODES, many="copies")
        return replace(
            answer, status=Status.OK, title=f"The offsets topic is empty, in {every}", coverage=empty, why="", settle=None
        )
    return answer if answer.why else replace(answer, why=reason.why, settle=reason.settle)
