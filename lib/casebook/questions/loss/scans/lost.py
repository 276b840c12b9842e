"""Join lost records with possible leader changes, and with the records now in their place."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.facts.disks import Partition
from casebook.facts.losses import ALARM, Cause, LeaderChange, LostCount, LostRecord
from casebook.questions.loss.analysis.causes import SLACK, Explained, Missing, explained
from casebook.spark.kept import kept
from casebook.spark.small import small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHOWN = 1000
"""Maximum number of records shown one by one; tables and exports have all."""
FINE = 50
"""Width of a bin in milliseconds."""
MOST_BINS = 4000
"""Maximum bins between the first and the last lost record; for a longer time they are wider."""
MOST_PRODUCERS = 20
"""Maximum number of distinct producers in counts, largest losses first; the others are one."""
OTHERS = "others"
_ACKED_AT = "concat(date_format(timestamp_millis(moment), 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSS'), 'Z') AS acked_at"
_CLASS = f"IF(cause IS NULL, '{ALARM}', 'lost') AS class"
_ANYWHERE = -1
"""Represents a partition missing in the ledger."""

_TOLD = """
SELECT l.topic, l.partition, l.id, max(offset) AS offset, min(unix_millis(at)) AS moment,
       min(name) AS name, min(acks) AS acks, min(key) AS key, min(producer) AS producer
FROM {lost} l JOIN {ledger} t ON l.topic = t.topic AND l.id = t.id
WHERE outcome = 'acked' GROUP BY l.topic, l.partition, l.id
"""
_THERE = """
SELECT l.*, s.id AS there_id, s.leader_epoch AS there_epoch
FROM {lost} l LEFT JOIN (SELECT topic, partition, offset, id, leader_epoch FROM {stored} WHERE state = 'data') s
ON l.topic = s.topic AND l.partition = s.partition AND l.offset = s.offset
"""
_TAKES = f"""
    coalesce(moment <= c.closed + {SLACK}, true)
    AND IF(offset IS NOT NULL AND c.cut IS NOT NULL, offset >= c.cut, moment >= c.since - {SLACK})
"""
""":func:`casebook.questions.loss.analysis.causes.takes`."""
_AWAY = "IF(moment < c.since, c.since - moment, IF(moment > c.closed, c.closed - moment, 0L))"
_WINDOWED = f"""
SELECT l.*, transform(took, c -> struct(c.number AS number, moment >= c.alone - {SLACK} AS alone)) AS changes,
       offset IS NOT NULL AS placed,
       array_min(transform(every, c -> struct(abs({_AWAY}) AS far, {_AWAY} AS away))).away AS nearest
FROM (
  SELECT l.*, changes AS every, coalesce(filter(changes, c -> {_TAKES}), array()) AS took
  FROM {{lost}} l LEFT JOIN {{windows}} w ON l.topic = w.topic AND coalesce(l.partition, {_ANYWHERE}) = w.partition) l
"""
_CHANGES = """
    topic string, partition int,
    changes array<struct<number: int, since: bigint, closed: bigint, cut: bigint, alone: bigint>>
"""
_EXPLAINED = """
    changes array<struct<number: int, alone: boolean>>, acks string, placed boolean, told boolean, cause string, window string,
    evidence string, takers array<int>
"""
_WITH_CAUSE = """
SELECT l.*, e.cause, coalesce(e.window, '') AS window, coalesce(e.evidence, '') AS evidence,
       try_element_at(e.takers, 1) AS change, IF(size(e.takers) > 1, e.takers, array()) AS either
FROM {lost} l JOIN {explained} e
ON l.changes <=> e.changes AND l.acks <=> e.acks AND l.placed = e.placed AND l.told = e.told
"""
_PRODUCERS = f"""
SELECT producer, count(*) AS count, min(min(moment)) OVER () AS first, max(max(moment)) OVER () AS last
FROM {{rows}} GROUP BY producer ORDER BY count DESC, producer DESC LIMIT {MOST_PRODUCERS}
"""
"""Producers with the largest losses; with each the first and the last moment of all."""


@dataclass(frozen=True, kw_only=True)
class Lost:
    """Lost records of a reconciliation, with causes.

    Args:
        spark: From :func:`casebook.spark.session`.
        records: Result of :meth:`casebook.questions.loss.scans.reconciliation.Reconciliation.missing`.
        ledger: Rows of :data:`casebook.facts.records.LEDGER`, with ``name``: the id for people.
        stored: Rows of :data:`casebook.facts.records.STORED`.
        changes: Leader changes of the ledger's topics, in order.
        offsets: Whether producers of the ledger received offsets.
        folder: Folder for results.
    """

    spark: "SparkSession"
    records: "DataFrame"
    ledger: "DataFrame"
    stored: "DataFrame"
    changes: Sequence[LeaderChange]
    offsets: bool
    folder: Path

    @cached_property
    def _windowed(self) -> "DataFrame":
        """Return each lost record with its change; written once, as it is read several times and costs a pass over both sides."""
        from pyspark.sql import functions

        def rows() -> "DataFrame":
            told = self.spark.sql(_TOLD, lost=self.records, ledger=self.ledger)
            there = self.spark.sql(_THERE, lost=told, stored=self.stored)
            windows = small(self.spark, _by_partition(self.changes), _CHANGES)
            return self.spark.sql(_WINDOWED, lost=there, windows=windows).drop("every", "took")

        return kept(self.spark, self.folder / "lost", rows).withColumn("told", functions.lit(self.offsets))

    @cached_property
    def _explained(self) -> Mapping[Missing, Explained]:
        by_number = {change.number: change for change in self.changes}
        kinds = self._windowed.groupBy(*Missing._fields).count().collect()
        found = (Missing(*(row[name] for name in Missing._fields)) for row in kinds)
        found = (of._replace(changes=tuple((one["number"], one["alone"]) for one in of.changes)) for of in found)
        return {of: explained(of, by_number) for of in found}

    @cached_property
    def rows(self) -> "DataFrame":
        """Return all values of each: the columns of ``tables/lost``, and ``moment``."""
        rows = [
            (list(of.changes), *of[1:], why.cause and str(why.cause), why.window, why.evidence, list(why.changes))
            for of, why in self._explained.items()
        ]
        known = small(self.spark, rows, _EXPLAINED)
        return self.spark.sql(_WITH_CAUSE, lost=self._windowed, explained=known)

    def counts(self) -> tuple[LostCount, ...]:
        """Lost records by place, producer, cause, change and time."""
        many = self.spark.sql(_PRODUCERS, rows=self.rows).collect()
        span = max((row.last - row.first for row in many if row.first is not None), default=0)
        bin_ = FINE * max(1, -(-span // (FINE * MOST_BINS)))
        named = small(self.spark, [(row.producer,) for row in many], "known string")
        query = f"""
            SELECT topic, partition, IF(producer IS NULL OR known IS NOT NULL, producer, '{OTHERS}') AS producer, cause,
                   change, either,
                   moment - pmod(moment, {bin_}) AS at, count(*) AS records
            FROM {{rows}} LEFT JOIN {{named}} ON producer = known GROUP BY ALL"""
        found = self.spark.sql(query, rows=self.rows, named=named).collect()
        rows = (LostCount(**(row.asDict() | {"either": tuple(row.either)})) for row in found)
        return tuple(
            sorted(rows, key=lambda row: (row.at is None, row.at or 0, row.topic, row.partition or 0, row.producer or ""))
        )

    @cached_property
    def table(self) -> Path:
        """Return a folder with the rows of ``tables/lost``, in order of time."""
        target = self.folder / "table"
        columns = (
            "coalesce(name, id) AS id", "topic", "partition", "offset", _ACKED_AT, _CLASS, "cause", "window", "evidence",
            "there_id", "there_epoch", "acks", "key", "producer",
        )  # fmt: skip
        kept(self.spark, target, lambda: self.rows.orderBy("moment", "topic", "offset", "name").coalesce(1).selectExpr(*columns))
        return target

    def shown(self) -> tuple[LostRecord, ...]:
        """Return the first of them in order of time; alarms first when there are very many."""
        from pyspark.sql import functions

        chosen = self.rows.selectExpr("*", "cause IS NULL AS alarm").orderBy(functions.desc("alarm"), "moment", "name")
        rows = (_record(row) for row in chosen.limit(SHOWN).collect())
        return tuple(sorted(rows, key=lambda row: (row.acked_at is None, row.acked_at or 0, row.topic, row.offset or 0, row.id)))


def _by_partition(changes: Iterable[LeaderChange]) -> Iterator[tuple]:
    """Yield changes of each partition in order; and of each topic, without offsets, for records with an unknown partition."""
    own: dict[Partition, list[tuple]] = defaultdict(list)
    for change in changes:
        own[change.topic, change.partition].append(_struct(change))
        own[change.topic, _ANYWHERE].append(_struct(change._replace(cut=None)))
    for (topic, partition), some in sorted(own.items()):
        yield topic, partition, some


def _struct(change: LeaderChange) -> tuple:
    return change.number, change.since, change.closed, change.cut, change.alone


def _record(row: Mapping) -> LostRecord:
    return LostRecord(
        id=row["name"] or row["id"],
        topic=row["topic"],
        partition=row["partition"],
        offset=row["offset"],
        acked_at=row["moment"],
        acks=row["acks"],
        key=row["key"],
        producer=row["producer"],
        cause=row["cause"] and Cause(row["cause"]),
        change=row["change"],
        window=row["window"],
        evidence=row["evidence"],
        there_id=row["there_id"],
        there_epoch=row["there_epoch"],
        nearest=row["nearest"],
        either=tuple(row["either"]),
    )
