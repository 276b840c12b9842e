"""Locations of partition copies, and choice of the copy to read."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.facts.disks import LogDir, Partition, Replica
from casebook.formats.broker.checkpoints import CLEANER
from casebook.spark.segments import segments
from casebook.spark.session import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class CopyChoice(NamedTuple):
    """Chosen copy of a partition.

    Args:
        copy: The copy.
        why: Reason, in words.
    """

    copy: Replica
    why: str


def chosen(
    spark: "SparkSession", replicas: Iterable[Replica], topics: Collection[str], leaders: Mapping[Partition, int | None]
) -> list[CopyChoice]:
    """Choose one copy of each partition: the leader's, as only its records are available; else the longest.

    Args:
        spark: From :func:`casebook.spark.session`; used for the ends of copies without a known leader.
        replicas: All copies. Those without segments, or with a missing folder, are skipped.
        topics: Requested topics.
        leaders: Current leader of each partition, if known.
    """
    by_partition: dict[Partition, list[Replica]] = defaultdict(list)
    for copy in replicas:
        if copy.topic in topics and copy.segments and is_here(copy):
            by_partition[copy.topic, copy.partition].append(copy)
    led = {at: [copy for copy in some if copy.broker == leaders.get(at)] for at, some in by_partition.items()}
    ends = _ends(spark, [copy for at, some in by_partition.items() if not led[at] and len(some) > 1 for copy in some])
    return [_choice(some, led[at], leaders.get(at), ends) for at, some in sorted(by_partition.items())]


def _choice(copies: Sequence[Replica], led: Sequence[Replica], leader: int | None, ends: Mapping[str, int]) -> CopyChoice:
    if led:
        return CopyChoice(led[0], f"broker {leader} leads it")
    without = "its leader is unknown" if leader is None else f"the copy of its leader, broker {leader}, is missing"
    if len(copies) == 1:
        return CopyChoice(copies[0], f"{without}, and there is no other copy")
    longest = max(copies, key=lambda copy: (ends[copy.place], -copy.broker))
    return CopyChoice(longest, f"{without}, and no other copy goes beyond offset {ends[longest.place]}")


def place(copy: Replica) -> Path | str:
    """Return the path that Spark opens."""
    return copy.place if ":/" in copy.place else Path(copy.place)


def places(copies: Iterable[Replica]) -> dict[int, list[Path | str]]:
    """Return the paths that Spark opens, by broker."""
    found: dict[int, list[Path | str]] = {}
    for copy in copies:
        found.setdefault(copy.broker, []).append(place(copy))
    return found


def segment(copy: Replica, base_offset: int) -> Path | str:
    """Return the path of one segment for Spark."""
    folder, name = place(copy), f"{base_offset:020d}.log"
    return folder / name if isinstance(folder, Path) else f"{folder.rstrip('/')}/{name}"


def cleaned_to(replica: Replica, log_dir: LogDir) -> int | None:
    """Offset below which compaction may have removed records of a copy: 0 for never; ``None`` when unknown.

    No line in the cleaner's checkpoint means never cleaned, provided that the checkpoints were read.
    """
    if replica.cleaner_point is not None:
        return replica.cleaner_point
    unread = any(CLEANER in problem.path for problem in log_dir.problems)
    return None if unread or not log_dir.checkpoints else 0


class Shortfall(NamedTuple):
    """A segment with less content than listed: emptied, truncated or deleted since.

    Args:
        first: Base offset.
        end: Base offset of the next one; ``None`` for the last.
        bytes: Number of missing bytes.
    """

    first: int
    end: int | None
    bytes: int


def shortfalls(copy: Replica) -> tuple[Shortfall, ...]:
    """Return the segments of a copy with less content than listed; none for a URI, whose file system is not asked again."""
    folder = place(copy)
    if not isinstance(folder, Path):
        return ()
    ends = [segment.base_offset for segment in copy.segments[1:]]
    return tuple(
        Shortfall(listed.base_offset, end, missing)
        for listed, end in zip(copy.segments, [*ends, None], strict=False)
        if (missing := listed.bytes - _size(segment(copy, listed.base_offset))) > 0
    )


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def is_here(copy: Replica) -> bool:
    """Whether its folder can be opened, and has segments if any were listed; a URI is only checked by the scan."""
    if ":/" in copy.place:
        return True
    here = os.access(copy.place, os.R_OK | os.X_OK)
    return here and (not copy.segments or any(Path(copy.place).glob("*.log")))


def _ends(spark: "SparkSession", copies: Sequence[Replica]) -> dict[str, int]:
    """Return the offset after the last of each copy, by path, from the headers of its last segment."""
    ends = {copy.place: copy.segments[-1].base_offset for copy in copies}
    if not copies:
        return ends
    frames = [
        segments(spark, segment(copy, copy.segments[-1].base_offset), mode="batches", crc=False)
        .where("kind = 'batch'")
        .selectExpr(f"{number} AS number", "last_offset + 1 AS end")
        for number, copy in enumerate(copies)
    ]
    told = reduce(lambda one, other: one.union(other), frames).groupBy("number").agg({"end": "max"})
    for row in watched(spark, told.collect, what="reading where copies end"):
        place = copies[row.number].place
        ends[place] = max(ends[place], row["max(end)"])
    return ends
