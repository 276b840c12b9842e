"""A real ZooKeeper and real Kafka brokers on loopback, with all actions of an incident."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from casebook.rehearsal.servers import jars, registrations, topics, waiting
from casebook.rehearsal.servers.installation import (
    SESSION_TIMEOUT,
    Installation,
    command,
    consumer_arguments,
    install_broker,
    install_consumer,
    install_zookeeper,
    prints_more,
)
from casebook.rehearsal.servers.ports import HOST, free_port, listens
from casebook.rehearsal.servers.processes import Guarded, Server, make_home

_ATTEMPTS = 5


class PlayedCluster:
    """A Kafka cluster that lives as long as its ``with`` block, or its process, whichever ends first.

    Args:
        kafka: One of :func:`casebook.rehearsal.servers.jars.versions`.
        brokers: Broker ids, or their number (ids from 1); 0 for ZooKeeper alone.
        chroot: Chroot of the cluster in ZooKeeper; ``""`` for none.
        home: New folder for all server files; ``None`` for a temporary one.
        keep: Leave the folder when the cluster ends.
        settings: Broker settings that extend or override those of a rehearsal.
        running: Brokers to start on entry; all of them when ``None``.
        controller: Broker to start first, so that it becomes controller.
        data: Folder made by :meth:`copy_data`; the servers start on a copy of it. Old registrations remain until their sessions
            expire, which :meth:`start` awaits.
        progress: Receives one sentence for each slow step.
    """

    def __init__(
        self,
        *,
        kafka: str = "0.9.0.1",
        brokers: int | Iterable[int] = 3,
        chroot: str = "/kafka",
        home: Path | None = None,
        keep: bool = False,
        settings: Mapping[str, str] | None = None,
        running: Iterable[int] | None = None,
        controller: int | None = None,
        data: Path | None = None,
        progress: jars.Progress = lambda _: None,
    ) -> None:
        self.kafka, self.chroot = kafka, chroot
        self.ids = tuple(range(1, brokers + 1) if isinstance(brokers, int) else sorted(brokers))
        self._home, self._keep = home, keep
        self._settings = dict(settings or {})
        self._logging: dict[str, str] = {}
        self._running = self.ids if running is None else tuple(running)
        self._controller_first = controller
        self._data = data
        self._progress = progress
        self._servers: dict[int, Server] = {}

    def __enter__(self) -> Self:
        self._jars = jars.jars(self.kafka, among=jars.versions(), progress=self._progress)
        self.home = make_home(self._home)
        with ExitStack() as leaving:
            self._guarded = Guarded(remove=None if self._keep else self.home)
            leaving.callback(self._guarded.close)
            if self._data:
                shutil.copytree(self._data, self.home, dirs_exist_ok=True)
            self._place = {broker: self._new_place(f"broker-{broker}") for broker in self.ids}
            self._zookeeper_place = self._new_place("zookeeper")
            self.start_zookeeper()
            self._client = registrations.connect(self.zookeeper_address, self.chroot)
            leaving.callback(self._client.close)
            leaving.callback(self._client.stop)
            self._start_brokers()
            self._leaving = leaving.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leaving.close()

    # Addresses and paths.

    @property
    def zookeeper(self) -> str:
        """``zookeeper.connect`` of the brokers: address and chroot."""
        return f"{self.zookeeper_address}{self.chroot}"

    @property
    def zookeeper_address(self) -> str:
        """``host:port`` of ZooKeeper, without chroot."""
        return f"{HOST}:{self._zookeeper_place.port}"

    @property
    def bootstrap(self) -> str:
        """``bootstrap.servers`` of the running brokers."""
        return self.address(*filter(self.running, self.ids))

    def address(self, *brokers: int) -> str:
        """Return ``bootstrap.servers`` of some brokers."""
        return ",".join(f"{HOST}:{self._place[broker].port}" for broker in brokers)

    def server_properties(self, broker: int) -> Path:
        """Return the broker's configuration file."""
        return self._place[broker].properties

    def log_dir(self, broker: int) -> Path:
        """Return the broker's only log dir."""
        return self._place[broker].data

    def log_files(self, broker: int) -> tuple[Path, ...]:
        """Return the broker's log4j files, including rolled ones."""
        return tuple(sorted(self._place[broker].logs.iterdir()))

    def printed(self, broker: int) -> tuple[Path, ...]:
        """Return the broker's console output, if it has more than its log files."""
        return (self._place[broker].output,) if prints_more(self.kafka) else ()

    @property
    def zookeeper_data(self) -> Path:
        """ZooKeeper's ``dataDir``, including its transaction logs."""
        return self._zookeeper_place.data

    @property
    def zookeeper_printed(self) -> Path:
        """ZooKeeper's console output: its log."""
        return self._zookeeper_place.output

    # Actions on servers.

    def configure(self, settings: Mapping[str, str]) -> None:
        """Change broker settings; effective on a broker's next start."""
        self._settings |= settings

    def log_more(self, properties: Mapping[str, str]) -> None:
        """Change log4j properties of the brokers; effective on a broker's next start."""
        self._logging |= properties

    def start(self, *brokers: int) -> None:
        """Start brokers and wait until they are registered.

        A killed broker's leftover registration is awaited first: 0.9 exits when it finds one.
        """
        self.wait_gone(*brokers)
        for broker in brokers:
            self._launch_broker(broker)
        self.wait_registered(*brokers)

    def start_as_it_is(self, broker: int) -> None:
        """Start a broker with its existing files, including manual changes, and wait until it is registered.

        Raises:
            RehearsalError: It ended instead.
        """
        self.wait_gone(broker)
        self._run_broker(broker)

        def registered() -> bool:
            if not self.running(broker):
                raise self._place[broker].did_not_start()
            return broker in self.registered()

        self.wait_until(registered, what=f"the registration of broker {broker}")

    def kill(self, *brokers: int) -> None:
        """Kill brokers (SIGKILL). They stay registered until their sessions expire: see :meth:`wait_gone`."""
        for broker in brokers:
            self._servers[broker].kill()

    def stop(self, *brokers: int) -> None:
        """Shut brokers down one after the other (SIGTERM), each with its controlled shutdown."""
        for broker in brokers:
            self._servers[broker].stop()

    def freeze(self, *brokers: int) -> None:
        """Suspend brokers (SIGSTOP)."""
        for broker in brokers:
            self._servers[broker].freeze()

    def thaw(self, *brokers: int) -> None:
        """Resume suspended brokers (SIGCONT)."""
        for broker in brokers:
            self._servers[broker].thaw()

    def pids(self) -> dict[int, int]:
        """Return process ids of the running brokers."""
        return {broker: server.pid for broker, server in sorted(self._servers.items()) if server.running}

    def running(self, broker: int) -> bool:
        """Return whether the broker's process exists."""
        return broker in self._servers and self._servers[broker].running

    def start_consumer(self, topic: str, *, group: str) -> Path:
        """Start Kafka's own console consumer of this release, which commits all the while; it ends with the cluster.

        Returns:
            Its log.
        """
        place = self._new_place(f"consumer-{group}")
        install_consumer(place, group=group)
        arguments = consumer_arguments(place, kafka=self.kafka, bootstrap=self.bootstrap, topic=topic)
        started = command(place, jars=self._jars, main="kafka.tools.ConsoleConsumer", arguments=arguments)
        self._guarded.start(started, folder=place.home, output=place.output)
        return place.logs / "consumer.log"

    def kill_zookeeper(self) -> None:
        """Kill ZooKeeper; its acknowledged writes are on disk."""
        self._zookeeper.kill()

    def start_zookeeper(self) -> None:
        """Start ZooKeeper on its existing data and wait until it responds."""
        for _ in range(_ATTEMPTS):
            if self._zookeeper_runs(self._zookeeper_place):
                return
            self._zookeeper_place = self._zookeeper_place.elsewhere()
        raise self._zookeeper_place.did_not_start()

    def cpu_seconds(self, broker: int, thread: str) -> float:
        """Return processor time of the broker's threads of a name: see :meth:`Server.cpu_seconds`."""
        return self._servers[broker].cpu_seconds(thread)

    def copy_data(self, into: Path) -> None:
        """Copy the data of all servers, including ZooKeeper's, at one moment: they are suspended meanwhile."""
        alive = [server for server in (self._zookeeper, *self._servers.values()) if server.running]
        for server in alive:
            server.freeze()
        try:
            shutil.copytree(self.home, into, dirs_exist_ok=True, ignore=shutil.ignore_patterns("logs", "*.out"))
        finally:
            for server in reversed(alive):
                server.thaw()

    def reborn(self, data: Path) -> "PlayedCluster":
        """Return an equal cluster that will start on a copy of ``data``, with no broker running yet."""
        return PlayedCluster(
            kafka=self.kafka, brokers=self.ids, chroot=self.chroot, settings=self._settings, running=(), data=data
        )

    # Actions on topics, and ZooKeeper's content.

    def create_topic(self, name: str, assignment: Mapping[int, Sequence[int]], config: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until each partition has a leader.

        Args:
            name: Topic name.
            assignment: Replicas by partition, the preferred leader first.
            config: Topic settings.
        """
        topics.create_topic(self._client, name, assignment, config or {})
        wanted = {(name, partition) for partition in assignment}
        self.wait_until(lambda: wanted <= self.states().keys(), what=f"the creation of {name}")

    def delete_topic(self, name: str) -> None:
        """Request a topic's deletion; the controller decides."""
        topics.delete_topic(self._client, name)

    def elect_preferred(self, *partitions: topics.Partition) -> None:
        """Request preferred leaders of partitions; the controller decides."""
        topics.elect_preferred(self._client, partitions)

    def topic_names(self) -> list[str]:
        """Return names of the topics, including those under deletion."""
        return topics.names(self._client)

    def deleting(self) -> frozenset[str]:
        """Return topics with a pending deletion."""
        return topics.deleting(self._client)

    def states(self) -> dict[topics.Partition, dict]:
        """Return the state znode of every partition that has one, as stored."""
        return topics.states(self._client)

    def watch_states(self, told: Callable[[topics.Partition, dict, int], None]) -> None:
        """Subscribe to every change of a partition's state: see :func:`topics.watch_states`."""
        topics.watch_states(self._client, told)

    def registered(self) -> frozenset[int]:
        """Return ids under ``/brokers/ids``."""
        return registrations.registered(self._client)

    def controller(self) -> int | None:
        """Return the id in ``/controller``; ``None`` without one."""
        return registrations.controller(self._client)

    # Waiting.

    def wait_until(
        self, condition: Callable[[], bool], *, what: str, seconds: float = waiting.PATIENCE, steady: float = 0.0
    ) -> None:
        """Poll until a condition holds, and has held for ``steady`` seconds: see :func:`waiting.wait_until`.

        A condition that cannot be evaluated while ZooKeeper is unavailable does not hold.
        """
        waiting.wait_until(lambda: registrations.holds(condition), what=what, home=self.home, seconds=seconds, steady=steady)

    def wait_registered(self, *brokers: int) -> None:
        """Wait until brokers are registered; one whose port was taken meanwhile restarts on another.

        Raises:
            RehearsalError: One of them ended instead.
        """
        attempts = _ATTEMPTS

        def registered() -> bool:
            nonlocal attempts
            for broker in brokers:
                if not self.running(broker):
                    attempts -= 1
                    self._place[broker] = self._place[broker].elsewhere(last=attempts == 0)
                    self._launch_broker(broker)
            return self.registered() >= set(brokers)

        self.wait_until(registered, what=f"the registration of brokers {_listed(brokers)}")

    def wait_gone(self, *brokers: int) -> None:
        """Wait until ZooKeeper has expired brokers."""
        self.wait_until(
            lambda: self.registered().isdisjoint(brokers),
            what=f"the end of the sessions of brokers {_listed(brokers)}",
            seconds=5 * SESSION_TIMEOUT,
        )

    # Implementation.

    def _zookeeper_runs(self, place: Installation) -> bool:
        install_zookeeper(place)
        self._zookeeper = self._guarded.start(self._command(place), folder=place.home, output=place.output)
        self.wait_until(lambda: listens(place.port) or not self._zookeeper.running, what="ZooKeeper's start")
        return self._zookeeper.running

    def _start_brokers(self) -> None:
        first = self._controller_first
        if first is not None and first in self._running:
            self.start(first)
            self.wait_until(lambda: self.controller() == first, what=f"broker {first} to become controller")
        self.start(*(broker for broker in self._running if broker != first))
        if self._running:
            self.wait_until(lambda: self.controller() is not None, what="a controller")

    def _launch_broker(self, broker: int) -> None:
        place = self._place[broker]
        install_broker(
            place,
            kafka=self.kafka,
            broker=broker,
            zookeeper=self.zookeeper,
            settings=self._settings,
            logging=self._logging,
        )
        self._run_broker(broker)

    def _run_broker(self, broker: int) -> None:
        place = self._place[broker]
        self._servers[broker] = self._guarded.start(self._command(place), folder=place.home, output=place.output)

    def _command(self, place: Installation, options: Sequence[str] = ()) -> list[str]:
        """Return the command of a server, with these Java options."""
        return command(place, jars=self._jars, options=options)

    def _new_place(self, name: str) -> Installation:
        return Installation(name=name, home=self.home / name, port=free_port())


def _listed(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers))
