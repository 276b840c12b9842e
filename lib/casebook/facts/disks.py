"""Facts of a broker's log dirs as they were listed, as frozen rows. ``None`` is unknown, never zero.

Times are epoch milliseconds by the broker's disk.
"""

import re
from collections.abc import Mapping
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
