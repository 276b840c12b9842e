"""Each check over the runs that are kept, for the index: one history for each line of runs."""

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
    """One check, run by run.

    Args:
        name: Its dotted name.
        spark: Its numbers.
    """

    name: str
    spark: Sparkline

    @property
    def rank(self) -> int:
        """How it ended last, the worst first."""
        return _RANK[self.spark.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One line of runs.

    Args:
        case: What it is about, ``None`` when unknown, as is ``notebook``.
        runs: How many runs are kept.
        checks: Those that were more than well in one of them, as they ended last, the worst first.
        well: How many checks of the last run never were.
    """

    case: str | None
    notebook: str | None
    runs: int
    checks: Sequence[CheckHistory]
    well: int


def histories(runs: Sequence[Run]) -> Sequence[History]:
    """The histories of all lines that have something to show.

    Args:
        runs: The newest first.
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
    """A check's numbers, run by run, or 1 for found where it has none; one that a run did not have was not checked."""
    uncounted = any(check and check.status is Status.FINDING and changes.number(check) is None for check in ended)
    return [_found(check) if uncounted else changes.count(check) for check in ended]


def _found(check: CheckOutcome | None) -> int | None:
    return None if check is None or check.status is Status.COULD_NOT_CHECK else int(check.status is Status.FINDING)


def _kind(check: CheckOutcome | None) -> str:
    if check is None:
        return Status.COULD_NOT_CHECK.value
    return str(check.severity or check.status.value)
