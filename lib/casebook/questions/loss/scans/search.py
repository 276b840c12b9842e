"""Search for a ledger's records in stored ones: by a common id, or else by offset."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.facts.disks import Partition
from casebook.facts.losses import LeaderChange
from casebook.facts.records import Counted, Signature
from casebook.formats.clients.record_ids import IdKind, RecordId
from casebook.questions.loss.scans.lost import Lost
from casebook.questions.loss.scans.reconciliation import Reconciliation
from casebook.questions.loss.scans.stored import StoredRecords

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_AT_OFFSET = "concat_ws('-', CAST(partition AS string), CAST(offset AS string))"
"""Id of records without one: their offset."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """Outcome of each record of a ledger.

    Args:
        spark: From :func:`casebook.spark.session`.
        ledger: Produced records: rows of :data:`casebook.facts.records.LEDGER`, read more than once.
        offsets: Whether its producers received offsets.
        stored: Stored records of its topics.
        identity: Search key of a record.
        partitions: Number of partitions of each topic.
        complete: Time at which the ledger was complete, epoch ms; ``None`` when unknown.
        folder: Folder for results.
    """

    spark: "SparkSession"
    ledger: "DataFrame"
    offsets: bool
    stored: StoredRecords
    identity: RecordId
    partitions: Mapping[str, int]
    complete: int | None
    folder: Path

    @cached_property
    def counted(self) -> list[Counted]:
        """Return records of both sides, by signature."""
        return self._reconciliation.counts()

    def reordered(self) -> dict[Partition, int]:
        """Return records stored after a later sent one of their key, by partition; undecidable ones are left out."""
        return {(row.topic, row.partition): row.reordered for row in self._reconciliation.order()}

    def without_id(self) -> dict[Partition, int]:
        """Return visible records without an id, by partition."""
        return {} if self.identity.kind is IdKind.OFFSET else self.stored.without_id()

    def lost(self, signatures: Collection[Signature], changes: Sequence[LeaderChange], *, but: Collection[str] = ()) -> Lost:
        """Return the records with these signatures, without those of some topics."""
        records = self._reconciliation.missing(signatures)
        return Lost(
            spark=self.spark,
            records=records.where(~records.topic.isin(list(but))) if but else records,
            ledger=self._named,
            stored=self._placed,
            changes=changes,
            offsets=self.offsets,
            folder=self.folder,
        )

    @cached_property
    def _reconciliation(self) -> Reconciliation:
        return Reconciliation(
            spark=self.spark,
            ledger=self._named.drop("name"),
            stored=self._placed,
            limits=self.stored.limits,
            partitions=self.partitions,
            folder=self.folder / "reconciliation",
            complete=self.complete,
        )

    @property
    def _named(self) -> "DataFrame":
        """Return the ledger, with the id for people next to the search key."""
        by = _AT_OFFSET if self.identity.kind is IdKind.OFFSET else "name"
        return self.ledger.withColumnRenamed("id", "name").selectExpr(f"{by} AS id", "*")

    @property
    def _placed(self) -> "DataFrame":
        """Return stored records with ids."""
        records = self.stored.records
        if self.identity.kind is not IdKind.OFFSET:
            return records
        return records.selectExpr(f"{_AT_OFFSET} AS id", *(column for column in records.columns if column != "id"))
