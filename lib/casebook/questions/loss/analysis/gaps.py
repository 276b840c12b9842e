"""Causes of missing offsets between records. Each offset is assigned once, so a missing one has a cause."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import Settings

MOST_RANGES = 1000
"""Maximum number of separate ranges per partition; later ones are merged."""


class GapKind(StrEnum):
    """Cause of missing offsets, or why it is unknown."""

    LOG_START = "log start"
    CONTROL = "control batch"
    ABORTED = "aborted transaction"
    COMPACTION = "compaction"
    TRUNCATION = "truncation with epoch change"
    DAMAGE = "damage"
    UNREAD = "not read"
    UNEXPLAINED = "unexplained"
    CANNOT_TELL = "cannot tell"


_MAY_HIDE = frozenset({GapKind.TRUNCATION, GapKind.DAMAGE, GapKind.UNREAD, GapKind.UNEXPLAINED, GapKind.CANNOT_TELL})


class GapPlace(StrEnum):
    """Position of missing offsets."""

    START = "start"
    BETWEEN = "between"
    BEHIND = "behind"
    INSIDE = "inside"
    CONTROL = "control"
    ABORTED = "aborted"
    DAMAGE = "damage"
    UNREAD = "unread"


class GapSignature(NamedTuple):
    """All inputs of a range's label. Spark finds the ranges, and counts equal inputs.

    Args:
        place: Before the log start; between two batches or before the first; after the last, with a known later end; inside a
            batch, which keeps its first and last offset when records are removed; a control batch; a batch of an aborted
            transaction; damaged; or reported as unread by a live scan.
        damaged: Bytes between the two batches were unreadable.
        single: It is a single offset.
        epoch_rises: The next batch has a higher leader epoch than the previous one; ``None`` when one has none.
        epoch_begins: In the leader-epoch checkpoint, the epoch of the next batch starts with it; ``None`` without a line.
        cleaned: It ends at or below the cleaner's checkpoint; ``None`` when that is unknown.
        compacted: The topic is; ``None`` when unknown.
        control_seen: A control batch would be visible: in segments, but not in a live topic.
        aborted_seen: An aborted record would be visible: in segments, and in a live topic unless read as ``read_committed``.
    """

    place: GapPlace
    damaged: bool = False
    single: bool = False
    epoch_rises: bool | None = None
    epoch_begins: bool | None = None
    cleaned: bool | None = None
    compacted: bool | None = None
    control_seen: bool = True
    aborted_seen: bool = True


_BY_PLACE = {
    GapPlace.START: GapKind.LOG_START,
    GapPlace.INSIDE: GapKind.COMPACTION,
    GapPlace.CONTROL: GapKind.CONTROL,
    GapPlace.ABORTED: GapKind.ABORTED,
    GapPlace.DAMAGE: GapKind.DAMAGE,
    GapPlace.UNREAD: GapKind.UNREAD,
}


class OffsetGap(NamedTuple):
    """Missing offsets of a partition with one label.

    Args:
        topic: Topic name.
        partition: Partition number.
        kind: Label.
        ranges: Number of ranges; one per batch for gaps inside it.
        offsets: Number of missing offsets; ``None`` when a range has no known end.
        first: Lowest missing offset.
        end: Offset after the highest; ``None`` when unknown.
    """

    topic: str
    partition: int
    kind: GapKind
    ranges: int
    offsets: int | None
    first: int | None
    end: int | None


def kind(of: GapSignature) -> GapKind:
    """Label the ranges with this signature.

    - Only the cleaner takes records out of a batch, and it keeps the batch's offsets (``DefaultRecordBatch.java@2.8.2``).
    - A follower that is copied from a compacted leader has gaps above its own cleaner's checkpoint, so that checkpoint can prove
      compaction and not rule it out.
    - When a log is cut and goes on under a new leader, the new epoch begins where the new leader's log had ended
      (``LeaderEpochFileCache.scala@2.8.2``). Offsets between the end of the old epoch and there are what this copy lacks of it.
      Where the checkpoint has the new epoch begin elsewhere, it misses of the new one, too, and no truncation explains that.
    - A marker takes one offset (``MemoryRecords.writeEndTransactionalMarker@2.8.2``); a live topic does not show it, and
      ``read_committed`` does not show aborted records, however many.
    """
    if of.place in _BY_PLACE:
        return _BY_PLACE[of.place]
    if of.damaged:
        return GapKind.DAMAGE
    if of.compacted or of.cleaned:
        return GapKind.COMPACTION
    if of.epoch_rises and of.epoch_begins is not False:
        return GapKind.TRUNCATION
    if of.compacted is None or not of.aborted_seen:
        return GapKind.CANNOT_TELL
    return GapKind.CONTROL if of.single and not of.control_seen else GapKind.UNEXPLAINED


def hides(of: GapSignature) -> bool:
    """Return whether a readable record may have been there elsewhere: then a missing record is not known to be lost.

    In a live topic, read with aborted records, only unread offsets hide any: what its leader does not return to such a reader
    does not exist, for any cause, and several markers in a row look like a gap.
    """
    label = kind(of)
    return label is GapKind.UNREAD or (label in _MAY_HIDE and (of.control_seen or not of.aborted_seen))


def bounded(ranges: Iterable[tuple[int, int | None]]) -> tuple[tuple[int, int | None], ...]:
    """Return ranges ordered by start, with those beyond :data:`MOST_RANGES` merged into one."""
    kept: list[tuple[int, int | None]] = []
    for first, end in ranges:
        if len(kept) < MOST_RANGES:
            kept.append((first, end))
        else:
            begin, so_far = kept[-1]
            kept[-1] = (begin, None if None in (so_far, end) else max(so_far, end))
    return tuple(kept)


def compacted(topic: str, cluster: Cluster, version: KafkaVersion) -> bool | None:
    """Return whether a topic is compacted, by its own setting or else that of its brokers; ``None`` when unknown."""
    if not (cluster.topic_configs or "/config/topics" in cluster.there):
        return None
    if not cluster.unreadable_configs.isdisjoint({"topics", f"topics/{topic}"}):
        return None
    own = cluster.topic_configs.get(topic, {}).get("cleanup.policy")
    policy = own if own is not None else Settings(cluster, version).of_broker("log.cleanup.policy", None).value
    return None if policy is None else "compact" in policy
