"""Incident D, loss by a clean election.

All brokers fail at once, and an in-sync one leads before it refetched its truncated records.

Up to 0.10.2 a starting follower truncates its log to the last checkpointed high watermark, and refetches the rest from its leader
(``makeFollowers``, ``ReplicaManager.scala@0.9.0.1``); meanwhile it is in the ISR. Broker 1 fails again before broker 2 has
fetched everything. Even with ``acks=all``, ``min.insync.replicas=2`` and no unclean election, records acknowledged by both are
lost. From 0.11 on followers truncate by leader epoch (KIP-101).
"""

import time
from collections.abc import Mapping, Sequence

from casebook.errors import RehearsalError
from casebook.rehearsal.commits import leaders
from casebook.rehearsal.ledger import LedgerEntry, LedgerProducer, Place, counted, stored, write_ledgers
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.protocol import addresses
from casebook.rehearsal.servers.topics import label
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, before, kept

BROKERS = (1, 2, 3)
LEADER, FOLLOWER, CONTROLLER = BROKERS
TOPIC = "payments"
PARTITIONS = ((TOPIC, 0), (TOPIC, 1))
SETTINGS = {TOPIC: {"min.insync.replicas": "2"}}
SLOWLY = {
    "replica.high.watermark.checkpoint.interval.ms": "3600000",
    "replica.fetch.max.bytes": "200",
    "message.max.bytes": "200",
    "zookeeper.session.timeout.ms": "8000",
}
"""Simulates much more to fetch: an old checkpoint, few records per fetch. A controller may hang, and keeps its session."""
PAUSE, SECONDS, SECONDS_AFTER = 0.002, 8.0, 0.5
"""Seconds between two records to a partition; and duration of two producers."""


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = _rows()
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER, settings=SLOWLY) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        stage.reach(cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=before(rows)))
        stage.truth.facts["full_restart_loss"] = {"states": stage.watch_states(cluster)}
        ledger = _written(stage, cluster, "billing", seconds=SECONDS)
        _restart(stage, cluster)
        stage.wait_in_sync(cluster, rows)
        ledger += _written(stage, cluster, "shipping", seconds=SECONDS_AFTER)
        stage.expect(
            "after",
            cluster,
            Phase(live=BROKERS, controller=CONTROLLER, partitions=rows),
            disks=BROKERS,
            copy_segments=(TOPIC,),
            history=True,
            ledgers=write_ledgers(ledger, stage.out / "ledgers"),
        )
        if stage.visited(cluster):
            return
        _count(stage, ledger, stored(PARTITIONS, bootstrap=cluster.bootstrap, kafka=cluster.kafka))


def _rows() -> tuple[Expected, ...]:
    why = "Broker 2 was in sync, and elected before it had fetched again what it had cut at its start."
    return tuple(kept(label(partition), (1, 2), leader=FOLLOWER, isr=(1, 2), min_isr=2, why=why) for partition in PARTITIONS)


def _written(stage: Stage, cluster: PlayedCluster, client: str, *, seconds: float) -> list[LedgerEntry]:
    """Return a producer's records over so many seconds."""
    stage.act(f"The producer {client} writes with acks=all.")
    producer = LedgerProducer(
        PARTITIONS,
        bootstrap=cluster.bootstrap,
        kafka=cluster.kafka,
        client=client,
        acks="all",
        pause=PAUSE,
        settings={"batch.num.messages": 2},
    )
    with producer:
        time.sleep(seconds)
    return producer.ledger


def _restart(stage: Stage, cluster: PlayedCluster) -> None:
    """Kill all, start all, and kill the leader again as soon as it has a follower."""
    stage.kill(cluster, *BROKERS)
    stage.gone(cluster, *BROKERS)
    stage.start(cluster, CONTROLLER)
    stage.act(f"Suspend broker {CONTROLLER} (SIGSTOP), the controller.", lambda: cluster.freeze(CONTROLLER))
    stage.start(cluster, LEADER, FOLLOWER)
    stage.act(f"Continue broker {CONTROLLER} (SIGCONT): it sees both come at once.", lambda: cluster.thaw(CONTROLLER))
    (follower,) = addresses(cluster.address(FOLLOWER))
    cluster.wait_until(
        lambda: all(leaders(follower, {TOPIC}).get(partition) == LEADER for partition in PARTITIONS),
        what=f"broker {FOLLOWER} to follow",
    )
    stage.kill(cluster, LEADER)
    stage.gone(cluster, LEADER)
    cluster.wait_until(
        lambda: all(cluster.states()[partition]["leader"] == FOLLOWER for partition in PARTITIONS), what="the clean elections"
    )
    stage.start(cluster, LEADER)


def _count(stage: Stage, ledger: Sequence[LedgerEntry], found: Mapping[str, Place]) -> None:
    """Record the missing acknowledged records.

    Raises:
        RehearsalError: None in a partition.
    """
    facts = stage.truth.facts["full_restart_loss"]
    facts |= counted(ledger, found)
    if facts["lost"].keys() != set(map(label, PARTITIONS)):
        raise RehearsalError(
            f"Records were to be lost of {sorted(map(label, PARTITIONS))}, and were of {sorted(facts['lost'])}.",
            cause="The follower fetched all again before its leader died, or the controller saw one come before the other.",
            try_="Play it again.",
        )
