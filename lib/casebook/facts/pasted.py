"""Rows of pasted evidence: what a person copied out of a terminal, each with the lines that it came from.

``None`` is unknown, never zero: a paste says only what it says.
"""

from dataclasses import dataclass
from typing import NamedTuple

from casebook.facts.pasted_hosts import TABLE, HostSaid, LineSpan, ListedFile, ThreadDump, Used
from casebook.facts.znodes import Stat

PASTED = "pasted/pasted.txt"
"""Where a case keeps a paste, line by line."""
NOT_PASTED = "not pasted"
"""Why a part of a pasted case is missing; each such reason says so in these words."""

METADATA_QUORUM = "kafka-metadata-quorum"
QUORUM_REPLICATION = "kafka-metadata-quorum --replication"


class PastedZnode(NamedTuple):
    """A znode as a paste shows it.

    Args:
        path: With its chroot; ``None`` where no path was pasted.
        span: The lines it stands in.
        data: As text; ``None`` when only its stat or its children were pasted.
        stat: As far as it was pasted.
        children: Names; ``None`` when they were not pasted.
        there: ``False`` for a znode that zkCli said is not there.
        undated: Times of the stat that bear no zone that is known, as printed.
    """

    path: str | None
    span: LineSpan
    data: str | None = None
    stat: Stat | None = None
    children: tuple[str, ...] | None = None
    there: bool = True
    undated: tuple[str, ...] = ()


class DescribedTopic(NamedTuple):
    """The first line of a topic.

    Args:
        partitions: How many it has.
        configs: What is printed behind ``Configs:``; ``None`` when that was not printed.
        topic_id: ``None`` where it is not printed: before 2.8.
        factor: Its replication factor, as printed.
    """

    topic: str
    span: LineSpan
    partitions: int
    configs: dict[str, str] | None = None
    deleting: bool = False
    topic_id: str | None = None
    factor: int | None = None


class DescribedPartition(NamedTuple):
    """A partition's line.

    Args:
        leader: ``None`` for none.
        adding: Brokers that a reassignment adds; ``None`` when that is not printed.
        removing: Brokers that a reassignment removes; ``None`` when that is not printed.
        offline: Replicas that ``Offline:`` names: their broker is dead, or its log dir; ``None`` when that is not printed.
        eligible: Replicas that ``Elr:`` names: KRaft's controller may elect them without loss; ``None`` when that is not
            printed, or as ``N/A``, which it is of every cluster with ZooKeeper.
        last_eligible: As ``eligible``, of ``LastKnownElr:``.
        dead_leader: The tool says that the named leader does not live: it stands in the list of
            ``--zookeeper ... --unavailable-partitions``.
        ordered: The first replica is the preferred leader.
        tool: Which printed it.
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
    """What a group has committed for a partition.

    Args:
        group: ``None`` where the layout does not tell it and no command was pasted.
        offset: Committed; ``None`` for none, or unknown.
        end: Of the partition's log.
    """

    group: str | None
    topic: str
    partition: int
    span: LineSpan
    offset: int | None
    end: int | None


class GroupSaid(NamedTuple):
    """What the tool says of a group as a whole.

    Args:
        what: In its words.
        coordinator: Id of the coordinator; ``None`` where it does not say.
    """

    group: str | None
    span: LineSpan
    what: str
    coordinator: int | None = None


class GroupMember(NamedTuple):
    """A member of a consumer group, as ``kafka-consumer-groups`` tells it.

    Args:
        group: ``None`` where the layout does not tell it and no command was pasted.
        member: Its id.
        host: As printed; ``None`` where it is not printed.
        client: Its client id; ``None`` where it is not printed.
        partitions: How many are assigned to it; ``None`` where that is not printed.
        assigned: Which; ``None`` where that is not printed.
    """

    group: str | None
    member: str
    span: LineSpan
    host: str | None = None
    client: str | None = None
    partitions: int | None = None
    assigned: tuple[tuple[str, int], ...] | None = None


class ToldConfig(NamedTuple):
    """Overrides of a topic or broker, as ``kafka-configs --describe`` tells them.

    Args:
        kind: ``topics`` or ``brokers``.
        entity: The topic, or the broker's id as text; ``<default>`` for all brokers.
        settings: Name and value; a secret, which is not printed, is ``[redacted]``.
        whole: There are no others: the list was not cut.
    """

    kind: str
    entity: str
    span: LineSpan
    settings: dict[str, str]
    whole: bool


class PastedAssignment(NamedTuple):
    """The replicas of a partition, as ``kafka-reassign-partitions`` tells them.

    Args:
        replicas: In order; during a reassignment with those that it has added so far.
        adding: Of a reassignment that is under way; ``None`` when nothing is said of any.
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


class PastedMove(NamedTuple):
    """How the reassignment of a partition stands.

    Args:
        target: Where it leads; ``None`` where that is not printed.
        ended: It is not under way, or not any more.
    """

    topic: str
    partition: int
    span: LineSpan
    target: tuple[int, ...] | None
    ended: bool


class Elected(NamedTuple):
    """A leader of a partition was elected, or its election was asked for: what was described before is not how it stands."""

    topic: str
    partition: int
    span: LineSpan


class ToolStatement(NamedTuple):
    """Something that a tool printed, by the tool's name.

    Args:
        tool: As people call it, e.g. ``kafka-log-dirs``.
        says: What it states that no other row holds, one sentence without end; ``""`` where other rows hold all of it.
        instead: What to paste for the question that it leaves open; ``""`` where it leaves none.
        bad: It tells of trouble.
    """

    tool: str
    span: LineSpan
    says: str = ""
    instead: str = ""
    bad: bool = False


class BrokerSettings(NamedTuple):
    """Lines of a broker's ``server.properties``; what the file says beside them is unknown.

    Args:
        broker: That they name, or a heading before them; ``None`` where nothing tells.
        lines: As they stand in the file, comments included, from the first line of the span on.
    """

    span: LineSpan
    broker: int | None
    lines: tuple[str, ...]


class PastedLogLine(NamedTuple):
    """A log line, put together where it was folded.

    Args:
        text: Without what mail and chat put before it.
        broker: Whose log; ``None`` where nothing tells.
        zookeeper: It is from the log of a ZooKeeper server.
        host: A line of the kernel's or of systemd's: the broker on whose host, where a heading tells.
    """

    span: LineSpan
    text: str
    broker: int | None
    zookeeper: bool
    host: int | None = None


class NotUnderstood(NamedTuple):
    """Lines that say nothing to us.

    Args:
        text: Of the first of them, cut.
        reason: Why, where there is more to say than that nobody knows them.
    """

    span: LineSpan
    text: str
    reason: str


class Beside(NamedTuple):
    """A line that is no answer: a command, a heading, a remark, what a tool says around its answers.

    Args:
        text: As it stands there.
        heading: What it announces by itself, e.g. a host; ``""`` for another line.
        typed: It is a command.
    """

    span: LineSpan
    text: str
    heading: str = ""
    typed: bool = False


class NotKept(NamedTuple):
    """What a line says that was read, and no row holds.

    Args:
        values: Each with its name, as printed.
    """

    span: LineSpan
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pasted:
    """What a paste holds; each in the order of the paste.

    Args:
        lines: How many lines it has, as far as they were read.
        znodes: Of ZooKeeper's answers.
        topics: Of ``kafka-topics --describe``.
        partitions: Of ``kafka-topics --describe``.
        offsets: Of ``kafka-consumer-groups --describe``.
        groups: What that says of groups as a whole.
        members: Of ``kafka-consumer-groups``.
        configs: Of ``kafka-configs``.
        assigned: Of ``kafka-reassign-partitions``.
        moves: Of ``kafka-reassign-partitions``.
        elected: Of ``kafka-leader-election`` and its forerunner.
        told: Outputs of Kafka's and ZooKeeper's tools by name, with what no other row holds.
        files: Of ``ls -l``.
        used: Of ``du`` and ``kafka-log-dirs``.
        logs: Log lines, put together where they were folded.
        settings: Of ``server.properties``.
        dumps: Of threads of brokers.
        hosts: What hosts and tools of those who run brokers say.
        beside: Lines that are no answers.
        not_kept: What lines say that were read, and no row holds.
        not_understood: Everything else that is not empty.
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
        """Of each partition the description that was pasted last."""
        return tuple({(row.topic, row.partition): row for row in self.partitions}.values())

    @property
    def tells(self) -> bool:
        """Whether a notebook can say anything of it: more than what an output is called that answers nothing."""
        rows = (self.offsets, self.groups, self.members, self.dumps, self.files, self.used, self.logs)
        return (
            any(rows)
            or any(told.says for told in self.told)
            or any(said.tells and TABLE not in said.facts for said in self.hosts)
        )

    def heading(self, line: int) -> str:
        """What the last heading before a line announces, with no command between them; ``""`` for none."""
        before = [each for each in self.beside if each.span.last < line and (each.heading or each.typed)]
        return before[-1].heading if before else ""

    @property
    def kraft(self) -> int | None:
        """The line that shows a KRaft cluster: it alone has a metadata quorum, and eligible leader replicas (KIP-966).

        ``Elr:`` is ``N/A`` where the brokers do not tell it (``TopicCommand.java@3.9.0``, ``printDescription``).
        """
        quorum = [told.span.first for told in self.told if told.tool in (METADATA_QUORUM, QUORUM_REPLICATION)]
        eligible = [row.span.first for row in self.partitions if row.eligible is not None]
        return min((*quorum, *eligible), default=None)
