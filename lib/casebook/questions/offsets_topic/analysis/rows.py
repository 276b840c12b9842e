"""Rows about the offsets topic: what a scan brings to the analysis, and what is known of each copy."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsPartition:
    """A row of ``tables/offsets_partitions``: a copy of a partition of the offsets topic.

    Args:
        coordinator: Its broker leads the partition; ``None`` when the leader is unknown.
        segments: Files, by the log dir, else by the scan.
        bytes: Of them.
        unread_bytes: Of those, what no scan read though it read others; ``None`` without scan.
        live_bytes: Of the latest records of all keys; ``None`` without scan.
        live_records: Those records.
        live_segments: Segments that hold one.
        commits: Commits that OffsetFetch answers.
        groups: Groups with a commit or metadata.
        cleaner_point: First dirty offset by the checkpoint; ``None`` when never cleaned, or unknown.
        dirty_ratio: By the broker's own formula.
        limit: ``min.cleanable.dirty.ratio``.
        next_clean_gains: Bytes that a clean of all it may clean would free.
        next_clean_keys: Keys that its map would have to hold.
        safe_segments: Provably safe to do without.
        safe_bytes: Their size.
        load_ms: What a load of this copy takes; ``None`` when nothing tells.
        rule: Verdict on its cleaning, see ``cleaner.RULES``.
        why: The verdict in one sentence.
        since: From when it holds, epoch ms.
        oldest: Time of the first record, epoch ms.
        newest: Time of the last.
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
    since: int | None
    oldest: int | None
    newest: int | None

    @property
    def is_whole(self) -> bool:
        """Whether all of it was read."""
        return self.unread_bytes == 0

    @property
    def superseded_bytes(self) -> int | None:
        """What nobody needs, of what was read; ``None`` without scan."""
        return None if self.live_bytes is None else self.bytes - self.unread_bytes - self.live_bytes
