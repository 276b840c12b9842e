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
"""So begins what ``Listing`` of ``lib/jvm`` says."""


def segments(spark: "SparkSession", *places: Path | str, mode: Mode = "records", **options: object) -> "DataFrame":
    """Return the records of segments, lazily; ``docs/spark.md`` has the columns of each mode.

    Args:
        spark: From :func:`casebook.spark.session`.
        places: Segment files, folders of partitions, log dirs, patterns, bundles, or URIs that Spark's Hadoop opens.
        mode: ``records``; ``batches``, from their headers; ``group_records`` of ``__consumer_offsets``; or ``group_keys``, of
            which only the latest of each key, hour and segment is kept, with sums.
        options: Of the data source, e.g. ``crc=False`` to read nothing but headers in the mode ``batches``.
    """
    read = spark.read.format("kafka_segments").option("mode", mode).options(**options)
    return read.load([f"file:{place.absolute()}" if isinstance(place, Path) else place for place in places])


def of_brokers(
    spark: "SparkSession", places: Mapping[int, Sequence[Path | str]], *, mode: Mode, **options: object
) -> "DataFrame":
    """The same of several brokers' copies, with the ``broker`` as first column.

    Args:
        spark: From :func:`casebook.spark.session`.
        places: By the broker whose copies they are; at least one.
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
    """Say of a scan that found no segment what to try, as segments are read when rows are asked for.

    Raises:
        ScanError: There was none.
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
