"""How fast a walk collects 5,000 topics of 20 partitions on 30 brokers from a real ZooKeeper, and in how much memory.

Compared with a synchronous kazoo loop over the same znodes in the same run: a contiguous sample of it, extrapolated, as the
whole takes minutes. The two alternate, and medians are compared. Peak memory is that of a separate collecting process.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a script: the tests' ZooKeeper is found from the repository's root

import sizes

from casebook.collect.zookeeper.walk import walk
from casebook.rehearsal.servers.processes import Guarded
from tests.collect.small_zookeeper import ZooKeeper, kafka, state_path

TOPICS, PARTITIONS, BROKERS = sizes.of(5_000, quick=500), 20, 30
SAMPLE = sizes.of(10_000, quick=1_000)
ROUNDS = sizes.of(5, quick=1)
COLLECT = "import sys; from casebook.collect import collect_case; collect_case(sys.argv[1], zookeeper=sys.argv[2])"


def main() -> None:
    """Load a ZooKeeper, measure, and print the figures."""
    guarded = Guarded()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            zookeeper = ZooKeeper(Path(scratch), guarded, java_options=("-Xmx1g",))
            measure(zookeeper, Path(scratch))
            zookeeper.close()
        finally:
            guarded.close()


def measure(zookeeper: ZooKeeper, scratch: Path) -> None:
    """Print speed and memory."""
    load(zookeeper)
    loops, walks, cases = [], [], []
    for number in range(ROUNDS):
        loops.append(synchronous_loop(zookeeper, number))
        walked, answers = walk_seconds(zookeeper.address)
        walks.append(walked / answers)
        cases.append(collect_seconds(scratch / f"case-{number}", zookeeper.address) / answers)
    loop, walked, collected = (statistics.median(seconds) * 1e6 for seconds in (loops, walks, cases))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{TOPICS:,} topics of {PARTITIONS} partitions, {answers:,} requests; microseconds a request, medians of {ROUNDS}:")
    print(f"synchronous kazoo loop    {loop:6.0f}   from {SAMPLE:,} of them; all would take {loop * answers / 1e6:.0f} s")
    print(f"walk                      {walked:6.0f}   {loop / walked:.1f} times as fast")
    print(f"casebook collect, whole   {collected:6.0f}   {loop / collected:.1f} times as fast, start and case folder included")
    print(f"peak memory of casebook collect: {memory:.0f} MB (wanted: under 700)")


def load(zookeeper: ZooKeeper) -> None:
    """Create the cluster's znodes, a transaction a topic."""
    zookeeper.tree(kafka({}, brokers=tuple(range(1, BROKERS + 1))))
    pending: deque = deque()
    for topic in range(TOPICS):
        transaction = zookeeper.client.transaction()
        for path, data in topic_znodes(f"topic-{topic:05}", topic).items():
            transaction.create(path, data)
        pending.append(transaction.commit_async())
        if len(pending) > 50:
            pending.popleft().get()
    while pending:
        pending.popleft().get()


def topic_znodes(name: str, seed: int) -> dict[str, bytes]:
    """A topic's znodes, parents first."""
    assignment = {p: [(seed + p + replica) % BROKERS + 1 for replica in range(3)] for p in range(PARTITIONS)}
    states = {
        path: data for path, data in kafka({name: assignment}, brokers=()).items() if path.startswith(f"/brokers/topics/{name}")
    }
    containers = [f"/brokers/topics/{name}/partitions"] + [f"/brokers/topics/{name}/partitions/{p}" for p in assignment]
    config = {f"/config/topics/{name}": json.dumps({"version": 1, "config": {"min.insync.replicas": "2"}}).encode()}
    together = states | dict.fromkeys(containers, b"") | config
    return dict(sorted(together.items()))


def synchronous_loop(zookeeper: ZooKeeper, number: int) -> float:
    """Seconds a request of a plain loop over some states."""
    first = number * SAMPLE // PARTITIONS % TOPICS
    paths = [state_path(f"topic-{(first + n // PARTITIONS) % TOPICS:05}", n % PARTITIONS) for n in range(SAMPLE)]
    started = time.perf_counter()
    for path in paths:
        zookeeper.client.get(path)
    return (time.perf_counter() - started) / SAMPLE


def walk_seconds(address: str) -> tuple[float, int]:
    """Seconds of a walk, and the requests it took."""
    started = time.perf_counter()
    answers = walk(address).answers
    return time.perf_counter() - started, answers


def collect_seconds(out: Path, address: str) -> float:
    """Seconds of a process that makes a case."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", COLLECT, str(out), address], check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
