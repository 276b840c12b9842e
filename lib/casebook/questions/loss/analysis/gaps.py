"""Why offsets are missing between records. An offset is given once: where one is not there, something took it."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import Settings

MOST_RANGES = 1000
"""Ranges of a partition that are told apart; what lies further is told as one."""


class GapKind(StrEnum):
    """What took offsets, or why that cannot be told."""

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
    """Where offsets are missing."""

    START = "start"
    BETWEEN = "between"
    BEHIND = "behind"
    INSIDE = "inside"
    CONTROL = "control"
    ABORTED = "aborted"
    DAMAGE = "damage"
    UNREAD = "unread"


class GapSignature(NamedTuple):
    """All that the label of a range depends on. Spark finds the ranges, and counts them by this.

    Args:
        place: Before the log's start; between two batches or before the first; behind the last, where more must be; inside a
            batch, which keeps its first and last offset when records are taken out of it; a control batch; a batch of an aborted
            transaction; what a damage covers; or what a live scan says that it has not read.
        damaged: Bytes between the two batches could not be read.
        single: It is one offset.
        epoch_rises: The batch behind has a higher leader epoch than the one before; ``None`` where one does not say.
        epoch_begins: By the leader-epoch checkpoint, the epoch of the batch behind begins with it; ``None`` without a line on it.
        cleaned: It ends at or below the cleaner's checkpoint; ``None`` when that is unknown.
        compacted: The topic is; ``None`` when unknown.
        control_seen: A control batch would have been seen: segments show them, a live topic does not.
        aborted_seen: An aborted record would have been seen: segments show them, and so does a live topic unless it is read as
            ``read_committed``.
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
        topic: Its topic.
        partition: Its number.
        kind: The label.
        ranges: How many there are; what is missing inside a batch counts once.
        offsets: That are missing; ``None`` where one of the ranges has no known end.
        first: The lowest of them.
        end: Offset after the highest; ``None`` when not known.
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
    """Whether a record may have been there that could be read elsewhere: whoever misses one does not know that it is lost.

    In a live topic, read with aborted records, nothing but what was not read hides any: what its leader does not show to such a
    reader it does not have, whatever took it, and several markers in a row look as a hole does.
    """
    label = kind(of)
    return label is GapKind.UNREAD or (label in _MAY_HIDE and (of.control_seen or not of.aborted_seen))


def bounded(ranges: Iterable[tuple[int, int | None]]) -> tuple[tuple[int, int | None], ...]:
    """Ranges in the order of their begins, those beyond :data:`MOST_RANGES` as one that covers them all."""
    kept: list[tuple[int, int | None]] = []
    for first, end in ranges:
        if len(kept) < MOST_RANGES:
            kept.append((first, end))
        else:
            begin, so_far = kept[-1]
            kept[-1] = (begin, None if None in (so_far, end) else max(so_far, end))
    return tuple(kept)


def compacted(topic: str, cluster: Cluster, version: KafkaVersion) -> bool | None:
    """Whether a topic is compacted, by its own setting or else that of its brokers; ``None`` when unknown."""
    if not (cluster.topic_configs or "/config/topics" in cluster.there):
        return None
    if not cluster.unreadable_configs.isdisjoint({"topics", f"topics/{topic}"}):
        return None
    own = cluster.topic_configs.get(topic, {}).get("cleanup.policy")
    policy = own if own is not None else Settings(cluster, version).of_broker("log.cleanup.policy", None).value
    return None if policy is None else "compact" in policy
