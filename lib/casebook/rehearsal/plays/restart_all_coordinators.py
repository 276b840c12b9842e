"""Incident B, second act, with replicas: one broker of the offsets topic restarts, then all of them together.

When one stops, others take over its partitions, and its groups wait for the loads. When all stop, none does. Loading is slow for
the reason in ``plays.coordinators_loading``. Broker 1 was restarted before the first case, so that the logs have load rates.
"""

from collections.abc import Collection
from functools import partial

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.commits import Groups
from casebook.rehearsal.plays.coordinators_loading import BROKER_SETTINGS, FEW, PARTITIONS, SETTINGS, TOPIC, rounds
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, after, well
from casebook.rehearsal.watching import Watch

BROKERS = (1, 2, 3)
EARLIER, ONE, CONTROLLER = BROKERS
"""Broker restarted earlier, and broker restarted alone."""
REPLICAS = ((1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 3, 2), (2, 1, 3), (3, 2, 1))
"""Replicas per partition of the offsets topic."""
GROUPS = {"mailer": 0, "recommender": 1, "pricing": 2, "refunds": 3, "search": 4, "payments": 5}
"""Groups with their partitions: by the hash of the name (``partitionFor``, ``GroupMetadataManager.scala@0.9.0.1``)."""
ROUNDS = 300
"""Number of times that a group commits all partitions of the topic."""
_CALM = 1.0


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = _rows()
    settings = BROKER_SETTINGS | {"offsets.topic.num.partitions": str(len(REPLICAS)), "offsets.topic.replication.factor": "3"}
    batched = KafkaVersion.parse(stage.truth.kafka) >= KafkaVersion.parse("0.11.0.0")
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER, settings=settings) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        with Groups(cluster.bootstrap) as groups:
            for group in GROUPS:
                commits = rounds(group, ROUNDS, FEW if batched else PARTITIONS)
                stage.act(f"Group {group} commits {ROUNDS * PARTITIONS} times.", partial(groups.commit, commits))
        _restart(stage, cluster, rows, EARLIER)
        well_again = Phase(live=BROKERS, controller=CONTROLLER, partitions=rows)
        stage.expect("before", cluster, well_again, disks=BROKERS)
        stage.expect("copied", cluster, well_again, disks=BROKERS, copy_segments=(OFFSETS_TOPIC,))
        if stage.visited(cluster):
            return
        stage.truth.facts["restart_all_coordinators"] = {
            "one": _restart(stage, cluster, rows, ONE),
            "all": _restart_all(stage, cluster, rows),
        }
        stage.expect("after", cluster, Phase(live=BROKERS, partitions=after(rows)))


def _rows() -> tuple[Expected, ...]:
    offsets = [well(f"{OFFSETS_TOPIC}-{number}", replicas) for number, replicas in enumerate(REPLICAS)]
    return (*offsets, *(well(f"{TOPIC}-{number}", (3, 1, 2)) for number in range(PARTITIONS)))


def _restart(stage: Stage, cluster: PlayedCluster, rows: Collection[Expected], broker: int) -> dict[str, object]:
    """Shut a broker down and start it again; return the loads of the others meanwhile.

    Each partition returns to its preferred leader at the end, which loads it once more.
    """
    others = [other for other in BROKERS if other != broker]
    told = {other: len(disks.load_lines(cluster, other)) for other in others}
    stage.act(f"Stop broker {broker} (SIGTERM).", lambda: cluster.stop(broker))
    stage.gone(cluster, broker)
    cluster.wait_until(lambda: _ended(cluster), what="all loads to end", steady=_CALM)
    loads = {str(other): disks.load_lines(cluster, other)[told[other] :] for other in others}
    stage.start(cluster, broker)
    stage.wait_in_sync(cluster, rows)
    stage.act("Elect the preferred leaders.", lambda: cluster.elect_preferred(*((row.topic, row.partition) for row in rows)))
    cluster.wait_until(lambda: _ended(cluster) and _preferred(cluster, rows), what="the preferred leaders to load", steady=_CALM)
    return {"broker": broker, "loads": loads}


def _restart_all(stage: Stage, cluster: PlayedCluster, rows: Collection[Expected]) -> dict[str, object]:
    """Kill all together and start them again; return when each group was served again."""
    stage.kill(cluster, *BROKERS)
    begun = stage.truth.actions[-1]["at"]
    stage.gone(cluster, *BROKERS)
    stage.start(cluster, *BROKERS)
    with Watch(cluster.bootstrap, dict.fromkeys(GROUPS, ((TOPIC, 0), ROUNDS - 1))) as watch:
        cluster.wait_until(lambda: watch.served(GROUPS) == set(GROUPS), what="all groups to be served", seconds=180)
    stage.wait_in_sync(cluster, rows)
    return {"begun": begun, "served": {group: watch.seen[group].as_json()["served_at"] for group in GROUPS}}


def _preferred(cluster: PlayedCluster, rows: Collection[Expected]) -> bool:
    """Return whether preferred leaders lead."""
    led = {place: state["leader"] for place, state in cluster.states().items()}
    return all(led[row.topic, row.partition] == row.leader for row in rows)


def _ended(cluster: PlayedCluster) -> bool:
    """Return whether every started load has ended."""
    lines = [line for broker in BROKERS for line in disks.load_lines(cluster, broker)]
    return sum("Finished" in line for line in lines) == sum("Loading" in line or "Scheduling" in line for line in lines)
