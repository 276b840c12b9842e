"""How long a producer retries, and whether that outlasts a broker failure."""

from casebook.facts.clients import JAVA, LIBRDKAFKA
from casebook.kafka.defaults import CLIENT_BACKOFF_GROWS
from casebook.kafka.releases import KafkaVersion
from casebook.questions.durability.analysis.clients import AuditedClient
from casebook.questions.durability.analysis.scene import DurabilityInputs, assumed, origin

_ELECTION = 5_000
"""Milliseconds that an election may take after the end of the session."""
_BACKOFF, _LONGEST_BACKOFF = 100, 1_000
"""Milliseconds: the defaults of retry.backoff.ms, in every library, and of retry.backoff.max.ms."""
_SHORTEST_DEATH = 100 * _BACKOFF
"""Minimum milliseconds of a failover: a usual session timeout, and an election."""
_LONGEST_DEATH = 3_600_000
"""Maximum milliseconds of a failover: ZooKeeper grants sessions of 20 ticks at most by default, 40 s."""


def death(scene: DurabilityInputs) -> int | None:
    """Return milliseconds from a leader's failure to the next one: session timeout and election; ``None`` when unknown.

    An assumed session timeout, without a broker's startup settings, counts as unknown.
    """
    sessions = scene.of_brokers("zookeeper.session.timeout.ms")
    numbers = [setting.number for setting in sessions]
    if not numbers or None in numbers or assumed(sessions):
        return None
    return max(number for number in numbers if number is not None) + _ELECTION


def death_unknown(scene: DurabilityInputs) -> str:
    """Return why :func:`death` is unknown."""
    return f"zookeeper.session.timeout.ms: {origin(scene.of_brokers('zookeeper.session.timeout.ms'))}"


def outlasts(milliseconds: int, scene: DurabilityInputs) -> bool | None:
    """Return whether retries of this length reach the next leader; ``None``: unknown."""
    needed = death(scene)
    if needed is not None:
        return milliseconds >= needed
    return True if milliseconds >= _LONGEST_DEATH else False if milliseconds < _SHORTEST_DEATH else None


def lasting(producer: AuditedClient, tries: int) -> tuple[int, int]:
    """Return the minimum and maximum milliseconds until a producer has used up its retries, at the default retry.backoff.ms.

    An immediate refusal (NOT_ENOUGH_REPLICAS, NOT_LEADER) uses a retry: ``Sender.java@2.8.2`` (canRetry). Backoff grows from
    KIP-580 on: ``ExponentialBackoff.java@3.7.0``, ``CONFIGURATION.md@v2.3.0``.
    """
    grows = _grows(producer)
    even, growing = tries * _BACKOFF, _growing(tries)
    return (growing if grows else even), (even if grows is False else growing)


def _growing(tries: int) -> int:
    doubling = [_BACKOFF << attempt for attempt in range(min(tries, 4))]
    return sum(doubling) + (tries - len(doubling)) * _LONGEST_BACKOFF


def _grows(producer: AuditedClient) -> bool | None:
    """Return whether each retry waits longer than the one before; ``None``: unknown."""
    since = {CLIENT_BACKOFF_GROWS.get(name) for name in ((producer.library,) if producer.library else (JAVA, LIBRDKAFKA))}
    first = next(iter(since))
    if len(since) > 1 or (first is not None and producer.version is None):
        return None
    return first is not None and producer.version is not None and producer.version >= KafkaVersion.parse(first)
