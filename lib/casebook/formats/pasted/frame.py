"""Lines of a paste that belong to what was understood, and say nothing more themselves."""

from typing import NamedTuple

from casebook.facts.pasted_hosts import LineSpan


class Frame(NamedTuple):
    """Such lines.

    Args:
        told: Another row says what they say.
    """

    span: LineSpan
    told: bool = False
