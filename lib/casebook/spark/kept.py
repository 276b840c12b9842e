"""Stored results of scans, complete or absent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.machine import private, workshop
from casebook.spark.segments import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def made(target: Path) -> Iterator[Path]:
    """Create a folder for a result; it is renamed to the target on success, and removed on failure."""
    private.folder(target.parent)
    with workshop.folder(beside=target.parent) as room:
        partial = room / target.name
        private.folder(partial)
        yield partial
        private.seal(partial)
        try:
            partial.replace(target)
        except OSError:
            if not target.exists():  # otherwise another process stored the same result first
                raise


def kept(spark: "SparkSession", target: Path, rows: Callable[[], "DataFrame"]) -> "DataFrame":
    """Return rows from a file, writing it when missing.

    Raises:
        ScanError: They come from segments, and there is none.
    """
    reader = spark.read
    if not target.exists():
        with explained(), made(target) as partial:
            frame = rows()
            frame.write.mode("overwrite").parquet(f"file:{partial}")
        reader = reader.schema(frame.schema)  # otherwise a job reads it from the file
    return reader.parquet(f"file:{target}")
