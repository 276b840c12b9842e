"""Decode Kafka's znodes, one decoder per kind.

Sources: ``core/src/main/scala/kafka/zk/ZkData.scala@3.9.0``, ``core/src/main/scala/kafka/utils/ZkUtils.scala@0.9.0.1``. Unknown
fields are ignored, as in Kafka. Undecodable content becomes a problem with its reason, never a default.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from casebook.facts.cluster import Broker, GroupOffset, PartitionState
from casebook.facts.quotes import cut
from casebook.facts.stamp import Stamp
from casebook.facts.znodes import Stat

_NO_LEADER = -1
_MOST = 2**31 - 1  # Kafka's ids, partitions and epochs are int32
_JSON = json.JSONDecoder()


class Undecodable(ValueError):
    """A znode's data does not match its path; the message is the reason."""


@lru_cache(4096)
def number(name: str) -> int | None:
    """Return the broker id or partition for a name in a path; ``None`` for a name that Kafka would not write."""
    if not re.fullmatch("0|[1-9][0-9]{0,9}", name) or int(name) > _MOST:
        return None
    return int(name)


def stamp(stat: Stat | None) -> Stamp | None:
    """When a znode was written; ``None`` where its stat was not read."""
    return stat and Stamp(stat.czxid, stat.ctime, stat.mzxid, stat.mtime, stat.version, stat.ephemeralOwner)


def decode_state(data: bytes | None, stat: Stat | None = None, *, stated: bool = False) -> PartitionState:
    """Decode a partition's state znode.

    Args:
        data: Data of the znode.
        stat: Stat of the znode.
        stated: It was not read, but assembled from other statements: epochs may be missing.

    Raises:
        Undecodable: Empty, not a JSON object, an unknown version, or values that Kafka never writes.
    """
    row = _object(data)
    if stated:
        row = {"leader_epoch": None, "controller_epoch": None} | row
    try:
        leader, isr = row["leader"], row["isr"]
        leader_epoch, controller_epoch = row["leader_epoch"], row["controller_epoch"]
    except KeyError as missing:
        raise Undecodable(f"has no {missing.args[0]}") from None
    _version(row, newest=1)
    epochs = [epoch for epoch in (leader_epoch, controller_epoch) if epoch is not None or not stated]
    if type(leader) is not int or any(type(epoch) is not int for epoch in epochs):
        raise Undecodable("has a leader or epoch that is not an integer")
    if leader > _MOST or not all(0 <= epoch <= _MOST for epoch in epochs):
        raise Undecodable("has a leader or epoch that Kafka cannot have")
    if leader < _NO_LEADER:
        raise Undecodable(
            f"names leader {leader}, which is not a broker"
            + (" (-2 stands for a leader during deletion)" if leader == -2 else "")
        )
    return PartitionState(
        leader=None if leader == _NO_LEADER else leader,
        isr=_broker_ids(isr, "isr"),
        leader_epoch=leader_epoch,
        controller_epoch=controller_epoch,
        recovering=row.get("leader_recovery_state") == 1,
        stamp=stamp(stat),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A topic znode: brokers by partition.

    Args:
        json_version: 1, 2 (2.4+: adding and removing) or 3 (2.8+: topic_id).
        replicas: In assignment order.
        adding: Brokers that a reassignment adds.
        removing: Brokers that a reassignment removes.
        undecodable: Reason by partition with invalid brokers.
    """

    json_version: int | None
    replicas: Mapping[int, tuple[int, ...]]
    adding: Mapping[int, tuple[int, ...]]
    removing: Mapping[int, tuple[int, ...]]
    undecodable: Mapping[int, str]


def decode_topic(data: bytes | None) -> Assignment:
    """Decode a topic znode.

    Raises:
        Undecodable: It is not an assignment.
    """
    row = _object(data)
    undecodable: dict[int, str] = {}
    return Assignment(
        json_version=_version(row, newest=3),
        replicas=_brokers_by_partition(row.get("partitions"), "partitions", undecodable),
        adding=_brokers_by_partition(row.get("adding_replicas", {}), "adding_replicas", undecodable),
        removing=_brokers_by_partition(row.get("removing_replicas", {}), "removing_replicas", undecodable),
        undecodable=undecodable,
    )


def decode_partitions(data: bytes | None) -> dict[tuple[str, int], tuple[int, ...]]:
    """Decode ``/admin/reassign_partitions`` or ``/admin/preferred_replica_election``: replicas (if any) by partition.

    Raises:
        Undecodable: It is not a list of partitions.
    """
    rows = _object(data).get("partitions")
    if type(rows) is not list:
        raise Undecodable("has no partitions")
    found = {}
    for row in rows:
        if type(row) is not dict or not isinstance(row.get("topic"), str) or not _is_number(row.get("partition")):
            raise Undecodable("lists something that is not a partition")
        found[row["topic"], row["partition"]] = _broker_ids(row.get("replicas", []), "replicas")
    return found


def decode_controller(data: bytes | None) -> tuple[int, int | None]:
    """Decode ``/controller``: broker id and JSON version.

    Raises:
        Undecodable: It names no broker.
    """
    row = _object(data)
    broker = row.get("brokerid")
    if not _is_number(broker):
        raise Undecodable(f"names {_shown(broker)} as controller")
    return broker, _version(row, newest=2)


def decode_controller_epoch(data: bytes | None) -> int:
    """Decode ``/controller_epoch``, which is plain text.

    Raises:
        Undecodable: It is not a number.
    """
    if not data or not data.isdigit() or len(data) > 10 or int(data) > _MOST:
        raise Undecodable("is not an epoch")
    return int(data)


def decode_cluster_id(data: bytes | None) -> str:
    """Decode ``/cluster/id`` (0.10.1+).

    Raises:
        Undecodable: It has no id.
    """
    cluster_id = _object(data).get("id")
    if not isinstance(cluster_id, str):
        raise Undecodable("has no id")
    return cluster_id


def decode_log_dir_event(data: bytes | None) -> int:
    """Decode a ``/log_dir_event_notification`` child (1.0+): the broker that announced a failed log dir.

    Raises:
        Undecodable: It names no broker.
    """
    broker = _object(data).get("broker")
    if not _is_number(broker):
        raise Undecodable(f"names {_shown(broker)} as a broker")
    return broker


def decode_broker(broker_id: int, data: bytes | None, stat: Stat | None = None) -> Broker:
    """Decode a broker's registration of any version (1-5).

    Without a PLAINTEXT listener Kafka writes host null and port -1: then the first endpoint counts.

    Raises:
        Undecodable: It is not a registration.
    """
    row = _object(data)
    endpoints = tuple(text for text in _list(row.get("endpoints")) if isinstance(text, str))
    host, port = _address(row, endpoints)
    timestamp, rack = str(row.get("timestamp")), row.get("rack")
    return Broker(
        id=broker_id,
        host=host,
        port=port,
        endpoints=endpoints,
        rack=rack if isinstance(rack, str) else None,
        json_version=_version(row, newest=5),
        timestamp=int(timestamp) if re.fullmatch("[0-9]{1,18}", timestamp) else None,
        stamp=stamp(stat),
    )


def decode_config(data: bytes | None) -> dict[str, str]:
    """Decode the overrides of a ``/config/<kind>/<entity>`` znode.

    Raises:
        Undecodable: It has no settings.
    """
    row = _object(data)
    _version(row, newest=1)
    config = row.get("config", {})
    if not isinstance(config, dict):
        raise Undecodable("has a config that is not an object")
    return {key: value if isinstance(value, str) else _shown(value) for key, value in config.items()}


def _object(data: bytes | None) -> dict[str, object]:
    if not data:
        raise Undecodable("is empty")
    try:
        text = data.decode().strip(" \t\n\r")
        row, end = _JSON.raw_decode(text)
    except UnicodeDecodeError:
        raise Undecodable("is not text") from None
    except (ValueError, RecursionError):
        raise Undecodable("is not JSON") from None
    if end != len(text):
        raise Undecodable("is not JSON")
    if type(row) is not dict:
        raise Undecodable("is JSON, but no object")
    if "\\u" in text and not _is_text(row):
        raise Undecodable("holds an invalid escape")
    return row


def _is_text(row: dict[str, object]) -> bool:
    """Return whether all strings can be encoded: ``\\ud800`` alone is JSON, and not text."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _version(row: dict[str, object], *, newest: int) -> int | None:
    version = row.get("version")
    if version is not None and (type(version) is not int or not 1 <= version <= newest):
        known = "version 1" if newest == 1 else f"versions 1 to {newest}"
        raise Undecodable(f"is of version {_shown(version)}; Kafka up to 3.9 writes {known}")
    return version


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _broker_ids(value: object, what: str) -> tuple[int, ...]:
    if type(value) is not list:
        raise Undecodable(f"has no list of brokers as {what}")
    for broker in value:
        if type(broker) is not int or not 0 <= broker <= _MOST:
            raise Undecodable(f"names {_shown(broker)} as a broker in {what}")
    if len(value) > 1 and len(set(value)) != len(value):
        raise Undecodable(f"names a broker twice in {what}")
    return tuple(value)


def _brokers_by_partition(value: object, what: str, undecodable: dict[int, str]) -> dict[int, tuple[int, ...]]:
    if type(value) is not dict:
        raise Undecodable(f"has no {what}")
    brokers = {}
    for name, replicas in value.items():
        partition = number(name)
        if partition is None:
            raise Undecodable(f"has a partition {_shown(name)} in {what}")
        try:
            brokers[partition] = _broker_ids(replicas, what)
        except Undecodable as error:
            brokers[partition] = ()
            undecodable[partition] = str(error)
    return brokers


def _address(row: Mapping[str, object], endpoints: Sequence[str]) -> tuple[str | None, int | None]:
    host, port = row.get("host"), row.get("port")
    if isinstance(host, str) and host and type(port) is int and 0 < port <= 65535:
        return host, port
    for endpoint in endpoints:
        match = re.fullmatch(r"[^:/]+://\[?([^\]/]*?)\]?:([0-9]{1,5})", endpoint)
        if match:
            return match[1] or None, int(match[2])
    return None, None


def _list(value: object) -> list[object]:
    return value if type(value) is list else []


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return cut(json.dumps(value), 40)


def decode_group_offset(path: str, data: bytes | None, stat: Stat | None) -> GroupOffset:
    """Decode a group offset stored in ZooKeeper: a number as text (``ZookeeperConsumerConnector.scala@0.9.0.1``).

    Raises:
        Undecodable: It is not a number.
    """
    text = (data or b"").decode("ascii", errors="replace").strip()
    if not re.fullmatch("[0-9]{1,19}", text):
        raise Undecodable("is not an offset")
    _, _, group, _, topic, partition = path.split("/")
    return GroupOffset(group, topic, int(partition), int(text), stat.mtime if stat else None)
