"""What the doctor says of one thing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One thing looked at.

    Args:
        what: The thing.
        ok: Whether it is as needed; ``None`` where that could not be told.
        found: What is there.
        without: What does not work when it is not, and what does all the same.
        try_: What to do when it is not.
    """

    what: str
    ok: bool | None
    found: str
    without: str = ""
    try_: str = ""
