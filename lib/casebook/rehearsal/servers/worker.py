"""A consumer that works through a topic, one of several ways, and writes down each record that it has processed.

It is a process of its own, so that it can be killed: ``python -m casebook.rehearsal.servers.worker``, with a :class:`Job` as
JSON.
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
"""Milliseconds after which a killed worker is given up: the least that a broker grants by default."""
BATCH = 50
"""Records that are taken at once, at most."""
_THREADS = 4
_WAIT = 0.5
"""Seconds to wait for a full batch."""
_SLOWEST = 0.03
"""Seconds that a record takes at most, where several threads work."""


class CommitWay(StrEnum):
    """When a worker commits."""

    FIRST = "first"  # before it processes what it has taken
    THREADS = "threads"  # at once, while threads of its own process it
    AUTOMATIC = "automatic"  # the client does, by its timer
    AFTER = "after"  # once all that it has taken is processed


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker is to do.

    Args:
        bootstrap: Addresses of brokers.
        kafka: Their version.
        topic: What it subscribes to.
        group: Its group.
        client: Its client id.
        way: When it commits.
        ledger: File to which it adds a line for each record that it has processed.
        records: It takes so many, and leaves its group.
        seconds: That one takes.
        fails: Ids of records that it fails to process; nobody hears of that.
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
        """How it is started."""
        return [sys.executable, "-m", __name__, json.dumps(asdict(self))]


def work(job: Job) -> None:
    """Take records and process them until all are."""
    from confluent_kafka import Consumer

    settings = {
        "group.id": job.group,
        "client.id": job.client,
        "session.timeout.ms": SESSION_TIMEOUT,
        "enable.auto.commit": job.way == CommitWay.AUTOMATIC,
        "auto.commit.interval.ms": 100,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 50,
        "max.partition.fetch.bytes": 1_000,  # a few of each partition in turn
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
