"""Reading a ZooKeeper transaction log against ZooKeeper's own TxnLogToolkit, whole processes in turns.

    python tests/bench/zookeeper_log.py [rounds]

The log has the changes of partition states, as a busy controller makes them, byte for byte as ZooKeeper 3.8 writes them.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from casebook.rehearsal import servers
from tests.formats import zookeeper_bytes as written

KAFKA, TRANSACTIONS, ROUNDS, BOUND = "3.9.2", 200_000, 5, 5
_SET_DATA = 5
READ = """
import sys
from casebook.formats import zookeeper_log
with open(sys.argv[1], "rb") as stream:
    assert sum(isinstance(row, zookeeper_log.Transaction) for row in zookeeper_log.read(stream)) == int(sys.argv[2])
"""


def write(path: Path) -> None:
    """A log of :data:`TRANSACTIONS` changes."""
    with path.open("wb") as log:
        log.write(written.LOG_HEAD)
        for zxid in range(1, TRANSACTIONS + 1):
            state = {"controller_epoch": 7, "leader": zxid % 5, "version": 1, "leader_epoch": zxid % 99, "isr": [1, 2, 3]}
            content = written.text(f"/brokers/topics/orders-{zxid % 300}/partitions/{zxid % 50}/state")
            content += written.buffer(json.dumps(state).encode()) + written.integer(zxid % 99)
            log.write(written.record(zxid, _SET_DATA, content))


def main() -> None:
    """Measure, print, fail below the bound."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    jars = ":".join(map(str, servers.jars(KAFKA)))
    toolkit = [servers.java(), "-cp", jars, "org.apache.zookeeper.server.persistence.TxnLogToolkit", "-d"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.1")
        write(log)
        found = [(timed([sys.executable, "-c", READ, log, str(TRANSACTIONS)]), timed([*toolkit, log])) for _ in range(rounds)]
        size = log.stat().st_size / 1e6
    ours, theirs = (median(column) for column in zip(*found, strict=True))
    ratio = median(other / own for own, other in found)
    print(
        f"{TRANSACTIONS:,} transactions, {size:.0f} MB: ours {ours:.2f} s, TxnLogToolkit {theirs:.2f} s, ratio {ratio:.1f} (bound: {BOUND})"
    )
    if ratio < BOUND:
        sys.exit(f"Less than {BOUND} times TxnLogToolkit's speed.")


def timed(command: list[object]) -> float:
    """Wall seconds of a process that prints to nowhere."""
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
