"""Scans of segments in a running session, in turns with what reads the same bytes otherwise.

    python tests/bench/segments.py [rounds]

Kafka's own `kafka-dump-log --offsets-decoder` reads the first segment of the commits, to nowhere; the inventory of headers is
measured against reading the files from the page cache.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import commits

from casebook.rehearsal import servers
from casebook.scans import segments, session
from casebook.storage import OFFSETS_TOPIC

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROUNDS, WARMING = 5, 2
CORES = 2

ROWS, KEYS, COUNT = "commits as rows, latest of each key", "the same aggregated in the reader", "count of the commits"
INVENTORY, PAGE_CACHE = "inventory of An by headers", "reading An from the page cache"
DUMP_LOG = "dump-log --offsets-decoder"
PLAIN = "{} grouped by length of the value"

BOUNDS = (
    (ROWS, DUMP_LOG, 20),
    (KEYS, DUMP_LOG, 35),
    (COUNT, DUMP_LOG, 60),
    (INVENTORY, PAGE_CACHE, 0.5),
)


def main() -> None:
    """Take turns, print medians and the ratios of the rounds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[{CORES}] pyspark-shell"
    offsets, plain = commits.offsets() / f"{OFFSETS_TOPIC}-0", commits.plain()
    spark = session()
    spark.conf.set("spark.sql.shuffle.partitions", str(CORES))
    ours = scans(spark, offsets, plain)
    records = int(ours[COUNT]())
    for _ in range(WARMING):
        taken_by(ours)
    works = ours | {DUMP_LOG: partial(dump_log, first_segment(offsets)), PAGE_CACHE: partial(read, plain / "An-0")}
    amounts = dict.fromkeys(works, commits.RECORDS) | dict.fromkeys((ROWS, KEYS, COUNT), records)
    amounts |= {DUMP_LOG: records_of(spark, first_segment(offsets))}
    amounts |= dict.fromkeys((INVENTORY, PAGE_CACHE), commits.size(plain / "An-0"))
    taken = [taken_by(works) for _ in range(rounds)]
    report([{name: amounts[name] / took for name, took in turn.items()} for turn in taken], taken)


def scans(spark: "SparkSession", offsets: Path, plain: Path) -> dict[str, Callable[[], object]]:
    """What is measured of ours."""
    from pyspark.sql import functions as sql

    def latest(mode: str) -> object:
        found = segments(spark, offsets, mode=mode).where("kind = 'commit'").groupBy("group", "topic", "partition")
        return found.agg(sql.max_by("committed", "log_offset").alias("latest")).agg(sql.count("*"), sql.sum("latest")).first()

    def inventory() -> object:
        frame = segments(spark, plain / "An-0", mode="batches", crc=False).groupBy("file")
        least, most, sums = (
            ("base_offset", "first_time"),
            ("last_offset", "max_time", "codec", "leader_epoch"),
            ("records", "bytes"),
        )
        return frame.agg(*map(sql.min, least), *map(sql.max, most), *map(sql.sum, sums)).collect()

    def by_length(topic: str) -> object:
        frame: DataFrame = segments(spark, plain / f"{topic}-0")
        return frame.groupBy(sql.length("value")).count().collect()

    return {
        ROWS: partial(latest, "group_records"),
        KEYS: partial(latest, "group_keys"),
        COUNT: segments(spark, offsets, mode="group_records").count,
        INVENTORY: inventory,
    } | {PLAIN.format(topic): partial(by_length, topic) for topic in commits.CODECS}


def first_segment(log: Path) -> Path:
    return min(log.glob("*.log"))


def records_of(spark: "SparkSession", place: Path) -> int:
    return segments(spark, place, mode="group_records").count()


def dump_log(segment: Path) -> None:
    path = ":".join(map(str, servers.jars(commits.KAFKA)))
    tool = [servers.java(), "-Xmx256M", "-cp", path, "kafka.tools.DumpLogSegments", "--offsets-decoder", "--files", str(segment)]
    subprocess.run(tool, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def read(log: Path) -> None:
    """All bytes of its segments once through memory, on one core."""
    buffer = bytearray(1 << 20)
    for segment in log.glob("*.log"):
        with segment.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


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
