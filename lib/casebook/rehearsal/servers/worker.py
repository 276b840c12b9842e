"""A consumer that processes a topic, in one of several ways, with a ledger of processed records.

It is a separate process, so that it can be killed: ``python -m casebook.rehearsal.servers.worker``, with a :class:`Job` as JSON.
"""

import json
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from casebook.rehearsal.servers.records import client_settings

if TYPE_CHECKING:
    from confluent_kafka import Message

SESSION_TIMEOUT = 6_000
"""Milliseconds until a killed worker expires: the minimum that a broker grants by default."""
BATCH = 50
"""Maximum records per batch."""
_THREADS = 4
_WAIT = 0.5
"""Seconds to wait for a full batch."""
_SLOWEST = 0.03
"""Maximum seconds per record with several threads."""


class CommitWay(StrEnum):
    """Time of a worker's commit."""

    FIRST = "first"  # before it processes received records
    THREADS = "threads"  # at once, while its own threads process them
    AUTOMATIC = "automatic"  # by the client's timer
    AFTER = "after"  # after it has processed all received records


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Parameters of a worker.

    Args:
        bootstrap: Addresses of brokers.
        kafka: Their version.
        topic: Topic.
        group: Consumer group.
        client: Client id.
        way: Time of its commits.
        ledger: File with a line for each processed record.
        records: Number of records until it leaves its group.
        seconds: Seconds per record.
        fails: Ids of records that it fails to process, silently.
    """

    bootstrap: str
    kafka: str
    topic: str
    group: str
    client: str
    way: CommitWay
    ledger: str
    records: int
    seconds: float = 0.002
    fails: Sequence[str] = ()

    @property
    def command(self) -> list[str]:
        """Return its command."""
        return [sys.executable, "-m", __name__, json.dumps(asdict(self))]


def work(job: Job) -> None:
    """Receive and process records until done."""
    from confluent_kafka import Consumer

    settings = {
        "group.id": job.group,
        "client.id": job.client,
        "session.timeout.ms": SESSION_TIMEOUT,
        "enable.auto.commit": job.way == CommitWay.AUTOMATIC,
        "auto.commit.interval.ms": 100,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 50,
        "max.partition.fetch.bytes": 1_000,  # a few records of each partition in turn
    }
    consumer = Consumer(client_settings(bootstrap=job.bootstrap, kafka=job.kafka) | settings)
    consumer.subscribe([job.topic])
    left = job.records
    with Path(job.ledger).open("a", buffering=1) as ledger, ThreadPoolExecutor(_THREADS) as threads:
        process = partial(_process, job, ledger)
        while left:
            taken = [message for message in consumer.consume(min(BATCH, left), _WAIT) if message.error() is None]
            if not taken:
                continue
            left -= len(taken)
            if job.way in (CommitWay.FIRST, CommitWay.THREADS):
                consumer.commit(asynchronous=False)
            if job.way == CommitWay.THREADS:
                threads.map(process, taken)
                continue
            for message in taken:
                process(message)
            if job.way == CommitWay.AFTER:
                consumer.commit(asynchronous=False)
    consumer.close()


def _process(job: Job, ledger: TextIO, message: "Message") -> None:
    time.sleep(random.uniform(0, _SLOWEST) if job.way == CommitWay.THREADS else job.seconds)
    if (name := message.key().decode()) in job.fails:
        return
    place = {"topic": message.topic(), "partition": message.partition(), "offset": message.offset()}
    at = time.time_ns() // 1_000_000
    ledger.write(json.dumps({"id": name} | place | {"at": at, "outcome": "processed", "client": job.client}) + "\n")


if __name__ == "__main__":
    work(Job(**json.loads(sys.argv[1])))
