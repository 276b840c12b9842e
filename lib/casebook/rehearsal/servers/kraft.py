"""A real Kafka cluster in KRaft mode on loopback: brokers, and controllers in place of ZooKeeper."""

import base64
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from casebook.errors import RehearsalError
from casebook.rehearsal.servers import jars, waiting
from casebook.rehearsal.servers.installation import SMALL_BROKER, TOOL_LOGGING, Installation, command, install_node
from casebook.rehearsal.servers.ports import HOST, free_port
from casebook.rehearsal.servers.processes import Guarded, Server, make_home
from casebook.rehearsal.servers.records import client_settings

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, ClusterMetadata

SESSION_TIMEOUT = 6.0
"""Seconds of silence until the controller fences a broker; the default is 9."""
_ATTEMPTS = 5
_ANSWER = 5.0
"""Seconds to wait for a broker's metadata."""
_HUNDRED = 100
_STARTED = "Kafka Server started"
_FORMATTED = "meta.properties"
_CONTROLLER_MEMORY = "-Xmx128m"
_SESSIONS = {"broker.session.timeout.ms": str(int(SESSION_TIMEOUT * 1000)), "broker.heartbeat.interval.ms": "500"}


class KraftCluster:
    """A Kafka cluster without ZooKeeper that lives as long as its ``with`` block, or its process, whichever ends first.

    Its quorum is static (``controller.quorum.voters``), so the controllers keep their ports.

    Args:
        kafka: One of :func:`casebook.rehearsal.servers.jars.kraft_versions`.
        brokers: Broker ids, or their number (ids from 1).
        controllers: Number of controllers. Their ids begin at 101, or at the first such number above all broker ids.
        combined: Controllers are the first brokers, in the same processes.
        home: New folder for all server files; ``None`` for a temporary one.
        keep: Leave the folder when the cluster ends.
        settings: Settings of all nodes that extend or override those of a rehearsal.
        progress: Receives one sentence for each slow step.
    """

    def __init__(
        self,
        *,
        kafka: str = "4.4.0",
        brokers: int | Iterable[int] = 3,
        controllers: int = 1,
        combined: bool = False,
        home: Path | None = None,
        keep: bool = False,
        settings: Mapping[str, str] | None = None,
        progress: jars.Progress = lambda _: None,
    ) -> None:
        self.kafka = kafka
        self.ids = tuple(range(1, brokers + 1) if isinstance(brokers, int) else sorted(brokers))
        first = (max(self.ids) // _HUNDRED + 1) * _HUNDRED + 1
        self.controllers = self.ids[:controllers] if combined else tuple(range(first, first + controllers))
        self._home, self._keep = home, keep
        self._settings = dict(settings or {})
        self._progress = progress
        self._servers: dict[int, Server] = {}
        self._printed: dict[int, int] = {}
        self._paused: set[int] = set()
        self._asked: tuple[str, AdminClient] | None = None

    def __enter__(self) -> Self:
        self._jars = jars.jars(self.kafka, among=jars.kraft_versions(), progress=self._progress)
        self.home = make_home(self._home)
        with ExitStack() as leaving:
            self._guarded = Guarded(remove=None if self._keep else self.home)
            leaving.callback(self._guarded.close)
            self._place = {node: self._new_place(node) for node in self.nodes}
            self._quorum = {node: free_port() if node in self.ids else self._place[node].port for node in self.controllers}
            self._format()
            self.start(*self.nodes)
            self._leaving = leaving.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._asked = None
        self._leaving.close()

    # Addresses and paths.

    @property
    def nodes(self) -> tuple[int, ...]:
        """Ids of all processes: controllers, then the other brokers."""
        return tuple(dict.fromkeys((*self.controllers, *self.ids)))

    @property
    def bootstrap(self) -> str:
        """``bootstrap.servers`` of the brokers that run and are not paused."""
        return self.address(*(broker for broker in self.ids if self.running(broker) and broker not in self._paused))

    def address(self, *brokers: int) -> str:
        """Return ``bootstrap.servers`` of some brokers."""
        return ",".join(f"{HOST}:{self._place[broker].port}" for broker in brokers)

    def server_properties(self, node: int) -> Path:
        """Return the configuration file of a broker or controller."""
        return self._place[node].properties

    def log_dir(self, node: int) -> Path:
        """Return the only log dir of a broker or controller; it contains the metadata log."""
        return self._place[node].data

    def log_files(self, node: int) -> tuple[Path, ...]:
        """Return the log4j files of a broker or controller, including rolled ones."""
        return tuple(sorted(self._place[node].logs.iterdir()))

    # Actions on servers.

    def configure(self, settings: Mapping[str, str]) -> None:
        """Change settings of all nodes; effective on a node's next start."""
        self._settings |= settings

    def start(self, *nodes: int, wait: bool = True) -> None:
        """Start brokers and controllers, and wait until they serve.

        A killed broker is accepted once the controller has fenced its former process.

        Args:
            nodes: Their ids.
            wait: Wait; without a majority of controllers none can serve. See :meth:`wait_started`.

        Raises:
            RehearsalError: One of them ended instead.
        """
        for node in nodes:
            self._launch(node)
        if wait:
            self.wait_started(*nodes)
            self.wait_unfenced(*(node for node in nodes if node in self.ids))

    def kill(self, *nodes: int) -> None:
        """Kill brokers and controllers (SIGKILL). Brokers stay unfenced until their sessions expire: see :meth:`wait_fenced`."""
        for node in nodes:
            self._servers[node].kill()
            self._paused.discard(node)

    def stop(self, *nodes: int) -> None:
        """Shut nodes down one after the other (SIGTERM), brokers with their controlled shutdown."""
        for node in nodes:
            self._servers[node].stop()

    def pause(self, *nodes: int) -> None:
        """Suspend brokers and controllers (SIGSTOP)."""
        for node in nodes:
            self._servers[node].freeze()
            self._paused.add(node)

    def resume(self, *nodes: int) -> None:
        """Resume suspended brokers and controllers (SIGCONT)."""
        for node in nodes:
            self._servers[node].thaw()
            self._paused.discard(node)

    def pids(self) -> dict[int, int]:
        """Return process ids of the running nodes, including paused ones."""
        return {node: server.pid for node, server in sorted(self._servers.items()) if server.running}

    def running(self, node: int) -> bool:
        """Return whether the node's process exists; a paused one does."""
        return node in self._servers and self._servers[node].running

    # Topics and brokers, as a running broker knows them. Without one these raise a RehearsalError.

    def create_topic(self, name: str, assignment: Mapping[int, Sequence[int]], settings: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until each partition has a leader.

        Args:
            name: Topic name.
            assignment: Replicas by partition, numbered from 0, the preferred leader first. All have the same number of replicas.
            settings: Topic settings.

        Raises:
            RehearsalError: The controller refuses it, or a partition has no leader in time.
        """
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import NewTopic

        replicas = [list(assignment[partition]) for partition in range(len(assignment))]
        topic = NewTopic(name, num_partitions=len(replicas), replica_assignment=replicas, config=dict(settings or {}))
        try:
            self._admin().create_topics([topic])[name].result()
        except KafkaException as error:
            raise RehearsalError(f"Topic {name} was not created.", cause=error.args[0].str()) from error

        def created() -> bool:
            leaders = self.leaders(name)
            return leaders.keys() == assignment.keys() and None not in leaders.values()

        self.wait_until(created, what=f"the creation of {name}")

    def leaders(self, topic: str) -> dict[int, int | None]:
        """Return the leader of each partition of a topic, ``None`` without one; nothing while no broker answers."""
        known = self._metadata()
        found = known.topics.get(topic) if known else None
        return (
            {number: one.leader if one.leader >= 0 else None for number, one in sorted(found.partitions.items())} if found else {}
        )

    def unfenced(self) -> frozenset[int] | None:
        """Return the brokers that metadata lists; ``None`` while no broker answers."""
        known = self._metadata()
        return frozenset(known.brokers) if known else None

    # Waiting.

    def wait_until(
        self, condition: Callable[[], bool], *, what: str, seconds: float = waiting.PATIENCE, steady: float = 0.0
    ) -> None:
        """Poll until a condition holds, and has held for ``steady`` seconds: see :func:`waiting.wait_until`."""
        waiting.wait_until(condition, what=what, home=self.home, seconds=seconds, steady=steady)

    def wait_started(self, *nodes: int) -> None:
        """Wait until nodes serve; a broker whose port was taken meanwhile restarts on another.

        Raises:
            RehearsalError: One of them ended instead.
        """
        attempts = _ATTEMPTS

        def started() -> bool:
            nonlocal attempts
            for node in nodes:
                if not self.running(node):
                    attempts -= 1
                    last = attempts == 0 or node in self.controllers  # the other nodes know a controller's port
                    self._place[node] = self._place[node].elsewhere(last=last)
                    self._launch(node)
            return all(map(self._has_started, nodes))

        self.wait_until(started, what=f"the start of nodes {', '.join(map(str, nodes))}")

    def wait_fenced(self, *brokers: int) -> None:
        """Wait until metadata lists none of these brokers. Another broker must run to answer."""
        self.wait_until(
            lambda: (listed := self.unfenced()) is not None and listed.isdisjoint(brokers),
            what=f"the fencing of brokers {', '.join(map(str, brokers))}",
        )

    def wait_unfenced(self, *brokers: int) -> None:
        """Wait until metadata lists all of these brokers."""
        self.wait_until(
            lambda: not brokers or (self.unfenced() or frozenset()).issuperset(brokers),
            what=f"the registration of brokers {', '.join(map(str, brokers))}",
        )

    # Implementation.

    def _new_place(self, node: int) -> Installation:
        name = f"broker-{node}" if node in self.ids else f"controller-{node}"
        return Installation(name=name, home=self.home / name, port=free_port())

    def _format(self) -> None:
        """Format the log dirs with Kafka's own tool, as ``kafka-storage.sh format`` does."""
        logging = self.home / "tools-log4j.properties"
        logging.write_text(TOOL_LOGGING)
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        tools = []
        for node, place in self._place.items():
            install_node(place, kafka=self.kafka, settings=self._node_settings(node))
            arguments = ["format", f"--cluster-id={cluster}", f"--config={place.properties}"]
            options = [f"-Dlog4j.configuration=file:{logging}"]
            tool = command(place, jars=self._jars, options=options, main="kafka.tools.StorageTool", arguments=arguments)
            tools.append(self._guarded.start(tool, folder=place.home, output=place.output))
        self.wait_until(lambda: not any(tool.running for tool in tools), what="the formatting of the log dirs")
        for place in self._place.values():
            if not (place.data / _FORMATTED).is_file():
                raise place.did_not_start()
            place.output.unlink()

    def _node_settings(self, node: int) -> dict[str, str]:
        listeners, roles = [], []
        if node in self.ids:
            roles.append("broker")
            listeners.append(f"PLAINTEXT://{HOST}:{self._place[node].port}")
        if node in self.controllers:
            roles.append("controller")
            listeners.append(f"CONTROLLER://{HOST}:{self._quorum[node]}")
        copies = min(3, len(self.ids))
        return {
            "process.roles": ",".join(roles),
            "node.id": str(node),
            "controller.quorum.voters": ",".join(f"{voter}@{HOST}:{port}" for voter, port in self._quorum.items()),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "listeners": ",".join(listeners),
            "log.dirs": str(self._place[node].data),
            **SMALL_BROKER,
            **_SESSIONS,
            "offsets.topic.replication.factor": str(copies),
            "transaction.state.log.replication.factor": str(copies),
            "transaction.state.log.min.isr": str(min(2, copies)),
            **self._settings,
        }

    def _launch(self, node: int) -> None:
        place = self._place[node]
        install_node(place, kafka=self.kafka, settings=self._node_settings(node))
        self._printed[node] = place.output.stat().st_size if place.output.exists() else 0
        self._servers[node] = self._guarded.start(self._command(place), folder=place.home, output=place.output)

    def _command(self, place: Installation, options: Sequence[str] = ()) -> list[str]:
        """Return the command of a node, with these Java options."""
        memory = (_CONTROLLER_MEMORY,) if place.name.startswith("controller") else ()
        return command(place, jars=self._jars, options=[*memory, *options])

    def _has_started(self, node: int) -> bool:
        """Return whether the node's present process has printed that it serves: a broker does when it is unfenced."""
        with self._place[node].output.open("rb") as printed:
            printed.seek(self._printed[node])
            return _STARTED.encode() in printed.read()

    def _admin(self) -> "AdminClient":
        """Return a client that was created for the brokers that run now."""
        from confluent_kafka.admin import AdminClient

        if not (bootstrap := self.bootstrap):
            raise RehearsalError("No broker of the cluster is running.")
        if self._asked is None or self._asked[0] != bootstrap:
            self._asked = bootstrap, AdminClient(client_settings(bootstrap=bootstrap, kafka=self.kafka))
        return self._asked[1]

    def _metadata(self) -> "ClusterMetadata | None":
        from confluent_kafka import KafkaException

        try:
            return self._admin().list_topics(timeout=_ANSWER)
        except KafkaException:
            return None
