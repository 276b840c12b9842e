"""Filter of lost records: by topic or partition, producer, cause, or prefix of the id."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from casebook.errors import UsageError, did_you_mean
from casebook.facts.losses import ALARM, LostRecord
from casebook.questions.loss.analysis.message_loss import MessageLoss


@dataclass(frozen=True, slots=True, kw_only=True)
class LossChoice:
    """A filter; ``None`` and ``""`` match everything.

    Args:
        topic: Topic name.
        partition: Partition number.
        record: Prefix of ids.
        producer: As in the ledger.
        cause: A value of :class:`casebook.facts.losses.Cause`, or ``alarm``.
    """

    topic: str | None = None
    partition: int | None = None
    record: str = ""
    producer: str | None = None
    cause: str | None = None

    def names(self, row: object) -> bool:
        """Return whether a row matches topic and partition; one with an unknown partition matches by topic."""
        return self.topic in (None, row.topic) and self.partition in (None, row.partition)

    def holds(self, row: LostRecord) -> bool:
        """Return whether a record matches."""
        return (
            self.names(row)
            and row.id.startswith(self.record)
            and self.producer in (None, row.producer)
            and self.cause in (None, row.cause or ALARM)
        )

    @property
    def subject(self) -> str:
        """Return topic or partition, as in a parameter."""
        return "" if self.topic is None else named(self.topic, self.partition)

    def parameters(self) -> Mapping[str, str]:
        """Return the equivalent notebook parameters; producer and cause have none."""
        said = {"topic": self.subject, "record": self.record}
        return {name: value for name, value in said.items() if value}


def named(topic: str, partition: int | None) -> str:
    """Format a partition like Kafka's own tools; only the topic when the partition is unknown."""
    return topic if partition is None else f"{topic}-{partition}"


def parse(found: MessageLoss, *, topic: str = "", record: str = "", producer: str = "", cause: str = "") -> LossChoice:
    """Parse typed values, or a notebook's parameters; ``""`` for everything.

    Args:
        topic: A topic name, or that of a partition, ``orders-3``.
        record: Prefix of ids.

    Raises:
        UsageError: The topic or partition is in neither the ledger nor the evidence.
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
    """Yield topic and partition of everything with one."""
    parts = (
        *(found.classes, found.counts, found.changes, found.limits, found.gaps, found.cut_ranges),
        *(found.compared.copies, found.prices),
    )
    yield from ((row.topic, row.partition) for rows in parts for row in rows)
