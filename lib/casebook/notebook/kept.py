"""What a run folder keeps of all that was asked of a case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.findings import exports, tables

if TYPE_CHECKING:
    from casebook.questions.loss.scans.lost import Lost


@dataclass(slots=True, kw_only=True)
class Kept:
    """What is written at the end.

    Args:
        tables: Rows by the table's name; see :mod:`casebook.findings.tables`.
        plan: The files of a drain, by name.
        lost: All lost records; ``None`` where no ledger was compared.
        unprocessed: All records that were committed and never processed: a folder of Parquet.
    """

    tables: dict[str, Sequence[object]] = field(default_factory=dict)
    plan: Mapping[str, str] = field(default_factory=dict)
    lost: "Lost | None" = None
    unprocessed: Path | None = None

    def write(self, folder: Path) -> None:
        """Write all of it below a folder."""
        for name, rows in sorted(self.tables.items()):
            tables.write(folder / "tables", name, rows)
        if self.plan:
            exports.write_plan(folder / exports.PLAN, self.plan)
        if self.lost is not None:
            exports.write(folder / "tables", self.lost.table)
        if self.unprocessed is not None:
            tables.rewrite(folder / "tables", "unprocessed", self.unprocessed)
