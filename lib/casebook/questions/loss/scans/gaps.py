"""Missing offsets between the records of a scan: Spark finds and counts them, ``analysis.gaps`` names the cause.

Records become runs first: a batch of a segment, or up to 64 offsets of a live topic, with their presence as bits of a word. So
only runs are sorted, whatever the number of records. Columns of runs:

- ``topic``, ``partition``, ``segment`` and ``position`` (of a batch; null of a live topic), ``first``, ``end`` (the offset after
  the last), ``records``, ``epoch`` (the leader's), ``first_time``, ``last_time``;
- ``kind``: ``data``; ``control``; of a transaction ``aborted``, or ``open`` when it has not ended or its end is unknown;
  ``damage``, without offsets unless a batch is sound but for its content; ``gap``, offsets that a live scan reports as unread.

The next marker of its producer shows how a transaction ended, unless something before it was unreadable, such as an earlier
marker. Compaction keeps a marker as long as records of its transaction exist (``LogCleaner.scala@2.8.2``,
``CleanedTransactionMetadata``).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.facts.disks import EpochStart, Partition
from casebook.questions.loss.analysis.gaps import GapKind, GapPlace, GapSignature, OffsetGap, bounded, hides, kind
from casebook.spark.segments import segments
from casebook.spark.small import small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SEGMENTS = """
WITH parts AS (
  SELECT log_topic AS topic, log_partition AS partition, segment, position, base_offset, last_offset, records, leader_epoch,
         producer_id, transactional, control, kind = 'damage' AS damaged, first_time, max_time, 0 AS decoded,
         CAST(NULL AS int) AS ended
  FROM {headers}
  UNION ALL
  SELECT log_topic, log_partition, segment, position, offset, offset, NULL, NULL,
         NULL, NULL, NULL, kind = 'damage', NULL, NULL, int(kind = 'data'),
         CASE control_type WHEN 'commit' THEN 1 WHEN 'abort' THEN 0 END
  FROM {decoded}),
batches AS (
  SELECT topic, partition, segment, position, min(base_offset) AS stated, max(last_offset) + 1 AS end,
         coalesce(max(records), nullif(sum(decoded), 0)) AS records, max(leader_epoch) AS epoch, max(producer_id) AS producer,
         coalesce(bool_or(transactional), false) AS transactional, coalesce(bool_or(control), false) AS control,
         bool_or(damaged) AS damaged, max(ended) AS ended, coalesce(min(first_time), min(max_time)) AS first_time,
         max(max_time) AS last_time
  FROM parts GROUP BY topic, partition, segment, position),
placed AS (
  SELECT *, coalesce(stated, IF(end IS NULL, NULL, before_end)) AS first
  FROM (SELECT *, max(end) OVER (PARTITION BY topic, partition ORDER BY segment, position
                                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_end FROM batches)),
counted AS (
  SELECT p.*, sum(int(damaged OR (first > before_end AND NOT coalesce(compacted, false))))
              OVER (PARTITION BY p.topic, p.partition ORDER BY segment, position) AS holes
  FROM placed p LEFT JOIN {known} k ON p.topic = k.topic AND p.partition = k.partition),
decided AS (
  SELECT *, last(IF(ended IS NULL, NULL, struct(ended, holes)), true)
            OVER (PARTITION BY topic, partition, producer ORDER BY segment DESC, position DESC
                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS marker
  FROM counted)
SELECT topic, partition, segment, position, first, end, CAST(records AS bigint) AS records, epoch, first_time, last_time,
       CASE WHEN damaged THEN 'damage'
            WHEN control THEN 'control'
            WHEN NOT transactional THEN 'data'
            WHEN marker IS NULL OR marker.holes <> holes THEN 'open'
            WHEN marker.ended = 1 THEN 'data'
            ELSE 'aborted' END AS kind
FROM decided
"""

_WORDS = """
SELECT topic, partition, shiftright(offset, 6) AS word, leader_epoch AS epoch, min(at) AS first_time, max(at) AS last_time,
       bit_or(shiftleft(1L, CAST(offset & 63 AS int))) AS bits
FROM {rows} WHERE kind = 'data' AND offset IS NOT NULL GROUP BY topic, partition, word, leader_epoch
"""

_OFFSETS = """
WITH runs AS (
  SELECT *, explode(arrays_zip(
              filter(IF(bits = -1, array(0), sequence(0, 63)), i -> getbit(bits & ~shiftleft(bits, 1), i) = 1),
              filter(IF(bits = -1, array(63), sequence(0, 63)), i -> getbit(bits & ~shiftrightunsigned(bits, 1), i) = 1))) AS run
  FROM {words})
SELECT topic, partition, CAST(NULL AS bigint) AS segment, CAST(NULL AS bigint) AS position, 64 * word + run['0'] AS first,
       64 * word + run['1'] + 1 AS end, CAST(run['1'] - run['0'] + 1 AS bigint) AS records, epoch, first_time, last_time,
       'data' AS kind
FROM runs
UNION ALL
SELECT topic, partition, NULL, NULL, offset, gap_end, NULL, NULL, NULL, NULL, 'gap' FROM {rows} WHERE kind = 'gap'
"""

_MISSING = """
WITH ordered AS (
  SELECT *, try_element_at(epochs, epoch) AS epoch_start, row_number() OVER runs AS number,
         greatest(log_start, min(segment) OVER runs) AS begin,
         max(end) OVER before AS before_end, last(epoch, true) OVER before AS before_epoch,
         coalesce(lag(kind) OVER runs = 'damage', false) AS after_damage,
         row_number() OVER runs = count(*) OVER (PARTITION BY topic, partition) AS is_last
  FROM {runs} FULL OUTER JOIN {known} USING (topic, partition)
  WINDOW runs AS (PARTITION BY topic, partition ORDER BY segment, position, first),
         before AS (PARTITION BY topic, partition ORDER BY segment, position, first
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
pieces AS (
  SELECT *, explode(array(
    IF(number = 1, named_struct('place', 'start', 'first', 0L, 'end', begin, 'missing', begin, 'damaged', false), NULL),
    IF(first IS NOT NULL AND kind <> 'gap',
       named_struct('place', 'between', 'first', coalesce(before_end, begin), 'end', first,
                    'missing', first - coalesce(before_end, begin), 'damaged', after_damage), NULL),
    IF(kind = 'control' OR (kind = 'aborted' AND :committed) OR kind = 'damage' AND end IS NOT NULL,
       named_struct('place', kind, 'first', first, 'end', end, 'missing', end - first, 'damaged', false), NULL),
    IF(kind = 'gap', named_struct('place', 'unread', 'first', first, 'end', end, 'missing', end - first, 'damaged', false), NULL),
    IF(kind IN ('data', 'aborted', 'open'),
       named_struct('place', 'inside', 'first', first, 'end', end, 'missing', end - first - records, 'damaged', false), NULL),
    IF(is_last AND kind = 'damage' AND end IS NULL,
       named_struct('place', 'damage', 'first', coalesce(before_end, begin), 'end', NULL, 'missing', NULL, 'damaged', false),
       NULL),
    IF(is_last AND NOT (coalesce(kind, '') = 'damage' AND end IS NULL),
       named_struct('place', 'behind', 'first', coalesce(greatest(before_end, end), begin), 'end', known_end,
                    'missing', known_end - coalesce(greatest(before_end, end), begin), 'damaged', false), NULL))) AS piece
  FROM ordered)
SELECT topic, partition, piece.first, piece.end, piece.missing, piece.place, piece.damaged,
       coalesce(piece.missing = 1, false) AS single, piece.place = 'between' AND epoch > before_epoch AS epoch_rises,
       epoch_start = pieces.first AS epoch_begins,
       piece.end <= cleaned AS cleaned, compacted, :told AS control_seen, :told OR NOT :committed AS aborted_seen
FROM pieces
WHERE piece IS NOT NULL AND (piece.missing > 0 OR piece.missing IS NULL AND piece.place IN ('damage', 'unread'))
"""
_KNOWN = (
    "topic string, partition int, log_start bigint, known_end bigint, cleaned bigint, compacted boolean, epochs map<int, bigint>"
)
_SIGNATURE = ", ".join(GapSignature._fields)


class KnownCopy(NamedTuple):
    """Known data of a partition's copy besides its records.

    Args:
        topic: Topic name.
        partition: Partition number.
        log_start: Log start offset.
        end: Minimum end of its records: the log end, or the start of its last segment.
        cleaned: Cleaner point: first uncleaned offset.
        compacted: Whether the topic is.
        epochs: From the leader-epoch checkpoint.
    """

    topic: str
    partition: int
    log_start: int | None = None
    end: int | None = None
    cleaned: int | None = None
    compacted: bool | None = None
    epochs: Sequence[EpochStart] = ()


class ReadExtent(NamedTuple):
    """Read part of a partition.

    Args:
        end: Offset after the last.
        first_time: Time of the first records, epoch ms.
        undecided: Number of batches of aborted and open transactions.
    """

    end: int
    first_time: int | None
    undecided: int


def of_segments(spark: "SparkSession", places: Sequence[Path | str], known: Sequence[KnownCopy]) -> "DataFrame":
    """Return runs of the batches of segments.

    Their content is decoded too: a batch with a valid checksum may still be unreadable.

    Args:
        spark: From :func:`casebook.spark.session`.
        places: As for :func:`casebook.spark.segments`; one copy per partition.
        known: What is known of the partitions.
    """
    headers = segments(spark, *places, mode="batches")
    decoded = segments(spark, *places).where("kind <> 'data' OR (magic < 2 AND codec <> 'none')")
    return spark.sql(_SEGMENTS, headers=headers, decoded=decoded, known=_frame(spark, known))


def of_offsets(spark: "SparkSession", rows: "DataFrame") -> "DataFrame":
    """Return runs of single offsets.

    Args:
        spark: From :func:`casebook.spark.session`.
        rows: ``topic``, ``partition``, ``kind`` (``data`` or ``gap``), ``offset``, ``gap_end``, ``at``, ``leader_epoch``, in any
            order.
    """
    return spark.sql(_OFFSETS, words=words(spark, rows), rows=rows)


def words(spark: "SparkSession", rows: "DataFrame") -> "DataFrame":
    """Return the existing offsets: a bit for each, 64 per ``word``, by topic, partition and leader epoch.

    Arguments as in :func:`of_offsets`.
    """
    return spark.sql(_WORDS, rows=rows)


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """Missing offsets of a scan.

    Args:
        spark: From :func:`casebook.spark.session`.
        runs: Rows in this module's format; read more than once, so preferably from a file. Runs of the kinds ``control`` and
            ``aborted`` from segments may complement those of a live topic, which does not show them.
        known: What is known of the partitions.
        committed: Whether the scan did not see aborted records by design.
        told: Whether the runs include control batches and aborted records, if there are any.
    """

    spark: "SparkSession"
    runs: "DataFrame"
    known: Sequence[KnownCopy]
    committed: bool = False
    told: bool = True

    def counts(self) -> list[OffsetGap]:
        """Return missing offsets by partition and label: a few rows per partition."""
        found: dict[tuple[str, int, GapKind], OffsetGap] = {}
        for row in self._signed:
            label = kind(_signature(row))
            key = row.topic, row.partition, label
            one = OffsetGap(*key, row.ranges, row.offsets, row.first, row.end)
            found[key] = _together(found[key], one) if key in found else one
        return [found[key] for key in sorted(found)]

    def unreadable(self) -> dict[Partition, tuple[tuple[int, int | None], ...]]:
        """Return ranges that may have had a record readable elsewhere, by partition and offset, end excluded."""
        hiding = {signature for row in self._signed if hides(signature := _signature(row))}
        if not hiding:
            return {}
        rows = self._of(hiding).orderBy("topic", "partition", "first").toLocalIterator()
        by_partition = groupby(rows, key=lambda row: (row.topic, row.partition))
        return {partition: bounded((row.first or 0, row.end) for row in some) for partition, some in by_partition}

    def clean_ends(self) -> Mapping[Partition, int]:
        """Return the offset after the highest removed by compaction, by partition."""
        return {(gap.topic, gap.partition): gap.end for gap in self.counts() if gap.kind is GapKind.COMPACTION and gap.end}

    @cached_property
    def extents(self) -> dict[Partition, ReadExtent]:
        """Return the read part, by partition."""
        query = """
            SELECT topic, partition, max(end) AS end, unix_millis(min_by(first_time, first)) AS first_time,
                   count_if(kind IN ('aborted', 'open')) AS undecided
            FROM {runs} WHERE kind IN ('data', 'control', 'aborted', 'open') GROUP BY topic, partition"""
        rows = self.spark.sql(query, runs=self.runs).collect()
        return {(row.topic, row.partition): ReadExtent(row.end, row.first_time, row.undecided) for row in rows}

    def _of(self, signatures: Collection[GapSignature]) -> "DataFrame":
        """Return the ranges with one of these signatures."""
        columns = (
            "place string, damaged boolean, single boolean, epoch_rises boolean, epoch_begins boolean, cleaned boolean, "
            "compacted boolean, control_seen boolean, aborted_seen boolean"
        )
        chosen = small(self.spark, signatures, columns)
        same = " AND ".join(f"m.{name} <=> w.{name}" for name in GapSignature._fields)
        return self.spark.sql(
            f"SELECT topic, partition, first, end FROM {{missing}} m WHERE EXISTS (SELECT 1 FROM {{wanted}} w WHERE {same})",
            missing=self._missing,
            wanted=chosen,
        )

    @cached_property
    def _missing(self) -> "DataFrame":
        given = {"committed": self.committed, "told": self.told}
        return self.spark.sql(_MISSING, args=given, runs=self.runs, known=_frame(self.spark, self.known))

    @cached_property
    def _signed(self) -> list:
        query = f"""
            SELECT topic, partition, {_SIGNATURE}, count(*) AS ranges,
                   IF(count_if(missing IS NULL) > 0, NULL, sum(missing)) AS offsets, min(first) AS first,
                   IF(count_if(end IS NULL) > 0, NULL, max(end)) AS end
            FROM {{missing}} GROUP BY topic, partition, {_SIGNATURE}"""
        return self.spark.sql(query, missing=self._missing).collect()


def _frame(spark: "SparkSession", known: Sequence[KnownCopy]) -> "DataFrame":
    rows = [(*of[:-1], [(line.epoch, line.start_offset) for line in of.epochs]) for of in known]
    return small(spark, rows, _KNOWN)


def _signature(row: object) -> GapSignature:
    told = {name: row[name] for name in GapSignature._fields}
    return GapSignature(**told | {"place": GapPlace(row.place)})


def _together(one: OffsetGap, other: OffsetGap) -> OffsetGap:
    """Merge ranges with the same label and different signatures."""
    offsets = None if None in (one.offsets, other.offsets) else one.offsets + other.offsets
    firsts = [first for first in (one.first, other.first) if first is not None]
    end = None if None in (one.end, other.end) else max(one.end, other.end)
    return one._replace(ranges=one.ranges + other.ranges, offsets=offsets, first=min(firsts, default=None), end=end)
