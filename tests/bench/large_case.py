"""Notebook 20 headless on a case of 5,000 topics x 20 partitions on 30 brokers, three of them dead: time, memory, report size."""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sizes

TOPICS, PARTITIONS, BROKERS, DEAD = sizes.of(5_000, quick=500), 20, 30, (4, 11, 23)


def write_dump(path: Path) -> None:
    """A znode dump of the cluster; the same at each call."""
    rng = random.Random(7)
    live = [broker for broker in range(1, BROKERS + 1) if broker not in DEAD]
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
        for number in range(TOPICS):
            replicas = {str(p): rng.sample(range(1, BROKERS + 1), rng.choice((1, 2, 3, 3))) for p in range(PARTITIONS)}
            znode(f"/brokers/topics/topic-{number:04}", {"version": 1, "partitions": replicas})
            for partition, assigned in replicas.items():
                in_sync = [broker for broker in assigned if broker in live]
                state = {"version": 1, "leader_epoch": 3, "controller_epoch": 12}
                state |= {"leader": in_sync[0], "isr": in_sync} if in_sync else {"leader": -1, "isr": assigned[-1:]}
                znode(f"/brokers/topics/topic-{number:04}/partitions/{partition}/state", state)


def main() -> None:
    """Collect the dump, run the notebook, print what it took."""
    casebook = [sys.executable, "-c", "from casebook.cli import main; main()"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_dump(folder / "dump.jsonl")
        subprocess.run(
            [*casebook, "collect", "--zookeeper-dump", str(folder / "dump.jsonl"), "--out", str(folder / "case")],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        began = time.perf_counter()
        done = subprocess.run(
            [*casebook, "run", "20", "--source", str(folder / "case"), "--runs", str(folder / "runs")],
            capture_output=True,
            text=True,
            check=False,
        )
        took = time.perf_counter() - began
        report = Path(done.stdout.splitlines()[-1]) / "report.html"
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(done.stdout.splitlines()[0])
        print(
            f"notebook 20 headless on {TOPICS * PARTITIONS:,} partitions: {took:.1f} s, largest process {peak:.0f} MB, report {report.stat().st_size / 2**20:.1f} MB (bound: 8)"
        )


if __name__ == "__main__":
    main()
