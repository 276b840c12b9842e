"""Effective settings and where each comes from.

Order: topic override, dynamic setting of the broker, dynamic cluster default, ``server.properties`` or what the broker printed
of its settings when it started, the release's built-in default
(``core/src/main/scala/kafka/server/DynamicBrokerConfig.scala@2.8.2``; dynamic settings exist from 1.1).
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
BUILT_IN = "built-in default"
BUILT_IN_ASSUMED = "built-in default, as server.properties was not collected"
BUILT_IN_OF_SOME = "built-in default of some releases; the running release is unknown"
REGISTERED = "registration in ZooKeeper"
INFERRED = "inferred: an election it allows was not held"
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
"""What counts where a topic does not say: the names that brokers have for it, the strongest first, and the factor to the
topic's unit (``LogConfig.scala@0.9.0.1`` with ``KafkaConfig.scala@0.9.0.1`` (getLogRetentionTimeMillis, logFlushIntervalMs),
``ServerTopicConfigSynonyms.java@3.8.0``)."""


_TAKEN_BY = {
    "log.retention.minutes": "log.retention.ms",
    "log.retention.hours": "log.retention.ms",
    "log.flush.scheduler.interval.ms": "log.flush.interval.ms",
}
"""Where the one is set dynamically, a broker forgets what its file says of the other
(``DynamicBrokerConfig.scala@1.1.1, 2.8.2, 3.8.0``, ``overrideProps``)."""


@dataclass(frozen=True)
class Setting:
    """The effective value of a setting of a topic, a broker or a client, and where it comes from.

    Args:
        value: As written; ``None`` when unknown, empty when not set.
        origin: One of this module's origins; of a client its line, the default, or why it is unknown.
        name: What it is called where it is shown beside others.
        key: The broker's name for it, where it came by another than the one that was asked for.
        default_of: Of a built-in default of brokers, the release whose it is.
        proof: ``path:line`` of a client's file; empty for a default.
        possible: What it may be, where it is not known.
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
        """The value as a count of brokers; ``None`` when unknown or none that Kafka would take."""
        text = (self.value or "").strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 and int(text) else None

    @cached_property
    def flag(self) -> bool | None:
        """The value as true or false; ``None`` when unknown or neither."""
        return {"true": True, "false": False}.get((self.value or "").strip().lower())

    @cached_property
    def whole(self) -> int | None:
        """The value as a whole number of any size; ``None`` when unknown, not set, or no number."""
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
        """Whether nobody has read it: what follows from it is a possibility."""
        return self.origin == BUILT_IN_ASSUMED

    @property
    def never(self) -> bool:
        """Whether it is an interval that is never reached."""
        return self.value is not None and self.value.strip() == NEVER


_UNREADABLE = Setting(None, UNREADABLE)


@lru_cache
def _override(value: str) -> Setting:
    return Setting(value, TOPIC)


class Settings:
    """Effective settings of one cluster. Answers are remembered: most topics have no overrides.

    Args:
        cluster: The facts.
        version: Whose built-in defaults count.
        in_use: How that is known, where it matters that it may be another.
    """

    def __init__(self, cluster: Cluster, version: KafkaVersion, in_use: VersionInUse | None = None) -> None:
        self._cluster, self._version, self._in_use = cluster, version, in_use
        self._overrides, self._unreadable = cluster.topic_configs, cluster.unreadable_configs
        self._has_dynamic = DYNAMIC_BROKER_SETTINGS.at(version)
        self._started_with, self._in_full = cluster.started_with, cluster.known_in_full
        self._of_brokers: dict[tuple[str, int | None], Setting] = {}

    def effective(self, key: str, *, topic: str, broker: int | None) -> Setting:
        """The value that counts for a topic on a broker.

        Args:
            key: A setting that topics and brokers share under one name.
            topic: Topic name.
            broker: The broker whose own settings count: the leader, or the controller for elections; ``None`` when there is none.
        """
        overrides, unreadable = self._overrides.get(topic), self._unreadable
        if overrides and key in overrides:
            return _override(overrides[key])
        if unreadable and ("topics" in unreadable or f"topics/{topic}" in unreadable):
            return _UNREADABLE
        return self.of_broker(key, broker)

    def layers_of_topic(self, key: str, *, topic: str, broker: int | None) -> list[Setting]:
        """What is set for a topic on a broker, and what it hides: the first one counts.

        Args:
            key: One of :data:`OF_TOPICS`.
            topic: Topic name.
            broker: As in :meth:`effective`.
        """
        own = self._overrides.get(topic, {}).get(key)
        if own is None and not self._unreadable.isdisjoint({"topics", f"topics/{topic}"}):
            return [_UNREADABLE]
        below = self.layers_below_topics(key, broker)
        return below if own is None else [Setting(own, TOPIC), *below]

    def layers_below_topics(self, key: str, broker: int | None) -> list[Setting]:
        """What counts on a broker for topics that do not set ``key``, and what it hides; one of :data:`OF_TOPICS`."""
        found = []
        for name, factor in OF_TOPICS[key]:
            for layer in self.layers(name, broker):
                if layer.value != "":
                    found.append(_in_unit(layer, factor, "" if name == key else name))
        return found

    def of_topic(self, key: str, *, topic: str, broker: int | None) -> Setting:
        """The first of :meth:`layers_of_topic`: the value that counts."""
        return self.layers_of_topic(key, topic=topic, broker=broker)[0]

    def known(self, key: str) -> bool:
        """Whether this release has the setting of brokers at all."""
        since, before = SETTING_SINCE.get(key), SETTING_BEFORE.get(key)
        return not (
            (since and self._version < KafkaVersion.parse(since)) or (before and self._version >= KafkaVersion.parse(before))
        )

    def layers(self, key: str, broker: int | None) -> list[Setting]:
        """What is set on a broker, and what it hides: the first one counts, the last is the built-in default."""
        return list(self._layers(key, broker))

    def of_broker(self, key: str, broker: int | None) -> Setting:
        """The value that counts on a broker where no topic overrides it; the arguments are those of :meth:`effective`."""
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
        """The rack that a living broker registered with, where its file does not say the same."""
        if broker not in self._cluster.brokers:
            return None
        rack, collected = self._cluster.brokers[broker].rack, self._started_with.get(broker, {})
        return rack if rack is not None and collected.get("broker.rack", "").strip() != rack else None

    def _dynamic(self, key: str, broker: int | None) -> Iterator[Setting]:
        """Rule: a broker prints its settings anew with each dynamic one that changes (``DynamicBrokerConfig.scala@1.1.1, 3.9.0``,
        ``processReconfiguration``): where these cannot be read, what it printed last tells them.
        """
        printed = self._of_all(key, broker) in self._cluster.printed_settings
        for entity, origin in ((str(broker), DYNAMIC_BROKER), ("<default>", DYNAMIC_DEFAULT)):
            if (value := self._cluster.broker_configs.get(entity, {}).get(key)) is not None:
                yield Setting(value, origin)
            elif not printed and not self._unreadable.isdisjoint({"brokers", f"brokers/{entity}"}):
                yield _UNREADABLE

    def _of_all(self, key: str, broker: int | None) -> int | None:
        """Any of the brokers whose settings are known, where it does not matter which one counts, as they agree."""
        if broker is None and len({told.get(key) for told in self._started_with.values()}) == 1:
            return next(iter(self._started_with))
        return broker

    def _static(self, key: str, broker: int | None) -> Iterator[Setting]:
        collected, broker = self._started_with, self._of_all(key, broker)
        if broker in collected and key in collected[broker]:
            origin = SERVER_PROPERTIES if broker in self._cluster.server_properties else PRINTED
            yield Setting(collected[broker][key], origin)
        yield Setting(
            value=str(DEFAULTS[key].at(self._version)),
            origin=BUILT_IN_ASSUMED if broker not in self._in_full else BUILT_IN_OF_SOME if self._may_differ(key) else BUILT_IN,
            default_of=str(self._version),
        )

    def _may_differ(self, key: str) -> bool:
        """Whether the default changed between releases that may be the one."""
        changes = (KafkaVersion.parse(since) for since, _ in DEFAULTS[key].values[1:])
        return self._in_use is not None and any(map(self._in_use.may_be_before, changes))


def _in_unit(layer: Setting, factor: int, key: str) -> Setting:
    """A broker's setting in the topic's unit; a negative time means no limit (``KafkaConfig.scala@2.8.2``)."""
    value = layer.value
    if factor != 1 and layer.whole is not None:
        value = str(layer.whole * factor if layer.whole >= 0 else -1)
    return replace(layer, value=value, key=key)
