"""That something ends at all, and costs what its size does: for what would go on for hours, or for ever, if it were wrong.

How long it takes is a matter of benches: a busy machine takes many times as long, and not hours.
"""

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 300
"""Seconds."""
_LEAST = 0.001
"""Seconds of processor time below which a clock tells little."""


@contextmanager
def ends() -> Iterator[None]:
    """Fail when the block has not ended after :data:`PATIENCE`."""

    def too_long(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"It has not ended after {PATIENCE} s.")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def growth(work: Callable[[int], object], *, few: int, many: int, rounds: int = 3) -> float:
    """How many times as much processor time a larger amount of work takes, whatever the machine.

    The least of some rounds in turns counts, without garbage collection, which looks at all that other tests have left.

    Args:
        work: Told how much.
        few: Of the smaller amount.
        many: Of the larger one.
        rounds: How often each is done.
    """
    took: dict[int, list[float]] = {few: [], many: []}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for amount, own in took.items():
                began = time.process_time()
                work(amount)
                own.append(time.process_time() - began)
    finally:
        gc.enable()
    return min(took[many]) / max(min(took[few]), _LEAST)
