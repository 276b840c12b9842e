"""Questions to people, with answers in no file."""

from collections.abc import Iterator
from typing import NamedTuple

from casebook.questions.durability.analysis.clients import AuditedClient
from casebook.questions.durability.analysis.scene import DurabilityInputs


class Ask(NamedTuple):
    """A question to a person.

    Args:
        whom: Owner of the application or cluster.
        question: Question.
        why: What depends on the answer.
    """

    whom: str
    question: str
    why: str


def questions(scene: DurabilityInputs) -> tuple[Ask, ...]:
    """Return the questions, producers first."""
    return (*_of_producers(scene), *_of_consumers(scene), *_of_cluster(scene))


def _of_producers(scene: DurabilityInputs) -> Iterator[Ask]:
    for producer in scene.producers:
        yield Ask(
            f"producer {producer.name}",
            ("Does it check the result of every send (callback, future or delivery report), and what does it do with a failure?"),
            "A failed send is lost without notice if its result is not checked, whatever acks and retries are.",
        )
        if producer["linger.ms"].value not in ("0", None):
            yield Ask(
                f"producer {producer.name}",
                "Does it call flush() or close() before it ends?",
                f"Up to {producer['linger.ms'].value} ms of records wait in its memory (linger.ms).",
            )
        yield from _unknown(producer)
    if not scene.producers:
        yield Ask("every producer", "Which acks, retries and enable.idempotence does it run with?", "Rules D1, D3, D7 and D17.")


def _of_consumers(scene: DurabilityInputs) -> Iterator[Ask]:
    for consumer in scene.consumers:
        if consumer["enable.auto.commit"].flag is False:
            question = "Does it commit only what was fully processed, also when threads share the work?"
        else:
            question = "Is every record processed before the next poll, or passed to another thread?"
        yield Ask(
            f"consumer {consumer.name}", question, "A record that is committed before it is processed is skipped after a crash."
        )
        yield from _unknown(consumer)
    if not scene.consumers:
        yield Ask(
            "every consumer", "Does it commit automatically, and where does it start without an offset?", "Rules D9 and D10."
        )


def _unknown(client: AuditedClient) -> Iterator[Ask]:
    keys = [key for key, value in client.values.items() if value.value is None]
    if keys:
        default = any("release" in client[key].origin for key in keys)
        which = "Which client library and release is it? " if default else ""
        yield Ask(
            f"{client.kind} {client.name}",
            f"{which}What are {', '.join(keys)} at run time?",
            "Its file does not show it: a variable, an include, or a default that depends on the release.",
        )


def _of_cluster(scene: DurabilityInputs) -> Iterator[Ask]:
    if any(topic.together is None and topic.replicated for topic in scene.topics):
        yield Ask(
            "the cluster",
            "Which brokers share power, a switch or a host?",
            ("Not every broker has a broker.rack: whether one power cut can stop all copies of a partition is unknown (D15)."),
        )
