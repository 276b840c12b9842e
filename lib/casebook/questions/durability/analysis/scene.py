"""Inputs and answers of the durability rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from casebook.facts.clients import CONSUMER, PRODUCER
from casebook.facts.cluster import Cluster
from casebook.findings.finding import Severity
from casebook.kafka.commands import Commands
from casebook.kafka.releases import KafkaVersion, VersionInUse
from casebook.kafka.settings import (
    ANSWERED,
    BUILT_IN_ASSUMED,
    BUILT_IN_OF_SOME,
    DYNAMIC_BROKER,
    DYNAMIC_DEFAULT,
    PRINTED,
    SERVER_PROPERTIES,
    Setting,
    Settings,
)
from casebook.questions.durability.analysis.clients import AuditedClient
from casebook.questions.durability.analysis.settings import brokers_of, said
from casebook.questions.durability.analysis.topics import TopicFacts

LOSES, HOLDS, UNKNOWN, NOT_APPLICABLE = "loses", "holds", "unknown", "not applicable"
CRITICAL, WARNING, INFO = Severity.CRITICAL.value, Severity.WARNING.value, Severity.INFO.value


class JudgedRule(NamedTuple):
    """Answer of a rule.

    Args:
        outcome: :data:`LOSES`, :data:`HOLDS` (nothing is lost by it), :data:`UNKNOWN` or :data:`NOT_APPLICABLE`.
        severity: ``critical``: by one failure; ``warning``: by two, or by the application's behaviour; ``info``: nothing
            acknowledged is lost, or only in a disaster.
        sentence: You lose X when Y; or what is unknown, or why nothing is lost.
        change: Smallest remedy.
        cost: Cost of the change.
        proof: Znode, line or table; empty for the cluster as a whole.
    """

    outcome: str
    sentence: str
    severity: str | None = None
    change: str = ""
    cost: str = ""
    proof: str = ""


def loses(
    severity: str, sentence: str, *, change: str, cost: str, proof: str = "", by: Iterable[Sequence[Setting]] = ()
) -> JudgedRule:
    """Return a possible loss; only a potential one when it depends on an assumed default.

    Args:
        by: Required settings, one of each: when all of one are only assumed, so is the loss.
    """
    if any(len(assumed(settings)) == len(settings) for settings in by):
        return unknown(f"Possible, if the assumed default holds: {sentence[0].lower()}{sentence[1:]}", proof)
    return JudgedRule(LOSES, sentence, severity, change, cost, proof)


def holds(sentence: str) -> JudgedRule:
    """Return that nothing is lost by this rule."""
    return JudgedRule(HOLDS, sentence)


def unknown(sentence: str, proof: str = "") -> JudgedRule:
    """Return that a possible loss is unknown; the sentence says what would settle it."""
    return JudgedRule(UNKNOWN, sentence, proof=proof)


def beside(sentence: str) -> JudgedRule:
    """Return that the rule does not apply."""
    return JudgedRule(NOT_APPLICABLE, sentence)


def without_copies(topic: TopicFacts) -> JudgedRule:
    """Return the answer for a topic without a known second copy.

    Rules on followers do not apply, unless its copies are unreadable.
    """
    if not topic.factors:
        return unknown(f"The replication factor of {topic.name} could not be read.", topic.proof)
    return beside("There is only one copy: see D2.")


@dataclass(frozen=True, kw_only=True)
class DurabilityInputs:
    """Inputs of the rules.

    Args:
        topics: Topics by name.
        clients: Producers and consumers.
        untold: Given clients with unknown settings.
    """

    cluster: Cluster
    version: VersionInUse
    settings: Settings
    topics: tuple[TopicFacts, ...]
    clients: tuple[AuditedClient, ...]
    untold: tuple[str, ...] = ()

    @cached_property
    def brokers(self) -> tuple[int, ...]:
        """Brokers with relevant settings."""
        return brokers_of(self.cluster)

    @cached_property
    def producers(self) -> tuple[AuditedClient, ...]:
        """Clients that write."""
        return tuple(client for client in self.clients if client.kind == PRODUCER)

    @cached_property
    def consumers(self) -> tuple[AuditedClient, ...]:
        """Clients that read."""
        return tuple(client for client in self.clients if client.kind == CONSUMER)

    @cached_property
    def by_name(self) -> dict[str, TopicFacts]:
        """Topics by name."""
        return {topic.name: topic for topic in self.topics}

    @property
    def release(self) -> KafkaVersion:
        """Release of the rules."""
        return self.version.version

    def before(self, release: str) -> bool:
        """Return whether the brokers are older than a release."""
        return self.release < KafkaVersion.parse(release)

    def may_be_before(self, release: str) -> bool:
        """Return whether the evidence allows brokers older than a release, and others."""
        return self.version.may_be_before(KafkaVersion.parse(release))

    def of_brokers(self, key: str) -> tuple[Setting, ...]:
        """Return the effective values on the brokers, each once."""
        return tuple(dict.fromkeys(self.settings.of_broker(key, broker) for broker in self.brokers or (None,)))

    def proof_of(self, key: str, wanted: Iterable[str | None]) -> str:
        """Return the file or znode with a broker's value among ``wanted``; the table for a default."""
        values = set(wanted)
        found = ((broker, self.settings.of_broker(key, broker)) for broker in self.brokers)
        proofs = (self._proof(broker, setting.origin) for broker, setting in found if setting.value in values)
        return next(filter(None, proofs), "tables/settings")

    def _proof(self, broker: int, origin: str) -> str:
        if origin in (DYNAMIC_BROKER, DYNAMIC_DEFAULT):
            return self.cluster.proofs.broker_settings(str(broker) if origin == DYNAMIC_BROKER else "<default>").label
        if origin == SERVER_PROPERTIES:
            return f"brokers/{broker}/server.properties"
        return self.cluster.printed_settings[broker].proof if origin in (PRINTED, ANSWERED) else ""

    def alter_topic(self, topic: str, setting: str) -> str:
        """Return the command that sets a topic's configuration in this release."""
        return Commands(self.release, self.cluster.connect).set("topics", topic, setting)


def assumed(settings: Iterable[Setting]) -> list[Setting]:
    """Return assumed defaults: startup settings or the release are unknown, so nothing can be called safe, or lost."""
    return [setting for setting in settings if setting.origin in (BUILT_IN_ASSUMED, BUILT_IN_OF_SOME)]


def origin(settings: Sequence[Setting]) -> str:
    """Return the origin of values for brackets; for an assumed default, its release."""
    return ", ".join(dict.fromkeys(_assumed_of(one) if one.assumed else said(one) for one in settings))


def _assumed_of(setting: Setting) -> str:
    name = f" of {setting.key}" if setting.key else ""
    return f"assumed default of Kafka {setting.default_of}{name}, as server.properties was not collected"
