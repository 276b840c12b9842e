"""Incident C, its beginning: two of five brokers are too slow, and are killed before anything was moved away from them.

Partitions on them alone have no leader, and those with two replicas on them refuse ``acks=all``. The earlier case shows what a
plan could have known; a restart brings everything back.
"""

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, after, before, kept, lost

BROKERS = (1, 2, 3, 4, 5)
CONTROLLER = 3
SLOW = (4, 5)
SETTINGS = {"audit": {"min.insync.replicas": "2"}, OFFSETS_TOPIC: {"cleanup.policy": "compact"}}
RECORDS = 20


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = during_rows()
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        stage.produce(cluster, {(row.topic, row.partition): RECORDS for row in rows if row.topic != OFFSETS_TOPIC})
        stage.expect(
            "before", cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=before(rows)), disks=BROKERS, history=True
        )
        for broker in SLOW:
            stage.kill(cluster, broker)
            stage.gone(cluster, broker)
        live = tuple(broker for broker in BROKERS if broker not in SLOW)
        during = Phase(live=live, dead=SLOW, controller=CONTROLLER, partitions=rows)
        stage.expect("during", cluster, during, disks=BROKERS)
        if stage.visited(cluster):
            return
        stage.start(cluster, *SLOW)
        stage.expect("after", cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=after(rows)))


def during_rows() -> tuple[Expected, ...]:
    """Return every partition after both failed."""
    alone, both = "Its only replica is on broker {}.", "Broker 4 died and left the ISR; then broker 5, its last member."
    one = "One of its replicas was on a broker that was killed."
    refused = "Two of its replicas were on brokers that were killed: too few are in sync for acks=all."
    untouched = "None of its replicas was on a broker that was killed."
    return (
        kept("payments-0", (1,), leader=1, isr=(1,), why=untouched),
        lost("payments-1", (4,), isr=(4,), why=alone.format(4)),
        lost("payments-2", (5,), isr=(5,), why=alone.format(5)),
        lost("payments-3", (4,), isr=(4,), why=alone.format(4)),
        kept("orders-0", (1, 4), leader=1, isr=(1,), why=one),
        lost("orders-1", (4, 5), isr=(5,), why=both),
        kept("orders-2", (5, 2), leader=2, isr=(2,), why=one),
        kept("orders-3", (2, 3), leader=2, isr=(2, 3), why=untouched),
        lost("orders-4", (5, 4), isr=(5,), why=both),
        kept("audit-0", (1, 2, 3), leader=1, isr=(1, 2, 3), min_isr=2, why=untouched),
        kept("audit-1", (3, 4, 5), leader=3, isr=(3,), min_isr=2, why=refused),
        kept("audit-2", (4, 1, 2), leader=1, isr=(1, 2), min_isr=2, why=one),
        kept("audit-3", (5, 4, 1), leader=1, isr=(1,), min_isr=2, why=refused),
        kept(f"{OFFSETS_TOPIC}-0", (4, 5, 1), leader=1, isr=(1,), why="Broker 1 took over; it is alone in sync."),
        kept(f"{OFFSETS_TOPIC}-1", (5, 1, 2), leader=1, isr=(1, 2), why="Broker 1 took over."),
        kept(f"{OFFSETS_TOPIC}-2", (2, 3, 4), leader=2, isr=(2, 3), why=one),
        lost(f"{OFFSETS_TOPIC}-3", (4, 5), isr=(5,), why=both),
    )
