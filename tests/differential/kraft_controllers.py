"""Kafka's own KRaft controllers, asked case by case: one JVM a release, over that release's real jars.

The Java under ``jvm/kafka-kraft`` puts one partition into a ``PartitionChangeBuilder``, or with a cluster into a
``ReplicationControlManager``, and answers with the partition that is left.
"""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from casebook.errors import RehearsalError
from casebook.kafka.kraft.controller import BrokerEvent
from casebook.kafka.kraft.election import KraftElection, KraftPartition, KraftSettings
from casebook.machine import jars as library
from casebook.machine.places import cache_dir
from casebook.rehearsal.servers import jars as servers
from tests.differential.controllers import SOURCES, compiled

_FOLDERS = {"3.9.2": ("kafka-kraft", "kraft-3.9"), "4.4.0": ("kafka-kraft", "kraft-4.4")}
_LOCKED = json.loads(Path(__file__).with_name("kraft_jars.json").read_text())
_LETTERS = {
    BrokerEvent.FENCED: "F",
    BrokerEvent.UNFENCED: "U",
    BrokerEvent.CONTROLLED_SHUTDOWN: "C",
    BrokerEvent.UNREGISTERED: "N",
    BrokerEvent.RESTARTED: "R",
    BrokerEvent.RESTARTED_CLEANLY: "S",
}
RELEASES = tuple(_FOLDERS)
LEADER_EPOCH, PARTITION_EPOCH = 7, 9


class KraftCase(NamedTuple):
    """One question to a controller.

    Args:
        active: Brokers that may lead before the events, or in the one change.
        election: Kind of the one change's election.
        isr: The ISR that the one change sets; ``None`` leaves it.
        lost: Brokers after an unclean shutdown, in the one change.
        events: Events that the managers handle in order; none for one change by the builder.
    """

    partition: KraftPartition
    active: frozenset[int]
    settings: KraftSettings
    election: KraftElection = KraftElection.ONLINE
    isr: tuple[int, ...] | None = None
    lost: frozenset[int] = frozenset()
    events: tuple[tuple[BrokerEvent, int], ...] = ()

    def line(self) -> str:
        """The case as the JVM reads it."""
        state = self.partition
        return "\t".join(
            (
                *map(_ids, (state.replicas, state.adding, state.removing, state.isr, state.elr, state.last_known_elr)),
                str(-1 if state.leader is None else state.leader),
                str(int(state.recovering)),
                _ids(sorted(self.active)),
                str(self.settings.elr).lower(),
                str(self.settings.min_isr),
                str(self.settings.unclean).lower(),
                self.election.name,
                "=" if self.isr is None else _ids(self.isr),
                _ids(sorted(self.lost)),
                ",".join(f"{_LETTERS[event]}{broker}" for event, broker in self.events) or "-",
            )
        )


class KraftAnswer(NamedTuple):
    """What Kafka did.

    Args:
        after: The partition afterwards.
        written: A record was written.
    """

    after: KraftPartition
    written: bool


def ask(kafka: str, cases: Iterable[KraftCase], classes: Path) -> list[tuple[KraftAnswer, ...]]:
    """Put cases to the controller of a release; an answer an event, or one for one change, in order.

    Args:
        classes: An empty folder for the compiled program.
    """
    jars = list(map(str, _jars(kafka)))
    compiled([SOURCES / name for name in _FOLDERS[kafka]], jars, classes)
    command = [servers.java(), "-Xmx512m", "-XX:+UseSerialGC"]
    command += ["-cp", ":".join([str(classes), str(SOURCES / "common"), *jars]), "org.apache.kafka.controller.Main"]
    lines = "".join(case.line() + "\n" for case in cases)
    answered = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert answered.returncode == 0, answered.stderr
    return [tuple(map(_answer, line.split("\t"))) for line in answered.stdout.splitlines()]


def _jars(kafka: str) -> tuple[Path, ...]:
    if kafka not in _LOCKED:
        return servers.jars(kafka)
    folder = cache_dir() / "controllers" / kafka
    return library.fetched(_LOCKED[kafka], folder, what=f"The controller of Kafka {kafka}", error=RehearsalError)


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers)) or "-"


def _answer(text: str) -> KraftAnswer:
    *lists, leader, recovery, leader_epoch, partition_epoch, written = text.split(" ")
    replicas, adding, removing, isr, elr, last_known = (tuple(map(int, ids.split(","))) if ids != "-" else () for ids in lists)
    return KraftAnswer(
        KraftPartition(
            replicas=replicas,
            isr=isr,
            leader=None if leader == "-1" else int(leader),
            elr=elr,
            last_known_elr=last_known,
            recovering=recovery == "1",
            adding=adding,
            removing=removing,
            leader_epoch=int(leader_epoch),
            partition_epoch=int(partition_epoch),
        ),
        written == "true",
    )
