"""Given inputs, each handled independently: a bad one is recorded, and the others are collected."""

from collections.abc import Callable
from typing import TypeVar

from casebook.case.writer import CaseWriter
from casebook.collect import bounds
from casebook.errors import CasebookError, CollectError, UsageError

_SHOWN = 3

_Taken = TypeVar("_Taken")


class Inputs:
    """Collects one input after the other into a case."""

    def __init__(self, case: CaseWriter) -> None:
        self._case = case
        self._errors: list[CasebookError] = []

    def take(self, part: str, act: Callable[[], _Taken]) -> _Taken | None:
        """Collect an input; an error is recorded under the name of its part, and the next input follows."""
        try:
            return act()
        except (CollectError, UsageError) as error:
            self._errors.append(error)
            self._case.left_out(part, str(error))
        except bounds.TimeIsUpError as end:
            self._case.left_out(part, end.strerror)
        return None

    def end(self) -> None:
        """Record that the time limit was reached, if so.

        Raises:
            CasebookError: Nothing was collected.
        """
        if bounds.was_met():
            self._case.left_out("the whole of it", f"{bounds.reason()}; what was read until then is kept")
        if self._case.is_empty:
            raise self._nothing()

    def _nothing(self) -> CasebookError:
        missing = self._case.missing
        if len(self._errors) == len(missing) == 1:
            return self._errors[0]
        told = "; ".join(f"{problem.path}: {problem.reason}" for problem in missing[:_SHOWN])
        more = f"; and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        return CollectError(
            "None of the given sources could be collected.",
            cause=f"{told}{more}." if told else None,
            try_="Check that each path exists, and that this user and machine may read it.",
        )
