"""The doctor's result for one item."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One examined item.

    Args:
        what: The item.
        ok: Whether it is good; ``None`` when unknown.
        found: What was found.
        without: What does not work without it, and what still does.
        try_: Remedy.
    """

    what: str
    ok: bool | None
    found: str
    without: str = ""
    try_: str = ""
