"""Who writes the offsets topic, how fast it grows, and what a load will take then."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from casebook.facts.offsets_topic import GroupBytes, GroupHistory, GroupState

LoadTime = Callable[[int, int | None], int | None]
"""How long a load of so many bytes and records takes, in ms; ``None`` when nothing tells."""

HOUR, DAY, WEEK = 3_600_000, 86_400_000, 604_800_000
_MONDAY = 4 * DAY  # the epoch was a Thursday
HORIZON_DAYS = 27


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A group by what it wrote into a partition.

    Args:
        bytes: Of its commits, tombstones and metadata.
        share: Of all bytes of the partition, 0 to 1.
        live_bytes: Of those that are the latest of their key.
        per_second: Commits a second over the partition's last 24 hours; ``None`` without history.
        busiest: Commits a second in its busiest hour.
        per_commit: Records of progress for each commit: near 1, it commits every record it reads.
        rewinds: Times a key went back, seen from hour to hour.
        longest_gap: Hours without a commit, at most.
        clients: Client ids of its latest members.
    """

    partition: int
    group: str
    records: int
    bytes: int
    share: float
    live_bytes: int
    per_second: float | None
    busiest: float | None
    per_commit: float | None
    rewinds: int | None
    longest_gap: int | None
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Onset:
    """The week in which growth rose most, and the group that rose with it."""

    week: int
    group: str
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How fast a partition grows.

    Args:
        seen: Milliseconds of the last week of which all was read and nothing is cleaned away; ``None`` without a whole hour.
        bytes_seen: What was written in them.
        bytes_per_day: By these; ``None`` when they are less than a day.
        bytes_then: In :data:`HORIZON_DAYS` days.
        load_ms_then: What a load takes then; ``None`` when the rate is unknown.
    """

    partition: int
    seen: int | None
    bytes_seen: int | None
    bytes_per_day: int | None
    days: int
    bytes_then: int | None
    load_ms_now: int | None
    load_ms_then: int | None


def writers(
    group_bytes: Iterable[GroupBytes], history: Iterable[GroupHistory], groups: Iterable[GroupState], partition: int
) -> tuple[Writer, ...]:
    """Every group that wrote, the largest first."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in group_bytes:
        if row.partition == partition:
            for at, value in enumerate((row.records, row.bytes, row.live_bytes)):
                sums[row.group][at] += value
    past = {row.group: row for row in history if row.partition == partition}
    clients = {row.group: row.clients for row in groups if row.partition == partition}
    total = sum(size for _, size, _ in sums.values())
    ordered = sorted(sums.items(), key=lambda item: (-item[1][1], item[0]))
    return tuple(_writer(partition, group, counts, total, past.get(group), clients.get(group, ())) for group, counts in ordered)


def onset(group_bytes: Iterable[GroupBytes], partition: int) -> Onset | None:
    """The week in which one group's bytes rose most against the week before; ``None`` when nothing rose to twice as much."""
    totals: dict[tuple[str, int], int] = defaultdict(int)
    for row in group_bytes:
        if row.partition == partition and row.hour is not None:
            totals[row.group, monday(row.hour)] += row.bytes
    if not totals:
        return None
    first = min(week for _, week in totals)
    rises = [
        Onset(week=week, group=group, bytes_before=totals.get((group, week - WEEK), 0), bytes_after=size)
        for (group, week), size in totals.items()
        if week > first
    ]
    steepest = max(rises, key=lambda rise: (rise.bytes_after - rise.bytes_before, rise.group), default=None)
    return steepest if steepest and steepest.bytes_after >= 2 * steepest.bytes_before else None


def growth(
    group_bytes: Iterable[GroupBytes],
    partition: int,
    size: int,
    records: int | None,
    load_time: LoadTime,
    *,
    since: int | None = None,
) -> Growth:
    """How fast it grows and what that means for a load.

    Args:
        size: Bytes of the partition now.
        records: Records of the partition now.
        load_time: Of a load of so many bytes and records.
        since: Before this much may be cleaned away, epoch ms; ``None`` when nothing is.
    """
    hours: dict[int, int] = defaultdict(int)
    for row in group_bytes:
        if row.partition == partition and row.hour is not None and (since is None or row.hour >= since):
            hours[row.hour] += row.bytes
    seen, written = _last_week(hours)
    a_day = round(written * DAY / seen) if seen is not None and seen >= DAY else None
    then = None if a_day is None else size + HORIZON_DAYS * a_day
    records_then = None if records is None or then is None or not size else round(records * then / size)
    return Growth(
        partition=partition,
        seen=seen,
        bytes_seen=written if seen is not None else None,
        bytes_per_day=a_day,
        days=HORIZON_DAYS,
        bytes_then=then,
        load_ms_now=load_time(size, records),
        load_ms_then=None if then is None else load_time(then, records_then),
    )


def monday(moment: int) -> int:
    """The Monday, 00:00 UTC, of the week of a moment."""
    return (moment - _MONDAY) // WEEK * WEEK + _MONDAY


def _last_week(hours: Mapping[int, int]) -> tuple[int | None, int]:
    """Milliseconds of at most seven days before the last hour, which is not whole, and what was written in them."""
    last = max(hours, default=None)
    recent = {hour: size for hour, size in hours.items() if last - WEEK <= hour < last} if last is not None else {}
    return (last - min(recent) if recent else None), sum(recent.values())


def _writer(
    partition: int, group: str, counts: Sequence[int], total: int, past: GroupHistory | None, clients: tuple[str, ...]
) -> Writer:
    records, size, live = counts
    return Writer(
        partition=partition,
        group=group,
        records=records,
        bytes=size,
        share=size / total if total else 0.0,
        live_bytes=live,
        per_second=past.last_day * 1000 / DAY if past else None,
        busiest=past.busiest_hour * 1000 / HOUR if past else None,
        per_commit=past.per_commit if past else None,
        rewinds=past.rewinds if past else None,
        longest_gap=past.longest_gap if past else None,
        clients=clients,
    )
