"""Incident C: brokers are removed one by one, and partitions lose their last in-sync replica.

Broker 2 crashes and falls behind; broker 1 and then broker 5 are killed; broker 2 returns, alive and stale. The controller,
broker 3, survives all of it. Each partition of :func:`_during` is a different outcome.
"""

from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.servers.topics import Partition
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, after, before, deleting, kept, lost

BROKERS = (1, 2, 3, 4, 5)
CONTROLLER = 3
DEAD = (1, 5)
SETTINGS = {
    "audit": {"min.insync.replicas": "2"},
    "sessions": {"unclean.leader.election.enable": "true"},
}
BASE, BURST = 10, 20
"""Number of records per partition initially, and in each later burst."""

WITHOUT_2: tuple[Partition, ...] = (("orders", 2), ("orders", 3), ("orders", 4), ("clicks", 1), ("sessions", 0))
WITHOUT_2_AND_1: tuple[Partition, ...] = (("orders", 0), ("orders", 1), ("clicks", 1))


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = _during(stage.truth.kafka)
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        stage.produce(cluster, {(row.topic, row.partition): BASE for row in rows})
        stage.expect("before", cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=before(rows)))

        stage.kill(cluster, 2)
        stage.gone(cluster, 2)
        stage.produce(cluster, dict.fromkeys(WITHOUT_2, BURST))
        stage.kill(cluster, 1)
        stage.gone(cluster, 1)
        stage.produce(cluster, dict.fromkeys(WITHOUT_2_AND_1, BURST))
        stage.kill(cluster, 5)
        stage.gone(cluster, 5)
        stage.act("Ask for the deletion of topic retired.", lambda: cluster.delete_topic("retired"))
        stage.start(cluster, 2)
        during = Phase(live=(2, 3, 4), dead=DEAD, controller=CONTROLLER, partitions=rows)
        stage.expect("during", cluster, during)
        if stage.visited(cluster):
            return

        stage.remember(cluster)
        stage.start(cluster, 5)
        stage.start(cluster, 1)
        stage.expect("after", cluster, Phase(live=BROKERS, partitions=after(rows)))
    stage.verify_start_first(cluster, during)


def _during(kafka: str) -> tuple[Expected, ...]:
    # With unclean elections enabled, releases before 1.1 empty the ISR of a partition that loses its last replica.
    emptied = KafkaVersion.parse(kafka) < KafkaVersion.parse("1.1.0")
    refused = "Brokers 1 and 5 died: too few are in sync for acks=all."
    return (
        lost("payments-0", (1,), isr=(1,), why="Its only replica is on broker 1."),
        kept("payments-1", (2,), leader=2, isr=(2,), why="Its only replica is on broker 2, which came back."),
        kept("payments-2", (3,), leader=3, isr=(3,), why="Its only replica is on broker 3, which never died."),
        lost("payments-3", (5,), isr=(5,), why="Its only replica is on broker 5."),
        lost("payments-4", (5,), isr=(5,), why="Its only replica is on broker 5."),
        lost("payments-5", (5,), isr=(5,), why="Its only replica is on broker 5."),
        lost("orders-0", (1, 5), isr=(5,), why="Broker 1 died and left the ISR; then broker 5, its last member."),
        lost("orders-1", (5, 1), isr=(5,), why="Broker 1 died and left the ISR; then broker 5, its last member."),
        lost("orders-2", (1, 2), isr=(1,), stale=2, loses=BURST, why="Broker 2 crashed; then broker 1, the last member."),
        lost("orders-3", (2, 1), isr=(1,), stale=2, loses=BURST, why="Broker 2 crashed; then broker 1, the last member."),
        lost("orders-4", (2, 5), isr=(5,), stale=2, loses=BURST, why="Broker 2 crashed; then broker 5, the last member."),
        kept("orders-5", (3, 4), leader=3, isr=(3, 4), why="Both its replicas lived."),
        kept("orders-6", (4, 3), leader=4, isr=(3, 4), why="Both its replicas lived."),
        kept("orders-7", (3, 1), leader=3, isr=(3,), why="Broker 1 died and left the ISR."),
        kept("clicks-0", (1, 2, 3), leader=3, isr=(2, 3), why="Brokers 2 and 1 died; 3 took over, and 2 has caught up."),
        lost("clicks-1", (5, 1, 2), isr=(5,), stale=2, loses=2 * BURST, why="Brokers 2, 1 and 5 died in this order."),
        kept("clicks-2", (2, 3, 4), leader=3, isr=(2, 3, 4), why="Broker 3 took over from 2, which has caught up."),
        kept("clicks-3", (3, 4, 5), leader=3, isr=(3, 4), why="Broker 5 died and left the ISR."),
        kept("clicks-4", (1, 5, 4), leader=4, isr=(4,), why="Brokers 1 and 5 died; broker 4 took over."),
        kept("clicks-5", (4, 2, 1), leader=4, isr=(2, 4), why="Broker 1 died and left the ISR; broker 2 has caught up."),
        kept("audit-0", (3, 1, 5), leader=3, isr=(3,), min_isr=2, why=refused),
        kept("audit-1", (2, 3, 4), leader=3, isr=(2, 3, 4), min_isr=2, why="Broker 3 took over from 2, which has caught up."),
        kept("audit-2", (1, 4, 5), leader=4, isr=(4,), min_isr=2, why=refused),
        kept("audit-3", (4, 3, 1), leader=4, isr=(3, 4), min_isr=2, why="Broker 1 died: one more, and acks=all is refused."),
        kept("sessions-0", (1, 2), leader=2, isr=(2,), why=f"Broker 2 came back and was elected unclean: {BURST} records lost."),
        lost(
            "sessions-1",
            (1, 5),
            isr=() if emptied else (5,),
            waits_for=(1, 5),
            why="Both died; an unclean election takes either.",
        ),
        kept("sessions-2", (3, 2), leader=3, isr=(2, 3), why="Broker 2 has caught up."),
        deleting("retired-0", (1, 3), why="Its deletion waits for broker 1, which is dead."),
        deleting("retired-1", (3, 4), why="The deletion of its topic waits for broker 1, which is dead."),
    )
