"""Apply every rule to all its subjects, and find the worst result for a topic, a producer and a consumer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.questions.durability.analysis.clients import AuditedClient
from casebook.questions.durability.analysis.rows import LossVerdict
from casebook.questions.durability.analysis.rules import CLUSTER, PAIR, PRODUCER, RULES, TOPIC, Rule
from casebook.questions.durability.analysis.scene import LOSES, UNKNOWN, DurabilityInputs, JudgedRule
from casebook.questions.durability.analysis.topics import TopicFacts

_RANK = {"critical": 0, "warning": 1, None: 2, "info": 3}
ORDER = tuple(RULES)


class RuleAnswer(NamedTuple):
    """Answer of a rule for one subject.

    Args:
        rule: Id.
        topic: ``None`` when not about one topic.
        producer: ``None`` when not about one producer.
        consumer: ``None`` when not about one consumer.
        judged: Answer.
    """

    rule: str
    topic: str | None
    producer: str | None
    consumer: str | None
    judged: JudgedRule


def answers(scene: DurabilityInputs) -> tuple[RuleAnswer, ...]:
    """Return the answers of every rule for all its subjects, rule by rule."""
    whole = scene.cluster.proofs.whole.label
    asked = (answer for rule in RULES.values() for answer in _asked(scene, rule))
    return tuple(one if one.judged.proof else one._replace(judged=one.judged._replace(proof=whole)) for one in asked)


def _asked(scene: DurabilityInputs, rule: Rule) -> Iterator[RuleAnswer]:
    if rule.scope == TOPIC:
        for topic in scene.topics:
            yield RuleAnswer(rule.id, topic.name, None, None, rule.judge(scene, topic))
    elif rule.scope == PAIR:
        for producer in scene.producers:
            for topic in scene.topics:
                if not topic.internal and producer.uses(topic.name):
                    yield RuleAnswer(rule.id, topic.name, producer.name, None, rule.judge(scene, topic, producer))
    elif rule.scope == CLUSTER:
        yield RuleAnswer(rule.id, None, None, None, rule.judge(scene))
    else:
        for client in scene.producers if rule.scope == PRODUCER else scene.consumers:
            own = (client.name, None) if rule.scope == PRODUCER else (None, client.name)
            yield RuleAnswer(rule.id, None, *own, rule.judge(scene, client))


def rows(found: Iterable[RuleAnswer]) -> tuple[LossVerdict, ...]:
    """Return possible losses and unknowns, worst first."""
    told = [_row(answer) for answer in found if answer.judged.outcome in (LOSES, UNKNOWN)]
    return tuple(sorted(told, key=rank))


def rank(row: LossVerdict) -> tuple[object, ...]:
    """Worst first: by severity, rule, topic, producer, consumer."""
    return _RANK[row.severity], ORDER.index(row.rule), row.topic or "", row.producer or "", row.consumer or ""


def _row(answer: RuleAnswer) -> LossVerdict:
    judged = answer.judged
    return LossVerdict(
        topic=answer.topic,
        producer=answer.producer,
        consumer=answer.consumer,
        rule=answer.rule,
        severity=judged.severity,
        sentence=judged.sentence,
        smallest_change=judged.change,
        cost=judged.cost,
        proof=judged.proof,
    )


def on_the_way(
    found: Sequence[LossVerdict], topic: TopicFacts, producer: AuditedClient | None, consumer: AuditedClient | None
) -> list[LossVerdict]:
    """Return the possible losses of a record of a topic from a producer to a consumer, worst first.

    Args:
        found: In the order of :func:`rows`.
        topic: Topic of the record.
        producer: ``None``: an unknown one.
        consumer: ``None``: an unknown one.
    """
    return [
        row
        for row in found
        if row.topic in (None, topic.name)
        and row.producer in (None, producer.name if producer else None)
        and row.consumer in (None, consumer.name if consumer else None)
        and not _beside(row, producer)
    ]


def _beside(row: LossVerdict, producer: AuditedClient | None) -> bool:
    """Return whether a verdict on acks=all is irrelevant, as the producer does not use it."""
    return row.rule in ("D4", "D16") and producer is not None and producer["acks"].value in ("0", "1")


def of_topics(found: Iterable[RuleAnswer]) -> Mapping[str, Mapping[str, JudgedRule]]:
    """Return by topic the worst answer of each rule on topics, alone or with a producer."""
    by: dict[str, dict[str, JudgedRule]] = {}
    for answer in found:
        if answer.topic is not None:
            held = by.setdefault(answer.topic, {}).get(answer.rule)
            if held is None or _weight(answer.judged) < _weight(held):
                by[answer.topic][answer.rule] = answer.judged
    return by


def _weight(judged: JudgedRule) -> int:
    return _RANK[judged.severity] if judged.outcome in (LOSES, UNKNOWN) else 4
