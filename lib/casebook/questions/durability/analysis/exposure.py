"""Loss of one broker: topics and bytes without another copy."""

from collections import defaultdict
from collections.abc import Iterable

from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir, replica_bytes
from casebook.questions.durability.analysis.rows import Exposure


def exposure(cluster: Cluster, log_dirs: Iterable[LogDir]) -> tuple[Exposure, ...]:
    """Return brokers with only copies, most partitions first; an unlisted copy has an unknown size."""
    sizes = replica_bytes(cluster, log_dirs)
    alone: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for partition in cluster.partitions:
        if cluster.has_one_copy(partition):
            alone[cluster.leads_to(partition)[0]].append((partition.topic, partition.partition))
    rows = [_row(broker, held, [sizes.get((broker, *one)) for one in held]) for broker, held in alone.items()]
    return tuple(sorted(rows, key=lambda row: (-row.partitions, row.broker)))


def _row(broker: int, held: list[tuple[str, int]], sizes: list[int | None]) -> Exposure:
    unknown = sum(size is None for size in sizes)
    return Exposure(
        broker=broker,
        partitions=len(held),
        topics=tuple(sorted({topic for topic, _ in held})),
        bytes=None if unknown else sum(size for size in sizes if size is not None),
        unknown=unknown,
    )
