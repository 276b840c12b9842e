"""Read files of a ledger as frames of cells: rows of each format, without interpretation."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from casebook.collect.files import folders
from casebook.errors import UsageError
from casebook.formats.clients.ledger_columns import JavaPattern
from casebook.questions.loss.scans import ledger_doors

_FORMATS = {"csv": "CSV", "tsv": "CSV", "json": "JSON lines", "jsonl": "JSON lines", "ndjson": "JSON lines", "parquet": "Parquet"}
_PACKED = ("gz", "bz2")
_ENDING = re.compile(rf"\.(?P<suffix>[a-z]+)(?:\.(?:{'|'.join(_PACKED)}))?\Z")
_SEPARATORS = ",;\t|"

_DAMAGED = "casebook: damaged line"
_MOST_COLUMNS = 10_000
"""Maximum columns of JSON lines; the shortest names, when keys are ids."""


class LedgerTable(NamedTuple):
    """A ledger as written.

    Args:
        columns: Column names.
        rows: Creates a frame of some of them: ``cells``, a struct; ``malformed``, without cells; the original ``line``, null when
            the cells suffice; and ``file``, its name.
    """

    columns: Sequence[str]
    rows: Callable[[Sequence[str]], DataFrame]


def table(spark: SparkSession, place: str, lines: JavaPattern | None, prefix: str) -> LedgerTable:
    """Open a ledger as written.

    Args:
        spark: Spark session.
        place: Path for Spark's Hadoop.
        lines: Line pattern of a log; otherwise the file names give the format.
        prefix: Prefix of this ledger kind's parameters.

    Raises:
        UsageError: The format is unknown or inconsistent, the ledger is empty, or its files are refused
            (:mod:`casebook.questions.loss.scans.ledger_doors`).
    """
    files = ledger_doors.admitted(spark, place)
    if lines:
        return _log(spark, place, lines)
    if not any(ledger_doors.length(spark, file) for file in files):
        raise empty(place)
    return _TABLES[_format(map(folders.full_name, files), place, prefix)](spark, place)


def _format(files: Iterable[str], place: str, prefix: str) -> str:
    """Return the format by file names."""
    endings = ((_ENDING.search(path.lower()), path) for path in sorted(files, reverse=True))
    kinds = {_FORMATS.get(ending["suffix"] if ending else ""): path for ending, path in endings}
    if None in kinds:
        raise UsageError(
            f"The name of {kinds[None]} does not show its format.",
            cause=f"Known endings are {', '.join('.' + suffix for suffix in _FORMATS)}, also followed by .gz.",
            try_=f"Rename it, narrow the pattern to the ledger, or set {prefix}_pattern if it is a log.",
        )
    if len(kinds) > 1:
        raise UsageError(
            f"The ledger {place} has files of different formats.",
            cause=", ".join(f"{path} is {kind}" for kind, path in sorted(kinds.items())) + ".",
            try_="Narrow the pattern to one format.",
        )
    return next(iter(kinds))


def _csv(spark: SparkSession, place: str) -> LedgerTable:
    head = _lines(spark, place).first()
    if head is None:
        raise empty(place)
    reader = spark.read.options(
        recursiveFileLookup=True,
        header=True,
        sep=max(_SEPARATORS, key=head.value.count),
        escape='"',
        columnPruning=False,  # otherwise unused columns are not parsed, and no line counts as malformed
        enforceSchema=False,  # otherwise the first file's header is used for all
        columnNameOfCorruptRecord=_DAMAGED,
    )
    names = reader.csv(place).columns
    frame = reader.schema(StructType([StructField(name, StringType()) for name in (*names, _DAMAGED)])).csv(place)
    damaged = f.col(_DAMAGED)
    by_name = {name.strip(): name for name in names}

    def rows(wanted: Sequence[str]) -> DataFrame:
        cells = f.struct(*(_column(by_name[name]).alias(name) for name in wanted))
        return frame.select(cells.alias("cells"), damaged.isNotNull().alias("malformed"), damaged.alias("line"), _file())

    return LedgerTable(tuple(by_name), rows)


def _json(spark: SparkSession, place: str) -> LedgerTable:
    lines = _lines(spark, place)
    keys = lines.select(f.json_object_keys("value").alias("keys")).distinct().select(f.explode("keys").alias("key")).distinct()
    names = [row.key for row in keys.orderBy(f.length("key"), "key").limit(_MOST_COLUMNS).collect()]
    if not names:
        raise UsageError(
            f"No line of the ledger {place} is a JSON object with columns.",
            cause="It is empty, or one JSON text over many lines.",
            try_="Write one object per line, as `jq -c '.[]'` does for an array.",
        )

    def rows(wanted: Sequence[str]) -> DataFrame:
        schema = ArrayType(StructType([StructField(name, StringType()) for name in wanted]))
        line = f.concat(f.lit("["), "value", f.lit("]"))  # an array must be read to its end, so nothing after the object is lost
        objects = once(lines, {"objects": f.from_json(line, schema)})
        single = f.when(f.size("objects") == 1, f.get("objects", f.lit(0)))
        cells = objects.select("value", "file", single.alias("cells"))
        return cells.select("cells", f.col("cells").isNull().alias("malformed"), f.col("value").alias("line"), "file")

    return LedgerTable(names, rows)


def _parquet(spark: SparkSession, place: str) -> LedgerTable:
    spark.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")  # pandas writes nanoseconds, and Spark lacks that type
    frame = spark.read.options(recursiveFileLookup=True, mergeSchema=True).parquet(place)

    def rows(wanted: Sequence[str]) -> DataFrame:
        cells = f.struct(*(_column(name).alias(name) for name in wanted))
        return frame.select(
            cells.alias("cells"), f.lit(False).alias("malformed"), f.lit(None).cast("string").alias("line"), _file()
        )

    return LedgerTable(frame.columns, rows)


def _log(spark: SparkSession, place: str, lines: JavaPattern) -> LedgerTable:
    def rows(wanted: Sequence[str]) -> DataFrame:
        value = f.col("value")
        groups = f.struct(*(f.regexp_extract(value, lines.text, lines.groups[name]).alias(name) for name in wanted))
        matched = once(_lines(spark, place), {"cells": f.when(value.rlike(lines.text), groups)})
        return matched.select("cells", f.col("cells").isNull().alias("malformed"), value.alias("line"), "file")

    return LedgerTable(tuple(lines.groups), rows)


_TABLES = {"CSV": _csv, "JSON lines": _json, "Parquet": _parquet}


def _lines(spark: SparkSession, place: str) -> DataFrame:
    """Return lines that are not blank."""
    text = spark.read.option("recursiveFileLookup", True).text(place)
    return text.select("value", _file()).where(f.length(f.trim("value")) > 0)


def once(frame: DataFrame, columns: Mapping[str, Column]) -> DataFrame:
    """Add columns that are computed once per row: Spark moves no expression across a generator.

    Otherwise it would repeat them wherever they are used, and in each filter: hundreds of times for nested ones.
    """
    return frame.select("*", f.inline_outer(f.array(f.struct(*(column.alias(name) for name, column in columns.items())))))


def empty(place: str) -> UsageError:
    """Return the error of an empty ledger."""
    return UsageError(f"The ledger {place} is empty.", try_="Is this the right file?")


def _file() -> Column:
    return f.col("_metadata.file_name").alias("file")


def _column(name: str) -> Column:
    return f.col(f"`{name.replace('`', '``')}`")
