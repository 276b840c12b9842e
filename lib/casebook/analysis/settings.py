"""Effective settings and where each comes from.

Order: topic override, dynamic setting of the broker, dynamic cluster default, ``server.properties``, the release's
built-in default (``core/src/main/scala/kafka/server/DynamicBrokerConfig.scala@2.8.2``; dynamic settings exist from 1.1).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from casebook.facts import Cluster
from casebook.versions import DEFAULTS, DYNAMIC_BROKER_SETTINGS, KafkaVersion

TOPIC = "topic override"
DYNAMIC_BROKER = "dynamic broker setting"
DYNAMIC_DEFAULT = "dynamic cluster default"
SERVER_PROPERTIES = "server.properties"
BUILT_IN = "built-in default"
BUILT_IN_ASSUMED = "built-in default (server.properties not collected)"
INFERRED = "inferred: an election it allows was not held"
UNREADABLE = "unknown: its settings could not be read"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An effective value and its origin.

    Args:
        value: As written; ``None`` when unknown.
        origin: One of this module's origins.
    """

    value: str | None
    origin: str

    @cached_property
    def number(self) -> int | None:
        """The value as a count of brokers; ``None`` when unknown or none that Kafka would take."""
        text = (self.value or "").strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 and int(text) else None

    @cached_property
    def flag(self) -> bool | None:
        """The value as true or false; ``None`` when unknown or neither."""
        return {"true": True, "false": False}.get((self.value or "").strip().lower())


_UNREADABLE = Setting(value=None, origin=UNREADABLE)


@lru_cache
def _override(value: str) -> Setting:
    return Setting(value=value, origin=TOPIC)


class Settings:
    """Effective settings of one cluster. Answers are remembered: most topics have no overrides.

    Args:
        cluster: The facts.
        version: Whose built-in defaults count.
    """

    def __init__(self, cluster: Cluster, version: KafkaVersion) -> None:
        self._cluster, self._version = cluster, version
        self._overrides, self._unreadable = cluster.topic_configs, cluster.unreadable_configs
        self._has_dynamic = DYNAMIC_BROKER_SETTINGS.at(version)
        self._of_brokers: dict[tuple[str, int | None], Setting] = {}

    def effective(self, key: str, *, topic: str, broker: int | None) -> Setting:
        """The value that counts for a topic on a broker.

        Args:
            key: A setting that topics and brokers share under one name.
            topic: Topic name.
            broker: The broker whose own settings count: the leader, or the controller for elections; ``None`` when there is none.
        """
        unreadable = self._unreadable
        if unreadable and ("topics" in unreadable or f"topics/{topic}" in unreadable):
            return _UNREADABLE
        overrides = self._overrides.get(topic)
        if overrides and key in overrides:
            return _override(overrides[key])
        return self.of_broker(key, broker)

    def of_broker(self, key: str, broker: int | None) -> Setting:
        """The value that counts on a broker where no topic overrides it; the arguments are those of :meth:`effective`."""
        found = self._of_brokers.get((key, broker))
        if found is None:
            found = self._of_brokers[key, broker] = self._of_broker(key, broker)
        return found

    def _of_broker(self, key: str, broker: int | None) -> Setting:
        return (self._dynamic(key, broker) if self._has_dynamic else None) or self._static(key, broker)

    def _dynamic(self, key: str, broker: int | None) -> Setting | None:
        for entity, origin in ((str(broker), DYNAMIC_BROKER), ("<default>", DYNAMIC_DEFAULT)):
            if not self._unreadable.isdisjoint({"brokers", f"brokers/{entity}"}):
                return _UNREADABLE
            if (value := self._cluster.broker_configs.get(entity, {}).get(key)) is not None:
                return Setting(value=value, origin=origin)
        return None

    def _static(self, key: str, broker: int | None) -> Setting:
        collected = self._cluster.server_properties
        if broker is None and len({properties.get(key) for properties in collected.values()}) == 1:
            broker = next(iter(collected))  # all collected brokers agree, so it does not matter which one counts
        if broker in collected and key in collected[broker]:
            return Setting(value=collected[broker][key], origin=SERVER_PROPERTIES)
        return Setting(value=str(DEFAULTS[key].at(self._version)), origin=BUILT_IN if broker in collected else BUILT_IN_ASSUMED)
