"""What a coordinator knows once it has loaded a partition of the offsets topic; also of a log with segments missing.

The rules are the loader's (``GroupMetadataManager.scala@0.9.0.1, 0.11.0.2, 2.8.2, 3.9.0``, ``doLoadGroupsAndOffsets``):

- A record outside transactions counts at once: a value replaces what is known of its key, a tombstone removes it.
- A transactional commit waits for the next marker of its producer. COMMIT applies the producer's last one of each key,
  unless a younger record is already known; ABORT drops them; a transactional tombstone takes back what waits.
- So a tombstone does not hold against a commit whose COMMIT comes after it, even when that commit is the older record.
- Group metadata counts at once, also in a transaction.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

_OFFSET = attrgetter("offset")


class KeyRecords(NamedTuple):
    """The records of one key in one segment and hour, with the columns of the last of them; a transactional record alone.

    Args:
        segment: Base offset.
        kind: ``commit``, ``group``, ``newer``, ``unknown``, ``control`` or ``damage``.
        newer: Name of a key kind that the classic coordinator does not know.
        transactional: A commit in a transaction.
        group: Its id.
        topic: Committed topic; ``None`` for the group's own metadata.
        partition: Committed partition.
        hour: Start of the hour of the commits, epoch ms.
        records: How many.
        bytes: Their share of the segment.
        tombstones: Of the records.
        first_offset: Of the first record.
        first_time: Of the first record, epoch ms.
        last_time: Of the last.
        largest_batch: Bytes of the largest batch that holds one.
        damaged_bytes: For ``damage``.
        offset: Of the last record in the log.
        size: Its share.
        tombstone: It has no value.
        committed: Offset of this commit.
        commit_time: When, by the broker.
        expire_time: As written; negative or ``None`` for none.
        producer: Of a transaction.
        control: ``commit`` or ``abort`` for ``control``.
        protocol_type: Of a group's metadata.
        protocol: Of a group's metadata.
        generation: Of a group's metadata.
        state_time: Of a group's metadata.
        members: Of a group's metadata.
        file: Where it lies.
        position: Of its batch.
        reason: Of damage, or why it is unknown.
        tail: Of damage: the file ends in it, as a copy of a segment that is being written does.
    """

    segment: int
    kind: str
    newer: str | None
    transactional: bool
    group: str | None
    topic: str | None
    partition: int | None
    hour: int | None
    records: int
    bytes: int
    tombstones: int
    first_offset: int | None
    first_time: int | None
    last_time: int | None
    largest_batch: int | None
    damaged_bytes: int
    offset: int | None
    size: int | None
    tombstone: bool
    committed: int | None
    commit_time: int | None
    expire_time: int | None
    producer: int | None
    control: str | None
    protocol_type: str | None
    protocol: str | None
    generation: int | None
    state_time: int | None
    members: Sequence[Mapping[str, object]] | None
    file: str | None
    position: int | None
    reason: str | None
    tail: bool | None


class Marker(NamedTuple):
    """The end of a transaction."""

    offset: int
    commit: bool
    segment: int


class Markers:
    """The markers of a partition by producer.

    Args:
        rows: Its control records; those that end no transaction are left out.
        missing: Base offsets of segments that are not there.
    """

    def __init__(self, rows: Iterable[KeyRecords], missing: Collection[int] = ()) -> None:
        self._by_producer: dict[int, list[Marker]] = {}
        for row in rows:
            if row.control in ("commit", "abort") and row.segment not in missing:
                marker = Marker(row.offset, row.control == "commit", row.segment)
                self._by_producer.setdefault(row.producer, []).append(marker)
        for markers in self._by_producer.values():
            markers.sort()

    def deciding(self, row: KeyRecords) -> Marker | None:
        """The next marker of a transactional record's producer; ``None`` while its transaction is open."""
        markers = self._by_producer.get(row.producer, ())
        place = bisect_right(markers, row.offset, key=_OFFSET)
        return markers[place] if place < len(markers) else None


class KnownKey(NamedTuple):
    """What a loader knows of a key, and what of its records matters.

    Args:
        plain: The last record outside transactions, tombstones included.
        decided: Transactional records with their marker, ``None`` for an open transaction.
        visible: The record that is answered with; ``None`` for none.
    """

    plain: KeyRecords | None
    decided: Sequence[tuple[KeyRecords, Marker | None]]
    visible: KeyRecords | None

    @property
    def live(self) -> KeyRecords | None:
        """The record that a cleaner must keep: the visible one, else the tombstone that says that there is none."""
        return self.visible or (self.plain if self.plain and self.plain.tombstone else None)


def known(rows: Iterable[KeyRecords], markers: Markers) -> KnownKey:
    """What is known of a key once all its commits are loaded, in any order of ``rows``."""
    plain: KeyRecords | None = None
    decided: list[tuple[KeyRecords, Marker | None]] = []
    for row in rows:
        if row.transactional:
            decided.append((row, markers.deciding(row)))
        elif plain is None or row.offset > plain.offset:
            plain = row
    applied: dict[tuple[int | None, int], KeyRecords] = {}
    for row, marker in decided:
        if marker is not None and marker.commit and (plain is None or marker.offset > plain.offset):
            at = row.producer, marker.offset
            if at not in applied or row.offset > applied[at].offset:
                applied[at] = row
    candidates = [row for row in (plain, *applied.values()) if row is not None and not row.tombstone]
    return KnownKey(plain, decided, max(candidates, key=_OFFSET, default=None))


def latest(rows: Iterable[KeyRecords]) -> KeyRecords | None:
    """The last of a group's metadata records, tombstones included."""
    return max(rows, key=_OFFSET, default=None)
