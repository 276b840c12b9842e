"""A broker dies, and the controller before it could act: nobody is left who saw the leaders alive.

What the next controller writes differs: 0.9 leaves the dead leaders' names and full ISRs where they are, later
releases write leader -1 and keep one ISR member.
"""

import time

from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, back_again, well
from casebook.versions import KafkaVersion

BROKERS = (1, 2, 3, 4)
DEAD = (1, 4)
FIRST_CONTROLLER = 1
RECORDS = 10

_HEAD_START = 3.2
"""Seconds by which broker 4 dies before the controller.

A session of 6 s whose broker pings every 2 s ends 4 to 6.5 s after the kill. With this start the controller is dead when
broker 4 is given up, and given up after it: the next controller finds both gone.
"""


def play(stage: Stage) -> None:
    """Play it on a stage."""
    during = _during(stage.truth.kafka)
    with stage.cluster(brokers=len(BROKERS), controller=FIRST_CONTROLLER) as cluster:
        for topic in sorted({row.topic for row in during}):
            stage.create_topic(cluster, topic, {row.partition: row.replicas for row in during if row.topic == topic})
        stage.produce(cluster, {(row.topic, row.partition): RECORDS for row in during})
        stage.expect("before", cluster, Phase(live=BROKERS, controller=FIRST_CONTROLLER, partitions=well(during)))

        stage.kill(cluster, 4)
        time.sleep(_HEAD_START)
        stage.kill(cluster, 1)
        stage.gone(cluster, *DEAD)
        phase = Phase(live=(2, 3), dead=DEAD, partitions=during)
        stage.expect("during", cluster, phase)
        if stage.visited(cluster):
            return

        stage.remember(cluster)
        stage.start(cluster, 4)
        stage.start(cluster, 1)
        stage.expect("after", cluster, Phase(live=BROKERS, partitions=back_again(during, started=(4, 1))))
    stage.verify_start_first(cluster, phase)


def _during(kafka: str) -> tuple[Expected, ...]:
    left_alone = KafkaVersion.parse(kafka) < KafkaVersion.parse("2.3.0")
    return (
        _lost(left_alone, "payments", 0, (1,), isr=(1,), why="Its only replica is on broker 1."),
        _lost(left_alone, "payments", 1, (4,), isr=(4,), why="Its only replica is on broker 4."),
        _lost(left_alone, "payments", 2, (4,), isr=(4,), why="Its only replica is on broker 4."),
        _kept("payments", 3, (2,), leader=2, isr=(2,), why="Its only replica is on broker 2, which lived."),
        _both(left_alone, "orders", 0, (1, 4)),
        _both(left_alone, "orders", 1, (4, 1)),
        _kept("orders", 2, (1, 2), leader=2, isr=(2,), why="Broker 1 died; the new controller elected broker 2."),
        _kept("orders", 3, (2, 3), leader=2, isr=(2, 3), why="Both its replicas lived."),
        _kept("orders", 4, (2, 1), leader=2, isr=(2,), why="Broker 1 died and left the ISR."),
        _kept("clicks", 0, (1, 4, 2), leader=2, isr=(2,), why="Brokers 4 and 1 died; the new controller elected broker 2."),
        _kept("clicks", 1, (4, 1, 3), leader=3, isr=(3,), why="Brokers 4 and 1 died; the new controller elected broker 3."),
    )


def _both(left_alone: bool, topic: str, partition: int, replicas: tuple[int, ...]) -> Expected:
    """A partition whose replicas are the two dead. Where the ISR is cut, broker 1 goes first and 4 is kept."""
    why = "Both its replicas died, and the controller with them."
    return _lost(left_alone, topic, partition, replicas, isr=(1, 4) if left_alone else (4,), why=why)


def _kept(topic: str, partition: int, replicas: tuple[int, ...], *, leader: int, isr: tuple[int, ...], why: str) -> Expected:
    return Expected(topic=topic, partition=partition, replicas=replicas, leader=leader, isr=isr, why=why)


def _lost(left_alone: bool, topic: str, partition: int, replicas: tuple[int, ...], *, isr: tuple[int, ...], why: str) -> Expected:
    return Expected(
        topic=topic,
        partition=partition,
        replicas=replicas,
        state="leader_dead" if left_alone else "leaderless",
        leader=replicas[0] if left_alone else None,
        isr=isr,
        waits_for=isr,
        why=why,
    )
