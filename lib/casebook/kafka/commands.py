"""Commands of a maintenance in the syntax of a Kafka release. They are printed, never run."""

import shlex
from typing import NamedTuple

from casebook.kafka import releases
from casebook.kafka.releases import KafkaVersion

EVERYBODY = "<default>"
"""Name of the znode below ``/config/brokers`` with the settings of all brokers."""

_REASSIGN, _TOPICS, _CONFIGS = "kafka-reassign-partitions.sh", "kafka-topics.sh", "kafka-configs.sh"


class Commands(NamedTuple):
    """Commands for a cluster; ``HOST`` stands for one of its hosts.

    Args:
        version: Kafka release of the tools.
        connect: ZooKeeper servers with chroot, from :attr:`casebook.facts.cluster.Cluster.connect`.
    """

    version: KafkaVersion
    connect: str = "HOST:2181"

    @property
    def throttles(self) -> bool:
        """Whether this release can throttle a reassignment."""
        return bool(releases.REASSIGNMENT_THROTTLE.at(self.version))

    @property
    def adds(self) -> bool:
        """Whether this release accepts a reassignment while another runs."""
        return bool(releases.REASSIGNMENT_ADDITIONAL.at(self.version))

    def execute(self, file: str, *, throttle: int | None = None, additional: bool = False) -> str:
        """Start a reassignment.

        Args:
            throttle: Bytes per second; omitted in releases without throttles.
            additional: Another reassignment is running; omitted in releases that do not accept it.
        """
        limit = f" --throttle {throttle}" if throttle and self.throttles else ""
        beside = " --additional" if additional and self.adds else ""
        return f"{self._tool(_REASSIGN)} --reassignment-json-file {file} --execute{limit}{beside}"

    def verify(self, file: str) -> str:
        """Check whether a reassignment is complete; if so, this removes its throttle."""
        return f"{self._tool(_REASSIGN)} --reassignment-json-file {file} --verify"

    def elect(self, file: str = "") -> str:
        """Run the preferred leader election, for the partitions of a file or for all."""
        tool = str(releases.PREFERRED_ELECTION_TOOL.at(self.version))
        if tool in releases.TOOL_ASKS:
            return self._tool(tool) + (f" --path-to-json-file {file}" if file else "")
        which = f"--path-to-json-file {file}" if file else "--all-topic-partitions"
        return f"bin/{tool} --bootstrap-server HOST:9092 --election-type preferred {which}"

    def under_replicated(self) -> str:
        """List under-replicated partitions."""
        return f"{self._tool(_TOPICS)} --describe --under-replicated-partitions"

    def set(self, kind: str, name: str, setting: str) -> str:
        """Set a configuration.

        Args:
            kind: ``topics`` or ``brokers``.
            name: Topic or broker.
            setting: Key and value, ``key=value``.
        """
        return f"{self._tool(_CONFIGS)} --entity-type {kind} --entity-name {shlex.quote(name)} --alter --add-config {setting}"

    def unset(self, kind: str, name: str, key: str) -> str:
        """Delete a configuration.

        Args:
            kind: ``topics`` or ``brokers``.
            name: Topic, broker, or :data:`EVERYBODY`.
        """
        whom = "--entity-default" if name == EVERYBODY else f"--entity-name {shlex.quote(name)}"
        return f"{self._tool(_CONFIGS)} --entity-type {kind} {whom} --alter --delete-config {key}"

    def _tool(self, tool: str) -> str:
        by_brokers = releases.TOOL_ASKS[tool].at(self.version) == "brokers"
        return f"bin/{tool} {'--bootstrap-server HOST:9092' if by_brokers else f'--zookeeper {shlex.quote(self.connect)}'}"
