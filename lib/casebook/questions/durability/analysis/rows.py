"""Rows of the durability audit: settings, losses, single copies, times when acks=all was acks=1. ``None`` is unknown."""

from typing import NamedTuple

from casebook.facts.times import EpochMs


class SettingRow(NamedTuple):
    """A row of ``tables/settings``: an effective value.

    Columns:
        entity: broker and its id, or topic and its name.
        key: The setting, as the entity names it.
        value: The value that counts; empty: not set; null: unknown.
        origin: Its origin; in brackets the broker's name for it, if different.
        overridden: Values that it overrides, the strongest first.
        brokers: Brokers with this value; for a topic, one row per different value.
    """

    entity: str
    key: str
    value: str | None
    origin: str
    overridden: str
    brokers: tuple[int, ...]


class LossVerdict(NamedTuple):
    """A row of ``tables/loss_verdicts``: a possible loss, by one rule.

    Columns:
        topic: Null: every topic.
        producer: Null: every producer.
        consumer: Null: every consumer.
        rule: Number of the rule; see docs/rules.md.
        severity: critical: one failure is enough; warning: it takes two, or a habit; info: nothing acknowledged is lost, or only
            in a disaster; null: not known.
        sentence: The possible loss, or what is unknown.
        smallest_change: The smallest change that prevents it; empty if the loss is not certain.
        cost: Of the change: latency, availability, space.
        proof: Znode, file, line of a file, or table.
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
    """A row of ``tables/single_copies``: loss with one broker.

    Columns:
        broker: Broker that holds the only copy of partitions.
        partitions: How many.
        topics: Of these topics.
        bytes: Of these copies; null where the size of one is unknown.
        unknown: Copies of unknown size.
    """

    broker: int
    partitions: int
    topics: tuple[str, ...]
    bytes: int | None
    unknown: int


class IsrAlone(NamedTuple):
    """A row of ``tables/isr_alone``: how long acks=all was acks=1, by the topic's settings as they then were.

    Columns:
        topic: Topic name.
        partition: Partition number.
        milliseconds: How long the ISR is known to have been the leader alone, and min.insync.replicas 1 or unknown.
        at_most: How long it can have been to the end of the history: more where transactions are missing.
        times: How often that began.
        first: When it first began, by ZooKeeper's clock.
        last: When it last ended, or the history did.
        open: Whether it still was so at the end of the history.
        min_isr: min.insync.replicas of that time, the basis of the verdict; null: unknown, and so is acks=1.
        proof: Transaction that began the first of them.
    """

    topic: str
    partition: int
    milliseconds: int
    at_most: int
    times: int
    first: EpochMs
    last: EpochMs
    open: bool
    min_isr: str | None
    proof: str


class ClientRow(NamedTuple):
    """A row of ``tables/client_settings``: an effective setting of a producer or consumer.

    Columns:
        client: Its name, as it was collected.
        kind: producer or consumer.
        key: The setting, by the name of Java's client.
        value: The value that counts; empty: not set; null: unknown.
        origin: Line of its file, default of a release, or why it is unknown.
    """

    client: str
    kind: str
    key: str
    value: str | None
    origin: str


class Difference(NamedTuple):
    """A row of ``tables/audit_changes``: a change since the earlier case.

    Columns:
        what: verdict or setting.
        entity: Owner of the setting; or the topic, producer, consumer, or cluster.
        key: The setting, or the rule.
        before: Sentence, or value and origin, in the earlier case; null: there was none.
        after: The same, now.
        severity: Of a verdict, as it is now or was before it was gone; null for settings, or where not known.
    """

    what: str
    entity: str
    key: str
    before: str | None
    after: str | None
    severity: str | None = None
