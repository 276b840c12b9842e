"""Does a scan of much more cost more memory? Peaks of 20 GB of segments against those of 1 GB, a process of its own for each.

    python tests/bench/memory.py [gigabytes ...]

The aggregate of notebook 40 has a row for each key, hour and segment. The larger log has as many times more of them, which must
spill: its memory is told, and has no bound but the heap.

The log is the half gigabyte of ``commits.py`` under many partition numbers, by hard links: every byte is read and decoded as
often as it is named, and none is on disk twice.
"""

import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import commits
import sizes

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.questions.offsets_topic.scans import group_records
from casebook.spark import segments, session

GIGABYTES = sizes.of((1, 20), quick=(1,))
DISK = 4
BOUND = 1.2
KEYS, KEYS_A_GROUP = sizes.of(5_000_000, quick=500_000), 1000


def repeated(gigabytes: float, into: Path) -> list[Path]:
    """Partitions that are that large together, at least one."""
    source = commits.offsets() / f"{OFFSETS_TOPIC}-0"
    times = max(1, round(gigabytes * 1e9 / commits.size(source)))
    folders = [into / f"{OFFSETS_TOPIC}-{number}" for number in range(times)]
    for folder in folders:
        folder.mkdir()
        for file in (*source.glob("*.log"), *source.glob("*.index")):
            os.link(file, folder / file.name)
    return folders


def peak(process: int | str) -> float:
    """Most resident memory that a process ever had, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def every_record(spark: object, folders: list[Path], _place: str) -> None:
    """Read keys and values of all records."""
    segments(spark, *folders).selectExpr("sum(length(key))", "sum(length(value))", "max(timestamp)").collect()


def latest_of_keys(spark: object, folders: list[Path], _place: str) -> None:
    """The latest commit of each key, of which all partitions here have the same."""
    found = segments(spark, *folders, mode="group_keys").where("kind = 'commit'").groupBy("group", "topic", "partition")
    found.agg({"log_offset": "max"}).selectExpr("count(*)").collect()


def aggregate(spark: object, folders: list[Path], place: str) -> None:
    """What notebook 40 asks for; every partition has keys of its own."""
    group_records.aggregate(spark, {1: folders}, f"file:{place}/derived")
    print(f"{spark.read.parquet(f'file:{place}/derived').count() / 1e6:.1f} million rows", file=sys.stderr)


def scan(name: str, gigabytes: float) -> None:
    """Scan; print bytes, seconds and the peaks of the JVM and of Python."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--master local[2] pyspark-shell"
    home = commits.offsets().parent  # hard links need the same file system
    with tempfile.TemporaryDirectory(dir=home) as place:
        folders = repeated(gigabytes, Path(place))
        spark = session()
        began = time.perf_counter()
        SCANS[name](spark, folders, place)
        took = time.perf_counter() - began
        jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
        print(sum(map(commits.size, folders)) / 1e9, took, peak(jvm), peak("self"))


def write_keys(folder: Path) -> Path:
    """A partition with a commit of each of :data:`KEYS` keys, one group after the other."""
    from aiokafka.record.default_records import DefaultRecordBatchBuilder

    log = folder / f"{OFFSETS_TOPIC}-49"
    log.mkdir()
    now = 1_790_000_000_000
    value = struct.pack(">hqihq", 3, 42, -1, 0, now)
    with (log / f"{0:020}.log").open("wb") as segment:
        for first in range(0, KEYS, KEYS_A_GROUP):
            group = b"group-%07d" % (first // KEYS_A_GROUP)
            batch = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
            for number in range(KEYS_A_GROUP):
                key = struct.pack(f">hh{len(group)}sh5si", 1, len(group), group, 5, b"topic", number)
                batch.append(number, now, key, value, [])
            made = batch.build()
            struct.pack_into(">q", made, 0, first)  # the base offset, which no checksum covers
            segment.write(made)
    return log


def many_keys(spark: object, _folders: list[Path], place: str) -> None:
    """The aggregate of as many rows as records: nothing becomes less, and most of it must be spilled."""
    log = write_keys(Path(place))
    group_records.aggregate(spark, {1: [log]}, f"file:{place}/derived")
    found = spark.read.parquet(f"file:{place}/derived").count()
    if found != KEYS:
        raise RuntimeError(f"{found} rows of {KEYS} keys.")
    print(f"{found / 1e6:.1f} million keys", file=sys.stderr)


BOUNDED = (every_record, latest_of_keys)
SCANS = {scan.__name__: scan for scan in (*BOUNDED, aggregate, many_keys)}


def main() -> None:
    """Measure, print a table, fail beyond the bound."""
    print(f"{'':14}{'GB':>6}{'s':>8}{'JVM MB':>10}{'Python MB':>11}")
    sizes = [float(size) for size in sys.argv[1:]] or GIGABYTES
    grown = {name: measured(name, sizes if name != many_keys.__name__ else sizes[:1]) for name in SCANS}
    if max(grown[scan.__name__] for scan in BOUNDED) > BOUND:
        sizes.beyond(f"More than {BOUND} times the memory.")


def measured(name: str, sizes: Sequence[float]) -> float:
    """The last size's peak as a multiple of the first's."""
    peaks = []
    for size in sizes:
        command = [sys.executable, __file__, "scan", name, str(size)]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        read, took, jvm, python = map(float, said.stdout.split())
        print(f"{name:14}{read:6.1f}{took:8.0f}{jvm:10.0f}{python:11.0f}", flush=True)
        peaks.append(jvm)
    return peaks[-1] / peaks[0]


if __name__ == "__main__":
    if sys.argv[1:2] == ["scan"]:
        scan(sys.argv[2], float(sys.argv[3]))
    else:
        main()
