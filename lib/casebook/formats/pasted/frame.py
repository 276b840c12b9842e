"""Lines that belong to a decoded output without content of their own."""

from typing import NamedTuple

from casebook.facts.pasted_hosts import LineSpan


class Frame(NamedTuple):
    """Such lines.

    Args:
        told: Another row says what they say.
    """

    span: LineSpan
    told: bool = False
