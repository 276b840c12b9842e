"""A live topic through `kafka_topic`: every record, or a word about why not; and nothing done to the cluster."""

import os
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row

from casebook.errors import CasebookError
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers.records import client_settings, produce
from casebook.spark.simple_consumer import ReadOnlyClient
from casebook.spark.topic_options import Options
from casebook.spark.topic_reader import Range, UnreadOffsets
from tests.transactions import transactional

SETTINGS = {
    "offsets.topic.num.partitions": "2",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "log.retention.check.interval.ms": "300",
    "file.delete.delay.ms": "0",
    "log.cleaner.backoff.ms": "200",
}
SECRET = "hunter2-Pl4nted"


@pytest.fixture(scope="module")
def old() -> Iterator[PlayedCluster]:
    """One broker of 0.9.0.1."""
    with PlayedCluster(kafka="0.9.0.1", brokers=1, settings=SETTINGS | {"auto.create.topics.enable": "false"}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def new() -> Iterator[PlayedCluster]:
    """One broker of 3.9.2; there could be a second one."""
    with PlayedCluster(kafka="3.9.2", brokers=2, running=(1,), settings=SETTINGS) as cluster:
        yield cluster


def options(cluster: PlayedCluster, topic: str, **given: str) -> dict[str, str]:
    return {"topic": topic, "bootstrap": cluster.bootstrap, "kafka": cluster.kafka, "patience": "5"} | given


def scanned(spark: object, cluster: PlayedCluster, topic: str, **given: str) -> list[Row]:
    rows = spark.read.format("kafka_topic").options(**options(cluster, topic, **given)).load().collect()
    return sorted(rows, key=lambda row: (row.log_partition, row.offset))


def slow_range(cluster: PlayedCluster, topic: str, end: int, **given: str) -> Callable[[ReadOnlyClient], Range]:
    return lambda client: Range(
        client=client, topic=topic, partition=0, start=0, end=end, patience=3, bytes_per_second=float(given.get("rate", 2e6))
    )


def interrupted(
    cluster: PlayedCluster, topic: str, end: int, interrupt: Callable[[], object]
) -> tuple[list[int], list[UnreadOffsets]]:
    """Offsets read and gaps of a slow scan into which something breaks after its first records."""
    offsets: list[int] = []
    gaps: list[UnreadOffsets] = []
    given = Options.parse(options(cluster, topic, bytes_per_second="2000000", slices="1"))
    with given.client() as client:
        for found in slow_range(cluster, topic, end)(client).read():
            if isinstance(found, UnreadOffsets):
                gaps.append(found)
            else:
                offsets += found.offsets().to_pylist()
                if interrupt:
                    interrupt()
                    interrupt = None
    return offsets, gaps


def fill(cluster: PlayedCluster, topic: str, *, lots: int = 60, key: bytes | None = None) -> int:
    """Records of 100 kB, so many that they are not all fetched at once; how many."""
    from confluent_kafka import Producer

    producer = Producer({**client_settings(bootstrap=cluster.bootstrap, kafka=cluster.kafka), "acks": "all"})
    for _ in range(lots):
        producer.produce(topic, partition=0, key=key, value=os.urandom(100_000))
        producer.flush(10)
    return lots


def test_0_9_is_read_and_not_disturbed(spark, old):
    """Every record and no timestamp, as its format has none; no group, no offsets topic made, no exception in its log."""
    old.create_topic("orders", {0: (1,), 1: (1,)})
    produce({("orders", 0): 30, ("orders", 1): 12}, bootstrap=old.bootstrap, kafka=old.kafka)
    rows = scanned(spark, old, "orders", slices="4")
    assert [(row.log_partition, row.offset) for row in rows] == [(0, n) for n in range(30)] + [(1, n) for n in range(12)]
    assert {row.kind for row in rows} == {"data"}
    assert [row.key for row in rows[:3]] == [b"0", b"1", b"2"]
    assert rows[0].value == b'{"topic": "orders", "number": 0}'
    assert {row.timestamp for row in rows} == {None}
    assert old.topic_names() == ["orders"]
    log = "".join(file.read_text() for file in old.log_files(1) if file.name.startswith("server.log"))
    assert "Exception" not in log and "ApiVersions" not in log


def test_no_such_topic(spark, old):
    """It is said, and the topic is not created by asking."""
    with pytest.raises(AnalysisException, match="There is no topic nowhere"):
        scanned(spark, old, "nowhere")
    assert "nowhere" not in old.topic_names()


def test_topic_deleted_in_mid_scan(old):
    """What was read stays, and the rest is a gap that says so."""
    old.create_topic("doomed", {0: (1,)}, {"max.message.bytes": "1000000"})
    count = fill(old, "doomed")

    def delete() -> None:
        old.delete_topic("doomed")
        old.wait_until(lambda: "doomed" not in old.topic_names(), what="the deletion")

    offsets, (gap,) = interrupted(old, "doomed", count, delete)
    assert offsets == list(range(gap.start)) and gap.end == count
    assert gap.reason == "the topic is deleted"


def test_internal_topic(spark, new):
    """Commits of a group come out of `__consumer_offsets`; the scans themselves left none there."""
    from confluent_kafka import Consumer, TopicPartition

    new.create_topic("stock", {0: (1,)})
    produce({("stock", 0): 3}, bootstrap=new.bootstrap, kafka=new.kafka)
    assert len(scanned(spark, new, "stock")) == 3
    consumer = Consumer({**client_settings(bootstrap=new.bootstrap, kafka=new.kafka), "group.id": "till"})
    consumer.commit(offsets=[TopicPartition("stock", 0, 2)], asynchronous=False)
    consumer.close()
    rows = scanned(spark, new, "__consumer_offsets")
    assert rows and all(b"till" in row.key for row in rows) and b"stock" in rows[0].key
    assert rows[0].timestamp is not None and rows[0].leader_epoch == 0


def nothing_open(cluster, topic):
    """Whether no transaction is open: what is committed reaches as far as what is written."""
    given = [options(cluster, topic, isolation=f"read_{kind}") for kind in ("committed", "uncommitted")]
    with Options.parse(given[0]).client() as committed, Options.parse(given[1]).client() as everything:
        return committed.watermarks(topic, 0, 10.0)[1] == everything.watermarks(topic, 0, 10.0)[1]


def test_transactions(spark, new):
    """Aborted records are read or not, as asked; markers at the end of a log end the scan; an open transaction is told."""
    from confluent_kafka import Producer

    new.create_topic("ledger", {0: (1,)})
    producer = Producer(client_settings(bootstrap=new.bootstrap, kafka=new.kafka) | transactional("books"))
    producer.init_transactions(30)
    for finish in (producer.commit_transaction, producer.abort_transaction, producer.flush):
        producer.begin_transaction()
        producer.produce("ledger", b"value", b"key", headers=[("h", b"1"), ("null", None)])
        producer.flush(10)
        if finish != producer.flush:
            finish(30)
    committed, everything = (
        scanned(spark, new, "ledger", isolation=f"read_{kind}", slices="1") for kind in ("committed", "uncommitted")
    )
    assert [(row.kind, row.offset, row.gap_end) for row in committed] == [("data", 0, None), ("gap", 4, 5)]
    assert committed[1].reason == "a transaction is still open"
    assert [(row.kind, row.offset) for row in everything] == [("data", 0), ("data", 2), ("data", 4)]
    assert [(header.key, header.value) for header in everything[0].headers] == [("h", b"1"), ("null", None)]
    producer.abort_transaction(30)
    new.wait_until(partial(nothing_open, new, "ledger"), what="the marker, which is written after the answer")
    assert [row.offset for row in scanned(spark, new, "ledger", isolation="read_committed")] == [0]


def test_edges(spark, new):
    """Offsets and times; what was asked for beyond them is a gap; a topic without records has no rows."""
    new.create_topic("edges", {0: (1,), 1: (1,)})
    produce({("edges", 0): 10}, bootstrap=new.bootstrap, kafka=new.kafka)
    rows = scanned(spark, new, "edges", start='{"0": 4}', end='{"0": 14}')
    assert [(row.kind, row.offset, row.gap_end) for row in rows[:1] + rows[-1:]] == [("data", 4, None), ("gap", 10, 14)]
    assert scanned(spark, new, "edges", partitions="1") == []
    assert scanned(spark, new, "edges", start_time="2100-01-01T00:00:00+00:00") == []
    assert len(scanned(spark, new, "edges", start_time="2020-01-01T00:00:00+00:00")) == 10


def test_compacted(spark, new):
    """Offsets that compaction took are no gap."""
    settings = {"cleanup.policy": "compact", "segment.bytes": "150000", "min.cleanable.dirty.ratio": "0.01"}
    new.create_topic("latest", {0: (1,)}, settings | {"max.message.bytes": "140000"})
    for _ in range(3):
        produce({("latest", 0): 2}, bootstrap=new.bootstrap, kafka=new.kafka)
    fill(new, "latest", lots=2, key=b"pad")
    cleaned = next(file for file in new.log_files(1) if file.name == "log-cleaner.log")
    new.wait_until(lambda: "latest-0" in cleaned.read_text(), what="the cleaner")
    new.wait_until(lambda: [row.offset for row in scanned(spark, new, "latest")][:2] == [4, 5], what="the compaction")
    assert {row.kind for row in scanned(spark, new, "latest")} == {"data"}


def test_retention_overtakes(new):
    """The gap has its range, and reading goes on where the log now begins."""
    new.create_topic("fleeting", {0: (1,)}, {"segment.bytes": "1000000", "max.message.bytes": "900000"})
    count = fill(new, "fleeting")

    def retain() -> None:
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import AdminClient

        admin = AdminClient(client_settings(bootstrap=new.bootstrap, kafka=new.kafka))
        admin.delete_records([TopicPartition("fleeting", 0, count - 5)])[TopicPartition("fleeting", 0)].result(90)

    offsets, (gap,) = interrupted(new, "fleeting", count, retain)
    assert gap.end == count - 5 and "removed before it was read" in gap.reason
    assert offsets == [*range(gap.start), *range(count - 5, count)]


def test_leader_dies(new):
    """The rest is given up after the patience, with the partition and from which offset on."""
    new.start(2)
    new.create_topic("lonely", {0: (2,)}, {"max.message.bytes": "1000000"})
    count = fill(new, "lonely")
    offsets, (gap,) = interrupted(new, "lonely", count, lambda: new.kill(2))
    assert 0 < gap.start < count == gap.end and offsets == list(range(gap.start))
    assert gap.reason.startswith("no data arrived for 3 s; ")


@pytest.mark.parametrize("setting", ["ssl.key.password", "sasl.jaas.config", "security.protocol", "acks"])
def test_secrets_stay_secret(tmp_path, setting):
    """Whatever a file of credentials gets wrong, its values are in no text."""
    file = tmp_path / "client.properties"
    file.write_text(f"{setting}={SECRET}\nsasl.nonsense={SECRET}\n")
    given = Options.parse({"topic": "t", "bootstrap": "127.0.0.1:1", "kafka": "3.9.2", "credentials": str(file)})
    with pytest.raises(CasebookError) as raised:
        given.client()
    assert SECRET not in str(raised.value) and SECRET not in repr(given)
