"""Client settings relevant for durability, or for the kind of file, in the names of Java, librdkafka and Spring Boot."""

import re
from collections.abc import Iterator

from casebook.facts.clients import CONSUMER, JAVA, LIBRDKAFKA, PRODUCER, SCALA

_NAMES: dict[str, tuple[str, str]] = {
    "acks": (PRODUCER, "acks"),
    "request.required.acks": (PRODUCER, "acks"),
    "retries": (PRODUCER, "retries"),
    "message.send.max.retries": (PRODUCER, "retries"),
    "delivery.timeout.ms": (PRODUCER, "delivery.timeout.ms"),
    "message.timeout.ms": (PRODUCER, "delivery.timeout.ms"),
    "enable.idempotence": (PRODUCER, "enable.idempotence"),
    "max.in.flight.requests.per.connection": (PRODUCER, "max.in.flight.requests.per.connection"),
    "max.in.flight": (PRODUCER, "max.in.flight.requests.per.connection"),
    "linger.ms": (PRODUCER, "linger.ms"),
    "queue.buffering.max.ms": (PRODUCER, "linger.ms"),
    "transactional.id": (PRODUCER, "transactional.id"),
    "transaction.id.prefix": (PRODUCER, "transactional.id"),
    "enable.auto.commit": (CONSUMER, "enable.auto.commit"),
    "auto.commit.enable": (CONSUMER, "enable.auto.commit"),
    "enable.auto.offset.store": (CONSUMER, "enable.auto.offset.store"),
    "auto.offset.reset": (CONSUMER, "auto.offset.reset"),
    "isolation.level": (CONSUMER, "isolation.level"),
    "session.timeout.ms": (CONSUMER, "session.timeout.ms"),
    "group.id": (CONSUMER, "group.id"),
}
"""Owner of a setting and its Java name, by each of its names (``CONFIGURATION.md@v2.11.0`` of librdkafka)."""
GIVES_AWAY = {
    SCALA: ("producer.type", "serializer.class", "key.serializer.class"),
    LIBRDKAFKA: (
        "request.required.acks", "message.send.max.retries", "message.timeout.ms", "queue.buffering.max.ms", "max.in.flight",
        "queue.buffering.max.messages", "enable.auto.offset.store", "socket.keepalive.enable", "api.version.request",
        "broker.version.fallback", "sasl.mechanisms", "sasl.username", "ssl.ca.location", "statistics.interval.ms",
        "enable.partition.eof", "enable.gapless.guarantee",
    ),
    JAVA: (
        "key.serializer", "value.serializer", "key.deserializer", "value.deserializer", "buffer.memory", "max.block.ms",
        "interceptor.classes", "partitioner.class", "max.poll.records", "sasl.jaas.config", "ssl.truststore.location",
        "block.on.buffer.full", "metric.reporters", "partition.assignment.strategy.class",
    ),
}  # fmt: skip
"""Settings of a single library, most characteristic library first."""
PRODUCERS_ONLY = (
    "key.serializer", "value.serializer", "buffer.memory", "max.block.ms", "batch.size", "compression.type", "producer.type",
    "serializer.class", "partitioner.class", "queue.buffering.max.messages", "transaction.timeout.ms", "compression.codec",
    "enable.gapless.guarantee",
)  # fmt: skip
CONSUMERS_ONLY = (
    "key.deserializer", "value.deserializer", "max.poll.records", "max.poll.interval.ms", "fetch.min.bytes", "fetch.max.wait.ms",
    "auto.commit.interval.ms", "heartbeat.interval.ms", "partition.assignment.strategy", "enable.partition.eof",
)  # fmt: skip
TELLING = frozenset({*PRODUCERS_ONLY, *CONSUMERS_ONLY}.union(*GIVES_AWAY.values()))
SECTIONS = frozenset({"producer", "outgoing", "consumer", "incoming"})
"""Section names of a producer, or of a consumer."""

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

Path = tuple[str, ...]
"""Names that lead to a setting, outermost first."""


def tokens(name: str) -> Path:
    """Split ``enable.auto.commit``, ``enableAutoCommit``, ``ENABLE_AUTO_COMMIT`` and ``enable-auto-commit`` alike."""
    return tuple(token.lower() for token in _TOKEN.findall(name))


_BY_TOKENS = {tokens(name): known for name, known in _NAMES.items()}
_MOST_TOKENS = max(map(len, _BY_TOKENS))


def matched(path: Path) -> tuple[str, str, str] | None:
    """Return role, Java name, and prefix; ``None`` for an irrelevant setting.

    The name must be the whole ending of the last element, or span the elements above it, like ``auto.offset.reset``.
    """
    words = tokens(".".join(path))
    for length in range(min(_MOST_TOKENS, len(words)), 0, -1):
        known = _BY_TOKENS.get(words[-length:])
        if known is None:
            continue
        role, key = known
        rest = ".".join(words[:-length])
        if length == 1 and not _stands_alone(path):
            return None
        return role, key, rest
    return None


def _stands_alone(path: Path) -> bool:
    """Return whether a one-word name is in a known place: ``producer.acks`` is acks, that of another section is not."""
    above = set(tokens(".".join(path))[:-1])
    return not above or not above.isdisjoint({"producer", "kafka", "outgoing", "topic", "properties", "override", "config"})


def endings(name: str) -> Iterator[str]:
    """Yield the name and its endings without each leading element: ``key.serializer``."""
    parts = name.replace("-", ".").replace("_", ".").split(".")
    for begin in range(min(len(parts), _MOST_TOKENS + 6)):
        yield ".".join(parts[begin:])
