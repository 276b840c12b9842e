"""Sums over a partition of the offsets topic: content of its segments, which are needed, effect of the next clean."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from casebook.facts.offsets_topic import NextClean, OffsetsLog, Segment
from casebook.kafka.group_load import KeyRecords, KnownKey
from casebook.questions.offsets_topic.analysis.safe_segments import provably_safe
from casebook.questions.offsets_topic.scans.loaded_group import LoadedGroup
from casebook.questions.offsets_topic.scans.offsets_rows import Log

_OF_GROUPS = ("commit", "group")


class _SegmentSums:
    """Sums of a segment."""

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
    """Effect of the next clean."""

    def __init__(self) -> None:
        self.before = self.after = self.keys = self.tombstones = 0

    def add_others(self, rows: Iterable[KeyRecords], end: int) -> None:
        """Add rows that a clean does not change."""
        size = sum(row.bytes for row in rows if row.segment < end)
        self.before += size
        self.after += size

    def add_group(self, group: LoadedGroup, first_dirty: int, end: int) -> None:
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


class LogSums:
    """Sums over a partition."""

    def __init__(self) -> None:
        self._segments: dict[int, _SegmentSums] = defaultdict(_SegmentSums)
        self._needs: set[tuple[int, int]] = set()
        self._clean = _CleanSums()
        self._newer: Counter[str] = Counter()
        self._commits = self._groups = self._open = self.expired = 0
        self._first_open: int | None = None

    def groupless(self, rows: Sequence[KeyRecords], bounds: tuple[int, int] | None) -> None:
        """Count markers, damage, and records with an undecodable key."""
        for row in rows:
            self._segments[row.segment].add(row)
            self._count_newer(row)
        if bounds:
            self._clean.add_others(rows, bounds[1])

    def group(self, group: LoadedGroup, bounds: tuple[int, int] | None) -> None:
        """Count the rows of a group."""
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
        """Return the content of each segment, and whether it can be deleted safely."""
        bases = sorted(self._segments)
        safe = provably_safe([base for base in bases[:-1] if not self._segments[base].keepers], self._needs)
        return [_segment(log, base, self._segments[base], safe=base in safe) for base in bases]

    def counts(self, log: Log, *, known_now: bool) -> OffsetsLog:
        """Return the totals of the partition; expired commits only with a known reference time."""
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
        """Return the effect of the next clean."""
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


def _needs(group: LoadedGroup) -> Iterable[tuple[int, int]]:
    """Yield pairs of segments.

    The first may only go together with the second, whose content its tombstone hides or its marker decides.
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
    """Yield segments with a value that a tombstone hides."""
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


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _most(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)
