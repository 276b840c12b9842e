"""Draining a broker of a large cluster, side by side with Yelp's kafka-utils (``kafka-cluster-manager decommission``).

    python tests/bench/decommission.py

The same topology for both: 100 living brokers in four racks, 50,000 partitions of three replicas in three racks. kafka-utils is
installed from the package index into an environment of its own, and plans with its default balancer; both times are from the
assignment in memory to the new one. What counts beside time: replicas copied, how even brokers are afterwards, and racks.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import sizes

from casebook.facts.cluster import Broker, Cluster, Partition, PartitionState
from casebook.kafka.drain import Wanted, plan
from casebook.machine.places import cache_dir

PEER = "kafka-utils==4.1.0"
FETCHES = ("kafka-utils==4.1.0",)
BROKERS, RACKS, TOPICS, PARTITIONS, DRAINED, RUNS = 100, 4, sizes.of(2500, quick=250), 20, 42, sizes.of(3, quick=1)

Place = tuple[str, int]
Assignment = Mapping[Place, Sequence[int]]

PEERS = """
import argparse, json, logging, sys, time
from kafka_utils.kafka_cluster_manager.cluster_info.cluster_topology import ClusterTopology
from kafka_utils.kafka_cluster_manager.cluster_info.partition_count_balancer import PartitionCountBalancer
from kafka_utils.kafka_cluster_manager.cluster_info.partition_measurer import UniformPartitionMeasurer
given = json.load(open(sys.argv[1]))
logging.disable(logging.CRITICAL)
assignment = {(topic, partition): replicas for topic, partition, replicas in given["assignment"]}
brokers = {int(broker): {"host": "h", "rack": rack} for broker, rack in given["racks"].items()}
args = argparse.Namespace(balancer_args=[])
started = time.process_time()
measurer = UniformPartitionMeasurer({}, brokers, assignment, args)
topology = ClusterTopology(assignment, brokers, measurer, lambda broker: broker.metadata["rack"])
PartitionCountBalancer(topology, args).decommission_brokers([given["drained"]])
moved = topology.assignment
took = time.process_time() - started
json.dump({"seconds": took, "assignment": [[*place, replicas] for place, replicas in moved.items()]}, open(sys.argv[2], "w"))
"""


def main() -> None:
    """Measure both in turns and print what each plan costs and leaves."""
    racks = {broker: f"r{broker % RACKS}" for broker in range(1, BROKERS + 1)}
    before = _assignment(racks)
    found = _cluster(before, racks)
    with tempfile.TemporaryDirectory() as folder:
        ours = theirs = {}
        times: dict[str, list[float]] = {"kafka-casebook": [], PEER: []}
        for _ in range(RUNS):
            took, ours = _ours(found, before)
            times["kafka-casebook"].append(took)
            took, theirs = _theirs(before, racks, Path(folder))
            times[PEER].append(took)
    print(f"{'':<20}{'seconds':>9}{'copied':>8}{'led anew':>10}{'replicas':>12}{'leaders':>12}{'one rack':>10}")
    for name, after in (("before", before), ("kafka-casebook", ours), (PEER, theirs)):
        took = f"{statistics.median(times[name]):9.2f}" if name in times else " " * 9
        print(f"{name:<20}{took}{_judged(before, after, racks)}")
    print("replicas, leaders: fewest and most on a broker that stays; one rack: partitions with two replicas in a rack")


def _assignment(racks: Mapping[int, str]) -> dict[Place, list[int]]:
    chance = random.Random(1)
    by_rack: dict[str, list[int]] = {}
    for broker, rack in racks.items():
        by_rack.setdefault(rack, []).append(broker)
    return {
        (f"topic-{topic:04}", partition): [chance.choice(by_rack[rack]) for rack in chance.sample(sorted(by_rack), 3)]
        for topic in range(TOPICS)
        for partition in range(PARTITIONS)
    }


def _cluster(assignment: Assignment, racks: Mapping[int, str]) -> Cluster:
    return Cluster(
        brokers={broker: Broker(id=broker, rack=rack) for broker, rack in racks.items()},
        partitions=tuple(
            Partition(topic, partition, tuple(replicas), state=PartitionState(replicas[0], tuple(replicas), 1, 1))
            for (topic, partition), replicas in assignment.items()
        ),
    )


def _ours(found: Cluster, before: Assignment) -> tuple[float, dict[Place, Sequence[int]]]:
    started = time.process_time()
    planned = plan(found, Wanted(brokers=frozenset({DRAINED})), {})
    took = time.process_time() - started
    assert not planned.blocked
    return took, {**before, **{(move.topic, move.partition): move.to_replicas for move in planned.moves}}


def _theirs(before: Assignment, racks: Mapping[int, str], folder: Path) -> tuple[float, dict[Place, Sequence[int]]]:
    given, planned = folder / "given.json", folder / "planned.json"
    rows = [[*place, replicas] for place, replicas in before.items()]
    given.write_text(json.dumps({"assignment": rows, "racks": racks, "drained": DRAINED}))
    subprocess.run([_python(), "-c", PEERS, given, planned], check=True)
    answer = json.loads(planned.read_text())
    return answer["seconds"], {(topic, partition): replicas for topic, partition, replicas in answer["assignment"]}


def _python() -> Path:
    """The interpreter of the peer's own environment, made once."""
    home = cache_dir() / PEER
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], check=True)
    return python


def _judged(before: Assignment, after: Assignment, racks: Mapping[int, str]) -> str:
    copied = sum(len(set(after[place]) - set(replicas)) for place, replicas in before.items())
    moved = sum(after[place][0] != replicas[0] for place, replicas in before.items())
    held = Counter(broker for replicas in after.values() for broker in replicas)
    led = Counter(replicas[0] for replicas in after.values())
    together = sum(len({racks[broker] for broker in replicas}) < len(replicas) for replicas in after.values())
    return f"{copied:8,}{moved:10,}{_range(held):>12}{_range(led):>12}{together:10,}"


def _range(counts: Mapping[int, int]) -> str:
    staying: Iterable[int] = (counts[broker] for broker in range(1, BROKERS + 1) if broker != DRAINED)
    least, *_, most = sorted(staying)
    return f"{least:,}-{most:,}"


if __name__ == "__main__":
    main()
