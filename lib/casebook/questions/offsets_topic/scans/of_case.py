"""The scan of a case's offsets topic: once for each case, kept beside it, so that no other notebook reads the segments again."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from casebook.case.case import Case
from casebook.errors import NotHereError
from casebook.facts.disks import Replica
from casebook.questions.offsets_topic.scans import group_records
from casebook.spark.copies import is_here, places
from casebook.spark.jvm import fingerprint
from casebook.spark.kept import made
from casebook.spark.session import session, watched

NAME = "offsets_topic"


def kept(case: Case, copies: Sequence[Replica]) -> Path | None:
    """What somebody has read of these copies before; ``None`` when nobody has."""
    target = case.derived(NAME, _key(copies))
    return target if target.exists() else None


def aggregate(case: Case, copies: Sequence[Replica], *, progress: Callable[[int, int | None], None] | None = None) -> Path:
    """What the segments of the given copies hold, read now, or long ago by somebody who had them.

    Args:
        case: Keeps the result.
        copies: Of partitions of ``__consumer_offsets``; at least one.
        progress: Told now and then how many tasks are done, and of how many.

    Returns:
        The Parquet of :func:`casebook.questions.offsets_topic.scans.group_records.aggregate`.

    Raises:
        ScanError: Spark does not start, or the segments cannot be read.
    """
    target = case.derived(NAME, _key(copies))
    if not target.exists():
        _scan(copies, target, progress)
    return target


def _scan(copies: Sequence[Replica], target: Path, progress: Callable[[int, int | None], None] | None) -> None:
    for copy in copies:
        _require(copy)
    sources = places(copies)
    spark = session()
    with made(target) as partial:
        watched(
            spark,
            lambda: group_records.aggregate(spark, sources, f"file:{partial}"),
            what="reading the segments of __consumer_offsets",
            progress=progress,
        )


def _require(copy: Replica) -> None:
    """Make sure that a copy is where it was.

    Raises:
        NotHereError: The folder is not on this machine.
    """
    if not is_here(copy):
        raise NotHereError(
            f"The segments of {copy.topic}-{copy.partition} of broker {copy.broker} are not at {copy.place}.",
            cause="They stayed in place when the case was collected. This is another machine, or they were removed.",
            try_="Open the case on the machine that has them, or collect it with --copy-segments.",
        )


def _key(copies: Sequence[Replica]) -> str:
    """Hash of the segments as they were listed, and of the code that reads them."""
    listed = [
        [copy.broker, copy.partition, [[s.base_offset, s.bytes, s.modified] for s in copy.segments]]
        for copy in sorted(copies, key=lambda copy: (copy.broker, copy.partition))
    ]
    return hashlib.sha256(json.dumps([fingerprint("segments"), group_records.MERGED, listed]).encode()).hexdigest()[:32]
