"""Time limit of a collection, for everything read within it.

Readers of files, lines or responses check it between two reads. A blocking system call, e.g. on a network file system without its
server, cannot be interrupted: the limit takes effect when it returns.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TIME_LIMIT = 900.0
"""Default limit of a whole collection, in seconds."""


class TimeIsUpError(OSError):
    """The collection has reached its time limit; ``strerror`` says so."""


class _Bound:
    """End of a collection, or of a part of it."""

    def __init__(self, seconds: float, reason: str) -> None:
        self.seconds, self.reason = seconds, reason
        self.end = time.monotonic() + seconds
        self.was_met = False


_CURRENT: ContextVar[_Bound | None] = ContextVar("bound", default=None)


@contextmanager
def lasting(seconds: float) -> Iterator[None]:
    """Limit all reads in this block, in this thread."""
    with _bounded(_Bound(seconds, f"the time limit of {_length(seconds)} was reached")):
        yield


@contextmanager
def half(whose: str) -> Iterator[None]:
    """Limit this block to half of the remaining time: a slow source must not use up the time of later ones."""
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
    """Check that time is left.

    Raises:
        TimeIsUpError: None is left.
    """
    if left() <= 0:
        raise TimeIsUpError(0, reason())


def left() -> float:
    """Return the remaining seconds; infinite without a limit."""
    bound = _CURRENT.get()
    if bound is None:
        return math.inf
    seconds = bound.end - time.monotonic()
    bound.was_met = bound.was_met or seconds <= 0
    return seconds


def was_met() -> bool:
    """Return whether a read stopped at the limit."""
    bound = _CURRENT.get()
    return bound is not None and bound.was_met


def reason() -> str:
    """Return the limit in words."""
    bound = _CURRENT.get()
    return bound.reason if bound else "there is no time limit"


def _length(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
