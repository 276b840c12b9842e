"""Scans folders on the cluster that the environment names, as a user's program would, and writes the rows as one table.

Arguments: file to write, a file to make when the first task has ended, folders.
"""

import sys
from pathlib import Path

import pyarrow.parquet

from casebook.scans import segments, session, watched

out, begun, *folders = map(Path, sys.argv[1:])
spark = session()
frame = segments(spark, *folders, splitBytes="1").orderBy("file", "position", "offset")
told = lambda done, _total: done and begun.touch()  # noqa: E731
pyarrow.parquet.write_table(watched(spark, frame.toArrow, what="elsewhere", progress=told), out)
print(spark.sparkContext.master)
