"""A broker fails, and the controller before it could react: no broker is left that saw the leaders alive.

The next controller's writes differ: up to 2.2 it keeps the dead leaders' names and their ISRs, later releases write leader -1 and
keep one ISR member.
"""

import time

from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, after, before, kept, lost

BROKERS = (1, 2, 3, 4)
DEAD = (1, 4)
FIRST_CONTROLLER = 1
RECORDS = 10

_HEAD_START = 3.2
"""Seconds by which broker 4 fails before the controller.

A session of 6 s with a heartbeat every 2 s ends 4 to 6.5 s after the kill. With this delay the controller is dead when broker 4
expires, and expires after it: the next controller finds both gone. It is shorter than ``replica.lag.time.max.ms``, so that broker
4 is still in the ISRs of broker 1.
"""


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = _during(stage.truth.kafka)
    with stage.cluster(brokers=len(BROKERS), controller=FIRST_CONTROLLER) as cluster:
        stage.create_topics(cluster, rows)
        stage.produce(cluster, {(row.topic, row.partition): RECORDS for row in rows})
        stage.expect("before", cluster, Phase(live=BROKERS, controller=FIRST_CONTROLLER, partitions=before(rows)))

        stage.kill(cluster, 4)
        time.sleep(_HEAD_START)
        stage.kill(cluster, 1)
        stage.gone(cluster, *DEAD)
        during = Phase(live=(2, 3), dead=DEAD, partitions=rows)
        stage.expect("during", cluster, during)
        if stage.visited(cluster):
            return

        stage.remember(cluster)
        stage.start(cluster, 4)
        stage.start(cluster, 1)
        stage.expect("after", cluster, Phase(live=BROKERS, partitions=after(rows)))
    stage.verify_start_first(cluster, during)


def _during(kafka: str) -> tuple[Expected, ...]:
    left_alone = KafkaVersion.parse(kafka) < KafkaVersion.parse("2.3.0")
    # When dead members leave the ISR, broker 1 goes first and 4 is kept.
    both = (1, 4) if left_alone else (4,)

    def gone(name: str, replicas: tuple[int, ...], isr: tuple[int, ...], why: str) -> Expected:
        return lost(name, replicas, isr=isr, named=replicas[0] if left_alone else None, why=why)

    return (
        gone("payments-0", (1,), (1,), "Its only replica is on broker 1."),
        gone("payments-1", (4,), (4,), "Its only replica is on broker 4."),
        gone("payments-2", (4,), (4,), "Its only replica is on broker 4."),
        kept("payments-3", (2,), leader=2, isr=(2,), why="Its only replica is on broker 2, which lived."),
        gone("orders-0", (1, 4), both, "Both its replicas died, and the controller with them."),
        gone("orders-1", (4, 1), both, "Both its replicas died, and the controller with them."),
        kept("orders-2", (1, 2), leader=2, isr=(2,), why="Broker 1 died; the new controller elected broker 2."),
        kept("orders-3", (2, 3), leader=2, isr=(2, 3), why="Both its replicas lived."),
        kept("orders-4", (2, 1), leader=2, isr=(2,), why="Broker 1 died and left the ISR."),
        kept("clicks-0", (1, 4, 2), leader=2, isr=(2,), why="Brokers 4 and 1 died; the new controller elected broker 2."),
        kept("clicks-1", (4, 1, 3), leader=3, isr=(3,), why="Brokers 4 and 1 died; the new controller elected broker 3."),
    )
