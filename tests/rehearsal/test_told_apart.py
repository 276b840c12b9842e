"""What looks alike on real brokers: another protocol on Kafka's port, an unclean election that healed, a restart of all, a clean stop of all."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from casebook.findings.finding import Severity
from casebook.rehearsal.servers.topics import label
from casebook.rehearsal.truth import Phase, well
from tests.incidents.test_timeline import examined
from tests.rehearsal import plays

pytestmark = pytest.mark.alone

SPOKEN = (
    b"POST / HTTP/1.1\r\n\r\n",
    b"GET /health HTTP/1.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00",
    b"SSH-2.0-OpenSSH_9.6\r\n",
)
KAFKA = ("0.9.0.1", "2.8.2", "3.9.2")
BROKERS = (1, 2)
SETTINGS = {"zookeeper.session.timeout.ms": "4000", "offsets.topic.num.partitions": "1"}
LEFT = {"left-0": (1, 2)}


def play(stage):
    """All of it, one after the other, on one cluster."""
    rows = tuple(well(name, replicas) for name, replicas in LEFT.items())
    with stage.cluster(brokers=len(BROKERS), settings=SETTINGS, controller=2) as cluster:
        stage.create_topics(cluster, rows, {"left": {"unclean.leader.election.enable": "true"}})
        stage.reach(cluster, Phase(live=BROKERS, partitions=rows))
        for spoken in SPOKEN:
            stage.act("Speak another protocol to broker 1.", lambda spoken=spoken: _speak(cluster.address(1), spoken))
        stage.act("Stop broker 2.", lambda: cluster.stop(2))
        _wait(cluster, leader=1, isr=(1,))
        stage.kill(cluster, 1)
        stage.gone(cluster, 1)
        stage.start(cluster, 2)
        _wait(cluster, leader=2, isr=(2,))
        stage.start(cluster, 1)
        stage.wait_in_sync(cluster, rows)
        _all(stage, cluster, "Stop all brokers.", cluster.stop)
        plays.captured(stage, cluster, "stopped")
        stage.start(cluster, *BROKERS)
        stage.wait_in_sync(cluster, rows)
        plays.captured(stage, cluster)


def _speak(address, spoken):
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as talk:
        talk.sendall(spoken)
        talk.settimeout(10)
        talk.recv(1)  # it closes the connection, and has said why by then


def _wait(cluster, *, leader, isr):
    def reached():
        states = {label(partition): state for partition, state in cluster.states().items()}
        return all((states[name]["leader"], tuple(states[name]["isr"])) == (leader, isr) for name in LEFT)

    cluster.wait_until(reached, what=f"leader {leader}, ISR {isr}")


def _all(stage, cluster, what, do):
    def together():
        with ThreadPoolExecutor() as hands:
            list(hands.map(do, BROKERS))

    stage.act(what, together)


out = plays.on_each(play, "told-apart", KAFKA)


@pytest.fixture(scope="module")
def found(out):
    """The timeline of all that."""
    return examined(out / "after")


def finding(found, check):
    return next(one for one in found.findings if one.check == f"timeline.{check}")


def test_protocols_are_named(found):
    """By their first bytes, with who sent them; no client is called newer than the broker."""
    told = finding(found, "unknown_requests")
    assert told.facts["protocols"] == ["HTTP (POST)", "HTTP (GET)", "TLS", "SSH"]
    assert (told.facts["requests"], told.facts["senders"]) == (4, ["127.0.0.1"])
    assert "new_client" not in {root.kind for root in found.roots}


def test_the_unclean_election_is_found(found):
    """Though both are alive and in sync again; after the stop of all, broker 1 may be elected so, too, when it is back first."""
    told = finding(found, "unclean_elections")
    assert (told.severity, told.facts["topics"], 2 in told.facts["brokers"]) == (Severity.WARNING, ["left"], True)


def test_a_stop_and_a_kill(found):
    """Broker 2 was stopped, broker 1 was killed."""
    kinds = {}
    for root in found.roots:
        kinds.setdefault((root.chain, found.chains[root.chain].kind, root.broker), root.kind)
    told = {(broker, kind) for (_, chain, broker), kind in kinds.items() if chain in ("broker_lost", "broker_stopped")}
    assert {(2, "stopped"), (1, "killed")} <= told


def test_the_restart_of_all(found):
    """Both stopped at once: one cause, and it was no kill."""
    root = _of_all(found)
    assert (root.kind, "restart of all" in root.name) == ("all_stopped", True)


def _of_all(found):
    """The only candidate for the last time at which all went."""
    chain = max((place for place, one in enumerate(found.chains) if one.kind == "all_lost"), key=lambda n: found.chains[n].opened)
    (root,) = (root for root in found.roots if root.chain == chain)
    return root


def test_a_stop_of_all(out):
    """While all are still stopped: nobody restarted them, and nobody leads."""
    found = examined(out / "stopped")
    root = _of_all(found)
    assert (root.kind, "restart" in root.name) == ("all_stopped", False)
    lost = {root.kind for root in found.roots if found.chains[root.chain].kind == "broker_lost"}
    assert lost <= {"killed", "zookeeper"}  # of the kill before, and what it may have been
    told = finding(found, "leaderless")
    assert (told.severity, "to the end of ZooKeeper's history" in told.title) == (Severity.CRITICAL, True)


def test_no_disk(found):
    """None failed."""
    assert "disk_failed" not in {chain.kind for chain in found.chains}
