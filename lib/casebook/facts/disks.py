"""Facts of a broker's disks and logs, as frozen rows. ``None`` is unknown, never zero.

Times are epoch milliseconds: of segments' files by the broker's disk, of records by whoever wrote them (``offset
commit``: the broker), of log lines by the broker's clock.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from casebook.facts.cluster import Problem

OFFSETS_TOPIC = "__consumer_offsets"
METADATA_TOPIC = "__cluster_metadata"
CLEANER_CHECKPOINT = "cleaner-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CHECKPOINTS = (
    CLEANER_CHECKPOINT, HIGH_WATERMARKS, "recovery-point-offset-checkpoint", "log-start-offset-checkpoint"
)  # fmt: skip
"""The files of a log dir that hold an offset of each partition."""

_LISTING = re.compile(r"brokers/\d+/log_dirs\.json(:\d+)?")

Partition = tuple[str, int]
"""Topic and partition number."""


def log_dirs_of(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The log dirs that a broker's settings name: ``log.dirs``, else ``log.dir``; empty where they name none."""
    named = next((settings[name] for name in ("log.dirs", "log.dir") if settings.get(name)), "")
    return tuple(filter(None, map(str.strip, named.split(","))))


def is_listing(path: str) -> bool:
    """Whether a path is that of a case's list of a broker's log dirs, or of a line of it."""
    return _LISTING.fullmatch(path) is not None


class SegmentFile(NamedTuple):
    """A segment as the file system lists it.

    Args:
        base_offset: From its name.
        bytes: Size of the ``.log`` file.
        modified: Its modification time: of the last append, also after cleaning (``LogCleaner.scala@0.9.0.1``).
        beside: Suffixes of the files of the same name, e.g. ``.index``, ``.timeindex``.
    """

    base_offset: int
    bytes: int
    modified: int | None
    beside: tuple[str, ...] = ()


class LeftoverFile(NamedTuple):
    """What an operation left in a log dir, or has under way.

    Args:
        path: Below the log dir.
        kind: ``.cleaned``, ``.swap`` or ``.deleted`` for a file, ``-delete``, ``-future`` or ``-stray`` for a folder, ``orphan``
            for an index without its segment.
        bytes: Its size, of a folder that of its files.
        modified: When it was last written to; of a folder, the latest of its files.
        topic: Whose it is; of a folder with a name as long as names can be, only the beginning.
        partition: Whose it is.
        cut: The topic may be longer than it stands here.
    """

    path: str
    kind: str
    bytes: int
    modified: int | None = None
    topic: str | None = None
    partition: int | None = None
    cut: bool = False


class EpochStart(NamedTuple):
    """A line of ``leader-epoch-checkpoint``."""

    epoch: int
    start_offset: int


class Replica(NamedTuple):
    """A partition's folder in a log dir.

    Args:
        broker: Whose log dir it is.
        topic: From the folder's name.
        partition: From the folder's name.
        place: Path or URI of the folder: what a scan opens; inside the case when ``copied``.
        item: Path of the folder's row in the case: what a proof names.
        segments: By base offset.
        log_start: From ``log-start-offset-checkpoint``; ``None`` when it has no line.
        recovery_point: From ``recovery-point-offset-checkpoint``: flushed below.
        high_watermark: From ``replication-offset-checkpoint``: seconds old.
        cleaner_point: From ``cleaner-offset-checkpoint``: everything below is cleaned. ``None``: no line, never cleaned,
            or the file was not read; the :class:`LogDir` tells which.
        epochs: From ``leader-epoch-checkpoint``; empty before 0.11.
        topic_id: From ``partition.metadata``.
        log_end: The offset that its next record would get, by its last segment; ``None`` where that was not looked at, or is
            damaged.
        magic: The record format of its last batch, 0 to 2; ``None`` also where its last segment is empty.
        copied: Its segments are in the case; else they are, or were, where it was collected.
    """

    broker: int
    topic: str
    partition: int
    place: str
    item: str
    segments: tuple[SegmentFile, ...]
    log_start: int | None = None
    recovery_point: int | None = None
    high_watermark: int | None = None
    cleaner_point: int | None = None
    epochs: tuple[EpochStart, ...] = ()
    topic_id: str | None = None
    log_end: int | None = None
    magic: int | None = None
    copied: bool = False

    @property
    def bytes(self) -> int:
        """Size of all its segments."""
        return sum(segment.bytes for segment in self.segments)


_UNREAD = ("cannot be ", "is larger than ", "was listed only ", "is of version ", "announces ", "lines ", "ends within ")
_GONE = "No such file or directory"
_FEW_FILES = 4
_COPIED_WITHIN = 1000
"""Files of a log dir, and milliseconds in which only a copy writes so many of them."""


class LogDir(NamedTuple):
    """A log dir of a broker as it was listed.

    Args:
        broker: Its id.
        place: Path or URI, as given.
        listed_at: When; ``None`` when the case does not say, or what was listed is a copy of nobody knows when.
        replicas: By topic and partition.
        leftovers: By path.
        checkpoints: The checkpoint files that were read, with their modification times.
        meta: ``meta.properties``; ``None`` when it is not there.
        clean_shutdown: Whether ``.kafka_cleanshutdown`` stands: it was stopped cleanly and has not completed a start since.
        broker_epoch: What the marker holds, from 3.7 on.
        without_folder: Partitions that its checkpoints name and that have no folder in it.
        problems: What could not be read, or was gone when it was; paths are below the log dir.
    """

    broker: int
    place: str
    listed_at: int | None
    replicas: tuple[Replica, ...] = ()
    leftovers: tuple[LeftoverFile, ...] = ()
    checkpoints: Mapping[str, int | None] = {}
    meta: Mapping[str, str] | None = None
    clean_shutdown: bool = False
    broker_epoch: int | None = None
    without_folder: tuple[Partition, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def unread(self) -> tuple[Problem, ...]:
        """What was there and told nothing, or not all: it was neither gone meanwhile, nor only odd."""
        return tuple(problem for problem in self.problems if problem.reason.startswith(_UNREAD) and _GONE not in problem.reason)

    @property
    def is_of_kraft(self) -> bool:
        """Whether it is a KRaft node's: it holds the metadata log, or its ``meta.properties`` names a node and no broker.

        Those of version 1 have ``node.id`` in the place of ``broker.id`` (``MetaPropertiesVersion.java@3.9.0``).
        """
        meta = self.meta or {}
        by_meta = "node.id" in meta and "broker.id" not in meta
        return by_meta or any(replica.topic == METADATA_TOPIC for replica in self.replicas)

    def observed(self) -> "LogDir":
        """The log dir without the times of a checkout, or of a copy that kept none: they tell nothing of the broker.

        Rule: every file bears one second. A broker writes its checkpoints anew each few seconds, segments as records come
        (``LogManager.scala@0.9.0.1..3.9.0``). Of when such a state is nobody knows.
        """
        times = [segment.modified for replica in self.replicas for segment in replica.segments] + [*self.checkpoints.values()]
        known = [time for time in times if time is not None]
        if len(known) < _FEW_FILES or max(known) - min(known) > _COPIED_WITHIN:
            return self
        replicas = (
            replica._replace(segments=tuple(segment._replace(modified=None) for segment in replica.segments))
            for replica in self.replicas
        )
        return self._replace(
            listed_at=None,
            replicas=tuple(replicas),
            leftovers=tuple(leftover._replace(modified=None) for leftover in self.leftovers),
            checkpoints=dict.fromkeys(self.checkpoints),
        )

    @property
    def knows_cleaned(self) -> bool:
        """Whether a partition without cleaner point was never cleaned: the cleaner makes the file when it starts."""
        torn = any(problem.path == CLEANER_CHECKPOINT for problem in self.problems)
        return CLEANER_CHECKPOINT in self.checkpoints and not torn


class Segment(NamedTuple):
    """A segment of the offsets topic as a scan found it. A live record is the latest of its key in its partition.

    Args:
        broker: Whose copy it is.
        partition: Of ``__consumer_offsets``.
        base_offset: From its name.
        bytes: Of its sound batches.
        records: Without control records.
        live_records: Latest of their key, tombstones included.
        live_bytes: Their share of the segment's bytes.
        tombstones: Records without value.
        open_transactional: Records of transactions without marker.
        markers: Control records.
        first_offset: Of its first batch.
        last_offset: Of its last batch.
        first_time: Earliest record time.
        last_time: Latest record time.
        largest_batch: Bytes: what a loader must take at once.
        keepers: Live records, other than tombstones nobody needs, for which it is not safe to do without.
        safe_to_do_without: Whether deleting it, together with all others so marked, changes no answer.
        newer: Records of key kinds that the classic coordinator does not know.
        unknown: Records whose key could not be decoded.
        damaged_bytes: What no batch could be read from.
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
    first_time: int | None
    last_time: int | None
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
    """What a group wrote into a partition of the offsets topic, by committed topic and hour.

    Args:
        broker: Whose copy it is.
        partition: Of ``__consumer_offsets``.
        group: Its id.
        topic: Whose offsets it commits; ``None`` for its own metadata.
        hour: Start of the hour of the commits.
        records: Commits, tombstones and metadata records.
        bytes: Their share of the segments.
        live_bytes: Of those that are the latest of their key.
        client: Client ids of the group's latest members, joined by commas; ``None`` when unknown.
    """

    broker: int
    partition: int
    group: str
    topic: str | None
    hour: int | None
    records: int
    bytes: int
    live_bytes: int
    client: str | None = None


class GroupCommit(NamedTuple):
    """The latest visible commit of a group for a topic partition.

    Args:
        broker: Whose copy it is.
        log_partition: Of ``__consumer_offsets``.
        group: Its id.
        topic: Committed topic.
        partition: Committed partition.
        offset: What OffsetFetch answers.
        commit_time: By the broker.
        expire_time: When the coordinator forgets it; ``None`` when it does not, or that is not known.
        source_offset: Of the record.
        segment: Base offset of the record's segment.
    """

    broker: int
    log_partition: int
    group: str
    topic: str
    partition: int
    offset: int
    commit_time: int | None
    expire_time: int | None
    source_offset: int
    segment: int


class OffsetsLog(NamedTuple):
    """A partition of the offsets topic as a scan found it: what a coordinator that loads this copy would know.

    Args:
        broker: Whose copy it is.
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
        broker: Whose copy it is.
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
        broker: Whose copy it is.
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
        broker: Whose copy it is.
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
    """What becomes of a commit whose answer would change.

    Args:
        choice: Name of the set of segments that would go.
        log_partition: Of ``__consumer_offsets``.
        group: Its id.
        topic: Committed topic.
        partition: Committed partition.
        change: ``lost``, ``falls back`` to an older record, or ``comes back`` though it was removed or had expired.
        offset: What OffsetFetch answers now; ``None`` for none.
        commit_time: When it was committed, by the broker.
        remains: What OffsetFetch would answer; ``None`` for none.
        remains_time: When that was committed.
    """

    choice: str
    log_partition: int
    group: str
    topic: str | None
    partition: int | None
    change: str
    offset: int | None
    commit_time: int | None
    remains: int | None
    remains_time: int | None


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
    """Bytes of a segment that no batch could be read from.

    Args:
        file: Path or URI.
        position: First byte.
        bytes: How many were skipped.
        offset: The offset that the first header states; ``None`` when it makes no sense.
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
