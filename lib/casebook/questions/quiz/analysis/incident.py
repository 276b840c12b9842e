"""Common data of the quiz questions: an incident with offline partitions, and the effect of each start."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from casebook.facts.cluster import Cluster
from casebook.findings.words import some
from casebook.kafka.verdict import PartitionCondition, Verdict, offline
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.leadership.analysis.start_first import DUE, StartChoice, elected_unclean
from casebook.questions.quiz.analysis.past import LastInSync

HANDY = 24
"""Maximum number of partitions that a person can be asked to examine."""
CITED = 3
"""Number of znodes cited in an explanation."""
_NOTHING = "Every partition that can be judged has a living leader: there is no incident of this kind."
_NEVER_LED = "No partition has lost its leader: those without one never had a state."
_UNREAD = "The registered brokers are not in this evidence."


@dataclass(frozen=True, kw_only=True)
class QuizIncident:
    """A case for the quiz, with the verdicts and the start order of notebook 20.

    Args:
        last_in_sync: Last non-empty ISR of a partition, if the case has its history; see :mod:`.past`.
        stored: Stored states of partitions, by path.
    """

    lead: Leadership
    last_in_sync: Mapping[tuple[str, int], LastInSync] = field(default_factory=dict)
    stored: Mapping[str, bytes | None] = field(default_factory=dict)

    @property
    def cluster(self) -> Cluster:
        """Cluster of the case."""
        return self.lead.cluster

    @cached_property
    def offline(self) -> tuple[Verdict, ...]:
        """Partitions without a live leader."""
        return tuple(offline(self.lead.verdicts))

    @cached_property
    def heals(self) -> dict[int, int]:
        """Number of partitions that each dead broker would heal if started first."""
        return {choice.broker: choice.heals for choice in self.lead.start_first if choice.step == 1}

    @cached_property
    def best(self) -> tuple[StartChoice, ...]:
        """Start that notebook 20 recommends, and equally good ones; none when no start heals anything."""
        firsts = [choice for choice in self.lead.start_first if choice.step == 1]
        best = next((choice for choice in firsts if choice.chosen), None)
        return tuple(choice for choice in firsts if self._is_as_good(choice, best)) if best else ()

    def _is_as_good(self, choice: StartChoice, best: StartChoice) -> bool:
        """Return whether it heals as many, with no more unclean elections."""
        return choice.heals == best.heals and len(self.led_unclean(choice.broker)) <= len(self.led_unclean(best.broker))

    def led_unclean(self, broker: int) -> tuple[Verdict, ...]:
        """Return the partitions that a dead broker would lead without being in sync, if started first."""
        return elected_unclean(self.offline, (broker,))

    def states(self, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
        """Return where the states of the first partitions stand, to cite them."""
        return tuple(self.cluster.proofs.state(v.topic, v.partition).label for v in verdicts[:CITED])

    def in_sync_last(self, verdict: Verdict) -> tuple[int, ...]:
        """Return the last non-empty ISR of a partition; empty when unknown."""
        last = self.last_in_sync.get((verdict.topic, verdict.partition))
        return last.isr if last else ()

    def healed_by(self, broker: int) -> tuple[Verdict, ...]:
        """Return the partitions that :attr:`heals` counts for a dead broker."""
        return tuple(v for v in self.offline if v.rule in DUE or broker in v.waits_for)

    @cached_property
    def due(self) -> tuple[Verdict, ...]:
        """Return those that any start would heal."""
        return tuple(verdict for verdict in self.offline if verdict.rule in DUE)

    @cached_property
    def _never_led(self) -> bool:
        return any(verdict.state is PartitionCondition.UNINITIALISED for verdict in self.lead.verdicts)

    @property
    def leaves_out(self) -> str:
        """Return the remark on partitions without a leader that are not counted; ``""`` without any."""
        return " Partitions without a state never had a leader: leave them out." if self._never_led else ""

    def missing(self) -> dict[str, str]:
        """Reasons for questions that cannot be asked: the answer is unknown, or there is no subject."""
        if not self.cluster.brokers_known:
            return {"cannot_tell": _UNREAD}
        return {} if self.offline else {"not_asked": _NEVER_LED if self._never_led else _NOTHING}


def named(found: Iterable[Verdict]) -> str:
    """List partitions for people."""
    return some([f"{verdict.topic}-{verdict.partition}" for verdict in found], HANDY, ", ", " and")
