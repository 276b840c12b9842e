"""Durability of a topic: its copies, their locations, and effective settings on each possible leader."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from casebook.facts.cluster import Cluster, Partition
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka.settings import REGISTERED, Setting, Settings
from casebook.questions.durability.analysis.settings import brokers_of

TRANSACTIONS_TOPIC = "__transaction_state"
INTERNAL = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})


@dataclass(frozen=True, kw_only=True)
class TopicFacts:
    """A topic for the rules.

    Args:
        name: Topic name.
        copies: Replicas of each partition after a reassignment, by partition.
        min_isr: min.insync.replicas, one for each view among its possible leaders.
        unclean: unclean.leader.election.enable, as seen by each possible controller.
        flush: flush.messages and flush.ms, as seen by each possible leader; where flush.ms has no effect, why.
        format: message.format.version, as seen by each possible leader; empty before 0.10.
        together: Partitions with all copies in one rack; ``None`` when a rack is unknown.
        protocols: inter.broker.protocol.version of its brokers.
        alone: Partitions with fewer than two live in-sync copies now.
        unseen: Partitions with an unknown ISR.
        proof: Where its assignment stands.
        overrides_proof: Where its overrides stand.
    """

    name: str
    copies: Mapping[int, tuple[int, ...]]
    min_isr: tuple[Setting, ...]
    unclean: tuple[Setting, ...]
    flush: tuple[Setting, ...]
    format: tuple[Setting, ...]
    together: tuple[int, ...] | None
    protocols: tuple[Setting, ...]
    alone: tuple[int, ...]
    unseen: tuple[int, ...]
    proof: str
    overrides_proof: str

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """Replication factors of its partitions, each once."""
        return tuple(sorted({len(replicas) for replicas in self.copies.values() if replicas}))

    @cached_property
    def single(self) -> tuple[int, ...]:
        """Partitions with one copy."""
        return tuple(sorted(partition for partition, replicas in self.copies.items() if len(replicas) == 1))

    @property
    def replicated(self) -> bool:
        """Whether a partition has more than one copy."""
        return any(factor > 1 for factor in self.factors)

    @property
    def internal(self) -> bool:
        """Whether Kafka itself writes it."""
        return self.name in INTERNAL

    @cached_property
    def least(self) -> int | None:
        """Lowest possible min.insync.replicas; ``None`` when one of them is unknown."""
        return _least(self.min_isr)

    @cached_property
    def most(self) -> int | None:
        """Highest possible min.insync.replicas."""
        numbers = [setting.number for setting in self.min_isr]
        return None if not numbers or None in numbers else max(n for n in numbers if n is not None)

    @cached_property
    def may_be_unclean(self) -> bool | None:
        """Whether an unclean election is allowed by any possible controller."""
        flags = {setting.flag for setting in self.unclean}
        return True if True in flags else None if None in flags or not flags else False

    @cached_property
    def never_flushed(self) -> bool | None:
        """Whether only the operating system flushes records to disk."""
        if not self.flush or any(setting.value is None for setting in self.flush):
            return None
        return all(setting.never for setting in self.flush)


def _least(settings: Sequence[Setting]) -> int | None:
    numbers = [setting.number for setting in settings]
    return None if not numbers or None in numbers else min(n for n in numbers if n is not None)


class _BrokerView:
    """Settings as seen by brokers, cached: most topics have no overrides."""

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._settings, self._own = settings, cluster.topic_configs
        self._special = {entity.partition("/")[2] for entity in cluster.unreadable_configs if entity.startswith("topics")}
        self._remembered: dict[tuple[object, ...], tuple[Setting, ...]] = {}

    def topic(self, key: str, topic: str, brokers: tuple[int, ...]) -> tuple[Setting, ...]:
        plain = key not in self._own.get(topic, {}) and self._special.isdisjoint({"", topic})
        asked = (key, brokers) if plain else (key, brokers, topic)
        if asked not in self._remembered:
            seen = (self._settings.of_topic(key, topic=topic, broker=b) for b in brokers or (None,))
            self._remembered[asked] = tuple(dict.fromkeys(seen))
        return self._remembered[asked]

    def brokers(self, key: str, brokers: tuple[int, ...]) -> tuple[Setting, ...]:
        if (key, brokers, "") not in self._remembered:
            seen = (self._settings.of_broker(key, b) for b in brokers or (None,))
            self._remembered[key, brokers, ""] = tuple(dict.fromkeys(seen))
        return self._remembered[key, brokers, ""]


def topics(cluster: Cluster, settings: Settings) -> tuple[TopicFacts, ...]:
    """Return every topic that is known not to be under deletion, by name."""
    racks = {broker: _rack(settings, broker) for broker in {*brokers_of(cluster), *_assigned(cluster.partitions)}}
    anybody, seen, maybe_deleted = brokers_of(cluster), _BrokerView(cluster, settings), cluster.maybe_deleted
    by_topic: dict[str, list[Partition]] = {}
    for partition in cluster.partitions:
        by_topic.setdefault(partition.topic, []).append(partition)
    return tuple(
        _topic(cluster, name, by_topic.get(name, ()), seen, settings, anybody, racks)
        for name, topic in sorted(cluster.topics.items())
        if not topic.deleting and name not in maybe_deleted
    )


def _assigned(partitions: Iterable[Partition]) -> set[int]:
    return {broker for partition in partitions for broker in partition.replicas}


def _topic(
    cluster: Cluster, name: str, partitions: Sequence[Partition], seen: _BrokerView, settings: Settings, anybody: tuple[int, ...],
    racks: Mapping[int, str | None],
) -> TopicFacts:  # fmt: skip
    copies = {p.partition: cluster.leads_to(p) for p in partitions}
    living = cluster.live if cluster.brokers_known else None
    in_sync = {p.partition: _in_sync(p, living) for p in partitions}
    holders = tuple(sorted({broker for replicas in copies.values() for broker in replicas}))
    return TopicFacts(
        name=name,
        copies=copies,
        min_isr=seen.topic("min.insync.replicas", name, holders),
        unclean=seen.topic("unclean.leader.election.enable", name, anybody),
        flush=(*seen.topic("flush.messages", name, holders), *_flush_by_time(seen, name, holders)),
        format=seen.topic("message.format.version", name, holders) if settings.known("log.message.format.version") else (),
        together=_together(copies, racks),
        protocols=seen.brokers("inter.broker.protocol.version", holders),
        alone=tuple(sorted(partition for partition, many in in_sync.items() if many is not None and many < 2)),
        unseen=tuple(sorted(partition for partition, many in in_sync.items() if many is None)),
        proof=cluster.proofs.topic(name).label,
        overrides_proof=cluster.proofs.topic_settings(name).label,
    )


def _flush_by_time(seen: _BrokerView, topic: str, holders: tuple[int, ...]) -> tuple[Setting, ...]:
    """Return flush.ms, or why it has no effect: brokers look at it in an interval that by default never ends.

    Source: ``LogManager.scala@0.9.0.1, 2.8.2`` (startup: ``kafka-log-flusher``).
    """
    looks = seen.brokers("log.flush.scheduler.interval.ms", holders)
    return looks if all(setting.never for setting in looks) else seen.topic("flush.ms", topic, holders)


def _in_sync(partition: Partition, living: frozenset[int] | None) -> int | None:
    """Return the number of copies in sync now: live ISR members, if registrations are known."""
    if partition.state is None or partition.problem:
        return None
    isr = partition.state.isr
    return len(isr) if living is None else sum(broker in living for broker in isr)


def _rack(settings: Settings, broker: int) -> str | None:
    """Return a broker's rack; ``None`` when unknown."""
    rack = settings.of_broker("broker.rack", broker)
    return (rack.value or "").strip() or None if rack.value is not None or rack.origin == REGISTERED else None


def _together(copies: Mapping[int, tuple[int, ...]], racks: Mapping[int, str | None]) -> tuple[int, ...] | None:
    found = []
    for partition, replicas in copies.items():
        where = {racks.get(broker) for broker in replicas}
        if None in where and len(replicas) > 1:
            return None
        if len(replicas) > 1 and len(where) == 1:
            found.append(partition)
    return tuple(sorted(found))
