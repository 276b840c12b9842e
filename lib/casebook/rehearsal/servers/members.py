"""Real consumers as members of a group."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from casebook.errors import RehearsalError
from casebook.rehearsal.servers.records import client_settings

if TYPE_CHECKING:
    from confluent_kafka import Consumer

PATIENCE = 60.0
"""Seconds to wait for the assignment."""


@contextmanager
def member(*, bootstrap: str, kafka: str, group: str, topics: Sequence[str], client: str) -> Iterator["Consumer"]:
    """Yield a consumer that has joined its group and received partitions; it leaves the group at the end of the block.

    Args:
        bootstrap: Addresses of brokers.
        kafka: Their version.
        group: Consumer group.
        topics: Topics to subscribe.
        client: Client id.

    Raises:
        RehearsalError: It received no partition in time.
    """
    from confluent_kafka import Consumer

    settings = {
        "group.id": group,
        "client.id": client,
        "session.timeout.ms": 10_000,  # 0.9 allows 30 s at most, librdkafka's default is higher
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(client_settings(bootstrap=bootstrap, kafka=kafka) | settings)
    try:
        consumer.subscribe(list(topics))
        deadline = time.monotonic() + PATIENCE
        while not consumer.assignment():
            consumer.poll(0.1)
            if time.monotonic() > deadline:
                raise RehearsalError(f"Group {group} assigned nothing to its member within {PATIENCE:.0f} s.")
        yield consumer
    finally:
        consumer.close()
