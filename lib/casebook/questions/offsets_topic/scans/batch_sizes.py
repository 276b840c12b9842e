"""Largest batch of a copy from headers alone: a few bytes per batch, when no scan of all records is wanted.

This is what a loader must read at once: a batch of format 2, or a message of an older one with its twelve bytes of offset and
size (``FileMessageSet.scala@0.9.0.1``, ``FileRecords.java@0.10.0.1``).
"""

import mmap
import struct
from pathlib import Path
from typing import NamedTuple

from casebook.facts.disks import Replica
from casebook.spark.copies import is_here, segment

MOST = 256 << 20
"""Maximum bytes of a copy whose headers can be read in a first overview."""

_SIZE = struct.Struct(">i")
_SIZE_AT, _HEAD = 8, 12
_LEAST = 14  # crc, magic, attributes, and the lengths of key and value


class Largest(NamedTuple):
    """Largest batch found.

    Args:
        bytes: Size; 0 without any.
        is_all: Every header was read: none is larger.
    """

    bytes: int
    is_all: bool


def largest(copy: Replica) -> Largest | None:
    """Return the largest batch of a copy; ``None`` when it is elsewhere, or too large for a first overview."""
    if copy.bytes > MOST or not copy.segments or not is_here(copy):
        return None
    found = Largest(0, is_all=True)
    for one in copy.segments:
        path = segment(copy, one.base_offset)
        here = _of_file(path, one.bytes) if isinstance(path, Path) else None
        if here is None:
            return None
        found = Largest(max(found.bytes, here.bytes), is_all=found.is_all and here.is_all)
    return found


def _of_file(path: Path, listed: int) -> Largest | None:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not size:
                return Largest(0, is_all=not listed)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
                return _walk(held, size, listed)
    except (OSError, ValueError):
        return None


def _walk(held: mmap.mmap, size: int, listed: int) -> Largest:
    at = most = 0
    while at + _HEAD <= size:
        (body,) = _SIZE.unpack_from(held, at + _SIZE_AT)
        if body < _LEAST or at + _HEAD + body > size:
            break
        most = max(most, _HEAD + body)
        at += _HEAD + body
    return Largest(most, is_all=at == size and size >= listed)
