"""Errors for people: what happened, likely cause, what to try."""

import difflib
from collections.abc import Iterable

_MOST_KNOWN = 40
"""Maximum number of names in a hint."""


class CasebookError(Exception):
    """An error that the user can fix; shown without a traceback.

    Args:
        what: What happened, one sentence.
        cause: Likely cause, if known.
        try_: Remedy.
    """

    def __init__(self, what: str, *, cause: str | None = None, try_: str | None = None) -> None:
        self.what, self.cause, self.try_ = what, cause, try_
        super().__init__(" ".join(part for part in (what, cause, try_) if part))

    def _render_traceback_(self) -> list[str]:
        """Return the text that IPython shows in place of a traceback."""
        return [str(self)]


class UsageError(CasebookError):
    """An unknown command, parameter or value."""


class CaseError(CasebookError):
    """A case folder that cannot be read or written."""


class CollectError(CasebookError):
    """Evidence that could not be collected from its source."""


class RehearsalError(CasebookError):
    """A rehearsal that could not be set up or deviated from its script."""


class ScanError(CasebookError):
    """A scan of records that cannot start or could not finish."""


class NotHereError(ScanError):
    """Scan input that was left in place at collection, and is not on this machine."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest known words, or list all; the first ones when there are very many."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=2, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    more = len(known) - _MOST_KNOWN
    return f"Known: {', '.join(known[:_MOST_KNOWN])}{f', and {more} more' if more > 0 else ''}."
