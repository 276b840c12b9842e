"""Reading ZooKeeper transaction logs against ZooKeeper's own TxnLogToolkit, whole processes in turns.

    python tests/bench/zookeeper_log.py [rounds]

The logs have the changes of partition states as a busy controller makes them, byte for byte as ZooKeeper writes them: plain ones, and
those of newer releases, each in a multi with a check of the controller's epoch, and with a digest behind it.
"""

import json
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

import ended
import sizes

from casebook.rehearsal.servers import jars as servers
from tests.formats import zookeeper_bytes as written

KAFKA, TRANSACTIONS, ROUNDS = "3.9.2", sizes.of(200_000, quick=20_000), sizes.of(5, quick=1)
_SET_DATA, _CHECK, _MULTI = 5, 13, 14
READ = """
import sys
from casebook.formats.zookeeper import log as zookeeper_log
with open(sys.argv[1], "rb") as stream:
    assert sum(isinstance(row, zookeeper_log.Transaction) for row in zookeeper_log.read(stream)) == int(sys.argv[2])
"""


def plain(zxid: int) -> bytes:
    """As Kafka 0.9 and ZooKeeper 3.4 write it."""
    return written.record(zxid, _SET_DATA, _state(zxid))


def fenced(zxid: int) -> bytes:
    """As Kafka 3.9 and ZooKeeper 3.8 write it."""
    check = written.text("/controller_epoch") + written.integer(7)
    content = written.multi((_CHECK, check), (_SET_DATA, _state(zxid)))
    return written.record(zxid, _MULTI, content, struct.pack(">iq", 2, zxid * 0x9E3779B97F4A7C15 % 2**62))


def _state(zxid: int) -> bytes:
    state = {"controller_epoch": 7, "leader": zxid % 5, "version": 1, "leader_epoch": zxid % 99, "isr": [1, 2, 3]}
    path = written.text(f"/brokers/topics/orders-{zxid % 300}/partitions/{zxid % 50}/state")
    return path + written.buffer(json.dumps(state).encode()) + written.integer(zxid % 99)


LOGS: dict[str, Callable[[int], bytes]] = {"plain": plain, "fenced, with digests": fenced}
BOUND = 5
"""How many times TxnLogToolkit's speed is the least."""


def main() -> None:
    """Measure, print, fail below the bound."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    missed = [name for name, record in LOGS.items() if measured(name, record, rounds) < BOUND]
    if missed:
        sizes.beyond(f"Below the bound: {', '.join(missed)}.")


def measured(name: str, record: Callable[[int], bytes], rounds: int) -> float:
    """How many times as fast as TxnLogToolkit a log is read."""
    jars = ":".join(map(str, servers.jars(KAFKA)))
    toolkit = [servers.java(), "-cp", jars, "org.apache.zookeeper.server.persistence.TxnLogToolkit", "-d"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.1")
        log.write_bytes(written.LOG_HEAD + b"".join(map(record, range(1, TRANSACTIONS + 1))))
        found = [(timed([sys.executable, "-c", READ, log, str(TRANSACTIONS)]), timed([*toolkit, log])) for _ in range(rounds)]
        size = log.stat().st_size / 1e6
    wall, processor = (median(theirs[of] / ours[of] for ours, theirs in found) for of in (0, 1))
    (ours, ours_cpu), (theirs, theirs_cpu) = (map(median, zip(*column, strict=True)) for column in zip(*found, strict=True))
    print(
        f"{name}: {TRANSACTIONS:,} transactions, {size:.0f} MB: ours {ours:.2f} s (CPU {ours_cpu:.2f}), "
        f"TxnLogToolkit {theirs:.2f} s (CPU {theirs_cpu:.2f}), ratio {wall:.1f} (bound: {BOUND}), of CPU {processor:.1f}"
    )
    return wall


def timed(command: list[object]) -> tuple[float, float]:
    """Seconds of a process that prints to nowhere: on the clock, and of the processor."""
    began, before = time.perf_counter(), ended.used()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began, ended.used() - before


if __name__ == "__main__":
    main()
