"""Incident B, first act: a client of a later release asks a 0.9 broker for its ApiVersions, and others get no answer.

0.9 does not know that request, and the exception ends the turn of its network thread (``SocketServer.scala@0.9.0.1``,
``Processor.run``). Whatever else was read in that turn behind the request is lost: never answered, and nobody says so. And
a connection whose answer went out in that turn is never read again: its next request is not answered. Many requests meet in
one turn when the broker has been silent for a moment; here it is suspended for one.

At its default levels the broker names no client at all. With DEBUG for its acceptor and processors it names the address of
each connection and the thread that serves it, never that of the exception; request logging adds the client id of every
request that was answered. The id of the client that caused it stands nowhere.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from casebook.errors import RehearsalError
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.protocol import Address, Api, BrokerLink, addresses, array, string
from casebook.rehearsal.servers.relay import Relay
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Phase, kept, well

if TYPE_CHECKING:
    from confluent_kafka import Producer

BROKERS = (1, 2)
CONTROLLER = 2
ASKED = 1
"""The broker that the newer client turns to."""
BROKER_SETTINGS = {"replica.socket.timeout.ms": "2000"}
"""A follower whose fetch is lost as well notices it while we look on."""
REQUEST_LOGGING = {
    "log4j.logger.kafka.network.Acceptor": "DEBUG",
    "log4j.logger.kafka.network.Processor": "DEBUG",
    "log4j.logger.kafka.request.logger": "DEBUG, requestAppender",
}
"""What an operator turns on to learn who connects, and whose requests are answered."""
CULPRIT, CULPRIT_ADDRESS = "reporting", "127.0.0.99"
BYSTANDERS = {
    "billing": "127.0.0.11",
    "checkout": "127.0.0.12",
    "fraud-check": "127.0.0.13",
    "mailer": "127.0.0.14",
    "search": "127.0.0.15",
    "shipping": "127.0.0.16",
}
"""Clients that ask for metadata over connections that last, and where from."""
VISITORS = {"monitoring": "127.0.0.21", "metrics": "127.0.0.22", "backup": "127.0.0.23", "audit": "127.0.0.24"}
"""Clients that connect anew each time."""
INSTANCES = 2
"""Connections of the newer client at a time: a broker deals them out to its two network threads."""
ROUNDS, MOST_ROUNDS = 2, 6
AGAIN = 3
"""How often it comes when nothing else happens."""
SILENCE = 0.4
"""Seconds for which the broker is suspended."""
PATIENCE = 1.5
"""Seconds for which a client waits for an answer."""
_METADATA = array([string("orders")])


@dataclass(slots=True, kw_only=True)
class ClientRequest:
    """A request of an innocent client.

    Args:
        client: Client id.
        source: Its end of the connection.
        asked: When, UTC.
        answered: When; ``None`` for never.
        gave_up: When it stopped waiting; ``None`` when it was answered.
    """

    client: str
    source: str
    asked: str
    answered: str | None = None
    gave_up: str | None = None

    def as_json(self) -> dict[str, object]:
        """For the truth."""
        told = {"answered": self.answered} if self.answered else {"gave_up": self.gave_up}
        return {"client": self.client, "from": self.source, "asked": self.asked} | told


class Bystander:
    """A client that a 0.9 broker understands.

    Args:
        broker: Whom it asks.
        client: Client id.
        source: Address it connects from.
        stays: Whether it keeps its connection for the next request.
    """

    def __init__(self, broker: Address, *, client: str, source: str, stays: bool) -> None:
        self._broker, self._client, self._source, self._stays = broker, client, source, stays
        self._link: BrokerLink | None = None

    def ask(self) -> ClientRequest:
        """Ask for metadata, and wait for the answer; a connection on which none comes is given up, as clients do."""
        if self._link is None:
            self._link = BrokerLink(self._broker, client=self._client, patience=PATIENCE, source=self._source)
        request = ClientRequest(client=self._client, source=self._link.source, asked=_now())
        try:
            self._link.ask(Api.METADATA, 0, _METADATA)
            request.answered = _now()
        except TimeoutError:
            request.gave_up = _now()
        if request.gave_up or not self._stays:
            self.leave()
        return request

    @property
    def connected(self) -> bool:
        """Whether it will ask over the connection that it asked over last."""
        return self._link is not None

    def leave(self) -> None:
        """End the connection."""
        if self._link is not None:
            self._link.close()
            self._link = None


def play(stage: Stage) -> None:
    """Play it on a stage."""
    rows = (well("orders-0", (1, 2)), well("orders-1", (2, 1)))
    handed_over = kept("orders-0", (1, 2), leader=2, isr=(1, 2), why="Broker 1 handed it over at its restart.")
    phase = Phase(live=BROKERS, controller=CONTROLLER, partitions=rows)
    restarted = replace(phase, partitions=(handed_over, rows[1]))
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER, settings=BROKER_SETTINGS) as cluster:
        stage.create_topics(cluster, rows)
        stage.reach(cluster, phase)
        _storm(stage, cluster, "during")
        _search(stage, cluster, "during")
        stage.expect("during", cluster, phase, history=True)
        if stage.visited(cluster):
            return
        cluster.log_more(REQUEST_LOGGING)
        stage.act(f"Restart broker {ASKED} with request logging turned on.", lambda: cluster.stop(ASKED))
        cluster.start(ASKED)
        _storm(stage, cluster, "after")
        _search(stage, cluster, "after")
        stage.expect("after", cluster, restarted, history=True)


def _storm(stage: Stage, cluster: PlayedCluster, phase: str) -> None:
    """Let the newer client connect while the broker is silent, again and again, and note who gets no answer.

    Raises:
        RehearsalError: Everybody did in every round.
    """
    rounds: list[dict[str, object]] = []
    stage.truth.facts.setdefault("api_versions_storm", {"broker": ASKED, "culprit": CULPRIT})[phase] = rounds
    (broker,) = addresses(cluster.address(ASKED))
    with ExitStack() as leaving:
        lasting = [Bystander(broker, client=name, source=source, stays=True) for name, source in BYSTANDERS.items()]
        passing = [Bystander(broker, client=name, source=source, stays=False) for name, source in VISITORS.items()]
        everybody = (*lasting, *passing)
        for bystander in everybody:
            leaving.callback(bystander.leave)
            bystander.ask()
        relay = leaving.enter_context(Relay(broker, source=CULPRIT_ADDRESS))
        pool = leaving.enter_context(ThreadPoolExecutor(len(everybody)))
        while len(rounds) < ROUNDS or not any(one["lost"] for one in rounds):
            if len(rounds) == MOST_ROUNDS:
                raise RehearsalError(f"Everybody was answered in each of {MOST_ROUNDS} rounds.", try_="Play it again.")
            known = len(relay.connections)
            found = _round(stage, cluster, relay, [partial(pool.submit, bystander.ask) for bystander in everybody])
            again = _results([pool.submit(bystander.ask) for bystander in lasting if bystander.connected])
            connected = {"culprit_connections": relay.connections[known:]}
            rounds.append(found | connected | {"deaf": [request.as_json() for request in again if not request.answered]})
        known = len(relay.connections)
        stage.act(f"Client {CULPRIT} connects again and again, and nobody else does.", lambda: _come_again(relay))
        stage.truth.facts["api_versions_storm"].setdefault("alone", {})[phase] = relay.connections[known:]


def _round(
    stage: Stage, cluster: PlayedCluster, relay: Relay, asks: Sequence[Callable[[], Future[ClientRequest]]]
) -> dict[str, object]:
    """One silence of the broker, and what became of what was asked meanwhile."""
    stage.act(f"Suspend broker {ASKED} (SIGSTOP), as a long pause of its garbage collector does.", lambda: cluster.freeze(ASKED))
    suspended = stage.truth.actions[-1]["at"]
    stage.act(f"Client {CULPRIT}, of a later release, connects from {CULPRIT_ADDRESS}; others ask for metadata.")
    with ExitStack() as newer:
        for _ in range(INSTANCES):
            newer.enter_context(_newer_client(relay.bootstrap))
        asking = [ask() for ask in asks]
        time.sleep(SILENCE)
        stage.act(f"Continue broker {ASKED} (SIGCONT).", lambda: cluster.thaw(ASKED))
        continued = stage.truth.actions[-1]["at"]
        requests = _results(asking)
    return {
        "suspended": suspended,
        "continued": continued,
        "lost": [request.as_json() for request in requests if not request.answered],
        "answered": [request.as_json() for request in requests if request.answered],
    }


def _come_again(relay: Relay) -> None:
    for _ in range(AGAIN):
        with _newer_client(relay.bootstrap):
            time.sleep(SILENCE)


def _results(asking: Sequence[Future[ClientRequest]]) -> list[ClientRequest]:
    return [asked.result() for asked in asking]


def _search(stage: Stage, cluster: PlayedCluster, phase: str) -> None:
    """Note in which of the broker's files the client that caused it is named at all."""
    files = {file.name: file.read_text(errors="replace") for file in (*cluster.log_files(ASKED), *cluster.printed(ASKED))}
    named = stage.truth.facts["api_versions_storm"].setdefault("culprit_named_in", {})
    named[phase] = {
        "address": sorted(name for name, text in files.items() if CULPRIT_ADDRESS in text),
        "client_id": sorted(name for name, text in files.items() if CULPRIT in text),
    }


@contextmanager
def _newer_client(bootstrap: str) -> Iterator["Producer"]:
    """A producer with its defaults: before anything else it asks for ApiVersions."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "client.id": CULPRIT, "log_level": 0})
    producer.produce("orders", value=b"a report")
    try:
        yield producer
    finally:
        producer.purge()
        producer.poll(0)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
