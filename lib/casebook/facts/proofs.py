"""Where each kind of source keeps the facts of a cluster: rules cite facts through this, and know no source."""

from typing import Protocol

from casebook.facts.evidence import Evidence

ZNODES = "zookeeper/znodes.jsonl.zst"


class Proofs(Protocol):
    """Proofs of a cluster's facts. A source that fills :class:`casebook.facts.cluster.Cluster` gives its own."""

    @property
    def whole(self) -> Evidence:
        """All of these facts."""

    @property
    def brokers(self) -> Evidence:
        """List of the registered brokers."""

    def broker(self, broker: int) -> Evidence:
        """Registration of a broker."""

    def topic(self, topic: str) -> Evidence:
        """Assignment of a topic's partitions."""

    def state(self, topic: str, partition: int) -> Evidence:
        """State of a partition: leader, ISR, epochs."""

    @property
    def controller(self) -> Evidence:
        """Broker that is the controller."""

    @property
    def controller_epoch(self) -> Evidence:
        """Epoch of the controller."""

    def topic_settings(self, topic: str) -> Evidence:
        """Overrides of a topic."""

    def broker_settings(self, broker: str) -> Evidence:
        """Dynamic settings of a broker, by its id as text."""

    def deletion(self, topic: str) -> Evidence:
        """Request to delete a topic."""

    @property
    def deletions(self) -> Evidence:
        """Requests to delete topics."""

    @property
    def reassignment(self) -> Evidence:
        """Running reassignment."""


class ZnodeProofs:
    """Proofs by znodes (``core/src/main/scala/kafka/zk/ZkData.scala@2.8.2``)."""

    whole = Evidence(file=ZNODES)
    brokers = Evidence(file=ZNODES, znode="/brokers/ids")
    controller = Evidence(file=ZNODES, znode="/controller")
    controller_epoch = Evidence(file=ZNODES, znode="/controller_epoch")
    deletions = Evidence(file=ZNODES, znode="/admin/delete_topics")
    reassignment = Evidence(file=ZNODES, znode="/admin/reassign_partitions")

    def broker(self, broker: int) -> Evidence:
        """``/brokers/ids/<id>``."""
        return _znode(f"/brokers/ids/{broker}")

    def topic(self, topic: str) -> Evidence:
        """``/brokers/topics/<t>``."""
        return _znode(f"/brokers/topics/{topic}")

    def state(self, topic: str, partition: int) -> Evidence:
        """``/brokers/topics/<t>/partitions/<p>/state``."""
        return _znode(state_path(topic, partition))

    def topic_settings(self, topic: str) -> Evidence:
        """``/config/topics/<t>``."""
        return _znode(f"/config/topics/{topic}")

    def broker_settings(self, broker: str) -> Evidence:
        """``/config/brokers/<id>``."""
        return _znode(f"/config/brokers/{broker}")

    def deletion(self, topic: str) -> Evidence:
        """``/admin/delete_topics/<t>``."""
        return _znode(f"/admin/delete_topics/{topic}")


ZNODE_PROOFS = ZnodeProofs()


def state_path(topic: str, partition: int) -> str:
    """Path of a partition's state znode below the chroot."""
    return f"/brokers/topics/{topic}/partitions/{partition}/state"


def _znode(path: str) -> Evidence:
    return Evidence(file=ZNODES, znode=path)
