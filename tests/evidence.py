"""Znodes of small clusters, as a walk would have read them."""

import json
from collections.abc import Iterable, Mapping

from casebook.facts.cluster import Cluster
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.formats.zookeeper import cluster
from casebook.kafka.releases import KafkaVersion

K09, K28, K39 = (KafkaVersion.parse(text) for text in ("0.9.0.1", "2.8.2", "3.9.2"))


def znode(path: str, content: object = None, *, stat: Stat | None = None, **fields: object) -> Znode:
    """A znode whose data is bytes as they are, text, or anything else as JSON."""
    if content is not None and not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content)).encode()
    return Znode(path=path, data=content, stat=stat, **fields)


def state_path(topic: str, partition: int) -> str:
    return f"/brokers/topics/{topic}/partitions/{partition}/state"


def state(
    leader: int, isr: Iterable[int], *, leader_epoch: int = 3, controller_epoch: int = 5, **more: object
) -> dict[str, object]:
    return {
        "controller_epoch": controller_epoch,
        "leader": leader,
        "version": 1,
        "leader_epoch": leader_epoch,
        "isr": list(isr),
    } | more


def rows(
    *,
    live: Iterable[int] = (1, 2, 3),
    topics: Mapping[str, Mapping[int, tuple[object, object]]] | None = None,
    controller: int | None = 1,
    topic_fields: Mapping[str, object] | None = None,
    extra: Iterable[Znode] = (),
) -> list[Znode]:
    """Every znode that the checks ask for.

    Args:
        topics: By topic and partition: replicas, and the state (``None`` for none).
        topic_fields: Further fields of every topic znode.
        extra: Further znodes; one of an equal path replaces ours.
    """
    live, topics = tuple(live), topics or {}
    made = [znode("/brokers/ids", stat=Stat(numChildren=len(live))), znode("/brokers/topics", stat=Stat(numChildren=len(topics)))]
    made += [znode(path) for path in ("/config", "/config/topics", "/config/brokers", "/admin", "/admin/delete_topics")]
    made += [
        znode(f"/brokers/ids/{b}", {"version": 2, "host": "h", "port": 9092, "endpoints": [], "timestamp": "1"}) for b in live
    ]
    made.append(znode("/controller_epoch", "5"))
    if controller is not None:
        made.append(znode("/controller", {"version": 1, "brokerid": controller, "timestamp": "1"}))
    else:
        made.append(Znode(path="/controller", outcome=ReadOutcome.MISSING))  # as the collector says it of a whole tree
    for topic, partitions in topics.items():
        assignment = {str(partition): replicas for partition, (replicas, _) in partitions.items()}
        made.append(znode(f"/brokers/topics/{topic}", {"version": 1, "partitions": assignment} | dict(topic_fields or {})))
        made += [znode(state_path(topic, p), content) for p, (_, content) in partitions.items() if content is not None]
    extra = list(extra)
    replaced = {row.path for row in extra}
    return [row for row in made if row.path not in replaced] + extra


def made(**how: object) -> Cluster:
    """The cluster of :func:`rows`."""
    return cluster.from_znodes(rows(**how))


def override(topic: str, **settings: str) -> Znode:
    return znode(
        f"/config/topics/{topic}", {"version": 1, "config": {key.replace("_", "."): value for key, value in settings.items()}}
    )


def of_brokers(entity: str, **settings: str) -> Znode:
    return znode(
        f"/config/brokers/{entity}", {"version": 1, "config": {key.replace("_", "."): value for key, value in settings.items()}}
    )
