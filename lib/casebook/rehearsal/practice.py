"""Practice: an incident is played, a person heals it with Kafka's own tools, and the workbook reports when it is healed.

The result comes from evidence alone (:mod:`casebook.rehearsal.health`), not from a script.
"""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.findings.words import duration
from casebook.rehearsal import health
from casebook.rehearsal.acknowledged import Acknowledged
from casebook.rehearsal.incidents import INCIDENTS, Incident, find, play
from casebook.rehearsal.servers import jars, tools
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.installation import SESSION_TIMEOUT
from casebook.rehearsal.servers.processes import guarded_folder
from casebook.rehearsal.servers.topics import Partition

EVERY = 3.0
"""Seconds between two checks of the cluster."""
_STEADY = 2
"""Required number of consecutive checks without a problem."""
SETTLES = 2 * SESSION_TIMEOUT
"""Seconds after which a dead broker is unregistered: its session timeout, rounded up to ZooKeeper's ticks."""
_POLL = 0.2
Tell = Callable[[str], None]


def practise(name: str, *, out: Path, kafka: str | None = None, tell: Tell) -> Path:
    """Play an incident up to its height, and leave it to a person until Ctrl-C.

    Args:
        name: An incident of :data:`casebook.rehearsal.incidents.INCIDENTS` that can be healed manually.
        out: New folder; the tools are in its folder ``practice``.
        kafka: Kafka version; the incident's own choice when ``None``.
        tell: Receives text for a person.

    Raises:
        RehearsalError: The incident cannot be healed, its tools are missing for that release, or it deviated from its script.
    """
    incident = find(name, kafka)
    version = kafka or incident.default
    _can_be_practised(incident, version)
    jars.jars(version, progress=tell)
    tell(f"A cluster of Kafka {version} is started on this machine, and something will happen to it. This takes a minute or two.")
    visitor = partial(_visit, incident, folder=out / "practice", tell=tell)
    with suppress(KeyboardInterrupt):
        play(name, out=out, kafka=kafka, visitor=visitor)
    tell("The servers are stopped.")
    return out


def _can_be_practised(incident: Incident, version: str) -> None:
    known = ", ".join(sorted(name for name, other in INCIDENTS.items() if other.practice))
    if incident.practice is None:
        raise RehearsalError(
            f"{incident.name} cannot be practised.",
            cause="It cannot be healed: it ends by itself, or the lost records stay lost.",
            try_=f"Choose one of {known}; or play it: casebook rehearse {incident.name}.",
        )
    if version not in incident.practice.kafka:
        raise RehearsalError(
            f"Practice on Kafka {version} is not possible.",
            cause="Its own tools are in a jar that its servers do not need.",
            try_=f"Choose one of {', '.join(incident.practice.kafka)}.",
        )


def _visit(incident: Incident, cluster: PlayedCluster, counts: Mapping[Partition, int], *, folder: Path, tell: Tell) -> None:
    clients = tools.write_clients(folder, incident.practice.clients)
    tools.write(folder, cluster, clients)
    acknowledged = Acknowledged.look(counts, cluster)
    brokers = _Brokers(cluster)
    tell(_introduction(incident, cluster, folder, clients))
    with guarded_folder() as scratch, tools.Requests(folder, brokers.answer) as requests, suppress(KeyboardInterrupt):
        watch = _Watch(incident, cluster, acknowledged, evidence=scratch / "now", clients=clients, tell=tell)
        while True:
            requests.take()
            watch.look(brokers.died())
            time.sleep(_POLL)


class _Watch:
    """Checks the cluster every few seconds, at once after a broker failure, and reports changes."""

    def __init__(
        self,
        incident: Incident,
        cluster: PlayedCluster,
        acknowledged: Acknowledged,
        *,
        evidence: Path,
        clients: Mapping[str, Path],
        tell: Tell,
    ) -> None:
        self._practice, self._cluster, self._acknowledged, self._clients = incident.practice, cluster, acknowledged, clients
        self._evidence, self._tell = evidence, tell
        self._begun = self._next = time.monotonic()
        self._said: tuple[str, ...] | None = None
        self._clean = 0
        self._settled = self._begun

    def look(self, died: Sequence[int]) -> None:
        for broker in died:
            self._tell(
                f"Broker {broker} has died: its process has ended. broker-{broker}/logs/server.log may say why, at its end."
            )
        if not died and time.monotonic() < self._next:
            return
        begun = time.monotonic()
        if died:
            self._settled = begun + SETTLES
        practice = self._practice
        wrong = health.still_wrong(
            self._cluster, practice.healed, folder=self._evidence, clients=self._clients, topics=practice.topics
        )
        self._clean = 0 if wrong or begun < self._settled else self._clean + 1
        if wrong != self._said and (wrong or self._clean >= _STEADY):
            self._tell(self._state(wrong))
            self._said = wrong
        self._next = time.monotonic() + EVERY

    def _state(self, wrong: tuple[str, ...]) -> str:
        seconds = time.monotonic() - self._begun
        after = f"After {duration(1000 * round(seconds))}" if seconds >= 1 else "Now"
        if wrong:
            return f"{after}: not healed: {'; '.join(wrong)}."
        healed = f"HEALED. What had broken works again. {self._acknowledged.said(self._cluster)}".rstrip()
        return f"{after}: {healed} Look around as long as you like; Ctrl-C stops the servers."


class _Brokers:
    """Brokers as scripts start and stop them, and unexpected exits."""

    def __init__(self, cluster: PlayedCluster) -> None:
        self._cluster = cluster
        self._meant = set(filter(cluster.running, cluster.ids))

    def died(self) -> list[int]:
        """Return unexpectedly ended brokers, each once."""
        died = sorted(broker for broker in self._meant if not self._cluster.running(broker))
        self._meant.difference_update(died)
        return died

    def answer(self, what: str, broker: str) -> str:
        """Execute a script's request, and return its result."""
        number = int(broker) if broker.isdecimal() else None
        if number not in self._cluster.ids:
            return f"There is no broker {broker}; there are {', '.join(map(str, self._cluster.ids))}."
        if (what == "start") == self._cluster.running(number):
            return f"Broker {number} is {'running already' if what == 'start' else 'not running'}."
        try:
            return self._start(number) if what == "start" else self._stop(number)
        except RehearsalError as error:
            return "\n".join(part for part in (error.what, error.cause, error.try_) if part)

    def _start(self, broker: int) -> str:
        self._cluster.start_as_it_is(broker)
        self._meant.add(broker)
        return f"Broker {broker} is registered."

    def _stop(self, broker: int) -> str:
        self._meant.discard(broker)
        try:
            self._cluster.stop(broker)
        except subprocess.TimeoutExpired:
            return f"Broker {broker} has not ended yet; it is still shutting down."
        return f"Broker {broker} has ended."


def _introduction(incident: Incident, cluster: PlayedCluster, folder: Path, clients: Mapping[str, Path]) -> str:
    settings = "".join(f"\n  {path.relative_to(folder)}  settings of application {name}" for name, path in clients.items())
    topics = f"--zookeeper {cluster.zookeeper}" if cluster.kafka.startswith("0.") else f"--bootstrap-server {cluster.bootstrap}"
    return f"""
{incident.practice.alarm}
{incident.practice.task}

  ZooKeeper  {cluster.zookeeper}
  brokers    {cluster.address(*cluster.ids)}
  release    {cluster.kafka}

Kafka's own tools of this release, and the servers:

  cd {folder}
  ./kafka-topics.sh {topics} --describe
  echo ls /brokers/ids | ./zookeeper-shell.sh {cluster.zookeeper}
  ./start-broker ID       ./stop-broker ID
  broker-ID/              its server.properties, its log dir (data) and its logs{settings}

The workbook on this cluster, as often as you like:

  CASEBOOK_PROFILES={folder.absolute() / "profiles"} casebook run triage --source live:{tools.PROFILE}

This terminal shows what is still wrong whenever it changes, and at once when a broker dies. When all is healed, it also
shows how many acknowledged records are still stored. Ctrl-C stops all servers.
"""
