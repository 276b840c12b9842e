"""Stored results of scans, complete or absent."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.machine import workshop
from casebook.spark.segments import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def kept(spark: "SparkSession", target: Path, rows: Callable[[], "DataFrame"]) -> "DataFrame":
    """Return rows from a file, writing it when missing.

    Raises:
        ScanError: They come from segments, and there is none.
    """
    reader = spark.read
    if not target.exists():
        with explained(), workshop.result(target) as partial:
            frame = rows()
            frame.write.mode("overwrite").parquet(f"file:{partial}")
        reader = reader.schema(frame.schema)  # otherwise a job reads it from the file
    return reader.parquet(f"file:{target}")
