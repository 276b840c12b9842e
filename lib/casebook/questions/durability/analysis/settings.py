"""Settings relevant for losses: effective value and origin, for every broker and topic."""

from collections.abc import Iterable, Mapping, Sequence

from casebook.facts.cluster import Cluster
from casebook.kafka.settings import BUILT_IN_ASSUMED, BUILT_IN_OF_SOME, OF_TOPICS, UNREADABLE, Setting, Settings
from casebook.questions.durability.analysis.rows import SettingRow

BROKER_KEYS = (
    "auto.create.topics.enable", "auto.leader.rebalance.enable", "broker.rack", "controlled.shutdown.enable",
    "default.replication.factor", "inter.broker.protocol.version", "log.cleaner.enable", "log.flush.interval.messages",
    "log.flush.interval.ms", "log.flush.scheduler.interval.ms", "log.message.format.version", "log.retention.hours",
    "log.retention.minutes", "log.retention.ms", "min.insync.replicas", "offsets.retention.minutes",
    "offsets.topic.replication.factor", "replica.lag.max.messages", "replica.lag.time.max.ms", "transaction.state.log.min.isr",
    "transaction.state.log.num.partitions", "transaction.state.log.replication.factor", "unclean.leader.election.enable",
    "zookeeper.session.timeout.ms",
)  # fmt: skip
TOPIC_KEYS = tuple(OF_TOPICS)
_ASSUMED = (BUILT_IN_ASSUMED, BUILT_IN_OF_SOME)
_TOPIC_SINCE = {"message.format.version": "log.message.format.version"}


def brokers_of(cluster: Cluster) -> tuple[int, ...]:
    """Return brokers with relevant settings.

    Registered ones, those with replicas that may return, and those with own settings.
    """
    dynamic = {int(entity) for entity in cluster.broker_configs if entity.isascii() and entity.isdigit() and len(entity) < 10}
    assigned = {broker for partition in cluster.partitions for broker in partition.replicas}
    return tuple(sorted({*cluster.live, *assigned, *cluster.started_with, *dynamic}))


def rows(cluster: Cluster, settings: Settings) -> tuple[SettingRow, ...]:
    """Return every listed setting of every broker and topic, brokers first."""
    brokers = brokers_of(cluster)
    return (*_of_brokers(settings, brokers), *_of_topics(cluster, settings, brokers))


def disagreeing(found: Iterable[SettingRow]) -> Mapping[str, Mapping[str | None, tuple[int, ...]]]:
    """Return brokers by value for each known setting in which they differ; except racks."""
    values: dict[str, dict[str | None, list[int]]] = {}
    for row in found:
        if row.entity.startswith("broker ") and row.key != "broker.rack" and row.origin not in (*_ASSUMED, UNREADABLE):
            values.setdefault(row.key, {}).setdefault(row.value, []).extend(row.brokers)
    return {key: {value: tuple(of) for value, of in by.items()} for key, by in values.items() if len(by) > 1}


def _of_brokers(settings: Settings, brokers: Iterable[int]) -> Iterable[SettingRow]:
    keys = [key for key in BROKER_KEYS if settings.known(key)]
    for broker in brokers:
        for key in keys:
            yield _row(f"broker {broker}", key, settings.layers(key, broker), (broker,))


def _of_topics(cluster: Cluster, settings: Settings, brokers: Sequence[int]) -> Iterable[SettingRow]:
    keys = [key for key in TOPIC_KEYS if settings.known(_TOPIC_SINCE.get(key, key))]
    below = {key: _alike({b: settings.layers_below_topics(key, b) for b in brokers or (None,)}) for key in keys}
    special = {entity.partition("/")[2] for entity in cluster.unreadable_configs if entity.startswith("topics/")}
    for topic in sorted(cluster.topics):
        own = cluster.topic_configs.get(topic, {})
        for key in keys:
            if key in own or topic in special or "topics" in cluster.unreadable_configs:
                layers = {b: settings.layers_of_topic(key, topic=topic, broker=b) for b in brokers or (None,)}
                alike = _alike(layers)
            else:
                alike = below[key]
            for of, found in alike:
                yield _row(f"topic {topic}", key, found, of)


def _alike(layers: Mapping[int | None, tuple[Setting, ...]]) -> list[tuple[tuple[int, ...], tuple[Setting, ...]]]:
    """Return groups of brokers with equal layers, in order of the first of each."""
    groups: dict[tuple[Setting, ...], list[int]] = {}
    for broker, found in layers.items():
        groups.setdefault(found, []).extend([] if broker is None else [broker])
    return [(tuple(of), found) for found, of in groups.items()]


def _row(entity: str, key: str, layers: Sequence[Setting], brokers: tuple[int, ...]) -> SettingRow:
    first, *hidden = layers
    return SettingRow(
        entity=entity,
        key=key,
        value=None if first.value is None else first.value.strip(),
        origin=said(first),
        overridden="; ".join(
            f"{said(layer)}: {'?' if layer.value is None else layer.value.strip() or 'not set'}" for layer in hidden
        ),
        brokers=brokers,
    )


def said(setting: Setting) -> str:
    """Return the origin, with the broker's name of the setting if different."""
    return f"{setting.origin} ({setting.key})" if setting.key else setting.origin
