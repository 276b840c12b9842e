"""``kafka_topic``: a Spark data source that reads a live topic, also internal ones, from brokers 0.9.0.1 to 4.x.

``spark.dataSource.register(TopicSource)``, then ``spark.read.format("kafka_topic").options(...).load("orders")``. Columns are
those of ``kafka_segments`` in its mode ``records``, and ``gap_end``. A client does not know how batches are stored, so ``file``,
``segment``, ``position``, ``damaged_bytes``, ``tail``, ``size``, ``batch_bytes``, ``batch_offset``, ``magic``, ``codec``,
``producer_id``, ``producer_epoch``, ``sequence``, ``transactional``, ``control_type`` and ``delete_horizon`` are null, and
control records are missing. Select columns with ``.schema(...)``: the others are then not built.

A row of kind ``gap`` means that the offsets from ``offset`` up to ``gap_end`` (excluded) were requested and not read, with the
reason in ``reason``; null when unknown. A scan without requested offsets reads what existed at planning.

Nothing is written to the cluster: no group, no commit, no coordinator request, no request of a topic by name before it was seen.
One exception is unavoidable: a topic that is deleted during the read is requested by name once more, and a broker before 0.11
with ``auto.create.topics.enable`` may then create it again, empty.

Executors need this package, and the file of credentials at the same path.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from casebook.errors import ScanError
from casebook.kafka.releases import KafkaVersion
from casebook.spark.librdkafka import ClientError
from casebook.spark.messages import Messages
from casebook.spark.simple_consumer import ReadOnlyClient
from casebook.spark.topic_options import EARLIEST, LATEST, Options, by_partition
from casebook.spark.topic_reader import Range, UnreadOffsets

SCHEMA = """
    kind string, file string, log_topic string, log_partition int, segment bigint, position bigint, reason string,
    damaged_bytes bigint, tail boolean, offset bigint, timestamp timestamp, timestamp_type string, key binary, value binary,
    headers array<struct<key: string, value: binary>>, size int, batch_bytes int, batch_offset bigint, magic int, codec string,
    leader_epoch int, producer_id bigint, producer_epoch int, sequence int, transactional boolean, control_type string,
    delete_horizon timestamp, gap_end bigint
"""

_OFFSETS_BY_TIME = KafkaVersion.parse("0.10.1.0")
_AUTHENTICATION = (-169, -181)  # RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR__SSL


class TopicSource(DataSource):
    """The data source; see :class:`Options`."""

    @classmethod
    def name(cls) -> str:
        """Name for ``format``."""
        return "kafka_topic"

    def schema(self) -> str:
        """All columns."""
        return SCHEMA

    def reader(self, schema: StructType) -> "TopicReader":
        """Create a reader of the requested columns."""
        return TopicReader(Options.parse(dict(self.options)), schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A range of one partition's offsets, to be read in one task."""

    partition: int
    start: int
    end: int


class TopicReader(DataSourceReader):
    """Plans a scan on the driver, and reads its slices on executors."""

    def __init__(self, options: Options, schema: StructType) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema

        self._options = options
        self._schema = to_arrow_schema(schema, timezone="UTC")

    def partitions(self) -> Sequence[InputPartition]:
        """Return the slices, and what is already known to be unreadable."""
        planned = list(TopicScanPlan(self._options).made())
        return [InputPartition(part) for part in _split(planned, self._options.slices)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield rows of a slice, or of a gap from planning."""
        if partition.value is None:
            return  # Spark's own partition, when nothing is planned
        columns = ArrowColumns(self._options.topic, self._schema)
        if isinstance(partition.value, UnreadOffsets):
            yield columns.gap(partition.value)
            return
        part, rate = partition.value, self._options.bytes_per_second
        with self._options.client() as client:
            scan = Range(
                client=client,
                topic=self._options.topic,
                partition=part.partition,
                start=part.start,
                end=part.end,
                patience=self._options.patience,
                bytes_per_second=rate and rate / self._options.slices,
            )
            for found in scan.read():
                yield columns.gap(found) if isinstance(found, UnreadOffsets) else columns.records(found, part.partition)


class TopicScanPlan:
    """Plan of a topic scan, by the brokers' current metadata."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def made(self) -> Iterator[Slice | UnreadOffsets]:
        """Yield a range for each readable partition, and gaps for requested parts that are unreadable.

        Raises:
            ScanError: No broker responds, or the topic or partition does not exist.
        """
        with self._options.client("read_uncommitted") as client, self._options.client() as isolated:
            for partition, leader in sorted(self._wanted(client).items()):
                try:
                    yield from self._partition(client, isolated, partition)
                except ClientError as error:
                    whom = "it has no leader" if leader < 0 else f"its leader is broker {leader}"
                    yield UnreadOffsets(
                        partition=partition, start=None, end=None, reason=f"its offsets are unknown, {whom}: {error.text}"
                    )

    def _wanted(self, client: ReadOnlyClient) -> dict[int, int]:
        """Leader of each partition to read."""
        topics = self._topics(client)
        name = self._options.topic
        if name not in topics:
            raise ScanError(f"There is no topic {name}.", cause=f"The brokers know {len(topics)} topics that this user may see.")
        wanted = self._options.partitions if self._options.partitions is not None else tuple(topics[name])
        if missing := [partition for partition in wanted if partition not in topics[name]]:
            raise ScanError(f"{name} has no partition {missing[0]}.", cause=f"It has {len(topics[name])}.")
        return {partition: topics[name][partition] for partition in wanted}

    def _topics(self, client: ReadOnlyClient) -> dict[str, dict[int, int]]:
        said: list[ClientError] = []
        for _ in range(max(1, round(self._options.patience))):
            try:
                return client.topics(1.0)
            except ClientError as error:
                said += client.errors() or [error]
            if any(error.code in _AUTHENTICATION for error in said):
                break
        raise ScanError(
            f"No broker at {self._options.bootstrap} answers.",
            cause=said[-1].text,
            try_="Compare the addresses and the file of credentials with the brokers' listeners.",
        )

    def _partition(self, client: ReadOnlyClient, isolated: ReadOnlyClient, partition: int) -> Iterator[Slice | UnreadOffsets]:
        topic, patience = self._options.topic, self._options.patience
        low, high = client.watermarks(topic, partition, patience)
        stable = isolated.watermarks(topic, partition, patience)[1]
        start = self._edge(client, partition, self._options.start, self._options.start_time, low, high)
        end = self._edge(client, partition, self._options.end, self._options.end_time, low, high)
        yield from _gap(partition, start, min(end, low), f"removed before: the log begins at offset {low}")
        if max(start, low) < min(end, stable):
            yield Slice(partition=partition, start=max(start, low), end=min(end, stable))
        yield from _gap(partition, max(start, stable), min(end, high), "a transaction is still open")
        yield from _gap(partition, max(start, high), end, f"not there yet: the log ends at offset {high}")

    def _edge(self, client: ReadOnlyClient, partition: int, given: str, moment: int | None, low: int, high: int) -> int:
        if moment is not None:
            if self._options.kafka < _OFFSETS_BY_TIME:
                raise ScanError(f"Brokers of {self._options.kafka} cannot find offsets by time.", try_="Set start and end.")
            found = client.offset_at(self._options.topic, partition, moment, self._options.patience)
            return high if found is None else found
        if given in (EARLIEST, LATEST):
            return low if given == EARLIEST else high
        whole = low if given is self._options.start else high
        return by_partition(given).get(partition, whole)


def _gap(partition: int, start: int, end: int, reason: str) -> Iterator[UnreadOffsets]:
    """Yield a gap, unless it is empty."""
    if start < end:
        yield UnreadOffsets(partition=partition, start=start, end=end, reason=reason)


def _split(planned: Sequence[Slice | UnreadOffsets], slices: int) -> Iterator[Slice | UnreadOffsets]:
    """Yield ranges of about equal length, at least as many as requested if there are enough offsets."""
    offsets = sum(part.end - part.start for part in planned if isinstance(part, Slice))
    length = max(1, -(-offsets // slices))
    for part in planned:
        if isinstance(part, UnreadOffsets):
            yield part
            continue
        pieces = -(-(part.end - part.start) // length)
        edges = [part.start + (part.end - part.start) * number // pieces for number in range(pieces + 1)]
        for start, end in pairwise(edges):
            yield Slice(partition=part.partition, start=start, end=end)


class ArrowColumns:
    """Rows as Arrow batches of the requested columns."""

    def __init__(self, topic: str, schema: pa.Schema) -> None:
        self._topic, self._schema = topic, schema

    def records(self, messages: Messages, partition: int) -> pa.RecordBatch:
        """Rows of kind ``data``."""
        count, wanted = len(messages), set(self._schema.names)
        columns: dict[str, object] = {
            "kind": _all(count, "data"),
            "log_topic": _all(count, self._topic),
            "log_partition": _all(count, partition),
            "offset": messages.offsets(),
        }
        if wanted & {"timestamp", "timestamp_type"}:
            columns["timestamp"], columns["timestamp_type"] = messages.times()
        for name, make in (("key", messages.keys), ("value", messages.values), ("headers", messages.headers),
                           ("leader_epoch", messages.leader_epochs)):  # fmt: skip
            if name in wanted:
                columns[name] = make()
        return self._batch(columns, count)

    def gap(self, gap: UnreadOffsets) -> pa.RecordBatch:
        """One row of kind ``gap``."""
        row = {"kind": "gap", "log_topic": self._topic, "log_partition": gap.partition, "offset": gap.start, "gap_end": gap.end,
               "reason": gap.reason}  # fmt: skip
        return self._batch({name: [value] for name, value in row.items()}, 1)

    def _batch(self, columns: Mapping[str, object], count: int) -> pa.RecordBatch:
        arrays = [_typed(columns.get(field.name), count, field.type) for field in self._schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _all(count: int, value: object) -> pa.Array:
    return pa.repeat(value, count)


def _typed(column: object, count: int, kind: pa.DataType) -> pa.Array:
    if column is None:
        return pa.nulls(count, kind)
    return column.cast(kind) if isinstance(column, pa.Array) else pa.array(column, kind)
