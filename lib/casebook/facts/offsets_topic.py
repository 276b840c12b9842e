"""Facts of the offsets topic as a scan found it, and of what would be lost with parts of it. ``None`` is unknown, never zero.

Times are epoch milliseconds of records, by whoever wrote them (``offset commit``: the broker).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.times import EpochMs


class Segment(NamedTuple):
    """A row of ``tables/offsets_segments``: a segment of the offsets topic as a scan found it.

    A live record is the latest of its key in its partition.

    Columns:
        topic: __consumer_offsets.
        partition: Its partition.
        broker: Broker that has the copy.
        base_offset: From the file's name.
        bytes: Of its sound batches.
        records: Without transaction markers.
        live_records: Latest of their key in the partition, tombstones included.
        live_bytes: Their share of the segment.
        tombstones: Records without value.
        markers: Transaction markers.
        open_transactional: Records of transactions without marker.
        first_time: Earliest record or commit time, ISO-8601 UTC; in compacted logs, of what is left.
        last_time: Latest record or commit time.
        largest_batch: Bytes.
        keepers: Records that make it unsafe to remove, without tombstones.
        safe_to_do_without: Safe to remove: without it and all others marked safe, every answer stays the same.
        damaged_bytes: Bytes that no batch could be read from.

    Args:
        first_offset: Of its first batch.
        last_offset: Of its last batch.
        newer: Records of key kinds that the classic coordinator does not know.
        unknown: Records whose key could not be decoded.
    """

    broker: int
    partition: int
    base_offset: int
    bytes: int
    records: int
    live_records: int
    live_bytes: int
    tombstones: int
    open_transactional: int
    markers: int
    first_offset: int | None
    last_offset: int | None
    first_time: EpochMs | None
    last_time: EpochMs | None
    largest_batch: int | None
    keepers: int
    safe_to_do_without: bool
    newer: int = 0
    unknown: int = 0
    damaged_bytes: int = 0

    @property
    def topic(self) -> str:
        """The offsets topic, as the tables name it."""
        return OFFSETS_TOPIC


class GroupBytes(NamedTuple):
    """A row of ``tables/group_bytes``: what a group wrote into a partition of the offsets topic, by committed topic and hour.

    Columns:
        broker: Broker whose copy was read.
        partition: Partition of __consumer_offsets.
        group: Group id; null for records that name none.
        topic: Topic whose offsets it commits; null for its own metadata.
        hour: Start of the hour of the commits, ISO-8601 UTC; null for smaller groups, whose hours are summed up.
        records: Commits, tombstones and metadata records.
        bytes: Their share of the segments.
        live_bytes: Of those that are the latest of their key.
        client: Client ids of the group's latest members.
    """

    broker: int
    partition: int
    group: str
    topic: str | None
    hour: EpochMs | None
    records: int
    bytes: int
    live_bytes: int
    client: str | None = None


class GroupCommit(NamedTuple):
    """A row of ``tables/commits``: the latest visible commit of a group for a topic partition.

    Columns:
        group: Group id.
        topic: Committed topic.
        partition: Committed partition.
        offset: Answer of OffsetFetch.
        commit_time: By the broker's clock, ISO-8601 UTC.
        expire_time: When the coordinator may expire it; null if never, or unknown.
        broker: Broker whose copy was read.
        log_partition: Partition of __consumer_offsets that holds it.
        source_offset: Offset of the record there.
        segment: Base offset of the record's segment.
    """

    broker: int
    log_partition: int
    group: str
    topic: str
    partition: int
    offset: int
    commit_time: EpochMs | None
    expire_time: EpochMs | None
    source_offset: int
    segment: int


class OffsetsLog(NamedTuple):
    """A partition of the offsets topic as a scan found it: what a coordinator that loads this copy would know.

    Args:
        broker: Broker that has the copy.
        partition: Of ``__consumer_offsets``.
        commits: Visible commits: keys that OffsetFetch answers.
        groups: Groups with a visible commit or metadata.
        open_transactional: Records of transactions without marker.
        first_open: Offset of the first of them.
        expired: Visible commits whose time has passed and that no tombstone has removed yet; ``None`` when unknown.
        newer: Records by a key kind that the classic coordinator does not know.
    """

    broker: int
    partition: int
    commits: int
    groups: int
    open_transactional: int
    first_open: int | None
    expired: int | None = None
    newer: Mapping[str, int] = {}


class GroupState(NamedTuple):
    """The latest metadata of a group, or its traces without any.

    Args:
        broker: Broker that has the copy.
        partition: Of ``__consumer_offsets``.
        group: Its id.
        commits: Its visible commits.
        protocol_type: ``consumer``, ``connect``, ...; ``None`` without metadata: a simple consumer, or its metadata is gone.
        protocol: The assignor.
        generation: Of the group.
        members: How many it had; ``None`` without metadata.
        clients: Their client ids and hosts, as ``id host``, sorted.
        topics: What they subscribed to.
        since: When it took its state (2.1+).
        source_offset: Of the metadata record.
    """

    broker: int
    partition: int
    group: str
    commits: int
    protocol_type: str | None = None
    protocol: str | None = None
    generation: int | None = None
    members: int | None = None
    clients: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    since: int | None = None
    source_offset: int | None = None


class GroupHistory(NamedTuple):
    """How a group committed, as far as the last commit of each key and hour tells.

    Args:
        broker: Broker that has the copy.
        partition: Of ``__consumer_offsets``.
        group: Its id.
        first_hour: Start of the first hour with a commit.
        last_hour: Start of the last.
        hours: Hours with a commit.
        longest_gap: Hours between two such hours, at most: 1 when it never stopped.
        busiest_hour: Commits in its busiest hour.
        last_day: Commits in the last 24 hours of the partition.
        rewinds: Times that a key stood lower than in its hour before; more may hide inside hours.
        largest_rewind: By how many records, at most.
        per_commit: Records of progress for each commit; ``None`` when it cannot be told.
    """

    broker: int
    partition: int
    group: str
    first_hour: int | None
    last_hour: int | None
    hours: int
    longest_gap: int | None
    busiest_hour: int
    last_day: int
    rewinds: int
    largest_rewind: int
    per_commit: float | None


class NextClean(NamedTuple):
    """What the cleaner's next run over all cleanable segments would do, if its map holds every key.

    Args:
        broker: Broker that has the copy.
        partition: Of ``__consumer_offsets``.
        bytes_before: Of the segments below the first uncleanable one.
        bytes_after: Of what must be kept of them.
        keys: Distinct keys of the dirty ones: what the map must hold.
        tombstones: Tombstones that are the last of their key: they go ``delete.retention.ms`` later.
    """

    broker: int
    partition: int
    bytes_before: int
    bytes_after: int
    keys: int
    tombstones: int


class GroupLoss(NamedTuple):
    """What deleting segments would do to a group. The arguments are those of :class:`Deletion`, for one group.

    Args:
        last_lost: Time of the latest commit among the lost ones.
    """

    partition: int
    group: str
    commits: int
    lost: int
    fell_back: int
    again: int
    revived: int
    last_lost: int | None


class LostCommit(NamedTuple):
    """A row of ``tables/lost_commits``: what becomes of a commit whose answer would change.

    Columns:
        choice: The set of removed segments, as in deletion; at most ten thousand rows per set.
        group: Group id.
        topic: Committed topic.
        partition: Committed partition.
        change: lost, falls back to an older commit, or returns although it was removed or had expired.
        offset: Answer of OffsetFetch now; null for none.
        commit_time: When that was committed, by the broker's clock.
        remains: Answer of OffsetFetch then; null for none: its consumer starts at auto.offset.reset.
        remains_time: When that was committed.
        log_partition: Partition of __consumer_offsets that holds it.
    """

    choice: str
    log_partition: int
    group: str
    topic: str | None
    partition: int | None
    change: str
    offset: int | None
    commit_time: EpochMs | None
    remains: int | None
    remains_time: EpochMs | None


class Deletion(NamedTuple):
    """What deleting segments of a partition would do to what the coordinator answers. Nothing is ever deleted.

    Args:
        scenario: Name of the set of segments.
        broker: Whose copy was looked at.
        partition: Of ``__consumer_offsets``.
        segments: Base offsets of the deleted ones.
        bytes: Their size: what a load no longer reads.
        records: In them, with markers.
        commits: Visible before.
        lost: Commits that OffsetFetch no longer answers.
        fell_back: Commits answered with an older record.
        again: Records that are consumed again for these.
        revived: Removed or expired commits that are answered again.
        groups: Groups with a visible commit before.
        groups_emptied: Groups of these left without any.
        metadata_lost: Groups whose latest metadata goes.
        open_lost: Records of open transactions that go.
        by_group: Those that lose most, most first.
        by_commit: Commits whose answer changes, by group, topic and partition; some ten thousand at most.
    """

    scenario: str
    broker: int
    partition: int
    segments: tuple[int, ...]
    bytes: int
    records: int
    commits: int
    lost: int
    fell_back: int
    again: int
    revived: int
    groups: int
    groups_emptied: int
    metadata_lost: int
    open_lost: int
    by_group: tuple[GroupLoss, ...] = ()
    by_commit: tuple[LostCommit, ...] = ()


class SegmentDamage(NamedTuple):
    """A row of ``tables/damage``: bytes of a segment that no batch could be read from.

    Columns:
        file: Path or URI of the segment.
        position: First byte.
        bytes: How many were skipped.
        offset: Offset that the first header states; null when it makes no sense.
        reason: In words.
        tail: The file ends in it, torn or in zeros, as a copy of a segment that is being written does.
    """

    file: str
    position: int
    bytes: int
    offset: int | None
    reason: str
    tail: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What a scan brought of the copies it read; each part may be missing."""

    segments: tuple[Segment, ...] = ()
    logs: tuple[OffsetsLog, ...] = ()
    commits: tuple[GroupCommit, ...] = ()
    groups: tuple[GroupState, ...] = ()
    group_bytes: tuple[GroupBytes, ...] = ()
    history: tuple[GroupHistory, ...] = ()
    next_clean: tuple[NextClean, ...] = ()
    damage: tuple[SegmentDamage, ...] = ()

    def of(self, broker: int, partition: int) -> "Scanned":
        """What it brought of one copy, without what is told of files alone."""
        return Scanned(
            segments=tuple(s for s in self.segments if (s.broker, s.partition) == (broker, partition)),
            commits=tuple(c for c in self.commits if (c.broker, c.log_partition) == (broker, partition)),
            groups=tuple(g for g in self.groups if (g.broker, g.partition) == (broker, partition)),
            group_bytes=tuple(g for g in self.group_bytes if (g.broker, g.partition) == (broker, partition)),
            history=tuple(g for g in self.history if (g.broker, g.partition) == (broker, partition)),
        )
