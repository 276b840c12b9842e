"""What a scan reaches on a Spark standalone cluster of two workers with one core each, and in how much memory.

    python tests/bench/scale_out.py [rounds [gigabytes ...]]

The keys and values of all records of the commits (``memory.py``: the same bytes under many partition numbers, by hard links), in a
warm session of the cluster, in turns with two independent sessions at local[1] that scan half of the partitions each at the same
time. Servers listen on the loopback and are killed at the end. Then the cluster scans more and more with the same executors: their
peak of resident memory may only grow a little. On paper: a terabyte on ten machines of two cores, at the speed of the largest scan.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

import commits
import large_batches
import memory
import mid_size
import sizes

from casebook.spark import session
from tests.scans import standalone

ROUNDS, COMPARED = sizes.of(5, quick=1), 2.4
GIGABYTES = sizes.of((5.0, 20.0, 100.0), quick=(1.0, 2.0))
DISK = 4
SCALES, GROWTH = 0.9, 1.2
"""Bounds: the cluster's speed as a part of that of two independent processes; memory for the most data against that for the least."""
MACHINES, CORES_EACH, TERABYTE = 10, 2, 1e12


class Scanner:
    """A process with a warm session that scans folders when it is asked."""

    def __init__(self, folders: Sequence[Path], environment: Mapping[str, str]) -> None:
        command = [sys.executable, __file__, "scan", *map(str, folders)]
        self._process = subprocess.Popen(
            command, env=os.environ | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.id = self._process.pid

    def start(self, folders: int) -> None:
        """Begin with the first of its folders."""
        self._process.stdin.write(f"{folders}\n")
        self._process.stdin.flush()

    def wait(self) -> None:
        """Until it has scanned them."""
        if self._process.stdout.readline() != "done\n":
            raise RuntimeError("A scan failed.")

    def close(self) -> None:
        """End it."""
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    """Measure, print, fail beyond a bound."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    gigabytes = [float(size) for size in sys.argv[2:]] or GIGABYTES
    commits.offsets()
    with tempfile.TemporaryDirectory(dir=commits.HOME) as place:  # hard links need the same file system
        folders = memory.repeated(max(COMPARED, *gigabytes), Path(place))
        with standalone.cluster(Path(place), memory="1g", environment={}) as (master, workers):
            settings = {"spark.executor.memory": "900m", "spark.executor.extraJavaOptions": "-XX:+UseSerialGC"}
            configured = standalone.configuration(Path(place, "conf"), master, workers, **settings)
            cluster = Scanner(folders, {"SPARK_CONF_DIR": str(configured)})
            ids = [cluster.id, *(worker.pid for worker in workers)]
            try:
                scales = compared(cluster, ids, folders, rounds)
                grown = larger(cluster, ids, folders, gigabytes)
            finally:
                cluster.close()
    if scales < SCALES or grown > GROWTH:
        sizes.beyond(f"Below {SCALES} times the speed of independent processes, or more than {GROWTH} times the memory.")


def compared(cluster: Scanner, ids: Sequence[int], folders: Sequence[Path], rounds: int) -> float:
    """The cluster and two independent sessions in turns; the median ratio of their speeds."""
    count = max(2, round(COMPARED * 1e9 / commits.size(folders[0])) // 2 * 2)
    megabytes = count * commits.size(folders[0]) / 1e6
    alone = {"PYSPARK_SUBMIT_ARGS": "--master local[1] --conf spark.driver.extraJavaOptions=-XX:+UseSerialGC pyspark-shell"}
    halves = [Scanner(folders[half:count:2], alone) for half in (0, 1)]
    try:
        works = [([cluster], count, ids), (halves, count // 2, [half.id for half in halves])]
        for scanners, each, _ in works:
            scan_all(scanners, each)
        turns = []
        for _ in range(rounds):
            (wall, cpu), (theirs, theirs_cpu) = (timed(lambda s=s, n=n: scan_all(s, n), of) for s, n, of in works)
            print(
                f"cluster {wall:.1f} s, processor {cpu:.1f}; two processes {theirs:.1f} s, processor {theirs_cpu:.1f}", flush=True
            )
            turns.append((wall, cpu, theirs, theirs_cpu, theirs / wall, theirs_cpu / cpu))
    finally:
        for half in halves:
            half.close()
    wall, cpu, theirs, theirs_cpu, ratio, of_cpu = map(median, zip(*turns, strict=True))
    print(f"\nmedians of {rounds} rounds in turns on {megabytes:,.0f} MB, load {os.getloadavg()[0]:.1f}")
    print(f"cluster of two workers      {megabytes / wall:6.0f} MB/s, {megabytes / cpu:5.0f} MB a second of processor time")
    print(
        f"two independent processes   {megabytes / theirs:6.0f} MB/s, {megabytes / theirs_cpu:5.0f} MB a second of processor time"
    )
    print(f"the cluster's part {ratio:.2f} (bound: {SCALES}), by processor time {of_cpu:.2f}\n", flush=True)
    return ratio


def larger(cluster: Scanner, ids: Sequence[int], folders: Sequence[Path], gigabytes: Sequence[float]) -> float:
    """Print scans of more and more; the last one's memory as a multiple of the first's."""
    peaks = []
    for size in gigabytes:
        count = max(1, round(size * 1e9 / commits.size(folders[0])))
        found = count * commits.size(folders[0])
        wall, cpu = timed(lambda count=count: scan_all([cluster], count), ids)
        peaks.append(max(memory.peak(one) for worker in ids[1:] for one in mid_size.family(worker)[1:]))
        print(
            f"{found / 1e9:6.1f} GB: {wall:6.0f} s, processor {cpu:6.0f} s, {peaks[-1]:5.0f} MB at most of an executor",
            flush=True,
        )
    cores = MACHINES * CORES_EACH
    print(f"on paper: 1 TB takes {TERABYTE / found * cpu / 3600:.1f} hours of processor time, ", end="")
    print(f"on {MACHINES} machines of {CORES_EACH} cores {TERABYTE / found * cpu / cores / 60:.1f} minutes")
    return peaks[-1] / peaks[0]


def scan_all(scanners: Sequence[Scanner], folders: int) -> None:
    """Let each of them scan at the same time."""
    for scanner in scanners:
        scanner.start(folders)
    for scanner in scanners:
        scanner.wait()


def timed(work: Callable[[], None], ids: Sequence[int]) -> tuple[float, float]:
    """Wall seconds, and those of the processors in processes with all that they have started."""
    began, used = time.perf_counter(), _cpu(ids)
    work()
    return time.perf_counter() - began, _cpu(ids) - used


def _cpu(ids: Sequence[int]) -> float:
    return sum(large_batches.cpu_of(one) for process in ids for one in mid_size.family(process))


def scan(folders: Sequence[Path]) -> None:
    """Scan as many of the folders as each line of the input says."""
    spark = session()
    for line in sys.stdin:
        memory.every_record(spark, folders[: int(line)], "")
        print("done", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["scan"]:
        scan([Path(folder) for folder in sys.argv[2:]])
    else:
        main()
