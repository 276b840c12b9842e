"""Rows on the offsets topic from its aggregate, in one pass, group by group: memory holds one group and the sums.

Potentially large parts (commits, groups, hours, losses) are bounded; omitted ones count in the sums.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from casebook.facts.offsets_topic import GroupBytes, GroupCommit, GroupHistory, GroupState, Scanned, SegmentDamage
from casebook.kafka.group_load import KeyRecords, Markers
from casebook.questions.offsets_topic.scans.group_records import HOUR
from casebook.questions.offsets_topic.scans.loaded_group import LoadedGroup
from casebook.questions.offsets_topic.scans.log_sums import LogSums
from casebook.questions.offsets_topic.scans.offsets_rows import Log, OffsetsRows

MOST_COMMITS, MOST_GROUPS, MOST_HOURLY, MOST_DAMAGE = 50_000, 5_000, 20, 10_000
_DAY = 24 * HOUR


class Expiry(NamedTuple):
    """Expiry of commits.

    Args:
        rule: Start of the retention: ``commit``, ``empty`` or ``unsubscribed``; see ``versions.OFFSETS_EXPIRE``.
        retention: ``offsets.retention.minutes`` in milliseconds; ``None`` when unknown.
        now: Reference time for expiry, epoch ms; ``None`` when unknown.
    """

    rule: str = "commit"
    retention: int | None = None
    now: int | None = None


def read(folder: Path, *, expiry: Expiry | None = None, bounds: Mapping[Log, tuple[int, int]] | None = None) -> Scanned:
    """Read all results from the aggregate.

    Args:
        folder: Output of :func:`casebook.questions.offsets_topic.scans.group_records.aggregate`.
        expiry: Expiry of commits.
        bounds: First dirty and first uncleanable segment, by broker and partition, for the next clean.
    """
    rows = OffsetsRows(folder)
    totals = _Totals(expiry or Expiry(), bounds or {}, rows)
    for log, group, some in rows.groups():
        totals.add(log, group, some)
    return totals.scanned()


class _Totals:
    """Sums over all groups."""

    def __init__(self, expiry: Expiry, bounds: Mapping[Log, tuple[int, int]], rows: OffsetsRows) -> None:
        self._expiry, self._bounds, self._rows = expiry, bounds, rows
        self._markers = {log: Markers(some) for log, some in rows.groupless.items()}
        self._logs: dict[Log, LogSums] = defaultdict(LogSums)
        self._commits: list[GroupCommit] = []
        self._states: list[GroupState] = []
        self._histories: list[GroupHistory] = []
        self._written: list[tuple[int, Log, str, dict]] = []
        for log, some in rows.groupless.items():
            self._logs[log].groupless(some, bounds.get(log))

    def add(self, log: Log, name: str, rows: Sequence[KeyRecords]) -> None:
        group = LoadedGroup(rows, self._markers.get(log) or Markers(()))
        sums = self._logs[log]
        sums.group(group, self._bounds.get(log))
        commits = _commits(log, name, group, self._expiry)
        sums.expired += sum(c.expire_time is not None and c.expire_time <= (self._expiry.now or 0) for c in commits)
        self._commits += commits[: max(0, MOST_COMMITS - len(self._commits))]
        self._states += _state(log, name, group)
        self._histories += _history(log, name, group, self._rows.last_hours.get(log))
        self._write(log, name, group)

    def _write(self, log: Log, name: str, group: LoadedGroup) -> None:
        hours = _hours(group)
        size = sum(one[1] for one in hours.values())
        self._written.append((size, log, name, hours))
        if len(self._written) > 2 * MOST_GROUPS:
            self._written = nlargest(MOST_GROUPS, self._written, key=lambda one: one[0])

    def scanned(self) -> Scanned:
        logs = sorted(self._logs)
        return Scanned(
            segments=tuple(row for log in logs for row in self._logs[log].rows(log)),
            logs=tuple(self._logs[log].counts(log, known_now=self._expiry.now is not None) for log in logs),
            commits=tuple(sorted(self._commits)),
            groups=tuple(sorted(self._states, key=lambda g: (-g.commits, g.partition, g.group, g.broker))[:MOST_GROUPS]),
            group_bytes=self._group_bytes(),
            history=tuple(sorted(self._histories, key=lambda g: (-g.busiest_hour, g.partition, g.group, g.broker))[:MOST_GROUPS]),
            next_clean=tuple(self._logs[log].clean(log) for log in logs if log in self._bounds),
            damage=self._damage(),
        )

    def _group_bytes(self) -> tuple[GroupBytes, ...]:
        """By hour for the largest groups, as a sum for the others."""
        clients = {(state.broker, state.partition, state.group): state.clients for state in self._states}
        ranked = sorted(self._written, key=lambda one: (-one[0], one[2], one[1]))[:MOST_GROUPS]
        found = []
        for place, (_, log, name, hours) in enumerate(ranked):
            by_hour = hours if place < MOST_HOURLY else _without_hours(hours)
            ids = ", ".join(sorted({client.split(" ")[0] for client in clients.get((*log, name), ())})) or None
            found += [GroupBytes(*log, name, topic, hour, *sums, ids) for (topic, hour), sums in by_hour.items()]
        return tuple(sorted(found, key=lambda row: (row.broker, row.partition, row.group, row.topic or "", row.hour or 0)))

    def _damage(self) -> tuple[SegmentDamage, ...]:
        rows = (row for some in self._rows.groupless.values() for row in some if row.kind == "damage")
        found = [SegmentDamage(row.file, row.position, row.damaged_bytes, row.offset, row.reason, bool(row.tail)) for row in rows]
        return tuple(sorted(found, key=lambda one: (one.file, one.position))[:MOST_DAMAGE])


def _commits(log: Log, name: str, group: LoadedGroup, expiry: Expiry) -> list[GroupCommit]:
    return [
        GroupCommit(
            broker=log[0],
            log_partition=log[1],
            group=name,
            topic=row.topic,
            partition=row.partition,
            offset=row.committed,
            commit_time=row.commit_time,
            expire_time=_expire_time(row, group.state, expiry),
            source_offset=row.offset,
            segment=row.segment,
        )
        for _, row in sorted(group.visible.items())
    ]


def _expire_time(row: KeyRecords, state: KeyRecords | None, expiry: Expiry) -> int | None:
    """Return when the coordinator may expire a commit; ``None`` for never or unknown."""
    if row.expire_time is not None and row.expire_time >= 0:
        return row.expire_time
    since = row.commit_time
    if expiry.rule != "commit" and state is not None and state.protocol_type:
        if not state.members:
            since = row.commit_time if state.state_time is None else state.state_time
        elif expiry.rule == "empty" or state.protocol_type != "consumer" or _subscribed(state, row.topic):
            return None
    return None if since is None or expiry.retention is None else since + expiry.retention


def _subscribed(state: KeyRecords, topic: str) -> bool:
    """Return whether a member subscribes to a topic; ``True`` for an undecodable subscription."""
    return any(member["subscription"] is None or topic in member["subscription"] for member in state.members)


def _state(log: Log, name: str, group: LoadedGroup) -> list[GroupState]:
    commits, state = len(group.visible), group.state
    if state is None:
        return [GroupState(*log, group=name, commits=commits)] if commits else []
    members = state.members
    clients = {f"{m['client_id'] or ''} {m['client_host'] or ''}".strip() for m in members or ()}
    return [
        GroupState(
            *log,
            group=name,
            commits=commits,
            protocol_type=state.protocol_type,
            protocol=state.protocol,
            generation=state.generation,
            members=None if members is None else len(members),
            clients=tuple(sorted(clients)),
            topics=tuple(sorted({topic for m in members or () for topic in m["subscription"] or ()})),
            since=state.state_time,
            source_offset=state.offset,
        )
    ]


def _hours(group: LoadedGroup) -> dict[tuple[str | None, int | None], list[int]]:
    """Return records, bytes and live bytes by committed topic and hour."""
    live = {row.offset for row in group.live()}
    sums: dict[tuple, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in group.rows:
        one = sums[row.topic, row.hour]
        one[0] += row.records
        one[1] += row.bytes
        one[2] += (row.size or 0) if row.offset in live else 0
    return dict(sums)


def _without_hours(hours: Mapping[tuple[str | None, int | None], list[int]]) -> dict[tuple[str | None, None], list[int]]:
    sums: dict[tuple, list[int]] = defaultdict(lambda: [0, 0, 0])
    for (topic, _), values in hours.items():
        sums[topic, None] = [a + b for a, b in zip(sums[topic, None], values, strict=True)]
    return dict(sums)


def _history(log: Log, name: str, group: LoadedGroup, until: int | None) -> list[GroupHistory]:
    """Return pace, gaps and rewinds, by the last commit of each key and hour; nothing without commits."""
    values = [row for row in group.rows if row.kind == "commit" and not row.tombstone]
    by_hour: Counter[int] = Counter()
    for row in values:
        if row.hour is not None:
            by_hour[row.hour] += row.records
    if not by_hour:
        return []
    rewound, progress, stepped = [], 0, 0
    for some in group.by_key.values():
        ordered = sorted((row for row in some if not row.tombstone), key=lambda row: row.offset)
        for before, row in pairwise(ordered):
            step = row.committed - before.committed
            progress += max(step, 0)
            stepped += row.records
            rewound += [-step] if step < 0 else []
    hours = sorted(by_hour)
    gaps = [later - earlier for earlier, later in pairwise(hours)]
    return [
        GroupHistory(
            *log,
            group=name,
            first_hour=hours[0],
            last_hour=hours[-1],
            hours=len(hours),
            longest_gap=max(gaps) // HOUR if gaps else None,
            busiest_hour=max(by_hour.values()),
            last_day=sum(count for hour, count in by_hour.items() if until is not None and hour > until - _DAY),
            rewinds=len(rewound),
            largest_rewind=max(rewound, default=0),
            per_commit=progress / stepped if stepped else None,
        )
    ]
