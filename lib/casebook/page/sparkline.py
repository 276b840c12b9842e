"""A line of recent counts, on its own scale from zero."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

_WIDTH, _TOP, _BOTTOM, _SLOTS = 100, 4, 20, 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """A line and its description.

    Args:
        lines: Point lists of consecutive runs.
        unchecked: Runs without this check.
        end: Last point; ``None`` when not checked.
        kind: Outcome of the last run.
        value: Last count.
        words: Alternative text, one sentence.
    """

    lines: Sequence[str]
    unchecked: Sequence[float]
    end: tuple[float, float] | None
    kind: str
    value: float | None
    words: str


def sparkline(
    series: tuple[Sequence[float | None], str], *, say: Callable[[float], str] = str, of: str | None = None
) -> Sparkline:
    """Return the line of a series, newest on the right.

    Args:
        series: Counts, ``None`` for not checked; and the outcome of the last run.
        say: Formats a number.
        of: Subject of the line, if its surroundings do not show it.
    """
    counts, kind = series
    top = max((count for count in counts if count is not None), default=0) or 1
    step = _WIDTH / (max(_SLOTS, len(counts)) - 1)
    placed = [(round(_WIDTH - (len(counts) - 1 - i) * step, 1), count) for i, count in enumerate(counts)]
    runs = [list(group) for known, group in groupby(placed, key=lambda point: point[1] is not None) if known]
    points = [[(x, round(_BOTTOM - (_BOTTOM - _TOP) * count / top, 1)) for x, count in run] for run in runs]
    said = ", ".join("not checked" if count is None else say(count) for count in counts)
    return Sparkline(
        lines=[" ".join(f"{x},{y}" for x, y in run) for run in points if len(run) > 1],
        unchecked=[x for x, count in placed if count is None],
        end=points[-1][-1] if points and counts[-1] is not None else None,
        kind=kind,
        value=counts[-1] if counts else None,
        words=f"{of}, last {len(counts)} runs: {said}" if of else f"last {len(counts)} runs: {said}",
    )
