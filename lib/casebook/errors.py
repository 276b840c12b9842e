"""Errors that a person reads: what happened, the likely cause, what to try."""

import difflib
from collections.abc import Iterable

_MOST_KNOWN = 40
"""Names of a hint that lists them."""


class CasebookError(Exception):
    """Something the user can mend; shown without a traceback.

    Args:
        what: What happened, one sentence.
        cause: The likely cause, when one is known.
        try_: What to do about it.
    """

    def __init__(self, what: str, *, cause: str | None = None, try_: str | None = None) -> None:
        self.what, self.cause, self.try_ = what, cause, try_
        super().__init__(" ".join(part for part in (what, cause, try_) if part))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback: the words alone."""
        return [str(self)]


class UsageError(CasebookError):
    """A command, parameter or value that casebook does not know."""


class CaseError(CasebookError):
    """A case folder that cannot be read or written as a case."""


class CollectError(CasebookError):
    """Evidence that could not be fetched from where it lives."""


class RehearsalError(CasebookError):
    """A rehearsal that could not be set up or did not go as its script says."""


class ScanError(CasebookError):
    """A scan of records that cannot be started or could not be finished."""


class NotHereError(ScanError):
    """What was to be scanned was left in place when the case was collected, and is not on this machine."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint at the nearest known words, or all of them; the first where they are very many."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=2, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    more = len(known) - _MOST_KNOWN
    return f"Known: {', '.join(known[:_MOST_KNOWN])}{f', and {more} more' if more > 0 else ''}."
