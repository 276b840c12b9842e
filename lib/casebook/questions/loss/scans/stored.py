"""Stored records as rows of :data:`casebook.facts.records.STORED`: common parts of all sources, and segments.

Only required columns are read: values for ids in them, or when a record without a value may have removed others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.facts.disks import Partition, Replica
from casebook.facts.records import STORED, Limits
from casebook.formats.clients.record_ids import IdKind, RecordId
from casebook.questions.loss.analysis.gaps import OffsetGap
from casebook.questions.loss.scans import gaps
from casebook.questions.loss.scans.gaps import Gaps, KnownCopy
from casebook.spark.copies import CopyChoice, place, shortfalls
from casebook.spark.kept import kept
from casebook.spark.segments import segments

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

COLUMNS = tuple(column.split()[0] for column in STORED.split(","))
"""Column names of stored records."""
KEY = "IF(key IS NULL, NULL, xxhash64(key)) AS key"
"""Stored form of a key."""
_FEW = 1_000_000
"""Maximum number of transactional batches to broadcast to every task."""


class StoredRecords(NamedTuple):
    """Stored records.

    Args:
        records: Rows of :data:`casebook.facts.records.STORED`, lazily, without control records.
        limits: Limits of each read partition.
        gaps: Missing offsets, by partition and label.
    """

    records: "DataFrame"
    limits: tuple[Limits, ...]
    gaps: tuple[OffsetGap, ...]

    def without_id(self) -> dict[Partition, int]:
        """Return the number of visible records without an id, by partition; partitions without any are left out."""
        rows = self.records.where("id IS NULL AND state = 'data'").groupBy("topic", "partition").count().collect()
        return {(row.topic, row.partition): row["count"] for row in rows}


def together(parts: Iterable[StoredRecords]) -> StoredRecords:
    """Merge the stored records of separately read topics; at least one."""
    parts = tuple(parts)
    records = reduce(lambda one, other: one.unionByName(other), (part.records for part in parts))
    return StoredRecords(
        records, tuple(row for part in parts for row in part.limits), tuple(row for part in parts for row in part.gaps)
    )


def record_id(of: RecordId) -> "Column":
    """Return the id of a record with the columns ``key``, ``value`` and ``headers``, if found.

    Null for invalid UTF-8, invalid JSON, a missing name, path or pattern, and an empty text.
    """
    from pyspark.sql import functions

    match of.kind:
        case IdKind.KEY:
            found = _text(functions.col("key"))
        case IdKind.HEADER:
            named = functions.filter("headers", lambda header: header["key"] == functions.lit(of.argument))
            found = _text(functions.try_element_at(named, functions.lit(-1))["value"])
        case IdKind.PATH:
            found = functions.get_json_object(_text(functions.col("value")), of.argument)
        case IdKind.PATTERN:
            found = functions.regexp_extract(_text(functions.col("value")), of.argument, of.group)
        case IdKind.HASH:
            empty = functions.lit(b"")
            parts = (
                functions.coalesce(functions.col("key"), empty),
                functions.lit(b"\0"),
                functions.coalesce(functions.col("value"), empty),
            )
            return functions.sha2(functions.concat(*parts), 256)
        case IdKind.OFFSET:
            return functions.lit(None).cast("string")
    return functions.nullif(found, functions.lit(""))


def _text(column: "Column") -> "Column":
    from pyspark.sql import functions

    return functions.try_validate_utf8(column.cast("string"))


def from_segments(
    spark: "SparkSession",
    choices: Sequence[CopyChoice],
    identity: RecordId,
    *,
    folder: Path,
    compacted: Mapping[str, bool | None],
    listed_at: Mapping[int, int | None],
    own: Mapping[Partition, Collection[int]],
) -> StoredRecords:
    """Return the stored records in the segments of these copies.

    Args:
        spark: From :func:`casebook.spark.session`.
        choices: One copy per partition; at least one.
        identity: Search key of a record.
        folder: Folder next to the case, for information on batches, written once.
        compacted: Whether a topic is compacted; see :func:`casebook.questions.loss.analysis.gaps.compacted`.
        listed_at: Listing time of each broker's log dir, epoch ms.
        own: Brokers whose copy is authoritative, by partition: it may have what another lacks.
    """
    copies = {(choice.copy.topic, choice.copy.partition): choice.copy for choice in choices}
    known = [_known(copy, compacted.get(copy.topic)) for copy in copies.values()]
    places = [place(copy) for copy in copies.values()]
    runs = kept(spark, folder / "runs", lambda: gaps.of_segments(spark, places, known))
    found = Gaps(spark=spark, runs=runs, known=known)
    told = (
        _of_copy(of, copies[of.topic, of.partition], listed_at, own.get((of.topic, of.partition), ()))
        for of in limits(found, "segments")
    )
    undecided = sum(extent.undecided for extent in found.extents.values())
    records = _records(spark, places, runs, undecided, identity, values=needs_values(identity, known))
    return StoredRecords(records, tuple(told), tuple(found.counts()))


def _of_copy(of: Limits, copy: Replica, listed_at: Mapping[int, int | None], own: Collection[int]) -> Limits:
    """Return the limits of a read copy: a segment with less content than listed hides what is missing.

    Records missing in a follower's copy may be in the leader's.
    """
    foreign = copy.broker not in own
    hidden = ((0, None),) if foreign else tuple((short.first, short.end) for short in shortfalls(copy))
    at = listed_at.get(copy.broker)
    told = f"broker {copy.broker}"
    return of._replace(copy=told, scanned_at=at, unreadable=(*of.unreadable, *hidden), foreign=foreign)


def _known(copy: Replica, compacted: bool | None) -> KnownCopy:
    return KnownCopy(
        topic=copy.topic,
        partition=copy.partition,
        log_start=max(copy.segments[0].base_offset, copy.log_start or 0),
        end=copy.segments[-1].base_offset,
        cleaned=copy.cleaner_point,
        compacted=True if compacted is None and copy.cleaner_point is not None else compacted,
        epochs=copy.epochs,
    )


def needs_values(identity: RecordId, known: Sequence[KnownCopy]) -> bool:
    """Return whether values must be read: for the id, or to see tombstones, which matter when a topic may be compacted."""
    return identity.of_value or any(of.compacted is not False for of in known)


def _records(
    spark: "SparkSession",
    places: Sequence[Path | str],
    runs: "DataFrame",
    undecided: int,
    identity: RecordId,
    *,
    values: bool,
) -> "DataFrame":
    """Return records, each with the state of its batch, which belongs to one transaction, or to none.

    Args:
        undecided: Number of batches of aborted and open transactions.
        values: Whether values are read.
    """
    rows = segments(spark, *places).where("kind = 'data'")
    rows = rows.withColumns({"id": record_id(identity), "tombstone": tombstone(values)}).selectExpr(
        "log_topic AS topic", "log_partition AS partition", "segment", "position", "offset", "timestamp AS at", "leader_epoch",
        "id", KEY, "tombstone",
    )  # fmt: skip
    if not undecided:
        return rows.selectExpr("*", "'data' AS state").select(*COLUMNS)
    batches = runs.where("kind IN ('aborted', 'open')").selectExpr("topic", "partition", "segment", "position", "kind AS state")
    joined = rows.join(
        batches.hint("broadcast") if undecided <= _FEW else batches, ["topic", "partition", "segment", "position"], "left"
    )
    return joined.fillna("data", "state").select(*COLUMNS)


def tombstone(values: bool) -> "Column":
    """Return whether a record has no value; null when values are not read."""
    from pyspark.sql import functions

    return functions.col("value").isNull() if values else functions.lit(None).cast("boolean")


def limits(found: Gaps, copy: str, *, scanned_at: int | None = None) -> tuple[Limits, ...]:
    """Return the limits of what was read, by partition.

    Args:
        found: Runs, and what else is known.
        copy: Copy that was read.
        scanned_at: Time of the scan, epoch ms.
    """
    known = {(of.topic, of.partition): of for of in found.known}
    extents, unreadable, cleaned = found.extents, found.unreadable(), found.clean_ends()
    return tuple(
        Limits(
            *at,
            copy,
            log_start=known[at].log_start if at in known else None,
            end=_most(extents[at].end if at in extents else None, known[at].end if at in known else None),
            first_time=extents[at].first_time if at in extents else None,
            scanned_at=scanned_at,
            compacted=known[at].compacted if at in known else None,
            clean_end=_most(cleaned.get(at), known[at].cleaned if at in known else None),
            unreadable=unreadable.get(at, ()),
        )
        for at in sorted(known.keys() | extents.keys())
    )


def _most(one: int | None, other: int | None) -> int | None:
    return max((value for value in (one, other) if value is not None), default=None)
