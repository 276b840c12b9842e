"""What an unclean election costs is told from files before it is held, and counted after; copies that differ in silence are found."""

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import time_ns

import pytest

from casebook.collect.files import folders, inventory
from casebook.findings.finding import Severity, Status
from casebook.questions.loss.analysis.divergence import DivergenceKind, agreement, divergences
from casebook.questions.loss.analysis.unclean_price import prices
from casebook.questions.loss.scans.replicas import compare
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.records import client_settings, produce

VERSIONS = ("0.9.0.1", "2.8.2")
BASE, BURST = 10, 20
PARTITIONS = (("plain", 0), ("plain", 1), ("zipped", 0))
BOTH = (("plain", 0), ("zipped", 0))
"""Those that are written to while broker 2 is away."""
ENDS = {place: BASE + (BURST if place in BOTH else 0) for place in PARTITIONS}
"""Where the logs end then."""
NOT_COPIED = shutil.ignore_patterns("*index", ".lock", "*.tmp")
"""A checkpoint is written as ``.tmp`` and renamed: of a broker that runs it may be gone before it is copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An unclean election that was held: the log dirs before it and after all have returned, and what was there to read."""

    before: Path
    after: Path
    acked: Counter
    read: Counter
    span: tuple[int, int]


def read_all(cluster):
    """How often each record is there, by topic, partition, key and value."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    settings = {"group.id": "reader", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer(client_settings(bootstrap=cluster.bootstrap, kafka=cluster.kafka) | settings)
    found, left = Counter(), set(PARTITIONS)
    consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in PARTITIONS])
    while left:
        message = consumer.poll(20)
        assert message is not None, left
        if message.error() is None:
            found[message.topic(), message.partition(), message.key(), message.value()] += 1
        elif message.error().code() == KafkaError._PARTITION_EOF:
            left.discard((message.topic(), message.partition()))
    consumer.close()
    return found


def snapshot(cluster, into):
    for broker in (1, 2):
        shutil.copytree(cluster.log_dir(broker), into / str(broker), ignore=NOT_COPIED)
    return into


def hold(folder, kafka):
    """Broker 2 misses a burst; its leader dies; it is elected, and written to; the old leader returns."""
    acked = Counter()
    unclean = {"unclean.leader.election.enable": "true"}

    def write(places, count, value):
        produce(dict.fromkeys(places, count), bootstrap=cluster.bootstrap, kafka=kafka, value=value)
        acked.update((*place, str(number).encode(), value.encode()) for place in places for number in range(count))

    with PlayedCluster(kafka=kafka, brokers=3, controller=3, home=folder / f"home-{kafka}") as cluster:
        cluster.create_topic("plain", {0: (1, 2), 1: (2, 1)}, unclean)
        cluster.create_topic("zipped", {0: (1, 2)}, unclean | {"compression.type": "gzip"})
        states = lambda: [cluster.states()[place] for place in PARTITIONS]  # noqa: E731
        in_sync = lambda: all(set(state["isr"]) == {1, 2} for state in states())  # noqa: E731
        cluster.wait_until(in_sync, what="all in sync")
        write(PARTITIONS, BASE, "base")
        copied = lambda: dict.fromkeys(PARTITIONS, BASE).items() <= disks.high_watermarks(cluster.log_dir(2)).items()  # noqa: E731
        cluster.wait_until(
            copied, what="the copies"
        )  # acknowledged may be what a slow replica, out of the ISR for a while, lacks
        cluster.kill(2)
        cluster.wait_gone(2)
        began = time_ns() // 1_000_000
        write(BOTH, BURST, "burst")
        ended = time_ns() // 1_000_000
        on_disk = lambda: ENDS.items() <= disks.high_watermarks(cluster.log_dir(1)).items()  # noqa: E731
        cluster.wait_until(on_disk, what="the high watermarks on disk")  # the returning broker of 0.9 cuts its log there
        cluster.kill(1)
        cluster.wait_gone(1)
        before = snapshot(cluster, folder / f"before-{kafka}")

        cluster.start(2)
        cluster.wait_until(lambda: all(state["leader"] == 2 for state in states()), what="unclean elections")
        read = Counter()

        def served():
            """Whether what broker 2 has is served: it is elected before it leads, and serves nothing meanwhile."""
            read.clear()
            read.update(read_all(cluster))
            told = Counter((topic, partition) for topic, partition, *_ in read.elements())
            return all(told[place] >= BASE for place in PARTITIONS)

        cluster.wait_until(served, what="what the new leader holds")
        held = Counter(acked), Counter(read)
        write(BOTH, BURST, "other")
        cluster.start(1)
        cluster.wait_until(in_sync, what="the return of broker 1", steady=1)
        after = snapshot(cluster, folder / f"after-{kafka}")
    return Held(before=before, after=after, acked=held[0], read=held[1], span=(began, ended))


@pytest.fixture(scope="module")
def elections(tmp_path_factory):
    """Both versions at once, as most of the time is waiting."""
    with ThreadPoolExecutor() as pool:
        return dict(zip(VERSIONS, pool.map(partial(hold, tmp_path_factory.mktemp("unclean")), VERSIONS), strict=True))


def compared(spark, folder):
    dirs = [
        inventory.examine(folders.files_of(str(place)), str(place), broker=int(place.name), listed_at=0)
        for place in sorted(folder.iterdir())
    ]
    return compare(spark, dirs, wanted=lambda replica: replica.topic in ("plain", "zipped"))


@pytest.mark.parametrize("kafka", VERSIONS)
class TestUncleanElection:
    def test_price_is_what_is_gone(self, spark, elections, kafka):
        """By records and partition: what was acknowledged and cannot be read any more once the candidate leads."""
        held = elections[kafka]
        gone = Counter((topic, partition) for topic, partition, *_ in (held.acked - held.read).elements())
        assert gone == dict.fromkeys(BOTH, BURST)
        committed = {"reader": {("plain", 0): BASE + BURST, ("plain", 1): BASE}}
        rows = prices(compared(spark, held.before), dict.fromkeys(PARTITIONS, (1, 2)), committed=committed)
        assert {(row.topic, row.partition): row.records for row in rows if row.candidate == 2} == {
            place: gone[place] for place in PARTITIONS
        }
        assert {row.records for row in rows if row.candidate == 1} == {0}
        (row,) = (row for row in rows if (row.topic, row.partition, row.candidate) == ("plain", 0, 2))
        assert (row.best, row.from_offset, row.end) == (1, BASE, BASE)
        assert [(group.group, group.by) for group in row.groups] == [("reader", BURST)]
        assert row.keys == ("0", str(BURST - 1))
        if kafka == "0.9.0.1":  # format 0: 26 bytes in front, and no time
            assert row.bytes == sum(26 + len(str(number)) + len("burst") for number in range(BURST))
            assert (row.from_time, row.to_time) == (None, None)
        else:
            assert held.span[0] <= row.from_time <= row.to_time <= held.span[1]

    def test_silent_divergence(self, spark, elections, kafka):
        """Up to 0.10.2 the old leader keeps its records at offsets where the new one has others, and their logs end alike."""
        found = compared(spark, elections[kafka].after)
        rows = divergences(found)
        answer = agreement(found, ())
        assert {(copy.topic, copy.partition): copy.end for copy in found.copies} == ENDS
        if kafka == "2.8.2":
            assert (rows, answer.status) == ((), Status.OK)
            return
        assert [(row.topic, row.partition, row.first_offset, row.last_offset, row.kind, row.silent) for row in rows] == [
            (*place, BASE, BASE + BURST - 1, DivergenceKind.DIFFERENT, True) for place in BOTH
        ]
        assert (answer.status, answer.severity) == (Status.FINDING, Severity.CRITICAL)
