"""Scans of segments in a running session, in turns with what reads the same records otherwise.

    python tests/bench/segments.py [rounds]

Kafka's own `kafka-dump-log --offsets-decoder` reads the first segment of the commits, to nowhere; kcat and Spark's connector
read a live broker that has the same segments; the inventory of headers is measured against reading the files from the page cache.
"""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

import commits
import peers
import sizes

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal import PlayedCluster
from casebook.spark import segments, session
from casebook.spark.jvm import kafka_jars

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROUNDS, WARMING = sizes.of(5, quick=1), sizes.of(5, quick=1)
CORES = 2

READ, ROWS, KEYS, COUNT = (
    "commits as rows, every commit's fields",
    "commits as rows, latest of each key",
    "the same aggregated in the reader",
    "count of the commits",
)
INVENTORY, PAGE_CACHE = "inventory of An by headers", "reading An from the page cache"
NEEDS = {"kcat": "kcat"}
FETCHES = ("connector",)
DISK = 10
DUMP_LOG, KCAT = "dump-log --offsets-decoder", "kcat on the commits"
PLAIN, CONNECTOR = "{} grouped by length of the value", "Spark's connector on {}"

BOUNDS = (
    (ROWS, DUMP_LOG, 20),
    (KEYS, DUMP_LOG, 35),
    (COUNT, DUMP_LOG, 60),
    (READ, KCAT, 2),
    (KEYS, KCAT, 2),
    (INVENTORY, PAGE_CACHE, 0.5),
    *((PLAIN.format(topic), CONNECTOR.format(topic), bound) for topic, bound in (("An", 7), ("Al", 4), ("Az", 2.5))),
)


def main() -> None:
    """Take turns, print medians and the ratios of the rounds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    jars = ",".join(map(str, peers.connector_jars() + kafka_jars()))
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[{CORES}] --jars {jars} pyspark-shell"
    with peers.broker() as cluster:
        logs = {"commits": commits.offsets() / f"{OFFSETS_TOPIC}-0"} | {
            topic: commits.plain() / f"{topic}-0" for topic in commits.CODECS
        }
        for topic, log in logs.items():
            peers.served(cluster, topic, log)
        compare(session(), cluster, logs, rounds)


def compare(spark: "SparkSession", cluster: PlayedCluster, logs: dict[str, Path], rounds: int) -> None:
    """Measure ours and the others in turns."""
    first = min(logs["commits"].glob("*.log"))
    works = scans(spark, logs) | {
        DUMP_LOG: partial(peers.dump_log, first),
        KCAT: partial(peers.kcat, cluster, "commits"),
        PAGE_CACHE: partial(peers.read, logs["An"]),
    }
    works |= {CONNECTOR.format(topic): partial(by_connector, spark, cluster, topic) for topic in commits.CODECS}
    records = int(works[COUNT]())
    for _ in range(WARMING):
        taken_by({name: work for name, work in works.items() if name != DUMP_LOG})
    amounts = dict.fromkeys(works, commits.RECORDS) | dict.fromkeys((READ, ROWS, KEYS, COUNT, KCAT), records)
    amounts |= {DUMP_LOG: segments(spark, first, mode="group_records").count()}
    amounts |= dict.fromkeys((INVENTORY, PAGE_CACHE), commits.size(logs["An"]))
    taken = [taken_by(works) for _ in range(rounds)]
    report([{name: amounts[name] / took for name, took in turn.items()} for turn in taken], taken)


def scans(spark: "SparkSession", logs: dict[str, Path]) -> dict[str, Callable[[], object]]:
    """What is measured of ours."""
    from pyspark.sql import functions as sql

    def read() -> object:
        fields = (
            "sum(octet_length(`group`))",
            "sum(octet_length(topic))",
            "sum(partition)",
            "sum(committed)",
            "max(commit_time)",
        )
        return segments(spark, logs["commits"], mode="group_records").where("kind = 'commit'").selectExpr(*fields).first()

    def latest(mode: str) -> object:
        found = segments(spark, logs["commits"], mode=mode).where("kind = 'commit'").groupBy("group", "topic", "partition")
        return found.agg(sql.max_by("committed", "log_offset").alias("latest")).agg(sql.count("*"), sql.sum("latest")).first()

    def inventory() -> object:
        least, most = ("base_offset", "first_time", "codec", "leader_epoch"), ("last_offset", "max_time", "codec", "leader_epoch")
        headers = segments(spark, logs["An"], mode="batches", crc=False)
        return headers.agg(*map(sql.min, least), *map(sql.max, most), *map(sql.sum, ("records", "bytes"))).first()

    return {
        READ: read,
        ROWS: partial(latest, "group_records"),
        KEYS: partial(latest, "group_keys"),
        COUNT: segments(spark, logs["commits"], mode="group_records").count,
        INVENTORY: inventory,
    } | {PLAIN.format(topic): partial(lambda log: by_length(segments(spark, log)), logs[topic]) for topic in commits.CODECS}


def by_connector(spark: "SparkSession", cluster: PlayedCluster, topic: str) -> object:
    return by_length(peers.connector(spark, cluster, topic, minPartitions=CORES))


def by_length(records: "DataFrame") -> object:
    """Read all values; how many there are of each length."""
    return records.selectExpr("length(value) AS length").groupBy("length").count().collect()


def taken_by(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Wall seconds of each, one after the other; said at once, since a round may take minutes."""
    taken = {}
    for name, work in works.items():
        began = time.perf_counter()
        work()
        taken[name] = time.perf_counter() - began
    print(", ".join(f"{name} {took:.2f} s" for name, took in taken.items()), flush=True)
    return taken


def report(rates: list[dict[str, float]], taken: list[dict[str, float]]) -> None:
    """Print the table, and the ratios with their bounds."""
    print(f"medians of {len(rates)} rounds in turns, load {os.getloadavg()[0]:.1f}\n")
    for name in rates[0]:
        rate = median(turn[name] for turn in rates) / 1e6
        unit = "MB/s" if name in (INVENTORY, PAGE_CACHE) else "M records/s"
        print(f"{name:<40}{median(turn[name] for turn in taken):8.2f} s {rate:10.2f} {unit}")
    print()
    for name, peer, bound in BOUNDS:
        ratios = [turn[name] / turn[peer] for turn in rates]
        found = f"{median(ratios):6.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
        print(f"{name:<40}to {peer:<32}{found:<24}(bound: {bound})")


if __name__ == "__main__":
    main()
