"""A drain plan is carried out with Kafka's own tool while a producer goes on, and the drained broker is killed: nothing is missed."""

import json
import time
from dataclasses import dataclass

import pytest

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.kafka.drain import DrainPlan, Wanted, plan, reassignment
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.ledger import LedgerEntry, LedgerProducer, lost, stored
from tests.rehearsal import kafka_tools

DRAINED = 2
TOPICS = {
    "sole": {0: (2,), 1: (2,), 2: (3,)},
    "pair": {0: (2, 1), 1: (3, 2), 2: (4, 5)},
    "trio": {0: (1, 2, 3), 1: (2, 4, 5), 2: (3, 4, 1), 3: (5, 2, 1)},
    "__consumer_offsets": {0: (2, 3, 4), 1: (1, 5, 2)},
}
MIN_ISR = {"min.insync.replicas": "2"}
WRITTEN = [(topic, partition) for topic in ("sole", "pair", "trio") for partition in TOPICS[topic]]
SECONDS_AFTER = 3.0
PATIENT = {"zookeeper.session.timeout.ms": "10000"}
"""Longer than by default: a broker that a busy machine lets wait must not be given up."""


@dataclass(frozen=True)
class Drained:
    """What was planned, what the cluster held before and after, and what became of each record."""

    planned: DrainPlan
    least_in_sync: dict
    states: dict
    ledger: list[LedgerEntry]
    found: dict


@pytest.fixture(scope="module")
def drained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drain")
    with PlayedCluster(kafka="2.8.2", brokers=5, settings=PATIENT) as cluster:
        for topic, assignment in TOPICS.items():
            cluster.create_topic(topic, assignment, MIN_ISR if topic == "trio" else None)
        whole = {(topic, partition): set(to) for topic, partitions in TOPICS.items() for partition, to in partitions.items()}
        cluster.wait_until(lambda: _in_sync(cluster) == whole, what="all replicas in sync")
        collect_case(folder / "case", zookeeper=cluster.zookeeper)
        planned = plan(Case.open(folder / "case").cluster(), Wanted(brokers=frozenset({DRAINED}), most_moves=3), {})
        least = {place: len(to) for place, to in whole.items()}
        cluster.watch_states(lambda place, state, _: least.update({place: min(least[place], len(state["isr"]))}))
        producer = LedgerProducer(
            WRITTEN, bootstrap=cluster.bootstrap, kafka=cluster.kafka, client="billing", acks="all", pause=0.05
        )
        with producer:
            for step in planned.steps:
                file = folder / f"step-{step.number}.json"
                file.write_text(json.dumps(reassignment(step.moves)))
                kafka_tools.reassign(cluster, file)
                wanted = {(move.topic, move.partition): set(move.to_replicas) for move in step.moves}
                cluster.wait_until(
                    lambda wanted=wanted: wanted.items() <= _in_sync(cluster).items(), what=f"step {step.number} to end"
                )
            states = cluster.states()
            cluster.kill(DRAINED)
            cluster.wait_gone(DRAINED)
            time.sleep(SECONDS_AFTER)
        found = stored(WRITTEN, bootstrap=cluster.bootstrap, kafka=cluster.kafka)
    return Drained(planned, least, states, producer.ledger, found)


def _in_sync(cluster):
    return {place: set(state["isr"]) for place, state in cluster.states().items()}


def test_nothing_is_left_on_it(drained):
    """No replica, no leadership; each partition is led by whom the plan names."""
    assert not drained.planned.blocked
    assert all(DRAINED not in state["isr"] for state in drained.states.values())
    led = {place: state["leader"] for place, state in drained.states.items()}
    assert {(move.topic, move.partition): move.leader_after for move in drained.planned.moves}.items() <= led.items()
    moved = {(move.topic, move.partition) for move in drained.planned.moves}
    assert moved == {(t, p) for t, partitions in TOPICS.items() for p, to in partitions.items() if DRAINED in to}


def test_single_replicas_first(drained):
    """Nothing else saves them."""
    assert [move.topic for move in drained.planned.steps[0].moves][:2] == ["sole", "sole"]
    assert len(drained.planned.steps) > 2


def test_never_fewer_in_sync(drained):
    """At no moment had any partition fewer replicas in sync than before."""
    assert drained.least_in_sync == {(t, p): len(to) for t, partitions in TOPICS.items() for p, to in partitions.items()}


def test_no_write_fails_or_is_lost(drained):
    """With acks=all, through every step and the death of the drained broker."""
    assert [entry for entry in drained.ledger if entry.failed is not None] == []
    assert all(entry.acked is not None for entry in drained.ledger)
    assert lost(drained.ledger, drained.found) == []
    assert len(drained.ledger) > 100 * len(WRITTEN)
