"""Whom to start first: the dead brokers ranked by the partitions that each would heal, then the second, and so on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from casebook.analysis.verdicts import OFFLINE, Verdict

DUE = frozenset({"R2", "R8"})
"""Rules that end as soon as any broker starts: it makes an election happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartChoice:
    """A row of ``tables/start_first``: at this step, what starting this broker would heal.

    Args:
        step: 1 for the first broker to start.
        broker: Broker id.
        heals: Partitions that get a leader by starting it at this step.
        chosen: Whether it is the best choice of this step.
        still_offline_after: Partitions still without leader after it.
    """

    step: int
    broker: int
    heals: int
    chosen: bool
    still_offline_after: int


def start_first(verdicts: Iterable[Verdict], dead: Sequence[int]) -> tuple[StartChoice, ...]:
    """Rank the dead brokers, step by step, until no start heals anything more.

    The best of a step heals most; of equals the lowest id. Each partition is healed by a start of any broker it waits
    for, alone; one whose election is merely due is healed by whoever starts first.
    """
    waiting = Counter(frozenset(dead if v.rule in DUE else v.waits_for) for v in verdicts if v.state in OFFLINE)
    rows: list[StartChoice] = []
    remaining = sorted(dead)
    step = 1
    while remaining:
        heals = {broker: sum(n for waits_for, n in waiting.items() if broker in waits_for) for broker in remaining}
        best = max(remaining, key=lambda broker: (heals[broker], -broker))
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
        waiting = Counter({waits_for: n for waits_for, n in waiting.items() if best not in waits_for})
        remaining.remove(best)
        step += 1
    return tuple(rows)


def order(choices: Iterable[StartChoice]) -> tuple[StartChoice, ...]:
    """The chosen brokers in the order to start them."""
    return tuple(choice for choice in choices if choice.chosen)
