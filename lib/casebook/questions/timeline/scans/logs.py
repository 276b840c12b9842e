"""Typed events from the logs of a case: read once per case, and stored with it.

Spark reads them through the data source ``kafka_logs`` of ``lib/jvm``. Small logs are read by the same classes in their own JVM,
because Spark's start would take longer.
"""

import hashlib
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from casebook.case.case import Case
from casebook.errors import ScanError
from casebook.facts.events import Event, LogFile, Untyped
from casebook.machine import jars, workshop
from casebook.questions.timeline.analysis.clocks import owners as timeline_owners
from casebook.questions.timeline.analysis.clocks.owners import DIR, SPEAKER, Owner, misplaced, settled, tallied, with_dirs
from casebook.questions.timeline.analysis.clocks.zones import Zones
from casebook.spark import java_process
from casebook.spark.jvm import classpath, fingerprint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "logs"
_GONE = "its file is missing"
SMALL = 64 << 20
"""Maximum size of logs read without Spark, in bytes."""

Progress = Callable[[int, int | None], None]

_ROWS = pa.schema(
    [("row", pa.string()), ("file", pa.string()), ("start", pa.int64()), ("line", pa.int64()), ("time", pa.int64())]
    + [(name, pa.string()) for name in ("level", "logger", "kind", "topic")]
    + [("partition", pa.int32())]
    + [(name, pa.string()) for name in ("group", "fields", "text", "shape")]
    + [(name, pa.int64()) for name in ("count", "first", "last", "lines", "entries", "typed", "strange")]
    + [("damage", pa.string())]
)
_BY_PLACE = {
    "event": ("file", "kind", "time", "line", "level", "logger", "topic", "partition", "group", "fields", "text"),
    "untyped": ("file", "logger", "level", "shape", "count", "line", "text"),
    "file": ("file", "first", "last", "lines", "entries", "typed", "strange", "damage", "fields", "text"),
}
"""Column names of a row of ``casebook.logs.Main``, in order; the first is the input's index."""


class Logs:
    """Content of the logs of a case.

    Args:
        folder: Parquet of ``kafka_logs``' rows, in folders by kind; ``None`` without logs, or when none was read.
        brokers: Given broker of each file, by path in the case. Its lines override it, if they name one.
        unread: Why none was read.
        torn: Files that differ from the collected ones, with the reason.
    """

    def __init__(
        self,
        folder: Path | None,
        brokers: Mapping[str, int | None],
        unread: ScanError | None = None,
        torn: Mapping[str, str] | None = None,
    ) -> None:
        self._folder, self._brokers, self.unread, self._torn = folder, brokers, unread, torn or {}

    @cached_property
    def files(self) -> tuple[LogFile, ...]:
        """Coverage of each file, by path; for unread logs, the reason."""
        if self.unread is not None:
            return tuple(
                LogFile(path, broker, None, None, 0, 0, 0, self.unread.what) for path, broker in sorted(self._brokers.items())
            )
        parts: dict[str, list[dict]] = {}
        for part in self._parts:
            parts.setdefault(part["file"], []).append(part)
        return tuple(self._file(path, parts.get(path, [])) for path in sorted(self._brokers) if self._folder)

    @cached_property
    def untyped(self) -> tuple[Untyped, ...]:
        """Shapes of unknown entries, most frequent first."""
        merged: dict[tuple, Untyped] = {}
        for row in self._rows("untyped"):
            key = (row["logger"], row["level"], row["shape"])
            before = merged.get(key)
            example = f"{row['file']}:{self.before(row['file'], row['start']) + row['line']}"
            merged[key] = (
                Untyped(*key, row["count"], example, row["text"])
                if before is None
                else before._replace(count=before.count + row["count"])
            )
        return tuple(sorted(merged.values(), key=lambda shape: (-shape.count, shape.example)))

    @cached_property
    def total(self) -> int:
        """Total number of events."""
        return self._events.count_rows() if self._folder else 0

    def events(self, kinds: Collection[str] | None = None, *, topic: str | None = None) -> tuple[Event, ...]:
        """Return the events, or those of some kinds, or of a topic or none, by file and line."""
        wanted = pc.scalar(True) if kinds is None else pc.field("kind").isin(pa.array(kinds, pa.string()))
        if topic is not None:
            wanted &= pc.field("topic").is_null() | (pc.field("topic") == topic)
        found = [
            settled(event(row, self._brokers[row["file"]], self.before(row["file"], row["start"])), self._misplaced)
            for row in self.table(None, wanted).to_pylist()
        ]
        return tuple(_without_duplicates(sorted(found, key=lambda event: (".log" not in event.file, event.file, event.line))))

    def rarest(self, most: int) -> frozenset[str]:
        """Return the rarest kinds with together at most so many events."""
        kinds, total = set(), 0
        for kind, count in sorted(self.counts().items(), key=lambda counted: counted[1]):
            total += count
            if total > most:
                break
            kinds.add(kind)
        return frozenset(kinds)

    def table(self, columns: Sequence[str] | None, wanted: pc.Expression) -> pa.Table:
        """Return rows of events; ``None`` for all the columns that :func:`event` needs."""
        columns = columns or ["start", *_BY_PLACE["event"]]
        if not self._folder:
            return _ROWS.empty_table().select(columns)
        return self._events.to_table(filter=wanted, columns=columns)

    def before(self, file: str, start: int) -> int:
        """Return the number of lines of a file before the part that starts at a byte."""
        return self._before[file, start]

    def counts(self) -> dict[str, int]:
        """Return the number of events by kind."""
        if not self._folder:
            return {}
        counted = self._events.to_table(columns=["kind"]).column("kind").value_counts()
        return {one["values"].as_py(): one["counts"].as_py() for one in counted}

    def _file(self, path: str, parts: list[dict]) -> LogFile:
        told = [part["damage"] for part in parts] if parts else [_GONE]
        times = [part[name] for part in parts for name in ("first", "last") if part[name] is not None]
        return LogFile(
            file=path,
            broker=self._misplaced[path].broker if path in self._misplaced else self._brokers[path],
            first=min(times, default=None),
            last=max(times, default=None),
            lines=sum(part["lines"] for part in parts),
            entries=sum(part["entries"] for part in parts),
            typed=sum(part["typed"] for part in parts),
            damage="; ".join(dict.fromkeys(filter(None, [self._torn.get(path, ""), *told]))),
            strange=sum(part["strange"] for part in parts),
            speakers=tuple(sorted(self._speakers.get(path, {}).items())),
            layouts=_layouts(parts),
        )

    @cached_property
    def _misplaced(self) -> Mapping[str, Owner]:
        """Return logs with a wrong given broker, by the broker in their lines."""
        owners = misplaced(self._speakers, self._brokers)
        shared = [file for file, owner in owners.items() if owner.several]
        if not shared:
            return owners
        told = self._starts(shared)
        return {
            file: owner._replace(starts=timeline_owners.starts(told[file])) if owner.several else owner
            for file, owner in with_dirs(owners, self._dirs(shared)).items()
        }

    def _starts(self, files: Sequence[str]) -> Mapping[str, Sequence[Event]]:
        """Return the starts in some files, in order."""
        kinds = pa.array([timeline_owners.STARTING, timeline_owners.SETTINGS, timeline_owners.RELEASE])
        told: dict[str, list[Event]] = {file: [] for file in files}
        for row in self.table(None, pc.field("file").isin(files) & pc.field("kind").isin(kinds)).to_pylist():
            told[row["file"]].append(event(row, None, self.before(row["file"], row["start"])))
        return {file: sorted(own, key=lambda one: one.line) for file, own in told.items()}

    def _dirs(self, files: Sequence[str]) -> Iterator[tuple[str, str, int]]:
        """Yield file, log dir and broker of each event of some files with both."""
        told = pc.field("file").isin(files) & pc.match_substring(pc.field("fields"), f'"{DIR}"')
        for row in self.table(["file", "fields"], told).to_pylist():
            fields = json.loads(row["fields"])
            if fields.get(SPEAKER, "").isdecimal() and DIR in fields:
                yield row["file"], fields[DIR], int(fields[SPEAKER])

    @cached_property
    def _speakers(self) -> Mapping[str, Mapping[int, int]]:
        """Return the number of entries by broker, of each file."""
        return tallied(
            (part["file"], speaker, count)
            for part in self._parts
            for speaker, count in json.loads(part["fields"] or "{}").items()
        )

    @cached_property
    def _before(self) -> dict[tuple[str, int], int]:
        """Return the number of lines before each part of a file."""
        before: dict[tuple[str, int], int] = {}
        counted: dict[str, int] = {}
        for part in sorted(self._parts, key=lambda part: (part["file"], part["start"])):
            before[part["file"], part["start"]] = counted.get(part["file"], 0)
            counted[part["file"]] = counted.get(part["file"], 0) + part["lines"]
        return before

    @cached_property
    def _parts(self) -> list[dict]:
        """Return the coverage of each part of a file."""
        return self._rows("file")

    @property
    def _events(self) -> ds.Dataset:
        return ds.dataset(self._folder / "row=event", schema=_ROWS, format="parquet")

    def _rows(self, kind: str) -> list[dict]:
        folder = self._folder and self._folder / f"row={kind}"
        return ds.dataset(folder, schema=_ROWS, format="parquet").to_table().to_pylist() if folder and folder.is_dir() else []


def _layouts(parts: Iterable[Mapping]) -> tuple[tuple[str, int], ...]:
    """Return the number of entries by layout, most frequent first."""
    counted: Counter[str] = Counter()
    for part in parts:
        counted.update(json.loads(part["text"] or "{}"))
    return tuple(sorted(counted.items(), key=lambda one: (-one[1], one[0])))


def event(row: Mapping, broker: int | None, before: int = 0) -> Event:
    """Return the event of a row of ``kafka_logs``.

    Args:
        broker: Owner of the log.
        before: Number of lines before the row's part of the file.
    """
    return Event(
        kind=row["kind"],
        time=row["time"],
        broker=broker,
        file=row["file"],
        line=before + row["line"],
        level=row["level"],
        logger=row["logger"],
        topic=row["topic"],
        partition=row["partition"],
        group=row["group"],
        fields=json.loads(row["fields"]),
        text=row["text"],
    )


def _without_duplicates(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events without duplicates in another file of the same broker: a copy, or the process's output.

    The first log is the proof: log files come before process output.
    """
    of_files: dict[tuple, dict[str, int]] = {}
    for event in events:
        key = (event.broker, event.time, event.kind, event.text)
        told = of_files.setdefault(key, {})
        told[event.file] = told.get(event.file, 0) + 1
        if event.time is None or told[event.file] > max((count for file, count in told.items() if file != event.file), default=0):
            yield event


def read(
    case: Case,
    zones: Zones | None = None,
    *,
    layout: str | None = None,
    progress: Progress | None = None,
    small: int = SMALL,
) -> Logs:
    """Read the logs of a case, or return the stored result.

    Args:
        case: Stores the result.
        zones: Zones of lines without one; UTC by default.
        layout: Regex of lines in an undetectable layout, from ``log_layouts.regex``.
        progress: Receives the number of read parts and their total from time to time.
        small: Maximum bytes to read without Spark.

    Raises:
        ScanError: Java is missing, Spark does not start, or the logs are unreadable.
    """
    zones = zones or Zones()
    logs = case.logs()
    brokers = {item.path: broker for item, broker in logs}
    if not logs:
        return Logs(None, brokers)
    key = json.dumps([fingerprint("logs"), [[item.path, item.sha256, zones.of(broker)] for item, broker in logs], layout])
    target = case.derived(NAME, hashlib.sha256(key.encode()).hexdigest()[:32])
    if not target.exists():
        given = {path: zones.of(broker) for path, broker in brokers.items() if (case.folder / path).is_file()}
        much = sum(item.bytes or 0 for item, _ in logs) > small
        with workshop.result(target) as partial:
            (_with_spark if much else _with_java)(case.folder, given, layout, partial, progress)
    return Logs(target, brokers, torn={problem.path: problem.reason for problem in case.damaged})


def typed(files: Iterable[tuple[Path, str]], layout: str | None = None) -> Iterator[dict[str, object]]:
    """Yield the rows of small logs, from ``casebook.logs.Main``.

    Args:
        files: Each with the zone of lines without one.
        layout: As in :func:`read`.

    Raises:
        ScanError: Java is missing, or failed.
    """
    options = ["-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
    with tempfile.TemporaryFile() as said, tempfile.NamedTemporaryFile("w", dir=workshop.of_process()) as asked:
        asked.writelines(json.dumps([zone, layout, str(path)]) + "\n" for path, zone in files)
        asked.flush()
        java = subprocess.Popen(
            [jars.java(ScanError), *options, "-cp", classpath(), "casebook.logs.Main", asked.name],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True, encoding="utf-8",
        )  # fmt: skip
        with java:
            for line in java.stdout:
                if not line.endswith("\n"):  # it ended within a line
                    break
                row, *cells = json.loads(line)
                yield {"row": row, "start": 0, **dict(zip(_BY_PLACE[row], cells, strict=True))}
        if java.returncode < 0:
            raise java_process.ended(java.returncode)
        if java.returncode:
            said.seek(0)
            cause = said.read().decode(errors="replace").strip().partition("\n")[0]
            raise ScanError("The logs cannot be read.", cause=cause, try_="Run `casebook doctor`.")


def _with_java(folder: Path, given: Mapping[str, str], layout: str | None, target: Path, progress: Progress | None) -> None:
    paths = list(given)
    by_kind: dict[str, list[dict]] = {}
    for row in typed(((folder.absolute() / path, zone) for path, zone in given.items()), layout):
        row["file"] = paths[row["file"]]
        if row["row"] == "file" and progress:
            progress(paths.index(row["file"]) + 1, len(paths))
        by_kind.setdefault(row["row"], []).append(row)
    for kind in _BY_PLACE:
        place = target / f"row={kind}"
        place.mkdir()
        pq.write_table(pa.Table.from_pylist(by_kind.get(kind, []), schema=_ROWS), place / "part.parquet")


def _with_spark(folder: Path, given: Mapping[str, str], layout: str | None, target: Path, progress: Progress | None) -> None:
    from casebook.spark.session import session, watched

    spark = session()
    by_zone: dict[str, list[str]] = {}
    for path, zone in given.items():
        by_zone.setdefault(zone, []).append(f"file:{folder.absolute() / path}")
    rows = None
    for zone, places in by_zone.items():
        more = logs(spark, *places, zone=zone, **({"layout": layout} if layout else {}))
        rows = more if rows is None else rows.unionByName(more)
    within = len(f"file:{folder.absolute()}/")
    kept = rows.selectExpr(
        f"substring(file, {within + 1}) as file",
        *(f"unix_millis({name}) as {name}" for name in ("time", "first", "last")),
        *(f"`{name}`" for name in _ROWS.names if name not in ("file", "time", "first", "last")),
    )
    watched(
        spark,
        lambda: kept.write.mode("overwrite").partitionBy("row").parquet(f"file:{target}"),
        what="reading logs",
        progress=progress,
    )


def logs(spark: "SparkSession", *places: Path | str, zone: str = "UTC", **options: object) -> "DataFrame":
    """Return logs as a data frame, lazily; ``docs/spark.md`` has its columns.

    Args:
        spark: From :func:`casebook.spark.session`.
        places: Logs, folders, patterns, or URIs for Spark's Hadoop; ``.gz`` is unpacked.
        zone: Zone of lines without one.
        options: Options of the data source, e.g. ``splitBytes``.
    """
    read = spark.read.format("kafka_logs").option("zone", zone).options(**options)
    return read.load([f"file:{place.absolute()}" if isinstance(place, Path) else place for place in places])
