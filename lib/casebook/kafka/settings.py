"""Effective settings with their origins.

Order: topic override, dynamic setting of the broker, dynamic cluster default, ``server.properties`` or the settings that the
broker logged at start, the release's built-in default (``core/src/main/scala/kafka/server/DynamicBrokerConfig.scala@2.8.2``;
dynamic settings exist from 1.1).
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, lru_cache

from casebook.facts.cluster import Cluster
from casebook.kafka.defaults import DEFAULTS, NEVER, READ_ONLY_BROKER_SETTINGS, SETTING_BEFORE, SETTING_SINCE
from casebook.kafka.releases import DYNAMIC_BROKER_SETTINGS, KafkaVersion, VersionInUse

TOPIC = "topic override"
DYNAMIC_BROKER = "dynamic broker setting"
DYNAMIC_DEFAULT = "dynamic cluster default"
SERVER_PROPERTIES = "server.properties"
PRINTED = "printed by the broker at its start"
ANSWERED = "server.properties, as the broker answers"
BUILT_IN = "built-in default"
BUILT_IN_ASSUMED = "built-in default, as server.properties was not collected"
BUILT_IN_OF_SOME = "built-in default of some releases; the running release is unknown"
REGISTERED = "registration of the broker"
INFERRED = "inferred: an election it allows was not held"
UNREAD = "controllers of KRaft before 3.9 do not read the setting"
UNREADABLE = "unknown: its settings could not be read"

_MINUTE = 60_000
OF_TOPICS: dict[str, tuple[tuple[str, int], ...]] = {
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "message.format.version": (("log.message.format.version", 1),),
    "retention.ms": (("log.retention.ms", 1), ("log.retention.minutes", _MINUTE), ("log.retention.hours", 60 * _MINUTE)),
}
"""Broker settings that apply to topics without an override.

Broker names in order of precedence, with the factor to the topic's unit (``LogConfig.scala@0.9.0.1`` with
``KafkaConfig.scala@0.9.0.1`` (getLogRetentionTimeMillis, logFlushIntervalMs), ``ServerTopicConfigSynonyms.java@3.8.0``).
"""


_TAKEN_BY = {
    "log.retention.minutes": "log.retention.ms",
    "log.retention.hours": "log.retention.ms",
    "log.flush.scheduler.interval.ms": "log.flush.interval.ms",
}
"""When the one is set dynamically, a broker ignores its file's value for the other (``DynamicBrokerConfig.scala@1.1.1, 2.8.2,
3.8.0``, ``overrideProps``)."""


@dataclass(frozen=True)
class Setting:
    """The effective value of a setting of a topic, a broker or a client, and where it comes from.

    Args:
        value: As written; ``None`` when unknown, empty when not set.
        origin: One of this module's origins; of a client its line, the default, or why it is unknown.
        name: Display name next to others.
        key: Broker name of the setting, when it differs from the requested one.
        default_of: Of a built-in default of brokers, the release whose it is.
        proof: ``path:line`` of a client's file; empty for a default.
        possible: Possible values when unknown.
    """

    value: str | None
    origin: str
    _: KW_ONLY
    name: str = ""
    key: str = ""
    default_of: str = ""
    proof: str = ""
    possible: tuple[str, ...] = ()

    @cached_property
    def number(self) -> int | None:
        """The value as a number of brokers; ``None`` when unknown or invalid for Kafka."""
        text = (self.value or "").strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 and int(text) else None

    @cached_property
    def flag(self) -> bool | None:
        """The value as true or false; ``None`` when unknown or neither."""
        return {"true": True, "false": False}.get((self.value or "").strip().lower())

    @cached_property
    def whole(self) -> int | None:
        """The value as an integer of any size; ``None`` when unknown, not set, or not an integer."""
        text = (self.value or "").strip()
        return int(text) if text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 20 else None

    @property
    def real(self) -> float | None:
        """The value as a number; ``None`` when unknown, not set, or none."""
        try:
            return float(self.value) if self.value else None
        except ValueError:
            return None

    @property
    def assumed(self) -> bool:
        """Whether the value is assumed, so that conclusions are only possible."""
        return self.origin == BUILT_IN_ASSUMED

    @property
    def never(self) -> bool:
        """Whether it is an interval that never elapses."""
        return self.value is not None and self.value.strip() == NEVER


_UNREADABLE = Setting(None, UNREADABLE)


@lru_cache
def _override(value: str) -> Setting:
    return Setting(value, TOPIC)


class Settings:
    """Effective settings of one cluster, cached: most topics have no overrides.

    Args:
        cluster: Facts of the cluster.
        version: Release of the built-in defaults.
        in_use: Origin of that release, to handle possible others.
    """

    def __init__(self, cluster: Cluster, version: KafkaVersion, in_use: VersionInUse | None = None) -> None:
        self._cluster, self._version, self._in_use = cluster, version, in_use
        self._overrides, self._unreadable = cluster.topic_configs, cluster.unreadable_configs
        self._has_dynamic = DYNAMIC_BROKER_SETTINGS.at(version)
        self._started_with, self._in_full = cluster.started_with, cluster.known_in_full
        self._of_brokers: dict[tuple[str, int | None], Setting] = {}
        self._below_topics: dict[tuple[str, int | None], tuple[Setting, ...]] = {}

    def effective(self, key: str, *, topic: str, broker: int | None) -> Setting:
        """Return the effective value for a topic on a broker.

        Args:
            key: A setting with the same name for topics and brokers.
            topic: Topic name.
            broker: Broker whose own settings apply: the leader, or the controller for elections; ``None`` for none.
        """
        overrides, unreadable = self._overrides.get(topic), self._unreadable
        if overrides and key in overrides:
            return _override(overrides[key])
        if unreadable and ("topics" in unreadable or f"topics/{topic}" in unreadable):
            return _UNREADABLE
        return self.of_broker(key, broker)

    def layers_of_topic(self, key: str, *, topic: str, broker: int | None) -> tuple[Setting, ...]:
        """Return all layers of a setting for a topic on a broker: the first one applies.

        Args:
            key: One of :data:`OF_TOPICS`.
            topic: Topic name.
            broker: As in :meth:`effective`.
        """
        own = self._overrides.get(topic, {}).get(key)
        if own is None and not self._unreadable.isdisjoint({"topics", f"topics/{topic}"}):
            return (_UNREADABLE,)
        below = self.layers_below_topics(key, broker)
        return below if own is None else (Setting(own, TOPIC), *below)

    def layers_below_topics(self, key: str, broker: int | None) -> tuple[Setting, ...]:
        """Return all layers on a broker for topics without ``key``, one of :data:`OF_TOPICS`; the first one applies."""
        found = self._below_topics.get((key, broker))
        if found is None:
            found = self._below_topics[key, broker] = tuple(
                _in_unit(layer, factor, "" if name == key else name)
                for name, factor in OF_TOPICS[key]
                for layer in self.layers(name, broker)
                if layer.value != ""
            )
        return found

    def of_topic(self, key: str, *, topic: str, broker: int | None) -> Setting:
        """Return the effective value: the first of :meth:`layers_of_topic`."""
        return self.layers_of_topic(key, topic=topic, broker=broker)[0]

    def known(self, key: str) -> bool:
        """Whether this release has the broker setting."""
        since, before = SETTING_SINCE.get(key), SETTING_BEFORE.get(key)
        return not (
            (since and self._version < KafkaVersion.parse(since)) or (before and self._version >= KafkaVersion.parse(before))
        )

    def layers(self, key: str, broker: int | None) -> list[Setting]:
        """Return all layers of a setting on a broker: the first one applies, the last is the built-in default."""
        return list(self._layers(key, broker))

    def of_broker(self, key: str, broker: int | None) -> Setting:
        """Return the effective value on a broker without topic overrides; arguments as in :meth:`effective`."""
        found = self._of_brokers.get((key, broker))
        if found is None:
            found = self._of_brokers[key, broker] = next(self._layers(key, broker))
        return found

    def _layers(self, key: str, broker: int | None) -> Iterator[Setting]:
        if key == "broker.rack" and (rack := self._registered_rack(broker)) is not None:
            yield Setting(rack, REGISTERED)
        if self._has_dynamic and key not in READ_ONLY_BROKER_SETTINGS:
            yield from self._dynamic(key, broker)
        taken = self._has_dynamic and key in _TAKEN_BY and next(self._dynamic(_TAKEN_BY[key], broker), None) is not None
        yield from list(self._static(key, broker))[-1:] if taken else self._static(key, broker)

    def _registered_rack(self, broker: int | None) -> str | None:
        """Rack in a live broker's registration, when its file does not have the same."""
        if broker not in self._cluster.brokers:
            return None
        rack, collected = self._cluster.brokers[broker].rack, self._started_with.get(broker, {})
        return rack if rack is not None and collected.get("broker.rack", "").strip() != rack else None

    def _dynamic(self, key: str, broker: int | None) -> Iterator[Setting]:
        """Yield the dynamic values, or what the broker logged when these are unreadable.

        Rule: a broker logs all settings again on each dynamic change (``DynamicBrokerConfig.scala@1.1.1, 3.9.0``,
        ``processReconfiguration``).
        """
        printed = self._of_all(key, broker) in self._cluster.printed_settings
        for entity, origin in ((str(broker), DYNAMIC_BROKER), ("<default>", DYNAMIC_DEFAULT)):
            if (value := self._cluster.broker_configs.get(entity, {}).get(key)) is not None:
                yield Setting(value, origin)
            elif not printed and not self._unreadable.isdisjoint({"brokers", f"brokers/{entity}"}):
                yield _UNREADABLE

    def _of_all(self, key: str, broker: int | None) -> int | None:
        """Any broker with known settings, when all agree and the choice does not matter."""
        if broker is None and len({told.get(key) for told in self._started_with.values()}) == 1:
            return next(iter(self._started_with))
        return broker

    def _static(self, key: str, broker: int | None) -> Iterator[Setting]:
        collected, broker = self._started_with, self._of_all(key, broker)
        if broker in collected and key in collected[broker]:
            yield Setting(collected[broker][key], self._origin_at_start(key, broker))
        yield Setting(
            value=str(DEFAULTS[key].at(self._version)),
            origin=BUILT_IN_ASSUMED if broker not in self._in_full else BUILT_IN_OF_SOME if self._may_differ(key) else BUILT_IN,
            default_of=str(self._version),
        )

    def _origin_at_start(self, key: str, broker: int) -> str:
        if broker in self._cluster.server_properties:
            return SERVER_PROPERTIES
        told = self._cluster.printed_settings[broker]
        if not told.is_answer:
            return PRINTED
        return BUILT_IN if key in told.defaults else ANSWERED

    def _may_differ(self, key: str) -> bool:
        """Whether the default differs among the possible releases."""
        changes = (KafkaVersion.parse(since) for since, _ in DEFAULTS[key].values[1:])
        return self._in_use is not None and any(map(self._in_use.may_be_before, changes))


def _in_unit(layer: Setting, factor: int, key: str) -> Setting:
    """Convert a broker's setting to the topic's unit; a negative time means no limit (``KafkaConfig.scala@2.8.2``)."""
    value = layer.value
    if factor != 1 and layer.whole is not None:
        value = str(layer.whole * factor if layer.whole >= 0 else -1)
    return replace(layer, value=value, key=key)
