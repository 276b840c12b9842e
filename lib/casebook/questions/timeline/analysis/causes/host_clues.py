"""Host metrics compared with an incident: outliers, saturation, and starts.

A clue is no proof: an outlier may be a cause or an effect of the incident.

Rule: a value is an outlier when it is :data:`SPREADS` interquartile ranges above the upper quartile of its series, and at least
:data:`TIMES` times the median; traffic also at a tenth of the lower quartile or less. Both require that less than a quarter of
the samples are so. Values below a metric's ``least`` are insignificant, and so is a series of fewer than :data:`LEAST` samples.
Values over ``full`` are always reported.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from casebook.facts.cluster import instant
from casebook.facts.host_metrics import METRICS, HostMetrics, HostSample, HostStart, spelled
from casebook.facts.times import EpochMs
from casebook.findings.words import capitalised, clock, count, moment
from casebook.kafka.past_rows import Clock, Window, WindowKind
from casebook.questions.timeline.analysis.causal_chain import Chain
from casebook.questions.timeline.analysis.clocks.corrected import OFF

LEAST = 12
SPREADS, TIMES, CEASED = 6, 3, 10
LEAD = 60_000
"""Milliseconds before an incident in which its cause may have started and ended."""
HOLE = 3
"""Gap length, as a multiple of the usual interval."""
_LONG = ("unknown_request", "foreign_protocol", "cleaner_dead")
"""Chains as long as the logs: every host event is inside."""
HIGH, LOW, FULL, STARTED = "high", "low", "full", "started"
KERNEL, SYSSTAT = "kernel", "sysstat"
"""Source of a start."""
_ENDS = 1, 253_402_300_799_999
"""Largest value that can be formatted as an instant."""


class WatchedTime(NamedTuple):
    """A period to examine.

    Args:
        opened: Start by the reference clock.
        closed: ``None``: not before the evidence ends.
        title: Event.
        chain: Number of the chain in the timeline; ``None`` for a window.
    """

    opened: int
    closed: int | None
    title: str
    chain: int | None = None

    def meets(self, since: int, until: int) -> bool:
        """Return whether a period reaches into it, or ended shortly before."""
        return self.opened - LEAD <= until and (self.closed is None or since <= self.closed)


class Clue(NamedTuple):
    """An outlier on a host during an event: a row of ``tables/host_clues``.

    Columns:
        broker: Whose host.
        kind: high, low, full or started: docs/rules.md.
        metric: As in host_samples; empty of a start.
        device: As in host_samples; for a start its source, kernel or sysstat.
        value: The most of it, or of low the least; null of a start.
        usual: Median of all its samples; null of a start.
        unit: Of both.
        samples: How many there are; 0 of a start.
        since: It began then or later, by the reference clock, ISO-8601 UTC; null: before the samples begin.
        by: It had begun.
        until: It lasted at least until then.
        during: Events meanwhile.
        proof: path:line of the most extreme sample.

    Args:
        last: End of its last sample.
        chains: Numbers of the simultaneous chains.
    """

    broker: int
    metric: str
    device: str
    kind: str
    value: float | None
    usual: float | None
    samples: int
    since: EpochMs | None
    by: EpochMs
    until: EpochMs
    last: int
    during: str
    chains: tuple[int, ...]
    proof: str

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return METRICS[self.metric].unit if self.metric else ""

    @property
    def subject(self) -> str:
        """Metric, without its host."""
        return METRICS[self.metric].name.format(self.device or "the device") if self.metric else ""

    @property
    def text(self) -> str:
        """All of it in one sentence, without its end."""
        if self.kind == STARTED:
            return self._start
        return f"{capitalised(self.subject)} on the host of broker {self.broker} {self._much}, {self._when}"

    @property
    def _much(self) -> str:
        value, median = spelled(self.value, self.unit), spelled(self.usual, self.unit)
        if self.kind == FULL:
            as_ever = ", as usual" if self.usual >= METRICS[self.metric].full else ""
            return f"was up to {value}, as good as saturated{as_ever}"
        if self.kind == LOW or not self.usual:
            return f"{'fell' if self.kind == LOW else 'rose'} to {value}, from a median of {median}"
        return f"rose to {value}, {self.value / self.usual:.0f} times its median of {median}"

    @property
    def _when(self) -> str:
        if self.since is None:
            return f"by {moment(self.by)} at the latest"
        begun = f"between {moment(self.since).removesuffix(' UTC')} and {clock(instant(self.by))}"
        return f"{begun} UTC" if self.until <= self.by else f"from {begun} until at least {clock(instant(self.until))} UTC"

    @property
    def _start(self) -> str:
        what = "was booted" if self.device == KERNEL else "was booted, or sysstat on it was started,"
        before = "" if self.since is None else f"; its last sample before is of {clock(instant(self.since))}"
        return f"The host of broker {self.broker} {what} at {moment(self.by)}{before}"


class Series(NamedTuple):
    """Dated samples of one metric of one device, in order."""

    broker: int
    metric: str
    device: str
    samples: Sequence[HostSample]

    @property
    def usual(self) -> float:
        """Median of its values."""
        return self.quartiles[1]

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Quartiles of its values."""
        values = sorted(one.value for one in self.samples)
        lower, median, upper = (values[(len(values) - 1) * quarter // 4] for quarter in (1, 2, 3))
        return lower, median, upper

    @property
    def begin(self) -> int:
        """Start of its coverage."""
        return self.samples[0].at - (self.samples[0].span or 0)

    @property
    def interval(self) -> int | None:
        """Usual milliseconds between samples; ``None`` for a single one."""
        apart = sorted(after.at - before.at for before, after in pairwise(self.samples))
        return apart[len(apart) // 2] if apart else None

    def covers(self, since: int, until: int) -> bool:
        """Return whether it covers a whole period, with enough samples for its own range."""
        if len(self.samples) < LEAST or self.begin > since or self.samples[-1].at < until:
            return False
        usual, moments = self.interval, (one.at for one in self.samples)
        return not any(after - before > HOLE * usual and before < until and after > since for before, after in pairwise(moments))


def by_reference(told: HostMetrics, clocks: Iterable[Clock]) -> HostMetrics:
    """Return samples by the reference clock: a host uses the time of its broker's log, unless it prints a zone.

    Samples after a clock step of unknown size have no time.
    """
    of_brokers = {clock.broker: clock for clock in clocks if clock.broker is not None}

    def moved(one: HostSample | HostStart) -> HostSample | HostStart:
        at = _moment(one, of_brokers.get(one.broker))
        return one if at == one.at else one._replace(at=at)

    return told._replace(samples=tuple(map(moved, told.samples)), starts=tuple(map(moved, told.starts)))


def _moment(one: HostSample | HostStart, clock: Clock | None) -> int | None:
    if one.at is None or not _ENDS[0] <= one.at <= _ENDS[1]:
        return None
    if one.zoned or clock is None:
        return one.at
    place = sum(step.left <= one.at for step in clock.steps)
    ahead = clock.skews[place]
    if ahead is None:
        return None if place else one.at
    return one.at - ahead if abs(ahead) > OFF else one.at


def series(told: HostMetrics) -> list[Series]:
    """Return consecutive samples; files are joined when one ends before the next begins."""
    by_file: dict[tuple[int, str, str], dict[str, list[HostSample]]] = defaultdict(lambda: defaultdict(list))
    for one in told.samples:
        if one.at is not None:
            by_file[one.broker, one.metric, one.device][one.proof.rpartition(":")[0]].append(one)
    found = []
    for (broker, metric, device), files in sorted(by_file.items()):
        own: list[list[HostSample]] = []
        for some in sorted((sorted(some, key=lambda one: one.at) for some in files.values()), key=lambda some: some[0].at):
            before = next((joined for joined in own if joined[-1].at < some[0].at), None)
            if before is None:
                own.append(list(some))
            else:
                before += some
        found += [Series(broker, metric, device, tuple(samples)) for samples in own]
    return found


def incidents(windows: Iterable[Window], chains: Sequence[Chain]) -> list[WatchedTime]:
    """Return the periods to examine: chains, and unplanned windows; coordinators load at each start."""
    found = [
        WatchedTime(chain.opened, chain.opened if chain.closed is None else chain.closed, chain.title, place)
        for place, chain in enumerate(chains)
        if chain.opened is not None and chain.kind not in _LONG
    ]
    for window in windows:
        opened = window.opened if window.opened_earliest is None else window.opened_earliest
        if opened is not None and not window.planned and window.kind is not WindowKind.LOADING:
            found.append(
                WatchedTime(opened, window.closed, f"{window.kind.replace('_', ' ')} of {window.topic}-{window.partition}")
            )
    return found


def clues(told: HostMetrics, of: Sequence[Series], during: Sequence[WatchedTime]) -> tuple[Clue, ...]:
    """Return what stood out: starts, saturation, drops, rises; the most extreme first for each metric."""
    found = [clue for one in of for clue in _of_series(one, during)]
    found += (clue for start in told.starts for clue in _of_start(start, of, during))
    return tuple(sorted(found, key=_weight))


def _weight(clue: Clue) -> tuple[object, ...]:
    order = (STARTED, FULL, LOW, HIGH).index(clue.kind)
    times = -clue.value / clue.usual if clue.value and clue.usual else float("-inf")
    which = list(METRICS).index(clue.metric) if clue.metric else -1
    return order, which, times, clue.broker, clue.device, clue.by


def _of_series(one: Series, during: Sequence[WatchedTime]) -> Iterator[Clue]:
    (lower, median, upper), metric = one.quartiles, METRICS[one.metric]

    def kind(sample: HostSample) -> str:
        value = sample.value
        if metric.full is not None and value >= metric.full:
            return FULL
        if len(one.samples) < LEAST:
            return ""
        if value >= metric.least and value >= TIMES * median and value > upper + SPREADS * (upper - lower):
            return HIGH
        return LOW if metric.falls and median >= metric.least and value <= lower / CEASED < lower else ""

    place = 0
    for (what, _), group in groupby(zip(one.samples, _unbroken(one), strict=True), key=lambda pair: (kind(pair[0]), pair[1])):
        run = [sample for sample, _ in group]
        before = one.samples[place - 1] if place else None
        place += len(run)
        if what:
            yield from _clue(one, what, run, before, median, during)


def _unbroken(one: Series) -> list[int]:
    """Return the part number of each sample, with gaps between parts."""
    parts, part, usual = [], 0, one.interval
    for before, after in pairwise([None, *one.samples]):
        part += before is not None and after.at - before.at > HOLE * usual
        parts.append(part)
    return parts


def _clue(
    one: Series, kind: str, run: Sequence[HostSample], before: HostSample | None, median: float, during: Sequence[WatchedTime]
) -> Iterator[Clue]:
    first, last = run[0], run[-1]
    since = first.at - first.span if first.span else (before.at if before else None)
    worst = (min if kind == LOW else max)(run, key=lambda sample: sample.value)
    until = max(last.at - (last.span or 0), first.at)
    if met := [incident for incident in during if incident.meets(first.at if since is None else since, last.at)]:
        yield Clue(
            one.broker, one.metric, one.device, kind, worst.value, median, len(one.samples), since, first.at, until, last.at,
            _titled(met), _chains(met), worst.proof,
        )  # fmt: skip


def _of_start(start: HostStart, of: Sequence[Series], during: Sequence[WatchedTime]) -> Iterator[Clue]:
    at = start.at
    if at is None:
        return
    before = [one.at for own in of if own.broker == start.broker for one in own.samples if one.at < at]
    since, device = max(before, default=None), KERNEL if start.of_kernel else SYSSTAT
    if met := [incident for incident in during if incident.meets(at if since is None else since, at)]:
        yield Clue(
            start.broker, "", device, STARTED, None, None, 0, since, at, at, at, _titled(met), _chains(met), start.proof
        )  # fmt: skip


def _chains(met: Sequence[WatchedTime]) -> tuple[int, ...]:
    return tuple(incident.chain for incident in met if incident.chain is not None)


def _titled(met: Sequence[WatchedTime]) -> str:
    """Name the simultaneous events: the first, and how many more."""
    more = len(met) - 1
    return met[0].title + (f"; and {count(more)} more" if more else "")
