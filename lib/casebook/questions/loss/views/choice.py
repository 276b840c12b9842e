"""Which lost records are looked at: those of a topic or partition, of a producer, of a cause, or whose id begins so."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from casebook.errors import UsageError, did_you_mean
from casebook.facts.losses import ALARM, LostRecord
from casebook.questions.loss.analysis.message_loss import MessageLoss


@dataclass(frozen=True, slots=True, kw_only=True)
class LossChoice:
    """What is looked at; ``None`` and ``""`` are everything.

    Args:
        topic: Topic name.
        partition: Partition number.
        record: What ids begin with.
        producer: As the ledger names it.
        cause: A value of :class:`casebook.facts.losses.Cause`, or ``alarm``.
    """

    topic: str | None = None
    partition: int | None = None
    record: str = ""
    producer: str | None = None
    cause: str | None = None

    def names(self, row: object) -> bool:
        """Whether a row is of what was chosen of topics and partitions; one of an unknown partition is of its topic alone."""
        return self.topic in (None, row.topic) and self.partition in (None, row.partition)

    def holds(self, row: LostRecord) -> bool:
        """Whether a record is looked at."""
        return (
            self.names(row)
            and row.id.startswith(self.record)
            and self.producer in (None, row.producer)
            and self.cause in (None, row.cause or ALARM)
        )

    @property
    def subject(self) -> str:
        """Topic or partition, as a parameter says it."""
        return "" if self.topic is None else named(self.topic, self.partition)

    def parameters(self) -> Mapping[str, str]:
        """As a notebook's parameters say it; producer and cause have none."""
        said = {"topic": self.subject, "record": self.record}
        return {name: value for name, value in said.items() if value}


def named(topic: str, partition: int | None) -> str:
    """A partition as Kafka's own tools write it; its topic where the partition is unknown."""
    return topic if partition is None else f"{topic}-{partition}"


def parse(found: MessageLoss, *, topic: str = "", record: str = "", producer: str = "", cause: str = "") -> LossChoice:
    """Read what a person typed, or a notebook's parameters; ``""`` for everything.

    Args:
        topic: A topic's name, or that of one of its partitions, ``orders-3``.
        record: What ids begin with.

    Raises:
        UsageError: Neither the ledger nor the evidence names that topic or partition.
    """
    name = topic.strip()
    known = set(_partitions(found))
    topics = {of for of, _ in known}
    base, dash, number = name.rpartition("-")
    rest = {"record": record.strip(), "producer": producer or None, "cause": cause or None}
    if not name or name in topics:
        return LossChoice(topic=name or None, **rest)
    if dash and number.isdecimal() and (base, int(number)) in known:
        return LossChoice(topic=base, partition=int(number), **rest)
    likely = sorted({*topics, *(named(*one) for one in known if one[1] is not None)})
    hint = did_you_mean(name, likely) if likely else "They name no topic at all."
    raise UsageError(f"topic={name} is neither in the ledger nor in the evidence.", try_=hint)


def _partitions(found: MessageLoss) -> Iterator[tuple[str, int | None]]:
    """Topic and partition of everything that is of one."""
    parts = (
        *(found.classes, found.counts, found.changes, found.limits, found.gaps, found.cut_ranges),
        *(found.compared.copies, found.prices),
    )
    yield from ((row.topic, row.partition) for rows in parts for row in rows)
