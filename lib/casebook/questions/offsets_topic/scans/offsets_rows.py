"""Read the aggregate of the offsets topic group by group: memory holds one group, whatever the log's size."""

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.kafka.group_load import KeyRecords

if TYPE_CHECKING:
    from pyarrow import RecordBatch

Log = tuple[int, int]
"""Broker and partition."""

_PLAIN = (
    "segment", "kind", "newer", "transactional", "group", "topic", "partition", "hour", "records", "bytes", "tombstones",
    "first_offset", "first_time", "last_time", "largest_batch", "damaged_bytes",
)  # fmt: skip
_OF_LAST = (
    "log_offset", "size", "tombstone", "committed", "commit_time", "expire_time", "producer_id", "control_type", "protocol_type",
    "protocol", "generation", "state_time", "members", "file", "position", "reason", "tail",
)  # fmt: skip
_ROWS = 1 << 15


class OffsetsRows:
    """Rows of :mod:`casebook.questions.offsets_topic.scans.group_records`.

    Args:
        folder: Its Parquet output: every group's rows are adjacent in one file, metadata first.
    """

    def __init__(self, folder: Path) -> None:
        self._files = sorted(folder.glob("*.parquet"))

    @cached_property
    def groupless(self) -> dict[Log, list[KeyRecords]]:
        """Return markers, damage, and records with an undecodable key, by log."""
        import pyarrow.dataset as ds

        found: dict[Log, list[KeyRecords]] = {}
        if not self._files:
            return found
        for batch in ds.dataset(self._files).to_batches(filter=ds.field("group").is_null()):
            for log, row in _rows(batch):
                found.setdefault(log, []).append(row)
        return found

    @cached_property
    def last_hours(self) -> dict[Log, int]:
        """Return the last hour with a commit, by log."""
        import pyarrow as pa

        if not self._files:
            return {}
        table = pa.Table.from_batches(list(self._batches("broker", "log_partition", "hour")))
        found = table.group_by(["broker", "log_partition"]).aggregate([("hour", "max")]).to_pylist()
        return {(row["broker"], row["log_partition"]): row["hour_max"] for row in found if row["hour_max"] is not None}

    def groups(self) -> Iterator[tuple[Log, str, list[KeyRecords]]]:
        """Yield log, group id and rows of every group, in no particular order."""
        rows = ((log, row) for batch in self._batches() for log, row in _rows(batch) if row.group is not None)
        for (log, group), some in groupby(rows, key=lambda pair: (pair[0], pair[1].group)):
            yield log, group, [row for _, row in some]

    def _batches(self, *columns: str) -> Iterator["RecordBatch"]:
        import pyarrow.parquet as pq

        for file in self._files:
            yield from pq.ParquetFile(file).iter_batches(_ROWS, columns=list(columns) or None)


def _rows(batch: "RecordBatch") -> Iterator[tuple[Log, KeyRecords]]:
    logs = zip(batch["broker"].to_pylist(), batch["log_partition"].to_pylist(), strict=True)
    last = batch["last"]
    columns = [batch[name].to_pylist() for name in _PLAIN] + [last.field(name).to_pylist() for name in _OF_LAST]
    return zip(logs, map(KeyRecords._make, zip(*columns, strict=True)), strict=True)


by_key = attrgetter("topic", "partition")
"""Key of a group's commits."""
