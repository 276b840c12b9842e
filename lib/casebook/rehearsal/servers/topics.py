"""Create, delete and read topics through their znodes, the common way of every Kafka version."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kazoo.client import KazooClient
    from kazoo.protocol.states import ZnodeStat

Partition = tuple[str, int]
"""Topic and partition number."""


def label(partition: Partition) -> str:
    """Format a partition like Kafka and its folder: ``topic-number``."""
    return "-".join(map(str, partition))


def create_topic(
    client: "KazooClient",
    name: str,
    assignment: Mapping[int, Sequence[int]],
    config: Mapping[str, str],
) -> None:
    """Request a topic with exactly this assignment from the controller.

    The settings are written first: a broker reads them when it creates the partition's log. Version 1 of both JSON formats is
    supported by every release (``ZkUtils.scala@0.9.0.1``, ``ZkData.scala@2.8.2, 3.9.0-rc3``).
    """
    partitions = {str(partition): list(replicas) for partition, replicas in assignment.items()}
    client.create(f"/config/topics/{name}", _json({"version": 1, "config": dict(config)}), makepath=True)
    client.create(f"/brokers/topics/{name}", _json({"version": 1, "partitions": partitions}))


def delete_topic(client: "KazooClient", name: str) -> None:
    """Request a topic's deletion from the controller, like ``kafka-topics --delete`` of 0.9."""
    client.create(f"/admin/delete_topics/{name}")


def elect_preferred(client: "KazooClient", partitions: Sequence[Partition]) -> None:
    """Request the preferred leaders of partitions from the controller, like ``kafka-preferred-replica-election`` of 0.9."""
    rows = [{"topic": topic, "partition": partition} for topic, partition in partitions]
    client.create("/admin/preferred_replica_election", _json({"version": 1, "partitions": rows}))


def names(client: "KazooClient") -> list[str]:
    """Return names of the topics, including those under deletion."""
    return sorted(_children(client, "/brokers/topics"))


def deleting(client: "KazooClient") -> frozenset[str]:
    """Return topics with a pending deletion."""
    return frozenset(_children(client, "/admin/delete_topics"))


def states(client: "KazooClient") -> dict[Partition, dict]:
    """Return the state of every partition that has one, as stored."""
    return dict(_states(client))


def watch_states(client: "KazooClient", told: Callable[[Partition, dict, int], None]) -> None:
    """Subscribe to the state of every partition, current and changed, with ZooKeeper's time, epoch ms.

    Of rapid changes only the last is delivered.
    """
    for (topic, partition), _ in _states(client):

        def look(data: bytes | None, stat: "ZnodeStat | None", *, of: Partition = (topic, partition)) -> None:
            if data:
                told(of, json.loads(data), stat.mtime)

        client.DataWatch(f"/brokers/topics/{topic}/partitions/{partition}/state", look)


def _states(client: "KazooClient") -> Iterator[tuple[Partition, dict]]:
    from kazoo.exceptions import NoNodeError

    for topic in names(client):
        for partition in sorted(map(int, _children(client, f"/brokers/topics/{topic}/partitions"))):
            try:
                data, _ = client.get(f"/brokers/topics/{topic}/partitions/{partition}/state")
            except NoNodeError:
                continue  # not created yet, or just deleted
            yield (topic, partition), json.loads(data)


def _children(client: "KazooClient", path: str) -> list[str]:
    from kazoo.exceptions import NoNodeError

    try:
        return client.get_children(path)
    except NoNodeError:
        return []


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
