"""The order of broker starts: dead brokers ranked by the partitions that each heals, those without loss first; then the next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from casebook.kafka.verdict import OFFLINE, Verdict

DUE = frozenset({"R2", "R8"})
"""Rules that end as soon as any broker starts: it makes an election happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartChoice:
    """A row of ``tables/start_first``: at this step, what starting this broker would heal.

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

    The best of a step spoils nothing that another could heal without loss; of those it heals most, and of equals it has the
    lowest id. Each partition is healed by a start of any broker it waits for, alone; one whose election is merely due is healed
    by whoever starts first.
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
    """Whose start brings a partition back.

    Args:
        any: Each of these, alone.
        clean: Those of them that hold all that was acknowledged.
        perhaps: Those that may be elected as well, where nobody knows whether that is allowed.
    """

    any: frozenset[int]
    clean: frozenset[int]
    perhaps: frozenset[int] = frozenset()

    def spoilt_by(self, broker: int) -> bool:
        """Whether its start loses, or may lose, what another's would not."""
        return bool(self.clean) and broker in (self.any | self.perhaps) - self.clean


def _healers(verdict: Verdict, dead: Sequence[int]) -> _Healers:
    healers = frozenset(dead if verdict.rule in DUE else verdict.waits_for)
    clean = healers if verdict.clean_winner is not None else healers & frozenset(verdict.isr or ())
    return _Healers(healers, clean, frozenset(verdict.replicas) if verdict.unclean_allowed is None else frozenset())


def order(choices: Iterable[StartChoice]) -> tuple[StartChoice, ...]:
    """The chosen brokers in the order to start them."""
    return tuple(choice for choice in choices if choice.chosen)


def in_order(dead: Iterable[int], choices: Iterable[StartChoice]) -> tuple[int, ...]:
    """All dead brokers in the order to start them: those that heal first, as they are chosen, then the others by id."""
    healing = [choice.broker for choice in order(choices)]
    return (*healing, *sorted(set(dead) - set(healing)))


def elected_unclean(verdicts: Iterable[Verdict], steps: Sequence[int]) -> tuple[Verdict, ...]:
    """Which partitions are elected unclean when brokers start in an order: acknowledged records are lost there.

    Rule: of those that a partition waits for, the first to start decides who leads it. Where unclean election is allowed these
    are all its replicas, and one that is not in the ISR lacks what the ISR has acknowledged.

    Args:
        steps: Brokers, the first to start first.
    """
    offline = [(verdict, _healers(verdict, steps)) for verdict in verdicts if verdict.state in OFFLINE]
    firsts = [next((broker for broker in steps if broker in healers.any), None) for _, healers in offline]
    return tuple(
        v for (v, healers), first in zip(offline, firsts, strict=True) if first is not None and first not in healers.clean
    )
