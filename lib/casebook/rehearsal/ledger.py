"""A producer that keeps a ledger: what it sent, and what became of it as far as it was told."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self

from casebook.errors import RehearsalError
from casebook.rehearsal.records import client_settings
from casebook.rehearsal.topics import Partition

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

_PATIENCE = 60.0
"""Seconds to wait for the last answers, and for each record when all are read again."""


@dataclass(slots=True, kw_only=True)
class Entry:
    """One record.

    Args:
        id: Unique; the record's key.
        client: Client id of who sent it.
        offset: As acknowledged; ``None`` while it is not.
        sent: When the application gave it away, epoch ms.
        acked: When the application was told that it is stored, epoch ms.
        failed: Why the application was told that it is not.
    """

    id: str
    client: str
    topic: str
    partition: int
    offset: int | None = None
    sent: int
    acked: int | None = None
    failed: str | None = None

    def as_json(self) -> dict[str, object]:
        """A line of the ledger."""
        told = {"acked": iso(self.acked)} if self.acked is not None else {"failed": self.failed}
        place = {"topic": self.topic, "partition": self.partition, "offset": self.offset}
        return {"id": self.id, "client": self.client, **place, "sent": iso(self.sent)} | told


class LedgerProducer:
    """Produces to each partition in turn, at a steady pace, for as long as its block lasts; then waits for all answers.

    It goes on whatever the brokers do, as an application does that looks at its callbacks later.

    Args:
        partitions: Where to.
        bootstrap: Addresses of brokers.
        kafka: Their version.
        client: Its client id.
        acks: ``1``, ``all`` or ``0``.
        pause: Seconds between two rounds, each a record to every partition.
    """

    def __init__(
        self, partitions: Sequence[Partition], *, bootstrap: str, kafka: str, client: str, acks: str, pause: float = 0.02
    ) -> None:
        from confluent_kafka import Producer

        self.ledger: list[Entry] = []
        self._partitions, self._client, self._pause = tuple(partitions), client, pause
        settings = {"client.id": client, "acks": acks, "linger.ms": 40}  # fewer requests: a leader takes one at a time
        self._producer = Producer(client_settings(bootstrap=bootstrap, kafka=kafka) | settings)
        self._over = Event()
        self._thread = Thread(target=self._produce, name=client, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self._producer.flush(0 if kind else _PATIENCE)

    def acked(self, partition: Partition) -> bool:
        """Whether any record of a partition was acknowledged so far."""
        return any(entry.acked is not None and (entry.topic, entry.partition) == partition for entry in self.ledger)

    def _produce(self) -> None:
        number = 0
        while not self._over.wait(self._pause):
            for topic, partition in self._partitions:
                entry = Entry(id=f"{self._client}-{number}", client=self._client, topic=topic, partition=partition, sent=_now())
                self.ledger.append(entry)
                self._producer.produce(topic, partition=partition, key=entry.id, value="", on_delivery=_teller(entry))
                number += 1
            self._producer.poll(0)


def write_ledger(entries: Sequence[Entry], path: Path) -> None:
    """Write a ledger, a JSON object a line, by time of sending."""
    lines = (json.dumps(entry.as_json()) for entry in sorted(entries, key=lambda entry: entry.sent))
    path.write_text("".join(line + "\n" for line in lines))


def stored(partitions: Sequence[Partition], *, bootstrap: str, kafka: str) -> dict[str, tuple[Partition, int]]:
    """Read partitions from begin to end: where each record lies, by its key.

    Raises:
        RehearsalError: The end is not reached in time.
    """
    return dict(_read(partitions, bootstrap=bootstrap, kafka=kafka))


def _read(partitions: Sequence[Partition], *, bootstrap: str, kafka: str) -> Iterator[tuple[str, tuple[Partition, int]]]:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    settings = {"group.id": "ledger", "client.id": "ledger-reader", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer(client_settings(bootstrap=bootstrap, kafka=kafka) | settings)
    left = set(partitions)
    try:
        consumer.assign([TopicPartition(*partition, OFFSET_BEGINNING) for partition in partitions])
        while left:
            if (message := consumer.poll(_PATIENCE)) is None:
                raise RehearsalError(f"Waited {_PATIENCE:.0f} s in vain for the records of {sorted(left)}.")
            place = message.topic(), message.partition()
            if message.error() is None:
                yield message.key().decode(), (place, message.offset())
            elif message.error().code() == KafkaError._PARTITION_EOF:
                left.discard(place)
    finally:
        consumer.close()


def _teller(entry: Entry) -> Callable[["KafkaError | None", "Message"], None]:
    def told(error: "KafkaError | None", message: "Message") -> None:
        if error:
            entry.failed = f"{error.name()}: {error.str()}"
        else:
            entry.offset, entry.acked = message.offset(), _now()

    return told


def _now() -> int:
    return time.time_ns() // 1_000_000


def iso(moment: int) -> str:
    """A moment in epoch ms, as the truth writes it."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds")
