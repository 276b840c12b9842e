"""Scans of segments whose batches are large, in turns with Kafka's dump-log.

    python tests/bench/large_batches.py [rounds]

The same records as in ``segments.py``, in batches of 16 KiB, 1 MiB and 10 MiB before compression. Dump-log opens the batches
(``--deep-iteration``) and prints a line for each record, to nowhere; ours reads all values and counts them by length. MB are of
records before compression. Processor time is that of the two Java processes; the start of dump-log's, about a second, is in it.
"""

import itertools
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import commits
import sizes

from casebook.rehearsal.servers import jars
from casebook.spark import segments, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = sizes.of(3, quick=1)
CORES = 2
RECORDS = sizes.of(1_000_000, quick=100_000)
SIZES = {"16 KiB": 1 << 14} | sizes.of({"1 MiB": 1 << 20, "10 MiB": 10 << 20}, quick={})
DISK = 2
CODECS = {"none": 0, "lz4": 3, "zstd": 4}
BOUND = 2


class Taken(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float


def main() -> None:
    """Write, take turns, print medians and ratios; fail below the bound."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[{CORES}] pyspark-shell"
    with tempfile.TemporaryDirectory() as place:
        written = {(size, codec): write(Path(place), size, codec) for size in SIZES for codec in CODECS}
        spark = session()
        for segment in written.values():
            ours(spark, segment)
        turns = [{name: (ours(spark, segment), dump_log(segment)) for name, segment in written.items()} for _ in range(rounds)]
        megabytes = {size: written[size, "none"].stat().st_size / 1e6 for size in SIZES}
    print(f"medians of {rounds} rounds in turns, load {os.getloadavg()[0]:.1f}\n")
    for size, codec in written:
        report(f"{size:>8} {codec:<6}", megabytes[size], [turn[size, codec] for turn in turns])


def report(name: str, megabytes: float, turns: list[tuple[Taken, Taken]]) -> None:
    """Print a line of ours and dump-log's."""
    rates = [megabytes / median(turn[which].wall for turn in turns) for which in (0, 1)]
    cpu = [median(turn[which].cpu for turn in turns) for which in (0, 1)]
    ratios = sorted(theirs.wall / own.wall for own, theirs in turns)
    print(
        f"{name} {rates[0]:5.0f} MB/s, dump-log {rates[1]:3.0f} MB/s, ratio {median(ratios):.1f}"
        f" ({ratios[0]:.1f} to {ratios[-1]:.1f}); processor {cpu[0]:.1f} s, {cpu[1]:.1f} s, ratio {cpu[1] / cpu[0]:.1f}",
        flush=True,
    )
    if median(ratios) < BOUND:
        sizes.beyond(f"Below {BOUND} times dump-log's speed.")


def write(place: Path, size: str, codec: str) -> Path:
    """A segment of batches that have records for so many bytes."""
    folder = place / f"{size.replace(' ', '')}.{codec}-0"
    folder.mkdir()
    segment = folder / f"{0:020}.log"
    with segment.open("wb") as file:
        file.writelines(batches(SIZES[size], CODECS[codec]))
    return segment


def batches(size: int, codec: int, records: int = RECORDS) -> Iterator[bytearray]:
    """Batches of format 2, with records for so many bytes each."""
    from aiokafka.record.default_records import DefaultRecordBatchBuilder

    def begun() -> DefaultRecordBatchBuilder:
        return DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, size)

    def built() -> bytearray:
        batch = builder.build()
        struct.pack_into(">q", batch, 0, first)  # the base offset, which no checksum covers
        return batch

    first, builder = 0, begun()
    for number, (key, value) in enumerate(itertools.islice(commits.records(), records)):
        time_ms = 1_700_000_000_000 + number
        if builder.append(number - first, time_ms, key, value, []) is None:
            yield built()
            first, builder = number, begun()
            builder.append(0, time_ms, key, value, [])
    yield built()


def ours(spark: "SparkSession", segment: Path) -> Taken:
    """Read all values, whole or not at all."""
    java = spark.sparkContext._gateway.proc.pid
    began, cpu = time.perf_counter(), cpu_of(java)
    read = segments(spark, segment, splitBytes="1g").selectExpr("kind", "length(value) AS length")
    rows = read.groupBy("kind", "length").count().collect()
    taken = Taken(time.perf_counter() - began, cpu_of(java) - cpu)
    if {row["kind"] for row in rows} != {"data"} or sum(row["count"] for row in rows) != RECORDS:
        raise RuntimeError(f"{segment} was not read whole.")
    return taken


def cpu_of(process: int) -> float:
    """Seconds of processor time of a process that runs."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def dump_log(segment: Path) -> Taken:
    """Open every batch by Kafka's own tool, to nowhere."""
    path = ":".join(map(str, jars.jars(commits.KAFKA)))
    tool = [jars.java(), "-Xmx1G", "-cp", path, "kafka.tools.DumpLogSegments", "--deep-iteration", "--files", str(segment)]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*tool, "--max-message-size", str(64 << 20)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


if __name__ == "__main__":
    main()
