"""Differences between Kafka releases, as data with sources; and the origin of a release.

Every rule that changed between releases is one :class:`Changed` here, every default one in :mod:`casebook.kafka.defaults`, and
nowhere else. A source is ``path@tag`` in the Apache Kafka repository.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import total_ordering

_TOO_NEW = 5


@total_ordering
@dataclass(frozen=True, slots=True)
class KafkaVersion:
    """A Kafka release with ordering; ``0.9.0.1`` < ``0.10.0.0`` < ``2.8.2``."""

    numbers: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> "KafkaVersion":
        """Parse ``2.8.2``, ``0.9.0.1`` or a protocol version such as ``2.7-IV1``, or ``0.9.0.X`` as up to 0.9.

        ``2.8`` is 2.8.0. Confluent's version numbers (``7.0.1-ccs``) are not Kafka's.

        Raises:
            ValueError: The text is not a Kafka version.
        """
        match = re.fullmatch(
            r"(\d{1,3}(?:\.\d{1,3}){1,3})(?:-(?:IV\d+|rc\d+|SNAPSHOT|[a-z]+\d*))?", text.strip().removesuffix(".X"), re.IGNORECASE
        )
        numbers = [int(part) for part in match[1].split(".")] if match else [_TOO_NEW]
        if numbers[0] >= _TOO_NEW:
            raise ValueError(f"{text!r} is not a Kafka version such as 0.9.0.1 or 2.8.2")
        missing = (3 if numbers[0] else 4) - len(numbers)
        return cls((*numbers, *[0] * missing))

    def __lt__(self, other: "KafkaVersion") -> bool:
        return self.numbers < other.numbers

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A value that changed between releases.

    Args:
        values: (first release with the value, value), oldest first.
        source: Source of the rule.
    """

    values: tuple[tuple[str, object], ...]
    source: str

    def at(self, version: KafkaVersion) -> object:
        """Return the value in that release; before the oldest known release, the oldest value."""
        current = self.values[0][1]
        for since, value in self.values:
            if version >= KafkaVersion.parse(since):
                current = value
        return current


class VersionOrigin(StrEnum):
    """Origin of the Kafka version in use, most trusted first."""

    PARAMETER = "parameter"
    LOGS = "logs"
    ANSWERS = "answers"
    PROPERTIES = "properties"
    ZNODES = "znodes"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionInUse:
    """The release whose rules apply, and its origin.

    Args:
        version: The release.
        origin: Origin of the version.
        proof: Path in the case (and line) with the version; ``None`` when given or assumed.
        possible: Releases allowed by the evidence, in words, when it only narrows them down.
        other: A release of another line that the evidence also allows.
        contradictions: One sentence for each contradicting piece of evidence.
        between: Without a stated release: first allowed release, and first that is too new.
    """

    version: KafkaVersion
    origin: VersionOrigin
    proof: str | None = None
    possible: str | None = None
    other: KafkaVersion | None = None
    contradictions: tuple[str, ...] = ()
    between: tuple[KafkaVersion, KafkaVersion | None] | None = None

    def may_be_before(self, release: KafkaVersion) -> bool:
        """Whether no release is stated and the allowed range starts before this release and ends after it."""
        if self.between is None:
            return False
        since, before = self.between
        return since < release and (before is None or before > release)

    @property
    def known(self) -> bool:
        """Whether the release was stated, not inferred or assumed."""
        return self.origin in (VersionOrigin.PARAMETER, VersionOrigin.LOGS)


RELEASES = tuple(
    KafkaVersion.parse(text)
    for text in (  # noqa: SIM905  easier to read than a column of 27 texts
        "0.8.2.2 0.9.0.1 0.10.0.1 0.10.1.1 0.10.2.2 0.11.0.3 1.0.2 1.1.1 2.0.1 2.1.1 2.2.2 2.3.1 2.4.1 2.5.1 2.6.3 2.7.2 2.8.2 "
        "3.0.2 3.1.2 3.2.3 3.3.2 3.4.1 3.5.2 3.6.2 3.7.2 3.8.1 3.9.2"
    ).split()
)
"""The last patch release of each line that runs with ZooKeeper, oldest first."""

METADATA_VERSIONS = (
    (1, "3.0.0"), (2, "3.1.0"), (3, "3.2.0"), (4, "3.3.0"), (8, "3.4.0"), (9, "3.5.0"), (12, "3.6.0"), (15, "3.7.0"),
    (20, "3.8.0"), (21, "3.9.0"), (22, "4.0.0"), (26, "4.1.0"), (28, "4.2.0"), (30, "4.3.0"), (31, "4.4.0"),
)  # fmt: skip
"""First level of ``metadata.version`` of each release, oldest first (``MetadataVersion.java@3.9.2``, run in the jar of 4.4.0)."""

DYNAMIC_BROKER_SETTINGS = Changed(
    values=(("0.9.0.0", False), ("1.1.0", True)),
    source="core/src/main/scala/kafka/server/DynamicBrokerConfig.scala@1.1.0 (KIP-226)",
)
"""Whether settings under ``/config/brokers`` apply; before, it held only quotas."""

SETTINGS_PRINTED = Changed(
    values=(("0.9.0.0", "before"), ("1.1.0", "behind")),
    source="core/src/main/scala/kafka/server/KafkaServerStartable.scala@0.11.0.3, 1.1.1 (KIP-226); servers of 2.8.2 and 3.9.2",
)
"""Whether a broker prints its settings before or after its start line."""

_CONTROLLER = "core/src/main/scala/kafka/controller"

CONTROLLED_SHUTDOWN_ORDER = Changed(
    values=(("0.9.0.0", "isr"), ("0.10.0.0", "assignment")),
    source=f"{_CONTROLLER}/PartitionLeaderSelector.scala@0.9.0.1, 0.10.0.0; run in jars of 0.9.0.1 to 1.0.2",
)
"""List that a controlled shutdown searches for the next leader."""

LAST_ISR_MEMBER_KEPT = Changed(
    values=(("0.9.0.0", "unless_unclean"), ("1.1.0", "always")),
    source=f"{_CONTROLLER}/KafkaController.scala@0.9.0.1, 1.0.2; {_CONTROLLER}/ReplicaStateMachine.scala@1.1.0, 3.9.0; "
    "run in the jars of 0.9.0.1, 0.10.2.1, 2.8.2, 3.9.2",
)
"""When the controller keeps the last member of an ISR whose members are all dead."""

FAILOVER_REMOVES_DEAD = Changed(
    values=(("0.9.0.0", False), ("2.3.0", True)),
    source=f"{_CONTROLLER}/ReplicaStateMachine.scala@0.9.0.1, 2.2.2, 2.3.0 (startup); "
    "run in the jars of 0.9.0.1, 0.10.2.1, 2.8.2, 3.9.2",
)
"""Whether a new controller removes dead brokers from leadership and ISR; otherwise it only holds elections."""

PREFERRED_ALREADY_LEADS = Changed(
    values=(("0.9.0.0", "skipped"), ("1.1.0", "rewritten"), ("2.2.0", "skipped")),
    source=f"{_CONTROLLER}/PartitionLeaderSelector.scala@0.9.0.1; {_CONTROLLER}/KafkaController.scala@1.1.0, 2.1.1, 2.2.0",
)
"""Effect of a preferred election when the preferred replica already leads; ``rewritten`` raises the leader epoch."""

UNCLEAN_MARKS_RECOVERING = Changed(
    values=(("0.9.0.0", False), ("3.2.0", True)),
    source=f"{_CONTROLLER}/Election.scala@3.1.0, 3.2.0 (from inter.broker.protocol.version 3.2-IV0); "
    "run in the jars of 2.8.2, 3.9.2",
)
"""Whether an unclean election leaves ``leader_recovery_state`` 1."""

ENABLING_UNCLEAN_ELECTS: dict[str, Changed] = {
    "default": Changed(
        values=(("0.9.0.0", False), ("2.0.0", True)),
        source=f"{_CONTROLLER}/KafkaController.scala@1.1.1, 2.0.0 (UncleanLeaderElectionEnable)",
    ),
    "topic": Changed(
        values=(("0.9.0.0", False), ("2.1.0", True)),
        source=f"{_CONTROLLER}/KafkaController.scala@2.0.1, 2.1.0 (TopicUncleanLeaderElectionEnable)",
    ),
}
"""Whether ``unclean.leader.election.enable=true`` (dynamic default, or topic) makes the controller elect at once."""

_KRAFT = "metadata/src/main/java/org/apache/kafka/controller"

KRAFT_UNCLEAN_SETTING = Changed(
    values=(("3.3.0", False), ("3.9.0", True)),
    source=f"{_KRAFT}/ConfigurationControlManager.java@3.3.2, 3.8.0, 3.9.0-rc3 (uncleanLeaderElectionEnabledForTopic); "
    "run in the jars of 3.9.2, 4.0.2, 4.1.1, 4.2.2, 4.4.0",
)
"""Whether a KRaft controller reads ``unclean.leader.election.enable``; before, only a requested unclean election is held."""

KRAFT_LAST_KNOWN_LEADER_MUST_LIVE = Changed(
    values=(("3.3.0", False), ("4.1.0", True)),
    source=f"{_KRAFT}/PartitionChangeBuilder.java@3.9.0-rc3 (canElectLastKnownLeader); bytecode of 3.9.2, 4.0.2, 4.1.0; "
    "run in the jars of 3.9.2, 4.0.2, 4.1.1, 4.2.2, 4.4.0",
)
"""Whether the last known leader must be eligible to be elected: before, a fenced broker can win."""

KRAFT_LAST_KNOWN_LEADER_STORED = Changed(
    values=(("3.3.0", "isr_empties"), ("4.1.1", "leader_lost")),
    source=f"{_KRAFT}/PartitionChangeBuilder.java@3.9.0-rc3 (maybeUpdateLastKnownLeader); bytecode of 3.9.2, 4.1.0, 4.1.1; "
    "run in the jars of 3.9.2, 4.0.2, 4.1.1, 4.2.2, 4.4.0",
)
"""When the leader is stored as the last known one: a change empties the ISR, or the partition loses its leader."""

KRAFT_REASSIGNMENT_ENDS = Changed(
    values=(("3.3.0", "added"), ("3.8.0", "targets"), ("4.3.0", "added_unless_fewer")),
    source=f"{_KRAFT}/PartitionReassignmentReplicas.java@3.7.1, 3.8.0 (maybeCompleteReassignment); bytecode of 4.2.2, 4.3.0; "
    "run in the jars of 3.9.2, 4.0.2, 4.1.1, 4.2.2, 4.4.0",
)
"""Replicas that must be in the ISR before a reassignment ends: the added ones, or all targets.

From 4.3 the added ones, and all targets only if fewer replicas are added than removed.
"""

KRAFT_RESTART_LEAVES_ISR = Changed(
    values=(("3.3.0", False), ("4.0.0", True)),
    source=f"{_KRAFT}/ReplicationControlManager.java@3.9.0-rc3 (handleBrokerUncleanShutdown); "
    "bytecode of 3.9.2, 4.0.0, 4.4.0 (handleBrokerShutdown); run in the jars of 3.9.2, 4.0.2, 4.1.1, 4.2.2, 4.4.0",
)
"""Whether a broker that registers with a new incarnation leaves the ISR also without eligible leader replicas."""

KRAFT_ISR_SHRINK_RAISES_EPOCH = Changed(
    values=(("3.3.0", True), ("3.6.0", False)),
    source=f"{_KRAFT}/PartitionChangeBuilder.java@3.5.2, 3.6.2 (KAFKA-15021)",
)
"""Whether a smaller ISR raises the leader epoch, by ``metadata.version``. A migration from ZooKeeper raises it up to 3.9."""

LOAD_TAKES_ANY_BATCH = Changed(
    values=(("0.9.0.0", False), ("0.10.1.0", True)),
    source="core/src/main/scala/kafka/coordinator/GroupMetadataManager.scala@0.9.0.1, 0.10.1.0 (log.read, minOneMessage)",
)
"""Whether a coordinator can load a batch larger than ``offsets.load.buffer.size``; otherwise it retries forever."""

LOADING_ANSWER = Changed(
    values=(
        ("0.9.0.0", "16 NOT_COORDINATOR_FOR_GROUP"),
        ("0.11.0.0", "16 NOT_COORDINATOR"),
        ("2.0.0", "14 COORDINATOR_LOAD_IN_PROGRESS"),
    ),
    source="core/src/main/scala/kafka/coordinator/GroupCoordinator.scala@0.9.0.1, 1.1.1, 2.0.1; "
    "clients/src/main/java/org/apache/kafka/common/protocol/Errors.java@0.10.2.1, 0.11.0.2",
)
"""A coordinator's response to commits, fetches and joins before it has loaded the group's partition."""

NO_COORDINATOR_ANSWER = Changed(
    values=(("0.9.0.0", "15 GROUP_COORDINATOR_NOT_AVAILABLE"), ("0.11.0.0", "15 COORDINATOR_NOT_AVAILABLE")),
    source="core/src/main/scala/kafka/server/KafkaApis.scala@0.9.0.1, 2.8.0; "
    "clients/src/main/java/org/apache/kafka/common/protocol/Errors.java@0.10.2.1, 0.11.0.2",
)
"""FindCoordinator's response for a partition without a leader, and right after a broker's start."""

_CLEANER = "core/src/main/scala/kafka/log/LogCleaner.scala"
_CLEANER_MANAGER = "core/src/main/scala/kafka/log/LogCleanerManager.scala"
_GROUPS = "core/src/main/scala/kafka/coordinator"

CLEANER_MAP_RULE = Changed(
    values=(("0.8.2", "span"), ("0.10.0.0", "keys"), ("0.10.1.0", "partial")),
    source=f"{_CLEANER}@0.9.0.1, 0.10.0.1, 0.10.1.1 (KAFKA-3587, KAFKA-3894)",
)
"""Required content of the cleaner's offset map, without which the cleaner fails.

The offset range of every dirty segment (``span``), or the distinct keys of the first one (``keys``); ``partial``: it cleans as
far as the map reaches.
"""

CLEANER_NEEDS_SEGMENT_START = Changed(
    values=(("0.8.2", True), ("0.10.1.0", False)), source=f"{_CLEANER}@0.9.0.1, 0.10.0.1, 0.10.1.1 (buildOffsetMap)"
)
"""Whether the cleaner fails when its checkpoint is not the base offset of a segment."""

CLEANER_FAILURE = Changed(
    values=(("0.8.2", "thread dies"), ("2.1.0", "partition uncleanable")), source=f"{_CLEANER}@2.0.1, 2.1.1 (KAFKA-7215)"
)
"""Effect of an error while cleaning; a dead thread cleans no topic until the broker restarts."""

CLEANER_CHECKPOINT_BEYOND_END = Changed(
    values=(("0.8.2", "kept"), ("2.3.0", "reset")), source=f"{_CLEANER_MANAGER}@2.2.2, 2.3.1, 3.9.0 (cleanableOffsets)"
)
"""Effect of a cleaner checkpoint beyond the end of its log."""

CLEANER_BOUND = Changed(
    values=(("0.8.2", "active segment"), ("0.11.0.0", "last stable offset")),
    source=f"{_CLEANER_MANAGER}@0.10.2.1, 0.11.0.2, 3.9.0 (cleanableOffsets)",
)
"""Limit of cleaning, besides compaction lag."""

COMPACTION_LAG = Changed(values=(("0.8.2", False), ("0.10.1.0", True)), source=f"{_CLEANER_MANAGER}@0.9.0.1, 0.10.1.1")
"""Whether ``min.compaction.lag.ms`` exists."""

OFFSETS_EXPIRE = Changed(
    values=(("0.8.2", "commit"), ("2.1.0", "empty"), ("2.4.0", "unsubscribed")),
    source=f"{_GROUPS}/GroupMetadataManager.scala@0.9.0.1, {_GROUPS}/group/GroupMetadata.scala@2.1.0, 2.4.0 (KIP-211)",
)
"""Start of ``offsets.retention.minutes``: the commit; when the group became empty; and, in an active group, the commit for topics
without a subscription."""

NEWER_GROUP_RECORDS = Changed(
    values=(("0.8.2", "load fails"), ("3.4.1", "ignored")),
    source=f"{_GROUPS}/GroupMetadataManager.scala@0.9.0.1, {_GROUPS}/group/GroupMetadataManager.scala@3.4.0, 3.4.1",
)
"""A load's reaction to an unknown key version; after a failure the partition is served with what was loaded."""

_TOOLS = "core/src/main/scala/kafka/admin"

TOOL_ASKS: dict[str, Changed] = {
    "kafka-reassign-partitions.sh": Changed(
        values=(("0.8.2", "zookeeper"), ("2.6.0", "brokers")),
        source=f"{_TOOLS}/ReassignPartitionsCommand.scala@0.9.0.1, 2.5.0, 2.6.0",
    ),
    "kafka-topics.sh": Changed(
        values=(("0.8.2", "zookeeper"), ("2.2.0", "brokers")), source=f"{_TOOLS}/TopicCommand.scala@2.1.1, 2.2.0, 2.8.2, 3.0.0"
    ),
    "kafka-configs.sh": Changed(
        values=(("0.8.2", "zookeeper"), ("2.6.0", "brokers")), source=f"{_TOOLS}/ConfigCommand.scala@1.1.0, 2.5.0, 2.6.0"
    ),
    "kafka-preferred-replica-election.sh": Changed(
        values=(("0.8.2", "zookeeper"), ("2.2.0", "brokers")),
        source=f"{_TOOLS}/PreferredReplicaLeaderElectionCommand.scala@2.1.0, 2.2.0, 2.4.0",
    ),
}
"""Connection of a tool: ``--zookeeper`` (removed in 3.0) or ``--bootstrap-server``; from then on for everything needed here."""

PREFERRED_ELECTION_TOOL = Changed(
    values=(("0.8.2", "kafka-preferred-replica-election.sh"), ("2.4.0", "kafka-leader-election.sh")),
    source=f"{_TOOLS}/PreferredReplicaLeaderElectionCommand.scala@2.3.0, 2.4.0; {_TOOLS}/LeaderElectionCommand.scala@2.4.0",
)
"""Tool for a preferred leader election; the newer one connects to brokers and requires ``--election-type``."""

REASSIGNMENT_THROTTLE = Changed(
    values=(("0.8.2", False), ("0.10.1.0", True)),
    source=f"{_TOOLS}/ReassignPartitionsCommand.scala@0.10.0.1, 0.10.1.0 (KIP-73)",
)
"""Whether a reassignment can be throttled (``--throttle``, bytes per second); ``--verify`` removes the throttle."""

REASSIGNMENT_ADDITIONAL = Changed(
    values=(("0.8.2", False), ("2.6.0", True)), source=f"{_TOOLS}/ReassignPartitionsCommand.scala@2.5.0, 2.6.0 (KIP-455)"
)
"""Whether the tool accepts a reassignment while another runs (``--additional``)."""
