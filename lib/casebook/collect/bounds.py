"""How long one collection may last. The bound holds for everything that is read within it, wherever that is.

Who reads files, lines or answers asks here between two of them. A call that the kernel does not return from, as of a network file
system whose server is gone, cannot be left from inside: the bound is told when it returns.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TIME_LIMIT = 900.0
"""Seconds of a whole collection, unless somebody says otherwise."""


class TimeIsUpError(OSError):
    """The collection has lasted as long as it may; ``strerror`` says so."""


class _Bound:
    """The end of a collection, or of a part of it."""

    def __init__(self, seconds: float, reason: str) -> None:
        self.seconds, self.reason = seconds, reason
        self.end = time.monotonic() + seconds
        self.was_met = False


_CURRENT: ContextVar[_Bound | None] = ContextVar("bound", default=None)


@contextmanager
def lasting(seconds: float) -> Iterator[None]:
    """Bound all that is read in this block, in this thread."""
    with _bounded(_Bound(seconds, f"the time limit of {_length(seconds)} was reached")):
        yield


@contextmanager
def half(whose: str) -> Iterator[None]:
    """Bound this block by half of what is left: who answers slowly must not take the time of all that comes after."""
    bound = _CURRENT.get()
    if bound is None:
        yield
        return
    reason = f"{whose} half of the time limit of {_length(bound.seconds)} was used up"
    with _bounded(_Bound(max(0.0, left()) / 2, reason)):
        yield


@contextmanager
def _bounded(bound: _Bound) -> Iterator[None]:
    token = _CURRENT.set(bound)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def check() -> None:
    """Go on only while there is time.

    Raises:
        TimeIsUpError: There is none left.
    """
    if left() <= 0:
        raise TimeIsUpError(0, reason())


def left() -> float:
    """Seconds that are left; infinite without a bound."""
    bound = _CURRENT.get()
    if bound is None:
        return math.inf
    seconds = bound.end - time.monotonic()
    bound.was_met = bound.was_met or seconds <= 0
    return seconds


def was_met() -> bool:
    """Whether anybody had to stop for it."""
    bound = _CURRENT.get()
    return bound is not None and bound.was_met


def reason() -> str:
    """The bound in words."""
    bound = _CURRENT.get()
    return bound.reason if bound else "there is no time limit"


def _length(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
