"""Results of a case for the run folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from casebook.findings import exports, tables


@dataclass(slots=True, kw_only=True)
class Kept:
    """Results to write at the end.

    Args:
        tables: Rows by table name; see :mod:`casebook.findings.tables`.
        plan: Files of a drain, by name.
        lost: All lost records: a folder of Parquet.
        unprocessed: All records that were committed and never processed: a folder of Parquet.
    """

    tables: dict[str, Sequence[object]] = field(default_factory=dict)
    plan: Mapping[str, str] = field(default_factory=dict)
    lost: Path | None = None
    unprocessed: Path | None = None

    def write(self, folder: Path) -> None:
        """Write all results below a folder."""
        for name, rows in sorted(self.tables.items()):
            tables.write(folder / "tables", name, rows)
        if self.plan:
            exports.write_plan(folder / exports.PLAN, self.plan)
        if self.lost is not None:
            exports.write(folder / "tables", self.lost)
        if self.unprocessed is not None:
            tables.rewrite(folder / "tables", "unprocessed", self.unprocessed)
