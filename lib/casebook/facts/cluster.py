"""Facts of a Kafka cluster, as frozen rows: brokers, topics, partitions, settings. ``None`` is unknown, never zero.

The rows keep Kafka's own names. ``formats`` documents the source of each field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import NamedTuple

from casebook.facts.observed import Source
from casebook.facts.proofs import ZNODE_PROOFS, Proofs
from casebook.facts.stamp import Stamp
from casebook.facts.times import EpochMs

ROLES = "process.roles"
"""Setting that makes a process a KRaft node (``KafkaConfig.scala@3.9.0``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Unreliable evidence: a row of ``tables/problems``.

    Columns:
        path: The znode or file.
        reason: Why it is not reliable.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A registered broker: a child of ``/brokers/ids``.

    Args:
        id: Broker id.
        host: First usable host; ``None`` without one.
        port: Port of ``host``; ``None`` without one.
        endpoints: ``LISTENER://host:port`` as registered.
        rack: ``broker.rack``.
        json_version: Version of the registration's JSON (1-5).
        timestamp: Registration time by the broker's clock, epoch ms.
        stamp: Its creation is the registration.
    """

    id: int
    host: str | None = None
    port: int | None = None
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    json_version: int | None = None
    timestamp: int | None = None
    stamp: Stamp | None = None


class PartitionState(NamedTuple):
    """``/brokers/topics/<t>/partitions/<p>/state``. A named tuple, as a large cluster has 100,000.

    Args:
        leader: Broker id; ``None`` for -1.
        isr: In the order stored.
        leader_epoch: Incremented on each write by the controller; ``None`` when the state comes from ``kafka-topics``.
        controller_epoch: Epoch of the controller that last wrote; ``None`` in the same case.
        recovering: ``leader_recovery_state`` is 1: elected unclean and not yet recovered (3.2+).
        stamp: When it was written.
        elr: Eligible leader replicas of KRaft (KIP-966): out of the ISR, with all committed records; ``None`` when unknown.
        last_known_elr: The last known leader of KRaft, while there is none; ``None`` when unknown.
        isr_known: Whether ``isr`` is the ISR: older brokers do not answer that of a partition without a leader.
    """

    leader: int | None
    isr: tuple[int, ...]
    leader_epoch: int | None
    controller_epoch: int | None
    recovering: bool = False
    stamp: Stamp | None = None
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    isr_known: bool = True


class Partition(NamedTuple):
    """One partition: its assignment and, when it could be read, its state. A named tuple, as a large cluster has 100,000.

    Args:
        topic: Topic name.
        partition: Partition number.
        replicas: Assignment in order; the first is the preferred leader. During a reassignment, the union of both.
        adding: Brokers being added by a reassignment.
        removing: Brokers being removed by a reassignment.
        state: ``None`` when missing or unreadable.
        missing: The state znode does not exist.
        problem: Reason why the state is unreliable.
        offline: Replicas without a usable log dir or a live broker, as brokers answered; ``None`` when unknown.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    state: PartitionState | None = None
    missing: bool = False
    problem: str | None = None
    offline: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """``topic-partition``, as Kafka prints it."""
        return f"{self.topic}-{self.partition}"

    @property
    def targets(self) -> tuple[int, ...]:
        """Replicas that remain after the reassignment."""
        return tuple(r for r in self.replicas if r not in self.removing) if self.removing else self.replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """``/brokers/topics/<t>``.

    Args:
        name: Topic name.
        json_version: Version of its JSON (1-3).
        deleting: ``/admin/delete_topics/<t>`` exists.
        deleting_since: Creation time of that znode, epoch ms by ZooKeeper's clock; ``None`` when absent or its stat is unknown.
    """

    name: str
    json_version: int | None = None
    deleting: bool = False
    deleting_since: int | None = None
    stamp: Stamp | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """``/controller`` and ``/controller_epoch``.

    Args:
        broker: Id in ``/controller``; ``None`` when the znode does not exist or is unreadable.
        epoch: Value of ``/controller_epoch``; ``None`` when unknown.
        elected_at: ctime of ``/controller``, epoch ms by ZooKeeper's clock.
        epoch_stamp: Of the controller epoch; its version counts changes of controller.
        json_version: Version of the ``/controller`` JSON.
        session: ephemeralOwner of ``/controller``.
        readable: Both znodes were requested, and each was read or found missing.
    """

    broker: int | None = None
    epoch: int | None = None
    elected_at: int | None = None
    epoch_stamp: Stamp | None = None
    json_version: int | None = None
    session: int | None = None
    readable: bool = True


class GroupOffset(NamedTuple):
    """A row of ``tables/group_offsets``: an offset that a group keeps in ZooKeeper.

    Columns:
        group: Consumer group that keeps its offsets in ZooKeeper.
        topic: Committed topic.
        partition: Committed partition.
        offset: The next offset that it would read.
        at: When it was committed, by ZooKeeper's clock, ISO-8601 UTC.
    """

    group: str
    topic: str
    partition: int
    offset: int
    at: EpochMs | None


_ABOVE_DELETIONS = frozenset({"/", "/admin", "/admin/delete_topics"})


class PrintedSettings(NamedTuple):
    """Settings that a broker logged at its last start, or answered, including the defaults of its release.

    Args:
        settings: Settings that analyses use; nulls are left out.
        proof: ``path:line`` of the line before them, or of the answer.
        defaults: Settings with their default value; empty when a log does not mark them.
        is_answer: The broker answered them.
    """

    settings: Mapping[str, str]
    proof: str
    defaults: frozenset[str] = frozenset()
    is_answer: bool = False


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A Kafka cluster, as read from its znodes in one walk.

    Args:
        zookeeper: ZooKeeper servers that are reachable from other hosts, if the evidence names any.
        chroot: As given; ``""`` for none.
        cluster_id: ``/cluster/id`` (0.10.1+).
        brokers: Registered brokers by id.
        brokers_known: ``/brokers/ids`` could be listed; when false, no broker counts as dead.
        unregistered: Brokers that were looked up one by one and are not registered. When ``brokers_known`` is false, all others
            are unknown.
        topics: By name.
        partitions: Ordered by topic and partition.
        unlisted: Reason why partitions may be missing: topics with an unreadable znode, or an incomplete list of topics.
        controller: See :class:`Controller`.
        topic_configs: Overrides by topic.
        broker_configs: Dynamic settings by broker id as text; ``<default>`` for the cluster-wide ones.
        unreadable_configs: Entities (``topics/<t>``, ``brokers/<id>``, ...) with unreadable settings; the kind alone (``topics``,
            ``brokers``) when its entities are unknown.
        server_properties: Settings by broker id, as far as collected.
        printed_settings: Settings by broker id from logs, for brokers without a collected file.
        excerpts: Brokers with only some lines of ``server.properties`` known.
        reassigning: Targets of ``/admin/reassign_partitions`` by (topic, partition).
        preferred_election: Partitions in ``/admin/preferred_replica_election``.
        log_dir_failures: Brokers that announced a failed log dir (``/log_dir_event_notification``).
        group_offsets: Group offsets stored in ZooKeeper, by group, topic and partition.
        replica_bytes: Sizes of replicas by broker, topic and partition, as brokers answered.
        problems: Unreliable evidence, ordered by path.
        unknown_znodes: Number of znodes of an unknown kind.
        there: Existing paths of at most two levels, e.g. ``/cluster/id``.
        not_there: Requested paths of at most two levels that do not exist.
        remarks: Notes on the collection.
        missing_parts: Parts of the tree that were not collected or could not be read, each with its reason.
        unreadable: Given parts of the evidence that are missing or could not be read completely.
        read_from: First and last moment of the walk, epoch ms.
        read_to: See ``read_from``.
        changed: Znodes that changed during the walk and were reread.
        is_kraft: Its controllers are a quorum, without ZooKeeper.
        newest_metadata_version: Newest ``metadata.version`` that a broker supports, by broker id.
        features: Finalized levels of features by name; empty when unknown.
        deletions_known: Requests to delete topics are in the evidence, or do not exist.
        source: Kind of evidence.
        proofs: Where these facts stand in the case.
    """

    zookeeper: tuple[str, ...] = ()
    chroot: str = ""
    cluster_id: str | None = None
    brokers: Mapping[int, Broker] = field(default_factory=dict)
    brokers_known: bool = True
    unregistered: frozenset[int] = frozenset()
    topics: Mapping[str, Topic] = field(default_factory=dict)
    partitions: tuple[Partition, ...] = ()
    unlisted: tuple[Problem, ...] = ()
    controller: Controller = field(default_factory=Controller)
    topic_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    broker_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unreadable_configs: frozenset[str] = frozenset()
    server_properties: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    printed_settings: Mapping[int, PrintedSettings] = field(default_factory=dict)
    excerpts: frozenset[int] = frozenset()
    reassigning: Mapping[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)
    preferred_election: frozenset[tuple[str, int]] = frozenset()
    log_dir_failures: frozenset[int] = frozenset()
    group_offsets: tuple[GroupOffset, ...] = ()
    replica_bytes: Mapping[tuple[int, str, int], int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    unknown_znodes: Mapping[str, int] = field(default_factory=dict)
    there: frozenset[str] = frozenset()
    not_there: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()
    missing_parts: tuple[Problem, ...] = ()
    unreadable: tuple[str, ...] = ()
    read_from: int | None = None
    read_to: int | None = None
    changed: int = 0
    is_kraft: bool = False
    newest_metadata_version: Mapping[int, int] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    deletions_known: bool = True
    source: Source = Source.ZNODES
    proofs: Proofs = ZNODE_PROOFS

    @cached_property
    def live(self) -> frozenset[int]:
        """Ids of the registered brokers."""
        return frozenset(self.brokers)

    @property
    def started_with(self) -> Mapping[int, Mapping[str, str]]:
        """Startup settings by broker id, from ``server.properties`` or from the log."""
        printed = {broker: one.settings for broker, one in self.printed_settings.items()}
        return {**printed, **self.server_properties}

    @property
    def known_in_full(self) -> frozenset[int]:
        """Brokers with all startup settings known: any other setting has its default."""
        return frozenset(self.started_with) - self.excerpts

    @property
    def connect(self) -> str:
        """Value for ``--zookeeper`` of Kafka's tools; ``HOST`` stands for an unknown server."""
        return (",".join(self.zookeeper) or "HOST:2181") + self.chroot

    @property
    def lists_topics(self) -> bool:
        """Whether the list of topics is whole: otherwise a topic that is not in it may exist."""
        known = bool(self.topics) or "/brokers/topics" in self.there or (self.source is Source.WIRE and self.brokers_known)
        return known and not self.unlisted

    @property
    def has_controller(self) -> bool | None:
        """Whether a controller is alive; ``None`` when unknown. In KRaft, it is the leader of the quorum."""
        if not self.controller.readable or not (self.is_kraft or self.brokers_known):
            return None
        return self.controller.broker is not None and (self.is_kraft or self.controller.broker in self.live)

    def lacks(self, topic: str) -> bool:
        """Whether a whole list of topics does not have this one: ``False`` for one that exists, and for an unknown one."""
        return self.lists_topics and topic not in self.topics

    @property
    def maybe_deleted(self) -> frozenset[str]:
        """Topics that may be under deletion: the list is unknown, and a state lacks the leader that its ISR could provide.

        On deletion, the controller removes the leader of a partition and keeps the last member of its ISR
        (``core/src/main/scala/kafka/controller/TopicDeletionManager.scala@2.8.2``).
        """
        if not any(problem.path in _ABOVE_DELETIONS for problem in self.problems):
            return frozenset()
        states = ((p.topic, p.state) for p in self.partitions if p.state is not None and p.state.leader is None)
        return frozenset(topic for topic, state in states if not self.live.isdisjoint(state.isr))

    def usable(self, partition: Partition) -> frozenset[int]:
        """Live brokers whose log dir of a partition is not known to have failed."""
        return self.live.difference(partition.offline) if partition.offline else self.live

    def has_one_copy(self, partition: Partition) -> bool:
        """Whether a partition has, or will have, a single replica. Partitions under deletion do not count."""
        topic = self.topics.get(partition.topic)
        return len(self.leads_to(partition)) == 1 and not (topic is not None and topic.deleting)

    def leads_to(self, partition: Partition) -> tuple[int, ...]:
        """Assignment after a running reassignment, or the current one."""
        return self.reassigning.get((partition.topic, partition.partition)) or partition.targets


def instant(epoch_ms: int | None) -> str | None:
    """ISO-8601 UTC of epoch milliseconds; ``None`` for unknown, 0 or out of range."""
    if not epoch_ms or not 0 < epoch_ms < 253402300800000:
        return None
    second, millisecond = divmod(epoch_ms, 1000)
    return f"{_second(second)}.{millisecond:03d}Z"


def epoch_ms(moment: str) -> int:
    """Epoch milliseconds of an ISO-8601 text with a zone.

    Raises:
        ValueError: The text is no such time.
    """
    parsed = datetime.fromisoformat(moment)
    if parsed.tzinfo is None:
        raise ValueError(f"{moment} has no zone")
    return (parsed - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@lru_cache(4096)
def _second(epoch: int) -> str:
    """Format one second, cached: an election writes hundreds of states in the same second."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%S")
