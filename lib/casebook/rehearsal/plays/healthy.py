"""Nothing happens: three brokers, every replica alive and in sync."""

from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Phase, well

BROKERS = (1, 2, 3)
CONTROLLER = 1
RECORDS = 10
SETTINGS = {"payments": {"min.insync.replicas": "2"}}
ASSIGNMENTS = {
    "payments": ((1, 2, 3), (2, 3, 1), (3, 1, 2)),
    "orders": ((2, 1, 3), (3, 2, 1), (1, 3, 2), (2, 3, 1)),
    "clicks": ((1, 2), (2, 3), (3, 1)),
}


def play(stage: Stage) -> None:
    """Play it on a stage."""
    rows = tuple(
        well(f"{topic}-{partition}", replicas, min_isr=int(SETTINGS.get(topic, {}).get("min.insync.replicas", 1)))
        for topic, assignment in ASSIGNMENTS.items()
        for partition, replicas in enumerate(assignment)
    )
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        stage.produce(cluster, {(row.topic, row.partition): RECORDS for row in rows})
        stage.expect("now", cluster, Phase(live=BROKERS, controller=CONTROLLER, partitions=rows))
        stage.visited(cluster)
