"""Stored records of topics from any source: segments of a case, live brokers, or an extract."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.case.case import Case
from casebook.errors import ScanError
from casebook.facts.cluster import Cluster
from casebook.facts.disks import Partition, Replica
from casebook.formats.clients.record_ids import RecordId
from casebook.kafka.releases import VersionInUse
from casebook.questions.loss.analysis import gaps

if TYPE_CHECKING:
    from casebook.questions.loss.scans.stored import StoredRecords


class StoredEvidence:
    """Stored records, built once for each set of topics.

    Attributes:
        has_failed: Records of some topics could not be read.

    Args:
        case: The case.
        cluster: The case's cluster.
        version: The release whose rules apply.
        identity: Search key of a record.
        extract: Records read by another tool, instead of segments; ``""`` for none.
        bootstrap: Brokers to read topics from, live, instead; ``""`` for none.
        folder: Folder for results.
    """

    def __init__(
        self,
        case: Case,
        cluster: Cluster,
        version: VersionInUse,
        identity: RecordId,
        *,
        extract: str,
        bootstrap: str,
        folder: Path,
    ) -> None:
        self._case, self._cluster, self._version, self._identity = case, cluster, version, identity
        self._extract, self._bootstrap, self._folder = extract, bootstrap, folder
        self._made: dict[frozenset[str], StoredRecords] = {}
        self.has_failed = False

    def of(self, topics: Sequence[str]) -> "StoredRecords":
        """Return the stored records of topics; a result for more of them is reused.

        Raises:
            ScanError: There is nothing to read, or it is unreadable.
        """
        wanted = frozenset(topics)
        known = next((made for made in self._made if wanted <= made), None)
        if known is None:
            try:
                self._made[wanted] = self._read(sorted(wanted))
            except ScanError:
                self.has_failed = True
                raise
        return self._made[wanted if known is None else known]

    @cached_property
    def replicas(self) -> tuple[Replica, ...]:
        """Return all listed copies."""
        return tuple(replica for log_dir in self._case.log_dirs() for replica in log_dir.replicas)

    @cached_property
    def leaders(self) -> dict[Partition, int | None]:
        """Return the leader of each partition."""
        return {(p.topic, p.partition): p.state.leader for p in self._cluster.partitions if p.state}

    @cached_property
    def led(self) -> dict[Partition, Replica]:
        """Return the leaders' copies: another one may not be truncated yet."""
        own = ((replica.topic, replica.partition, replica) for replica in self.replicas)
        return {(topic, partition): copy for topic, partition, copy in own if copy.broker == self.leaders.get((topic, partition))}

    @cached_property
    def _own(self) -> dict[Partition, tuple[int, ...]]:
        """Return the authoritative copies: the live leader's, else those of the in-sync replicas; none when unknown."""
        live, known = set(self._cluster.live), self._cluster.brokers_known
        return {
            (p.topic, p.partition): (p.state.leader,) if p.state.leader in live or not known else p.state.isr
            for p in self._cluster.partitions
            if p.state
        }

    def _read(self, topics: Sequence[str]) -> "StoredRecords":
        folder = self._folder / str(len(self._made))
        if self._extract:
            return self._from_extract(folder)
        return self._from_topics(topics, folder) if self._bootstrap else self._from_segments(topics, folder)

    def _from_extract(self, folder: Path) -> "StoredRecords":
        from casebook.questions.loss.scans import stored_extract

        rows = stored_extract.rows(self._spark, self._extract)
        return stored_extract.from_extract(self._spark, rows, self._extract, self._identity, folder=folder)

    def _from_topics(self, topics: Sequence[str], folder: Path) -> "StoredRecords":
        from casebook.questions.loss.scans.stored import together
        from casebook.questions.loss.scans.stored_live import from_topic

        options = {"bootstrap": self._bootstrap, "kafka": str(self._version.version)}
        return together(
            from_topic(
                self._spark, topic, self._identity, folder=folder / str(number), compacted=self._compacted(topic), **options
            )
            for number, topic in enumerate(topics)
        )  # fmt: skip

    def _from_segments(self, topics: Sequence[str], folder: Path) -> "StoredRecords":
        from casebook.questions.loss.scans import stored
        from casebook.spark import copies

        choices = copies.chosen(self._spark, self.replicas, topics, self.leaders)
        if not choices:
            raise ScanError(
                "The case has no segment of the ledger's topics.",
                cause=f"The ledger is about {', '.join(topics[:5])}.",
                try_="Collect with --log-dirs BROKER=DIR, or set an extract or bootstrap.",
            )
        return stored.from_segments(
            self._spark,
            choices,
            self._identity,
            folder=folder,
            compacted={topic: self._compacted(topic) for topic in topics},
            listed_at={log_dir.broker: log_dir.listed_at for log_dir in self._case.log_dirs()},
            own=self._own,
        )

    def _compacted(self, topic: str) -> bool | None:
        return gaps.compacted(topic, self._cluster, self._version.version)

    @cached_property
    def _spark(self) -> object:
        from casebook.spark.session import session  # Spark is imported only where needed

        return session()
