"""Count a play's acknowledged records that are still stored, by reading all of them again."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from casebook.errors import RehearsalError
from casebook.findings.words import agree, count, plural
from casebook.rehearsal.servers import records
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.topics import Partition, label

PATIENCE = 60.0
"""Seconds to wait for a record."""


@dataclass(slots=True)
class Acknowledged:
    """Acknowledged records, before the healing starts.

    Args:
        counts: Number of records by partition.
        gone_before: Number of these that were already lost, as far as a leader answered; ``None`` when unknown.
    """

    counts: Mapping[Partition, int]
    gone_before: Mapping[Partition, int] | None = None

    @classmethod
    def look(cls, counts: Mapping[Partition, int], cluster: PlayedCluster) -> "Acknowledged":
        """Count once before the healing starts; topics under deletion are left out permanently."""
        deleting, live = cluster.deleting(), cluster.registered()
        kept = {partition: n for partition, n in counts.items() if partition[0] not in deleting}
        led = {partition for partition, state in cluster.states().items() if state["leader"] in live}
        found = cls(kept)
        try:
            found.gone_before = found._gone(cluster, kept.keys() & led)
        except RehearsalError:
            found.gone_before = None
        return found

    def said(self, cluster: PlayedCluster) -> str:
        """Describe the current count in sentences; ``""`` when nothing was acknowledged."""
        if not self.counts:
            return ""
        try:
            gone = self._gone(cluster, self.counts.keys())
        except RehearsalError as error:
            return f"How many of the acknowledged records are there could not be counted: {error.what}"
        total, lost = sum(self.counts.values()), sum(gone.values())
        if not lost:
            return f"All {plural(total, 'record')} that had been acknowledged are still stored."
        return f"{count(lost)} of {plural(total, 'acknowledged record')} {agree(lost, 'is', 'are')} lost: {self._named(gone)}."

    def _named(self, gone: Mapping[Partition, int]) -> str:
        if self.gone_before is None:
            return ", ".join(f"{n} of {label(partition)}" for partition, n in sorted(gone.items()))
        words = []
        for partition, n in sorted(gone.items()):
            before = min(n, self.gone_before.get(partition, 0))
            words += [f"{n - before} of {label(partition)} since you began"] if n > before else []
            words += [f"{before} of {label(partition)} before you began"] if before else []
        return ", ".join(words)

    def _gone(self, cluster: PlayedCluster, partitions: Collection[Partition]) -> dict[Partition, int]:
        """Return the number of a play's missing records; all of those of a missing partition.

        Raises:
            RehearsalError: They are unreadable.
        """
        there = sorted(partitions & cluster.states().keys())
        read = records.read(there, bootstrap=cluster.bootstrap, kafka=cluster.kafka, patience=PATIENCE) if there else ()
        stored = Counter(record.partition for record in read if records.produced_here(record))
        return {p: self.counts[p] - stored[p] for p in partitions if stored[p] < self.counts[p]}
