"""Practice: an incident is played, a person heals it with Kafka's own tools, and the workbook tells when it is healed.

Whether it is healed is concluded from evidence alone (:mod:`casebook.rehearsal.health`): no script knows.
"""

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from casebook.analysis.words import duration
from casebook.errors import RehearsalError
from casebook.rehearsal import health, servers, tools
from casebook.rehearsal.cluster import Cluster
from casebook.rehearsal.incidents import INCIDENTS, Incident, find, play
from casebook.rehearsal.processes import guarded_folder

EVERY = 3.0
"""Seconds between two looks at the cluster."""
_STEADY = 2
"""Looks in a row that must find nothing."""
_POLL = 0.2
Tell = Callable[[str], None]


def practise(name: str, *, out: Path, kafka: str | None = None, tell: Tell) -> Path:
    """Play an incident up to its height, and leave it to a person until Ctrl-C.

    Args:
        name: One of :data:`casebook.rehearsal.incidents.INCIDENTS` that can be healed by hand.
        out: New folder; the tools are in its folder ``practice``.
        kafka: Kafka version; the incident's own choice when ``None``.
        tell: Told what a person is to read.

    Raises:
        RehearsalError: There is nothing to heal in that incident, its tools are not at hand in that release, or it did not go as
            its script says.
    """
    incident = find(name, kafka)
    version = kafka or incident.default
    _can_be_practised(incident, version)
    servers.jars(version, progress=tell)
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
            cause="Nobody can heal it: it ends by itself, or what is lost is lost.",
            try_=f"Choose one of {known}; or play it: casebook rehearse {incident.name}.",
        )
    if version not in incident.practice.kafka:
        raise RehearsalError(
            f"Practice on Kafka {version} is not possible.",
            cause="Its own tools are in a jar that its servers do not need.",
            try_=f"Choose one of {', '.join(incident.practice.kafka)}.",
        )


def _visit(incident: Incident, cluster: Cluster, *, folder: Path, tell: Tell) -> None:
    tools.write(folder, cluster)
    tell(_introduction(incident, cluster, folder))
    with (
        guarded_folder() as scratch,
        tools.Requests(folder, partial(_answer, cluster)) as requests,
        suppress(KeyboardInterrupt),
    ):
        _watch(incident, cluster, requests, scratch / "now", tell)


def _watch(incident: Incident, cluster: Cluster, requests: tools.Requests, evidence: Path, tell: Tell) -> None:
    """Answer the scripts, look at the cluster, and say what has changed, until Ctrl-C."""
    begun = next_look = time.monotonic()
    said: tuple[str, ...] | None = None
    clean = 0
    while True:
        requests.take()
        if time.monotonic() >= next_look:
            wrong = health.still_wrong(cluster, incident.practice.healed, folder=evidence)
            clean = 0 if wrong else clean + 1
            if wrong != said and (wrong or clean >= _STEADY):
                tell(_state(wrong, time.monotonic() - begun))
                said = wrong
            next_look = time.monotonic() + EVERY
        time.sleep(_POLL)


def _state(wrong: tuple[str, ...], seconds: float) -> str:
    after = f"After {duration(1000 * round(seconds))}" if seconds >= 1 else "Now"
    if not wrong:
        healed = "HEALED. What had broken works again; whether records were lost, notebook 70 says."
        return f"{after}: {healed} Look around as long as you like; Ctrl-C stops the servers."
    return f"{after}: not healed: {'; '.join(wrong)}."


def _answer(cluster: Cluster, what: str, broker: str) -> str:
    """Do what a script asks for, and say what came of it."""
    number = int(broker) if broker.isdecimal() else None
    if number not in cluster.ids:
        return f"There is no broker {broker}; there are {', '.join(map(str, cluster.ids))}."
    if (what == "start") == cluster.running(number):
        return f"Broker {number} is {'running already' if what == 'start' else 'not running'}."
    try:
        if what == "start":
            cluster.start_as_it_is(number)
            return f"Broker {number} is registered."
        cluster.stop(number)
    except RehearsalError as error:
        return "\n".join(part for part in (error.what, error.cause, error.try_) if part)
    except subprocess.TimeoutExpired:
        return f"Broker {number} has not ended yet; it is still shutting down."
    return f"Broker {number} has ended."


def _introduction(incident: Incident, cluster: Cluster, folder: Path) -> str:
    topics = f"--zookeeper {cluster.zookeeper}" if cluster.kafka.startswith("0.") else f"--bootstrap-server {cluster.bootstrap}"
    return f"""
{incident.practice.alarm}
Find out why, and heal it without losing a record.

  ZooKeeper  {cluster.zookeeper}
  brokers    {cluster.address(*cluster.ids)}
  release    {cluster.kafka}

Kafka's own tools of this release, and the servers:

  cd {folder}
  ./kafka-topics.sh {topics} --describe
  echo ls /brokers/ids | ./zookeeper-shell.sh {cluster.zookeeper}
  ./start-broker ID       ./stop-broker ID
  broker-ID/              its server.properties, its log dir (data) and its logs

The workbook on this cluster, as often as you like:

  CASEBOOK_PROFILES={folder.absolute() / "profiles"} casebook run triage --source live:{tools.PROFILE}

What is still wrong is told here whenever it changes. Ctrl-C stops all servers.
"""
