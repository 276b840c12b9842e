"""Group coordinators: waiting groups, expected ends, and the impact of a broker's loss. Content of notebook 50."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from casebook.facts.cluster import Cluster
from casebook.facts.disks import OFFSETS_TOPIC, LogDir
from casebook.facts.events import Event, LogFile
from casebook.facts.evidence import Evidence
from casebook.facts.offsets_topic import Segment
from casebook.findings.finding import Finding
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
    """Content of notebook 50.

    Args:
        rows: One per known group, and per partition without one; longest waits first.
        findings: One per check, in a fixed order.
    """

    rows: tuple[CoordinatorRow, ...]
    findings: tuple[Finding, ...]

    def look_up(self, group: str) -> LookUp:
        """Return a group's partition and when it is served; also for a name outside the evidence."""
        return look_up(group, self.topic, self.partitions, self.version.version, known=group in self.groups)

    def commits_to_kafka(self, group: str) -> bool | None:
        """Return whether the offsets topic has a group; ``None`` when its partition was not read."""
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
    """Judge every partition of the offsets topic, predict the ends of loads, and run every check on coordinators.

    Args:
        cluster: Leaders and settings, if the case has any.
        log_dirs: Listed log dirs, for partition sizes.
        events: Events of all brokers' logs.
        files: Coverage of those logs.
        groups: Group names from segments, if any.
        lines: Events of brokers' logs with leaders, for partitions without a znode, and with groups, for unread segments.
        segments: Scanned segments of the offsets topic, for the largest batches.
        largest: Largest batch in bytes by partition, from headers alone.
        at: End of the evidence; by default the last time in logs, log dirs and znodes.
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
    """Return the groups of partitions without a read segment; read segments list their own groups."""
    return {name: line for name, line in named.items() if not _is_read(name, topic, read)}


def _end(cluster: Cluster, log_dirs: Iterable[LogDir], files: Iterable[LogFile]) -> int | None:
    times = [*(file.last for file in files), *(log_dir.listed_at for log_dir in log_dirs), cluster.read_to or None]
    return max((time for time in times if time is not None), default=None)


def _is_read(group: str, topic: Partitions, read: Collection[int]) -> bool:
    """Return whether the partition of a group was read."""
    return topic.count is not None and group_partition(group, topic.count) in read
