"""Scan of a case's offsets topic: once per case, and stored with it for other notebooks."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from casebook.case.case import Case
from casebook.errors import NotHereError
from casebook.facts.disks import Replica
from casebook.machine import workshop
from casebook.questions.offsets_topic.scans import group_records
from casebook.spark.copies import is_here, places
from casebook.spark.jvm import fingerprint
from casebook.spark.session import session, watched

NAME = "offsets_topic"


def kept(case: Case, copies: Sequence[Replica]) -> Path | None:
    """Return an earlier result for these copies; ``None`` without one."""
    target = case.derived(NAME, _key(copies))
    return target if target.exists() else None


def aggregate(case: Case, copies: Sequence[Replica], *, progress: Callable[[int, int | None], None] | None = None) -> Path:
    """Return the content of the segments, from a new or an earlier scan.

    Args:
        case: Stores the result.
        copies: Copies of partitions of ``__consumer_offsets``; at least one.
        progress: Receives the number of finished and of known tasks from time to time.

    Returns:
        The Parquet of :func:`casebook.questions.offsets_topic.scans.group_records.aggregate`.

    Raises:
        ScanError: Spark does not start, or the segments are unreadable.
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
    with workshop.result(target) as partial:
        watched(
            spark,
            lambda: group_records.aggregate(spark, sources, f"file:{partial}"),
            what="reading the segments of __consumer_offsets",
            progress=progress,
        )


def _require(copy: Replica) -> None:
    """Check that a copy is still there.

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
    """Hash the listed segments, and the code that reads them."""
    listed = [
        [copy.broker, copy.partition, [[s.base_offset, s.bytes, s.modified] for s in copy.segments]]
        for copy in sorted(copies, key=lambda copy: (copy.broker, copy.partition))
    ]
    return hashlib.sha256(json.dumps([fingerprint("segments"), group_records.MERGED, listed]).encode()).hexdigest()[:32]
