"""The tables of a run and the meaning of their columns: the contract with scripts that read ``tables/<name>.parquet``."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.facts.cluster import instant
from casebook.findings.columns import Column
from casebook.findings.incident_tables import INCIDENT
from casebook.findings.outlook_tables import OUTLOOK
from casebook.findings.state_tables import STATE
from casebook.machine import private, whole

if TYPE_CHECKING:
    import pyarrow

_ATTRIBUTES = {"class": "verdict"}

TABLES = STATE | INCIDENT | OUTLOOK
"""Every table by name."""


def write(folder: Path, name: str, rows: Sequence[object]) -> None:
    """Write ``<folder>/<name>.parquet``, whole: rows in the order given, one column for each attribute of the contract."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(TABLES[name])
    columns = zip(TABLES[name], schema, strict=True)
    table = pa.table([pa.array(_values(rows, column), field.type) for column, field in columns], schema=schema)
    private.folder(folder)
    with whole.beside(folder / f"{name}.parquet") as partial:
        pq.write_table(table, partial, compression="zstd")


def _schema(columns: Sequence[Column]) -> "pyarrow.Schema":
    import pyarrow as pa

    types = {
        "int": pa.int64(), "ints": pa.list_(pa.int64()), "real": pa.float64(), "text": pa.string(), "time": pa.string(),
        "texts": pa.list_(pa.string()), "flag": pa.bool_(), "json": pa.string(),
    }  # fmt: skip
    return pa.schema([pa.field(c.name, types[c.type], metadata={"meaning": c.meaning}) for c in columns])


def rewrite(folder: Path, name: str, source: Path) -> None:
    """Write ``<folder>/<name>.parquet``, whole, out of a folder of Parquet, however large, with the columns of the contract.

    Args:
        folder: Made when it is not there.
        name: Of the table.
        source: Its files, in order; columns of the type ``time`` are texts already.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    schema = _schema(TABLES[name])
    private.folder(folder)
    rows = ds.dataset(sorted(map(str, source.glob("*.parquet"))), format="parquet")
    with whole.beside(folder / f"{name}.parquet") as partial, pq.ParquetWriter(partial, schema, compression="zstd") as target:
        for batch in rows.to_batches(columns=schema.names):
            target.write_table(pa.Table.from_batches([batch]).cast(schema))


def _values(rows: Sequence[object], column: Column) -> list[object]:
    name = _ATTRIBUTES.get(column.name, column.name)
    values = [getattr(row, name) for row in rows]
    if column.type == "json":
        return [None if value is None else json.dumps(dict(value), ensure_ascii=False, sort_keys=True) for value in values]
    return [instant(value) for value in values] if column.type == "time" else values
