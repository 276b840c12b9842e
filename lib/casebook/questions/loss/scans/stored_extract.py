"""Records read by another tool, as rows of :data:`casebook.facts.records.STORED`."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.errors import ScanError
from casebook.formats.clients.record_ids import IdKind, RecordId
from casebook.questions.loss.scans import gaps
from casebook.questions.loss.scans.gaps import Gaps
from casebook.questions.loss.scans.stored import COLUMNS, KEY, StoredRecords, limits, record_id
from casebook.spark.kept import kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NEEDED = {
    IdKind.KEY: {"key"},
    IdKind.HEADER: {"headers"},
    IdKind.PATH: {"value"},
    IdKind.PATTERN: {"value"},
    IdKind.HASH: {"key", "value"},
    IdKind.OFFSET: {"partition", "offset"},
}


def from_extract(spark: "SparkSession", rows: "DataFrame", name: str, identity: RecordId, *, folder: Path) -> StoredRecords:
    """Return the records of an extract. The records before and after it are unknown.

    Args:
        spark: From :func:`casebook.spark.session`.
        rows: ``topic`` and, if known, ``partition``, ``offset``, ``timestamp`` (also as text, or epoch ms), and ``id``, or else
            ``key``, ``value`` and ``headers`` as required by the identity; text counts as its UTF-8.
        name: Name of the file or files.
        identity: Search key of a record without ``id``.
        folder: Folder for information on its offsets.

    Raises:
        ScanError: A column is missing.
    """
    records = _extracted(rows, name, identity)
    placed = records.where("partition IS NOT NULL").selectExpr("*", "'data' AS kind", "CAST(NULL AS bigint) AS gap_end")
    runs = kept(spark, folder / "runs", lambda: gaps.of_offsets(spark, placed))
    found = Gaps(spark=spark, runs=runs, known=(), committed=True, told=False)
    return StoredRecords(records.select(*COLUMNS), limits(found, name), tuple(found.counts()))


def rows(spark: "SparkSession", place: str) -> "DataFrame":
    """Return an extract as written: Parquet, JSON lines, or CSV with a header, by its name.

    Raises:
        ScanError: The file does not exist, or is unreadable.
    """
    from pyspark.errors import PySparkException

    name = place.removesuffix(".gz").rstrip("/")
    where = place if ":/" in place else f"file:{Path(place).expanduser().absolute()}"
    try:
        if name.endswith((".csv", ".tsv")):
            return spark.read.csv(where, header=True, sep="\t" if name.endswith(".tsv") else ",", escape='"')
        return spark.read.json(where) if name.endswith((".json", ".jsonl", ".ndjson")) else spark.read.parquet(where)
    except PySparkException as error:
        raise ScanError(f"The extract {place} cannot be read.", cause=str(error).splitlines()[0]) from None


def _extracted(rows: "DataFrame", name: str, identity: RecordId) -> "DataFrame":
    given = {column.lower() for column in rows.columns}
    needed = {"topic"} | (set() if "id" in given else _NEEDED[identity.kind])
    if missing := sorted(needed - given):
        raise ScanError(f"{name} has no column {' and no column '.join(missing)}.", try_=f"It has {', '.join(rows.columns)}.")
    kinds = {"topic": "string", "partition": "int", "offset": "bigint", "leader_epoch": "int", "key": "binary", "value": "binary"}
    typed = {column: f"try_cast({column if column in given else 'NULL'} AS {kind})" for column, kind in kinds.items()}
    typed |= {"at": _moment(rows, given)} | {column: column for column in ("id", "headers") if column in given}
    rows = rows.selectExpr(*(f"{expression} AS {column}" for column, expression in typed.items()))
    rows = rows if "id" in given else rows.withColumns({"id": record_id(identity)})
    return rows.selectExpr(
        "nullif(CAST(id AS string), '') AS id", "topic", "partition", "offset", "at", KEY,
        f"{'value IS NULL' if 'value' in given else 'CAST(NULL AS boolean)'} AS tombstone", "'data' AS state", "leader_epoch",
    )  # fmt: skip


def _moment(rows: "DataFrame", given: Collection[str]) -> str:
    if "timestamp" not in given:
        return "CAST(NULL AS timestamp)"
    kind = {column.lower(): kind for column, kind in rows.dtypes}["timestamp"]
    return "timestamp_millis(timestamp)" if kind in ("int", "bigint") else "try_cast(timestamp AS timestamp)"
