"""Incident B, first act: a newer client sends ApiVersions to a 0.9 broker, and other clients get no response.

0.9 does not know that request, and the exception ends the current iteration of its network thread
(``SocketServer.scala@0.9.0.1``, ``Processor.run``). Everything read in that iteration after the request is lost: never answered,
without a log line. And a connection whose response was sent in that iteration is never read again: its next request stays
unanswered. Many requests meet in one iteration after a pause of the broker; here it is suspended for one.

At its default levels the broker logs no client at all. With DEBUG for its acceptor and processors it logs the address of each
connection and its thread, but never that of the exception; request logging adds the client id of every answered request. The id
of the causing client is logged nowhere.
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
"""Broker that the newer client contacts."""
BROKER_SETTINGS = {"replica.socket.timeout.ms": "2000"}
"""A follower with a lost fetch notices it during the play."""
REQUEST_LOGGING = {
    "log4j.logger.kafka.network.Acceptor": "DEBUG",
    "log4j.logger.kafka.network.Processor": "DEBUG",
    "log4j.logger.kafka.request.logger": "DEBUG, requestAppender",
}
"""Logging that an operator enables to see connections and answered requests."""
CULPRIT, CULPRIT_ADDRESS = "reporting", "127.0.0.99"
BYSTANDERS = {
    "billing": "127.0.0.11",
    "checkout": "127.0.0.12",
    "fraud-check": "127.0.0.13",
    "mailer": "127.0.0.14",
    "search": "127.0.0.15",
    "shipping": "127.0.0.16",
}
"""Clients that request metadata over lasting connections, with their addresses."""
VISITORS = {"monitoring": "127.0.0.21", "metrics": "127.0.0.22", "backup": "127.0.0.23", "audit": "127.0.0.24"}
"""Clients that connect anew each time."""
INSTANCES = 2
"""Simultaneous connections of the newer client: a broker distributes them over its two network threads."""
ROUNDS, MOST_ROUNDS = 2, 6
AGAIN = 3
"""Number of its connections when nothing else happens."""
SILENCE = 0.4
"""Seconds of the broker's suspension."""
PATIENCE = 1.5
"""Seconds that a client waits for a response."""
_METADATA = array([string("orders")])


@dataclass(slots=True, kw_only=True)
class ClientRequest:
    """A request of an unaffected client.

    Args:
        client: Client id.
        source: Client's end of the connection.
        asked: Request time, UTC.
        answered: Response time; ``None`` for never.
        gave_up: Time of the timeout; ``None`` when answered.
    """

    client: str
    source: str
    asked: str
    answered: str | None = None
    gave_up: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the JSON for the truth."""
        told = {"answered": self.answered} if self.answered else {"gave_up": self.gave_up}
        return {"client": self.client, "from": self.source, "asked": self.asked} | told


class Bystander:
    """A client that a 0.9 broker understands.

    Args:
        broker: Broker of its requests.
        client: Client id.
        source: Address it connects from.
        stays: Whether it keeps its connection for the next request.
    """

    def __init__(self, broker: Address, *, client: str, source: str, stays: bool) -> None:
        self._broker, self._client, self._source, self._stays = broker, client, source, stays
        self._link: BrokerLink | None = None

    def ask(self) -> ClientRequest:
        """Request metadata, and wait for the response; a connection without one is closed, as clients do."""
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
        """Return whether it will reuse its last connection."""
        return self._link is not None

    def leave(self) -> None:
        """Close the connection."""
        if self._link is not None:
            self._link.close()
            self._link = None


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
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
    """Let the newer client connect while the broker is suspended, repeatedly, and record clients without a response.

    Raises:
        RehearsalError: All clients got responses in every round.
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
    """Suspend the broker once; return the outcome of the requests meanwhile."""
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
    """Record which of the broker's files name the causing client at all."""
    files = {file.name: file.read_text(errors="replace") for file in (*cluster.log_files(ASKED), *cluster.printed(ASKED))}
    named = stage.truth.facts["api_versions_storm"].setdefault("culprit_named_in", {})
    named[phase] = {
        "address": sorted(name for name, text in files.items() if CULPRIT_ADDRESS in text),
        "client_id": sorted(name for name, text in files.items() if CULPRIT in text),
    }


@contextmanager
def _newer_client(bootstrap: str) -> Iterator["Producer"]:
    """Create a producer with its defaults: it sends ApiVersions first."""
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
