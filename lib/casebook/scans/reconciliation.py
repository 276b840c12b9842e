"""Ledger against stored records: Spark brings together what both say of a record, and counts what that may mean.

All rows of an id in a topic become one :class:`casebook.loss.Signature`, written as one integer; what it means
:func:`casebook.analysis.loss.verdict` decides. Neither side is sorted or held: each row goes once to where its id is put
together, and what does not fit into memory there is spilled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from casebook.loss import Limits, Signature

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OTHERS = 1 << 32
"""Added to a partition of which something else than an acknowledgement tells: one that was acknowledged comes before it."""
_TOGETHER = f"""
SELECT topic, id,
       bit_or(1 << side) AS sides,
       least(count_if(side = 4), 2) AS stored,
       CAST(min(CASE WHEN side = 1 THEN 0L WHEN side < 4 THEN {_OTHERS} END + place) % {_OTHERS} AS int) AS told,
       max(IF(side > 3, place, NULL)) AS there,
       max(IF(side = 1, offset, NULL)) AS offset,
       min(IF(side = 1, moment, NULL)) AS moment,
       max(IF(side < 4, key, NULL)) AS key
FROM {{sides}}
GROUP BY topic, id
"""
_LEDGER = """
SELECT topic, id, partition AS place, offset, coalesce(unix_millis(at), CAST(:complete AS bigint)) AS moment,
       IF(key IS NULL, NULL, xxhash64(CAST(key AS binary))) AS key,
       CASE outcome WHEN 'acked' THEN 1 WHEN 'failed' THEN 2 ELSE 3 END AS side
FROM {ledger}
"""
_STORED = """
SELECT topic, id, partition AS place, CAST(NULL AS bigint) AS offset, CAST(NULL AS bigint) AS moment, CAST(NULL AS bigint) AS key,
       CASE state WHEN 'data' THEN 4 WHEN 'aborted' THEN 5 ELSE 6 END AS side
FROM {stored} WHERE id IS NOT NULL AND state <> 'control'
"""
_LATEST = """
SELECT topic, key, max(offset) AS last, max(unix_millis(at)) AS latest
FROM {stored} WHERE key IS NOT NULL AND state = 'data' GROUP BY topic, key
"""
_MISSING = "sides & 2 > 0 AND stored = 0"
"""Acknowledged, and not to be seen."""
_WITH_LATEST = f"""
SELECT t.*, last, latest FROM {{together}} t LEFT JOIN {{latest}} k ON t.topic = k.topic AND t.key = k.key AND {_MISSING}
"""


def _three(condition: str) -> str:
    """Unknown, no, yes as 0, 1, 2."""
    return f"CASE WHEN {condition} THEN 2 WHEN NOT ({condition}) THEN 1 ELSE 0 END"


_FIELDS = {
    "acked": _three("sides & 2 > 0"),
    "failed": _three("sides & 4 > 0"),
    "unknown": _three("sides & 8 > 0"),
    "stored": "stored",
    "aborted": _three("sides & 32 > 0"),
    "open": _three("sides & 64 > 0"),
    "place": _three("IF(stored > 0, told = there, NULL)"),
    "scanned": _three("stored > 0 OR coalesce(looked_at, false)"),
    "below_start": f"IF({_MISSING}, {_three('below_start')}, 1)",
    "after_scan": f"IF({_MISSING}, {_three('after_scan')}, 1)",
    "readable": f"IF({_MISSING}, {_three('coalesce(readable, true)')}, 2)",
    "superseded": f"IF({_MISSING}, {_three('superseded')}, 1)",
}
"""How each field of a signature is told, as a number of two bits."""
_COUNTED = "stored"

_SIGNED = f"""
SELECT topic, coalesce(told, there) AS partition, id, offset, moment,
       CAST({" + ".join(f"({rule}) * {4**place}" for place, rule in enumerate(_FIELDS.values()))} AS int) AS signature
FROM (
  SELECT t.*, l.topic IS NOT NULL AS looked_at,
         CASE WHEN offset IS NOT NULL AND log_start IS NOT NULL THEN offset < log_start
              WHEN log_start = 0 THEN false
              WHEN moment < first_low THEN true
              WHEN moment >= first_high THEN false END AS below_start,
         CASE WHEN offset < end THEN false ELSE moment > scanned_at END AS after_scan,
         IF(offset IS NULL, size(unreadable) = 0,
            NOT exists(unreadable, r -> offset >= r.since AND (r.until IS NULL OR offset < r.until))) AS readable,
         CASE WHEN NOT compacted OR offset >= clean_end THEN false
              WHEN last > offset OR (offset IS NULL AND latest > moment) THEN true END AS superseded
  FROM {{together}} t
  LEFT JOIN {{limits}} l ON t.topic = l.topic AND coalesce(told, -1) = l.partition)
"""
_LIMITS = """
    topic string, partition int, log_start bigint, end bigint, first_low bigint, first_high bigint, scanned_at bigint,
    compacted boolean, clean_end bigint, unreadable array<struct<since: bigint, until: bigint>>
"""
_ANYWHERE = -1
"""Stands for a partition that the ledger does not name."""


class Counted(NamedTuple):
    """So many records of a partition have this signature; the partition is ``None`` where nothing tells it."""

    topic: str
    partition: int | None
    signature: Signature
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What a ledger and the stored records say of each other.

    Args:
        ledger: Rows of :data:`casebook.loss.LEDGER`.
        stored: Rows of :data:`casebook.loss.STORED`.
        limits: Of each partition that was read.
        partitions: How many partitions each topic has, as far as it is known: a record that may lie in any of them can be
            missed only where all were read.
        complete: Epoch milliseconds at which the ledger was complete, for rows without a time of their own.
    """

    spark: "SparkSession"
    ledger: "DataFrame"
    stored: "DataFrame"
    limits: Sequence[Limits]
    partitions: Mapping[str, int]
    complete: int | None = None

    def counts(self) -> list[Counted]:
        """How many records have which signature, by topic and partition; as many rows as there are kinds of them."""
        found = self._signed().groupBy("topic", "partition", "signature").count().collect()
        rows = (Counted(row.topic, row.partition, _signature(row.signature), row["count"]) for row in found)
        return sorted(rows, key=lambda row: (row.topic, -1 if row.partition is None else row.partition, _number(row.signature)))

    def records(self, signatures: Iterable[Signature]) -> "DataFrame":
        """The records with these signatures: topic, partition, id, offset, moment (epoch ms), signature as a number."""
        return self._signed().where(f"signature IN ({', '.join(str(_number(one)) for one in signatures) or 'NULL'})")

    def _signed(self) -> "DataFrame":
        from pyspark.sql import functions

        compacted = sorted({of.topic for of in self.limits if of.compacted})
        said = self.spark.sql(_LEDGER, args={"complete": self.complete}, ledger=self.ledger)
        sides = said.unionByName(self.spark.sql(_STORED, stored=self.stored))
        together = self.spark.sql(_TOGETHER, sides=sides.repartition("topic", "id"))
        if compacted:
            latest = self.spark.sql(_LATEST, stored=self.stored.where(functions.col("topic").isin(compacted)))
            together = self.spark.sql(_WITH_LATEST, together=together, latest=latest)
        else:
            together = together.selectExpr("*", "CAST(NULL AS bigint) AS last", "CAST(NULL AS bigint) AS latest")
        return self.spark.sql(_SIGNED, together=together, limits=self._limits_frame().hint("broadcast"))

    def _limits_frame(self) -> "DataFrame":
        by_topic = groupby(sorted(self.limits, key=lambda of: of.topic), key=lambda of: of.topic)
        rows = [row for topic, some in by_topic for row in _limits_of(list(some), self.partitions.get(topic))]
        return self.spark.createDataFrame(rows, _LIMITS)


def _limits_of(parts: Sequence[Limits], partitions: int | None) -> list[tuple]:
    """Rows of a topic's partitions, and of all of them together where all are known."""
    rows = [
        (of.topic, of.partition, of.log_start, of.end, of.first_time, of.first_time, of.scanned_at, of.compacted, of.clean_end,
         list(of.unreadable))
        for of in parts
    ]  # fmt: skip
    if partitions is not None and {of.partition for of in parts} == set(range(partitions)):
        rows.append(_anywhere(parts))
    return rows


def _anywhere(parts: Sequence[Limits]) -> tuple:
    """What holds wherever in a topic a record may lie; ``None`` where partitions differ."""
    begun = [of.first_time for of in parts if of.log_start != 0]  # what lay in one of these may have expired
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
