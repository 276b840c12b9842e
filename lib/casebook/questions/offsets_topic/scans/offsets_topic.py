"""Rows about the offsets topic, from its aggregate, in one pass: group by group, so that memory holds one group and the sums.

Whatever can be many (commits, groups, hours, losses) is bounded; what is left out is counted in the sums.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from casebook.facts.disks import (
    Deletion,
    GroupBytes,
    GroupCommit,
    GroupHistory,
    GroupLoss,
    GroupState,
    LostCommit,
    NextClean,
    OffsetsLog,
    Scanned,
    Segment,
    SegmentDamage,
)
from casebook.kafka.group_load import KeyRecords, KnownKey, Markers, known, latest
from casebook.questions.offsets_topic.analysis.safe_segments import provably_safe
from casebook.questions.offsets_topic.scans.group_records import HOUR
from casebook.questions.offsets_topic.scans.offsets_rows import Log, OffsetsRows, by_key

MOST_COMMITS, MOST_GROUPS, MOST_HOURLY, MOST_LOSSES, MOST_DAMAGE = 50_000, 5_000, 20, 200, 10_000
MOST_LOST_COMMITS = 10_000
_DAY = 24 * HOUR
_OF_GROUPS = ("commit", "group")


class Expiry(NamedTuple):
    """How commits expire.

    Args:
        rule: What the time counts from: ``commit``, ``empty`` or ``unsubscribed``; see ``versions.OFFSETS_EXPIRE``.
        retention: ``offsets.retention.minutes`` in milliseconds; ``None`` when unknown.
        now: Against which commits are called expired, epoch ms; ``None`` when unknown.
    """

    rule: str = "commit"
    retention: int | None = None
    now: int | None = None


class _Group:
    """A group's rows, with what a loader makes of them.

    Args:
        rows: All of them.
        markers: Of its log.
        missing: Segments that are not there.
    """

    def __init__(self, rows: Iterable[KeyRecords], markers: Markers, missing: Collection[int] = ()) -> None:
        self.rows = [row for row in rows if row.segment not in missing] if missing else list(rows)
        self.by_key: dict[tuple, list[KeyRecords]] = defaultdict(list)
        for row in self.rows:
            if row.kind == "commit":
                self.by_key[by_key(row)].append(row)
        self.known: dict[tuple, KnownKey] = {key: known(some, markers) for key, some in self.by_key.items()}
        self.metadata = latest(row for row in self.rows if row.kind == "group")

    @property
    def visible(self) -> dict[tuple, KeyRecords]:
        """The commits that OffsetFetch answers."""
        return {key: found.visible for key, found in self.known.items() if found.visible is not None}

    @property
    def state(self) -> KeyRecords | None:
        """The latest metadata; ``None`` without any, or after its tombstone."""
        return None if self.metadata is None or self.metadata.tombstone else self.metadata

    def live(self) -> list[KeyRecords]:
        """What a cleaner must keep: the latest record of every key."""
        found = [one.live for one in self.known.values()]
        return [row for row in (*found, self.metadata) if row is not None]


def read(folder: Path, *, expiry: Expiry | None = None, bounds: Mapping[Log, tuple[int, int]] | None = None) -> Scanned:
    """Everything that is asked of the aggregate once.

    Args:
        folder: What :func:`casebook.questions.offsets_topic.scans.group_records.aggregate` wrote.
        expiry: When commits are forgotten.
        bounds: First dirty and first uncleanable segment, by broker and partition: what the next clean would take.
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
        self._logs: dict[Log, _LogSums] = defaultdict(_LogSums)
        self._commits: list[GroupCommit] = []
        self._states: list[GroupState] = []
        self._histories: list[GroupHistory] = []
        self._written: list[tuple[int, Log, str, dict]] = []
        for log, some in rows.groupless.items():
            self._logs[log].groupless(some, bounds.get(log))

    def add(self, log: Log, name: str, rows: Sequence[KeyRecords]) -> None:
        group = _Group(rows, self._markers.get(log) or Markers(()))
        sums = self._logs[log]
        sums.group(group, self._bounds.get(log))
        commits = _commits(log, name, group, self._expiry)
        sums.expired += sum(c.expire_time is not None and c.expire_time <= (self._expiry.now or 0) for c in commits)
        self._commits += commits[: max(0, MOST_COMMITS - len(self._commits))]
        self._states += _state(log, name, group)
        self._histories += _history(log, name, group, self._rows.last_hours.get(log))
        self._write(log, name, group)

    def _write(self, log: Log, name: str, group: _Group) -> None:
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
        """By hour for the largest groups, in sum for the others."""
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


class _SegmentSums:
    """What a segment holds."""

    def __init__(self) -> None:
        self.bytes = self.records = self.tombstones = self.markers = self.newer = self.unknown = self.damaged = 0
        self.live_records = self.live_bytes = self.open = self.keepers = 0
        self.first_offset = self.first_time = self.last_offset = self.last_time = self.largest = None

    def add(self, row: KeyRecords) -> None:
        self.bytes += row.bytes
        self.records += 0 if row.kind == "control" else row.records
        self.tombstones += row.tombstones
        self.markers += row.kind == "control"
        self.newer += row.records if row.kind == "newer" else 0
        self.unknown += row.records if row.kind == "unknown" else 0
        self.damaged += row.damaged_bytes
        self.keepers += row.kind == "damage" or (row.transactional and row.tombstone)
        self.keepers += row.records if row.kind in ("newer", "unknown") else 0
        self.first_offset = _least(self.first_offset, row.first_offset)
        self.first_time, self.last_time = _least(self.first_time, row.first_time), _most(self.last_time, row.last_time)
        self.last_offset = _most(self.last_offset, None if row.kind == "damage" else row.offset)
        self.largest = _most(self.largest, row.largest_batch)


class _CleanSums:
    """What the next clean would take and leave."""

    def __init__(self) -> None:
        self.before = self.after = self.keys = self.tombstones = 0

    def add_others(self, rows: Iterable[KeyRecords], end: int) -> None:
        """Rows that a clean leaves as they are."""
        size = sum(row.bytes for row in rows if row.segment < end)
        self.before += size
        self.after += size

    def add_group(self, group: _Group, first_dirty: int, end: int) -> None:
        below = [row for row in group.rows if row.segment < end]
        self.add_others((row for row in below if row.kind not in _OF_GROUPS), end)
        aborted = {row.offset for one in group.known.values() for row, marker in one.decided if marker and not marker.commit}
        last: dict[tuple, KeyRecords] = {}
        dirty: set[tuple] = set()
        for row in below:
            if row.kind in _OF_GROUPS:
                self.before += row.bytes
                if row.transactional and row.offset in aborted:
                    continue
                key = row.kind, row.topic, row.partition
                if key not in last or row.offset > last[key].offset:
                    last[key] = row
                if row.segment >= first_dirty:
                    dirty.add(key)
        self.after += sum(row.size or 0 for row in last.values())
        self.tombstones += sum(row.tombstone for row in last.values())
        self.keys += len(dirty)


class _LogSums:
    """Sums over a partition."""

    def __init__(self) -> None:
        self._segments: dict[int, _SegmentSums] = defaultdict(_SegmentSums)
        self._needs: set[tuple[int, int]] = set()
        self._clean = _CleanSums()
        self._newer: Counter[str] = Counter()
        self._commits = self._groups = self._open = self.expired = 0
        self._first_open: int | None = None

    def groupless(self, rows: Sequence[KeyRecords], bounds: tuple[int, int] | None) -> None:
        for row in rows:
            self._segments[row.segment].add(row)
            self._count_newer(row)
        if bounds:
            self._clean.add_others(rows, bounds[1])

    def group(self, group: _Group, bounds: tuple[int, int] | None) -> None:
        for row in group.rows:
            self._segments[row.segment].add(row)
            self._count_newer(row)
        for row in group.live():
            sums = self._segments[row.segment]
            sums.live_records += 1
            sums.live_bytes += row.size or 0
            sums.keepers += not row.tombstone
        visible = len(group.visible)
        self._commits += visible
        self._groups += bool(visible or group.state)
        for one in group.known.values():
            self._wait(one)
        self._needs.update(_needs(group))
        if bounds:
            self._clean.add_group(group, *bounds)

    def _wait(self, one: KnownKey) -> None:
        for row, marker in one.decided:
            if marker is None:
                self._open += 1
                self._first_open = _least(self._first_open, row.offset)
                self._segments[row.segment].open += 1
                self._segments[row.segment].keepers += 1

    def _count_newer(self, row: KeyRecords) -> None:
        if row.newer is not None:
            self._newer[row.newer] += row.records

    def rows(self, log: Log) -> list[Segment]:
        bases = sorted(self._segments)
        safe = provably_safe([base for base in bases[:-1] if not self._segments[base].keepers], self._needs)
        return [_segment(log, base, self._segments[base], safe=base in safe) for base in bases]

    def counts(self, log: Log, *, known_now: bool) -> OffsetsLog:
        return OffsetsLog(
            broker=log[0],
            partition=log[1],
            commits=self._commits,
            groups=self._groups,
            open_transactional=self._open,
            first_open=self._first_open,
            expired=self.expired if known_now else None,
            newer=dict(sorted(self._newer.items())),
        )

    def clean(self, log: Log) -> NextClean:
        clean = self._clean
        return NextClean(*log, clean.before, clean.after, clean.keys, clean.tombstones)


def _segment(log: Log, base: int, sums: _SegmentSums, *, safe: bool) -> Segment:
    return Segment(
        broker=log[0],
        partition=log[1],
        base_offset=base,
        bytes=sums.bytes,
        records=sums.records,
        live_records=sums.live_records,
        live_bytes=sums.live_bytes,
        tombstones=sums.tombstones,
        open_transactional=sums.open,
        markers=sums.markers,
        first_offset=sums.first_offset,
        last_offset=sums.last_offset,
        first_time=sums.first_time,
        last_time=sums.last_time,
        largest_batch=sums.largest,
        keepers=sums.keepers,
        safe_to_do_without=safe,
        newer=sums.newer,
        unknown=sums.unknown,
        damaged_bytes=sums.damaged,
    )


def _needs(group: _Group) -> Iterable[tuple[int, int]]:
    """Pairs of segments: the first may only go together with the second, as its tombstone hides, or its marker decides,
    what lies there.
    """
    pairs: set[tuple[int, int]] = set()
    for key, one in group.known.items():
        pairs.update((marker.segment, row.segment) for row, marker in one.decided if marker is not None)
        erased = one.plain
        if erased is not None and erased.tombstone and (one.visible is None or one.visible.offset < erased.offset):
            pairs.update((erased.segment, older) for older in _hidden(group.by_key[key], one, erased.offset))
    if group.metadata is not None and group.metadata.tombstone:
        values = _last_by_segment(row for row in group.rows if row.kind == "group")
        pairs.update((group.metadata.segment, base) for base, row in values.items() if not row.tombstone)
    return (pair for pair in pairs if pair[0] != pair[1])


def _hidden(rows: Iterable[KeyRecords], one: KnownKey, erased_at: int) -> Iterable[int]:
    """Segments with a value that a tombstone hides."""
    plain = _last_by_segment(row for row in rows if not row.transactional)
    yield from (base for base, row in plain.items() if not row.tombstone and row.offset < erased_at)
    for row, marker in one.decided:
        if marker is not None and marker.commit and not row.tombstone and marker.offset < erased_at:
            yield row.segment


def _last_by_segment(rows: Iterable[KeyRecords]) -> dict[int, KeyRecords]:
    found: dict[int, KeyRecords] = {}
    for row in rows:
        if row.segment not in found or row.offset > found[row.segment].offset:
            found[row.segment] = row
    return found


def _commits(log: Log, name: str, group: _Group, expiry: Expiry) -> list[GroupCommit]:
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
    """From when the coordinator may forget a commit; ``None`` when it does not, or that is not known."""
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
    """Whether a member wants a topic; one whose subscription cannot be read may."""
    return any(member["subscription"] is None or topic in member["subscription"] for member in state.members)


def _state(log: Log, name: str, group: _Group) -> list[GroupState]:
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


def _hours(group: _Group) -> dict[tuple[str | None, int | None], list[int]]:
    """Records, bytes and live bytes by committed topic and hour."""
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


def _history(log: Log, name: str, group: _Group, until: int | None) -> list[GroupHistory]:
    """Pace, gaps and rewinds, as far as the last commit of each key and hour tells; nothing for a group without commits."""
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


def deletions(folder: Path, sets: Mapping[str, Collection[tuple[int, int, int]]], segments: Iterable[Segment]) -> list[Deletion]:
    """What deleting segments would do, for each set and log.

    Args:
        folder: What :func:`casebook.questions.offsets_topic.scans.group_records.aggregate` wrote.
        sets: ``(broker, partition, base offset)`` by name; a set without segments has no answer.
        segments: Of the scan.
    """
    rows = OffsetsRows(folder)
    scenarios = [_Scenario(name, log, missing, rows.groupless.get(log, ())) for (name, log), missing in _by_log(sets).items()]
    by_log: dict[Log, list[_Scenario]] = defaultdict(list)
    for scenario in scenarios:
        by_log[scenario.log].append(scenario)
    for log, group, some in rows.groups():
        if log in by_log:
            before = _Group(some, by_log[log][0].before)
            for scenario in by_log[log]:
                scenario.add(group, before, some)
    facts = {(s.broker, s.partition, s.base_offset): s for s in segments}
    return [scenario.deletion(facts) for scenario in scenarios]


def _by_log(sets: Mapping[str, Collection[tuple[int, int, int]]]) -> dict[tuple[str, Log], set[int]]:
    found: dict[tuple[str, Log], set[int]] = defaultdict(set)
    for name, places in sets.items():
        for broker, partition, base in places:
            found[name, (broker, partition)].add(base)
    return found


class _Scenario:
    """A log with segments missing, against the whole of it."""

    def __init__(self, name: str, log: Log, missing: set[int], groupless: Sequence[KeyRecords]) -> None:
        self.name, self.log, self._missing = name, log, missing
        self.before, self._after = Markers(groupless), Markers(groupless, missing)
        self._sums: Counter[str] = Counter()
        self._losses: list[GroupLoss] = []
        self._commits: list[LostCommit] = []

    def add(self, name: str, before: _Group, rows: Sequence[KeyRecords]) -> None:
        after = _Group(rows, self._after, self._missing)
        had, has = before.visible, after.visible
        lost = [had[key] for key in had.keys() - has.keys()]
        back = [(had[key], has[key]) for key in had.keys() & has.keys() if had[key].offset != has[key].offset]
        loss = GroupLoss(
            partition=self.log[1],
            group=name,
            commits=len(had),
            lost=len(lost),
            fell_back=len(back),
            again=sum(max(old.committed - new.committed, 0) for old, new in back),
            revived=len(has.keys() - had.keys()),
            last_lost=max((row.commit_time for row in lost if row.commit_time is not None), default=None),
        )
        self._sums.update({field: getattr(loss, field) for field in ("commits", "lost", "fell_back", "again", "revived")})
        self._note(name, had, has)
        self._sums["groups"] += bool(had)
        self._sums["emptied"] += bool(had) and not has
        self._sums["metadata"] += before.state is not None and (after.state is None or after.state.offset != before.state.offset)
        if loss.lost or loss.fell_back or loss.revived:
            self._losses.append(loss)
            if len(self._losses) > 4 * MOST_LOSSES:
                self._losses = self._worst()

    def _note(self, group: str, had: Mapping[tuple, KeyRecords], has: Mapping[tuple, KeyRecords]) -> None:
        """Keep the commits of a group whose answer changes; those that are lost first, where there are too many."""
        for key in had.keys() | has.keys():
            old, new = had.get(key), has.get(key)
            if old is None or new is None or old.offset != new.offset:
                self._commits.append(_lost_commit(self.name, self.log[1], group, old, new))
        if len(self._commits) > 2 * MOST_LOST_COMMITS:
            self._commits = sorted(self._commits, key=_worst_first)[:MOST_LOST_COMMITS]

    def _worst(self) -> list[GroupLoss]:
        return sorted(self._losses, key=lambda loss: (-loss.lost, -loss.fell_back, -loss.revived, loss.group))[:MOST_LOSSES]

    def deletion(self, facts: Mapping[tuple[int, int, int], Segment]) -> Deletion:
        found = [facts[*self.log, base] for base in self._missing if (*self.log, base) in facts]
        return Deletion(
            scenario=self.name,
            broker=self.log[0],
            partition=self.log[1],
            segments=tuple(sorted(self._missing)),
            bytes=sum(segment.bytes for segment in found),
            records=sum(segment.records + segment.markers for segment in found),
            commits=self._sums["commits"],
            lost=self._sums["lost"],
            fell_back=self._sums["fell_back"],
            again=self._sums["again"],
            revived=self._sums["revived"],
            groups=self._sums["groups"],
            groups_emptied=self._sums["emptied"],
            metadata_lost=self._sums["metadata"],
            open_lost=sum(segment.open_transactional for segment in found),
            by_group=tuple(self._worst()),
            by_commit=tuple(sorted(sorted(self._commits, key=_worst_first)[:MOST_LOST_COMMITS], key=_by_name)),
        )


def _lost_commit(name: str, log_partition: int, group: str, old: KeyRecords | None, new: KeyRecords | None) -> LostCommit:
    known = old or new
    return LostCommit(
        choice=name,
        log_partition=log_partition,
        group=group,
        topic=known.topic,
        partition=known.partition,
        change="comes back" if old is None else "lost" if new is None else "falls back",
        offset=old.committed if old else None,
        commit_time=old.commit_time if old else None,
        remains=new.committed if new else None,
        remains_time=new.commit_time if new else None,
    )


def _worst_first(one: LostCommit) -> tuple:
    return ("lost", "falls back", "comes back").index(one.change), *_by_name(one)


def _by_name(one: LostCommit) -> tuple:
    return one.group, one.topic, one.partition


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _most(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)
