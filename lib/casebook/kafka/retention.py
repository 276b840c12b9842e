"""Settings of the offsets topic: effective value and origin of each."""

from dataclasses import dataclass, replace

from casebook.facts.cluster import Cluster
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka import cleaner_map
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import TOPIC, UNREADABLE, Setting, Settings

AS_CREATED = "as the broker creates the topic (its own settings not collected)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanerSettings:
    """Settings of a broker for cleaning."""

    policy: Setting
    enabled: Setting
    threads: Setting
    buffer: Setting
    load_factor: Setting
    ratio: Setting
    lag: Setting
    delete_retention: Setting

    @property
    def holds(self) -> int | None:
        """Number of keys that fit in a thread's map."""
        buffer, threads, load = self.buffer.whole, self.threads.whole, self.load_factor.real
        return cleaner_map.map_holds(buffer, threads, load) if buffer and threads and load else None

    @property
    def holds_assumed(self) -> bool:
        """Whether the size of that map comes from an assumed default."""
        return any(value.assumed for value in (self.buffer, self.threads, self.load_factor))


class TopicSettings:
    """Effective settings for the offsets topic.

    Args:
        cluster: Topic and broker settings, as far as collected.
        version: Release of the defaults.
    """

    def __init__(self, cluster: Cluster, version: KafkaVersion) -> None:
        self._overrides = cluster.topic_configs.get(OFFSETS_TOPIC, {})
        self._unreadable = not cluster.unreadable_configs.isdisjoint({"topics", f"topics/{OFFSETS_TOPIC}"})
        listed = bool(cluster.topic_configs) or "/config/topics" in cluster.there
        self._collected = listed and OFFSETS_TOPIC in cluster.topics
        self._settings = Settings(cluster, version)

    def of_topic(self, key: str, broker_key: str, broker: int | None, *, created: str | None = None) -> Setting:
        """A setting that the topic may override.

        Args:
            key: Topic name of the setting.
            broker_key: Broker name of the setting.
            created: Value that the broker sets when it creates the topic, for cases without the topic's settings.
        """
        if key in self._overrides:
            return Setting(self._overrides[key], TOPIC, name=key)
        if self._unreadable:
            return Setting(None, UNREADABLE, name=key)
        if created is not None and not self._collected:
            return Setting(created, AS_CREATED, name=key)
        return replace(self._settings.of_broker(broker_key, broker), name=key)

    def of_broker(self, key: str, broker: int | None) -> Setting:
        """A setting of the broker alone."""
        return replace(self._settings.of_broker(key, broker), name=key)

    def cleaner(self, broker: int) -> CleanerSettings:
        """Return all settings for cleaning."""
        return CleanerSettings(
            policy=self.of_topic("cleanup.policy", "log.cleanup.policy", broker, created="compact"),
            enabled=self.of_broker("log.cleaner.enable", broker),
            threads=self.of_broker("log.cleaner.threads", broker),
            buffer=self.of_broker("log.cleaner.dedupe.buffer.size", broker),
            load_factor=self.of_broker("log.cleaner.io.buffer.load.factor", broker),
            ratio=self.of_topic("min.cleanable.dirty.ratio", "log.cleaner.min.cleanable.ratio", broker),
            lag=self.of_topic("min.compaction.lag.ms", "log.cleaner.min.compaction.lag.ms", broker),
            delete_retention=self.of_topic("delete.retention.ms", "log.cleaner.delete.retention.ms", broker),
        )

    def segment_bytes(self, broker: int | None) -> Setting:
        """Segment size; ``offsets.topic.segment.bytes`` only applies when the topic is created."""
        created = self._settings.of_broker("offsets.topic.segment.bytes", broker).value
        return self.of_topic("segment.bytes", "log.segment.bytes", broker, created=created)

    def compression(self, broker: int | None) -> Setting:
        """Compression of its batches; ``offsets.topic.compression.codec`` is the coordinator's."""
        return self.of_topic("compression.type", "compression.type", broker, created="producer")

    def retention(self, broker: int | None) -> Setting:
        """Retention of commits, in minutes."""
        return self.of_broker("offsets.retention.minutes", broker)
