"""Partition of the offsets topic for a group, as used to find its coordinator.

``abs(groupId.hashCode) % partitions`` with ``Utils.abs`` (``GroupMetadataManager.scala@0.9.0.1, 3.9.0``,
``clients/src/main/java/org/apache/kafka/common/utils/Utils.java@0.9.0.1``). The number of partitions is the topic's own,
not a broker's setting.
"""

_INT = 1 << 32
_MIN = -(1 << 31)


def java_hash(text: str) -> int:
    """``String.hashCode``: over UTF-16 code units, in 32 bits with sign.

    Args:
        text: Any text; an unpaired surrogate counts as one code unit.
    """
    units = text.encode("utf-16-be", errors="surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) % _INT
    return value - _INT if value >= -_MIN else value


def group_partition(group: str, partitions: int) -> int:
    """Return the partition of ``__consumer_offsets`` for a group; ``Utils.abs`` of the least integer is 0."""
    value = java_hash(group)
    return 0 if value == _MIN else abs(value) % partitions
