"""Tools of an incident's script: a cluster, a record of its actions, and the capture of cases."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from typing import Protocol

from casebook.errors import RehearsalError
from casebook.rehearsal.ledger import iso
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.jars import Progress
from casebook.rehearsal.servers.records import produce
from casebook.rehearsal.servers.topics import Partition, label
from casebook.rehearsal.truth import Expected, Phase, Truth

_CALM = 1.0
"""Seconds for which a state must last to count as reached."""

_CHECKPOINTED = 6.0
"""Seconds until all high watermarks are on disk: brokers write them every 5 s.

An earlier copy is like a cluster whose brokers all crashed: on 0.9, a follower that starts first truncates its log to an old high
watermark, wins a clean election, and brokers with more records halt.
"""


Visitor = Callable[[PlayedCluster, Mapping[Partition, int]], None]


class Capture(Protocol):
    """Collects a case: :func:`casebook.collect.collection.collect_case`."""

    def __call__(
        self,
        out: Path,
        *,
        zookeeper: str,
        properties: Mapping[int, Path],
        logs: Mapping[int | str, Sequence[Path]],
        ledgers: Mapping[str, Sequence[Path]],
        log_dirs: Sequence[tuple[int, str]],
        copy_segments: Sequence[str],
        zookeeper_data: Sequence[Path],
    ) -> object:
        """Collect the case into ``out``, from this ensemble and these files by broker id, or name of another server or client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One play of an incident.

    Args:
        truth: Record of the script's actions.
        out: Folder for a case per phase.
        capture: Collects one case.
        progress: Receives one sentence per step.
        verify: Really start each dead broker first, on copies; adds about 15 s for each.
        keep_running: Pause for visitors at the incident's height.
        visitor: Replaces a person with Ctrl-C; receives the acknowledged records of :meth:`produce`, by partition.
        memory: Folder for :meth:`remember`.
        home: Folder of the servers; a temporary one when ``None``.
        acknowledged: Acknowledged records of :meth:`produce`, by partition.
    """

    truth: Truth
    out: Path
    capture: Capture
    progress: Progress
    memory: Path
    verify: bool = True
    keep_running: bool = False
    home: Path | None = None
    visitor: Visitor | None = None
    acknowledged: Counter[Partition] = field(default_factory=Counter)

    def cluster(self, *, brokers: int, settings: Mapping[str, str] | None = None, controller: int | None = None) -> PlayedCluster:
        """Return the cluster of this play, not yet started."""
        return PlayedCluster(
            kafka=self.truth.kafka,
            brokers=brokers,
            settings=settings,
            controller=controller,
            home=self.home,
            progress=self.progress,
        )

    def act(self, what: str, action: Callable[[], object] = lambda: None) -> None:
        """Execute an action on the cluster, recording its start time."""
        self.progress(what)
        self.truth.acted(what)
        action()

    def create_topics(
        self, cluster: PlayedCluster, partitions: Iterable[Expected], settings: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        """Create the topics of these partitions, with these settings by topic."""
        by_topic: dict[str, dict[int, tuple[int, ...]]] = {}
        for row in partitions:
            by_topic.setdefault(row.topic, {})[row.partition] = row.replicas
        for topic, assignment in by_topic.items():
            create = partial(cluster.create_topic, topic, assignment, (settings or {}).get(topic))
            self.act(f"Create topic {topic}.", create)

    def watch_states(self, cluster: PlayedCluster) -> list[dict[str, object]]:
        """Return a growing list of every partition's states, current and changed, by ZooKeeper's time."""
        states: list[dict[str, object]] = []
        cluster.watch_states(lambda partition, state, at: states.append({"partition": label(partition), "at": iso(at)} | state))
        return states

    def start(self, cluster: PlayedCluster, *brokers: int) -> None:
        """Start brokers."""
        self.act(f"Start {_named(brokers)}.", lambda: cluster.start(*brokers))

    def produce(self, cluster: PlayedCluster, counts: Mapping[Partition, int]) -> None:
        """Produce records until all are acknowledged."""
        partitions = ", ".join(f"{count} to {topic}-{partition}" for (topic, partition), count in counts.items())
        self.act(
            f"Produce records with acks=all: {partitions}.",
            lambda: produce(counts, bootstrap=cluster.bootstrap, kafka=cluster.kafka),
        )
        self.acknowledged.update(counts)

    def kill(self, cluster: PlayedCluster, *brokers: int) -> None:
        """Kill brokers."""
        self.act(f"Kill {_named(brokers)} (SIGKILL).", lambda: cluster.kill(*brokers))

    def gone(self, cluster: PlayedCluster, *brokers: int) -> None:
        """Wait until ZooKeeper has expired brokers."""
        cluster.wait_gone(*brokers)
        self.act(f"ZooKeeper has given up {_named(brokers)}.")

    def expect(
        self,
        name: str,
        cluster: PlayedCluster,
        phase: Phase,
        *,
        disks: Sequence[int] = (),
        copy_segments: Sequence[str] = (),
        history: bool = False,
        clients: Mapping[str, Sequence[Path]] | None = None,
        ledgers: Mapping[str, Sequence[Path]] | None = None,
    ) -> None:
        """Wait until ZooKeeper has the expected state, then capture it as a case.

        Args:
            name: Name of the phase.
            cluster: Cluster to capture.
            phase: Expected state.
            disks: Brokers whose log dirs belong to the case.
            copy_segments: Topics with segments to copy.
            history: Whether to include ZooKeeper's files and all console output.
            clients: Logs of clients, by client name.
            ledgers: Ledgers of clients, by client name.

        Raises:
            RehearsalError: The cluster deviated from the script.
        """
        self.reach(cluster, phase)
        self.truth.phases[name] = phase
        self.act(
            f"Capture the phase {name}.",
            lambda: self.capture(
                self.out / name,
                zookeeper=cluster.zookeeper,
                properties={broker: cluster.server_properties(broker) for broker in cluster.ids},
                logs=_logs(cluster, printed=history) | {name: list(files) for name, files in (clients or {}).items()},
                ledgers=ledgers or {},
                log_dirs=[(broker, str(cluster.log_dir(broker))) for broker in disks],
                copy_segments=copy_segments,
                zookeeper_data=[cluster.zookeeper_data] if history else [],
            ),
        )

    def reach(self, cluster: PlayedCluster, phase: Phase) -> None:
        """Wait until ZooKeeper has the state of a phase, and keeps it for a moment.

        Raises:
            RehearsalError: The cluster deviated from the script.
        """
        try:
            cluster.wait_until(lambda: not _differences(phase, cluster), what="the state that the script leads to", steady=_CALM)
        except RehearsalError as late:
            raise RehearsalError(late.what, cause=" ".join(_differences(phase, cluster)), try_=late.try_) from late

    def wait_in_sync(self, cluster: PlayedCluster, partitions: Iterable[Expected]) -> None:
        """Wait until the ISR of every partition is as expected, with any leader."""
        wanted = {(row.topic, row.partition): row.isr for row in partitions}
        cluster.wait_until(
            lambda: {partition: tuple(sorted(state["isr"])) for partition, state in cluster.states().items()} == wanted,
            what="the full ISR of all partitions",
        )

    def remember(self, cluster: PlayedCluster) -> None:
        """Copy the data of all servers, for :meth:`verify_start_first`."""
        if self.verify:
            time.sleep(_CHECKPOINTED)
            cluster.copy_data(self.memory)

    def verify_start_first(self, cluster: PlayedCluster, phase: Phase) -> None:
        """Start each dead broker first, on a copy of the remembered data, and check the healed partitions against the script.

        Called after ``cluster`` has ended: a small machine cannot keep the sessions of two clusters.

        Raises:
            RehearsalError: Other partitions heal.
        """
        for broker in phase.dead if self.verify else ():
            self.progress(f"Start broker {broker} first, on a copy of all data.")
            heals = self._heals(cluster, phase, broker)
            self.truth.verified.append({"broker": broker, "heals": heals})

    def _heals(self, cluster: PlayedCluster, phase: Phase, broker: int) -> int:
        waiting = {(p.topic, p.partition): p.waits_for for p in phase.partitions if p.offline}
        still = {partition for partition, brokers in waiting.items() if broker not in brokers}
        with cluster.reborn(self.memory) as copy:
            copy.start(*phase.live)
            copy.wait_until(lambda: _offline(copy) == waiting.keys(), what="the copy to be as its original", steady=_CALM)
            copy.start(broker)
            copy.wait_until(lambda: _offline(copy) == still, what=f"exactly what broker {broker} heals", steady=_CALM)
        return len(waiting) - len(still)

    def visited(self, cluster: PlayedCluster) -> bool:
        """Run a visitor and return true; with ``keep_running``, print the cluster's addresses and wait for Ctrl-C."""
        if self.visitor is not None:
            self.visitor(cluster, self.acknowledged)
            return True
        if not self.keep_running:
            return False
        self.progress(f"ZooKeeper is at {cluster.zookeeper}, the brokers at {cluster.bootstrap}. Ctrl-C ends them.")
        running = ", ".join(f"broker {broker} is {pid}" for broker, pid in cluster.pids().items())
        self.progress(
            f"Process ids: {running}. `kill -9` of one is a broker's death; --practice has scripts that also start them."
        )
        with suppress(KeyboardInterrupt):
            Event().wait()
        return True


def _logs(cluster: PlayedCluster, *, printed: bool) -> dict[int | str, list[Path]]:
    logs: dict[int | str, list[Path]] = {broker: list(cluster.log_files(broker)) for broker in cluster.ids}
    if printed:
        for broker in cluster.ids:
            logs[broker] += cluster.printed(broker)
        logs["zookeeper"] = [cluster.zookeeper_printed]
    return logs


def _named(brokers: Sequence[int]) -> str:
    return " and ".join(f"broker {broker}" for broker in brokers)


def _offline(cluster: PlayedCluster) -> set[Partition]:
    """Return partitions without a leader, except those under deletion."""
    live, deleting = cluster.registered(), cluster.deleting()
    return {
        (topic, partition)
        for (topic, partition), state in cluster.states().items()
        if state["leader"] not in live and topic not in deleting
    }


def _differences(phase: Phase, cluster: PlayedCluster) -> list[str]:
    """Return the differences between ZooKeeper and a phase, one sentence each. The progress of a deletion is ignored."""
    wanted = {(p.topic, p.partition): p for p in phase.partitions}
    deleting = {partition for partition, row in wanted.items() if row.state == "deleting"}
    states = cluster.states()
    differences = []
    if (live := cluster.registered()) != set(phase.live):
        differences.append(f"Registered are {sorted(live)}, not {sorted(phase.live)}.")
    if phase.controller not in (None, controller := cluster.controller()):
        differences.append(f"The controller is {controller}, not {phase.controller}.")
    for topic, partition in sorted((wanted.keys() | states.keys()) - deleting):
        row, state = wanted.get((topic, partition)), states.get((topic, partition))
        if row is None or state is None or not _as_expected(row, state):
            differences.append(f"{topic}-{partition} is {state}, not {row and (row.leader, row.isr)}.")
    return differences


def _as_expected(row: Expected, state: Mapping) -> bool:
    leader_left_open = row.leader is None and not row.offline
    named = -1 if row.leader is None else row.leader
    return (leader_left_open or state["leader"] == named) and tuple(sorted(state["isr"])) == row.isr
