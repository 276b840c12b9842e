"""The data of the benchmarks, all written by a real broker: half a gigabyte of commits, and three plain topics.

Made once and kept in ``bench`` below the system's temporary folder. :func:`offsets` and :func:`plain` give log dirs as the
broker left them.
"""

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import sizes

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.servers.records import client_settings

KAFKA = "3.9.2"
HOME = Path(tempfile.gettempdir(), sizes.of("bench", quick="bench-quick"))
OFFSETS_BYTES = sizes.of(600_000_000, quick=60_000_000)
RECORDS = sizes.of(4_500_000, quick=450_000)
SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "log.cleaner.enable": "false",
    "log.index.size.max.bytes": "10485760",
}
CODECS = {"An": "none", "Al": "lz4", "Az": "zstd"}

_GROUPS = 470
_TOPICS, _PARTITIONS = 24, 8
_WRITERS, _CONNECTIONS = 2, 8
_ROUND = sizes.of(8_000, quick=800)
"""Requests over a connection before the log's size is looked at again."""


def offsets(folder: Path = HOME / "offsets") -> Path:
    """A log dir whose ``__consumer_offsets-0`` holds :data:`OFFSETS_BYTES` of commits by 470 groups, none ever cleaned."""
    return _made(folder, _write_offsets)


def plain(folder: Path = HOME / "plain") -> Path:
    """A log dir with the same records uncompressed (``An-0``), with lz4 (``Al-0``) and with zstd (``Az-0``)."""
    return _made(folder, _write_plain)


def size(log: Path) -> int:
    """Bytes of the segments of a partition's folder."""
    return sum(segment.stat().st_size for segment in log.glob("*.log"))


def _made(folder: Path, write: Callable[[PlayedCluster], None]) -> Path:
    if not folder.exists():
        with tempfile.TemporaryDirectory(prefix="casebook-rehearsal-") as scratch:
            cluster = PlayedCluster(kafka=KAFKA, brokers=1, settings=SETTINGS, home=Path(scratch, "home"), keep=True)
            with cluster:
                write(cluster)
                cluster.stop(1)
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(cluster.home / "broker-1" / "data", folder)
    return folder


def _write_offsets(cluster: PlayedCluster) -> None:
    cluster.create_topic(OFFSETS_TOPIC, {0: [1]}, {"cleanup.policy": "compact", "segment.bytes": str(100 << 20)})
    for number in range(_TOPICS):
        cluster.create_topic(_topic(number), {partition: [1] for partition in range(_PARTITIONS)})
    log = cluster.home / "broker-1" / "data" / f"{OFFSETS_TOPIC}-0"
    with ProcessPoolExecutor(_WRITERS, mp_context=get_context("spawn")) as pool:
        turn = 0
        while size(log) < OFFSETS_BYTES:
            list(pool.map(partial(_commit_some, cluster.bootstrap, turn), range(_WRITERS)))
            turn += 1
    with Groups(cluster.bootstrap) as groups:
        groups.delete(*(_group(number) for number in range(0, _GROUPS, 50)))


def _commit_some(bootstrap: str, turn: int, writer: int) -> None:
    """Over several connections: a broker takes one request of each at a time."""
    mine = range(writer * _CONNECTIONS, (writer + 1) * _CONNECTIONS)
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        list(pool.map(partial(_commit_in_turn, bootstrap, turn), mine))


def _commit_in_turn(bootstrap: str, turn: int, connection: int) -> None:
    with Groups(bootstrap) as groups:
        groups.commit(_commits(turn, connection))


def _commits(turn: int, connection: int) -> Iterator[CommitRequest]:
    """Commits of some groups, a few partitions each; the same at each call. One in seven states a retention."""
    rng = random.Random(turn * _WRITERS * _CONNECTIONS + connection)
    mine = range(connection, _GROUPS, _WRITERS * _CONNECTIONS)
    for step in range(turn * _ROUND, (turn + 1) * _ROUND):
        number = rng.choice(mine)
        partitions = rng.sample(range(_PARTITIONS), rng.choice((1, 1, 2, 3, 4, 5, 7)))
        yield CommitRequest(
            group=_group(number),
            offsets={_topic(number % _TOPICS): dict.fromkeys(sorted(partitions), 1000000 + step)},
            retention_ms=604_800_000 if rng.random() < 1 / 7 else None,
        )


def _group(number: int) -> str:
    return f"team-{number % 17}.enrich-{number:03}"


def _topic(number: int) -> str:
    return f"events.{number:02}"


def _write_plain(cluster: PlayedCluster) -> None:
    for topic, codec in CODECS.items():
        cluster.create_topic(topic, {0: [1]}, {"segment.bytes": str(250 << 20)})
        _produce(cluster, topic, codec)


def _produce(cluster: PlayedCluster, topic: str, codec: str) -> None:
    from confluent_kafka import Producer

    settings = {"compression.type": codec, "linger.ms": 20, "batch.size": 1 << 16, "queue.buffering.max.messages": 1_000_000}
    producer = Producer(client_settings(bootstrap=cluster.bootstrap, kafka=KAFKA) | settings)
    for key, value in records():
        while True:
            try:
                producer.produce(topic, partition=0, key=key, value=value)
                break
            except BufferError:
                producer.poll(0.05)
    if producer.flush(120):
        raise RuntimeError(f"{topic} was not written.")


def records() -> Iterator[tuple[bytes, bytes]]:
    """Keys of 16 bytes, values of about 200; the same at each call."""
    rng = random.Random(7)
    users = [f"user-{number:011}".encode() for number in range(50_000)]
    words = ["created", "paid", "packed", "shipped", "returned", "cancelled"]
    for number in range(RECORDS):
        value = (
            f'{{"order":{number},"state":"{rng.choice(words)}","amount":{rng.random() * 1000:.2f},'
            f'"token":"{rng.getrandbits(256):064x}","at":{1_700_000_000_000 + number},'
            f'"address":"{number % 977} Main Street, Springfield"}}'
        )
        yield users[rng.randrange(50_000)], value.encode()


def main() -> None:
    """Make what is not there yet, and say what there is."""
    for make in (offsets, plain):
        began = time.perf_counter()
        folder = make()
        took = time.perf_counter() - began
        for log in sorted(folder.glob("*-0")):
            if (found := size(log)) > 1_000_000:
                print(f"{log}: {found / 1e6:,.0f} MB")
        print(f"made in {took:.0f} s")


if __name__ == "__main__":
    main()
