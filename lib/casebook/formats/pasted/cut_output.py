"""Outputs that start in a paste, and do not end in it."""

from typing import NamedTuple

from casebook.facts.pasted_hosts import LineSpan


class CutOutput(NamedTuple):
    """An output that starts and does not end in the paste."""

    span: LineSpan
    reason: str
