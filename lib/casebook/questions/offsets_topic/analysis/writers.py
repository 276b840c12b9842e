"""Writers of the offsets topic, its growth, and the resulting load time."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from casebook.facts.offsets_topic import GroupBytes, GroupHistory, GroupState

LoadTime = Callable[[int, int | None], int | None]
"""Duration of a load by bytes and records, in ms; ``None`` when unknown."""

HOUR, DAY, WEEK = 3_600_000, 86_400_000, 604_800_000
_MONDAY = 4 * DAY  # the epoch was a Thursday
HORIZON_DAYS = 27


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A group with what it wrote into a partition.

    Args:
        bytes: Bytes of its commits, tombstones and metadata.
        share: Share of all bytes of the partition, 0 to 1.
        live_bytes: Bytes of the latest record of each key.
        per_second: Commits per second over the partition's last 24 hours; ``None`` without history.
        busiest: Commits per second in its busiest hour.
        per_commit: Records of progress per commit: near 1, it commits every record.
        rewinds: Number of times that a key went back, from hour to hour.
        longest_gap: Maximum hours without a commit.
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
    """Week with the largest increase of growth, and its group."""

    week: int
    group: str
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Growth of a partition.

    Args:
        seen: Milliseconds of the last week that were read completely and are not cleaned; ``None`` without a whole hour.
        bytes_seen: Bytes written in them.
        bytes_per_day: Bytes per day from these; ``None`` for less than a day.
        bytes_then: Size in :data:`HORIZON_DAYS` days.
        load_ms_then: Duration of a load then; ``None`` when the rate is unknown.
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
    """Return every group that wrote, largest first."""
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
    """Return the week with one group's largest increase over the week before; ``None`` without a doubling."""
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
    """Return the growth and its effect on a load.

    Args:
        size: Current bytes of the partition.
        records: Current records of the partition.
        load_time: Duration of a load by bytes and records.
        since: Earlier data may be cleaned away, epoch ms; ``None`` when nothing is.
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
    """Return the Monday, 00:00 UTC, of a moment's week."""
    return (moment - _MONDAY) // WEEK * WEEK + _MONDAY


def _last_week(hours: Mapping[int, int]) -> tuple[int | None, int]:
    """Return milliseconds of at most seven days before the incomplete last hour, and the bytes written in them."""
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
