"""Files for use elsewhere: lost records for re-sending, in common formats, and the plan of a drain."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from casebook.findings import tables
from casebook.findings.words import as_cell
from casebook.machine import private

TABLE = "lost"
PLAN = "plan"
"""Folder of plan files below the run folder."""


def names() -> Mapping[str, str]:
    """Return the path of each file below the run folder."""
    return {f"{TABLE}.{suffix}": f"tables/{TABLE}.{suffix}" for suffix in ("csv", "parquet", "jsonl")}


def write(folder: Path, source: Path) -> None:
    """Write all three files.

    In CSV, a text that a spreadsheet would evaluate is prefixed with ``'``; the other two keep texts unchanged.

    Args:
        folder: Folder of the run's tables.
        source: A folder of Parquet with the columns of ``tables/lost``, in order.
    """
    tables.rewrite(folder, TABLE, source)
    columns = [column.name for column in tables.columns(TABLE)]
    with (folder / f"{TABLE}.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(columns)
        for row in _rows(folder):
            writer.writerow(as_cell(value) if isinstance(value, str) else value for value in row.values())
    with (folder / f"{TABLE}.jsonl").open("w", encoding="utf-8") as out:
        for row in _rows(folder):
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _rows(folder: Path) -> Iterator[dict[str, object]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(folder / f"{TABLE}.parquet") as file:
        for batch in file.iter_batches():
            yield from batch.to_pylist()


def write_plan(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a plan unchanged, each under its name."""
    private.folder(folder)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8", errors="replace")
