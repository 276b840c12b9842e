"""Spans of time, to the millisecond as long as that says something, and brokers, also unknown ones, as sentences need them."""

from collections.abc import Collection

from casebook.analysis.words import brokers, duration

NOBODY = "a broker that the lines do not name"
"""Pasted lines may not tell whose they are."""


def exact(milliseconds: int) -> str:
    """``350 ms``, ``4.034 s``, ``1 min 42 s``."""
    return f"{milliseconds / 1000:.3f} s" if 1000 <= milliseconds < 60_000 else duration(milliseconds)


def at_least(milliseconds: int) -> str:
    """A lower bound in words: rounded down where it is rounded."""
    return exact(milliseconds if milliseconds < 60_000 else milliseconds - milliseconds % _unit(milliseconds))


def at_most(milliseconds: int) -> str:
    """An upper bound in words: rounded up where it is rounded."""
    return exact(milliseconds if milliseconds < 60_000 else milliseconds + -milliseconds % _unit(milliseconds))


def _unit(milliseconds: int) -> int:
    """To how many milliseconds :func:`casebook.analysis.words.duration` rounds."""
    return 1000 if milliseconds < 600_000 else 60_000 if milliseconds < 2 * 86_400_000 else 3_600_000


def named(broker: int | None) -> str:
    """``broker 3``, or that nobody knows which."""
    return NOBODY if broker is None else f"broker {broker}"


def all_named(ids: Collection[int | None]) -> str:
    """``brokers 1 and 5``, ``broker 1 and a broker that the lines do not name``."""
    known = [broker for broker in ids if broker is not None]
    return " and ".join([*([brokers(known)] if known else []), *([NOBODY] if None in ids else [])])
