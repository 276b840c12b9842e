"""How fast a walk collects 5,000 topics of 20 partitions on 30 brokers from a real ZooKeeper, and in how much memory.

    python tests/bench/collect.py [rounds]

Compared with a synchronous kazoo loop over the same znodes in the same run: a contiguous sample of it, extrapolated, as the
whole takes minutes; and with the same walk over kazoo's own asynchronous calls and several connections (``kazoo_reader.py``),
of which as many requests are in flight. All alternate, and medians are compared; processor time is that of the client. Peak
memory is that of a separate collecting process.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a script: the tests' ZooKeeper is found from the repository's root

import kazoo_reader
import sizes

from casebook.collect.zookeeper.ensemble import Ensemble
from casebook.collect.zookeeper.walk import Walk, _Walker, walk
from casebook.rehearsal.servers.processes import Guarded
from tests.collect.small_zookeeper import ZooKeeper, kafka, state_path

TOPICS, PARTITIONS, BROKERS = sizes.of(5_000, quick=500), 20, 30
SAMPLE = sizes.of(2_000, quick=200)
ROUNDS = sizes.of(5, quick=1)
CONNECTIONS = 4
WINDOW = 256
"""Requests in flight, as of a walk of ours."""
STAYS = 1.5
"""How many times as fast as kazoo's calls our client must be, or it is not worth its code."""
COLLECT = "import sys; from casebook.collect.collection import collect_case; collect_case(sys.argv[1], zookeeper=sys.argv[2])"


class Taken(NamedTuple):
    """Seconds of a walk."""

    wall: float
    cpu: float


def main() -> None:
    """Load a ZooKeeper, measure, and print the figures."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    guarded = Guarded()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            zookeeper = ZooKeeper(Path(scratch), guarded, java_options=("-Xmx1g",))
            measure(zookeeper, Path(scratch), rounds)
            zookeeper.close()
        finally:
            guarded.close()


def measure(zookeeper: ZooKeeper, scratch: Path, rounds: int) -> None:
    """Print speed and memory."""
    load(zookeeper)
    loops, walks, by_kazoo, cases = [], [], [], []
    for number in range(rounds):
        found, taken = timed(lambda: walk(zookeeper.address))
        same, theirs = timed(partial(kazoo_walk, zookeeper.address))
        if [(znode.path, znode.data) for znode in same.znodes] != [(znode.path, znode.data) for znode in found.znodes]:
            raise RuntimeError("Not the same znodes.")
        answers = found.answers
        walks.append(taken)
        by_kazoo.append(theirs)
        loops.append(synchronous_loop(zookeeper, number))
        cases.append(collect_seconds(scratch / f"case-{number}", zookeeper.address) / answers)
        print(f"walk {taken.wall:.1f} s, processor {taken.cpu:.1f}; kazoo's {theirs.wall:.1f}, {theirs.cpu:.1f}", flush=True)
    loop, collected = (statistics.median(seconds) * 1e6 for seconds in (loops, cases))
    (walked, cpu), (kazoo, kazoo_cpu) = (
        (statistics.median(of) / answers * 1e6 for of in zip(*taken, strict=True)) for taken in (walks, by_kazoo)
    )
    ratio, of_cpu = (statistics.median(b[at] / a[at] for a, b in zip(walks, by_kazoo, strict=True)) for at in (0, 1))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    title = f"{TOPICS:,} topics of {PARTITIONS} partitions, {answers:,} requests; load {os.getloadavg()[0]:.1f}"
    print(f"{title}; microseconds a request, medians of {rounds}:")
    print(f"synchronous kazoo loop    {loop:6.0f}   from {SAMPLE:,} of them; all would take {loop * answers / 1e6:.0f} s")
    print(f"walk                      {walked:6.0f}   {loop / walked:.1f} times as fast; {cpu:.0f} of processor time")
    print(f"the same by get_async     {kazoo:6.0f}   {kazoo_cpu:.0f} of processor time, {CONNECTIONS} connections")
    print(f"the walk is {ratio:.1f} times as fast as get_async, {of_cpu:.1f} times by processor time (it stays from {STAYS} on)")
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


def timed(work: Callable[[], Walk]) -> tuple[Walk, Taken]:
    """A walk, and its seconds."""
    began, used = time.perf_counter(), time.process_time()
    walked = work()
    return walked, Taken(time.perf_counter() - began, time.process_time() - used)


def kazoo_walk(address: str) -> Walk:
    """Our walk over kazoo's calls."""
    ensemble = Ensemble.parse(address)
    with kazoo_reader.connected(ensemble, CONNECTIONS) as reader:
        return _Walker(reader, WINDOW, lambda _done, _estimate: None).walk(ensemble)


def collect_seconds(out: Path, address: str) -> float:
    """Seconds of a process that makes a case."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", COLLECT, str(out), address], check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
