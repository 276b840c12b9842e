"""The commands of a maintenance, as the tools of a Kafka release take them. They are printed, never run."""

import shlex
from typing import NamedTuple

from casebook.kafka import releases
from casebook.kafka.releases import KafkaVersion

EVERYBODY = "<default>"
"""Name of the znode below ``/config/brokers`` whose settings are for all of them."""

_REASSIGN, _TOPICS, _CONFIGS = "kafka-reassign-partitions.sh", "kafka-topics.sh", "kafka-configs.sh"


class Commands(NamedTuple):
    """What to type on a cluster; ``HOST`` stands for one of its own.

    Args:
        version: Whose tools.
        connect: Its ZooKeeper with the chroot, as :attr:`casebook.facts.cluster.Cluster.connect` tells.
    """

    version: KafkaVersion
    connect: str = "HOST:2181"

    @property
    def throttles(self) -> bool:
        """Whether this release can throttle a reassignment."""
        return bool(releases.REASSIGNMENT_THROTTLE.at(self.version))

    @property
    def adds(self) -> bool:
        """Whether this release takes a reassignment while another runs."""
        return bool(releases.REASSIGNMENT_ADDITIONAL.at(self.version))

    def execute(self, file: str, *, throttle: int | None = None, additional: bool = False) -> str:
        """Begin a reassignment.

        Args:
            throttle: Bytes a second; left out where the release has none.
            additional: While another runs; left out where the release does not take that.
        """
        limit = f" --throttle {throttle}" if throttle and self.throttles else ""
        beside = " --additional" if additional and self.adds else ""
        return f"{self._tool(_REASSIGN)} --reassignment-json-file {file} --execute{limit}{beside}"

    def verify(self, file: str) -> str:
        """Ask whether a reassignment has ended; once it has, this takes its throttle off."""
        return f"{self._tool(_REASSIGN)} --reassignment-json-file {file} --verify"

    def elect(self, file: str = "") -> str:
        """Hold the preferred leader election, of the partitions of a file or of all."""
        tool = str(releases.PREFERRED_ELECTION_TOOL.at(self.version))
        if tool in releases.TOOL_ASKS:
            return self._tool(tool) + (f" --path-to-json-file {file}" if file else "")
        which = f"--path-to-json-file {file}" if file else "--all-topic-partitions"
        return f"bin/{tool} --bootstrap-server HOST:9092 --election-type preferred {which}"

    def under_replicated(self) -> str:
        """List what is not back in sync."""
        return f"{self._tool(_TOPICS)} --describe --under-replicated-partitions"

    def set(self, kind: str, name: str, setting: str) -> str:
        """Put a setting on.

        Args:
            kind: ``topics`` or ``brokers``.
            name: Of the topic or broker.
            setting: Key and value, ``key=value``.
        """
        return f"{self._tool(_CONFIGS)} --entity-type {kind} --entity-name {shlex.quote(name)} --alter --add-config {setting}"

    def unset(self, kind: str, name: str, key: str) -> str:
        """Take a setting off.

        Args:
            kind: ``topics`` or ``brokers``.
            name: Of the topic or broker, or :data:`EVERYBODY`.
        """
        whom = "--entity-default" if name == EVERYBODY else f"--entity-name {shlex.quote(name)}"
        return f"{self._tool(_CONFIGS)} --entity-type {kind} {whom} --alter --delete-config {key}"

    def _tool(self, tool: str) -> str:
        by_brokers = releases.TOOL_ASKS[tool].at(self.version) == "brokers"
        return f"bin/{tool} {'--bootstrap-server HOST:9092' if by_brokers else f'--zookeeper {shlex.quote(self.connect)}'}"
