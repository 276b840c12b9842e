"""Results of scans that are there and whole, or not there."""

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
    """A folder to write a result into; it gets the target's name when the block ends well, and goes when it does not."""
    private.folder(target.parent)
    with workshop.folder(beside=target.parent) as room:
        partial = room / target.name
        private.folder(partial)
        yield partial
        private.seal(partial)
        try:
            partial.replace(target)
        except OSError:
            if not target.exists():  # else somebody else was faster with the same result
                raise


def kept(spark: "SparkSession", target: Path, rows: Callable[[], "DataFrame"]) -> "DataFrame":
    """Rows from a file that is written when it is not there.

    Raises:
        ScanError: They are made of segments, and there is none.
    """
    if not target.exists():
        with explained(), made(target) as partial:
            rows().write.mode("overwrite").parquet(f"file:{partial}")
    return spark.read.parquet(f"file:{target}")
