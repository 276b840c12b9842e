"""Scans folders on the cluster that the environment names, as a user's program would, and writes the rows as one table.

Arguments: file to write, a file to make when the first tasks have ended, folders.
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from casebook.spark import segments, session, watched


def write_scan(spark: object, out: Path, begun: Path, folders: list[Path]) -> None:
    """Every record, in order, a task for each segment at least; where batches of Arrow end makes no difference."""
    frame = segments(spark, *folders, splitBytes="1").orderBy("file", "position", "offset")
    told = lambda done, _total: done and begun.touch()  # noqa: E731
    table: pa.Table = watched(spark, frame.toArrow, what="elsewhere", progress=told)
    pa.parquet.write_table(table.combine_chunks(), out)


if __name__ == "__main__":
    out, begun, *folders = map(Path, sys.argv[1:])
    spark = session()
    write_scan(spark, out, begun, folders)
    print(spark.sparkContext.master)
