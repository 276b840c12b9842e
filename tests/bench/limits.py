"""What bounds the work on this machine, and how much of it we reach.

    python tests/bench/limits.py [rounds]

Three parts, each in turns:

- decoding: processor time of one thread for each part of a scan (``tests/scans/jvm/Bounds.java``): reading the file out of the page
  cache, a copy in memory, CRC-32C of the batches, decompression by Kafka's classes, all records by Kafka's classes, and all records
  by our reader out of the file. MB are of records before compression; a batch has 64 KiB of them. The limit of a scan is the sum of
  reading, CRC-32C and decompression, without a look at any record.
- Spark: a job without any data, and a scan of a segment of one batch, in one warm session at local[2]; then all values of the
  uncompressed segment under many partition numbers, by hard links, against our reader without Spark.
- starts, as whole processes: Python, a kernel and a Java, against ours that cannot do without them: the list of the notebooks, a run
  of notebook 20, and a first answer of Spark (of which the processor time is that of its Java).

A share is the limit's seconds of processor time divided by ours. Of the decoding, the least of all rounds counts, as other work on
the machine can only add to it; of the others, medians. Kafka's speed is that of reading the file and all records by Kafka's classes.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

import ended
import java_programs
import large_batches
import sizes
import spark_start

from casebook.errors import ScanError
from casebook.machine import jars
from casebook.spark import segments, session

ROUNDS, STARTS = sizes.of(5, quick=1), 3
RECORDS = sizes.of(300_000, quick=30_000)
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
BATCH, TIMES = 1 << 16, sizes.of(16, quick=2)
NEEDS = {"javac": "a JDK"}
DISK = 1

PARTS = ("read", "checksum", "decompress")
WORKS = ("read", "copy", "checksum", "decompress", "kafka", "ours")

KERNEL = """
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel()
client.execute_interactive("pass")
client.stop_channels()
manager.shutdown_kernel()
"""


def main() -> None:
    """Measure all three parts."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--master local[2] pyspark-shell"
    print(f"{rounds} rounds in turns, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as place:
        written = {codec: write(Path(place), codec, RECORDS) for codec in CODECS}
        content = written["none"].stat().st_size / 1e6
        plain = decoding(written, content, rounds, Path(place, "classes"))
        jobs(written["none"], write(Path(place), "one", 100), content, plain, rounds)
        starts(Path(place), min(rounds, STARTS))


def write(place: Path, name: str, records: int) -> Path:
    """A segment; the name is that of its codec, or it is not compressed."""
    segment = place / f"{name}-0" / f"{0:020}.log"
    segment.parent.mkdir()
    with segment.open("wb") as file:
        file.writelines(large_batches.batches(BATCH, CODECS.get(name, 0), records))
    return segment


def decoding(written: Mapping[str, Path], content: float, rounds: int, classes: Path) -> float:
    """Print a line of each codec, in MB of records a second of processor time; our seconds for the uncompressed ones."""
    path = java_programs.compiled(classes)
    said = java_programs.run(["java", "-Xmx1g", "-XX:+UseSerialGC"], path, ("Bounds", rounds, *written.values()))
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in said.splitlines():
        if line.startswith(str(classes.parent)):  # others are warnings of Java's
            segment, work, seconds = line.split()
            found[segment, work].append(float(seconds))
    times = {codec: {work: min(found[str(segment), work]) for work in WORKS} for codec, segment in written.items()}
    print(f"{'MB/s, one core':<16}" + "".join(f"{work:>12}" for work in WORKS) + "     share of the limit   of Kafka's speed")
    for codec, took in times.items():
        limit = sum(took[part] for part in PARTS)
        speeds = "".join(f"{content / took[work]:12,.0f}" for work in WORKS)
        print(f"{codec:<16}{speeds}{limit / took['ours']:23.2f}{(took['read'] + took['kafka']) / took['ours']:19.1f}", flush=True)
    return times["none"]["ours"]


def jobs(segment: Path, one_batch: Path, content: float, plain: float, rounds: int) -> None:
    """Print what Spark adds: to no data, and to the reader alone."""
    spark = session()
    java = spark.sparkContext._gateway.proc.pid
    named = [segment.parent.with_name(f"named-{number}") / segment.name for number in range(TIMES)]
    for link in named:
        link.parent.mkdir()
        os.link(segment, link)

    def lengths(frame: object) -> None:
        frame.selectExpr("sum(length(key)) + sum(length(value))").collect()

    works = {
        "a job without data": lambda: lengths(spark.range(1).selectExpr("CAST(id AS string) AS key", "'' AS value")),
        "a segment of one batch": lambda: lengths(segments(spark, one_batch)),
        f"{TIMES} uncompressed segments": lambda: lengths(segments(spark, *named)),
    }
    found = taken(works, rounds, partial(large_batches.cpu_of, java))
    print()
    for name, (wall, cpu) in found.items():
        print(f"{name:<28}{wall:7.3f} s {cpu:7.3f} s of processor time")
    empty, small, whole = (cpu for _, cpu in found.values())
    print(f"share of the empty job in the small scan {empty / small:.2f}")
    rate = TIMES * content / whole
    print(f"share of our reader alone in the large scan {TIMES * plain / whole:.2f}, {rate:.0f} MB/s of a core", flush=True)
    spark.stop()


def taken(works: Mapping[str, Callable[[], object]], rounds: int, cpu: Callable[[], float]) -> dict[str, tuple[float, float]]:
    """Median wall and processor seconds of each; it is warm after as many rounds again."""
    found = defaultdict(list)
    for turn in range(2 * rounds):
        for name, work in works.items():
            began, used = time.perf_counter(), cpu()
            work()
            if turn >= rounds:
                found[name].append((time.perf_counter() - began, cpu() - used))
    return {name: tuple(map(median, zip(*of, strict=True))) for name, of in found.items()}


def starts(place: Path, rounds: int) -> None:
    """Print whole processes, and the share of the limit in each of ours."""
    run = [*ended.CASEBOOK, "run", "20", "--source", "sample:leader_minus_one", "--runs", str(place / "runs")]
    works = {
        "Python": partial(process, [sys.executable, "-c", "pass"]),
        "casebook list": partial(process, [*ended.CASEBOOK, "list"]),
        "a kernel": partial(process, [sys.executable, "-c", KERNEL]),
        "casebook run 20": partial(process, run),
        "a Java": partial(process, [jars.java(ScanError), "-Xshare:auto", "-version"]),
        "Spark's first answer": partial(spark_start.measured, {}),
    }
    found = defaultdict(list)
    for _ in range(rounds):
        for name, work in works.items():
            found[name].append(work())
    medians = {name: tuple(map(median, zip(*of, strict=True))) for name, of in found.items()}
    print()
    for name, (wall, cpu) in medians.items():
        print(f"{name:<28}{wall:7.2f} s {cpu:7.2f} s of processor time")
    for limit, ours in (("Python", "casebook list"), ("a kernel", "casebook run 20"), ("a Java", "Spark's first answer")):
        print(f"share of {limit} in {ours}: {medians[limit][1] / medians[ours][1]:.2f}")


def process(command: list[str]) -> tuple[float, float]:
    """Wall and processor seconds, whatever it ends with: `run` ends with 2 for a critical incident."""
    began, before = time.perf_counter(), ended.used()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began, ended.used() - before


if __name__ == "__main__":
    main()
