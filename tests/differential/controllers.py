"""Kafka's own controllers, asked case by case: one JVM a release, over that release's real jars.

The Java under ``jvm/`` puts one partition into a controller's memory and a znode, lets the controller's own code act,
and answers with the znode that is left.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from casebook.kafka.controller import ElectionOutcome
from casebook.rehearsal.servers import jars as servers

SOURCES = Path(__file__).with_name("jvm")
_FOLDERS = {
    "0.9.0.1": ("common", "kafka-0.9"),
    "2.8.2": ("common", "kafka-zk", "kafka-2.8"),
    "3.9.2": ("common", "kafka-zk", "kafka-3.9"),
}
RELEASES = tuple(_FOLDERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question to a controller.

    Args:
        operation: An election (``offline``, ``reassign``, ``preferred``, ``controlled_shutdown``) or an event
            (``deaths``, ``failover``, ``start``, ``stop``).
        removing: Replicas that a reassignment takes away.
        state: The znode before; ``None`` when there is none.
        live: Registered brokers, during the election or after the event.
        brokers: Whom it is about: those shutting down, that died, that started, that asks to stop.
        unclean: The topic's ``unclean.leader.election.enable``.
    """

    operation: str
    replicas: tuple[int, ...]
    removing: tuple[int, ...]
    state: ElectionOutcome | None
    live: frozenset[int]
    brokers: frozenset[int]
    unclean: bool

    def line(self) -> str:
        """The case as the JVM reads it."""
        lists = (self.replicas, self.removing, sorted(self.live), sorted(self.brokers))
        replicas, removing, live, brokers = (",".join(map(str, ids)) or "-" for ids in lists)
        state = _znode(self.state) if self.state else "-"
        return "\t".join((self.operation, replicas, removing, state, live, brokers, str(self.unclean).lower()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What Kafka did.

    Args:
        state: The znode afterwards; ``None`` when there is none.
        failure: Class of the exception that ended an election; ``None`` without one.
    """

    state: ElectionOutcome | None
    failure: str | None


def ask(kafka: str, cases: Iterable[Case], classes: Path) -> list[Answer]:
    """Put cases to the controller of a release; one answer a case, in order.

    Args:
        classes: An empty folder for the compiled program.
    """
    jars = [str(jar) for jar in servers.jars(kafka)]
    compiled([SOURCES / name for name in _FOLDERS[kafka]], jars, classes)
    command = [servers.java(), "-Xmx512m", "-XX:+UseSerialGC"]
    command += ["-cp", ":".join([str(classes), str(SOURCES / "common"), *jars]), "Main"]
    lines = "".join(case.line() + "\n" for case in cases)
    answered = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert answered.returncode == 0, answered.stderr
    return [_answer(line) for line in answered.stdout.splitlines()]


def compiled(sources: list[Path], jars: list[str], classes: Path) -> None:
    """Compile the Java of some folders."""
    javac = shutil.which("javac", path=str(Path(servers.java()).parent)) or "javac"
    files = [str(file) for folder in sources for file in sorted(folder.glob("*.java"))]
    command = [javac, "-nowarn", "-proc:none", "-d", str(classes), "-cp", ":".join(jars), *files]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def _znode(state: ElectionOutcome) -> str:
    leader = -1 if state.leader is None else state.leader
    znode = {"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": state.leader_epoch, "isr": state.isr}
    if state.recovering:
        znode["leader_recovery_state"] = 1
    return json.dumps(znode)


def _answer(line: str) -> Answer:
    znode, failure = line.split("\t")
    return Answer(state=None if znode == "-" else _state(json.loads(znode)), failure=None if failure == "-" else failure)


def _state(znode: dict[str, object]) -> ElectionOutcome:
    return ElectionOutcome(
        leader=None if znode["leader"] == -1 else znode["leader"],
        isr=tuple(znode["isr"]),
        leader_epoch=znode["leader_epoch"],
        recovering=znode.get("leader_recovery_state") == 1,
    )
