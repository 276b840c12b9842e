"""Segment files as a data frame, read by the data source ``kafka_segments`` of ``lib/jvm``."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from casebook.errors import ScanError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Mode = Literal["records", "batches", "group_records", "group_keys"]

_NOTHING = "kafka_segments found no segment"
"""Prefix of the message of ``Listing`` in ``lib/jvm``."""


def segments(spark: "SparkSession", *places: Path | str, mode: Mode = "records", **options: object) -> "DataFrame":
    """Return the records of segments, lazily; ``docs/spark.md`` has the columns of each mode.

    Args:
        spark: From :func:`casebook.spark.session`.
        places: Segment files, partition folders, log dirs, patterns, bundles, or URIs of Spark's Hadoop file systems.
        mode: ``records``; ``batches``, from their headers; ``group_records`` of ``__consumer_offsets``; or ``group_keys``, with
            only the latest of each key, hour and segment, and sums.
        options: Options of the data source, e.g. ``crc=False`` to read only headers in the mode ``batches``.
    """
    read = spark.read.format("kafka_segments").option("mode", mode).options(**options)
    return read.load([f"file:{place.absolute()}" if isinstance(place, Path) else place for place in places])


def of_brokers(
    spark: "SparkSession", places: Mapping[int, Sequence[Path | str]], *, mode: Mode, **options: object
) -> "DataFrame":
    """Return the same for several brokers' copies, with ``broker`` as the first column.

    Args:
        spark: From :func:`casebook.spark.session`.
        places: Paths by broker; at least one.
        mode: As of :func:`segments`.
        options: As of :func:`segments`.
    """
    frames = (
        segments(spark, *own, mode=mode, **options).selectExpr(f"{broker:d} AS broker", "*")
        for broker, own in sorted(places.items())
    )
    return reduce(lambda one, other: one.unionByName(other), frames)


@contextmanager
def explained() -> Iterator[None]:
    """Add advice to the error of a scan without segments, as segments are read lazily.

    Raises:
        ScanError: There was no segment.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        if _NOTHING not in str(error):
            raise
        raise ScanError(
            "No segment is where the scan looked.",
            cause=str(error).splitlines()[0],
            try_="Open the case where its segments are, or collect it again.",
        ) from error
