"""``kafka_topic`` against Spark's own Kafka connector on 3.9.2: the same records, the same columns, two tasks each, in turns.

    python tests/bench/kafka_topic.py [rounds [topic ...]]

Processor time is that of Spark and its Python workers; the broker's is not in it.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import commits
import peers
import sizes

from casebook.rehearsal import PlayedCluster
from casebook.spark import session
from casebook.spark.jvm import kafka_jars

ROUNDS = sizes.of(5, quick=1)
TOPICS = ("An", "Al", "Az")
FETCHES = ("connector",)
DISK = 8
TASKS = 2
BOUND = 0.8


def summary(frame: object) -> list[tuple]:
    """Every column is looked at, in every record."""
    found = frame.selectExpr("count(*)", "sum(length(key))", "sum(length(value))", "max(offset)", "max(timestamp)")
    return [tuple(row) for row in found.collect()]


def ours(spark: object, cluster: PlayedCluster, topic: str) -> list[tuple]:
    """The records by ``kafka_topic``."""
    read = spark.read.format("kafka_topic").schema("offset bigint, timestamp timestamp, key binary, value binary")
    return summary(read.options(bootstrap=cluster.bootstrap, kafka=cluster.kafka, slices=TASKS).load(topic))


def theirs(spark: object, cluster: PlayedCluster, topic: str) -> list[tuple]:
    """The records by the connector."""
    return summary(peers.connector(spark, cluster, topic, minPartitions=TASKS))


def processor_seconds(process: int) -> float:
    """Time used so far by a process, those it started, and those they did."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        one = int(stat.parent.name)
        parents[one], used[one] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    family = {process}
    while more := {one for one, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(used[one] for one in family)


def main() -> None:
    """Measure, print a table, fail beyond the bound."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    connector = peers.connector_jars()
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[2] --jars {','.join(map(str, connector + kafka_jars()))} pyspark-shell"
    with peers.broker() as cluster:
        spark = session()
        print(f"{'':4}{'connector s':>12}{'CPU s':>7}{'kafka_topic s':>15}{'CPU s':>7}{'ratio':>7}{'CPU':>7}", flush=True)
        worst = min(measured(spark, cluster, topic, rounds) for topic in sys.argv[2:] or TOPICS)
        spark.stop()
    if worst < BOUND:
        sizes.beyond(f"Less than {BOUND} times the connector's speed.")


def measured(spark: object, cluster: PlayedCluster, topic: str, rounds: int) -> float:
    """Median ratio of the connector's time to ours; the first round of each warms up."""
    peers.served(cluster, topic, commits.plain() / f"{topic}-0")
    for way in (theirs, ours):
        timed(spark, cluster, topic, way)
    found = []
    for _ in range(rounds):
        (said, *peer), (answer, *own) = (timed(spark, cluster, topic, way) for way in (theirs, ours))
        if said != answer:
            raise RuntimeError(f"Not the same records: {said}, {answer}")
        found.append((*peer, *own, peer[0] / own[0], peer[1] / own[1]))
    peer, peer_cpu, own, own_cpu, ratio, ratio_cpu = map(statistics.median, zip(*found, strict=True))
    print(f"{topic:4}{peer:12.1f}{peer_cpu:7.1f}{own:15.1f}{own_cpu:7.1f}{ratio:7.2f}{ratio_cpu:7.2f}", flush=True)
    return ratio


def timed(spark: object, cluster: PlayedCluster, topic: str, way: Callable[..., list[tuple]]) -> tuple[list[tuple], float, float]:
    """What a way answers, its seconds, and those of the processors."""
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    began, used = time.perf_counter(), processor_seconds(jvm)
    answer = way(spark, cluster, topic)
    return answer, time.perf_counter() - began, processor_seconds(jvm) - used


if __name__ == "__main__":
    main()
