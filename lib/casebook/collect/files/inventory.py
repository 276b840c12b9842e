"""Inventory of one log dir: partitions, segments, checkpoints and leftovers.

The broker may be running: files grow, are renamed and vanish during the listing. A partition's folder that vanished is recorded,
unless Kafka was about to delete it, and the listing continues.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TypeVar

from casebook.collect import bounds
from casebook.collect.files.entries import Entry, Files
from casebook.errors import UsageError
from casebook.facts.cluster import Problem
from casebook.facts.disks import EpochStart, LeftoverFile, LogDir, Replica, SegmentFile
from casebook.formats.broker import checkpoints, log_dir_names
from casebook.formats.broker.decoded import Decoded
from casebook.formats.broker.log_tail import Tail, tail

_LARGEST_TEXT = 64 << 20
_OFFSETS = (checkpoints.CLEANER, checkpoints.HIGH_WATERMARK, checkpoints.RECOVERY_POINT, checkpoints.LOG_START)
_INDEXES = (".index", ".timeindex", ".txnindex")
_NO_PARTITION = frozenset({"lost+found"})

_Row = TypeVar("_Row")
_Key = tuple[str, int]


def examine(files: Files, place: str, *, broker: int | None, listed_at: int) -> LogDir:
    """List one log dir.

    Args:
        files: Files of the log dir.
        place: Its path or URI.
        broker: Its broker; ``None`` to read it from ``meta.properties``.
        listed_at: Now, epoch milliseconds.

    Raises:
        OSError: It cannot be listed at all.
        UsageError: Its broker is unknown.
    """
    reader = _Reader(files)
    entries = reader.there("", files.entries(""))
    found = {entry.name: entry for entry in entries if not entry.folder}
    meta = reader.one(found, checkpoints.META_PROPERTIES, checkpoints.meta)
    broker = reader.whose(place, broker, meta)
    shutdown = reader.one(found, checkpoints.CLEAN_SHUTDOWN, checkpoints.clean_shutdown)
    points = {name: reader.points(name) for name in _OFFSETS if name in found}
    replicas, leftovers = reader.partitions(entries, broker, place, points)
    if not replicas and any((name := log_dir_names.file(file)) and name.suffix == ".log" for file in found):
        reader.problem("", "holds segments itself: it is a partition's folder; the log dir is the folder above it")
    return LogDir(
        broker=broker,
        place=place,
        listed_at=listed_at,
        replicas=tuple(sorted(replicas)),
        leftovers=tuple(sorted(leftovers, key=lambda leftover: leftover.path)),
        checkpoints={name: found[name].modified for name in points if points[name] is not None},
        meta=meta,
        clean_shutdown=checkpoints.CLEAN_SHUTDOWN in found,
        broker_epoch=shutdown.broker_epoch if shutdown else None,
        without_folder=_without_folder(points, entries),
        problems=tuple(reader.problems),
    )


class _Reader:
    """Reads a log dir and records failures."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.problems: list[Problem] = []

    def problem(self, path: str, reason: str) -> None:
        self.problems.append(Problem(path=path or "the log dir", reason=reason))

    def there(self, path: str, entries: Iterable[Entry]) -> list[Entry]:
        """Return the entries that still existed when examined."""
        kept = []
        for entry in entries:
            if entry.bytes is None:
                self.problem(f"{path}{entry.name}", entry.why)
            else:
                kept.append(entry)
        return kept

    def rows(self, path: str, decode: Callable[[str], Decoded[_Row]]) -> tuple[_Row, ...] | None:
        """Return a file's rows; ``None`` when unreadable."""
        try:
            content = self._files.read(path, _LARGEST_TEXT + 1)
        except OSError as error:
            self.problem(path, f"cannot be read: {error.strerror}")
            return None
        if len(content) > _LARGEST_TEXT:
            self.problem(path, f"is larger than {_LARGEST_TEXT >> 20} MB and was not read")
            return None
        decoded = decode(content.decode(errors="replace"))
        for reason in decoded.problems:
            self.problem(path, reason)
        return decoded.rows

    def one(self, found: Mapping[str, Entry], name: str, decode: Callable[[str], Decoded[_Row]]) -> _Row | None:
        """Return the only row of an optional file."""
        return next(iter(self.rows(name, decode) or ()), None) if name in found else None

    def points(self, name: str) -> dict[_Key, int] | None:
        """Return offsets by topic and partition; as in the broker, the last of two lines for one partition counts."""
        rows = self.rows(name, checkpoints.offsets)
        return None if rows is None else {(row.topic, row.partition): row.offset for row in rows}

    def whose(self, place: str, broker: int | None, meta: Mapping[str, str] | None) -> int:
        """Return the broker's id."""
        text = (meta or {}).get("broker.id") or (meta or {}).get("node.id") or ""
        stated = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
        if broker is None and stated is None:
            raise UsageError(
                f"The broker of log dir {place} is unknown: it has no {checkpoints.META_PROPERTIES} with an id.",
                try_=f"Name the broker: --log-dirs BROKER={place}.",
            )
        if None not in (broker, stated) and broker != stated:
            self.problem(checkpoints.META_PROPERTIES, f"says broker {stated}; the log dir was given as broker {broker}'s")
        return stated if broker is None else broker

    def partitions(
        self, entries: Iterable[Entry], broker: int, place: str, points: Mapping[str, Mapping[_Key, int] | None]
    ) -> tuple[list[Replica], list[LeftoverFile]]:
        """Return the partitions in use, and all leftovers of operations."""
        replicas: list[Replica] = []
        leftovers: list[LeftoverFile] = []
        for entry in entries:
            if not entry.folder or entry.name in _NO_PARTITION:
                continue
            if bounds.left() <= 0:
                self.problem("", f"was listed only as far as {entry.name}: {bounds.reason()}")
                break
            name = log_dir_names.folder(entry.name)
            if name is None:
                self.problem(entry.name, "is a folder that does not belong to a partition")
                continue
            try:
                inside = self.there(f"{entry.name}/", self._files.entries(entry.name))
            except OSError as error:
                if name.kind != "-delete" or not isinstance(error, FileNotFoundError):
                    self.problem(entry.name, f"cannot be listed: {error.strerror}")
                continue
            if name.kind:
                leftovers.append(_set_aside(entry.name, name, inside))
            else:
                replica = self._replica(broker, f"{place.rstrip('/')}/{entry.name}", name, inside)
                replicas.append(_with_points(replica, points))
                leftovers.extend(_leftover_files(entry.name, name, inside))
        return replicas, leftovers

    def _replica(self, broker: int, place: str, name: log_dir_names.PartitionFolder, inside: Sequence[Entry]) -> Replica:
        names = {entry.name for entry in inside}
        folder = f"{name.topic}-{name.partition}"
        epochs: tuple[EpochStart, ...] = ()
        topic_ids: tuple[str, ...] = ()
        if checkpoints.LEADER_EPOCHS in names:
            epochs = self.rows(f"{folder}/{checkpoints.LEADER_EPOCHS}", checkpoints.epochs) or ()
        if checkpoints.PARTITION_METADATA in names:
            topic_ids = self.rows(f"{folder}/{checkpoints.PARTITION_METADATA}", checkpoints.topic_id) or ()
        end = self._tail(folder, inside)
        return Replica(
            broker=broker,
            topic=name.topic,
            partition=name.partition,
            place=place,
            item="",
            segments=_segments(inside),
            epochs=epochs,
            topic_id=next(iter(topic_ids), None),
            log_end=end.end if end else None,
            magic=end.magic if end else None,
        )

    def _tail(self, folder: str, inside: Sequence[Entry]) -> Tail | None:
        """Return the end of the last segment; ``None`` when unreadable or damaged."""
        in_use = {(name.suffix, name.base_offset): entry for entry, name in _named(inside) if not name.kind}
        last = max((base for suffix, base in in_use if suffix == ".log"), default=None)
        if last is None:
            return None
        log, index = in_use[".log", last], in_use.get((".index", last))
        with suppress(OSError), ExitStack() as files:
            read = self._files.anywhere(f"{folder}/{log.name}")
            if read is None:
                return None
            look_up = self._files.anywhere(f"{folder}/{index.name}") if index else None
            return tail(
                files.enter_context(read), log.bytes, last, look_up and files.enter_context(look_up), index.bytes if index else 0
            )
        return None


def _without_folder(points: Mapping[str, Mapping[_Key, int] | None], entries: Iterable[Entry]) -> tuple[_Key, ...]:
    """Return the partitions in checkpoints without a folder, under any name."""
    named = {key for one in points.values() for key in one or ()}
    folders = (log_dir_names.folder(entry.name) for entry in entries if entry.folder)
    return tuple(sorted(named - {(name.topic, name.partition) for name in folders if name is not None}))


def _with_points(replica: Replica, points: Mapping[str, Mapping[_Key, int] | None]) -> Replica:
    def point(name: str) -> int | None:
        return (points.get(name) or {}).get((replica.topic, replica.partition))

    return replica._replace(
        log_start=point(checkpoints.LOG_START),
        recovery_point=point(checkpoints.RECOVERY_POINT),
        high_watermark=point(checkpoints.HIGH_WATERMARK),
        cleaner_point=point(checkpoints.CLEANER),
    )


def _named(inside: Iterable[Entry]) -> Iterator[tuple[Entry, log_dir_names.SegmentName]]:
    for entry in inside:
        if not entry.folder and (name := log_dir_names.file(entry.name)):
            yield entry, name


def _segments(inside: Sequence[Entry]) -> tuple[SegmentFile, ...]:
    in_use = [(entry, name) for entry, name in _named(inside) if not name.kind]
    beside: dict[int, list[str]] = {}
    for _, name in in_use:
        if name.suffix != ".log":
            beside.setdefault(name.base_offset, []).append(name.suffix)
    logs = ((entry, name.base_offset) for entry, name in in_use if name.suffix == ".log")
    return tuple(sorted(SegmentFile(base, entry.bytes, entry.modified, tuple(beside.get(base, ()))) for entry, base in logs))


def _leftover_files(folder: str, name: log_dir_names.PartitionFolder, inside: Sequence[Entry]) -> Iterator[LeftoverFile]:
    """Yield leftover files of a partition in use. A producer snapshot may exist without a segment, an index may not."""
    logs = {file.base_offset for _, file in _named(inside) if file.suffix == ".log"}
    for entry, file in _named(inside):
        orphan = file.suffix in _INDEXES and file.base_offset not in logs
        if kind := file.kind or ("orphan" if orphan else ""):
            yield LeftoverFile(f"{folder}/{entry.name}", kind, entry.bytes, entry.modified, name.topic, name.partition)


def _set_aside(folder: str, name: log_dir_names.PartitionFolder, inside: Sequence[Entry]) -> LeftoverFile:
    return LeftoverFile(
        path=folder,
        kind=name.kind,
        bytes=sum(entry.bytes for entry in inside),
        modified=max((entry.modified for entry in inside), default=None),
        topic=name.topic,
        partition=name.partition,
        cut=name.cut,
    )
