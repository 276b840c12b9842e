"""Files of a server installation: configuration, and the command to run the server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Self

from casebook.errors import RehearsalError
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.servers import class_archive
from casebook.rehearsal.servers.jars import java
from casebook.rehearsal.servers.ports import HOST, free_port

SESSION_TIMEOUT = 6.0
"""Seconds of silence until ZooKeeper expires a broker: the default up to 2.4, 18 later."""

LIGHT = (
    *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto"),
    *("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"),
)
"""Java options of a rehearsed server: fast start and low memory. Its classes were verified at compilation."""
# Kafka 0.9 and its Scala access internals that Java 17 has closed.
_OPEN = tuple(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "sun.nio.ch", "java.lang"))

SMALL_BROKER = {
    "num.network.threads": "2",
    "num.io.threads": "4",
    "log.cleaner.dedupe.buffer.size": "2097152",
    "log.index.size.max.bytes": "65536",
    "offsets.topic.num.partitions": "10",
    "offsets.topic.replication.factor": "3",
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "delete.topic.enable": "true",
    "replica.lag.time.max.ms": "20000",
}
"""Settings of a rehearsed broker in any mode."""
_ZOOKEEPER_MODE = {
    "zookeeper.session.timeout.ms": str(int(SESSION_TIMEOUT * 1000)),
    "zookeeper.connection.timeout.ms": "30000",
}
_LOG4J = files("casebook.rehearsal").joinpath("log4j")
_MOVED = {
    key: value
    for logger in ("LogCleaner", "LogCleaner$CleanerThread", "Cleaner")
    for key, value in {
        f"log4j.logger.org.apache.kafka.storage.internals.log.{logger}": "INFO, cleanerAppender",
        f"log4j.additivity.org.apache.kafka.storage.internals.log.{logger}": "false",
    }.items()
}
"""Loggers of the log cleaner since its move to Java, as servers of 4.4.0 print them."""
TOOL_LOGGING = """log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%p %m (%c)%n
"""
"""log4j configuration of Kafka's command line tools."""
_CONSUMER = "consumer.properties"
_TAKEN = "Address already in use"
_NO_ENVIRONMENT = {
    "log4j.appender.stdout.filter.environment": "org.apache.log4j.varia.StringMatchFilter",
    "log4j.appender.stdout.filter.environment.StringToMatch": "environment:",
    "log4j.appender.stdout.filter.environment.AcceptOnMatch": "false",
}
"""Removes from the output the paths of Java and its jars on the rehearsing machine, and the home folder."""
_ZOOKEEPER = {
    "tickTime": "500",
    "maxSessionTimeout": "60000",  # as with a distribution's tick, rounded up; by default 20 ticks, so 10 s here
    "maxClientCnxns": "0",
    "admin.enableServer": "false",
    "4lw.commands.whitelist": "dump, mntr, ruok, srvr, stat",  # 3.5 and later answer only srvr by default
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Location of one server.

    Args:
        name: ``zookeeper``, ``broker-<id>`` or ``controller-<id>``.
        home: Its folder, with all its files.
        port: Its port, on :data:`HOST` only.
    """

    name: str
    home: Path
    port: int

    @property
    def data(self) -> Path:
        """Data folder: the broker's log dir, or ZooKeeper's snapshots and transaction logs."""
        return self.home / "data"

    @property
    def logs(self) -> Path:
        """Folder of its log4j log files."""
        return self.home / "logs"

    @property
    def output(self) -> Path:
        """Console output."""
        return self.home / f"{self.name}.out"

    @property
    def properties(self) -> Path:
        """Configuration file."""
        return self.home / ("zoo.cfg" if self.name == "zookeeper" else "server.properties")

    def last_words(self, *, lines: int) -> str:
        """Return the end of its output."""
        return "\n".join(self.output.read_text(errors="replace").splitlines()[-lines:])

    def did_not_start(self) -> RehearsalError:
        """Return the error for a server that ended during its start, with its last output."""
        return RehearsalError(f"{self.name} ended while it was starting.", cause=f"Its last words:\n{self.last_words(lines=8)}")

    def elsewhere(self, *, last: bool = False) -> Self:
        """Return the same location with another port, if a taken port is why the server ended.

        Raises:
            RehearsalError: It is not, or this was the ``last`` attempt.
        """
        if last or _TAKEN not in self.last_words(lines=200):
            raise self.did_not_start()
        self.output.unlink()
        return replace(self, port=free_port())

    def make_folders(self) -> None:
        """Create the folders required before the server starts."""
        self.data.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(exist_ok=True)


def install_broker(
    place: Installation,
    *,
    kafka: str,
    broker: int,
    zookeeper: str,
    settings: Mapping[str, str],
    logging: Mapping[str, str],
) -> None:
    """Write ``server.properties`` and ``log4j.properties`` of a broker.

    Args:
        place: Location.
        kafka: Version.
        broker: Broker id.
        zookeeper: ``zookeeper.connect``, including the chroot.
        settings: Override a rehearsal's own settings.
        logging: log4j properties that override those of the release.
    """
    place.make_folders()
    own = {
        "broker.id": str(broker),
        "listeners": f"PLAINTEXT://{HOST}:{place.port}",
        "log.dirs": str(place.data),
        "zookeeper.connect": zookeeper,
    }
    _write(place.properties, {**own, **SMALL_BROKER, **_ZOOKEEPER_MODE, **_safe_elections(kafka), **settings})
    _write_logging(place, kafka=kafka, logging=logging)


def install_node(place: Installation, *, kafka: str, settings: Mapping[str, str]) -> None:
    """Write ``server.properties`` and ``log4j.properties`` of a node in KRaft mode.

    Args:
        place: Location.
        kafka: Version.
        settings: All its settings.
    """
    place.make_folders()
    _write(place.properties, settings)
    moved = _MOVED if KafkaVersion.parse(kafka) >= KafkaVersion.parse("4.0.0") else {}
    _write_logging(place, kafka=kafka, logging=moved)


def install_zookeeper(place: Installation) -> None:
    """Write ``zoo.cfg`` and ``log4j.properties`` of the ZooKeeper server."""
    place.make_folders()
    own = {"dataDir": str(place.data), "clientPort": str(place.port), "clientPortAddress": HOST}
    _write(place.properties, {**own, **_ZOOKEEPER})
    logging = {
        "log4j.rootLogger": "INFO, stdout",
        "log4j.appender.stdout": "org.apache.log4j.ConsoleAppender",
        "log4j.appender.stdout.layout": "org.apache.log4j.PatternLayout",
        "log4j.appender.stdout.layout.ConversionPattern": "[%d] %p %m (%c)%n",
    }
    _write(place.home / "log4j.properties", logging | _NO_ENVIRONMENT)


def install_consumer(place: Installation, *, group: str) -> None:
    """Write ``consumer.properties`` and ``log4j.properties`` of a console consumer."""
    place.make_folders()
    settings = {"group.id": group, "client.id": group, "auto.commit.interval.ms": "200", "session.timeout.ms": "10000"}
    _write(place.home / _CONSUMER, settings)
    logging = {
        "log4j.rootLogger": "INFO, file",
        "log4j.appender.file": "org.apache.log4j.FileAppender",
        "log4j.appender.file.File": str(place.logs / "consumer.log"),
        "log4j.appender.file.layout": "org.apache.log4j.PatternLayout",
        "log4j.appender.file.layout.ConversionPattern": "[%d] %p %m (%c)%n",
    }
    _write(place.home / "log4j.properties", logging)


def consumer_arguments(place: Installation, *, kafka: str, bootstrap: str, topic: str) -> list[str]:
    """Return a console consumer's arguments; up to 0.10.0 it needs an option for the new consumer."""
    new = ["--new-consumer"] if KafkaVersion.parse(kafka) < KafkaVersion.parse("0.10.1.0") else []
    told = ["--bootstrap-server", bootstrap, "--topic", topic, "--from-beginning"]
    return [*new, *told, "--consumer.config", str(place.home / _CONSUMER)]


def command(
    place: Installation, *, jars: Sequence[Path], options: Sequence[str] = (), main: str = "", arguments: Sequence[str] = ()
) -> list[str]:
    """Return the command of the server at ``place``, or of another program there; these Java options have precedence."""
    zookeeper = place.name == "zookeeper"
    server = "org.apache.zookeeper.server.quorum.QuorumPeerMain" if zookeeper else "kafka.Kafka"
    return [
        java(),
        *LIGHT,
        *_OPEN,
        "-Xmx128m" if zookeeper else "-Xmx256m",
        "-Dzookeeper.preAllocSize=4096",  # kilobytes; the default is 64 MB a file
        "-Duser.timezone=UTC",
        f"-Dkafka.logs.dir={place.logs}",
        f"-Dlog4j.configuration=file:{place.home / 'log4j.properties'}",
        *class_archive.options(jars),
        *options,
        *("-cp", ":".join(map(str, jars))),
        *((main, *arguments) if main else (server, str(place.properties))),
    ]


def _safe_elections(kafka: str) -> dict[str, str]:
    """Up to 0.10.2 unclean elections are enabled by default, and an informed operator disables them."""
    return {"unclean.leader.election.enable": "false"} if KafkaVersion.parse(kafka) < KafkaVersion.parse("0.11.0.0") else {}


def _write_logging(place: Installation, *, kafka: str, logging: Mapping[str, str]) -> None:
    added = {**_NO_ENVIRONMENT, **logging}  # the last value of a duplicate key counts
    (place.home / "log4j.properties").write_text(_logging(kafka) + _lines(added))


def _logging(kafka: str) -> str:
    """Return the log4j configuration of the latest available distribution that is not newer."""
    at_hand = {KafkaVersion.parse(file.name.removesuffix(".properties")): file for file in _LOG4J.iterdir()}
    return at_hand[max(version for version in at_hand if version <= KafkaVersion.parse(kafka))].read_text()


def prints_more(kafka: str) -> bool:
    """Return whether some lines are only on the console: up to 0.10.2 no file has those of the broker's ZooKeeper client."""
    root = next(line for line in _logging(kafka).splitlines() if line.startswith("log4j.rootLogger="))
    return "kafkaAppender" not in root


def _write(path: Path, settings: Mapping[str, str]) -> None:
    path.write_text(_lines(settings))


def _lines(settings: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in settings.items())
