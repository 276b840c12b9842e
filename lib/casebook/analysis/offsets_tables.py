"""The rows of the tables about the offsets topic: times as ISO-8601 UTC texts, as in every table."""

from collections.abc import Iterable
from typing import NamedTuple

from casebook.analysis.offsets_rows import OffsetsPartition
from casebook.analysis.verdicts import instant
from casebook.storage import OFFSETS_TOPIC, Commit, Damage, GroupBytes, Scanned, Segment


class PartitionRow(NamedTuple):
    """A row of ``tables/offsets_partitions``; the columns are those of :class:`OffsetsPartition`."""

    partition: int
    broker: int
    coordinator: bool | None
    segments: int
    bytes: int
    records: int | None
    live_bytes: int | None
    live_records: int | None
    superseded_bytes: int | None
    commits: int | None
    groups: int | None
    cleaner_point: int | None
    dirty_ratio: float | None
    limit: float | None
    next_clean_gains: int | None
    safe_segments: int | None
    safe_bytes: int | None
    load_ms: int | None
    rule: str
    why: str
    since: str | None
    oldest: str | None
    newest: str | None


class SegmentRow(NamedTuple):
    """A row of ``tables/offsets_segments``; the columns are those of :class:`casebook.storage.Segment`."""

    topic: str
    partition: int
    broker: int
    base_offset: int
    bytes: int
    records: int
    live_records: int
    live_bytes: int
    tombstones: int
    markers: int
    open_transactional: int
    first_time: str | None
    last_time: str | None
    largest_batch: int | None
    keepers: int
    safe_to_do_without: bool
    damaged_bytes: int


class GroupBytesRow(NamedTuple):
    """A row of ``tables/group_bytes``; the columns are those of :class:`casebook.storage.GroupBytes`."""

    broker: int
    partition: int
    group: str
    topic: str | None
    hour: str | None
    records: int
    bytes: int
    live_bytes: int
    client: str | None


class CommitRow(NamedTuple):
    """A row of ``tables/commits``."""

    group: str
    topic: str
    partition: int
    offset: int
    commit_time: str | None
    expire_time: str | None
    broker: int
    log_partition: int
    source_offset: int
    segment: int


def partition_rows(partitions: Iterable[OffsetsPartition]) -> tuple[PartitionRow, ...]:
    """The largest first."""
    times = ("since", "oldest", "newest")
    return tuple(
        PartitionRow(**{n: instant(getattr(p, n)) if n in times else getattr(p, n) for n in PartitionRow._fields})
        for p in partitions
    )


def segment_rows(segments: Iterable[Segment]) -> tuple[SegmentRow, ...]:
    """By broker, partition and base offset."""
    times = ("first_time", "last_time")
    return tuple(
        SegmentRow(OFFSETS_TOPIC, *(instant(getattr(s, n)) if n in times else getattr(s, n) for n in SegmentRow._fields[1:]))
        for s in segments
    )


def group_rows(group_bytes: Iterable[GroupBytes]) -> tuple[GroupBytesRow, ...]:
    """By partition, group, topic and hour."""
    return tuple(GroupBytesRow(*row._replace(hour=instant(row.hour))) for row in group_bytes)


def commit_rows(commits: Iterable[Commit]) -> tuple[CommitRow, ...]:
    """By partition of the offsets topic, group, topic and partition."""
    return tuple(
        CommitRow(
            group=c.group,
            topic=c.topic,
            partition=c.partition,
            offset=c.offset,
            commit_time=instant(c.commit_time),
            expire_time=instant(c.expire_time),
            broker=c.broker,
            log_partition=c.log_partition,
            source_offset=c.source_offset,
            segment=c.segment,
        )
        for c in commits
    )


def damage_rows(damage: Iterable[Damage]) -> tuple[Damage, ...]:
    """By file and position."""
    return tuple(sorted(damage, key=lambda d: (d.file, d.position)))


def tables(partitions: Iterable[OffsetsPartition], scanned: Scanned) -> dict[str, tuple[object, ...]]:
    """All of them, by name."""
    return {
        "offsets_partitions": partition_rows(partitions),
        "offsets_segments": segment_rows(scanned.segments),
        "group_bytes": group_rows(scanned.group_bytes),
        "commits": commit_rows(scanned.commits),
        "damage": damage_rows(scanned.damage),
    }
