"""Lines of a paste that belong to what was understood, and say nothing more themselves."""

from typing import NamedTuple

from casebook.facts.pasted_hosts import LineSpan


class Frame(NamedTuple):
    """Such lines."""

    span: LineSpan
