"""What a ledger must be before Spark reads it: files, and packs that hold no more than is good for this machine."""

import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.collect.files import folders, plain
from casebook.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PACKED = r"(?i)\.(gz|bz2|deflate|lz4|snappy|zst)$"
"""Suffixes that Hadoop unpacks by (``CompressionCodecFactory.java@3.4.1``)."""
_STEP = 64 << 20
"""Bytes unpacked at a time, between which an interrupt is heard."""


def refuse(spark: "SparkSession", place: str) -> None:
    """Raise when files of a ledger are none, or are packs that hold too much; packs are unpacked once for that, into nothing.

    Args:
        spark: The session.
        place: As Spark's Hadoop opens it.

    Raises:
        UsageError: So it is.
    """
    from pyspark.sql import functions as f

    files = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(place)
    for path in files.inputFiles():
        _refuse_special(path)
    for row in files.select("path", "length").where(f.col("path").rlike(_PACKED)).collect():
        _refuse_pack(spark, row.path, row.length)


def _refuse_special(path: str) -> None:
    """Spark passes over what has no length; who meant a FIFO to be read is told."""
    local = folders.full_name(path)
    if not folders.is_uri(local) and not stat.S_ISREG(Path(local).stat().st_mode):
        raise UsageError(f"{local} is not a file, but a FIFO, a socket or a device.", try_="Narrow the pattern to the ledger.")


def _refuse_pack(spark: "SparkSession", path: str, packed: int) -> None:
    most, unpacked = plain.most_unpacked(packed), 0
    for size in _sizes(spark, path):
        unpacked += size
        if unpacked > most:
            raise UsageError(
                (
                    f"{path} unpacks to more than {most / 1e6:,.0f} MB, over {plain.MOST_TIMES} times its own size, and "
                    "is not read."
                ),
                cause="It is damaged, or made to fill memory.",
                try_="If you trust it, unpack it where there is room, and pass the unpacked file.",
            )


def _sizes(spark: "SparkSession", path: str) -> Iterator[int]:
    """How much comes out of a pack, step by step, up to where it is torn: that is told by whoever reads it."""
    from py4j.protocol import Py4JJavaError

    hadoop, settings = spark._jvm.org.apache.hadoop, spark._jsc.hadoopConfiguration()
    place = hadoop.fs.Path(spark._jvm.java.net.URI(path))
    codec = hadoop.io.compress.CompressionCodecFactory(settings).getCodec(place)
    if codec is None:
        return
    with closing(place.getFileSystem(settings).open(place)) as packed, suppress(Py4JJavaError):
        stream = codec.createInputStream(packed)
        while size := stream.skip(_STEP):
            yield size
