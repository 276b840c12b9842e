"""Brokers are really stopped two by two, and each time every partition is written to: what was foretold refuses, and nothing else."""

import time
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message, Producer

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.kafka import release
from casebook.kafka.partitions import verdicts
from casebook.kafka.restart_sets import Harm, RestartSets
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers.records import client_settings
from casebook.rehearsal.servers.topics import Partition

TOPICS = {
    "0.9.0.1": {
        "sole": {0: (1,), 1: (3,)},
        "pair": {0: (1, 2), 1: (3, 1)},
        "both": {0: (2, 3), 1: (1, 3)},
        "trio": {0: (1, 2, 3), 1: (3, 2, 1)},
    },
    "2.8.2": {
        "sole": {0: (1,), 1: (4,)},
        "pair": {0: (1, 2), 1: (3, 4), 2: (5, 1)},
        "both": {0: (2, 3), 1: (4, 5)},
        "trio": {0: (1, 2, 3), 1: (3, 4, 5), 2: (5, 2, 4)},
        "__consumer_offsets": {0: (2, 3, 4), 1: (5, 1, 2)},
    },
}
"""By release, its topics with the replicas of each partition."""
MIN_ISR = {"both": "2", "trio": "2"}
BROKERS = {"0.9.0.1": 3, "2.8.2": 5}
SOON = {"controlled.shutdown.max.retries": "1", "controlled.shutdown.retry.backoff.ms": "100"}
"""A broker that nobody can take over from does not wait long for it."""
LAG = 60
"""Seconds of ``replica.lag.time.max.ms``."""
PATIENT = {"zookeeper.session.timeout.ms": "30000", "replica.lag.time.max.ms": str(1000 * LAG)}
"""Longer than by default: a broker that a busy machine lets wait must not be given up, nor leave an ISR before its leader stops."""
PATIENCE = 2.0 * LAG + 30.0
"""Seconds in which every partition acknowledges that nothing was foretold of.

A follower may catch up once more between the controller's word and its own end, and a new controller takes no dead follower out
of an ISR: its leader does, that looks every ``replica.lag.time.max.ms`` (``ReplicaManager.scala@0.9.0.1``).
"""
LONGER = 1.5
"""Seconds in which none of the others does, from then on."""
INTERNAL = "__admin_client"
"""The client whose records brokers take for internal topics, too (``AdminUtils.AdminClientId``, ``KafkaApis.scala@0.9.0.1, 2.8.2``)."""


@pytest.fixture(scope="module", params=TOPICS)
def told_and_seen(request, tmp_path_factory):
    """Of every pair of brokers: which partitions refuse acks=all, as foretold and as seen."""
    kafka = request.param
    topics, folder = TOPICS[kafka], tmp_path_factory.mktemp("pairs")
    whole = {(topic, partition): set(replicas) for topic, made in topics.items() for partition, replicas in made.items()}
    told, seen = {}, {}
    with PlayedCluster(kafka=kafka, brokers=BROKERS[kafka], settings=SOON | PATIENT) as cluster:
        for topic, assignment in topics.items():
            cluster.create_topic(topic, assignment, {"min.insync.replicas": MIN_ISR[topic]} if topic in MIN_ISR else None)
        for pair in combinations(cluster.ids, 2):
            cluster.wait_until(lambda: _in_sync(cluster) == whole, what="all replicas in sync", steady=0.5)
            told[pair] = _foretold(cluster, folder / "-".join(map(str, pair)), pair)
            cluster.stop(*pair)
            cluster.wait_gone(*pair)
            left = cluster.address(*(set(cluster.ids) - set(pair)))
            seen[pair] = _refused(whole, told[pair], bootstrap=left, kafka=kafka)
            cluster.start(*pair)
    return told, seen


def _in_sync(cluster: PlayedCluster) -> dict[Partition, set[int]]:
    return {place: set(state["isr"]) for place, state in cluster.states().items()}


def _foretold(cluster: PlayedCluster, folder: Path, pair: tuple[int, int]) -> set[Partition]:
    """What a case says that was taken before."""
    collect_case(folder, zookeeper=cluster.zookeeper)
    case = Case.open(folder)
    found = case.cluster()
    harmed = RestartSets(verdicts(found, release.release(found).version), found.live).harmed(pair)
    assert Harm.UNCLEAN not in harmed
    return {place for places in harmed.values() for place in places}


def _refused(partitions: Iterable[Partition], told: set[Partition], *, bootstrap: str, kafka: str) -> set[Partition]:
    """Which partitions do not acknowledge a record with acks=all; once all have that should, others get some more time."""
    left = set(partitions)
    producer = Producer(client_settings(bootstrap=bootstrap, kafka=kafka) | {"acks": "all", "client.id": INTERNAL})

    def send(topic: str, partition: int) -> None:
        producer.produce(topic, partition=partition, value=b"?", on_delivery=delivered)

    def delivered(error: KafkaError | None, message: Message) -> None:
        place = message.topic(), message.partition()
        if error is None:
            left.discard(place)
        elif time.monotonic() < deadline and place not in told:
            send(*place)

    deadline = time.monotonic() + PATIENCE
    for place in partitions:
        send(*place)
    while not left <= told and time.monotonic() < deadline:
        producer.poll(0.1)
    producer.flush(LONGER)
    producer.purge()
    return left


def test_every_pair(told_and_seen):
    """Partition by partition."""
    told, seen = told_and_seen
    assert told == seen


def test_there_is_something_to_tell(told_and_seen):
    """Of some pairs nobody misses anything but what only they hold, and every partition misses some pair."""
    told, _ = told_and_seen
    assert len({frozenset(places) for places in told.values()}) == len(told)
