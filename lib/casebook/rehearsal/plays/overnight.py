"""A night between two scheduled reports: one problem of the evening is gone in the morning, and another one is new.

In the evening broker 3 is away. Overnight the controller, broker 2, is restarted while only broker 1 is alive, which becomes
controller. Broker 3 comes back. Then the cleaner of broker 1 dies, see :mod:`casebook.rehearsal.plays.offsets_bloat`, and groups
commit on: the copies of ``__consumer_offsets`` on broker 1 grow, those on broker 2 do not.
"""

from collections.abc import Iterator

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.plays import offsets_bloat
from casebook.rehearsal.plays.offsets_bloat import BLOATED, KILLER
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, kept, well

BROKERS = (1, 2, 3)
AWAY, RESTARTED = 3, 2
CLEANED = 2
"""Broker whose cleaner lives on."""
OFFSETS = ((OFFSETS_TOPIC, 0), (OFFSETS_TOPIC, 1))
ORDERS = ((1, 2, 3), (2, 3, 1), (3, 1, 2))
BROKER_SETTINGS = offsets_bloat.BROKER_SETTINGS | {
    "offsets.topic.num.partitions": str(len(OFFSETS)),
    "auto.leader.rebalance.enable": "false",  # only the script moves leaders
}
SETTINGS = offsets_bloat.SETTINGS | {
    OFFSETS_TOPIC: {"cleanup.policy": "compact", "segment.bytes": "100000"},
    "orders": {"min.insync.replicas": "2"},
}
GROUPS = ("invoice-writer", "search-indexer", "fraud-check", "price-feed")
FEW, MANY = 100, 500
"""Commits of a group before the evening, and overnight."""
_METADATA = "m" * 700
"""Makes the copies without a cleaner grow by more than the 1 MiB from which the report calls it growth."""
_AT_REST = 2.0
"""Seconds without a clean after which a cleaner has nothing left to do: it looks twice a second."""


def play(stage: Stage) -> None:
    """Play the night on a stage."""
    morning = _morning()
    with stage.cluster(brokers=len(BROKERS), controller=RESTARTED, settings=BROKER_SETTINGS) as cluster:
        stage.create_topics(cluster, morning, SETTINGS)
        stage.wait_in_sync(cluster, morning)
        _commit(stage, cluster, FEW, cleaners=(BLOATED, CLEANED))
        stage.act(f"Stop broker {AWAY}.", lambda: cluster.stop(AWAY))
        evening = Phase(live=(1, 2), dead=(AWAY,), controller=RESTARTED, partitions=_evening())
        _capture(stage, cluster, "evening", evening)

        stage.act(f"Stop broker {RESTARTED}, the controller.", lambda: cluster.stop(RESTARTED))
        stage.gone(cluster, RESTARTED)
        stage.start(cluster, RESTARTED, AWAY)
        stage.wait_in_sync(cluster, morning)
        stage.act("Elect the preferred leaders.", lambda: cluster.elect_preferred(*cluster.states()))
        offsets_bloat.kill_cleaner(stage, cluster)
        _commit(stage, cluster, MANY, cleaners=(CLEANED,))
        _capture(stage, cluster, "morning", Phase(live=BROKERS, controller=1, partitions=morning))
        stage.visited(cluster)


def _morning() -> tuple[Expected, ...]:
    offsets = [well(f"{topic}-{number}", ((1, 2), (2, 1))[number]) for topic, number in OFFSETS]
    orders = [well(f"orders-{number}", replicas, min_isr=2) for number, replicas in enumerate(ORDERS)]
    return (*offsets, *orders, well("-".join(map(str, KILLER)), (BLOATED,), why="Compacted, on broker 1 alone."))


def _evening() -> tuple[Expected, ...]:
    why = f"Broker {AWAY} was shut down and left the ISR."
    orders = (
        kept(f"orders-{number}", replicas, leader=leader, isr=(1, 2), min_isr=2, why=why)
        for number, (replicas, leader) in enumerate(zip(ORDERS, (1, 2, 1), strict=True))
    )
    return (*(row for row in _morning() if row.topic != "orders"), *orders)


def _commit(stage: Stage, cluster: PlayedCluster, rounds: int, *, cleaners: tuple[int, ...]) -> None:
    """Let every group commit, and wait for these brokers' cleaners."""

    def commits() -> Iterator[CommitRequest]:
        for step in range(rounds):
            for group in GROUPS:
                offsets = {"orders": dict.fromkeys(range(len(ORDERS)), step)}
                yield CommitRequest(group=group, offsets=offsets, metadata=_METADATA)

    with Groups(cluster.bootstrap) as groups:
        stage.act(f"Each of {len(GROUPS)} groups commits {rounds} times.", lambda: groups.commit(commits()))
    before: dict[int, dict] = {}

    def at_rest() -> bool:
        nonlocal before
        last, before = before, {broker: disks.cleaned(cluster.log_dir(broker)) for broker in cleaners}
        return all(before.values()) and before == last

    cluster.wait_until(at_rest, what="the cleaners to come to rest", steady=_AT_REST)


def _capture(stage: Stage, cluster: PlayedCluster, name: str, phase: Phase) -> None:
    facts = stage.truth.facts.setdefault("overnight", {"killed_by": "-".join(map(str, KILLER)), "sizes": {}})
    facts["sizes"][name] = {
        str(broker): {f"{topic}-{number}": disks.size(cluster.log_dir(broker), [(topic, number)]) for topic, number in OFFSETS}
        for broker in (BLOATED, CLEANED)
    }
    stage.expect(name, cluster, phase, disks=BROKERS)
