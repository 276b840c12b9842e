"""Nothing happens: three brokers, every replica alive and in sync."""

from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase

BROKERS = (1, 2, 3)
RECORDS = 10
SETTINGS = {"payments": {"min.insync.replicas": "2"}}
ASSIGNMENTS = {
    "payments": {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)},
    "orders": {0: (2, 1, 3), 1: (3, 2, 1), 2: (1, 3, 2), 3: (2, 3, 1)},
    "clicks": {0: (1, 2), 1: (2, 3), 2: (3, 1)},
}


def play(stage: Stage) -> None:
    """Play it on a stage."""
    with stage.cluster(brokers=len(BROKERS), controller=1) as cluster:
        for topic, assignment in ASSIGNMENTS.items():
            stage.create_topic(cluster, topic, assignment, SETTINGS.get(topic))
        stage.produce(cluster, {(topic, partition): RECORDS for topic, assignment in ASSIGNMENTS.items() for partition in assignment})
        stage.expect("now", cluster, _now())
        stage.visited(cluster)


def _now() -> Phase:
    rows = tuple(
        Expected(
            topic=topic,
            partition=partition,
            replicas=replicas,
            leader=replicas[0],
            isr=tuple(sorted(replicas)),
            min_isr=int(SETTINGS.get(topic, {}).get("min.insync.replicas", 1)),
            why="All its replicas are alive and in sync.",
        )
        for topic, assignment in ASSIGNMENTS.items()
        for partition, replicas in assignment.items()
    )
    return Phase(live=BROKERS, dead=(), controller=1, partitions=rows)
