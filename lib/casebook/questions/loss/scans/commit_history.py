"""All commits of groups in effective order, from the segments of ``__consumer_offsets``.

A commit takes effect when appended; a transactional one at its COMMIT, like in a loader (see :mod:`casebook.kafka.group_load`). A
tombstone is not a commit: it marks the next one as following a forgotten offset.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.questions.loss.analysis.commit_history import CommitMove, steps
from casebook.questions.loss.analysis.unprocessed_rows import CommitStep
from casebook.spark.segments import segments
from casebook.spark.small import small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COMMITS = """
    `group` string, topic string, partition int, offset bigint, at bigint, expires bigint, metadata string, log_partition int,
    segment bigint, source_offset bigint, place bigint, cleaned boolean, torn boolean, life bigint, members boolean,
    before bigint, before_at bigint, forgotten boolean
"""
"""Columns of the history.

``at`` and ``expires`` are epoch ms; ``source_offset`` is the record's own, ``place`` the offset at which it takes effect;
``cleaned``: earlier ones may have been removed by compaction, or, with ``torn``, were unreadable. ``life`` is the offset of the
group's last state at the append, ``members`` whether that has any. ``before`` is the previously committed offset, ``before_at``
its time; ``forgotten``: a tombstone came between. Null is unknown.
"""

MOST_STEPS = 1_000
"""Maximum number of listed irregular commits."""

_HISTORY = """
WITH records AS (
  SELECT kind, `group`, topic, partition, committed, metadata, unix_millis(commit_time) AS at,
         unix_millis(expire_time) AS expires, log_partition, segment, log_offset, producer_id, control_type,
         coalesce(transactional, false) AND kind = 'commit' AS transactional, coalesce(tombstone, false) AS tombstone,
         coalesce(size(members), 0) > 0 AS members,
         bool_or(kind = 'damage' AND NOT coalesce(tail, false)) OVER (PARTITION BY log_partition) AS torn,
         log_offset AS place
  FROM {raw}
  WHERE kind IN ('control', 'damage') OR (kind IN ('commit', 'group') AND array_contains(:groups, `group`))),
ended AS (
  SELECT *, last(IF(kind = 'control', struct(log_offset, control_type), NULL), true)
            OVER (PARTITION BY log_partition, producer_id ORDER BY log_offset DESC) AS marker
  FROM records WHERE transactional OR control_type IN ('commit', 'abort')),
applied AS (
  SELECT *, lead(log_offset) OVER (PARTITION BY log_partition, producer_id, marker, `group`, topic, partition
                                   ORDER BY log_offset) IS NULL AS last
  FROM ended WHERE transactional AND marker.control_type = 'commit'),
placed AS (
  SELECT * FROM records WHERE kind IN ('commit', 'group') AND NOT transactional
  UNION ALL
  SELECT * EXCEPT (place, marker, last), marker.log_offset AS place FROM applied WHERE last AND NOT tombstone),
lived AS (
  SELECT *, last(IF(kind = 'group', struct(log_offset, members), NULL), true)
            OVER (PARTITION BY log_partition, `group` ORDER BY log_offset) AS state
  FROM placed),
counted AS (
  SELECT *, count_if(tombstone) OVER (PARTITION BY log_partition, `group`, topic, partition ORDER BY place, log_offset) AS lost
  FROM lived WHERE kind = 'commit'),
known AS (
  SELECT *, max(IF(tombstone, NULL, log_offset))
            OVER (PARTITION BY log_partition, `group`, topic, partition, lost ORDER BY place, log_offset
                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS younger
  FROM counted),
visible AS (
  SELECT * FROM known WHERE NOT tombstone AND NOT coalesce(younger > log_offset, false))
SELECT `group`, topic, partition, committed AS offset, at, expires, metadata, log_partition, segment, log_offset AS source_offset,
       place, torn OR coalesce(log_offset < cleaned_to, true) AS cleaned, torn,
       state.log_offset AS life, state.members AS members,
       lag(committed) OVER key AS before, lag(at) OVER key AS before_at, coalesce(lag(lost) OVER key, lost) < lost AS forgotten
FROM visible LEFT JOIN {compacted} USING (log_partition)
WINDOW key AS (PARTITION BY log_partition, `group`, topic, partition ORDER BY place, log_offset)
"""

_ODD = """
SELECT `group`, topic, partition, before, offset, before_at, at, members, forgotten, log_partition, source_offset, segment
FROM {history}
WHERE before IS NOT NULL AND (offset < before OR at < before_at OR (offset <> before AND (forgotten OR NOT members)))
ORDER BY `group`, topic, partition, place
"""


def history(
    spark: "SparkSession", places: Sequence[Path | str], groups: Collection[str], *, cleaned: Mapping[int, int | None]
) -> "DataFrame":
    """Return all commits of groups, with the columns of :data:`COMMITS`, lazily, without those of aborted and open transactions.

    Args:
        spark: From :func:`casebook.spark.session`.
        places: As for :func:`casebook.spark.segments`; one copy per partition of ``__consumer_offsets``.
        groups: Groups; at least one.
        cleaned: Offset up to which each partition is compacted, 0 for never; with ``None``, or without an entry, all of it may
            be.
    """
    return of_records(spark, segments(spark, *places, mode="group_records"), groups, cleaned=cleaned)


def of_records(
    spark: "SparkSession", raw: "DataFrame", groups: Collection[str], *, cleaned: Mapping[int, int | None]
) -> "DataFrame":
    """Return the same from rows of the mode ``group_records``."""
    known = [(partition, offset) for partition, offset in cleaned.items() if offset is not None]
    compacted = small(spark, known, "log_partition int, cleaned_to bigint")
    return spark.sql(_HISTORY, args={"groups": sorted(groups)}, raw=raw, compacted=compacted)


def odd_steps(
    spark: "SparkSession",
    commits: "DataFrame",
    *,
    log_starts: Mapping[tuple[str, int], int],
    coordinator_moves: Mapping[int, Sequence[int]],
) -> tuple[tuple[CommitStep, ...], int]:
    """Return irregular commits.

    Args:
        spark: From :func:`casebook.spark.session`.
        commits: Result of :func:`history`.
        log_starts: Log start offsets, as far as known.
        coordinator_moves: Leader changes of each partition of ``__consumer_offsets``, epoch ms.

    Returns:
        The first :data:`MOST_STEPS` by group, partition and order, and how many there are.
    """
    found = spark.sql(_ODD, history=commits)
    rows = found.limit(MOST_STEPS + 1).collect()
    moves = [CommitMove(**row.asDict()) for row in rows[:MOST_STEPS]]
    told = steps(moves, log_starts=log_starts, coordinator_moves=coordinator_moves)
    return told, len(rows) if len(rows) <= MOST_STEPS else found.count()
