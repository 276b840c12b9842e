"""Reconcile a ledger with stored records: Spark joins both sides of a record, and counts the results.

All rows of an id in a topic become one :class:`casebook.facts.records.Signature`, encoded as an integer; ``loss.verdict``
interprets it. The information of a single ledger row is precomputed as a few bits: only these, the id and the partition are
shuffled to the task of the id. Neither side is sorted or held in memory; the rest is spilled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.facts.records import Counted, Limits, Order, Signature
from casebook.spark.kept import kept
from casebook.spark.small import small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BITS = [1 << bit for bit in range(32, 43)]
_HIDDEN, _AFTER, _NOT_AFTER, _BELOW, _NOT_BELOW, _ACKED, _FAILED, _UNKNOWN, _ABORTED, _OPEN, _DATA = _BITS
"""Information of one row on its record: bits above its partition.

In their order the least row of a record acknowledges it, if any, and the greatest is a visible one.
"""
_PLACE = 1 << 32
_NOWHERE = _PLACE - 1
"""Represents a partition missing in the ledger."""
_ANYWHERE = -1
"""The same in limits: valid wherever in a topic a record may be."""

_MOMENT = "coalesce(unix_millis(at), CAST(:complete AS bigint))"
_BELOW_START = f"""
    CASE WHEN l.offset IS NOT NULL AND log_start IS NOT NULL THEN l.offset < log_start
         WHEN log_start = 0 THEN false
         WHEN {_MOMENT} < first_low THEN true
         WHEN {_MOMENT} >= first_high THEN false END
"""
_AFTER_SCAN = f"CASE WHEN l.offset < end THEN false ELSE {_MOMENT} > scanned_at END"
_UNREADABLE = """
    IF(l.offset IS NULL, size(unreadable) > 0,
       exists(unreadable, r -> l.offset >= r.since AND (r.until IS NULL OR l.offset < r.until)))
"""
_LEDGER = f"""
SELECT l.topic, l.id, coalesce(l.partition, {_NOWHERE}) +
       CASE outcome WHEN 'failed' THEN {_FAILED} WHEN 'unknown' THEN {_UNKNOWN} ELSE {_ACKED} +
           CASE WHEN l.offset >= :low AND l.offset < :high THEN {_NOT_BELOW + _NOT_AFTER} ELSE
               CASE {_BELOW_START} WHEN true THEN {_BELOW} WHEN false THEN {_NOT_BELOW} ELSE 0 END +
               CASE {_AFTER_SCAN} WHEN true THEN {_AFTER} WHEN false THEN {_NOT_AFTER} ELSE 0 END +
               IF({_UNREADABLE}, {_HIDDEN}, 0) END END AS said
FROM {{ledger}} l LEFT JOIN {{limits}} m
ON l.topic = m.topic AND m.partition = IF(l.offset >= :low AND l.offset < :high, NULL, coalesce(l.partition, {_ANYWHERE}))
"""
"""Offsets common to all read partitions are not looked up."""
_ALL_READ = _LEDGER.replace(_UNREADABLE, "false")
"""The same when nothing was unreadable; Spark cannot compile searching ranges, and would compile none of it."""
_STORED = f"""
SELECT topic, id, partition + CASE state WHEN 'data' THEN {_DATA} WHEN 'aborted' THEN {_ABORTED} ELSE {_OPEN} END AS said
FROM {{stored}} WHERE id IS NOT NULL AND state <> 'control'
"""
_TOGETHER = f"""
SELECT topic, id, bit_or(said) AS said, least(count_if(said >= {_DATA}), 2) AS stored, min(said) AS least, max(said) AS greatest
FROM {{sides}} GROUP BY topic, id
"""
_MISSING = f"said & {_ACKED} > 0 AND stored = 0"
"""Acknowledged, and not visible."""
_TOLD, _THERE = (f"CAST(nullif({row} % {_PLACE}, {_NOWHERE}) AS int)" for row in ("least", "greatest"))
_KINDS = f"""
SELECT topic, coalesce({_TOLD}, {_THERE}) AS partition, said - said % {_PLACE} AS said, stored,
       IF(least < {_ABORTED}, {_TOLD} = {_THERE}, NULL) AS lies, IF({_MISSING}, id, NULL) AS id, count(*) AS records
FROM {{together}} GROUP BY ALL
"""
"""Equal records are merged into one row, except missing ones, which may be searched for."""
_WHERE = f"""
SELECT k.*, l.topic IS NOT NULL AS known, compacted, clean_end FROM {{kinds}} k
LEFT JOIN {{limits}} l ON k.topic = l.topic AND IF(stored = 0, coalesce(k.partition, {_ANYWHERE}), NULL) = l.partition
"""
"""With the limits of its required place; irrelevant for a stored record."""
_LATEST = """
SELECT topic, partition, key, max(offset) AS last, max(unix_millis(at)) AS latest
FROM {stored} WHERE key IS NOT NULL AND state = 'data' GROUP BY topic, partition, key
"""
"""A cleaner works per partition: a key's record in another partition removes nothing here."""
_SAID_OF_MISSING = f"""
SELECT k.topic, k.partition, k.id, max(IF(outcome = 'acked', g.offset, NULL)) AS offset,
       min(IF(outcome = 'acked', {_MOMENT}, NULL)) AS moment, max(IF(g.key IS NULL, NULL, xxhash64(CAST(g.key AS binary)))) AS key
FROM {{kinds}} k JOIN {{ledger}} g ON k.topic = g.topic AND k.id = g.id
GROUP BY k.topic, k.partition, k.id
"""
_WITH_LATEST = """
SELECT w.*, s.offset, moment, last, latest FROM {where} w
LEFT JOIN {said} s ON w.topic = s.topic AND w.id = s.id
LEFT JOIN {latest} n ON s.topic = n.topic AND s.partition = n.partition AND s.key = n.key
    AND coalesce(s.key, xxhash64(w.id)) = n.key
"""
"""The ids spread the records without a key: otherwise all of those would go to one task."""
_NO_LATEST = "*", *(f"CAST(NULL AS bigint) AS {name}" for name in ("offset", "moment", "last", "latest"))
_SUPERSEDED = """
    CASE WHEN NOT compacted OR offset >= clean_end THEN false
         WHEN last > offset OR (offset IS NULL AND latest > moment) THEN true END
"""


def _three(condition: str) -> str:
    """Encode unknown, no, yes as 0, 1, 2."""
    return f"coalesce(1 + CAST(({condition}) AS int), 0)"


def _told(bit: int) -> str:
    return _three(f"said & {bit} > 0")


def _either(no: int, yes: int) -> str:
    return _three(f"CASE WHEN said & {no} > 0 THEN false WHEN said & {yes} > 0 THEN true END")


_FIELDS = {
    "acked": _told(_ACKED),
    "failed": _told(_FAILED),
    "unknown": _told(_UNKNOWN),
    "stored": "stored",
    "aborted": _told(_ABORTED),
    "open": _told(_OPEN),
    "place": _three("IF(stored > 0, lies, NULL)"),
    "scanned": _three("stored > 0 OR known"),
    "below_start": f"IF({_MISSING}, {_either(_NOT_BELOW, _BELOW)}, 1)",
    "after_scan": f"IF({_MISSING}, {_either(_NOT_AFTER, _AFTER)}, 1)",
    "readable": f"IF({_MISSING}, {_three(f'said & {_HIDDEN} = 0')}, 2)",
    "superseded": f"IF({_MISSING}, {_three(_SUPERSEDED)}, 1)",
}
"""Encoding of each field of a signature, as a number of two bits.

Of several rows on a record's required place, the unambiguous one counts.
"""
_COUNTED = "stored"
_SIGNATURE = " + ".join(f"({rule}) * {4**place}" for place, rule in enumerate(_FIELDS.values()))
_LIMITS = """
    topic string, partition int, log_start bigint, end bigint, first_low bigint, first_high bigint, scanned_at bigint,
    compacted boolean, clean_end bigint, unreadable array<struct<since: bigint, until: bigint>>
"""

_SENT = """
SELECT topic, id, CAST(NULL AS int) AS partition, CAST(NULL AS bigint) AS offset, CAST(NULL AS bigint) AS key,
       unix_micros(sent) AS sent, xxhash64(producer) AS producer
FROM {ledger} WHERE sent IS NOT NULL
"""
_LIES = """
SELECT topic, id, partition, offset, key, CAST(NULL AS bigint) AS sent, CAST(NULL AS bigint) AS producer
FROM {stored} WHERE id IS NOT NULL AND state = 'data'
"""
_SENT_AND_LIES = """
SELECT topic, max(partition) AS partition, max(offset) AS offset, max(key) AS key, max(sent) AS sent, max(producer) AS producer
FROM {sides} GROUP BY topic, id HAVING count(offset) = 1 AND count(key) = 1 AND min(sent) = max(sent)
"""
_ORDER = """
SELECT topic, partition, count(*) AS told, count_if(sent < latest) AS reordered
FROM (SELECT topic, partition, sent, max(sent) OVER (PARTITION BY topic, partition, producer, key ORDER BY offset
                                                     ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS latest FROM {placed})
GROUP BY topic, partition ORDER BY topic, partition
"""

_ROWS_A_TASK, _MOST_TASKS = 1_000_000, 1000
"""Few enough for their ids to fit in a task's share of the session's memory; beyond that tasks spill."""


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """Reconciliation of a ledger with stored records.

    Args:
        ledger: Rows of :data:`casebook.facts.records.LEDGER`.
        stored: Rows of :data:`casebook.facts.records.STORED`.
        limits: Limits of each read partition.
        partitions: Number of partitions of each topic, if known: a record that may be in any of them is missing only if all were
            read.
        folder: Folder for the precomputed rows, written once.
        complete: Epoch milliseconds at which the ledger was complete, for rows without a time.
    """

    spark: "SparkSession"
    ledger: "DataFrame"
    stored: "DataFrame"
    limits: Sequence[Limits]
    partitions: Mapping[str, int]
    folder: Path
    complete: int | None = None

    def counts(self) -> list[Counted]:
        """Return the number of records by signature, topic and partition; one row per kind."""
        found = self._signed.groupBy("topic", "partition", "signature").agg({"records": "sum"}).collect()
        rows = (Counted(row.topic, row.partition, _signature(row.signature), row["sum(records)"]) for row in found)
        return sorted(rows, key=lambda row: (row.topic, -1 if row.partition is None else row.partition, _number(row.signature)))

    def missing(self, signatures: Iterable[Signature]) -> "DataFrame":
        """Return missing acknowledged records with one of these signatures: topic, partition, id."""
        wanted = ", ".join(str(_number(one)) for one in signatures) or "NULL"
        return self._signed.where(f"id IS NOT NULL AND signature IN ({wanted})").select("topic", "partition", "id")

    def order(self) -> list[Order]:
        """Return how many records are stored after a later one, by partition; undecidable ones are left out."""
        sent = self.spark.sql(_SENT, ledger=self.ledger)
        sides = sent.unionByName(self.spark.sql(_LIES, stored=self.stored))
        placed = self.spark.sql(_SENT_AND_LIES, sides=sides.repartition(self._tasks, "topic", "id"))
        placed = placed.repartition(self._tasks, "topic", "partition", "producer", "key")
        return [Order(*row) for row in self.spark.sql(_ORDER, placed=placed).collect()]

    @property
    def _tasks(self) -> int:
        """Return the number of tasks for joining ids, by the number of stored offsets."""
        stored = sum(of.end - (of.log_start or 0) for of in self.limits if of.end is not None)
        return max(int(self.spark.conf.get("spark.sql.shuffle.partitions")), min(2 * stored // _ROWS_A_TASK, _MOST_TASKS))

    @cached_property
    def _signed(self) -> "DataFrame":
        """Return kinds of records, and missing records: topic, partition, id, records, signature as a number."""
        from pyspark.sql import functions

        kinds = kept(self.spark, self.folder / "kinds", self._kinds)
        where, signature = self.spark.sql(_WHERE, kinds=kinds, limits=self._limits_frame), functions.expr(_SIGNATURE)
        maybe_compacted = sorted({of.topic for of in self.limits if of.compacted is not False})
        if not maybe_compacted:
            return where.selectExpr(*_NO_LATEST).withColumn("signature", signature)
        of_them = functions.col("topic").isin(maybe_compacted)
        said = self.spark.sql(
            _SAID_OF_MISSING, args={"complete": self.complete}, kinds=kinds.where(of_them), ledger=self.ledger.where(of_them)
        )
        latest = self.spark.sql(_LATEST, stored=self.stored.where(of_them))
        return self.spark.sql(_WITH_LATEST, where=where, said=said, latest=latest).withColumn("signature", signature)

    def _kinds(self) -> "DataFrame":
        query = _LEDGER if any(of.unreadable for of in self.limits) else _ALL_READ
        args = dict(zip(("low", "high"), _everywhere(self.limits), strict=True)) | {"complete": self.complete}
        said = self.spark.sql(query, args=args, ledger=self.ledger, limits=self._limits_frame)
        sides = said.unionByName(self.spark.sql(_STORED, stored=self.stored))
        together = self.spark.sql(_TOGETHER, sides=sides.repartition(self._tasks, "id"))
        return self.spark.sql(_KINDS, together=together)

    @cached_property
    def _limits_frame(self) -> "DataFrame":
        by_topic = groupby(sorted(self.limits, key=lambda of: of.topic), key=lambda of: of.topic)
        rows = [row for topic, some in by_topic for row in _limits_of(list(some), self.partitions.get(topic))]
        return small(self.spark, rows, _LIMITS)


def _everywhere(limits: Sequence[Limits]) -> tuple[int, int]:
    """Return a range of offsets, end excluded, that was read in each partition; empty if there may be none."""
    if not limits or any(of.log_start is None or of.end is None or of.unreadable for of in limits):
        return 0, 0
    return max(of.log_start for of in limits), min(of.end for of in limits)


def _limits_of(parts: Sequence[Limits], partitions: int | None) -> list[tuple]:
    """Return rows of a topic's partitions, and of their combination when all are known."""
    rows = [
        (of.topic, of.partition, of.log_start, of.end, of.first_time, of.first_time, of.scanned_at, of.compacted, of.clean_end,
         list(of.unreadable))
        for of in parts
    ]  # fmt: skip
    if partitions is not None and {of.partition for of in parts} == set(range(partitions)):
        rows.append(_anywhere(parts))
    return rows


def _anywhere(parts: Sequence[Limits]) -> tuple:
    """Return the values valid wherever in a topic a record may be; ``None`` when partitions differ."""
    begun = [of.first_time for of in parts if of.log_start != 0]  # content of one of these may have expired
    known = bool(begun) and None not in begun
    compacted = {of.compacted for of in parts}
    scans = [of.scanned_at for of in parts]
    return (
        parts[0].topic, _ANYWHERE, None if begun else 0, None,
        min(begun) if known and len(begun) == len(parts) else None, max(begun) if known else None,
        None if None in scans else min(scans), compacted.pop() if len(compacted) == 1 else None, None,
        [one for of in parts for one in of.unreadable],
    )  # fmt: skip


def _number(signature: Signature) -> int:
    told = (value if name == _COUNTED else {None: 0, False: 1, True: 2}[value] for name, value in signature._asdict().items())
    return sum(value * 4**place for place, value in enumerate(told))


def _signature(number: int) -> Signature:
    told = ((number >> 2 * place) & 3 for place in range(len(_FIELDS)))
    return Signature(*(
        value if name == _COUNTED else (None, False, True)[value] for name, value in zip(Signature._fields, told, strict=True)
    ))  # fmt: skip
