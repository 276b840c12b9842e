"""Incident A: records acknowledged with acks=1 are lost when their leader pauses for longer than its session timeout.

Broker 1 is suspended. ZooKeeper expires it, and others are elected; a producer's records for broker 1 meanwhile wait in socket
buffers. After resuming, broker 1 still believes to lead and acknowledges all of them, until it learns better, follows and
truncates.
"""

import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from casebook.errors import RehearsalError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.commits import fetch_offsets, leaders
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
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.protocol import addresses
from casebook.rehearsal.servers.topics import Partition, label
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, before, kept, well

BROKERS = (1, 2, 3)
FROZEN, OTHERS = 1, (2, 3)
CONTROLLER = 3
BROKER_SETTINGS = {
    "offsets.topic.num.partitions": "2",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.commit.timeout.ms": "2000",
    # 0.9 sends clients a new leader only after the fetcher of the paused one has ended, and that waits for a response.
    "replica.socket.timeout.ms": "1500",
}
SUSPICIOUS = {"replica.lag.time.max.ms": "5000"}
"""Shorter than the pause: the resumed broker believes that all its followers lag, and says so.

In 0.9 it then holds the partition's lock until ZooKeeper responds (``Partition.scala@0.9.0.1``, ``maybeShrinkIsr``), and so
acknowledges almost nothing while it believes to lead.
"""
SETTINGS = {"invoices": {"min.insync.replicas": "2"}, OFFSETS_TOPIC: {"cleanup.policy": "compact"}}
CLIENT = "# The application that writes to payments.\nclient.id=billing\nacks=1\nretries=10\n"
"""Properties of the producer, for practice."""
GROUP = "invoicing"
"""A group with the paused broker as coordinator: its partition of the offsets topic is the first."""
MOVED = {("payments", 0): 2, ("payments", 1): 3, ("clicks", 0): 3}
"""Written partitions with the paused broker as leader, and the elected leader."""
ELECTED = {**MOVED, (OFFSETS_TOPIC, 0): 2}
"""All partitions that it led and others can lead."""
ALONE = ("clicks", 1)
"""A partition on the paused broker only: no other can be elected, so it loses nothing."""
TOPICS = ("payments", "clicks")
WRITTEN = tuple((topic, number) for topic in TOPICS for number in range(3))
"""Written partitions."""
PAUSE = 0.08
"""Seconds between two records to a partition."""
SECONDS_BEFORE, SECONDS_FROZEN, SECONDS_AFTER = 1.0, 1.0, 0.5
_TRUNCATING = re.compile(
    r"^\[(?P<at>[^\]]+)\] INFO (?:\[Log partition=(?P<late>[^,]+), .*\] Truncating|Truncating log (?P<early>\S+))"
    r" to offset (?P<offset>\d+)"
)
"""Log line of a truncation (``Log.scala@0.9.0.1``, ``Log.scala@2.8.2``)."""


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = _rows()
    with _cluster(stage) as cluster:
        _prepare(stage, cluster)
        log = cluster.start_consumer("payments", group=GROUP)
        ledger = _lose(stage, cluster)
        stage.expect(
            "after",
            cluster,
            Phase(live=BROKERS, controller=CONTROLLER, partitions=rows),
            disks=BROKERS,
            copy_segments=TOPICS,
            history=True,
            clients={GROUP: [log]},
            ledgers=write_ledgers(ledger, stage.out / "ledgers"),
        )
        if stage.visited(cluster):
            return
        _count(stage, ledger, stored(WRITTEN, bootstrap=cluster.bootstrap, kafka=cluster.kafka))


def practise(stage: Stage) -> None:
    """Play it until the records are lost, and leave the cluster to a visitor."""
    with _cluster(stage) as cluster:
        _prepare(stage, cluster)
        cluster.start_consumer("payments", group=GROUP)
        _lose(stage, cluster)
        stage.visited(cluster)


def _cluster(stage: Stage) -> PlayedCluster:
    old = KafkaVersion.parse(stage.truth.kafka) < KafkaVersion.parse("0.10.0.0")
    settings = BROKER_SETTINGS | ({} if old else SUSPICIOUS)
    return stage.cluster(brokers=len(BROKERS), controller=CONTROLLER, settings=settings)


def _prepare(stage: Stage, cluster: PlayedCluster) -> None:
    stage.create_topics(cluster, _rows(), SETTINGS)
    stage.reach(cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=before(_rows())))


def _rows() -> tuple[Expected, ...]:
    why = "Its leader, broker 1, was given up while it was suspended, and the next in sync elected."
    return (
        kept("payments-0", (1, 2, 3), leader=2, isr=(1, 2, 3), why=why),
        kept("payments-1", (1, 3, 2), leader=3, isr=(1, 2, 3), why=why),
        well("payments-2", (2, 3, 1), why="Broker 1, a follower, left the ISR and came back."),
        kept("clicks-0", (1, 3), leader=3, isr=(1, 3), why=why),
        well("clicks-1", (1,), why="Nobody could be elected; its only replica, on broker 1, came back as leader."),
        well("clicks-2", (3, 2), why="Broker 1 has no part in it."),
        kept(f"{OFFSETS_TOPIC}-0", (1, 2, 3), leader=2, isr=(1, 2, 3), why=why),
        well(f"{OFFSETS_TOPIC}-1", (2, 3, 1), why="Broker 1, a follower, left the ISR and came back."),
        well("invoices-0", (2, 1), min_isr=2, why="For a while it had one replica in sync, and wants two."),
    )


def _lose(stage: Stage, cluster: PlayedCluster) -> list[LedgerEntry]:
    """Pause and resume the leader, while one producer continues and another starts.

    Returns:
        The ledgers of both.
    """
    states = stage.watch_states(cluster)
    facts = stage.truth.facts.setdefault("acks1_loss", {"frozen": FROZEN, "states": states})
    stage.act("A producer with acks=1 writes to all partitions.")
    with _producer(cluster, "billing", *BROKERS) as steady:
        cluster.wait_until(lambda: all(map(steady.acked, WRITTEN)), what="first acknowledgements")
        cluster.wait_until(lambda: _committed(cluster) > 0, what=f"the first commit of {GROUP}")
        time.sleep(SECONDS_BEFORE)
        _freeze(stage, cluster)
        stage.act("A second producer begins: it learns of the new leaders.")
        with _producer(cluster, "refunds", *OTHERS) as late:
            cluster.wait_until(lambda: all(map(late.acked, MOVED)), what="acknowledgements of the new leaders")
            time.sleep(SECONDS_FROZEN)
            truncated = _continue(stage, cluster)
            committed = _committed(cluster)
            cluster.wait_until(lambda: _committed(cluster) > committed, what=f"group {GROUP} to commit again")
            time.sleep(SECONDS_AFTER)
            stage.act("Both producers end.")
    facts["moved"] = [_move(partition, states, truncated.get(partition)) for partition in ELECTED]
    return steady.ledger + late.ledger


def _producer(cluster: PlayedCluster, client: str, *brokers: int) -> LedgerProducer:
    return LedgerProducer(WRITTEN, bootstrap=cluster.address(*brokers), kafka=cluster.kafka, client=client, acks="1", pause=PAUSE)


def _freeze(stage: Stage, cluster: PlayedCluster) -> None:
    stage.act(f"Suspend broker {FROZEN} (SIGSTOP).", lambda: cluster.freeze(FROZEN))
    stage.truth.facts["acks1_loss"]["suspended"] = stage.truth.actions[-1]["at"]
    stage.truth.facts["acks1_loss"]["stands_still"] = iso(now())
    stage.gone(cluster, FROZEN)
    cluster.wait_until(lambda: _leaders(cluster) == ELECTED, what="the election of others")
    cluster.wait_until(lambda: _all_told(cluster), what="brokers to tell clients of the new leaders")


def _continue(stage: Stage, cluster: PlayedCluster) -> dict[Partition, tuple[str, int]]:
    """Wait until the resumed broker follows; see :func:`_truncated`."""
    stage.act(f"Continue broker {FROZEN} (SIGCONT).", lambda: cluster.thaw(FROZEN))
    stage.truth.facts["acks1_loss"]["continued"] = continued = stage.truth.actions[-1]["at"]
    cluster.wait_registered(FROZEN)
    stage.act(f"Broker {FROZEN} is registered again.")
    cluster.wait_until(lambda: _truncated(cluster, continued).keys() >= MOVED.keys(), what="the cut of the logs")
    stage.wait_in_sync(cluster, _rows())
    return _truncated(cluster, continued)


def _committed(cluster: PlayedCluster) -> int:
    """Return the sum of the group's committed offsets."""
    partitions = [partition for partition in WRITTEN if partition[0] == "payments"]
    return sum(offset or 0 for offset in fetch_offsets(cluster.address(*OTHERS), GROUP, partitions).values())


def _leaders(cluster: PlayedCluster) -> dict[Partition, int]:
    return {partition: state["leader"] for partition, state in cluster.states().items() if partition in ELECTED}


def _all_told(cluster: PlayedCluster) -> bool:
    """Return whether all other brokers' metadata have the new leaders: one without waits for the paused broker."""
    others = addresses(cluster.address(*OTHERS))
    return all(MOVED.items() <= leaders(other, {topic for topic, _ in MOVED}).items() for other in others)


def _move(partition: Partition, states: Sequence[Mapping], truncated: tuple[str, int] | None) -> dict[str, object]:
    """Return the period in which two brokers believed to lead, each by its own clock: ZooKeeper's, and the old leader's."""
    elected = next(row["at"] for row in states if row["partition"] == label(partition) and row["leader"] == ELECTED[partition])
    at, offset = truncated or (None, None)  # later releases log nothing without a truncation
    return {
        "partition": label(partition),
        "old_leader": FROZEN,
        "new_leader": ELECTED[partition],
        "elected_at": elected,
        "truncated_at": at,
        "truncated_to": offset,
    }


def _truncated(cluster: PlayedCluster, since: str) -> dict[Partition, tuple[str, int]]:
    """Return time and offset of the paused broker's truncation after a moment, by partition."""
    found: dict[Partition, tuple[str, int]] = {}
    for line in disks.log_lines(cluster, FROZEN, "server.log"):
        if (match := _TRUNCATING.search(line)) and (at := _moment(match["at"])) >= since:
            topic, _, number = (match["early"] or match["late"]).rpartition("-")
            found.setdefault((topic, int(number)), (at, int(match["offset"])))
    return found


def _moment(printed: str) -> str:
    """Format a moment for the truth; the servers log in UTC."""
    return datetime.strptime(printed, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).isoformat(timespec="milliseconds")


def _count(stage: Stage, ledger: Sequence[LedgerEntry], found: Mapping[str, Place]) -> None:
    """Record the missing acknowledged records.

    Raises:
        RehearsalError: None in a moved partition, or one in another.
    """
    facts = stage.truth.facts["acks1_loss"]
    gone = lost(ledger, found)
    elected = {move["partition"]: move["elected_at"] for move in facts["moved"]}
    late = [entry for entry in ledger if entry.acked is not None and iso(entry.sent) < facts["continued"] <= iso(entry.acked)]
    facts |= counted(ledger, found) | {
        # when the leader paused, its followers had not fetched them
        "lost_acked_before_election": sum(iso(entry.acked) < elected.get(label(entry.to), "") for entry in gone),
        # waiting records were acknowledged on resumption; those of its remaining partition are kept
        "acked_late": by_partition(entry for entry in late if entry.to in (*MOVED, ALONE)),
        "acked_late_and_stored": by_partition(entry for entry in late if entry.to in (*MOVED, ALONE) and entry.id in found),
    }
    if {entry.to for entry in gone} != MOVED.keys():
        raise RehearsalError(
            f"Records were to be lost of {sorted(MOVED)}, and were of {sorted({entry.to for entry in gone})}.",
            cause="The leader learned of its end before it acknowledged what had waited for it, or the freeze was too long.",
            try_="Play it again.",
        )
