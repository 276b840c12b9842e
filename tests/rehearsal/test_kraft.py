"""Clusters in KRaft mode: brokers and controllers start, die, pause and come back, and none outlives the block."""

from pathlib import Path

import pytest

from casebook.errors import RehearsalError
from casebook.rehearsal.servers import records
from casebook.rehearsal.servers.kraft import KraftCluster


def ended(pids) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_combined():
    """3.9.2, each broker a controller, too: it survives the loss of one, and so does a partition with a second replica."""
    with KraftCluster(kafka="3.9.2", brokers=3, controllers=3, combined=True) as cluster:
        pids = set(cluster.pids().values())
        assert cluster.ids == cluster.controllers == cluster.nodes == tuple(cluster.pids()) == (1, 2, 3)
        assert cluster.unfenced() == {1, 2, 3}
        cluster.create_topic("orders", {0: (3, 1), 1: (2, 3)})
        cluster.create_topic("single", {0: (3,)})
        cluster.wait_until(lambda: cluster.leaders("single") == {0: 3}, what="a leader of the last topic")
        assert cluster.leaders("orders") == {0: 3, 1: 2}

        cluster.kill(3)
        cluster.wait_fenced(3)
        assert not cluster.running(3)
        assert cluster.bootstrap == cluster.address(1, 2)
        cluster.wait_until(lambda: cluster.leaders("orders") == {0: 1, 1: 2}, what="the other replica to lead")
        cluster.wait_until(lambda: cluster.leaders("single") == {0: None}, what="the end of the only leader")

        cluster.start(3)
        pids |= set(cluster.pids().values())
        cluster.wait_until(lambda: cluster.leaders("single") == {0: 3}, what="the only replica to lead")
    assert len(pids) == 4
    assert ended(pids)
    assert not cluster.home.exists()


def test_separate():
    """4.4.0: a paused broker is fenced like a killed one, and takes part again when it is resumed, as the controller does."""
    with KraftCluster(kafka="4.4.0", brokers=2) as cluster:
        pids = cluster.pids().values()
        assert (cluster.controllers, cluster.nodes) == ((101,), (101, 1, 2))
        cluster.create_topic("orders", {0: (2, 1), 1: (1, 2)}, {"min.insync.replicas": "1"})
        records.produce({("orders", 0): 3}, bootstrap=cluster.bootstrap, kafka=cluster.kafka)
        assert list(cluster.log_dir(2).glob("orders-0/*.log"))
        assert "node.id=2\n" in cluster.server_properties(2).read_text()

        cluster.pause(2)
        cluster.wait_fenced(2)
        assert cluster.running(2)
        cluster.wait_until(lambda: cluster.leaders("orders") == {0: 1, 1: 1}, what="the other replica to lead")
        cluster.resume(2)
        cluster.wait_unfenced(2)

        cluster.pause(101)
        assert cluster.running(101)
        cluster.resume(101)
        with pytest.raises(RehearsalError, match=r"orders was not created\..*already exists"):
            cluster.create_topic("orders", {0: (1, 2)})
        logged = {node: {file.name: file.read_text() for file in cluster.log_files(node)} for node in cluster.nodes}
    assert "Kafka Server started" in logged[1]["server.log"]
    assert "Fencing broker 2" in logged[101]["controller.log"]
    assert "orders-0" in logged[2]["state-change.log"]
    assert "og cleaner" in logged[1]["log-cleaner.log"]
    assert ended(pids)
    assert not cluster.home.exists()


def test_no_such_mode():
    """A release without KRaft is refused at once."""
    with pytest.raises(RehearsalError, match=r"2\.8\.2 are not known here.*3\.9\.2, 4\.4\.0"), KraftCluster(kafka="2.8.2"):
        pass
