"""Kafka's own tools for practice: scripts in a folder, for the release in use and from the jars of its servers.

They accept the arguments of Kafka's scripts of the same name. ``start-broker`` and ``stop-broker`` are ours: they send a request
to the practising process (:class:`Requests`), which owns the servers, so that none outlives it.
"""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.servers import jars
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.installation import LIGHT, TOOL_LOGGING

PROFILE = "practice"
_REQUESTS = "requests"
_ASKED, _SAID = ".asked", ".said"
_TOOL = """#!/bin/sh
# {name} of Kafka {kafka}, as in its own bin folder.
exec {java} {options} -cp {jars} {main} "$@"
"""
_ASK = """#!/bin/sh
# Asks the practice to {what} a broker: ./{name} 3
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -ne 1 ]; then echo "usage: ./{name} BROKER" >&2; exit 2; fi
asked={requests}/{what}-$1-$$
if [ ! -d {requests} ]; then echo "Nobody practises here any more." >&2; exit 1; fi
echo "{what} $1" > "$asked.part" && mv "$asked.part" "$asked{asked}"
waited=0
while [ ! -e "$asked{said}" ]; do
  sleep 0.2
  waited=$((waited + 1))
  if [ ! -d {requests} ] || [ $waited -gt 900 ]; then echo "The practice does not answer: has it ended?" >&2; exit 1; fi
done
cat "$asked{said}"
rm -f "$asked{said}"
"""


def _mains(kafka: str) -> Mapping[str, str]:
    """Return Kafka's scripts of a release and their main classes (``bin/*.sh@0.9.0.1, 2.8.2``)."""
    version = KafkaVersion.parse(kafka)
    elects = {"kafka-leader-election.sh": "kafka.admin.LeaderElectionCommand"}
    if version < KafkaVersion.parse("2.4.0"):
        elects = {"kafka-preferred-replica-election.sh": "kafka.admin.PreferredReplicaLeaderElectionCommand"}
    return elects | {
        "kafka-topics.sh": "kafka.admin.TopicCommand",
        "kafka-configs.sh": "kafka.admin.ConfigCommand",
        "kafka-reassign-partitions.sh": "kafka.admin.ReassignPartitionsCommand",
        "kafka-consumer-groups.sh": "kafka.admin.ConsumerGroupCommand",
        "kafka-console-producer.sh": "kafka.tools.ConsoleProducer",
        "kafka-console-consumer.sh": "kafka.tools.ConsoleConsumer",
        "kafka-dump-log.sh": "kafka.tools.DumpLogSegments",
        "zookeeper-shell.sh": "org.apache.zookeeper.ZooKeeperMain -server",
    }


def write_clients(folder: Path, clients: Mapping[str, str]) -> dict[str, Path]:
    """Write the properties of applications, and return the files by name of the application."""
    files = {client: folder / "clients" / client / "producer.properties" for client in clients}
    for client, file in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(clients[client])
    return files


def write(folder: Path, cluster: PlayedCluster, clients: Mapping[str, Path]) -> None:
    """Write the scripts, and a profile of the cluster for ``--source live:practice``.

    Args:
        clients: Properties of applications, by name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    logging = folder / "tools-log4j.properties"
    logging.write_text(TOOL_LOGGING)
    options = [*LIGHT, "-Xmx256m", f"-Dlog4j.configuration=file:{logging.absolute()}"]
    for name, main in _mains(cluster.kafka).items():
        words = {
            "java": shlex.quote(jars.java()),
            "options": shlex.join(options),
            "jars": shlex.quote(":".join(map(str, jars.jars(cluster.kafka)))),
        }
        _script(folder / name, _TOOL.format(name=name, kafka=cluster.kafka, main=main, **words))
    for what in ("start", "stop"):
        name = f"{what}-broker"
        _script(folder / name, _ASK.format(what=what, name=name, requests=f'"$here/{_REQUESTS}"', asked=_ASKED, said=_SAID))
    for broker in cluster.ids:
        link = folder / f"broker-{broker}"
        link.unlink(missing_ok=True)
        link.symlink_to(cluster.server_properties(broker).parent)
    _write_profile(folder / "profiles" / f"{PROFILE}.toml", cluster, clients)


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _write_profile(path: Path, cluster: PlayedCluster, clients: Mapping[str, Path]) -> None:
    path.parent.mkdir(exist_ok=True)
    tables = {
        "properties": cluster.server_properties,
        "logs": lambda broker: cluster.log_files(broker)[0].parent,
        "log_dirs": cluster.log_dir,
    }
    lines = [f'zookeeper = "{cluster.zookeeper}"', f'zookeeper_data = "{cluster.zookeeper_data}"']
    for table, of in tables.items():
        lines += [f"[{table}]", *(f'{broker} = "{of(broker)}"' for broker in cluster.ids)]
    lines += ["[clients]", *(f'{client} = "{file.absolute()}"' for client, file in clients.items())] if clients else []
    path.write_text("\n".join(lines) + "\n")


class Requests:
    """Requests of scripts, as files in a folder that exists as long as they are served.

    Args:
        folder: Folder of the scripts.
        answer: Executes a request, ``start`` or ``stop``, for a broker, and returns its result.
    """

    def __init__(self, folder: Path, answer: Callable[[str, str], str]) -> None:
        self._folder, self._answer = folder / _REQUESTS, answer

    def __enter__(self) -> "Requests":
        self._folder.mkdir(exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._folder.iterdir():
            file.unlink()
        self._folder.rmdir()

    def take(self) -> None:
        """Serve pending requests."""
        for asked in sorted(self._folder.glob(f"*{_ASKED}")):
            what, _, broker = asked.read_text().strip().partition(" ")
            asked.unlink()
            said = asked.with_name(asked.name.removesuffix(_ASKED))
            part = said.with_name(said.name + ".part")
            part.write_text(self._answer(what, broker) + "\n")
            part.rename(said.with_name(said.name + _SAID))
