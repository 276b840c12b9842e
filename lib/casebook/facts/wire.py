"""Answers of brokers to requests of Kafka's own protocol, as frozen rows.

The fields keep the names of Kafka's protocol (``clients/src/main/resources/common/message/*.json@3.9.2``).
"""

from collections.abc import Mapping
from typing import NamedTuple

ANSWERS = "wire/answers.jsonl"


class BrokerAnswer(NamedTuple):
    """A part of an answer: a line of ``wire/answers.jsonl``.

    Args:
        api: Name of the request, e.g. ``METADATA``.
        subject: Subject of this part: ``topics/<t>``, ``topics/<t>/<p>``, ``brokers/<id>``, ``groups/<g>``; ``cluster`` for the
            rest of the answer.
        broker: Broker that answered; ``None`` for a bootstrap address.
        at: When it answered, epoch ms by the collector's clock.
        version: Version of the request.
        fields: Fields of this part.
    """

    api: str
    subject: str
    broker: int | None
    at: int
    version: int
    fields: Mapping[str, object]
