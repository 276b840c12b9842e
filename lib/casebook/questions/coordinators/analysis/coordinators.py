"""Group coordinators: who waits for which, until when, and whom a broker's loss would hit. What notebook 50 concludes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from casebook.facts.cluster import Cluster
from casebook.facts.disks import OFFSETS_TOPIC, LogDir
from casebook.facts.events import Event, LogFile
from casebook.facts.offsets_topic import Segment
from casebook.findings.finding import Evidence, Finding
from casebook.kafka.group_partition import group_partition
from casebook.kafka.releases import VersionInUse
from casebook.questions.coordinators.analysis import checks
from casebook.questions.coordinators.analysis import lines as coordinator_lines
from casebook.questions.coordinators.analysis.load_ends import broker_queues
from casebook.questions.coordinators.analysis.load_queue import queues
from casebook.questions.coordinators.analysis.rows import (
    CoordinatorRow,
    LookUp,
    Partitions,
    blast_radius,
    look_up,
    partitions_of_topic,
    rows,
    waiting,
)
from casebook.questions.coordinators.analysis.scene import CoordinatorInputs
from casebook.questions.coordinators.analysis.states import judge, largest_batches
from casebook.questions.offsets_topic.analysis import unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinators(CoordinatorInputs):
    """Everything notebook 50 shows.

    Args:
        rows: One for each known group, and for each partition without one; those that wait longest first.
        findings: One for every check, in a fixed order.
    """

    rows: tuple[CoordinatorRow, ...]
    findings: tuple[Finding, ...]

    def look_up(self, group: str) -> LookUp:
        """Where a group lies and when it is served; also for a name that nothing in the evidence bears."""
        return look_up(group, self.topic, self.partitions, self.version.version, known=group in self.groups)

    def commits_to_kafka(self, group: str) -> bool | None:
        """Whether the offsets topic knows a group; ``None`` where nobody has read the partition that would."""
        if group in self.groups or self.cluster.lacks(OFFSETS_TOPIC):
            return group in self.groups
        read = {segment.partition for segment in self.segments}
        return False if _is_read(group, self.topic, read) else None


def examine(
    cluster: Cluster,
    version: VersionInUse,
    *,
    log_dirs: Sequence[LogDir] = (),
    events: Iterable[Event] = (),
    files: Iterable[LogFile] = (),
    groups: Sequence[str] = (),
    lines: Sequence[Event] = (),
    segments: Sequence[Segment] = (),
    largest: Mapping[int, int] | None = None,
    at: int | None = None,
) -> Coordinators:
    """Judge every partition of the offsets topic, foretell the ends of loads, and answer every check on coordinators.

    Args:
        cluster: Leaders and settings; a case may have none.
        log_dirs: Sizes of the partitions.
        events: Of all brokers' logs.
        files: What those logs cover.
        groups: Names that segments tell, of which there may be none.
        lines: Of brokers' logs: they name leaders where there is no znode, and groups where no segment was read.
        segments: Of a scan of the offsets topic: what is known of its largest batches.
        largest: Bytes of the largest batch by partition, of those of which headers alone were read.
        at: End of the evidence; by default the last time that logs, log dirs and znodes bear.
    """
    told, covered = tuple(events), tuple(file for file in files if file.broker is not None)
    end = at if at is not None else _end(cluster, log_dirs, covered)
    by_broker = queues(told, covered, end)
    batches = {**(largest or {}), **largest_batches(segments)}
    judged = judge(cluster, version.version, log_dirs, by_broker, segments, coordinator_lines.leaders(lines), batches)
    topic = partitions_of_topic(cluster, version.version, judged)
    read = {segment.partition for segment in segments}
    named = _of_unread(coordinator_lines.groups(lines), topic, read)
    names = tuple(sorted({*groups, *named}))
    held = broker_queues(judged, by_broker)
    partitions = waiting(judged, held, names, topic, at_least={one.partition for one in judged} - read if named else ())
    scene = CoordinatorInputs(
        cluster=cluster,
        version=version,
        at=end,
        topic=topic,
        groups=names,
        named=named,
        partitions=partitions,
        queues=held,
        radius=blast_radius(partitions, cluster),
        segments=segments,
        largest=batches,
        events=told,
        files=tuple(file for file in files if file.is_of_brokers),
    )
    seen = {field.name: getattr(scene, field.name) for field in fields(scene)}
    findings = checks.checks(scene) + unread.unread_listings(log_dirs)
    return Coordinators(**seen, rows=rows(partitions, version.version, named), findings=findings)


def _of_unread(named: Mapping[str, Evidence], topic: Partitions, read: Collection[int]) -> Mapping[str, Evidence]:
    """The groups of partitions of which no segment was read: of the others the segments tell which groups there are."""
    return {name: line for name, line in named.items() if not _is_read(name, topic, read)}


def _end(cluster: Cluster, log_dirs: Iterable[LogDir], files: Iterable[LogFile]) -> int | None:
    times = [*(file.last for file in files), *(log_dir.listed_at for log_dir in log_dirs), cluster.read_to or None]
    return max((time for time in times if time is not None), default=None)


def _is_read(group: str, topic: Partitions, read: Collection[int]) -> bool:
    """Whether the partition of a group is among those that were read."""
    return topic.count is not None and group_partition(group, topic.count) in read
