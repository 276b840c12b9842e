"""A real ZooKeeper, fast: the server class that pyspark's own jars carry, and a small Kafka's znodes for it."""

import json
import socket
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError
from kazoo.security import make_digest_acl_credential

from casebook.rehearsal.servers import jars
from casebook.rehearsal.servers.ports import free_port
from casebook.rehearsal.servers.processes import Guarded, Server

JARS = Path(find_spec("pyspark").origin).parent / "jars"
QUICK_START = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


PATIENCE = 120.0
"""Seconds for a start that takes two on an idle machine."""


class ZooKeeper:
    """A standalone ZooKeeper on the loopback, and a client that may write to it."""

    def __init__(self, folder: Path, guarded: Guarded, *, java_options: Sequence[str] = QUICK_START) -> None:
        self.folder, self.port = folder, free_port()
        self._java_options = java_options
        self._guarded = guarded
        self._server: Server | None = None
        (folder / "zoo.cfg").write_text(
            f"tickTime=500\ndataDir={folder}\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
            "admin.enableServer=false\nmaxClientCnxns=0\npreAllocSize=1024\n"
        )
        self.start()
        self.client = KazooClient(self.address, timeout=60, auth_data=[("digest", "super:super")])
        self.client.start(timeout=PATIENCE)

    @property
    def address(self) -> str:
        """``host:port``."""
        return f"127.0.0.1:{self.port}"

    @property
    def server(self) -> Server:
        """The running process."""
        return self._server

    def start(self) -> None:
        """Start it and wait until it serves."""
        super_user = make_digest_acl_credential("super", "super")  # so that no ACL of a test is in the way of the next
        command = [
            *(jars.java(), *self._java_options, "-Dzookeeper.forceSync=no"),
            *(f"-Djute.maxbuffer={16 << 20}", f"-Dzookeeper.DigestAuthenticationProvider.superDigest={super_user}"),
            *("-cp", class_path(), "org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg"),
        ]
        self._server = self._guarded.start(command, folder=self.folder, output=self.folder / "out.log")
        deadline = time.monotonic() + PATIENCE
        while not self._serves():
            assert time.monotonic() < deadline, (self.folder / "out.log").read_text()
            time.sleep(0.05)

    def _serves(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"srvr")
                return b"Mode" in connection.recv(4096)
        except OSError:
            return False

    def close(self) -> None:
        """Stop client and server."""
        self.client.stop()
        self.client.close()
        self._server.kill()

    def tree(self, znodes: dict[str, bytes | None]) -> None:
        """Create znodes and whatever they need above them."""
        all_of_them = dict.fromkeys((above for path in znodes for above in _ancestors(path)), b"") | znodes
        pending = [
            self.client.create_async(path, all_of_them[path] or b"")
            for path in sorted(all_of_them, key=lambda path: path.count("/"))
        ]
        for creation in pending:
            try:
                creation.get()
            except NodeExistsError:
                continue


def _ancestors(path: str) -> list[str]:
    parts = path.split("/")[1:-1]
    return ["/" + "/".join(parts[: depth + 1]) for depth in range(len(parts))]


def class_path() -> str:
    """What a ZooKeeper server of pyspark's jars needs."""
    wanted = ("zookeeper-", "netty-", "slf4j-api", "log4j-", "metrics-core", "commons-cli", "commons-io", "snappy-java")
    return ":".join(str(jar) for jar in sorted(JARS.glob("*.jar")) if jar.name.startswith(wanted))


def kafka(topics: dict[str, dict[int, list[int]]], *, chroot: str = "", brokers: tuple[int, ...] = (1, 2)) -> dict[str, bytes]:
    """The znodes of a small 0.9 cluster, every partition led by its first replica."""
    znodes: dict[str, bytes] = {
        "/brokers/ids": b"",
        "/brokers/topics": b"",
        "/controller": b'{"version":1,"brokerid":1,"timestamp":"1448186400000"}',
        "/controller_epoch": b"7",
        "/config/topics": b"",
        "/admin/delete_topics": b"",
    }
    for broker in brokers:
        row = {
            "jmx_port": -1,
            "timestamp": "1448186400000",
            "endpoints": [f"PLAINTEXT://h{broker}:9092"],
            "host": f"h{broker}",
            "version": 2,
            "port": 9092,
        }
        znodes[f"/brokers/ids/{broker}"] = json.dumps(row).encode()
    for topic, assignment in topics.items():
        znodes[f"/brokers/topics/{topic}"] = json.dumps(
            {"version": 1, "partitions": {str(p): r for p, r in assignment.items()}}
        ).encode()
        znodes |= {state_path(topic, p): state(replicas) for p, replicas in assignment.items()}
    return {chroot + path: data for path, data in znodes.items()}


def state_path(topic: str, partition: int = 0) -> str:
    """Where a partition's state is."""
    return f"/brokers/topics/{topic}/partitions/{partition}/state"


def state(isr: list[int], *, leader: int | None = None) -> bytes:
    """A state znode's data."""
    return json.dumps(
        {"controller_epoch": 7, "leader": isr[0] if leader is None else leader, "version": 1, "leader_epoch": 3, "isr": isr}
    ).encode()
