"""Current records of a topic from its brokers, as rows of :data:`casebook.facts.records.STORED`."""

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.errors import ScanError
from casebook.formats.clients.record_ids import IdKind, RecordId
from casebook.kafka.releases import KafkaVersion
from casebook.machine import workshop
from casebook.questions.loss.analysis.gaps import GapKind
from casebook.questions.loss.scans import gaps
from casebook.questions.loss.scans.gaps import Gaps, KnownCopy
from casebook.questions.loss.scans.stored import COLUMNS, KEY, StoredRecords, limits, needs_values, record_id, tombstone
from casebook.spark.kept import kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from casebook.spark.topic_options import Options

_OFFSETS = "kind string, log_topic string, log_partition int, offset bigint, gap_end bigint"
_PLACE = ("kind", "log_topic AS topic", "log_partition AS partition", "offset", "gap_end")
_HEADERS = ", headers array<struct<key: string, value: binary>>"
_TRANSACTIONS = KafkaVersion.parse("0.11.0.0")
_NO_MARKERS = frozenset({GapKind.LOG_START, GapKind.UNREAD})
_STATES = """
SELECT r.*, CASE WHEN getbit(w.bits, CAST(r.offset & 63 AS int)) = 1 THEN 'data'
                 WHEN r.offset >= u.since THEN 'open'
                 ELSE 'aborted' END AS state
FROM {rows} r
LEFT JOIN (SELECT partition, word, bit_or(bits) AS bits FROM {words} GROUP BY partition, word) w
  ON r.partition = w.partition AND shiftright(r.offset, 6) = w.word
LEFT JOIN (SELECT partition, min(coalesce(offset, 0)) AS since FROM {visible} WHERE kind = 'gap' GROUP BY partition) u
  ON r.partition = u.partition
WHERE r.kind = 'data'
"""
"""Records visible with ``read_committed`` are data; others are open from its unread part on, else aborted."""


def from_topic(
    spark: "SparkSession", topic: str, identity: RecordId, *, folder: Path, compacted: bool | None, **options: str
) -> StoredRecords:
    """Return the current records of a topic. It is read once and stored, as the next read would differ.

    A client does not see transactions. Missing offsets may be markers: then it is also read as ``read_committed``, offsets only,
    and records missing there are aborted, or open.

    Args:
        spark: From :func:`casebook.spark.session`.
        topic: Topic name.
        identity: Search key of a record.
        folder: Folder for the stored result, which is reused.
        compacted: Whether the topic is compacted.
        options: Options of ``kafka_topic`` (``docs/kafka_topic.md``): ``bootstrap``, ``kafka``, and others except ``isolation``
            and edges.

    Raises:
        ScanError: No broker responds, or the topic does not exist.
    """
    scan = _Live(spark, options | {"topic": topic}, folder)
    known = [
        KnownCopy(topic, partition, log_start=edges.low, end=edges.high, compacted=compacted)
        for partition, edges in sorted(scan.edges.items())
    ]
    read = scan.read(identity, values=needs_values(identity, known))
    runs = kept(spark, folder / "runs", lambda: gaps.of_offsets(spark, read))
    found = Gaps(spark=spark, runs=runs, known=known, told=not scan.may_have_transactions)
    missing = tuple(found.counts())
    if scan.has_open or (scan.may_have_transactions and any(gap.kind not in _NO_MARKERS for gap in missing)):
        shown = scan.visible()
        records = spark.sql(_STATES, rows=read, words=gaps.words(spark, shown), visible=shown)
    else:
        records = read.where("kind = 'data'").selectExpr("*", "'data' AS state")
    return StoredRecords(records.select(*COLUMNS), limits(found, "live", scanned_at=scan.scanned_at), missing)


class _Edges(NamedTuple):
    """Start and end of a partition, and the first offset of an open transaction."""

    low: int
    high: int
    stable: int


class _Live:
    """A live topic as of its first request."""

    def __init__(self, spark: "SparkSession", options: dict[str, str], folder: Path) -> None:
        from casebook.spark.topic_options import Options

        self._spark, self._folder = spark, folder
        given = Options.parse(options)
        self.may_have_transactions = given.kafka >= _TRANSACTIONS
        if not (folder / "edges").exists():
            _write_edges(given, folder / "edges")
        told = json.loads((folder / "edges" / "edges.json").read_text())
        self.scanned_at: int = told["scanned_at"]
        self.edges = {int(partition): _Edges(*edges) for partition, edges in told["edges"].items()}
        self._options = options | {
            "start": json.dumps({partition: edges.low for partition, edges in self.edges.items()}),
            "end": json.dumps({partition: edges.high for partition, edges in self.edges.items()}),
            "partitions": ",".join(map(str, self.edges)),
        }

    @property
    def has_open(self) -> bool:
        """Whether a transaction was open."""
        return any(edges.stable < edges.high for edges in self.edges.values())

    def read(self, identity: RecordId, *, values: bool) -> "DataFrame":
        """Return all rows, including aborted records and rows of the kind ``gap``."""
        more = ", value binary" * values + _HEADERS * (identity.kind is IdKind.HEADER)
        rows = self._rows(_OFFSETS + ", timestamp timestamp, leader_epoch int, key binary" + more)
        rows = rows.withColumns({"id": record_id(identity), "tombstone": tombstone(values)})
        columns = ("timestamp AS at", "leader_epoch", "id", KEY, "tombstone")
        return kept(self._spark, self._folder / "read", lambda: rows.selectExpr(*_PLACE, *columns))

    def visible(self) -> "DataFrame":
        """Return the offsets visible with ``read_committed``, and rows of the kind ``gap``."""
        rows = self._rows(_OFFSETS, isolation="read_committed")
        columns = ("CAST(NULL AS timestamp) AS at", "CAST(NULL AS int) AS leader_epoch")
        return kept(self._spark, self._folder / "visible", lambda: rows.selectExpr(*_PLACE, *columns))

    def _rows(self, schema: str, **more: str) -> "DataFrame":
        return self._spark.read.format("kafka_topic").schema(schema).options(**self._options | more).load()


def _write_edges(given: "Options", target: Path) -> None:
    """Request starts and ends of partitions; one without a leader is left out, as nothing of it is readable."""
    from casebook.spark.librdkafka import ClientError

    scanned_at = time.time_ns() // 1_000_000
    edges: dict[int, _Edges] = {}
    with given.client("read_uncommitted") as client, given.client("read_committed") as isolated:
        try:
            known = client.topics(given.patience)
        except ClientError as error:
            raise ScanError(f"No broker at {given.bootstrap} answers.", cause=error.text) from None
        for partition in sorted(known.get(given.topic, ())):
            with suppress(ClientError):
                stable = isolated.watermarks(given.topic, partition, given.patience)[1]
                edges[partition] = _Edges(*client.watermarks(given.topic, partition, given.patience), stable)
    if not edges:
        why = "None of its partitions has a leader." if given.topic in known else f"The brokers know {len(known)} topics."
        raise ScanError(f"There is no topic {given.topic} to be read.", cause=why)
    with workshop.result(target) as folder:
        (folder / "edges.json").write_text(json.dumps({"scanned_at": scanned_at, "edges": edges}))
