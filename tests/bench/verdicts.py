"""Verdicts for 100,000 partitions, measured against json.loads of their state znodes in the same run.

    python tests/bench/verdicts.py [topics]

Runs alternate, so that whatever else the machine does falls on both; medians count.
"""

import gc
import json
import random
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable

import sizes

from casebook.facts.znodes import Stat, Znode
from casebook.formats.zookeeper import cluster
from casebook.kafka.partitions import verdicts
from casebook.kafka.releases import KafkaVersion

TOPICS, PARTITIONS, BROKERS, DEAD = sizes.of(5000, quick=500), 20, 30, frozenset({7, 19, 23})
RUNS, BOUND = sizes.of(7, quick=1), 8.0
VERSION = KafkaVersion.parse("0.9.0.1")


def znodes(topics: int, brokers: int = BROKERS) -> list[Znode]:
    """The znodes of a large cluster that has lost three brokers; every ISR is what 0.9 leaves of it."""
    chance = random.Random(1)
    live = [broker for broker in range(1, brokers + 1) if broker not in DEAD]
    rows = [Znode(path=path, stat=Stat(mtime=1)) for path in ("/brokers/ids", "/brokers/topics", "/config", "/config/topics")]
    rows += [
        _row(f"/brokers/ids/{b}", {"version": 2, "host": "h", "port": 9092, "endpoints": [f"PLAINTEXT://h{b}:9092"]})
        for b in live
    ]
    rows += [_row("/controller", {"version": 1, "brokerid": live[0]}), Znode(path="/controller_epoch", data=b"5")]
    for number in range(topics):
        topic = f"/brokers/topics/orders.of.region-{number:04d}"
        assignment = {partition: chance.sample(range(1, brokers + 1), 3) for partition in range(PARTITIONS)}
        rows.append(_row(topic, {"version": 1, "partitions": assignment}))
        for partition, replicas in assignment.items():
            isr = [broker for broker in replicas if broker not in DEAD]
            state = {
                "controller_epoch": 5,
                "leader": isr[0] if isr else -1,
                "version": 1,
                "leader_epoch": 3,
                "isr": isr or replicas[:1],
            }
            written = 1_463_000_000_000 + chance.randrange(3_600_000)
            rows.append(_row(f"{topic}/partitions/{partition}/state", state, written))
    return rows


def _row(path: str, content: object, written: int = 1) -> Znode:
    stat = Stat(
        czxid=1, mzxid=2, pzxid=1, ctime=1, mtime=written, version=3, cversion=0, ephemeralOwner=0, dataLength=70, numChildren=0
    )
    return Znode(path=path, data=json.dumps(content, separators=(",", ":")).encode(), stat=stat, read_at=written)


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> None:
    """Measure, print a table, fail beyond the bound."""
    rows = znodes(int(sys.argv[1]) if len(sys.argv) > 1 else TOPICS)
    states = [row.data for row in rows if row.path.endswith("/state")]
    found = cluster.from_znodes(rows)
    works = {
        "json.loads of the states": lambda: deque(map(json.loads, states), maxlen=0),
        "decode all znodes": lambda: cluster.from_znodes(rows),
        "verdicts": lambda: verdicts(found, VERSION),
    }
    gc.freeze()  # a case streams its znodes: they are not in memory for the collector to go through, as they are here
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(RUNS):
        for name, work in works.items():
            times[name].append(seconds(work))
    medians = {name: statistics.median(found) for name, found in times.items()}
    base, *others = medians.values()
    print(f"{len(states):,} partitions, medians of {RUNS} alternating runs\n")
    for name, median in [*medians.items(), ("decode and verdicts together", sum(others))]:
        print(f"{name:<30}{median * 1000:8.0f} ms {median / len(states) * 1e6:7.1f} µs each {median / base:6.1f} x")
    if sum(others) > BOUND * base:
        sizes.beyond(f"More than {BOUND:.0f} times json.loads.")


if __name__ == "__main__":
    main()
