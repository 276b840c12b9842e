"""Log dirs of another cluster than the znodes, which must not be combined.

A broker writes its cluster id to ``meta.properties`` and refuses to start when ZooKeeper has another one
(``KafkaServer.scala@2.4.0..3.9.0``). They differ after ZooKeeper was recreated, with a wrong ``zookeeper.connect``, or with a
foreign disk.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir
from casebook.findings.words import brokers


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherCluster:
    """Brokers with log dirs of another cluster.

    Args:
        brokers: Broker ids.
        words: ``The log dirs of broker 3 are of another cluster than the znodes``.
        why: Both ids.
    """

    brokers: tuple[int, ...]
    words: str
    why: str
    is_known: ClassVar[bool] = True
    settle: ClassVar[str] = "Collect znodes and log dirs of one cluster: compare zookeeper.connect with the collected ZooKeeper."
    unless: ClassVar[str] = "If they were of one cluster"


def other_cluster(cluster: Cluster, log_dirs: Iterable[LogDir]) -> OtherCluster | None:
    """Return whether log dirs name another cluster than ``/cluster/id``; ``None`` if not, or when either is missing."""
    named = {(log_dir.broker, (log_dir.meta or {}).get("cluster.id")) for log_dir in log_dirs}
    strange = sorted((broker, name) for broker, name in named if name and cluster.cluster_id not in (None, name))
    if not strange:
        return None
    (broker, name), whose = strange[0], tuple(dict.fromkeys(broker for broker, _ in strange))
    return OtherCluster(
        brokers=whose,
        words=f"The log dirs of {brokers(whose)} are of another cluster than the znodes",
        why=f"meta.properties of broker {broker} names cluster {name}, /cluster/id names {cluster.cluster_id}. "
        "A broker refuses to start on the ZooKeeper of another cluster.",
    )
