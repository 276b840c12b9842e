"""Restarts and drains of a large cluster, measured against decoding its znodes and judging its partitions in the same run.

    python tests/bench/maintenance.py

100 brokers, three of them dead, and 50,000 partitions of three replicas anywhere: the worst case, as no two partitions are alike.
"""

import gc
import resource
import statistics
import sys
from collections import deque
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import sizes

from casebook.formats.zookeeper import cluster
from casebook.kafka.drain import Wanted, plan
from casebook.kafka.partitions import verdicts
from casebook.kafka.restart_sets import RestartSets
from tests.bench.verdicts import VERSION, seconds, znodes

TOPICS, BROKERS, RUNS, DRAINED = sizes.of(2500, quick=250), 100, sizes.of(5, quick=1), 42
BOUND, MEMORY = 5.0, 1000
"""Times loading the case; MB."""


def main() -> None:
    """Measure, print, fail beyond a bound."""
    rows = znodes(TOPICS, BROKERS)
    found = cluster.from_znodes(rows)
    judged = verdicts(found, VERSION)
    gc.freeze()

    def matrix() -> None:
        deque(RestartSets(judged, found.live).singles_and_pairs(), maxlen=0)

    works = {
        "loading: facts and verdicts": lambda: verdicts(cluster.from_znodes(rows), VERSION),
        "restarts of each broker and each two": matrix,
        "a plan to drain one broker": lambda: plan(found, Wanted(brokers=frozenset({DRAINED})), {}),
    }
    times = {name: [] for name in works}
    for _ in range(RUNS):
        for name, work in works.items():
            times[name].append(seconds(work))
    medians = {name: statistics.median(took) for name, took in times.items()}
    base = next(iter(medians.values()))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    for name, median in medians.items():
        print(f"{name:<40}{median:7.2f} s {median / base:6.2f} x")
    print(f"{len(found.partitions):,} partitions, {BROKERS} brokers, {memory} MB, medians of {RUNS} alternating runs")
    if max(medians.values()) > BOUND * base or memory > MEMORY:
        sizes.beyond(f"More than {BOUND} times loading the case, or {MEMORY} MB.")


if __name__ == "__main__":
    main()
