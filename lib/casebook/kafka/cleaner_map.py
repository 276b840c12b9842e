"""The log cleaner's view of a partition: range, dirty ratio, and size of the offset map.

The formulas are the broker's own: ``LogCleanerManager.scala@0.9.0.1, 0.10.1.1, 2.8.2, 3.9.0`` (grabFilthiestCompactedLog,
cleanableOffsets, calculateCleanableBytes, LogToClean) and ``LogCleaner.scala`` (buildOffsetMap, SkimpyOffsetMap).
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from casebook.facts.disks import Replica
from casebook.kafka.releases import (
    CLEANER_BOUND,
    CLEANER_CHECKPOINT_BEYOND_END,
    CLEANER_MAP_RULE,
    CLEANER_NEEDS_SEGMENT_START,
    COMPACTION_LAG,
    KafkaVersion,
)

_ENTRY = 24  # 16 bytes of MD5 and an offset
_MOST_MEMORY = (1 << 31) - 1
_STEP, _HEADROOM = 64 << 20, 1.25


class Dirt(NamedTuple):
    """A partition's dirty range and sizes.

    Args:
        first_dirty: First dirty offset, where cleaning starts.
        first_segment: Base offset of its segment.
        first_uncleanable: Base offset of the first uncleanable segment.
        clean_bytes: Size of the whole segments below ``first_dirty``.
        cleanable_bytes: Size of the whole segments from there to ``first_uncleanable``.
    """

    first_dirty: int
    first_segment: int
    first_uncleanable: int
    clean_bytes: int
    cleanable_bytes: int

    @property
    def ratio(self) -> float | None:
        """Dirty ratio; ``None`` without anything to clean."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else None


class Obstacle(NamedTuple):
    """A segment on which the cleaner would fail.

    Args:
        replica: Replica.
        segment: Base offset.
        need: Offsets, or maximum number of keys, that the map must hold; ``None`` when the map is irrelevant.
        certain: ``False`` when it depends on the number of keys in the segment.
    """

    replica: Replica
    segment: int
    need: int | None
    certain: bool = True


def dirt(replica: Replica, version: KafkaVersion, *, now: int | None, lag: int = 0, unstable: int | None = None) -> Dirt | None:
    """Compute the dirty range of a partition; ``None`` without segments.

    Args:
        now: Reference time for ``lag``; epoch ms.
        lag: Effective ``min.compaction.lag.ms``.
        unstable: First offset of an open transaction, if known.
    """
    if not replica.segments:
        return None
    bases = [segment.base_offset for segment in replica.segments]
    first_dirty = _first_dirty(replica, version)
    end = _first_uncleanable(replica, version, first_dirty, now=now, lag=lag, unstable=unstable)
    first_segment = _floor(bases, first_dirty)
    uncleanable = _floor(bases, end)
    return Dirt(
        first_dirty=first_dirty,
        first_segment=first_segment,
        first_uncleanable=uncleanable,
        clean_bytes=sum(s.bytes for s in replica.segments if s.base_offset < first_dirty),
        cleanable_bytes=sum(s.bytes for s in replica.segments if first_segment <= s.base_offset < uncleanable),
    )


def map_holds(buffer: int, threads: int, load_factor: float) -> int:
    """Return the number of keys that fit in a cleaner thread's map.

    Args:
        buffer: ``log.cleaner.dedupe.buffer.size``, shared by all threads.
    """
    return int(min(buffer // threads, _MOST_MEMORY) // _ENTRY * load_factor)


def buffer_for(keys: int, threads: int, load_factor: float) -> int | None:
    """Return the least ``log.cleaner.dedupe.buffer.size`` for so many keys; ``None`` when no buffer suffices."""
    entries = ceil(keys / load_factor)
    while int(entries * load_factor) < keys:  # the quotient above is a float
        entries += 1
    memory = entries * _ENTRY
    return memory * threads if memory <= _MOST_MEMORY else None


def buffer_to_set(least: int, threads: int) -> int:
    """Return a round buffer size with a quarter of headroom, up to the maximum that a thread can use."""
    return min(ceil(least * _HEADROOM / _STEP) * _STEP, _MOST_MEMORY * threads)


def obstacles(replica: Replica, found: Dirt, version: KafkaVersion, holds: int, *, pointed: bool = True) -> Iterator[Obstacle]:
    """Yield the segments of a partition on which the cleaner would fail, sooner or later.

    Args:
        holds: Number of keys that fit in its map.
        pointed: The cleaner point is known; otherwise a segment may already be cleaned.
    """
    if pointed and CLEANER_NEEDS_SEGMENT_START.at(version) and found.first_dirty != found.first_segment and found.cleanable_bytes:
        yield Obstacle(replica, found.first_segment, None)
    rule = CLEANER_MAP_RULE.at(version)
    if rule == "partial":
        return
    for base, span in spans(replica):
        if found.first_segment <= base < found.first_uncleanable and span > holds:
            yield Obstacle(replica, base, span, certain=pointed and rule == "span")


def spans(replica: Replica) -> Iterable[tuple[int, int]]:
    """Return every segment except the active one, with its range of offsets."""
    bases = [segment.base_offset for segment in replica.segments]
    return [(base, after - base) for base, after in pairwise(bases)]


def _first_dirty(replica: Replica, version: KafkaVersion) -> int:
    start = replica.segments[0].base_offset
    if replica.log_start is not None:
        start = max(start, replica.log_start)
    point = replica.cleaner_point
    if point is None or point < start:
        return start
    beyond = replica.high_watermark is not None and point > replica.high_watermark and point > replica.segments[-1].base_offset
    return start if beyond and CLEANER_CHECKPOINT_BEYOND_END.at(version) == "reset" else point


def _first_uncleanable(
    replica: Replica, version: KafkaVersion, first_dirty: int, *, now: int | None, lag: int, unstable: int | None
) -> int:
    bounds = [replica.segments[-1].base_offset]
    if CLEANER_BOUND.at(version) == "last stable offset" and unstable is not None:
        bounds.append(unstable)
    if COMPACTION_LAG.at(version) and lag > 0 and now is not None:
        young = (s.base_offset for s in replica.segments[:-1] if s.base_offset >= first_dirty and (s.modified or 0) > now - lag)
        bounds += [next(young, bounds[0])]
    return max(min(bounds), first_dirty)


def _floor(bases: list[int], offset: int) -> int:
    return max((base for base in bases if base <= offset), default=bases[0])
