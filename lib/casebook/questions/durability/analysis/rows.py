"""Rows of the durability audit: settings, losses, single copies, times when acks=all was acks=1. ``None`` is unknown."""

from typing import NamedTuple


class SettingRow(NamedTuple):
    """A row of ``tables/settings``: the value that counts.

    Args:
        entity: ``broker 1`` or ``topic payments``.
        key: As the entity names it.
        value: As Kafka takes it; empty: not set; ``None``: unknown.
        origin: See :mod:`casebook.kafka.settings`.
        overridden: What it hides, the strongest first: ``server.properties: 2; built-in default: 1``.
        brokers: On which brokers; of a topic, brokers that disagree have a row each.
    """

    entity: str
    key: str
    value: str | None
    origin: str
    overridden: str
    brokers: tuple[int, ...]


class LossVerdict(NamedTuple):
    """A row of ``tables/loss_verdicts``: what is lost when, by one rule.

    Args:
        topic: ``None``: every topic.
        producer: ``None``: every producer.
        consumer: ``None``: every consumer.
        rule: ``D1`` and so on; see :mod:`casebook.questions.durability.analysis.rules`.
        severity: ``critical``: one failure is enough; ``warning``: it takes two, or a habit of the application; ``info``: nothing
            acknowledged is lost, or only in a disaster. ``None``: whether the rule holds is unknown.
        sentence: You lose X when Y; or what is not known.
        smallest_change: What ends it; empty where it is not known to hold.
        cost: Of the change: latency, availability, space.
        proof: Znode, line or table.
    """

    topic: str | None
    producer: str | None
    consumer: str | None
    rule: str
    severity: str | None
    sentence: str
    smallest_change: str
    cost: str
    proof: str


class Exposure(NamedTuple):
    """A row of ``tables/single_copies``: what goes with one broker.

    Args:
        broker: Its id.
        partitions: With their only copy on it.
        topics: Topics of these.
        bytes: Of these copies; ``None`` where a size is unknown.
        unknown: Copies of unknown size.
    """

    broker: int
    partitions: int
    topics: tuple[str, ...]
    bytes: int | None
    unknown: int


class IsrAlone(NamedTuple):
    """A row of ``tables/isr_alone``: how long acks=all was acks=1.

    Args:
        topic: Topic name.
        partition: Partition number.
        milliseconds: With one replica in sync, a leader, and min.insync.replicas 1 or not known; at least, where ``open`` or
            where transactions are missing.
        at_most: It was no longer to the end of the history: so many, where all that nobody knows of was so, too.
        times: How often it began.
        first: When it first began, epoch ms by ZooKeeper's clock.
        last: When it last ended, or the history did.
        open: Whether it still was so at the end.
        min_isr: min.insync.replicas by which it was judged: as the topic's settings then were; ``None``: unknown, and so is
            whether acks=all was acks=1.
        proof: Transaction that began the first of them.
    """

    topic: str
    partition: int
    milliseconds: int
    at_most: int
    times: int
    first: int
    last: int
    open: bool
    min_isr: str | None
    proof: str


class ClientRow(NamedTuple):
    """A row of ``tables/client_settings``: what counts for a producer or consumer.

    Args:
        client: Its name.
        kind: ``producer`` or ``consumer``.
        key: Java's name of the setting.
        value: ``None``: unknown; empty: not set.
        origin: Line of a file, default of a release, or why it is unknown.
    """

    client: str
    kind: str
    key: str
    value: str | None
    origin: str


class Difference(NamedTuple):
    """A row of ``tables/audit_changes``: what is not as it was in the earlier case.

    Args:
        what: ``setting`` or ``verdict``.
        entity: Whose setting, or which topic, producer or consumer.
        key: Name of the setting, or rule.
        before: Value and origin, or sentence; ``None``: there was none.
        after: The same of now.
        severity: Of a verdict: as it is now, or was before it was gone; ``None`` for settings, and where it is not known.
    """

    what: str
    entity: str
    key: str
    before: str | None
    after: str | None
    severity: str | None = None
