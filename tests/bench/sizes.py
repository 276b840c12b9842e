"""Sizes of the benchmarks: whole ones, and small ones with one round for `make bench-quick`.

Small sizes show that a script runs and roughly what it prints. Bounds are of the whole sizes.
"""

import os
import sys
from typing import TypeVar

QUICK = "BENCH_QUICK"
"""Environment variable: set for small sizes."""

Size = TypeVar("Size")


def is_quick() -> bool:
    """Whether small sizes are wanted."""
    return bool(os.environ.get(QUICK))


def of(whole: Size, *, quick: Size) -> Size:
    """The size of this run."""
    return quick if is_quick() else whole


def beyond(bound: str) -> None:
    """Fail where a bound is missed; with small sizes, only say so."""
    if is_quick():
        print(f"{bound} With small sizes, this is no failure.")
    else:
        sys.exit(bound)
