"""Facts of a Kafka cluster, as frozen rows: brokers, topics, partitions, settings. ``None`` is unknown, never zero.

The rows keep Kafka's own names. Where each field comes from is told by ``formats``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from casebook.facts.stamp import Stamp
from casebook.facts.times import EpochMs

ROLES = "process.roles"
"""The setting that makes a process a KRaft node (``KafkaConfig.scala@3.9.0``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Evidence that is there and cannot be taken at its word: a row of ``tables/problems``.

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
        leader_epoch: Counts the controller's writes; ``None`` where the state was not read, but told by ``kafka-topics``.
        controller_epoch: Epoch of the controller that last wrote; ``None`` as before.
        recovering: ``leader_recovery_state`` is 1: elected unclean and not yet recovered (3.2+).
        stamp: When it was written.
    """

    leader: int | None
    isr: tuple[int, ...]
    leader_epoch: int | None
    controller_epoch: int | None
    recovering: bool = False
    stamp: Stamp | None = None


def state_path(topic: str, partition: int) -> str:
    """Path of a partition's state znode below the chroot."""
    return f"/brokers/topics/{topic}/partitions/{partition}/state"


class Partition(NamedTuple):
    """One partition: its assignment and, when it could be read, its state. A named tuple, as a large cluster has 100,000.

    Args:
        topic: Topic name.
        partition: Partition number.
        replicas: Assignment in order; the first is the preferred leader. During a reassignment the union.
        adding: Brokers being added by a reassignment.
        removing: Brokers being removed by a reassignment.
        state: ``None`` when missing or unreadable.
        missing: The state znode is not there.
        problem: Why the state cannot be taken at its word.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    state: PartitionState | None = None
    missing: bool = False
    problem: str | None = None

    @property
    def name(self) -> str:
        """``topic-partition``, as Kafka prints it."""
        return f"{self.topic}-{self.partition}"

    @property
    def targets(self) -> tuple[int, ...]:
        """The replicas that remain once a reassignment has ended."""
        return tuple(r for r in self.replicas if r not in self.removing) if self.removing else self.replicas

    @property
    def state_path(self) -> str:
        """Path of the state znode below the chroot."""
        return state_path(self.topic, self.partition)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """``/brokers/topics/<t>``.

    Args:
        name: Topic name.
        json_version: Version of its JSON (1-3).
        deleting: ``/admin/delete_topics/<t>`` exists.
        deleting_since: When it was made, epoch ms by ZooKeeper's clock; ``None`` where it is not there, or its stat was not read.
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
        broker: Id in ``/controller``; ``None`` when there is no such znode or it cannot be read.
        epoch: Value of ``/controller_epoch``; ``None`` when unknown.
        elected_at: ctime of ``/controller``, epoch ms by ZooKeeper's clock.
        epoch_stamp: Of the controller epoch; its version counts changes of controller.
        json_version: Version of the ``/controller`` JSON.
        session: ephemeralOwner of ``/controller``.
        readable: Both znodes were asked for and either read or seen to be missing.
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
    """What a broker printed when it started last: all that it was started with, defaults of its release included.

    Args:
        settings: Those that analyses read and that are not null.
        proof: The line before them, ``path:line``.
    """

    settings: Mapping[str, str]
    proof: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A Kafka cluster as its znodes tell it at one walk.

    Args:
        zookeeper: Servers of the ensemble, where the evidence tells any that can be reached from elsewhere.
        chroot: As given; ``""`` for none.
        cluster_id: ``/cluster/id`` (0.10.1+).
        brokers: By id, those registered.
        brokers_known: ``/brokers/ids`` could be listed; when not, nobody may be called dead.
        unregistered: Brokers that were asked for one by one, and are not registered; all others are unknown, too, where
            ``brokers_known`` is false.
        topics: By name.
        partitions: Ordered by topic and partition.
        unlisted: Why there may be partitions that are not among them: topics whose znode cannot be read, or a list of topics
            that is not whole.
        controller: See :class:`Controller`.
        topic_configs: Overrides by topic.
        broker_configs: Dynamic settings by broker id as text; ``<default>`` for the cluster-wide ones.
        unreadable_configs: Entities (``topics/<t>``, ``brokers/<id>``, ...) whose settings are there and unreadable; the kind
            alone (``topics``, ``brokers``) where not even its entities are known.
        server_properties: By broker id, as far as collected.
        printed_settings: By broker id, where logs tell and the file was not collected.
        excerpts: Brokers of whose ``server.properties`` only some lines are known.
        reassigning: Targets of ``/admin/reassign_partitions`` by (topic, partition).
        preferred_election: Partitions in ``/admin/preferred_replica_election``.
        log_dir_failures: Brokers that announced a failed log dir (``/log_dir_event_notification``).
        group_offsets: Offsets that groups keep in ZooKeeper, by group, topic and partition.
        problems: Evidence that could not be taken at its word, in order of path.
        unknown_znodes: Number of znodes by a kind nobody decodes.
        there: Paths of at most two levels that were seen, e.g. ``/cluster/id``.
        not_there: Such paths that were asked for and are not there.
        remarks: What happened while the evidence was collected.
        missing_parts: Parts of the tree that were not collected or could not be read, each with its reason.
        unreadable: Of all evidence, the parts that were given, and are not there or could not be read to their end.
        read_from: First and last moment of the walk, epoch ms.
        read_to: See ``read_from``.
        changed: Znodes that changed during the walk and were read again.
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

    @property
    def live(self) -> frozenset[int]:
        """Ids of the registered brokers."""
        return frozenset(self.brokers)

    @property
    def started_with(self) -> Mapping[int, Mapping[str, str]]:
        """By broker id, what it was started with: of its file, or as it printed it."""
        printed = {broker: one.settings for broker, one in self.printed_settings.items()}
        return {**printed, **self.server_properties}

    @property
    def known_in_full(self) -> frozenset[int]:
        """Brokers of which all is known that they were started with: what is not among it is at its default."""
        return frozenset(self.started_with) - self.excerpts

    @property
    def connect(self) -> str:
        """What Kafka's tools take for ``--zookeeper``; ``HOST`` stands for a server that is not known."""
        return (",".join(self.zookeeper) or "HOST:2181") + self.chroot

    def lacks(self, topic: str) -> bool:
        """Whether a walk that saw every topic did not see this one; one that missed some tells nothing."""
        walked = bool(self.topics) or "/brokers/topics" in self.there
        return walked and not self.unlisted and topic not in self.topics

    @property
    def maybe_deleted(self) -> frozenset[str]:
        """Topics that may be being deleted: which are was withheld, and a state lacks the leader that its ISR could give.

        The controller takes the leader of a partition whose replicas it deletes, and leaves the last member in its ISR
        (``core/src/main/scala/kafka/controller/TopicDeletionManager.scala@2.8.2``).
        """
        if not any(problem.path in _ABOVE_DELETIONS for problem in self.problems):
            return frozenset()
        states = ((p.topic, p.state) for p in self.partitions if p.state is not None and p.state.leader is None)
        return frozenset(topic for topic, state in states if not self.live.isdisjoint(state.isr))

    def has_one_copy(self, partition: Partition) -> bool:
        """Whether a partition has, or will have, a single replica, which goes with its disk; one being deleted is not missed."""
        topic = self.topics.get(partition.topic)
        return len(self.leads_to(partition)) == 1 and not (topic is not None and topic.deleting)

    def leads_to(self, partition: Partition) -> tuple[int, ...]:
        """The assignment of a partition once a running reassignment has ended, or as it is."""
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
        ValueError: It is none.
    """
    parsed = datetime.fromisoformat(moment)
    if parsed.tzinfo is None:
        raise ValueError(f"{moment} has no zone")
    return (parsed - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@lru_cache(4096)
def _second(epoch: int) -> str:
    """One second, remembered: an election writes hundreds of states in it."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%S")
