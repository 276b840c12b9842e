"""Compare commits of groups with their processed records: Spark joins stored, committed and processed records.

Ledgers and stored records are joined once, each record with the commit that finally passed it, and written to a file; the rest
reads that. ``unprocessed.verdict`` interprets the few kinds of results.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.facts.disks import Partition
from casebook.facts.records import Limits
from casebook.questions.loss.analysis.unprocessed import Missed, verdict
from casebook.questions.loss.analysis.unprocessed_rows import GroupWork, SkipKind, Unprocessed, UnprocessedDoubt
from casebook.spark.kept import kept
from casebook.spark.small import small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

MOST_RECORDS = 10_000
"""Maximum number of listed unprocessed records; the Parquet has all."""

_LEDGERS = """
SELECT `group`, coalesce(bool_and(partition IS NOT NULL AND offset IS NOT NULL), false) AS placed,
       unix_millis(min(at)) AS first, unix_millis(max(at)) AS last, collect_set(topic) AS topics
FROM {ledger} WHERE outcome = 'acked' GROUP BY `group`
"""

_RANGES = """
SELECT `group`, topic, partition, until, lag(until) OVER along AS since, lead(commit.life) OVER along AS next_life, commit.*
FROM (
  SELECT `group`, topic, partition, until,
         min_by(struct(at, members, life, forgotten, cleaned, log_partition, source_offset, segment),
                struct(place, source_offset)) AS commit
  FROM (
    SELECT *, min(offset) OVER (PARTITION BY `group`, topic, partition ORDER BY place DESC, source_offset DESC
                                ROWS UNBOUNDED PRECEDING) AS until
    FROM {commits} WHERE array_contains(:groups, `group`))
  GROUP BY `group`, topic, partition, until)
WINDOW along AS (PARTITION BY `group`, topic, partition ORDER BY until)
"""
"""Range that each commit finally passed: below it and all later ones, and not below the previous one and all later ones."""

_WORK = """
WITH sides AS (
  SELECT `group`, topic, placed, partition, offset, id, 'stored' AS side, CAST(NULL AS bigint) AS moment, state = 'open' AS open
  FROM {stored} JOIN {asked} USING (topic) WHERE state IN ('data', 'open')
  UNION ALL
  SELECT `group`, topic, placed, partition, offset, IF(placed, NULL, id), outcome, unix_millis(at), false
  FROM {ledger} JOIN {asked} USING (`group`, topic)),
together AS (
  SELECT `group`, topic, min(IF(side = 'stored', struct(partition, offset), NULL)) AS place, max(id) AS id,
         CAST(least(count_if(side = 'acked'), 2) AS int) AS processed, min(IF(side = 'acked', moment, NULL)) AS moment,
         bool_or(open) AS open, bool_or(side = 'unknown') AS untold
  FROM sides
  GROUP BY `group`, topic, IF(placed, NULL, id), IF(placed OR id IS NULL, struct(partition, offset), NULL)),
rows AS (
  SELECT `group`, topic, place.partition AS partition, place.offset AS at, 0 AS kind, id, processed, moment, open, untold,
         CAST(NULL AS struct<until: bigint, life: bigint>) AS passed
  FROM together WHERE place IS NOT NULL
  UNION ALL
  SELECT `group`, topic, partition, until, 1, NULL, NULL, NULL, NULL, NULL, struct(until, life) FROM {ranges}),
along AS (
  SELECT `group`, topic, partition, at AS offset, kind, id, processed, moment, open, untold,
         last(passed, true) OVER (PARTITION BY `group`, topic, partition ORDER BY at DESC, kind
                                  ROWS UNBOUNDED PRECEDING) AS passed
  FROM rows)
SELECT `group`, topic, partition, offset, IF(processed = 0, id, NULL) AS id, processed, moment, open, untold, passed.until,
       passed.life
FROM along WHERE kind = 0
"""
"""A row per group and stored record: how often it was processed, 2 for more, when first, and its range, if any."""

_SUMS = """
SELECT `group`, topic, partition, count_if(processed > 0) AS processed, count_if(processed > 1) AS twice,
       min(IF(processed > 0, offset, NULL)) AS low, max(IF(processed > 0, offset, NULL)) AS high
FROM {work} GROUP BY `group`, topic, partition
"""

_MISSED = """
WITH done AS (
  SELECT `group`, topic, partition, until, min(offset) AS first, max(offset) AS last, max(moment) AS latest
  FROM {work} WHERE processed > 0 AND until IS NOT NULL GROUP BY `group`, topic, partition, until),
ordered AS (
  SELECT *, min(moment) OVER (PARTITION BY `group`, topic, partition, life ORDER BY offset DESC
                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS soonest_behind
  FROM {work} WHERE processed > 0 AND until IS NOT NULL),
lives AS (
  SELECT `group`, topic, partition, life, bool_or(moment > soonest_behind) AS threads
  FROM ordered GROUP BY `group`, topic, partition, life)
SELECT w.`group`, w.topic, w.partition, w.offset, w.id, r.at, coalesce(r.since, least(s.low, w.until)) AS since, w.until,
       r.log_partition, r.source_offset, r.segment,
       s.matched,
       s.placed OR w.id IS NOT NULL AS named,
       r.since IS NOT NULL OR coalesce(w.offset >= s.low, false) AS begun,
       w.open,
       w.untold,
       coalesce(w.offset < s.low, true) AND coalesce(r.at < s.first, true) AS early,
       coalesce(r.at > s.last, w.offset > s.high, true) AS late,
       r.cleaned, r.members, r.forgotten,
       coalesce(w.offset < d.first, true) AS head,
       coalesce(w.offset > d.last, true) AS tail,
       r.next_life <> r.life AS changed,
       l.threads,
       d.latest > r.at AS after
FROM {work} w
JOIN {ranges} r USING (`group`, topic, partition, until)
JOIN {sums} s USING (`group`, topic, partition)
LEFT JOIN done d USING (`group`, topic, partition, until)
LEFT JOIN lives l ON w.`group` = l.`group` AND w.topic = l.topic AND w.partition = l.partition AND w.life <=> l.life
WHERE w.processed = 0
"""
_SUMMED = """
    `group` string, topic string, partition int, low bigint, high bigint, placed boolean, first bigint, last bigint,
    matched boolean
"""
_VERDICTS = "how string, " + ", ".join(f"{field} boolean" for field in Missed._fields)

_Key = tuple[str, str, int]
"""Group, topic and partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkEvidence:
    """Evidence on the work of groups.

    Args:
        ledgers: Processed records by group: rows of :data:`casebook.facts.records.LEDGER`; ``acked`` means processed.
        commits: Rows of :data:`casebook.questions.loss.scans.commit_history.COMMITS`; other groups are ignored.
        stored: Rows of :data:`casebook.facts.records.STORED`.
        limits: Limits of each read partition.
        complete: Epoch milliseconds up to which the ledgers are complete, if later than their last rows.
    """

    ledgers: "Mapping[str, DataFrame]"
    commits: "DataFrame"
    stored: "DataFrame"
    limits: Sequence[Limits]
    complete: int | None = None


class UnprocessedRecords(NamedTuple):
    """Result of the comparison.

    Args:
        work: Work by group, topic and partition: everything committed, and everything processed and read.
        first: The first :data:`MOST_RECORDS` unprocessed records, by group, topic, partition and offset.
        records: All of them, with the columns of ``unprocessed_rows.Unprocessed``: a Parquet.
    """

    work: tuple[GroupWork, ...]
    first: tuple[Unprocessed, ...]
    records: Path


def unprocessed(spark: "SparkSession", folder: Path, evidence: WorkEvidence) -> UnprocessedRecords:
    """Find committed but unprocessed records.

    Records are identified in a ledger by partition and offset when all its rows have both, else by id. Only stored records that a
    consumer receives are examined, so expired, compacted, aborted or unreadable ones never count as missing.

    Args:
        spark: From :func:`casebook.spark.session`.
        folder: Folder next to the case, for this evidence alone, with results written once.
        evidence: Evidence on at least one group.
    """
    ledger = _ledger(evidence.ledgers)
    groups = {row.group: row for row in spark.sql(_LEDGERS, ledger=ledger).collect()}
    asked = {"groups": sorted(evidence.ledgers)}
    ranges = kept(spark, folder / "ranges", lambda: spark.sql(_RANGES, asked, commits=evidence.commits))
    committed = _committed(ranges)
    work = kept(spark, folder / "work", lambda: _work(spark, evidence, ledger, ranges, _asked(groups, committed)))
    sums = {_key(row): row for row in spark.sql(_SUMS, work=work).collect()}
    marks = small(spark, _marks(sums, groups, evidence.complete), _SUMMED)
    missed = kept(spark, folder / "missed", lambda: spark.sql(_MISSED, work=work, ranges=ranges, sums=marks))
    counted = missed.groupBy("group", "topic", "partition", *Missed._fields).count().collect()
    records = kept(spark, folder / "unprocessed", lambda: _unprocessed(spark, missed, set(map(_signature, counted))))
    first = records.orderBy("group", "topic", "partition", "offset").limit(MOST_RECORDS).collect()
    scanned = {(of.topic, of.partition) for of in evidence.limits}
    return UnprocessedRecords(
        _of_groups(committed, sums, counted, scanned), tuple(Unprocessed(**row.asDict()) for row in first), folder / "unprocessed"
    )


def _ledger(ledgers: "Mapping[str, DataFrame]") -> "DataFrame":
    """Return all of them, with the group."""
    from pyspark.sql.functions import lit

    own = (ledger.where("outcome <> 'failed'").withColumn("group", lit(group)) for group, ledger in sorted(ledgers.items()))
    return reduce(lambda one, other: one.unionByName(other), own)


def _committed(ranges: "DataFrame") -> dict[_Key, int]:
    """Return the last committed offsets."""
    rows = ranges.groupBy("group", "topic", "partition").agg({"until": "max"}).collect()
    return {_key(row): row["max(until)"] for row in rows}


def _asked(groups: "Mapping[str, Row]", committed: Iterable[_Key]) -> list[tuple[str, str, bool]]:
    """Return group, topic, and whether its ledger has offsets."""
    topics = {(group, topic) for group, topic, _ in committed} | {
        (group, one) for group, row in groups.items() for one in row.topics
    }
    return [(group, topic, group in groups and groups[group].placed) for group, topic in sorted(topics)]


def _work(
    spark: "SparkSession",
    evidence: WorkEvidence,
    ledger: "DataFrame",
    ranges: "DataFrame",
    asked: Sequence[tuple[str, str, bool]],
) -> "DataFrame":
    wanted = small(spark, asked, "`group` string, topic string, placed boolean")
    return spark.sql(_WORK, ledger=ledger, stored=evidence.stored, ranges=ranges, asked=wanted)


def _marks(sums: "Mapping[_Key, Row]", groups: "Mapping[str, Row]", complete: int | None) -> list[tuple]:
    """Return values common to all unprocessed records of a partition and group."""
    matched = {group for (group, *_), row in sums.items() if row.processed}
    found = []
    for (group, *place), row in sums.items():
        told = groups.get(group)
        ends = [end for end in (told and told.last, complete) if end is not None]
        mine = (told.placed, told.first) if told else (False, None)
        found.append((group, *place, row.low, row.high, *mine, max(ends, default=None), group in matched))
    return found


def _unprocessed(spark: "SparkSession", missed: "DataFrame", signatures: Iterable[Missed]) -> "DataFrame":
    verdicts = ((verdict(signature), signature) for signature in signatures)
    told = [(label.value, *signature) for label, signature in verdicts if isinstance(label, SkipKind)]
    labels = small(spark, told, _VERDICTS)
    same = " AND ".join(f"m.{field} <=> v.{field}" for field in Missed._fields)
    columns = "m.id, m.topic, m.partition, m.offset, m.`group`, v.how, m.at AS committed_at"
    proof = "m.since, m.until, m.log_partition, m.source_offset, m.segment"
    return spark.sql(f"SELECT {columns}, {proof} FROM {{missed}} m JOIN {{labels}} v ON {same}", missed=missed, labels=labels)


def _of_groups(
    committed: Mapping[_Key, int], sums: "Mapping[_Key, Row]", counted: "Sequence[Row]", scanned: set[Partition]
) -> tuple[GroupWork, ...]:
    by_key: dict[_Key, dict[str, int]] = defaultdict(dict)
    for row in counted:
        found, label = by_key[_key(row)], verdict(_signature(row))
        found[label] = found.get(label, 0) + row["count"]
    touched = committed.keys() | {key for key, row in sums.items() if row.processed}
    return tuple(
        _group_work(key, committed.get(key), sums.get(key), by_key[key])
        if key[1:] in scanned
        else GroupWork(*key, committed.get(key), None, None, None, {}, {UnprocessedDoubt.NOT_SCANNED.value: None})
        for key in sorted(touched)
    )


def _group_work(key: _Key, committed: int | None, sums: "Row | None", counted: Mapping[str, int]) -> GroupWork:
    hows = {kind.value: counted[kind] for kind in SkipKind if kind in counted}
    doubts = {doubt.value: counted[doubt] for doubt in UnprocessedDoubt if doubt in counted}
    processed, twice = (sums.processed, sums.twice) if sums else (0, 0)
    return GroupWork(*key, committed, processed, twice, sum(hows.values()), hows, doubts)


def _key(row: "Row") -> _Key:
    return row.group, row.topic, row.partition


def _signature(row: "Row") -> Missed:
    return Missed(**{field: row[field] for field in Missed._fields})
