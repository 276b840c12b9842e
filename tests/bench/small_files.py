"""Many small segments: `casebook run 40` on 2,305 of them, 58 MB together, and how long 50,000 files take to be listed and planned.

    python tests/bench/small_files.py

The segments hold commits of offsets, spread over 50 partitions as a broker with small ``segment.bytes`` leaves them.
"""

import struct
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import ended
import sizes
from aiokafka.record.default_records import DefaultRecordBatchBuilder

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.spark import segments, session

SEGMENTS, BYTES = sizes.of((2_305, 58_000_000), quick=(230, 5_800_000))
FILES, PARTITIONS = sizes.of(50_000, quick=5_000), 50
_NOW = 1_790_000_000_000


def batch(group: int, commits: int) -> bytearray:
    """Commits of a group, one a partition of its topic."""
    made, name = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20), b"group-%07d" % group
    for number in range(commits):
        key = struct.pack(f">hh{len(name)}sh5si", 1, len(name), name, 5, b"topic", number)
        made.append(number, _NOW, key, struct.pack(">hqihq", 3, 42, -1, 0, _NOW), [])
    return made.build()


def write(log_dir: Path, files: int, commits: int) -> Path:
    """A log dir with so many segments, each of one batch."""
    made = [batch(group, commits) for group in range(PARTITIONS)]
    for number in range(files):
        partition, place = number % PARTITIONS, number // PARTITIONS
        folder = log_dir / f"{OFFSETS_TOPIC}-{partition}"
        folder.mkdir(parents=True, exist_ok=True)
        struct.pack_into(">q", made[partition], 0, place * commits)  # the base offset, which no checksum covers
        (folder / f"{place * commits:020}.log").write_bytes(made[partition])
    return log_dir


def measured(what: str, work: Callable[[], object]) -> object:
    """Print how long it took, and the processor time of the processes it ran."""
    began, before = time.perf_counter(), ended.used()
    found = work()
    print(f"{what}: {time.perf_counter() - began:.1f} s, {ended.used() - before:.1f} s of processor time", flush=True)
    return found


def collect(log_dir: Path, case: Path) -> None:
    """List the log dir into a case."""
    subprocess.run(
        [*ended.CASEBOOK, "collect", "--log-dirs", f"1={log_dir}", "--out", case], stdout=subprocess.DEVNULL, check=True
    )


def main() -> None:
    """Measure."""
    commits = BYTES // SEGMENTS // (len(batch(0, 1000)) // 1000)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        few, many = write(place / "few", SEGMENTS, commits), write(place / "many", FILES, 1)
        collect(few, place / "case")
        run = [*ended.CASEBOOK, "run", "40", "--source", place / "case", "--runs", place / "runs"]
        size = sum(one.stat().st_size for one in few.rglob("*.log")) / 1e6
        said = measured(
            f"run 40 on {SEGMENTS:,} segments, {size:.0f} MB", lambda: subprocess.run(run, capture_output=True, text=True)
        )
        print(said.stdout.splitlines()[0])
        measured(f"{FILES:,} files listed by collect", lambda: collect(many, place / "listed"))
        spark = session()
        tasks = measured(f"{FILES:,} files planned by Spark", lambda: segments(spark, many).rdd.getNumPartitions())
        print(f"{tasks} tasks")


if __name__ == "__main__":
    main()
