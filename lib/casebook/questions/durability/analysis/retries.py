"""How long a producer goes on sending, and whether that is longer than a broker's death lasts."""

from casebook.facts.clients import JAVA, LIBRDKAFKA
from casebook.kafka.defaults import CLIENT_BACKOFF_GROWS
from casebook.kafka.releases import KafkaVersion
from casebook.questions.durability.analysis.clients import AuditedClient
from casebook.questions.durability.analysis.scene import DurabilityInputs, assumed, origin

_ELECTION = 5_000
"""Milliseconds that an election may take after the session has ended."""
_BACKOFF, _LONGEST_BACKOFF = 100, 1_000
"""Milliseconds: the defaults of retry.backoff.ms, in every library, and of retry.backoff.max.ms."""
_SHORTEST_DEATH = 100 * _BACKOFF
"""Milliseconds that no death lasts less: a session that is usual, and an election."""
_LONGEST_DEATH = 3_600_000
"""Milliseconds that no death lasts more: ZooKeeper grants sessions of 20 ticks at most by default, 40 s."""


def death(scene: DurabilityInputs) -> int | None:
    """Milliseconds from the death of a leader to the next one: its session and an election; ``None`` where not known.

    A session timeout that is only assumed, as nobody collected what a broker was started with, is not known.
    """
    sessions = scene.of_brokers("zookeeper.session.timeout.ms")
    numbers = [setting.number for setting in sessions]
    if not numbers or None in numbers or assumed(sessions):
        return None
    return max(number for number in numbers if number is not None) + _ELECTION


def death_unknown(scene: DurabilityInputs) -> str:
    """Why :func:`death` is not known."""
    return f"zookeeper.session.timeout.ms: {origin(scene.of_brokers('zookeeper.session.timeout.ms'))}"


def outlasts(milliseconds: int, scene: DurabilityInputs) -> bool | None:
    """Whether who goes on for so long sees the next leader; ``None``: not known."""
    needed = death(scene)
    if needed is not None:
        return milliseconds >= needed
    return True if milliseconds >= _LONGEST_DEATH else False if milliseconds < _SHORTEST_DEATH else None


def lasting(producer: AuditedClient, tries: int) -> tuple[int, int]:
    """Milliseconds, at least and at most, in which a producer has used up its retries, at the default retry.backoff.ms.

    A refusal that comes at once (NOT_ENOUGH_REPLICAS, NOT_LEADER) takes a try: ``Sender.java@2.8.2`` (canRetry). Backoff grows
    from KIP-580 on: ``ExponentialBackoff.java@3.7.0``, ``CONFIGURATION.md@v2.3.0``.
    """
    grows = _grows(producer)
    even, growing = tries * _BACKOFF, _growing(tries)
    return (growing if grows else even), (even if grows is False else growing)


def _growing(tries: int) -> int:
    doubling = [_BACKOFF << attempt for attempt in range(min(tries, 4))]
    return sum(doubling) + (tries - len(doubling)) * _LONGEST_BACKOFF


def _grows(producer: AuditedClient) -> bool | None:
    """Whether each retry waits longer than the one before; ``None``: not known."""
    since = {CLIENT_BACKOFF_GROWS.get(name) for name in ((producer.library,) if producer.library else (JAVA, LIBRDKAFKA))}
    first = next(iter(since))
    if len(since) > 1 or (first is not None and producer.version is None):
        return None
    return first is not None and producer.version is not None and producer.version >= KafkaVersion.parse(first)
