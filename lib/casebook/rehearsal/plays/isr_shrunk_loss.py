"""Incident D, acks=all: records acknowledged by all in-sync replicas are lost, because the leader was the only one, and failed.

Broker 2 is killed, and broker 1 leads alone. With ``min.insync.replicas=1`` it continues to acknowledge with acks=all records
without another copy. Then it is killed, too, and broker 2 starts first: with unclean election allowed it is elected, and the
records that it lacks are lost. Other partitions show protections: no unclean election, min ISR of two, or a third replica.

Finally an operator moves a partition back to its preferred leader, while a producer with acks=1 writes to it. That leader is in
sync, but lacks what it did not fetch during a short suspension; the old one truncates that.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from casebook.errors import RehearsalError
from casebook.rehearsal.commits import leaders
from casebook.rehearsal.ledger import (
    LedgerEntry,
    LedgerProducer,
    Place,
    by_partition,
    counted,
    iso,
    lost,
    now,
    stored,
    write_ledgers,
)
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.protocol import addresses
from casebook.rehearsal.servers.topics import Partition, label
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, before, kept, well

BROKERS = (1, 2, 3)
LEADER, FOLLOWER, CONTROLLER = BROKERS
UNCLEAN = {"unclean.leader.election.enable": "true"}
SETTINGS = {"payments": UNCLEAN | {"min.insync.replicas": "1"}, "invoices": UNCLEAN | {"min.insync.replicas": "2"}}
LOSING = {("payments", 0): FOLLOWER, ("payments", 1): FOLLOWER}
"""Partitions that lose records acknowledged by broker 1 alone, and the elected leader."""
REFUSED = ("invoices", 0)
"""Broker 1 alone acknowledges nothing, so an unclean election loses no acknowledged record."""
SAVED = ("audit", 0)
"""No other broker may be elected: broker 1 returns with all that it acknowledged."""
THREE = ("clicks", 0)
"""A third in-sync replica is elected."""
VIEWS = ("views", 0)
"""Finally moved back to its preferred leader."""
ELECTED = {**LOSING, REFUSED: FOLLOWER, THREE: CONTROLLER, VIEWS: CONTROLLER}
WRITTEN = (*LOSING, ("payments", 2), REFUSED, SAVED, THREE)
"""Partitions written with acks=all."""
TOPICS = ("payments", "invoices", "audit", "clicks", "views")
PAUSE = 0.25
"""Seconds between two records to a partition."""
TIMEOUT = {"request.timeout.ms": 500, "retries": 0}
"""The producer soon learns that a record was not acknowledged in time, and does not retry, like 0.9 by default.

Such a record may well be stored (``ProducerConfig.java@0.9.0.1``: ``retries`` is 0; ``DelayedProduce.scala@0.9.0.1``).
"""
RECORDS = 20
"""Records to each partition, for practice."""
SECONDS_BEFORE, SECONDS_ALONE, SECONDS_BEHIND, SECONDS_AFTER = 1.0, 1.5, 1.0, 0.5


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = _rows()
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        stage.reach(cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=before(rows)))
        states = stage.watch_states(cluster)
        stage.truth.facts["isr_shrunk_loss"] = {"states": states}
        ledger = _lose(stage, cluster) + _give_back(stage, cluster)
        stage.expect(
            "after",
            cluster,
            Phase(live=BROKERS, controller=CONTROLLER, partitions=rows),
            disks=BROKERS,
            copy_segments=TOPICS,
            history=True,
            ledgers=write_ledgers(ledger, stage.out / "ledgers"),
        )
        if stage.visited(cluster):
            return
        _count(stage, ledger, stored((*WRITTEN, VIEWS), bootstrap=cluster.bootstrap, kafka=cluster.kafka))


def practise(stage: Stage) -> None:
    """Play it until both replicas are down, and leave the choice of the first broker to start to a visitor."""
    rows = _rows()
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        stage.reach(cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=before(rows)))
        stage.produce(cluster, dict.fromkeys(WRITTEN, RECORDS))
        stage.kill(cluster, FOLLOWER)
        stage.gone(cluster, FOLLOWER)
        cluster.wait_until(lambda: _isr(cluster, (*LOSING, SAVED)) == {(LEADER,)}, what="an ISR of one")
        stage.produce(cluster, dict.fromkeys((*LOSING, SAVED), RECORDS))
        stage.kill(cluster, LEADER)
        stage.gone(cluster, LEADER)
        stage.visited(cluster)


def _rows() -> tuple[Expected, ...]:
    unclean = "Broker 1 led alone and died; broker 2 was elected, which lacked what broker 1 had acknowledged."
    refused = "Broker 1 led alone and refused to acknowledge; broker 2 was elected, and lacked nothing that was acknowledged."
    return (
        kept("payments-0", (1, 2), leader=2, isr=(1, 2), why=unclean),
        kept("payments-1", (1, 2), leader=2, isr=(1, 2), why=unclean),
        well("payments-2", (3, 1), why="Broker 1, a follower, died and came back."),
        kept("invoices-0", (1, 2), leader=2, isr=(1, 2), min_isr=2, why=refused),
        well("audit-0", (1, 2), why="Nobody could be elected; broker 1 came back as leader."),
        kept("clicks-0", (1, 3, 2), leader=3, isr=(1, 2, 3), why="Broker 3 was in sync, and elected when broker 1 died."),
        well("views-0", (1, 3), why="Broker 3 was elected when broker 1 died, and gave it back to broker 1."),
    )


def _lose(stage: Stage, cluster: PlayedCluster) -> list[LedgerEntry]:
    """Kill the follower and the leader, and start them in the same order, while a producer continues.

    Returns:
        Its ledger.
    """
    facts = stage.truth.facts["isr_shrunk_loss"]
    stage.act("A producer with acks=all writes.")
    with _producer(cluster, "billing", WRITTEN, acks="all", settings=TIMEOUT) as billing:
        _wait_acked(cluster, billing, WRITTEN)
        time.sleep(SECONDS_BEFORE)
        stage.kill(cluster, FOLLOWER)
        stage.gone(cluster, FOLLOWER)
        cluster.wait_until(lambda: _isr(cluster, (*LOSING, SAVED)) == {(LEADER,)}, what="an ISR of one")
        _wait_acked(cluster, billing, (*LOSING, SAVED), sent_since=now())
        time.sleep(SECONDS_ALONE)
        stage.kill(cluster, LEADER)
        stage.gone(cluster, LEADER)
        facts["started"] = iso(now())
        stage.start(cluster, FOLLOWER)
        cluster.wait_until(lambda: ELECTED.items() <= _leaders(cluster).items(), what="the elections of others")
        _wait_acked(cluster, billing, LOSING, sent_since=now())
        stage.start(cluster, LEADER)
        stage.wait_in_sync(cluster, _rows())
        _wait_acked(cluster, billing, WRITTEN, sent_since=now())
        stage.act("The producer ends.")
    facts["moved"] = [_move(facts["states"], partition, LEADER, leader) for partition, leader in ELECTED.items()]
    return billing.ledger


def _give_back(stage: Stage, cluster: PlayedCluster) -> list[LedgerEntry]:
    """Elect the preferred leader, which has just fallen behind, while another producer continues.

    Returns:
        Its ledger.
    """
    facts = stage.truth.facts["isr_shrunk_loss"]
    stage.act(f"A producer with acks=1 writes to {label(VIEWS)}.")
    with _producer(cluster, "tracking", (VIEWS,), acks="1") as tracking:
        _wait_acked(cluster, tracking, (VIEWS,))
        stage.act(f"Suspend broker {LEADER} (SIGSTOP) for a moment: it stays in sync.", lambda: cluster.freeze(LEADER))
        _wait_acked(cluster, tracking, (VIEWS,), sent_since=now())
        time.sleep(SECONDS_BEHIND)
        stage.act(f"Elect the preferred leader of {label(VIEWS)}.", lambda: cluster.elect_preferred(VIEWS))
        (old,) = addresses(cluster.address(CONTROLLER))
        cluster.wait_until(
            lambda: leaders(old, {VIEWS[0]})[VIEWS] == LEADER, what=f"broker {CONTROLLER} to give up {label(VIEWS)}"
        )
        stage.act(f"Continue broker {LEADER} (SIGCONT).", lambda: cluster.thaw(LEADER))
        _wait_acked(cluster, tracking, (VIEWS,), sent_since=now())
        time.sleep(SECONDS_AFTER)
        stage.act("The producer ends.")
    facts["moved"].append(_move(facts["states"], VIEWS, CONTROLLER, LEADER, planned=True))
    return tracking.ledger


def _producer(
    cluster: PlayedCluster,
    client: str,
    partitions: Sequence[Partition],
    *,
    acks: str,
    settings: Mapping[str, object] | None = None,
) -> LedgerProducer:
    return LedgerProducer(
        partitions, bootstrap=cluster.bootstrap, kafka=cluster.kafka, client=client, acks=acks, pause=PAUSE, settings=settings
    )


def _wait_acked(
    cluster: PlayedCluster, producer: LedgerProducer, partitions: Collection[Partition], *, sent_since: int = 0
) -> None:
    cluster.wait_until(
        lambda: all(producer.acked(partition, sent_since=sent_since) for partition in partitions),
        what=f"acknowledgements of {sorted(map(label, partitions))}",
    )


def _isr(cluster: PlayedCluster, partitions: Collection[Partition]) -> set[tuple[int, ...]]:
    states = cluster.states()
    return {tuple(states[partition]["isr"]) for partition in partitions}


def _leaders(cluster: PlayedCluster) -> dict[Partition, int]:
    return {partition: state["leader"] for partition, state in cluster.states().items()}


def _move(states: Sequence[Mapping], partition: Partition, old: int, new: int, *, planned: bool = False) -> dict[str, object]:
    """Return a leader change with its time, and since when the old leader was alone in sync, by ZooKeeper's clock."""
    led = [row for row in states if row["partition"] == label(partition) and row["leader"] in BROKERS]
    last, first = next(pair for pair in pairwise(led) if [row["leader"] for row in pair] == [old, new])
    return {
        "partition": label(partition),
        "old_leader": old,
        "new_leader": new,
        "elected_at": first["at"],
        "alone_since": last["at"] if last["isr"] == [old] else None,
        "unclean": new not in last["isr"],
        "planned": planned,
    }


def _count(stage: Stage, ledger: Sequence[LedgerEntry], found: Mapping[str, Place]) -> None:
    """Record the missing acknowledged records.

    Raises:
        RehearsalError: None in a partition that must lose some, or one in another.
    """
    facts = stage.truth.facts["isr_shrunk_loss"]
    alone = [entry for entry in ledger if entry.acked is not None and _alone(facts, entry)]
    facts |= counted(ledger, found) | {
        "acked_alone": by_partition(alone),
        "acked_alone_and_stored": by_partition(entry for entry in alone if entry.id in found),
    }
    for move in facts["moved"]:  # a clean election loses nothing with acks=all, and there was no acks=1 producer
        move["lost"] = facts["lost"].get(move["partition"], 0) if move["unclean"] or move["planned"] else 0
    losing = {entry.to for entry in lost(ledger, found)}
    if losing != {*LOSING, VIEWS}:
        raise RehearsalError(
            f"Records were to be lost of {sorted({*LOSING, VIEWS})}, and were of {sorted(losing)}.",
            cause="A broker came back sooner or later than the script means it to.",
            try_="Play it again.",
        )


def _alone(facts: Mapping, entry: LedgerEntry) -> bool:
    """Return whether broker 1 acknowledged a record while alone in sync."""
    shrunk = (row["at"] for row in facts["states"] if row["partition"] == label(entry.to) and row["isr"] == [LEADER])
    return next(shrunk, facts["started"]) <= iso(entry.acked) < facts["started"]
