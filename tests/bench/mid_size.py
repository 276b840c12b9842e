"""All notebooks in one pass on a case of the middle size, against each of them alone: 90 against 10 to 80, as whole processes.

    python tests/bench/mid_size.py [rounds]

Three brokers, 2,000 partitions, 2 GB of ``__consumer_offsets`` on one of them, 500 MB of logs, at local[2]. Each run has a fresh
copy of the case, which has no scan to take up. Memory is the most that the processes of a run ever had resident, added up.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

import commits
import ended
import logs
import memory
import sizes

from casebook.facts.disks import OFFSETS_TOPIC

BROKERS, TOPICS, PARTITIONS = (1, 2, 3), sizes.of(130, quick=13), 15
SEGMENTS_GB, LOGS_MB = sizes.of((2.0, 500), quick=(0.2, 50))
ROUNDS, BOUND = sizes.of(3, quick=1), 1.5
DISK = 4
ALONE = sizes.of(("10", "20", "30", "40", "50", "60", "70", "80"), quick=("20", "40"))


def write_dump(path: Path, offsets: int) -> None:
    """A znode dump of the cluster, the same at each call; each topic has three replicas, and all is well."""
    rng = random.Random(11)
    with path.open("w") as out:

        def znode(name: str, data: object) -> None:
            text = data if isinstance(data, str) or data is None else json.dumps(data)
            out.write(json.dumps({"path": name, "data": text, "stat": {"mtime": 1_763_000_000_000, "version": 1}}) + "\n")

        znode("/brokers/ids", None)
        for broker in BROKERS:
            told = {"version": 2, "host": f"kafka-{broker}", "port": 9092, "jmx_port": -1, "timestamp": "1763000000000"}
            znode(f"/brokers/ids/{broker}", told | {"endpoints": [f"PLAINTEXT://kafka-{broker}:9092"]})
        znode("/controller", {"version": 1, "brokerid": 1, "timestamp": "1763000000000"})
        znode("/controller_epoch", "12")
        topics = {f"topic-{number:03}": PARTITIONS for number in range(TOPICS)} | {OFFSETS_TOPIC: offsets}
        for topic, partitions in topics.items():
            replicas = {str(number): rng.sample(BROKERS, 3) for number in range(partitions)}
            znode(f"/brokers/topics/{topic}", {"version": 1, "partitions": replicas})
            for number, assigned in replicas.items():
                state = {"version": 1, "leader_epoch": 3, "controller_epoch": 12, "leader": assigned[0], "isr": assigned}
                znode(f"/brokers/topics/{topic}/partitions/{number}/state", state)


def case(folder: Path) -> Path:
    """The case, with its log dir beside it."""
    folders = memory.repeated(SEGMENTS_GB, _made(folder / "log-dir"))
    write_dump(folder / "dump.jsonl", len(folders))
    of_brokers = [arg for broker in BROKERS for arg in _logs(folder, broker)]
    subprocess.run(
        [*ended.CASEBOOK, "collect", "--zookeeper-dump", folder / "dump.jsonl", "--log-dirs", f"1={folder / 'log-dir'}", *of_brokers,
         "--out", folder / "case"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return folder / "case"


def _logs(folder: Path, broker: int) -> tuple[str, str]:
    log = logs.corpus(_made(folder / f"logs-{broker}"), LOGS_MB * logs.MB // len(BROKERS))
    return "--logs", f"{broker}={log}"


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def run(notebook: str, original: Path) -> tuple[float, float]:
    """Seconds and megabytes of a run on a fresh copy of the case."""
    with tempfile.TemporaryDirectory(dir=original.parent) as place:
        copy = shutil.copytree(original, Path(place, "case"), copy_function=os.link)
        command = [*ended.CASEBOOK, "run", notebook, "--source", copy, "--runs", Path(place, "runs")]
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_ENVIRONMENT)
        with Watched(process.pid) as watched:
            said, complained = process.communicate()
        took = time.perf_counter() - began
        if "report.html" not in said or complained.strip():
            raise RuntimeError(f"{notebook}: {said} {complained}")
        return took, watched.megabytes


_ENVIRONMENT = os.environ | {"PYSPARK_SUBMIT_ARGS": "--master local[2] pyspark-shell"}


class Watched:
    """The most memory that a process and all it started ever had resident together."""

    def __init__(self, process: int) -> None:
        self.megabytes = 0.0
        self._process, self._over = process, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Watched":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            self.megabytes = max(self.megabytes, sum(map(_resident, family(self._process))))


def family(process: int) -> list[int]:
    """A process and all that any of its threads started."""
    children: list[str] = []
    for thread in Path(f"/proc/{process}/task").glob("*"):
        with suppress(OSError):  # it has ended
            children += (thread / "children").read_text().split()
    return [process, *(one for child in children for one in family(int(child)))]


def _resident(process: int) -> float:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


def main() -> None:
    """Take turns, print medians, fail above the bound."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    commits.offsets()
    with tempfile.TemporaryDirectory(dir=commits.HOME) as place:  # hard links need the same file system
        original = case(Path(place))
        found = [{notebook: run(notebook, original) for notebook in (*ALONE, "90")} for _ in range(rounds)]
    for notebook in (*ALONE, "90"):
        seconds, megabytes = (median(one[notebook][place] for one in found) for place in (0, 1))
        print(f"notebook {notebook}: {seconds:6.1f} s {megabytes:7.0f} MB")
    ratio = median(one["90"][0] / sum(one[alone][0] for alone in ALONE) for one in found)
    print(f"90 in one pass against the sum of the others alone: {ratio:.2f}")
    if ratio > BOUND:
        sizes.beyond(f"More than {BOUND} times the sum of its parts.")


if __name__ == "__main__":
    main()
