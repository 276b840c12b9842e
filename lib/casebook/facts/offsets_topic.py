"""Facts of the scanned offsets topic, and of the loss from deleting parts of it. ``None`` is unknown, never zero.

Times are epoch milliseconds of records, by the clock of their writer (``offset commit``: the broker).
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
        first_offset: First offset of its first batch.
        last_offset: Last offset of its last batch.
        newer: Number of records of key kinds that the classic coordinator does not know.
        unknown: Number of records with an undecodable key.
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
        """Name of the offsets topic in the tables."""
        return OFFSETS_TOPIC


class GroupBytes(NamedTuple):
    """A row of ``tables/group_bytes``: a group's writes into a partition of the offsets topic, by committed topic and hour.

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
    """A row of ``tables/commits``: the latest visible commit of a group for a topic partition, in each copy that was read.

    Of very many only the first 50,000 are kept: ``OffsetsLog.commits`` counts all. A follower's copy may lag.

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
    """A scanned partition of the offsets topic: the state of a coordinator that loads this copy.

    Args:
        broker: Broker of the copy.
        partition: Partition of ``__consumer_offsets``.
        commits: Number of visible commits: keys that OffsetFetch returns.
        groups: Number of groups with a visible commit or metadata.
        open_transactional: Number of records of transactions without a marker.
        first_open: Offset of the first such record.
        expired: Number of expired visible commits without a tombstone yet; ``None`` when unknown.
        newer: Number of records of a key kind that the classic coordinator does not know.
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
    """Latest metadata of a group, or its traces without any.

    Args:
        broker: Broker of the copy.
        partition: Partition of ``__consumer_offsets``.
        group: Group id.
        commits: Number of its visible commits.
        protocol_type: ``consumer``, ``connect``, ...; ``None`` without metadata: a simple consumer, or the metadata is lost.
        protocol: Assignor.
        generation: Generation of the group.
        members: Number of members; ``None`` without metadata.
        clients: Client ids and hosts of the members, as ``id host``, sorted.
        topics: Subscribed topics.
        since: When it entered its state (2.1+).
        source_offset: Offset of the metadata record.
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
    """Commit history of a group, as far as the last commit of each key and hour shows it.

    Args:
        broker: Broker of the copy.
        partition: Partition of ``__consumer_offsets``.
        group: Group id.
        first_hour: Start of the first hour with a commit.
        last_hour: Start of the last hour with a commit.
        hours: Number of hours with a commit.
        longest_gap: Longest distance between two such hours, in hours: 1 without a pause.
        busiest_hour: Commits in its busiest hour.
        last_day: Commits in the last 24 hours of the partition.
        rewinds: Number of keys and hours with a lower offset than the hour before; more may hide within hours.
        largest_rewind: Size of the largest, in records.
        per_commit: Records of progress per commit; ``None`` when undecidable.
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
    """Effect of the cleaner's next run over all cleanable segments, if its map holds every key.

    Args:
        broker: Broker of the copy.
        partition: Partition of ``__consumer_offsets``.
        bytes_before: Bytes of the segments below the first uncleanable one.
        bytes_after: Bytes of these that must be kept.
        keys: Number of distinct keys in the dirty segments, to fit in the map.
        tombstones: Number of tombstones that are the latest of their key; removed ``delete.retention.ms`` later.
    """

    broker: int
    partition: int
    bytes_before: int
    bytes_after: int
    keys: int
    tombstones: int


class GroupLoss(NamedTuple):
    """Effect of deleting segments on one group. Arguments as in :class:`Deletion`.

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
    """A row of ``tables/lost_commits``: effect on a commit whose answer would change.

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
    """Effect of deleting segments of a partition on the coordinator's answers. Nothing is ever deleted.

    Args:
        scenario: Name of the set of segments.
        broker: Broker of the examined copy.
        partition: Partition of ``__consumer_offsets``.
        segments: Base offsets of the deleted ones.
        bytes: Their size, which a load no longer reads.
        records: Their number of records, including markers.
        commits: Number of visible commits before.
        lost: Number of commits that OffsetFetch no longer returns.
        fell_back: Number of commits with an older answer.
        again: Number of records reread because of these.
        revived: Number of removed or expired commits that are visible again.
        groups: Number of groups with a visible commit before.
        groups_emptied: Number of these left without any.
        metadata_lost: Groups that lose their latest metadata.
        open_lost: Number of lost records of open transactions.
        by_group: Groups with the largest losses, largest first.
        by_commit: Commits with a changed answer, by group, topic and partition; some ten thousand at most.
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
    """Result of a scan over all copies; each part may be missing."""

    segments: tuple[Segment, ...] = ()
    logs: tuple[OffsetsLog, ...] = ()
    commits: tuple[GroupCommit, ...] = ()
    groups: tuple[GroupState, ...] = ()
    group_bytes: tuple[GroupBytes, ...] = ()
    history: tuple[GroupHistory, ...] = ()
    next_clean: tuple[NextClean, ...] = ()
    damage: tuple[SegmentDamage, ...] = ()

    def of(self, broker: int, partition: int) -> "Scanned":
        """Return the result for one copy, without the parts that belong to files."""
        return Scanned(
            segments=tuple(s for s in self.segments if (s.broker, s.partition) == (broker, partition)),
            commits=tuple(c for c in self.commits if (c.broker, c.log_partition) == (broker, partition)),
            groups=tuple(g for g in self.groups if (g.broker, g.partition) == (broker, partition)),
            group_bytes=tuple(g for g in self.group_bytes if (g.broker, g.partition) == (broker, partition)),
            history=tuple(g for g in self.history if (g.broker, g.partition) == (broker, partition)),
        )
