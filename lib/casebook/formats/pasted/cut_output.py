"""What begins in a paste, and does not end in it."""

from typing import NamedTuple

from casebook.facts.pasted_hosts import LineSpan


class CutOutput(NamedTuple):
    """Something that begins and does not end in the paste."""

    span: LineSpan
    reason: str
