"""Offset and time index of a segment: fixed entries before a broker's preallocated zeros."""

_ENTRIES = {".index": 8, ".timeindex": 12}
"""Bytes of an entry (``OffsetIndex.scala@0.9.0.1``, ``TimeIndex.java@3.9.0``)."""


def without_padding(content: bytes, suffix: str) -> bytes:
    """Return an index without the preallocated zeros, usually 10 MB; other files unchanged.

    An all-zero entry does not exist, as a segment's first batch needs none.
    """
    entry = _ENTRIES.get(suffix)
    return content if entry is None else content[: -(-len(content.rstrip(b"\0")) // entry) * entry]
