"""Notebooks headless on a large cluster: time, processor time, memory of the largest process, size of the report.

    python tests/bench/large_case.py [partitions] [notebook ...]

By default notebook 20 on 5,000 topics of 20 partitions on 30 brokers, three of them dead. A million partitions have 1,000 brokers.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a script, or imported by a test

from tests.bench import ended, sizes

PARTITIONS = 20
"""Partitions of a topic."""
_DEAD = frozenset({4, 11, 23})
_NOTEBOOKS = ("20",)


def write_dump(path: Path, topics: int = 5_000, brokers: int = 30) -> None:
    """A znode dump of the cluster; the same at each call."""
    rng = random.Random(7)
    live = [broker for broker in range(1, brokers + 1) if broker not in _DEAD]
    with path.open("w") as out:

        def znode(name: str, data: object) -> None:
            text = data if isinstance(data, str) or data is None else json.dumps(data)
            out.write(json.dumps({"path": name, "data": text, "stat": {"mtime": 1_573_000_000_000, "version": 1}}) + "\n")

        znode("/brokers/ids", None)
        for broker in live:
            endpoints = [f"PLAINTEXT://kafka-{broker}:9092"]
            znode(
                f"/brokers/ids/{broker}",
                {
                    "version": 2,
                    "host": f"kafka-{broker}",
                    "port": 9092,
                    "jmx_port": -1,
                    "timestamp": "1573000000000",
                    "endpoints": endpoints,
                },
            )
        znode("/controller", {"version": 1, "brokerid": live[0], "timestamp": "1573000000000"})
        znode("/controller_epoch", "12")
        for number in range(topics):
            replicas = {str(p): rng.sample(range(1, brokers + 1), rng.choice((1, 2, 3, 3))) for p in range(PARTITIONS)}
            znode(f"/brokers/topics/topic-{number:04}", {"version": 1, "partitions": replicas})
            for partition, assigned in replicas.items():
                in_sync = [broker for broker in assigned if broker in live]
                state = {"version": 1, "leader_epoch": 3, "controller_epoch": 12}
                state |= {"leader": in_sync[0], "isr": in_sync} if in_sync else {"leader": -1, "isr": assigned[-1:]}
                znode(f"/brokers/topics/topic-{number:04}/partitions/{partition}/state", state)


def main() -> None:
    """Collect the dump, run the notebooks, print what each took."""
    partitions = int(sys.argv[1]) if sys.argv[1:] else sizes.of(100_000, quick=10_000)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_dump(folder / "dump.jsonl", partitions // PARTITIONS, 1_000 if partitions >= 1_000_000 else 30)
        dump = ["--zookeeper-dump", folder / "dump.jsonl", "--out", folder / "case"]
        subprocess.run([*ended.CASEBOOK, "collect", *dump], check=True, stdout=subprocess.DEVNULL)
        for notebook in sys.argv[2:] or _NOTEBOOKS:
            print(f"notebook {notebook} on {partitions:,} partitions: {run(notebook, folder)}", flush=True)


def run(notebook: str, folder: Path) -> str:
    """What a run took: the largest process is that of all so far."""
    began, used = time.perf_counter(), ended.used()
    command = [*ended.CASEBOOK, "run", notebook, "--source", folder / "case", "--runs", folder / "runs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took, used = time.perf_counter() - began, ended.used() - used
    report = Path(done.stdout.splitlines()[-1]) / "report.html"
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    size = report.stat().st_size / 2**20
    return f"{took:.1f} s, CPU {used:.1f} s, largest process {peak:.0f} MB, report {size:.1f} MB (bound: 8)"


if __name__ == "__main__":
    main()
