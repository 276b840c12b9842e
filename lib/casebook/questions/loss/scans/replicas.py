"""Compare copies of partitions: first by batch, then by record where batches differ.

A follower stores its leader's batches unchanged, so copies agree when offset, leader epoch, size and checksum of a batch do.
Otherwise only the batch boundaries may differ, as after compaction or a format change; there the records decide, by key, value
and, if their formats have them, time and headers. The result are ranges, whatever their number of records: a partition has at
most :data:`MOST_RUNS` of them, and then one per kind of difference.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.facts.copies import Absent, Compared, Copy, CopyContent, RecordRun
from casebook.facts.disks import LogDir, Partition, Replica
from casebook.questions.loss.analysis.divergence import copies_of
from casebook.spark.copies import cleaned_to, is_here, places, segment, shortfalls
from casebook.spark.segments import of_brokers
from casebook.spark.session import watched
from casebook.spark.small import small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

Progress = Callable[[int, int | None], None]

MOST_ISLANDS = 100
"""Maximum ranges of differing batches per partition: later ones are merged."""
MOST_RUNS = 1000
"""Maximum runs of records per partition: later equal ones are merged."""

_ENDS = """
SELECT broker, topic, partition, min(first) AS first, max(last) AS last, max(epoch) AS epoch,
       sum(damaged) - max_by(IF(last IS NULL, 0, tail), segment) AS damaged
FROM (
  SELECT broker, log_topic AS topic, log_partition AS partition, segment, min(coalesce(base_offset, last_offset)) AS first,
         max(last_offset) AS last, max(leader_epoch) AS epoch, sum(coalesce(damaged_bytes, 0)) AS damaged,
         sum(IF(tail, damaged_bytes, 0)) AS tail
  FROM {batches}
  GROUP BY broker, log_topic, log_partition, segment)
GROUP BY broker, topic, partition
"""
"""Start, end and damage of each copy. A torn end after sound batches of its last segment is no damage."""

_ISLANDS = """
SELECT topic, partition, min(coalesce(common, -1)) + 1 AS first, max(last_offset) AS last,
       array_sort(array_distinct(flatten(collect_set(files)))) AS files
FROM (
  SELECT *, sum(IF(differs AND NOT coalesce(before, false), 1, 0)) OVER along AS island
  FROM (
    SELECT *, lag(differs) OVER along AS before, max(IF(differs, NULL, last_offset)) OVER along AS common
    FROM (
      SELECT log_topic AS topic, log_partition AS partition, last_offset, count(DISTINCT broker) < any_value(slots) AS differs,
             collect_set(struct(broker, segment)) AS files
      FROM {batches} JOIN {logs} l ON log_topic = l.topic AND log_partition = l.partition
      WHERE kind = 'batch'
      GROUP BY log_topic, log_partition, base_offset, last_offset, leader_epoch, bytes, crc)
    WINDOW along AS (PARTITION BY topic, partition ORDER BY last_offset, differs))
  WINDOW along AS (PARTITION BY topic, partition ORDER BY last_offset, differs ROWS UNBOUNDED PRECEDING))
WHERE differs OR island >= :most
GROUP BY topic, partition, least(island, :most)
"""
"""Ranges in which not all copies have the same batch: between two common ones, whatever the boundaries in between.

The last range of a partition with too many also contains common batches, so that it is read from all.
"""

_RECORDS = """
SELECT i.topic, i.partition, island, slot, offset, magic,
       struct(xxhash64(key IS NULL, key, value IS NULL, value) AS said, unix_millis(timestamp) AS at,
              xxhash64(headers) AS headed, leader_epoch AS epoch, kind = 'data' AS data, size,
              IF(length(key) <= 64, key, NULL) AS key) AS record
FROM {records} r JOIN {islands} i
  ON r.broker = i.broker AND log_topic = i.topic AND log_partition = i.partition AND offset BETWEEN first AND last
"""


def compare(
    spark: "SparkSession",
    log_dirs: Iterable[LogDir],
    *,
    wanted: Callable[[Replica], bool] = lambda _: True,
    progress: Progress | None = None,
) -> Compared:
    """Find where the copies of partitions differ, and the content of each there.

    Checksums of all batches are verified, to distinguish damage from difference; records are read only from segments with
    differing batches. Batches with the same offset, leader epoch, size and stored checksum count as equal.

    Args:
        spark: From :func:`casebook.spark.session`.
        log_dirs: Log dirs of at least two brokers; a partition with one copy has no difference, but is among the copies.
        wanted: Selects replicas to examine.
        progress: Receives the number of finished and of known tasks from time to time.

    Returns:
        All copies, and by topic, partition and offset the runs in which they differ. A copy whose folder is not on this machine,
        or has lost its segments, is not among them.
    """
    listed = {
        (replica.topic, replica.partition, replica.broker): (replica, log_dir)
        for log_dir in log_dirs
        for replica in log_dir.replicas
        if wanted(replica) and is_here(replica)
    }
    if not listed:
        return Compared()
    replicas = [replica for replica, _ in listed.values()]
    ends = _ends(spark, [replica for replica in replicas if replica.segments], progress)
    read = {(row.topic, row.partition, row.broker): row for row in ends}
    copies = tuple(_copy(*listed[place], read.get(place)) for place in sorted(listed))
    several = {partition: own for partition, own in copies_of(copies).items() if len(own) > 1}
    if not several:
        return Compared(copies)
    found = _Comparison(spark, several, {place: replica for place, (replica, _) in listed.items()}, progress)
    return Compared(copies, found.runs())


def _ends(spark: "SparkSession", replicas: Sequence[Replica], progress: Progress | None) -> list["Row"]:
    if not replicas:
        return []
    ends = spark.sql(_ENDS, batches=of_brokers(spark, places(replicas), mode="batches"))
    return watched(spark, ends.collect, what="reading the copies of partitions", progress=progress)


def _copy(replica: Replica, log_dir: LogDir, read: "Row | None") -> Copy:
    """Return a copy from its read and its listed values: an empty log has no batches, but a start and an end."""
    bases = [segment.base_offset for segment in replica.segments]
    start = min(bases, default=read.first if read and read.first is not None else 0)
    end = read.last + 1 if read and read.last is not None else start
    epochs = [epoch for epoch in (read and read.epoch, *(line.epoch for line in replica.epochs)) if epoch is not None]
    return Copy(
        broker=replica.broker,
        topic=replica.topic,
        partition=replica.partition,
        start=max(start, replica.log_start or 0),
        end=max(end, *bases, replica.log_start or 0),
        epoch=max(epochs, default=None),
        cleaned_to=cleaned_to(replica, log_dir),
        damaged_bytes=(read.damaged if read else 0) + sum(short.bytes for short in shortfalls(replica)),
    )


class _Comparison:
    """Comparison of partitions with several copies. Each copy has a slot: its index among those of its partition, by broker."""

    def __init__(
        self,
        spark: "SparkSession",
        copies: Mapping[Partition, Sequence[Copy]],
        replicas: Mapping[tuple[str, int, int], Replica],
        progress: Progress | None,
    ) -> None:
        self._spark, self._copies, self._replicas, self._progress = spark, copies, replicas, progress
        self._slots = range(max(map(len, copies.values())))

    def runs(self) -> tuple[RecordRun, ...]:
        islands = self._islands()
        if not islands:
            return ()
        rows = self._watched(self._related(islands), "holding records against each other")
        return tuple(map(self._run, sorted(rows, key=lambda r: (r.topic, r.partition, r.first_offset, r.relation))))

    def _watched(self, frame: "DataFrame", what: str) -> list["Row"]:
        return watched(self._spark, frame.collect, what=what, progress=self._progress)

    def _islands(self) -> list["Row"]:
        compared = [self._replicas[copy.topic, copy.partition, copy.broker] for own in self._copies.values() for copy in own]
        filled = [replica for replica in compared if replica.segments]
        if not filled:
            return []
        batches = of_brokers(self._spark, places(filled), mode="batches", crc=False)
        found = self._spark.sql(_ISLANDS, {"most": MOST_ISLANDS}, batches=batches, logs=self._logs())
        return self._watched(found, "holding batches against each other")

    def _logs(self) -> "DataFrame":
        """Return a row per partition.

        Its number of copies, and for each its start, end, and the offset up to which gaps prove nothing.
        """
        names = [f"{what}_{slot}" for slot in self._slots for what in ("start", "end", "cleaned")]
        rows = []
        for (topic, partition), own in self._copies.items():
            limits = [limit for copy in own for limit in (copy.start, copy.end, _silent_to(copy))]
            rows.append((topic, partition, len(own), *limits, *[None] * (len(names) - len(limits))))
        schema = ", ".join(("topic string", "partition int", "slots int", *(f"{name} bigint" for name in names)))
        return small(self._spark, rows, schema)

    def _related(self, islands: Sequence["Row"]) -> "DataFrame":
        """Return runs of records with equal relations between the copies, without those in which all agree."""
        ranges = [
            (copy.broker, slot, row.topic, row.partition, island, max(row.first, copy.start), row.last)
            for island, row in enumerate(islands)
            for slot, copy in enumerate(self._copies[row.topic, row.partition])
        ]
        schema = "broker int, slot int, topic string, partition int, island int, first bigint, last bigint"
        records = of_brokers(self._spark, self._files(islands), mode="records")
        records = records.where(f"offset BETWEEN {min(row.first for row in islands)} AND {max(row.last for row in islands)}")
        told = self._spark.sql(_RECORDS, records=records, islands=small(self._spark, ranges, schema))
        return self._spark.sql(_runs_of(self._slots), told=told, logs=self._logs())

    def _files(self, islands: Iterable["Row"]) -> dict[int, list[Path | str]]:
        """Return segments with differing batches."""
        found: dict[int, list[Path | str]] = {}
        for row in islands:
            for broker, base_offset in row.files:
                found.setdefault(broker, []).append(segment(self._replicas[row.topic, row.partition, broker], base_offset))
        return {broker: list(dict.fromkeys(own)) for broker, own in found.items()}

    def _run(self, row: "Row") -> RecordRun:
        own = self._copies[row.topic, row.partition]
        states = row.relation.rstrip("~").split(",")
        return RecordRun(
            topic=row.topic,
            partition=row.partition,
            first_offset=row.first_offset,
            last_offset=row.last_offset,
            copies=tuple(_content(copy, states[slot], own, row[f"held_{slot}"]) for slot, copy in enumerate(own)),
            other_epochs=row.relation.endswith("~"),
            scattered=row.scattered,
        )


def _silent_to(copy: Copy) -> int:
    return copy.end if copy.cleaned_to is None else copy.cleaned_to


def _content(copy: Copy, state: str, own: Sequence[Copy], held: "Row") -> CopyContent:
    absent = None if state.isdecimal() else Absent(state)
    like = own[int(state)].broker if absent is None else None
    return CopyContent(
        broker=copy.broker,
        like=like,
        absent=absent,
        records=held.records,
        bytes=held.bytes,
        from_time=held.from_time,
        to_time=held.to_time,
        first_epoch=held.first_epoch,
        last_epoch=held.last_epoch,
        keys=tuple(dict.fromkeys(filter(None, map(_text, (held.first_key, held.last_key))))),
    )


def _text(key: bytes | None) -> str | None:
    text = key.decode(errors="replace") if key else None
    return text if text and text.isprintable() and "\N{REPLACEMENT CHARACTER}" not in text else None


def _runs_of(slots: Sequence[int]) -> str:
    """Return the query for runs: within one island, as all agree between two of them.

    A copy's state at an offset is the first slot with the same record, or why it has none.
    """
    states = ", ".join(f"{_state(slot)} AS state_{slot}" for slot in slots)
    every = ", ".join(f"state_{slot}" for slot in slots)
    epochs = [f"s_{one}.epoch <> s_{two}.epoch" for two in slots for one in range(two)]
    return f"""
SELECT topic, partition, relation, run > {MOST_RUNS} AS scattered,
       min(offset) AS first_offset, max(offset) AS last_offset, {", ".join(_held_by(slot) for slot in slots)}
FROM (
  SELECT *, least(sum(IF(struct(island, relation) <=> before, 0, 1)) OVER along, {MOST_RUNS} + 1) AS run
  FROM (
    SELECT *, lag(struct(island, relation)) OVER along AS before
    FROM (
      SELECT *, IF(size(array_except(array({every}), array('{Absent.CLEANED}', 'none'))) = 1 AND NOT others, '=',
                   concat(array_join(array({every}), ','), IF(others, '~', ''))) AS relation
      FROM (
        SELECT *, coalesce({" OR ".join(f"coalesce({pair}, false)" for pair in epochs)}, false) AS others, {states}
        FROM (
          SELECT *, {", ".join(f"{_identity(slot)} AS id_{slot}" for slot in slots)}
          FROM (
            SELECT topic, partition, island, offset, min(magic) AS least,
                   {", ".join(f"max(IF(slot = {slot}, record, NULL)) AS s_{slot}" for slot in slots)}
            FROM {{told}} GROUP BY topic, partition, island, offset)
          JOIN {{logs}} USING (topic, partition))))
    WINDOW along AS (PARTITION BY topic, partition ORDER BY offset))
  WINDOW along AS (PARTITION BY topic, partition ORDER BY offset ROWS UNBOUNDED PRECEDING))
WHERE relation <> '='
GROUP BY topic, partition, relation, run
"""


def _identity(slot: int) -> str:
    """Return a hash of what all copies can store at this offset: format 0 has no time, only format 2 has headers."""
    record = f"s_{slot}"
    more = f"IF(least > 0, {record}.at, NULL), IF(least > 1, {record}.headed, NULL)"
    return f"IF({record} IS NULL, NULL, xxhash64({record}.said, {more}))"


def _state(slot: int) -> str:
    same = " ".join(f"WHEN id_{slot} = id_{earlier} THEN '{earlier}'" for earlier in range(slot))
    return (
        f"CASE {same} WHEN id_{slot} IS NOT NULL THEN '{slot}' WHEN end_{slot} IS NULL THEN 'none' "
        f"WHEN offset < start_{slot} THEN '{Absent.BEFORE}' WHEN offset >= end_{slot} THEN '{Absent.BEHIND}' "
        f"WHEN offset < cleaned_{slot} THEN '{Absent.CLEANED}' ELSE '{Absent.MISSING}' END"
    )


def _held_by(slot: int) -> str:
    record = f"s_{slot}"
    data = f"coalesce({record}.data, false)"
    return f"""struct(
         count_if({data}) AS records, sum(IF({data}, {record}.size, 0)) AS bytes,
         min(IF({data}, {record}.at, NULL)) AS from_time, max(IF({data}, {record}.at, NULL)) AS to_time,
         min_by({record}.epoch, IF({record} IS NULL, NULL, offset)) AS first_epoch,
         max_by({record}.epoch, IF({record} IS NULL, NULL, offset)) AS last_epoch,
         min_by({record}.key, IF({data} AND {record}.key IS NOT NULL, offset, NULL)) AS first_key,
         max_by({record}.key, IF({data} AND {record}.key IS NOT NULL, offset, NULL)) AS last_key) AS held_{slot}"""
