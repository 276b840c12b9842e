"""Tables of a run with the meaning of their columns: the contract with scripts that read ``tables/<name>.parquet``."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.facts.cluster import Problem, instant
from casebook.findings.columns import Column
from casebook.findings.columns import columns as columns_of
from casebook.findings.declared import questions
from casebook.machine import private, whole

if TYPE_CHECKING:
    import pyarrow

_AT_ONCE = 1 << 17
"""Rows in memory as columns: a large cluster has a million partitions."""


@cache
def every() -> Mapping[str, type]:
    """The class of the rows of every table, by its name: those of the questions, and what every case may have."""
    declared = {name: row for question in questions() for name, row in question.tables.items()}
    return {**declared, "problems": Problem}


def columns(name: str) -> tuple[Column, ...]:
    """The columns of a table, in order."""
    return columns_of(every()[name])


def write(folder: Path, name: str, rows: Sequence[object]) -> None:
    """Write ``<folder>/<name>.parquet`` atomically: rows in the order given, one column for each attribute of the contract."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = columns(name)
    schema = _schema(wanted)
    private.folder(folder)
    with whole.beside(folder / f"{name}.parquet") as partial, pq.ParquetWriter(partial, schema, compression="zstd") as target:
        for first in range(0, max(len(rows), 1), _AT_ONCE):
            some = rows[first : first + _AT_ONCE]
            values = [pa.array(_values(some, column), field.type) for column, field in zip(wanted, schema, strict=True)]
            target.write_table(pa.table(values, schema=schema))


def _schema(wanted: Sequence[Column]) -> "pyarrow.Schema":
    import pyarrow as pa

    types = {
        "int": pa.int64(), "ints": pa.list_(pa.int64()), "real": pa.float64(), "text": pa.string(), "time": pa.string(),
        "texts": pa.list_(pa.string()), "flag": pa.bool_(), "json": pa.string(),
    }  # fmt: skip
    return pa.schema([pa.field(c.name, types[c.type], metadata={"meaning": c.meaning}) for c in wanted])


def rewrite(folder: Path, name: str, source: Path) -> None:
    """Write ``<folder>/<name>.parquet`` atomically from a folder of Parquet of any size, with the columns of the contract.

    Args:
        folder: Created when missing.
        name: Table name.
        source: Input files, in order; columns of the type ``time`` are already texts.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    schema = _schema(columns(name))
    private.folder(folder)
    rows = ds.dataset(sorted(map(str, source.glob("*.parquet"))), format="parquet")
    with whole.beside(folder / f"{name}.parquet") as partial, pq.ParquetWriter(partial, schema, compression="zstd") as target:
        for batch in rows.to_batches(columns=schema.names):
            target.write_table(pa.Table.from_batches([batch]).cast(schema))


def _values(rows: Sequence[object], column: Column) -> list[object]:
    values = [getattr(row, column.attribute) for row in rows]
    if column.type == "json":
        return [None if value is None else json.dumps(dict(value), ensure_ascii=False, sort_keys=True) for value in values]
    return [instant(value) for value in values] if column.type == "time" else values
