"""One pass over the segments of the offsets topic: their content by segment, key and hour, the source of everything else.

``kafka_segments`` in mode ``group_keys`` aggregates in the reader; its partial rows are merged here and written as a small
Parquet in the case. A row represents the records of one key, in one segment, in one hour, with the columns of the last of them;
records of transactions, markers and damage have a row each, as their order matters. Keys of versions 0 and 1 are the same key
(``OffsetCommitKey.json@3.9.0``). Times are epoch milliseconds.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from casebook.spark.segments import of_brokers

HOUR = 3_600_000

MERGED = f"""
SELECT broker, log_partition, segment, kind, newer, transactional, `group`, topic, partition, hour,
       sum(records) AS records, sum(bytes) AS bytes, sum(tombstones) AS tombstones,
       min(first_offset) AS first_offset, min(first_time) AS first_time, max(last_time) AS last_time,
       max(batch) AS largest_batch, sum(damaged_bytes) AS damaged_bytes, max_by(last, at) AS last
FROM (
  SELECT broker, log_partition, segment, kind, `group`, topic, partition,
         CASE WHEN kind = 'newer' THEN coalesce(reason, concat('key version ', key_version)) END AS newer,
         coalesce(transactional, false) AND kind = 'commit' AS transactional,
         CASE WHEN kind IN ('control', 'damage') OR transactional THEN coalesce(log_offset, position) END AS alone,
         CASE WHEN kind IN ('commit', 'group')
              THEN floor(unix_millis(coalesce(commit_time, timestamp)) / {HOUR}) * {HOUR} END AS hour,
         CASE WHEN kind = 'damage' THEN 0 ELSE coalesce(records, 1) END AS records,
         CASE WHEN kind = 'damage' THEN 0 ELSE coalesce(bytes, size, 0) END AS bytes,
         coalesce(tombstones, CAST(tombstone AS INT), 0) AS tombstones,
         coalesce(first_offset, log_offset) AS first_offset,
         unix_millis(coalesce(first_time, commit_time, timestamp)) AS first_time,
         unix_millis(coalesce(last_time, commit_time, timestamp)) AS last_time,
         coalesce(max_batch_bytes, batch_bytes) AS batch,
         coalesce(damaged_bytes, 0) AS damaged_bytes,
         coalesce(log_offset, position) AS at,
         struct(log_offset, size, coalesce(tombstone, false) AS tombstone, value_version, committed,
                unix_millis(commit_time) AS commit_time, unix_millis(expire_time) AS expire_time,
                producer_id, control_type, protocol_type, generation, protocol, leader,
                unix_millis(state_time) AS state_time, members, file, position, reason, tail) AS last
  FROM {{raw}})
GROUP BY broker, log_partition, segment, kind, newer, transactional, `group`, topic, partition, hour, alone
"""


def aggregate(spark: object, sources: Mapping[int, Sequence[Path | str]], target: str) -> None:
    """Read the segments once and write the aggregate.

    Args:
        spark: From :func:`casebook.spark.session`.
        sources: Folders, bundles or segments of ``__consumer_offsets``, by broker; at least one.
        target: Path or URI of the Parquet to write.
    """
    write(spark, of_brokers(spark, sources, mode="group_keys"), target)


def write(spark: object, raw: object, target: str) -> None:
    """Merge the reader's partial rows, with an additional column ``broker``, and write them to a path or URI.

    Rows are sorted by group, metadata first, so that they can be read group by group.
    """
    merged = spark.sql(MERGED, raw=raw).repartition("broker", "log_partition", "group")
    merged = merged.sortWithinPartitions("broker", "log_partition", "group", "topic", "partition")
    merged.write.mode("overwrite").option("compression", "zstd").parquet(target)
