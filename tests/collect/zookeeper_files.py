"""A small Kafka cluster's life as ZooKeeper would have written it, in as many files as a test wants."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path

from tests.formats import zookeeper_bytes as written

BROKER_1, BROKER_2 = 0x1000_0000_0000_0001, 0x1000_0000_0000_0002
START = 1_570_878_000_000
SECOND = 1000
_CREATE, _SET, _OPEN, _CLOSE = 1, 5, -10, -11
_PARENTS = ("", "/brokers", "/brokers/ids", "/brokers/topics", "/config", "/config/users", "/brokers/topics/t",
            "/brokers/topics/t/partitions", "/brokers/topics/t/partitions/0")  # fmt: skip
STATE = "/brokers/topics/t/partitions/0/state"
DIED = 16
"""Zxid at which broker 2's session ends; the transaction behind it takes the partition's leader away."""


def time_of(zxid: int) -> int:
    """Epoch ms of a transaction: a second after the other."""
    return START + zxid * SECOND


def life(chroot: str = "") -> Iterator[bytes]:
    """Records of the transactions from zxid 1 on: two brokers come, lead a topic, and the one that leads dies."""
    zxid = 0

    def record(kind: int, content: bytes, session: int = BROKER_1) -> bytes:
        nonlocal zxid
        zxid += 1
        header = struct.pack(">qiqqi", session, zxid, zxid, time_of(zxid), kind)
        return written.framed(header + content)

    def create(path: str, row: object, *, session: int = BROKER_1, ephemeral: bool = False) -> bytes:
        data = b"" if row is None else json.dumps(row).encode()
        return record(_CREATE, written.create(chroot + path, data, ephemeral=ephemeral, parent_cversion=-1), session)

    yield record(_OPEN, written.integer(6000), BROKER_1)
    yield record(_OPEN, written.integer(6000), BROKER_2)
    for path in _PARENTS if chroot else _PARENTS[1:]:
        row = {"version": 1, "partitions": {"0": [2, 1]}} if path == "/brokers/topics/t" else None
        yield create(path, row)
    for broker, session in ((1, BROKER_1), (2, BROKER_2)):
        row = {"version": 2, "host": "h", "port": 9092, "jmx_port": -1, "timestamp": "1", "endpoints": ["PLAINTEXT://h:9092"]}
        yield create(f"/brokers/ids/{broker}", row, session=session, ephemeral=True)
    yield create("/controller", {"version": 1, "brokerid": 1, "timestamp": "1"}, ephemeral=True)
    yield create("/config/users/u", {"version": 1, "config": {"SCRAM-SHA-256": "salt=c2FsdA==,stored_key=c3RvcmVk"}})
    yield create(STATE, _state(2, [2], 0))
    while zxid < DIED - 1:
        yield record(_OPEN, written.integer(6000), 7)
    yield record(_CLOSE, b"", BROKER_2)
    yield record(
        _SET, written.text(chroot + STATE) + written.buffer(json.dumps(_state(-1, [2], 1)).encode()) + written.integer(1)
    )


def _state(leader: int, isr: list[int], epoch: int) -> dict[str, object]:
    return {"version": 1, "leader": leader, "isr": isr, "leader_epoch": epoch, "controller_epoch": 1}


def write_log(folder: Path, records: list[bytes], *, first: int = 1) -> Path:
    """A log that begins with the record of a zxid, as if its file had been preallocated."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"log.{first:x}"
    path.write_bytes(written.LOG_HEAD + b"".join(records) + bytes(4096))
    return path


def write_snapshot(folder: Path, zxid: int, *, behind: bytes = b"") -> Path:
    """A snapshot of a tree with one broker and nothing else of Kafka's; ``behind`` comes after the znodes, under its own seal."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"snapshot.{zxid:x}"
    below = ("/zookeeper", "/brokers", "/brokers/ids", "/brokers/ids/1", "/brokers/topics")
    nodes = [written.node("", zxid=zxid), *(written.node(name, zxid=zxid) for name in below)]
    content = written.snapshot(*nodes)
    path.write_bytes(written.seal(content + behind) if behind else content)
    return path
