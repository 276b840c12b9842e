"""Trends of the tracked numbers over the stored runs."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.findings.past_runs import Measure, read_off
from casebook.questions.morning.analysis.measures import OF_A_COPY
from casebook.questions.morning.analysis.since import Since

_DAY = 86_400_000
_LEAST = 0.25  # in days: shorter history says nothing about a day

WHOLE = (
    "leaderless",
    "under_min_isr",
    "under_replicated",
    "single_copy",
    "isr_changes",
    "leader_epochs",
    "controller_epoch",
    "offsets_bytes",
)
"""Measures of the whole cluster, in reading order."""

_COUNTED_BETWEEN = frozenset({"isr_changes", "leader_epochs"})
_EPOCHS = frozenset({"controller_epoch"})


class Trend(NamedTuple):
    """A measure over the runs.

    Args:
        name: Name of the measure.
        partition: Partition of the offsets topic, if it is about one.
        broker: Broker, if it is about one.
        points: Time (epoch ms) and value, oldest first, ending with this run; ``None`` when not measured.
        per_day: Increase per day of a counter; ``None`` for other measures, or when unknown.
    """

    name: str
    partition: int | None
    broker: int | None
    points: tuple[tuple[int | None, float | None], ...]
    per_day: float | None = None

    @property
    def now(self) -> float | None:
        """Value in this run."""
        return self.points[-1][1]

    @property
    def before(self) -> float | None:
        """Value in the last run; ``None`` also without one."""
        return self.points[-2][1] if len(self.points) > 1 else None

    @property
    def since(self) -> int | None:
        """Since when it has this value, epoch ms; ``None`` when new or unknown."""
        since = None
        for at, value in reversed(self.points[:-1]):
            if value is None or value != self.now:
                break
            since = at
        return since


def whole(since: Since) -> tuple[Trend, ...]:
    """Return the trends of the cluster."""
    return tuple(_trend(since, (name, None, None)) for name in WHOLE)


def loads(since: Since) -> tuple[Trend, ...]:
    """Return the load of each coordinator's partitions, by broker."""
    brokers = sorted({one.broker for one in since.measures if one.name == "load_ms" and one.partition is None})
    return tuple(_trend(since, ("load_ms", None, broker)) for broker in brokers)


def copies(since: Since) -> tuple[dict[str, Trend], ...]:
    """Return the trends of each copy of the offsets topic by name, largest copy first."""
    sizes = [one for one in since.measures if one.name == "bytes"]
    found = [tuple(_of_copy(since, one)) for one in sorted(sizes, key=lambda one: (-(one.value or 0), one.partition, one.broker))]
    return tuple({trend.name: trend for trend in trends} for trends in found)


def _of_copy(since: Since, copy: Measure) -> Iterator[Trend]:
    for name in OF_A_COPY:
        yield _trend(since, (name, copy.partition, copy.broker))


def _trend(since: Since, of: tuple[str, int | None, int | None]) -> Trend:
    runs = [*((run.at, run.measures) for run in since.line.kept), (since.at, since.measures)]
    points = tuple((at, read_off(measures, of)) for at, measures in runs)
    return Trend(*of, points, _per_day(since, of[0], points))


def _per_day(since: Since, name: str, points: Sequence[tuple[int | None, float | None]]) -> float | None:
    kept = since.line.kept
    if not kept or since.at is None or name not in _COUNTED_BETWEEN | _EPOCHS:
        return None
    days = (since.at - kept[0].at) / _DAY
    if days < _LEAST:
        return None
    if name in _EPOCHS:
        first, last = points[0][1], points[-1][1]
        return None if first is None or last is None else (last - first) / days
    counted = [counted for _, counted in points[1:]]  # the first run counted from a missing one
    unbroken = all(later.run_before == earlier.name for earlier, later in pairwise(kept))  # otherwise a counting run is missing
    return sum(counted) / days if unbroken and None not in counted else None
