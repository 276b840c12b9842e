"""Wording of periods, with meaningful milliseconds, and of brokers, including unknown ones."""

from collections.abc import Callable, Collection
from math import ceil, floor

from casebook.findings.words import brokers, duration

NOBODY = "a broker that the lines do not name"
"""Pasted lines may have an unknown owner."""


def exact(milliseconds: int, rounded: Callable[[float], int] = round) -> str:
    """``350 ms``, ``4.034 s``, ``1 min 42 s``."""
    return f"{milliseconds / 1000:.3f} s" if 1000 <= milliseconds < 60_000 else duration(milliseconds, rounded)


def at_least(milliseconds: int) -> str:
    """Format a lower bound: rounded down."""
    return exact(milliseconds, floor)


def at_most(milliseconds: int) -> str:
    """Format an upper bound: rounded up."""
    return exact(milliseconds, ceil)


def named(broker: int | None) -> str:
    """``broker 3``, or an unknown broker."""
    return NOBODY if broker is None else f"broker {broker}"


def all_named(ids: Collection[int | None]) -> str:
    """``brokers 1 and 5``, ``broker 1, and perhaps one that the lines do not name,``: it may be the same."""
    known = sorted(broker for broker in ids if broker is not None)
    return f"{brokers(known)}{', and perhaps one that the lines do not name,' if None in ids else ''}" if known else NOBODY
