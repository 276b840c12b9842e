"""Order of broker starts: dead brokers ranked by the partitions that each heals, those without loss first; step by step."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from casebook.kafka.verdict import OFFLINE, Verdict

DUE = frozenset({"R2", "R8"})
"""Rules that end on any broker start, which triggers an election."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartChoice:
    """A row of ``tables/start_first``: effect of starting this broker at this step.

    Columns:
        step: 1 for the first broker to start, 2 for the second, and so on.
        broker: A broker that is dead at this step.
        heals: Partitions that get a leader by starting it at this step.
        chosen: Whether it is the best choice of its step; the next step begins after it.
        still_offline_after: Partitions without leader after it.
    """

    step: int
    broker: int
    heals: int
    chosen: bool
    still_offline_after: int


def start_first(verdicts: Iterable[Verdict], dead: Sequence[int]) -> tuple[StartChoice, ...]:
    """Rank the dead brokers, step by step, until no start heals anything more.

    The best choice of a step loses nothing that another start could heal without loss; among those it heals most, then has the
    lowest id. Each partition is healed by the start of any broker it waits for, alone; one with a due election is healed by the
    first start of any broker.
    """
    waiting = Counter(_healers(v, dead) for v in verdicts if v.state in OFFLINE)
    rows: list[StartChoice] = []
    remaining = sorted(dead)
    step = 1
    while remaining:
        heals = {broker: sum(n for healers, n in waiting.items() if broker in healers.any) for broker in remaining}
        spoils = {broker: sum(n for healers, n in waiting.items() if healers.spoilt_by(broker)) for broker in remaining}
        best = max(remaining, key=lambda broker: (heals[broker] > 0, -spoils[broker], heals[broker], -broker))
        if step > 1 and not heals[best]:
            break
        rows += (
            StartChoice(
                step=step,
                broker=broker,
                heals=heals[broker],
                chosen=broker == best and heals[broker] > 0,
                still_offline_after=waiting.total() - heals[broker],
            )
            for broker in remaining
        )
        waiting = Counter({healers: n for healers, n in waiting.items() if best not in healers.any})
        remaining.remove(best)
        step += 1
    return tuple(rows)


class _Healers(NamedTuple):
    """Brokers whose start brings a partition back.

    Args:
        any: Each of these, alone.
        clean: Those with all acknowledged records.
        perhaps: Those that may also be elected, when it is unknown whether that is allowed.
    """

    any: frozenset[int]
    clean: frozenset[int]
    perhaps: frozenset[int] = frozenset()

    def spoilt_by(self, broker: int) -> bool:
        """Return whether its start loses, or may lose, what another start would not."""
        return bool(self.clean) and broker in (self.any | self.perhaps) - self.clean


def _healers(verdict: Verdict, dead: Sequence[int]) -> _Healers:
    healers = frozenset(dead if verdict.rule in DUE else verdict.waits_for)
    clean = healers if verdict.clean_winner is not None else healers & verdict.complete
    return _Healers(healers, clean, frozenset(verdict.replicas) if verdict.unclean_allowed is None else frozenset())


def order(choices: Iterable[StartChoice]) -> tuple[StartChoice, ...]:
    """Return the chosen brokers in the order to start them."""
    return tuple(choice for choice in choices if choice.chosen)


def in_order(dead: Iterable[int], choices: Iterable[StartChoice]) -> tuple[int, ...]:
    """Return all dead brokers in the order to start them: chosen ones first, then the others by id."""
    healing = [choice.broker for choice in order(choices)]
    return (*healing, *sorted(set(dead) - set(healing)))


def elected_unclean(verdicts: Iterable[Verdict], steps: Sequence[int]) -> tuple[Verdict, ...]:
    """Return the partitions with an unclean election, which lose acknowledged records, when brokers start in an order.

    Rule: the first started broker among those that a partition waits for becomes its leader. With unclean election allowed, these
    are all its replicas; one outside the ISR lacks records that the ISR acknowledged.

    Args:
        steps: Brokers in order of their start.
    """
    offline = [(verdict, _healers(verdict, steps)) for verdict in verdicts if verdict.state in OFFLINE]
    firsts = [next((broker for broker in steps if broker in healers.any), None) for _, healers in offline]
    return tuple(
        v for (v, healers), first in zip(offline, firsts, strict=True) if first is not None and first not in healers.clean
    )
