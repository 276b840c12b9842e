"""A producer with a ledger: sent records with their outcomes as received; and the real outcomes."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self

from casebook.rehearsal.servers import records
from casebook.rehearsal.servers.records import client_settings
from casebook.rehearsal.servers.topics import Partition, label

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

Place = tuple[Partition, int]
"""Partition and offset."""

_PATIENCE = 60.0
"""Seconds to wait for the last responses, and for each record when all are read again."""
_SHORTEST = 0.001
"""Minimum wait of librdkafka in seconds: whole milliseconds."""


@dataclass(slots=True, kw_only=True)
class LedgerEntry:
    """One record.

    Args:
        id: Unique; the record's key.
        client: Client id of the sender.
        acks: Producer setting.
        offset: As acknowledged; ``None`` before.
        sent: Send time, epoch ms.
        acked: Acknowledgement time at the application, epoch ms.
        failed: Reported error.
    """

    id: str
    client: str
    acks: str | None = None
    topic: str
    partition: int
    offset: int | None = None
    sent: int
    acked: int | None = None
    failed: str | None = None

    @property
    def to(self) -> Partition:
        """Target partition."""
        return self.topic, self.partition

    def as_json(self) -> dict[str, object]:
        """Return a line of the ledger."""
        told = {"acked": iso(self.acked)} if self.acked is not None else {"failed": self.failed}
        place = {"topic": self.topic, "partition": self.partition, "offset": self.offset}
        return {"id": self.id, "client": self.client, "acks": self.acks, **place, "sent": iso(self.sent)} | told


class LedgerProducer:
    """Produces to each partition in turn, at a steady rate, while its block lasts; then waits for all responses.

    It continues whatever the brokers do, like an application with asynchronous callbacks.

    Args:
        partitions: Target partitions.
        bootstrap: Addresses of brokers.
        kafka: Their version.
        client: Its client id.
        acks: ``1``, ``all`` or ``0``.
        pause: Seconds between two rounds of one record per partition.
        settings: Additional librdkafka settings.
    """

    def __init__(
        self,
        partitions: Sequence[Partition],
        *,
        bootstrap: str,
        kafka: str,
        client: str,
        acks: str,
        pause: float,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        from confluent_kafka import Producer

        self.ledger: list[LedgerEntry] = []
        self._partitions, self._client, self._acks, self._pause = tuple(partitions), client, acks, pause
        own = {"client.id": client, "acks": acks, "linger.ms": 40}  # fewer requests: a leader handles one at a time
        self._producer = Producer(client_settings(bootstrap=bootstrap, kafka=kafka) | own | (settings or {}))
        self._over = Event()
        self._thread = Thread(target=self._produce, name=client, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self._producer.flush(0 if kind else _PATIENCE)

    def acked(self, partition: Partition, *, sent_since: int = 0) -> bool:
        """Return whether any record sent to a partition since a moment, epoch ms, was acknowledged so far."""
        return any(entry.acked is not None and entry.to == partition and entry.sent >= sent_since for entry in self.ledger)

    def _produce(self) -> None:
        number = 0
        while self._paused():
            for topic, partition in self._partitions:
                entry = LedgerEntry(
                    id=f"{self._client}-{number}",
                    client=self._client,
                    acks=self._acks,
                    topic=topic,
                    partition=partition,
                    sent=now(),
                )
                self.ledger.append(entry)
                self._producer.produce(topic, partition=partition, key=entry.id, value="", on_delivery=_teller(entry))
                number += 1

    def _paused(self) -> bool:
        """Wait for a pause, handling responses; return whether to continue."""
        until = time.monotonic() + self._pause
        while not self._over.is_set() and (rest := until - time.monotonic()) > 0:
            self._producer.poll(max(rest, _SHORTEST))  # returns on each response
        return not self._over.is_set()


def write_ledger(entries: Sequence[LedgerEntry], path: Path) -> None:
    """Write a ledger, a JSON object per line, by send time."""
    lines = (json.dumps(entry.as_json()) for entry in sorted(entries, key=lambda entry: entry.sent))
    path.write_text("".join(line + "\n" for line in lines))


def write_ledgers(entries: Sequence[LedgerEntry], folder: Path) -> dict[str, list[Path]]:
    """Write a ledger per client; return the files by client."""
    folder.mkdir(parents=True)
    files: dict[str, list[Path]] = {}
    for client in sorted({entry.client for entry in entries}):
        files[client] = [folder / f"{client}.jsonl"]
        write_ledger([entry for entry in entries if entry.client == client], *files[client])
    return files


def lost(ledger: Sequence[LedgerEntry], found: Mapping[str, Place]) -> list[LedgerEntry]:
    """Return missing acknowledged records.

    Args:
        ledger: Sent records.
        found: Stored records; see :func:`stored`.
    """
    return [entry for entry in ledger if entry.acked is not None and entry.id not in found]


def counted(ledger: Sequence[LedgerEntry], found: Mapping[str, Place]) -> dict[str, object]:
    """Return outcomes of all sent records, for the truth; arguments as in :func:`lost`."""
    gone = lost(ledger, found)
    return {
        "sent": len(ledger),
        "acked": sum(entry.acked is not None for entry in ledger),
        "failed": sum(entry.failed is not None for entry in ledger),
        "failed_but_stored": sum(entry.failed is not None and entry.id in found for entry in ledger),
        "stored": len(found),
        "lost": by_partition(gone),
        "lost_ids": [entry.id for entry in gone],
        "lost_acked": [iso(edge(entry.acked for entry in gone)) for edge in (min, max)] if gone else None,
    }


def by_partition(entries: Iterable[LedgerEntry]) -> dict[str, int]:
    """Return the number of entries by partition."""
    return {label(place): count for place, count in sorted(Counter(entry.to for entry in entries).items())}


def stored(partitions: Sequence[Partition], *, bootstrap: str, kafka: str) -> dict[str, Place]:
    """Read partitions completely: the location of each record by its key.

    Raises:
        RehearsalError: The end is not reached in time.
    """
    read = records.read(partitions, bootstrap=bootstrap, kafka=kafka, patience=_PATIENCE)
    return {record.key.decode(): (record.partition, record.offset) for record in read}


def _teller(entry: LedgerEntry) -> Callable[["KafkaError | None", "Message"], None]:
    def told(error: "KafkaError | None", message: "Message") -> None:
        if error:
            entry.failed = f"{error.name()}: {error.str()}"
        else:
            entry.offset, entry.acked = message.offset(), now()

    return told


def now() -> int:
    """Return the current time, epoch ms."""
    return time.time_ns() // 1_000_000


def iso(moment: int) -> str:
    """Format a moment in epoch ms for the truth."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds")
