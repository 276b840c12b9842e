"""A session of a test's own with the ZooKeeper of a real cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

from kazoo.client import KazooClient

from casebook.rehearsal import PlayedCluster


@contextmanager
def client_of(cluster: PlayedCluster) -> Iterator[KazooClient]:
    """A client that reads and writes below the cluster's chroot; its session ends with the block."""
    client = KazooClient(hosts=cluster.zookeeper)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()
