"""Earlier runs of the same cluster, and remarks on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from casebook.errors import UsageError, did_you_mean
from casebook.findings.past_runs import Identity, PastRun

_ENOUGH = 3
_LATE = 1.8  # times the usual interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """Earlier runs of a cluster.

    Args:
        kept: Oldest first, one per evidence; all older than the compared run.
        another: Newest run of another cluster at the same location; ``None`` without one.
        made_anew: Newest run before the cluster was recreated, by a lower controller epoch.
        missing: Compared runs that are missing between the stored ones.
        failed: Incomplete runs since the last stored one.
        late: Number of missing runs since the last one, by the usual interval.
        interval: Usual interval, in ms; ``None`` with too few runs.
    """

    kept: tuple[PastRun, ...]
    another: PastRun | None = None
    made_anew: PastRun | None = None
    missing: tuple[str, ...] = ()
    failed: tuple[PastRun, ...] = ()
    late: int = 0
    interval: int | None = None

    @property
    def last(self) -> PastRun | None:
        """Run to compare with."""
        return self.kept[-1] if self.kept else None


def line(cluster: Identity, at: int, epoch: float | None, past: Sequence[PastRun], *, against: str = "") -> RunLine:
    """Return the line that a run continues.

    Args:
        cluster: Cluster of the run.
        at: Time of its evidence, epoch ms: evidence is not compared with itself.
        epoch: Controller epoch.
        past: All earlier runs.
        against: Run to compare with; ``""`` for the last one.

    Raises:
        UsageError: The run does not exist for this cluster, or its evidence is not older.
    """
    if against:
        return _against(line(cluster, at, epoch, _upto(against, past)), against)
    older = sorted((run for run in past if run.at < at), key=lambda run: (run.at, run.name))
    whole = [run for run in older if run.failed is None]
    same = list({run.at: run for run in whole if run.cluster.same(cluster)}.values())
    begin = _begin(same, epoch)
    kept = tuple(same[begin:])
    since = kept[-1].at if kept else 0
    interval = _interval(kept)
    return RunLine(
        kept=kept,
        another=_another(whole, cluster, since),
        made_anew=same[begin - 1] if begin and begin == len(same) else None,
        missing=_missing(kept, {run.name for run in past}),
        failed=tuple(r for r in older if r.failed is not None and r.at > since and r.cluster.at_the_same_place(cluster)),
        late=_late(at - since, interval) if kept else 0,
        interval=interval,
    )


def _upto(name: str, past: Sequence[PastRun]) -> Sequence[PastRun]:
    """Return the runs up to one, which represents all of the same evidence."""
    chosen = next((run for run in past if run.name == name), None)
    if chosen is None:
        raise UsageError(f"There is no run {name} of the scheduled report.", try_=did_you_mean(name, [run.name for run in past]))
    return [run for run in past if run.at < chosen.at or run is chosen]


def _against(found: RunLine, name: str) -> RunLine:
    if found.last is None or found.last.name != name:
        raise UsageError(
            f"The run {name} cannot be compared.",
            cause="It is of another cluster, did not complete, or has evidence that is not older.",
            try_="Leave against empty: the last comparable run is then used.",
        )
    return RunLine(kept=found.kept, interval=found.interval)  # the request implies later ones


def _begin(runs: Sequence[PastRun], epoch: float | None) -> int:
    """Return the index of today's cluster: controller epochs never decrease within one."""
    after = epoch
    for place in reversed(range(len(runs))):
        here = runs[place].measured("controller_epoch")
        if here is not None and after is not None and here > after:
            return place + 1
        after = here if here is not None else after
    return 0


def _another(whole: Sequence[PastRun], cluster: Identity, since: int) -> PastRun | None:
    """Return the newest run of an earlier cluster at this location."""
    here = [run for run in whole if run.at > since and run.cluster.at_the_same_place(cluster) and not run.cluster.same(cluster)]
    return here[-1] if here else None


def _interval(kept: Sequence[PastRun]) -> int | None:
    if len(kept) < _ENOUGH:
        return None
    return round(median(later.at - earlier.at for earlier, later in pairwise(kept)))


def _late(passed: int, interval: int | None) -> int:
    return 0 if not interval or passed < _LATE * interval else round(passed / interval) - 1


def _missing(kept: Sequence[PastRun], there: set[str]) -> tuple[str, ...]:
    """Names start with the time: a run older than all stored ones was removed by retention."""
    named = {run.run_before for run in kept} - there - {None}
    return tuple(sorted(name for name in named if name > min(run.name for run in kept)))
