"""Facts of a broker's listed log dirs, as frozen rows. ``None`` is unknown, never zero.

Times are epoch milliseconds by the file system.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Problem

OFFSETS_TOPIC = "__consumer_offsets"
METADATA_TOPIC = "__cluster_metadata"
CLEANER_CHECKPOINT = "cleaner-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CHECKPOINTS = (
    CLEANER_CHECKPOINT, HIGH_WATERMARKS, "recovery-point-offset-checkpoint", "log-start-offset-checkpoint"
)  # fmt: skip
"""Files of a log dir that store one offset per partition."""

_LISTING = re.compile(r"brokers/\d+/log_dirs\.json(:\d+)?")

Partition = tuple[str, int]
"""Topic and partition number."""


def log_dirs_of(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Log dirs in a broker's settings: ``log.dirs``, else ``log.dir``; empty without both."""
    named = next((settings[name] for name in ("log.dirs", "log.dir") if settings.get(name)), "")
    return tuple(filter(None, map(str.strip, named.split(","))))


def is_listing(path: str) -> bool:
    """Whether a path is a case's listing of a broker's log dirs, or a line of one."""
    return _LISTING.fullmatch(path) is not None


class SegmentFile(NamedTuple):
    """A segment as the file system lists it.

    Args:
        base_offset: From its name.
        bytes: Size of the ``.log`` file.
        modified: Modification time: that of the last append, also after cleaning (``LogCleaner.scala@0.9.0.1``).
        beside: Suffixes of the files of the same name, e.g. ``.index``, ``.timeindex``.
    """

    base_offset: int
    bytes: int
    modified: int | None
    beside: tuple[str, ...] = ()


class LeftoverFile(NamedTuple):
    """A leftover of an operation in a log dir, or a file of a running one.

    Args:
        path: Below the log dir.
        kind: ``.cleaned``, ``.swap`` or ``.deleted`` for a file, ``-delete``, ``-future`` or ``-stray`` for a folder, ``orphan``
            for an index without its segment.
        bytes: Size; of a folder, the sum of its files.
        modified: Modification time; of a folder, the latest of its files.
        topic: Topic name; only its beginning when the folder name has the maximum length.
        partition: Partition number.
        cut: The topic name may be cut.
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
    """A partition folder in a log dir.

    Args:
        broker: Id of the log dir's broker.
        topic: From the folder's name.
        partition: From the folder's name.
        place: Path or URI of the folder, for scans; inside the case when ``copied``.
        item: Path of the folder's row in the case, for proofs.
        segments: Segments by base offset.
        log_start: From ``log-start-offset-checkpoint``; ``None`` without a line.
        recovery_point: From ``recovery-point-offset-checkpoint``: everything below is flushed.
        high_watermark: From ``replication-offset-checkpoint``: some seconds old.
        cleaner_point: From ``cleaner-offset-checkpoint``: everything below is cleaned. ``None``: no line, never cleaned, or the
            file was not read; see :meth:`LogDir.knows_cleaned`.
        epochs: From ``leader-epoch-checkpoint``; empty before 0.11.
        topic_id: From ``partition.metadata``.
        log_end: Log end offset, from the last segment; ``None`` when that was not read or is damaged.
        magic: Record format of its last batch, 0 to 2; ``None`` also when its last segment is empty.
        copied: Its segments are in the case; otherwise they are on the collected host.
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
        """Size of all segments."""
        return sum(segment.bytes for segment in self.segments)


_UNREAD = ("cannot be ", "is larger than ", "was listed only ", "is of version ", "announces ", "lines ", "ends within ")
_GONE = "No such file or directory"
_FEW_FILES = 4
_COPIED_WITHIN = 1000
"""Log dir files, and the milliseconds within which only a copy tool writes that many."""


class LogDir(NamedTuple):
    """A log dir of a broker, as listed.

    Args:
        broker: Broker id.
        place: Path or URI, as given.
        listed_at: Listing time; ``None`` when unknown, or when a copy of unknown age was listed.
        replicas: Replicas by topic and partition.
        leftovers: Leftovers by path.
        checkpoints: Checkpoint files read, with their modification times.
        meta: ``meta.properties``; ``None`` when it does not exist.
        clean_shutdown: ``.kafka_cleanshutdown`` exists: a clean shutdown, and no completed start since.
        broker_epoch: Content of the marker (3.7+).
        without_folder: Partitions in its checkpoints without a folder.
        problems: Files that were unreadable or vanished; paths are relative to the log dir.
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
        """Problems that leave something unread: neither vanished files nor oddities."""
        return tuple(problem for problem in self.problems if problem.reason.startswith(_UNREAD) and _GONE not in problem.reason)

    @property
    def is_of_kraft(self) -> bool:
        """Whether a KRaft node owns it: it has the metadata log, or its ``meta.properties`` has a node id and no broker id.

        Version 1 has ``node.id`` in place of ``broker.id`` (``MetaPropertiesVersion.java@3.9.0``).
        """
        meta = self.meta or {}
        by_meta = "node.id" in meta and "broker.id" not in meta
        return by_meta or any(replica.topic == METADATA_TOPIC for replica in self.replicas)

    def observed(self) -> "LogDir":
        """Return the log dir without the times of a checkout or a copy: these say nothing about the broker.

        Rule: all files have the same second. A broker rewrites its checkpoints every few seconds, and segments as records arrive
        (``LogManager.scala@0.9.0.1..3.9.0``). The time of such a state is unknown.
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
        """Whether a partition without a cleaner point was never cleaned: the cleaner creates the file at start."""
        torn = any(problem.path == CLEANER_CHECKPOINT for problem in self.problems)
        return CLEANER_CHECKPOINT in self.checkpoints and not torn


def replica_bytes(cluster: Cluster, log_dirs: Iterable[LogDir]) -> dict[tuple[int, str, int], int]:
    """Return the known sizes of replicas by broker, topic and partition: as listed, else as brokers answered."""
    listed = {(r.broker, r.topic, r.partition): r.bytes for log_dir in log_dirs for r in log_dir.replicas}
    return {**cluster.replica_bytes, **listed}
