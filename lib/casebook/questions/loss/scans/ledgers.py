"""Ledgers of produced or processed records in any format, as rows of :data:`casebook.facts.records.LEDGER`.

An unusable row has a reason, and is counted with an example.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.errors import CasebookError, ScanError, UsageError
from casebook.facts.records import LEDGER, LedgerShape, SendOutcome, Unusable, Word
from casebook.formats.clients.ledger_columns import JavaPattern, LedgerColumns, find, pattern
from casebook.questions.timeline.analysis.clocks.zones import Zones
from casebook.spark.kept import kept
from casebook.spark.session import Progress, watched

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


MOST = 1000
"""Maximum number of distinct topics, or producer settings."""
_MOST_UNUSED = 20
"""Maximum number of unused columns to name."""

_OF_PATTERNS = re.compile(r"[\\\[\]{}*?]")
_ESCAPED = r"\\\g<0>"


class Scope(NamedTuple):
    """Subject of a ledger.

    Args:
        topics: Topics, :data:`MOST` at most.
        acks: Producer settings, with ``None`` for missing ones.
        offsets: Whether any acknowledged record has an offset.
        sent: Whether any record has a send time.
    """

    topics: tuple[str, ...]
    acks: frozenset[str | None]
    offsets: bool
    sent: bool


class Ledger:
    """A lazy ledger.

    Args:
        spark: Spark session.
        read: A row for each of the ledger, with the reason if unusable; see :func:`.ledger_rows.read`.
        location: Path for people.
        zone: Zone of times without one.
        timed: Whether any column is used as a time.
        unused: Unused columns.
    """

    def __init__(
        self,
        spark: "SparkSession",
        read: "DataFrame",
        location: str,
        zone: str,
        *,
        timed: bool = True,
        unused: tuple[str, ...] = (),
    ) -> None:
        self._spark, self._read, self._location, self._zone = spark, read, location, zone
        self._timed, self._unused = timed, unused

    def with_rows_of(self, other: "Ledger") -> "Ledger":
        """Return the union of two ledgers."""
        unused = tuple(dict.fromkeys((*self._unused, *other._unused)))
        return Ledger(
            self._spark,
            self._read.unionByName(other._read),
            f"{self._location} and {other._location}",
            self._zone,
            timed=self._timed and other._timed,
            unused=unused,
        )

    @property
    def rows(self) -> "DataFrame":
        """Return usable rows, with the columns of :data:`casebook.facts.records.LEDGER`."""
        from pyspark.sql.types import StructType

        return self._read.where("reason IS NULL").to(StructType.fromDDL(LEDGER))

    def kept_in(self, folder: Path, *, progress: Progress | None = None) -> "Ledger":
        """Return it with its rows in a file that is written once, to parse them only once.

        Raises:
            ScanError: It cannot be read to its end.
        """
        with _failures(self._location):
            rows = watched(
                self._spark, lambda: kept(self._spark, folder, lambda: self._read), what="reading the ledger", progress=progress
            )
        return Ledger(self._spark, rows, self._location, self._zone, timed=self._timed, unused=self._unused)

    @cached_property
    def told(self) -> LedgerShape:
        """Return its shape.

        Raises:
            UsageError: It has no row.
            ScanError: It cannot be read to its end.
        """
        from casebook.questions.loss.scans.ledger_files import empty

        shape = _shape(self._sums, self._zone)
        if not shape.rows and not shape.unusable:
            raise empty(self._location)
        return shape._replace(timed=self._timed, unused=self._unused)

    @cached_property
    def scope(self) -> Scope:
        """Return the subject of its usable rows."""
        sums = self._sums
        acks = frozenset(row.acks for row in sums["acks"])
        return Scope(tuple(sums["topics"]), acks, bool(sums["offsets"]), bool(sums["has_sent"]))

    def topics_by_consumer(self, *, default: str, most: int) -> dict[str, tuple[str, ...]]:
        """Return the topics of its consumers.

        Args:
            default: Consumer of rows without one.
            most: Maximum number of consumers.
        """
        from pyspark.sql import functions as f

        topics = f.slice(f.array_sort(f.collect_set("topic")), 1, MOST).alias("topics")
        found = self.rows.groupBy(_consumer(default).alias("name")).agg(topics).limit(most).collect()
        return {row.name: tuple(row.topics) for row in found}

    def of_consumer(self, name: str, *, default: str) -> "DataFrame":
        """Return the usable rows of a consumer."""
        return self.rows.where(_consumer(default) == name)

    @cached_property
    def _sums(self) -> Mapping:
        """Return the sums over all rows, in one pass."""
        from casebook.questions.loss.scans.ledger_rows import sums

        with _failures(self._location):
            summed = self._read.agg(*sums(MOST))
            (row,) = watched(self._spark, summed.collect, what="reading the ledger")
        return row.asDict()


def read(
    spark: "SparkSession",
    location: Path | str,
    columns: LedgerColumns,
    *,
    topic: str | None = None,
    zone: str = "UTC",
    line_pattern: str | None = None,
) -> Ledger:
    """Return a ledger, lazily; only its columns are looked up at once, by reading all JSON lines.

    CSV starts with a header, the same in every file, with the most frequent of ``, ; | tab`` as separator. A negative partition
    or offset is unknown (``RecordMetadata.java@2.8.2``: -1 without an acknowledgement).

    Args:
        spark: From :func:`casebook.spark.session`.
        location: A file, folder, pattern, or URI for Spark's Hadoop; ``.gz`` is unpacked. All files have one format.
        columns: Column names.
        topic: Topic of rows without one.
        zone: Zone of times without one.
        line_pattern: For an application log: a regular expression with columns as named groups.

    Raises:
        UsageError: The file does not exist, has no content, or lacks a required column.
        ScanError: It is unreadable.
    """
    from casebook.questions.loss.scans import ledger_files, ledger_rows, ledger_times  # not before Spark is used

    zone = Zones.parse(zone).of(None)
    place = _opened(location)
    ids = _pattern(spark, "id_pattern", columns.id_pattern)
    lines = _pattern(spark, f"{columns.prefix}_pattern", line_pattern)
    with _failures(str(location)):
        table = ledger_files.table(spark, place, lines, columns.prefix)
        found = find(columns, table.columns, topic=topic)
        if not found.times:
            found = found._replace(times=ledger_times.column(table, found.used))
        frame = table.rows(found.used)
        rows = ledger_rows.read(frame, found, ids, topic, zone)
        unused = tuple(name for name in table.columns if name not in found.used)[:_MOST_UNUSED]
        return Ledger(spark, rows, str(location), zone, timed=bool(found.times), unused=unused)


def files(spark: "SparkSession", location: Path | str) -> tuple[Path | str, ...]:
    """Return the files of a folder or pattern, each in the form for :func:`read`.

    Raises:
        ScanError: They cannot be listed.
    """
    from casebook.collect.files import folders

    with _failures(str(location)):
        found = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(_opened(location)).inputFiles()
    names = sorted(map(folders.full_name, found))
    return tuple(name if folders.is_uri(name) else Path(name) for name in names)


def _consumer(default: str) -> "Column":
    from pyspark.sql import functions as f

    return f.coalesce("consumer", f.lit(default))


def _opened(location: Path | str) -> str:
    """Return a path for Spark's Hadoop: an existing file is never a pattern, whatever its name."""
    if not isinstance(location, Path):
        return location
    place = str(location.absolute())
    return f"file:{_OF_PATTERNS.sub(_ESCAPED, place) if location.exists() else place}"


def _pattern(spark: "SparkSession", parameter: str, text: str | None) -> JavaPattern | None:
    """Compile a pattern that is valid in Java and in Python."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as f

    if not text:
        return None
    found = pattern(parameter, text)
    try:
        spark.range(1).select(f.regexp_extract(f.lit(""), found.text, 0)).collect()
    except PySparkException:
        raise UsageError(f"{parameter} is not a regular expression for Java.", try_=f"It reads {text}") from None
    return found


def _shape(sums: Mapping, zone: str) -> LedgerShape:
    from casebook.questions.loss.scans.ledger_rows import REASONS

    words = (
        Word(text, SendOutcome(outcome), count)
        for item, count in sums["words"]
        if item is not None
        for outcome, _, text in [item.partition(" ")]
    )
    odd = Unusable("its time is none", sums["odd_times"], sums["odd_time"]) if sums["odd_times"] else None
    return LedgerShape(
        rows=sums["rows"],
        outcomes={outcome: sums[outcome] for outcome in SendOutcome},
        words=tuple(sorted(words, key=lambda word: (-word.rows, word.text))),
        unusable=tuple(
            Unusable(text, sums[f"rows of {name}"], sums[f"example of {name}"])
            for name, text in REASONS.items()
            if sums[f"rows of {name}"]
        ),
        odd_times=odd,
        assumed=sums["assumed"],
        zone=zone,
        first=sums["first"],
        last=sums["last"],
    )


@contextmanager
def _failures(location: str) -> "Iterator[None]":
    """Convert Spark's exceptions to messages for people."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except Py4JJavaError as error:
        raise _failure(location, str(error.java_exception), _root(error.java_exception)) from None
    except PySparkException as error:
        raise _failure(location, str(error), str(error)) from None


def _root(thrown: object) -> str:
    while thrown.getCause() is not None:
        thrown = thrown.getCause()
    return thrown.toString()


def _failure(location: str, said: str, root: str) -> CasebookError:
    if "PATH_NOT_FOUND" in said:
        return UsageError(f"No file matches {location}.", try_="Check the path as seen by the machine that runs Spark.")
    if "CSV header does not conform" in root:
        return UsageError(
            f"The files of the ledger {location} have different headers, or a column twice.",
            try_="Use files with the same columns, in the same order.",
        )
    cause = root.strip().splitlines()[0]
    return ScanError(
        f"The ledger {location} cannot be read.", cause=cause, try_="Check that Spark can open it and that it is complete."
    )
