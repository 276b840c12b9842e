"""Outcomes of each check over the stored runs, for the index: one history per line of runs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from casebook.findings import changes
from casebook.findings.finding import Status
from casebook.findings.past_runs import CheckOutcome
from casebook.page.sparkline import Sparkline, sparkline
from casebook.runs.found import Run

_WELL = frozenset({Status.OK, Status.NOT_APPLICABLE})
_RANK = {"critical": 0, "warning": 1, "could_not_check": 2, "info": 3, "ok": 4, "not_applicable": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckHistory:
    """Outcomes of one check, run by run.

    Args:
        name: Dotted name.
        spark: Numbers.
    """

    name: str
    spark: Sparkline

    @property
    def rank(self) -> int:
        """Order by last outcome, the worst first."""
        return _RANK[self.spark.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One line of runs.

    Args:
        case: Case, ``None`` when unknown, as is ``notebook``.
        runs: Number of stored runs.
        checks: Checks with a finding in any of them, by last outcome, the worst first.
        well: Number of checks of the last run that never had one.
    """

    case: str | None
    notebook: str | None
    runs: int
    checks: Sequence[CheckHistory]
    well: int


def histories(runs: Sequence[Run]) -> Sequence[History]:
    """Return the histories of all lines with content.

    Args:
        runs: Newest first.
    """
    lines: dict[tuple[str | None, str | None], list[Run]] = defaultdict(list)
    for run in reversed(runs):
        lines[run.line].append(run)
    found = [_history(line) for line in lines.values() if any(run.checks for run in line)]
    return sorted((history for history in found if history.checks), key=lambda one: (one.case or "", one.notebook or ""))


def _history(line: Sequence[Run]) -> History:
    names = sorted({name for run in line for name, check in run.checks.items() if check.status not in _WELL})
    last = next((run.checks for run in reversed(line) if run.checks), {})
    shown = [_check([run.checks.get(name) for run in line], name, last) for name in names]
    return History(
        case=line[-1].case,
        notebook=line[-1].notebook,
        runs=len(line),
        checks=sorted(shown, key=lambda check: (check.rank, check.name)),
        well=len(last.keys() - set(names)),
    )


def _check(ended: Sequence[CheckOutcome | None], name: str, last: Mapping[str, CheckOutcome]) -> CheckHistory:
    return CheckHistory(name=name, spark=sparkline((counts(ended), _kind(last.get(name)))))


def counts(ended: Sequence[CheckOutcome | None]) -> Sequence[int | None]:
    """Return a check's numbers, run by run, or 1 for a finding without one; a missing check counts as not checked."""
    uncounted = any(check and check.status is Status.FINDING and changes.number(check) is None for check in ended)
    return [_found(check) if uncounted else changes.count(check) for check in ended]


def _found(check: CheckOutcome | None) -> int | None:
    return None if check is None or check.status is Status.COULD_NOT_CHECK else int(check.status is Status.FINDING)


def _kind(check: CheckOutcome | None) -> str:
    if check is None:
        return Status.COULD_NOT_CHECK.value
    return str(check.severity or check.status.value)
