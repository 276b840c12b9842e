"""Rows on the offsets topic: results of a scan, and what is known of each copy."""

from dataclasses import dataclass

from casebook.facts.times import EpochMs


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsPartition:
    """A row of ``tables/offsets_partitions``: a copy of a partition of the offsets topic.

    Columns:
        partition: Partition of __consumer_offsets.
        broker: Broker that has the copy.
        coordinator: Whether that broker leads the partition; null when the leader is unknown.
        segments: Segment files.
        bytes: Of them.
        records: In them, with transaction markers; null where no scan read them.
        unread_bytes: Of the bytes: what the scan could not read; null where no scan read any.
        live_bytes: Of the latest record of every key, tombstones included.
        live_records: Those records.
        superseded_bytes: All others that were read.
        commits: Commits that OffsetFetch answers.
        groups: Groups with a commit or metadata.
        cleaner_point: First offset that was never cleaned, by cleaner-offset-checkpoint; null: no line, or not read.
        dirty_ratio: By the broker's own formula; null when there is nothing to clean, or the log dir is not known.
        limit: Effective min.cleanable.dirty.ratio.
        next_clean_gains: Bytes that a clean of all that may be cleaned would free.
        safe_segments: Segments provably safe to remove.
        safe_bytes: Their size.
        load_ms: Time for a coordinator to load this copy; null if unknown.
        rule: Verdict on its cleaning: id of a rule.
        why: The verdict in one sentence.
        since: From when it holds, ISO-8601 UTC by the broker's clock.
        oldest: Time of its first record.
        newest: Time of its last record.

    Args:
        live_segments: Number of segments with one.
        next_clean_keys: Number of keys that its map would have to hold.
    """

    broker: int
    partition: int
    coordinator: bool | None
    segments: int
    bytes: int
    records: int | None
    unread_bytes: int | None
    live_bytes: int | None
    live_records: int | None
    live_segments: int | None
    commits: int | None
    groups: int | None
    cleaner_point: int | None
    dirty_ratio: float | None
    limit: float | None
    next_clean_gains: int | None
    next_clean_keys: int | None
    safe_segments: int | None
    safe_bytes: int | None
    load_ms: int | None
    rule: str
    why: str
    since: EpochMs | None
    oldest: EpochMs | None
    newest: EpochMs | None

    @property
    def is_whole(self) -> bool:
        """Whether all of it was read."""
        return self.unread_bytes == 0

    @property
    def superseded_bytes(self) -> int | None:
        """Superseded bytes that were read; ``None`` without scan."""
        return None if self.live_bytes is None else self.bytes - self.unread_bytes - self.live_bytes
