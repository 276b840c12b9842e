"""What Kafka's znodes hold, one decoder a kind.

Sources: ``core/src/main/scala/kafka/zk/ZkData.scala@3.9.0``, ``core/src/main/scala/kafka/utils/ZkUtils.scala@0.9.0.1``.
Unknown fields are ignored, as Kafka ignores them. What is undecodable becomes a problem with its reason, never a default.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from casebook.facts import Broker, PartitionState, Stat

_NO_LEADER = -1


class Undecodable(ValueError):
    """A znode's data does not say what its path promises; the text is the reason."""


def decode_state(data: bytes | None, stat: Stat | None = None) -> PartitionState:
    """Read a partition's state znode.

    Raises:
        Undecodable: Empty, no JSON object, an unknown version, or values Kafka never writes.
    """
    row = _object(data)
    try:
        leader, isr = row["leader"], row["isr"]
        leader_epoch, controller_epoch = row["leader_epoch"], row["controller_epoch"]
    except KeyError as missing:
        raise Undecodable(f"has no {missing.args[0]}") from None
    if row.get("version", 1) != 1:
        raise Undecodable(f"is of version {_shown(row['version'])}; Kafka up to 3.9 writes version 1")
    if type(leader) is not int or type(leader_epoch) is not int or type(controller_epoch) is not int:
        raise Undecodable("has a leader or epoch that is no integer")
    if leader < _NO_LEADER:
        raise Undecodable(f"names leader {leader}, which is no broker" + (" (-2 stands for a leader during deletion)" if leader == -2 else ""))
    return PartitionState(
        leader=None if leader == _NO_LEADER else leader,
        isr=_broker_ids(isr, "isr"),
        leader_epoch=leader_epoch,
        controller_epoch=controller_epoch,
        recovering=row.get("leader_recovery_state") == 1,
        stat=stat,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A topic znode: brokers by partition.

    Args:
        json_version: 1, 2 (2.4+: adding and removing) or 3 (2.8+: topic_id).
        replicas: In assignment order.
        adding: Being added by a reassignment.
        removing: Being removed by a reassignment.
        undecodable: Reason by partition whose brokers cannot be taken at their word.
    """

    json_version: int | None
    replicas: Mapping[int, tuple[int, ...]]
    adding: Mapping[int, tuple[int, ...]]
    removing: Mapping[int, tuple[int, ...]]
    undecodable: Mapping[int, str]


def decode_topic(data: bytes | None) -> Assignment:
    """Read a topic znode.

    Raises:
        Undecodable: It is not an assignment.
    """
    row = _object(data)
    version = row.get("version")
    undecodable: dict[int, str] = {}
    return Assignment(
        json_version=version if type(version) is int else None,
        replicas=_brokers_by_partition(row.get("partitions"), "partitions", undecodable),
        adding=_brokers_by_partition(row.get("adding_replicas", {}), "adding_replicas", undecodable),
        removing=_brokers_by_partition(row.get("removing_replicas", {}), "removing_replicas", undecodable),
        undecodable=undecodable,
    )


def decode_partitions(data: bytes | None) -> dict[tuple[str, int], tuple[int, ...]]:
    """Read ``/admin/reassign_partitions`` or ``/admin/preferred_replica_election``: replicas (maybe none) by partition.

    Raises:
        Undecodable: It is no list of partitions.
    """
    rows = _object(data).get("partitions")
    if type(rows) is not list:
        raise Undecodable("has no partitions")
    found = {}
    for row in rows:
        if type(row) is not dict or not isinstance(row.get("topic"), str) or type(row.get("partition")) is not int:
            raise Undecodable("lists something that is no partition")
        found[row["topic"], row["partition"]] = _broker_ids(row.get("replicas", []), "replicas")
    return found


def decode_controller(data: bytes | None) -> tuple[int, int | None]:
    """Read ``/controller``: broker id and JSON version.

    Raises:
        Undecodable: It names no broker.
    """
    row = _object(data)
    broker, version = row.get("brokerid"), row.get("version")
    if type(broker) is not int or broker < 0:
        raise Undecodable(f"names {_shown(broker)} as controller")
    return broker, version if type(version) is int else None


def decode_controller_epoch(data: bytes | None) -> int:
    """Read ``/controller_epoch``, which is plain text.

    Raises:
        Undecodable: It is no number.
    """
    if not data or not data.isdigit() or len(data) > 10:
        raise Undecodable("is no epoch")
    return int(data)


def decode_cluster_id(data: bytes | None) -> str:
    """Read ``/cluster/id`` (0.10.1+).

    Raises:
        Undecodable: It holds no id.
    """
    cluster_id = _object(data).get("id")
    if not isinstance(cluster_id, str):
        raise Undecodable("has no id")
    return cluster_id


def decode_log_dir_event(data: bytes | None) -> int:
    """Read a ``/log_dir_event_notification`` child (1.0+): the broker that announced a failed log dir.

    Raises:
        Undecodable: It names no broker.
    """
    broker = _object(data).get("broker")
    if type(broker) is not int or broker < 0:
        raise Undecodable(f"names {_shown(broker)} as a broker")
    return broker


def decode_broker(broker_id: int, data: bytes | None, stat: Stat | None = None) -> Broker:
    """Read a broker's registration of any version (1-5).

    Without a PLAINTEXT listener Kafka writes host null and port -1: the first endpoint counts then.

    Raises:
        Undecodable: It is no registration.
    """
    row = _object(data)
    endpoints = tuple(text for text in _list(row.get("endpoints")) if isinstance(text, str))
    host, port = _address(row, endpoints)
    version, timestamp, rack = row.get("version"), row.get("timestamp"), row.get("rack")
    return Broker(
        id=broker_id,
        host=host,
        port=port,
        endpoints=endpoints,
        rack=rack if isinstance(rack, str) else None,
        json_version=version if type(version) is int else None,
        timestamp=int(timestamp) if isinstance(timestamp, str | int) and str(timestamp).isdecimal() else None,
        stat=stat,
    )


def decode_config(data: bytes | None) -> dict[str, str]:
    """Read the overrides of a ``/config/<kind>/<entity>`` znode.

    Raises:
        Undecodable: It holds no settings.
    """
    config = _object(data).get("config", {})
    if not isinstance(config, dict):
        raise Undecodable("has a config that is no object")
    return {str(key): value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}


def _object(data: bytes | None) -> dict[str, object]:
    if not data:
        raise Undecodable("is empty")
    try:
        row = json.loads(data.decode())
    except UnicodeDecodeError:
        raise Undecodable("is not text") from None
    except (ValueError, RecursionError):
        raise Undecodable("is not JSON") from None
    if type(row) is not dict:
        raise Undecodable("is JSON, but no object")
    return row


def _broker_ids(value: object, what: str) -> tuple[int, ...]:
    if type(value) is not list:
        raise Undecodable(f"has no list of brokers as {what}")
    for broker in value:
        if type(broker) is not int or broker < 0:
            raise Undecodable(f"names {_shown(broker)} as a broker in {what}")
    if len(value) > 1 and len(set(value)) != len(value):
        raise Undecodable(f"names a broker twice in {what}")
    return tuple(value)


def _brokers_by_partition(value: object, what: str, undecodable: dict[int, str]) -> dict[int, tuple[int, ...]]:
    if type(value) is not dict:
        raise Undecodable(f"has no {what}")
    brokers = {}
    for partition, replicas in value.items():
        if not (partition.isascii() and partition.isdecimal()):
            raise Undecodable(f"has a partition {_shown(partition)} in {what}")
        try:
            brokers[int(partition)] = _broker_ids(replicas, what)
        except Undecodable as error:
            brokers[int(partition)] = ()
            undecodable[int(partition)] = str(error)
    return brokers


def _address(row: Mapping[str, object], endpoints: Sequence[str]) -> tuple[str | None, int | None]:
    host, port = row.get("host"), row.get("port")
    if isinstance(host, str) and host and type(port) is int and port > 0:
        return host, port
    for endpoint in endpoints:
        match = re.fullmatch(r"[^:/]+://\[?([^\]/]*?)\]?:(\d{1,5})", endpoint)
        if match:
            return match[1] or None, int(match[2])
    return None, None


def _list(value: object) -> list[object]:
    return value if type(value) is list else []


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:40] + "..."
