"""Spans of time as a timeline's sentences need them: to the millisecond, as long as that says something."""

from casebook.analysis.words import duration


def exact(milliseconds: int) -> str:
    """``350 ms``, ``4.034 s``, ``1 min 42 s``."""
    return f"{milliseconds / 1000:.3f} s" if 1000 <= milliseconds < 60_000 else duration(milliseconds)
