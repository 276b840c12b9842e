"""Rows of pasted terminal output, each with its lines of the paste.

``None`` is unknown, never zero: a paste proves only what it contains.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.pasted_hosts import TABLE, HostSaid, LineSpan, ListedFile, ThreadDump, Used
from casebook.facts.znodes import Stat

PASTED = "pasted/pasted.txt"
"""Path of a paste in a case, line by line."""
NOT_PASTED = "not pasted"
"""Common part of the reasons for missing parts of a pasted case."""

METADATA_QUORUM, QUORUM_REPLICATION = "kafka-metadata-quorum", "kafka-metadata-quorum --replication"


class PastedZnode(NamedTuple):
    """A znode in a paste.

    Args:
        path: With its chroot; ``None`` when no path was pasted.
        span: Its lines.
        data: As text; ``None`` when only its stat or its children were pasted.
        stat: Pasted fields of the stat.
        children: Names; ``None`` when they were not pasted.
        there: ``False`` when zkCli reported that it does not exist.
        undated: Times of the stat in an unknown zone, as printed.
    """

    path: str | None
    span: LineSpan
    data: str | None = None
    stat: Stat | None = None
    children: tuple[str, ...] | None = None
    there: bool = True
    undated: tuple[str, ...] = ()


class DescribedTopic(NamedTuple):
    """First line of a described topic.

    Args:
        partitions: Number of partitions.
        configs: Text after ``Configs:``; ``None`` when not printed.
        topic_id: ``None`` when not printed: before 2.8.
        factor: Replication factor, as printed.
    """

    topic: str
    span: LineSpan
    partitions: int
    configs: dict[str, str] | None = None
    deleting: bool = False
    topic_id: str | None = None
    factor: int | None = None


class DescribedPartition(NamedTuple):
    """Line of a described partition.

    Args:
        leader: ``None`` for none.
        adding: Brokers that a reassignment adds; ``None`` when not printed.
        removing: Brokers that a reassignment removes; ``None`` when not printed.
        offline: Replicas in ``Offline:``, on a dead broker or log dir; ``None`` when not printed.
        eligible: Replicas in ``Elr:``, which KRaft's controller may elect without loss; ``None`` when not printed, or ``N/A`` as
            on every cluster with ZooKeeper.
        last_eligible: As ``eligible``, for ``LastKnownElr:``.
        dead_leader: The tool reports the named leader as dead, in the list of ``--zookeeper ... --unavailable-partitions``.
        ordered: The first replica is the preferred leader.
        tool: Tool that printed it.
    """

    topic: str
    partition: int
    span: LineSpan
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    adding: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    deleting: bool = False
    offline: tuple[int, ...] | None = None
    eligible: tuple[int, ...] | None = None
    last_eligible: tuple[int, ...] | None = None
    dead_leader: bool = False
    ordered: bool = True
    tool: str = "kafka-topics"


class PastedOffset(NamedTuple):
    """Committed offset of a group for a partition.

    Args:
        group: ``None`` when neither the layout nor a pasted command names it.
        offset: Committed offset; ``None`` for none or unknown.
        end: Log end offset.
    """

    group: str | None
    topic: str
    partition: int
    span: LineSpan
    offset: int | None
    end: int | None


class GroupSaid(NamedTuple):
    """Statement of a tool about a whole group.

    Args:
        what: In the tool's words.
        coordinator: Id of the coordinator; ``None`` when not printed.
    """

    group: str | None
    span: LineSpan
    what: str
    coordinator: int | None = None


class GroupMember(NamedTuple):
    """Member of a consumer group, from ``kafka-consumer-groups``.

    Args:
        group: ``None`` when neither the layout nor a pasted command names it.
        member: Member id.
        host: As printed; ``None`` when not printed.
        client: Client id; ``None`` when not printed.
        partitions: Number of assigned partitions; ``None`` when not printed.
        assigned: Assigned partitions; ``None`` when not printed.
    """

    group: str | None
    member: str
    span: LineSpan
    host: str | None = None
    client: str | None = None
    partitions: int | None = None
    assigned: tuple[tuple[str, int], ...] | None = None


class ToldConfig(NamedTuple):
    """Overrides of a topic or broker, from ``kafka-configs --describe``.

    Args:
        kind: ``topics`` or ``brokers``.
        entity: The topic, or the broker's id as text; ``<default>`` for all brokers.
        settings: Value by name; ``[redacted]`` for secrets, which the tool does not print.
        whole: The list is complete.
    """

    kind: str
    entity: str
    span: LineSpan
    settings: dict[str, str]
    whole: bool


class PastedAssignment(NamedTuple):
    """Replicas of a partition, from ``kafka-reassign-partitions``.

    Args:
        replicas: In order; during a reassignment, including those added so far.
        adding: Replicas that a running reassignment adds; ``None`` without information.
        removing: As ``adding``.
        ordered: The first replica is the preferred leader.
    """

    topic: str
    partition: int
    span: LineSpan
    replicas: tuple[int, ...]
    adding: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    ordered: bool = True


class MoveState(StrEnum):
    """State of a partition's reassignment, as a tool prints it."""

    UNDER_WAY = "under way"
    COMPLETE = "complete"
    FAILED = "failed"
    NOT_ACTIVE = "not active"  # whether it ever was is not said, and its plan is not what is


class PastedMove(NamedTuple):
    """Progress of a partition's reassignment.

    Args:
        target: Target replicas; ``None`` when not printed.
        state: As the tool says.
    """

    topic: str
    partition: int
    span: LineSpan
    target: tuple[int, ...] | None
    state: MoveState


class Elected(NamedTuple):
    """A leader election, requested or completed: earlier descriptions of the partition are outdated."""

    topic: str
    partition: int
    span: LineSpan


class ToolStatement(NamedTuple):
    """Output of a tool, by the tool's name.

    Args:
        tool: Common name, e.g. ``kafka-log-dirs``.
        says: Content that no other row holds, one sentence without a full stop; ``""`` when other rows hold all.
        instead: What to paste for the question that it leaves open; ``""`` for none.
        bad: It reports a problem.
    """

    tool: str
    span: LineSpan
    says: str = ""
    instead: str = ""
    bad: bool = False


class BrokerSettings(NamedTuple):
    """Lines of a broker's ``server.properties``; the rest of the file is unknown.

    Args:
        broker: Broker in these lines or in a heading before them; ``None`` when unknown.
        lines: As in the file, including comments, from the first line of the span on.
    """

    span: LineSpan
    broker: int | None
    lines: tuple[str, ...]


class PastedLogLine(NamedTuple):
    """A log line, unfolded.

    Args:
        text: Without prefixes of mail and chat.
        broker: Owner of the log; ``None`` when unknown.
        zookeeper: It is from the log of a ZooKeeper server.
        host: For a line of the kernel or systemd: the broker on that host, from a heading.
    """

    span: LineSpan
    text: str
    broker: int | None
    zookeeper: bool
    host: int | None = None


class NotUnderstood(NamedTuple):
    """Lines that could not be decoded.

    Args:
        text: The first of them, cut.
        reason: Reason, if known.
        printed: As pasted, each cut, one more than ``MOST_QUOTED`` at most; none of an output that is cut off.
    """

    span: LineSpan
    text: str
    reason: str
    printed: tuple[str, ...] = ()


class Beside(NamedTuple):
    """A line that is no output: a command, a heading, a remark, decoration of a tool.

    Args:
        text: As pasted.
        heading: Announced subject, e.g. a host; ``""`` for another line.
        typed: It is a command.
    """

    span: LineSpan
    text: str
    heading: str = ""
    typed: bool = False


class NotKept(NamedTuple):
    """Values of a decoded line that no row holds.

    Args:
        values: Values with their names, as printed.
        text: The line as pasted, cut.
    """

    span: LineSpan
    values: tuple[str, ...]
    text: str = ""


OF_TOOLS = (
    "znodes",
    "topics",
    "partitions",
    "offsets",
    "groups",
    "members",
    "configs",
    "assigned",
    "moves",
    "elected",
    "files",
    "used",
)
"""Parts of :class:`Pasted` with rows of Kafka's and ZooKeeper's tools, and of listings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pasted:
    """Content of a paste; each part in its order.

    Args:
        lines: Number of lines read.
        znodes: Of ZooKeeper's answers.
        topics: Of ``kafka-topics --describe``.
        partitions: Of ``kafka-topics --describe``.
        offsets: Of ``kafka-consumer-groups --describe``.
        groups: Statements of that tool about whole groups.
        members: Of ``kafka-consumer-groups``.
        configs: Of ``kafka-configs``.
        assigned: Of ``kafka-reassign-partitions``.
        moves: Of ``kafka-reassign-partitions``.
        elected: Of ``kafka-leader-election`` and its predecessor.
        told: Outputs of Kafka's and ZooKeeper's tools by name, with content that no other row holds.
        files: Of ``ls -l``.
        used: Of ``du`` and ``kafka-log-dirs``.
        logs: Log lines, unfolded.
        settings: Of ``server.properties``.
        dumps: Thread dumps of brokers.
        hosts: Statements of hosts and operations tools.
        beside: Lines that are no output.
        not_kept: Values of decoded lines that no row holds.
        not_understood: All other lines that are not empty.
    """

    lines: int
    znodes: tuple[PastedZnode, ...] = ()
    topics: tuple[DescribedTopic, ...] = ()
    partitions: tuple[DescribedPartition, ...] = ()
    offsets: tuple[PastedOffset, ...] = ()
    groups: tuple[GroupSaid, ...] = ()
    members: tuple[GroupMember, ...] = ()
    configs: tuple[ToldConfig, ...] = ()
    assigned: tuple[PastedAssignment, ...] = ()
    moves: tuple[PastedMove, ...] = ()
    elected: tuple[Elected, ...] = ()
    told: tuple[ToolStatement, ...] = ()
    files: tuple[ListedFile, ...] = ()
    used: tuple[Used, ...] = ()
    logs: tuple[PastedLogLine, ...] = ()
    settings: tuple[BrokerSettings, ...] = ()
    dumps: tuple[ThreadDump, ...] = ()
    hosts: tuple[HostSaid, ...] = ()
    beside: tuple[Beside, ...] = ()
    not_kept: tuple[NotKept, ...] = ()
    not_understood: tuple[NotUnderstood, ...] = ()

    @property
    def latest(self) -> tuple[DescribedPartition, ...]:
        """Last pasted description of each partition."""
        return tuple({(row.topic, row.partition): row for row in self.partitions}.values())

    @property
    def tells(self) -> bool:
        """Whether a notebook can use it: it has more than names of outputs that answer nothing."""
        rows = (self.offsets, self.groups, self.members, self.dumps, self.files, self.used, self.logs)
        return (
            any(rows)
            or any(told.says for told in self.told)
            or any(said.tells and TABLE not in said.facts for said in self.hosts)
        )

    def heading(self, line: int) -> str:
        """Text of the last heading before a line with no command between them; ``""`` for none."""
        before = [each for each in self.beside if each.span.last < line and (each.heading or each.typed)]
        return before[-1].heading if before else ""

    @property
    def kraft(self) -> int | None:
        """Line that identifies a KRaft cluster: only that has a metadata quorum and eligible leader replicas (KIP-966).

        ``Elr:`` is ``N/A`` when the brokers do not report it (``TopicCommand.java@3.9.0``, ``printDescription``).
        """
        quorum = [told.span.first for told in self.told if told.tool in (METADATA_QUORUM, QUORUM_REPLICATION)]
        eligible = [row.span.first for row in self.partitions if row.eligible is not None]
        return min((*quorum, *eligible), default=None)
