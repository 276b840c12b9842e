"""What real brokers do that a reader of the documentation would not expect, and the workbook must know."""

from casebook.kafka import election
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal import PlayedCluster
from tests.zookeeper_session import client_of

UNCLEAN = {"unclean.leader.election.enable": "true"}
REGISTRATION = "/brokers/ids/1"


class TestRestart:
    def test_too_soon_after_a_kill(self):
        """A killed broker of 0.9 that comes back within its session finds itself still registered, and gives up.

        How soon it comes back is the machine's affair, so another session holds its registration for as long as it takes: a broker
        asks only whether the znode is its own session's (``ZKCheckedEphemeral``, ``ZkUtils.scala@0.9.0.1``).
        """
        with PlayedCluster(brokers=1) as cluster, client_of(cluster) as client:
            registered, _ = client.get(REGISTRATION)
            cluster.kill(1)
            cluster.wait_gone(1)
            client.create(REGISTRATION, registered, ephemeral=True)
            cluster._launch_broker(1)  # start() waits the old session out, for this very reason
            cluster.wait_until(lambda: not cluster.running(1), what="the broker to give up")
            said = "".join(path.read_text(errors="replace") for path in cluster.log_files(1))
        assert f"A broker is already registered on the path {REGISTRATION}" in said


class TestLastInSync:
    def test_controlled_shutdown_and_unclean_election(self):
        """On 2.8 the last ISR member cannot hand over at its shutdown; then a stale replica is elected, and no line says unclean."""
        with PlayedCluster(kafka="2.8.2", brokers=3, controller=3) as cluster:
            cluster.create_topic("t", {0: [1, 2]}, UNCLEAN)
            cluster.wait_until(lambda: cluster.states().get(("t", 0), {}).get("isr") == [1, 2], what="the ISR")
            cluster.kill(2)
            cluster.wait_gone(2)
            cluster.wait_until(lambda: cluster.states()["t", 0]["isr"] == [1], what="an ISR of one")
            cluster.stop(1)
            cluster.wait_gone(1)
            left = cluster.states()["t", 0]
            cluster.start(2)
            cluster.wait_until(lambda: cluster.states()["t", 0]["leader"] == 2, what="an unclean election")
            elected = cluster.states()["t", 0]
            said = "".join(path.read_text(errors="replace") for path in cluster.log_files(3))
        assert (left["leader"], left["isr"], elected["isr"]) == (-1, [1], [2])
        assert "Failed to elect leader for partition t-0 under strategy ControlledShutdownPartitionLeaderElectionStrategy" in said
        assert not [line for line in said.splitlines() if "t-0" in line and "unclean" in line.lower()]
        predicted = election.controlled_shutdown(
            replicas=(1, 2), isr=(1,), live=frozenset({1, 3}), shutting_down={1}, version=KafkaVersion.parse("2.8.2")
        )
        assert predicted.reason is election.NoLeaderReason.NO_OTHER_ISR_MEMBER
