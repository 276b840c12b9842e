"""Meaning of the names in a log dir."""

import re
from typing import NamedTuple

LONGEST = 255  # bytes of a file name: a folder to be deleted, moved or renamed has its topic cut to fit
_PARTITION = re.compile(r"(?P<topic>[a-zA-Z0-9._-]{1,249})-(?P<partition>0|[1-9][0-9]{0,9})")
_SET_ASIDE = re.compile(
    r"(?P<topic>[a-zA-Z0-9._-]*)-(?P<partition>0|[1-9][0-9]{0,9})(?:\.[^.]+)?(?P<kind>-delete|-future|-stray)"
)
_SEGMENT = re.compile(r"(?P<base>[0-9]{1,20})(?P<suffix>(?:\.[a-z]+)+)")
_LEFT = (".deleted", ".cleaned", ".swap")


class PartitionFolder(NamedTuple):
    """Name of a folder.

    Args:
        topic: Topic, as far as the name contains it.
        partition: Partition number.
        kind: ``""`` for a partition in use, else ``-delete``, ``-future`` or ``-stray`` (``LocalLog.scala@3.9.0``); Kafka writes
            a unique id before it, and refuses to load a folder without one, which is no partition in use either.
        cut: The name has the maximum length, so the topic may be longer.
    """

    topic: str
    partition: int
    kind: str = ""
    cut: bool = False


class SegmentName(NamedTuple):
    """Name of a file.

    Args:
        base_offset: Number before the first dot.
        suffix: ``.log``, ``.index``, ...; for a leftover the whole suffix, e.g. ``.log.deleted``.
        kind: ``""`` for a file in use, else ``.deleted``, ``.cleaned`` or ``.swap``.
    """

    base_offset: int
    suffix: str
    kind: str = ""


def folder(name: str) -> PartitionFolder | None:
    """Parse a folder name; ``None`` when it is no partition's."""
    if aside := _SET_ASIDE.fullmatch(name):
        return PartitionFolder(aside["topic"], int(aside["partition"]), aside["kind"], cut=len(name) == LONGEST)
    if plain := _PARTITION.fullmatch(name):
        return PartitionFolder(plain["topic"], int(plain["partition"]))
    return None


def file(name: str) -> SegmentName | None:
    """Parse a file name in a partition's folder; ``None`` when it belongs to no segment."""
    match = _SEGMENT.fullmatch(name)
    if match is None or (base_offset := int(match["base"])) >= 2**63:
        return None
    kind = next((left for left in _LEFT if match["suffix"].endswith(left)), "")
    return SegmentName(base_offset, match["suffix"], kind)
