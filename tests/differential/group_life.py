"""What groups do to ``__consumer_offsets`` of a real broker: everything that a release can write, in a few seconds.

Real consumers join, commit and leave; raw requests commit in bursts, one for each codec and message format; offsets expire,
are forgotten and deleted; real transactional producers commit, abort, overtake each other and are left in the middle.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from types import MappingProxyType
from typing import TYPE_CHECKING

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.servers.disks import log_lines
from casebook.rehearsal.servers.protocol import BrokerLink, addresses, array, int32, string
from casebook.rehearsal.servers.records import client_settings
from casebook.rehearsal.servers.topics import Partition
from tests.transactions import transactional
from tests.zookeeper_session import client_of

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer, TopicPartition

TOPICS = {"orders": 3, "audit-log.v1": 1}
PARTITIONS = tuple((topic, number) for topic, count in TOPICS.items() for number in range(count))

_PATIENCE = 60.0
_JOIN, _LEAVE, _SYNC = 11, 13, 14  # request keys
_SETTINGS = {
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "1",
    "offsets.retention.check.interval.ms": "300",
    "group.initial.rebalance.delay.ms": "0",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "log.cleaner.enable": "false",  # what is written stays
}
_TOPIC = {"cleanup.policy": "compact", "segment.bytes": "4096"}
_MEMBERS, _STATIC, _WORKERS = "members", "static-members", "workers"
_EXPIRED, _FORGOTTEN, _DELETED = "expired", "forgotten", "deleted"


def codecs(kafka: str) -> tuple[str, ...]:
    """What a release can compress the offsets topic with."""
    return ("none", "gzip", "snappy", "lz4", *["zstd"] * _since(kafka, "2.1.0"))


def magics(kafka: str) -> set[int]:
    """The message formats that a release can write."""
    if not _since(kafka, "0.11.0.0"):
        return {0}
    return {2} if _since(kafka, "3.0.0") else {0, 1, 2}


def cluster(kafka: str) -> PlayedCluster:
    """One broker for :func:`live`."""
    return PlayedCluster(kafka=kafka, brokers=1, settings=_SETTINGS)


def live(cluster: PlayedCluster) -> dict[str, dict[Partition, int | None]]:
    """Let groups live, until nothing more happens.

    Returns:
        By group what OffsetFetch then answers for every partition there is.
    """
    for topic, count in TOPICS.items():
        cluster.create_topic(topic, {number: [1] for number in range(count)})
    cluster.create_topic(OFFSETS_TOPIC, {number: [1] for number in range(3)}, _TOPIC)
    with Groups(cluster.bootstrap) as groups:
        names = {_MEMBERS, _STATIC, _WORKERS, _EXPIRED}
        for number, settings in enumerate(_bursts(cluster.kafka)):
            configure(cluster, OFFSETS_TOPIC, _TOPIC | settings)
            names |= _burst(groups, number)
        names |= _remove(groups, cluster.kafka)
        come_and_go(cluster)
        join_as_no_consumer(cluster)
        if _since(cluster.kafka, "2.3.0"):
            join_for_good(cluster)
        if _since(cluster.kafka, "0.11.0.0"):
            names |= transact(cluster, groups)
        _wait(lambda: set(groups.fetch(_EXPIRED, PARTITIONS).values()) == {None}, "offsets to expire")
        return {name: groups.fetch(name, PARTITIONS) for name in sorted(names)}


def _since(kafka: str, release: str) -> bool:
    return KafkaVersion.parse(kafka) >= KafkaVersion.parse(release)


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


# Raw commits.


def _bursts(kafka: str) -> Iterator[dict[str, str]]:
    """Settings of the offsets topic, one after the other: every codec, and every older format with one."""
    for codec in codecs(kafka):
        yield {"compression.type": "uncompressed" if codec == "none" else codec}
    if 1 in magics(kafka):
        yield {"compression.type": "gzip", "message.format.version": "0.10.2"}
        yield {"compression.type": "uncompressed", "message.format.version": "0.10.2"}
        yield {"compression.type": "lz4", "message.format.version": "0.9.0"}
        yield {"compression.type": "snappy"}  # the latest format again


def configure(cluster: PlayedCluster, topic: str, settings: Mapping[str, str]) -> None:
    """Change a topic's settings by its znode and wait until the broker has taken note of it.

    Version 1 of the notification is read by every release (``DynamicConfigManager.scala@0.9.0.1, 2.8.2``,
    ``ZkConfigManager.scala@3.9.0-rc3``).
    """
    with client_of(cluster) as client:
        seen = _overrides(cluster)
        client.set(f"/config/topics/{topic}", json.dumps({"version": 1, "config": settings}).encode())
        notification = {"version": 1, "entity_type": "topics", "entity_name": topic}
        client.create("/config/changes/config_change_", json.dumps(notification).encode(), sequence=True)
        _wait(lambda: _overrides(cluster) > seen, f"the settings of {topic}")


def _overrides(cluster: PlayedCluster) -> int:
    return sum("Processing override for " in line for line in log_lines(cluster, 1, "server.log"))


def _burst(groups: Groups, number: int) -> set[str]:
    """Commits one by one and many in one batch; old and new keys, strange names, long metadata, a few that expire at once."""
    names = [f"group-{member}" for member in range(8)] + [f"only burst: {number}", "größe:😀"]
    groups.commit(
        CommitRequest(
            group=name,
            offsets={topic: {part: 1000 * number + part for part in range(count)} for topic, count in TOPICS.items()},
            metadata="" if index % 2 else f"{name} in burst {number}: 5,metadata=6 " + "x" * 40 * (index % 3),
        )
        for index, name in enumerate(names)
    )
    groups.commit([CommitRequest(group=_EXPIRED, offsets={"orders": {0: number, 1: number}}, retention_ms=1)])
    groups.commit([CommitRequest(group="group-0", offsets={"orders": {0: 2**62 + number}}, retention_ms=3_600_000)])
    return set(names)


def _remove(groups: Groups, kafka: str) -> set[str]:
    """Tombstones asked for, where a release can be asked."""
    if _since(kafka, "1.1.0"):
        groups.commit([CommitRequest(group=_DELETED, offsets={"orders": {0: 1, 2: 3}})])
        groups.delete(_DELETED)
    if _since(kafka, "2.4.0"):
        groups.commit([CommitRequest(group=_FORGOTTEN, offsets={"orders": {0: 1, 2: 3}})])
        groups.forget(_FORGOTTEN, [("orders", 2)])
    return {_DELETED, _FORGOTTEN}


# Members.


def come_and_go(cluster: PlayedCluster) -> None:
    """Two consumers join one after the other, each commits, and both leave."""
    from confluent_kafka import TopicPartition

    with closing(_consumer(cluster, _MEMBERS, "first")) as first:
        _poll_until(first, lambda: _assigned(first) == len(PARTITIONS))
        first.commit(offsets=[TopicPartition("orders", 0, 11, "from the first", 7)], asynchronous=False)
        with closing(_consumer(cluster, _MEMBERS, "second")) as second:
            _poll_until(first, second, lambda: _assigned(second) and _assigned(first) + _assigned(second) == len(PARTITIONS))
            second.commit(offsets=_everything(second, 22), asynchronous=False)
        _poll_until(first, lambda: _assigned(first) == len(PARTITIONS))
        first.commit(offsets=_everything(first, 33), asynchronous=False)


def join_for_good(cluster: PlayedCluster) -> None:
    """A static member, which does not leave when it is closed, and says what it owns when it joins."""
    more = {"group.instance.id": "static one", "partition.assignment.strategy": "cooperative-sticky"}
    with closing(_consumer(cluster, _STATIC, "third", more)) as third:
        _poll_until(third, lambda: _assigned(third) == len(PARTITIONS))
        third.commit(offsets=_everything(third, 44), asynchronous=False)


def join_as_no_consumer(cluster: PlayedCluster) -> None:
    """A member of another kind, as Kafka Connect's are; what it says of itself would also pass for a consumer's.

    Requests of version 0: ``Protocol.java@0.9.0.1``. Of an assignment that is no consumer's the tool of 0.9 dies.
    """
    empty = bytes(10)
    assignment = empty if _since(cluster.kafka, "0.11.0.0") else b""
    with BrokerLink(addresses(cluster.bootstrap)[0], client="worker") as link:
        protocols = array([string("compatible") + _bytes(empty)])
        joined = link.ask(_JOIN, 0, string(_WORKERS) + int32(6000) + string("") + string("connect") + protocols)
        assert joined.int16() == 0
        generation = joined.int32()
        _protocol, _leader, member = (joined.string() for _ in range(3))
        link.ask(_SYNC, 0, string(_WORKERS) + int32(generation) + string(member) + array([string(member) + _bytes(assignment)]))
        link.ask(_LEAVE, 0, string(_WORKERS) + string(member))


def _bytes(data: bytes) -> bytes:
    return int32(len(data)) + data


def _consumer(
    cluster: PlayedCluster, group: str, client_id: str, more: Mapping[str, object] = MappingProxyType({})
) -> "Consumer":
    from confluent_kafka import Consumer

    settings = client_settings(bootstrap=cluster.bootstrap, kafka=cluster.kafka) | {
        "group.id": group,
        "client.id": client_id,
        "enable.auto.commit": False,
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 100,
        "partition.assignment.strategy": "roundrobin",
    }
    consumer = Consumer({**settings, **more})
    consumer.subscribe(list(TOPICS))
    return consumer


def _assigned(consumer: "Consumer") -> int:
    return len(consumer.assignment())


def _everything(consumer: "Consumer", offset: int) -> list["TopicPartition"]:
    from confluent_kafka import TopicPartition

    return [TopicPartition(one.topic, one.partition, offset) for one in consumer.assignment()]


def _poll_until(*last: "Consumer | Callable[[], bool]") -> None:
    *consumers, condition = last

    def polled() -> bool:
        for consumer in consumers:
            consumer.poll(0.02)
        return condition()

    _wait(polled, "the group to settle")


# Transactions.


def transact(cluster: PlayedCluster, groups: Groups) -> set[str]:
    """Commit, abort, be overtaken, and stop in the middle."""
    one, other = (_producer(cluster, name) for name in ("one", "other"))
    groups.commit(
        CommitRequest(group=group, offsets={"orders": {0: 1}}) for group in ("committed", "aborted", "overtaken", "left-open")
    )
    _send(cluster, one, {"aborted": 2, "only-aborted": 2})
    one.abort_transaction()
    _send(cluster, one, {"committed": 2, "only-committed": 2, "overtaken": 2, "interleaved": 2})
    _send(cluster, other, {"interleaved": 3})
    groups.commit([CommitRequest(group="overtaken", offsets={"orders": {0: 3}})])
    other.commit_transaction()
    _wait(lambda: _first_order(groups, "interleaved") == 3, "the other's transaction")
    one.commit_transaction()
    _wait(lambda: {_first_order(groups, group) for group in ("committed", "only-committed")} == {2}, "the one's transaction")
    _send(cluster, other, {"left-open": 4, "only-left-open": 4})
    return {"committed", "only-committed", "aborted", "only-aborted", "overtaken", "interleaved", "left-open", "only-left-open"}


def _producer(cluster: PlayedCluster, name: str) -> "Producer":
    from confluent_kafka import Producer

    producer = Producer(client_settings(bootstrap=cluster.bootstrap, kafka=cluster.kafka) | transactional(name))
    producer.init_transactions()
    return producer


def _send(cluster: PlayedCluster, producer: "Producer", offsets: Mapping[str, int]) -> None:
    """Commit one offset a group in a new transaction, and leave that open."""
    from confluent_kafka import Consumer, TopicPartition

    producer.begin_transaction()
    for group, offset in offsets.items():
        settings = client_settings(bootstrap=cluster.bootstrap, kafka=cluster.kafka) | {"group.id": group}
        with closing(Consumer(settings)) as consumer:
            producer.send_offsets_to_transaction([TopicPartition("orders", 0, offset)], consumer.consumer_group_metadata())


def _first_order(groups: Groups, group: str) -> int | None:
    return groups.fetch(group, [("orders", 0)])["orders", 0]
