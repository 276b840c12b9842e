"""Produce a few real records, each acknowledged by all in-sync replicas, and read stored ones."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from casebook.errors import RehearsalError
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.servers.topics import Partition


class Record(NamedTuple):
    """A stored record."""

    partition: Partition
    offset: int
    key: bytes | None
    value: bytes | None


def client_settings(*, bootstrap: str, kafka: str) -> dict[str, object]:
    """Return settings for any librdkafka client of a rehearsed cluster.

    Brokers before 0.10 close the connection on an ApiVersions request, and lose other clients' requests with it: it is never
    sent.
    """
    settings: dict[str, object] = {"bootstrap.servers": bootstrap, "broker.address.family": "v4", "log_level": 0}
    if KafkaVersion.parse(kafka) < KafkaVersion.parse("0.10.0.0"):
        settings |= {"api.version.request": False, "broker.version.fallback": kafka}
    return settings


def produce(
    counts: Mapping[Partition, int], *, bootstrap: str, kafka: str, value: str | None = None, patience: float = 60.0
) -> None:
    """Produce so many records to each partition with acks=all and wait for every acknowledgement.

    Args:
        counts: Records by partition.
        bootstrap: Addresses of brokers.
        kafka: Their version.
        value: Value of each record; by default its partition and number. The key is the number.
        patience: Seconds to wait.

    Raises:
        RehearsalError: A record was not acknowledged.
    """
    from confluent_kafka import Producer

    failed: list[str] = []
    producer = Producer({**client_settings(bootstrap=bootstrap, kafka=kafka), "acks": "all", "linger.ms": 5})

    def delivered(error: object, _message: object) -> None:
        if error:
            failed.append(str(error))

    for (topic, partition), count in counts.items():
        for number in range(count):
            said = json.dumps({"topic": topic, "number": number}) if value is None else value
            producer.produce(topic, partition=partition, key=str(number), value=said, on_delivery=delivered)
    waiting = producer.flush(patience)
    if failed or waiting:
        raise RehearsalError(
            f"{len(failed) + waiting} of {sum(counts.values())} records were not acknowledged.",
            cause=failed[0] if failed else f"No answer within {patience:.0f} s.",
        )


def produced_here(record: Record) -> bool:
    """Return whether :func:`produce` created it, with the default value."""
    with suppress(ValueError, TypeError):
        said = json.loads(record.value)
        return isinstance(said, dict) and said.keys() == {"topic", "number"} and said["topic"] == record.partition[0]
    return False


def read(partitions: Sequence[Partition], *, bootstrap: str, kafka: str, patience: float = 60.0) -> Iterator[Record]:
    """Read partitions completely.

    Args:
        partitions: Each must exist.
        bootstrap: Addresses of brokers.
        kafka: Their version.
        patience: Seconds to wait for each record.

    Raises:
        RehearsalError: The end is not reached in time.
    """
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    settings = {"group.id": "ledger", "client.id": "ledger-reader", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer(client_settings(bootstrap=bootstrap, kafka=kafka) | settings)
    left = set(partitions)
    try:
        consumer.assign([TopicPartition(*partition, OFFSET_BEGINNING) for partition in partitions])
        while left:
            if (message := consumer.poll(patience)) is None:
                raise RehearsalError(f"Waited {patience:.0f} s in vain for the records of {sorted(left)}.")
            place = message.topic(), message.partition()
            if message.error() is None:
                yield Record(place, message.offset(), message.key(), message.value())
            elif message.error().code() == KafkaError._PARTITION_EOF:
                left.discard(place)
    finally:
        consumer.close()
