"""A broker's load rate from its finished loads, and the expected end of the others.

The cost of a record depends on the machine, on disk and page cache, and on the age of the process, so it comes from the broker's
own loads: the mean of the logarithms of their rates, weighted by size, with their own spread. A few loads show little spread, so
a spread of 20 % (35 % for a single load, 50 % for other brokers' rates) counts as if observed three times. The first load of a
process runs before its code is compiled, up to three times slower, and has a weight of a quarter as soon as there are others.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import NormalDist, median
from typing import NamedTuple

from casebook.kafka.load_work import Work

_SMALL = 64 << 10  # a load below this many bytes shows the fixed cost of a load
_PRIOR_LOADS, _OWN_SPREAD, _SINGLE_SPREAD, _OTHERS_SPREAD = 3.0, 0.2, 0.35, 0.5
_FIRST = 0.25  # weight of the first load of a process relative to others
_BEYOND, _MOST_BEYOND = 0.2, 0.35  # spread per factor e beyond the largest measured load, and its maximum
_QUANTILE = 0.95
_STUDENT = ((2, 2.92), (3, 2.353), (4, 2.132), (5, 2.015), (6, 1.943), (8, 1.86), (10, 1.812), (15, 1.753), (30, 1.697))
_NORMAL = 1.645
_OVERDUE = 0.01


class Measured(NamedTuple):
    """A finished load.

    Args:
        work: Partition at the time of the load.
        milliseconds: Duration.
    """

    work: Work
    milliseconds: int


class TimeRange(NamedTuple):
    """A time or a duration, in ms: 90 % between ``low`` and ``high``.

    Args:
        low: Lower bound.
        mid: Best estimate; ``None`` without one.
        high: Upper bound; ``None`` without one.
    """

    low: float
    mid: float | None
    high: float | None

    def __add__(self, other: "TimeRange") -> "TimeRange":
        """One after the other, with correlated errors."""
        return TimeRange(self.low + other.low, _sum(self.mid, other.mid), _sum(self.high, other.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """Duration of a load by its size.

    Args:
        log_rate: Natural logarithm of the size loaded per millisecond.
        spread: Standard deviation of a single load, in the same logarithms, for ``NormalDist``.
        overhead: Fixed cost of a load, milliseconds.
        largest: Size of the largest measured load.
        loads: Number of measured loads.
    """

    log_rate: float
    spread: float
    overhead: float
    largest: float
    loads: int

    @property
    def per_second(self) -> TimeRange:
        """Size loaded per second."""
        return TimeRange(*(1000 * exp(self.log_rate + side * _NORMAL * self.spread) for side in (-1, 0, 1)))

    def takes(self, size: float, elapsed: float = 0.0) -> TimeRange:
        """Estimate the duration of a load that has run ``elapsed`` ms and is unfinished.

        At any time it may end at once, unless that is earlier than the first estimate. A load far slower than the others has no
        estimate: only ``low`` is known.
        """
        if not size:
            return TimeRange(max(elapsed, self.overhead), max(elapsed, self.overhead), None if elapsed else self.overhead)
        lasted = NormalDist(log(size) - self.log_rate, sqrt(self.spread**2 + self._beyond(size) ** 2))
        left = 1.0 if elapsed <= self.overhead else 1 - lasted.cdf(log(elapsed - self.overhead))
        if left < _OVERDUE:
            return TimeRange(elapsed, None, None)
        soonest = self.overhead + exp(lasted.inv_cdf(1 - _QUANTILE))
        mid, high = (self.overhead + exp(lasted.inv_cdf(1 - left * (1 - q))) for q in (0.5, _QUANTILE))
        return TimeRange(max(elapsed, soonest), mid, high)

    def _beyond(self, size: float) -> float:
        """Additional spread for a load larger than any measured one."""
        return min(_MOST_BEYOND, _BEYOND * max(0.0, log(size / self.largest)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A broker's load rate, by records and, when these are unknown, by bytes.

    Args:
        by_records: From the loads with known records; ``None`` without any.
        by_bytes: From all loads.
        own: The loads are the broker's own.
    """

    by_records: Law | None
    by_bytes: Law
    own: bool

    def of(self, work: Work) -> tuple[Law, float]:
        """Return the law that applies to a partition, and the partition's size in its unit."""
        if self.by_records is not None and work.by_records is not None:
            return self.by_records, work.by_records
        return self.by_bytes, work.bytes

    def takes(self, work: Work, elapsed: float = 0.0) -> TimeRange:
        """Estimate the duration of a load that has run ``elapsed`` ms and is unfinished."""
        law, size = self.of(work)
        return law.takes(size, elapsed)


def rate(measured: Iterable[Measured], *, own: bool = True) -> Rate | None:
    """Return the rate of finished loads; ``None`` when none of them had enough bytes.

    Args:
        measured: Finished loads in order of their end.
        own: They are of the same broker as the loads to predict.
    """
    loads = list(measured)
    overhead = median([load.milliseconds for load in loads if load.work.bytes < _SMALL] or [0])
    large = [load for load in loads if load.work.bytes >= _SMALL]
    if not large:
        return None
    records = [(load.work.by_records, load.milliseconds) for load in large if load.work.by_records]
    return Rate(
        by_records=_law(records, overhead, own=own) if records else None,
        by_bytes=_law([(load.work.bytes, load.milliseconds) for load in large], overhead, own=own),
        own=own,
    )


def _law(loads: Sequence[tuple[float, int]], overhead: float, *, own: bool) -> Law:
    first = _FIRST if own and len(loads) > 1 else 1.0
    weights = [size * (1.0 if at else first) for at, (size, _) in enumerate(loads)]
    rates = [log(size / max(took - overhead, 0.5)) for size, took in loads]
    mean = _weighted(rates, weights)
    alike = sum(weights) ** 2 / sum(weight**2 for weight in weights)  # equivalent number of loads of equal size
    seen = _weighted([(one - mean) ** 2 for one in rates], weights) * alike
    spread = _OTHERS_SPREAD if not own else _OWN_SPREAD if len(loads) > 1 else _SINGLE_SPREAD
    prior = spread**2 * _PRIOR_LOADS
    freedom = _PRIOR_LOADS + alike - 1
    single = sqrt((prior + seen) / freedom * (1 + 1 / alike))
    return Law(
        log_rate=mean,
        spread=single * _student(freedom) / _NORMAL,
        overhead=overhead,
        largest=max(size for size, _ in loads),
        loads=len(loads),
    )


def _student(freedom: float) -> float:
    """Student's t at 95 %."""
    at = bisect_left(_STUDENT, (int(freedom),))
    return _STUDENT[at][1] if at < len(_STUDENT) else _NORMAL


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
