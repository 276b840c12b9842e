"""Requirements on a ledger before Spark reads it: regular files, and packs within this machine's limits."""

import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.collect.files import folders, plain
from casebook.errors import UsageError

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession

_PACKED = re.compile(r"\.(gz|bz2|deflate|lz4|snappy|zst)\Z", re.IGNORECASE)
"""Suffixes of files that Hadoop unpacks (``CompressionCodecFactory.java@3.4.1``)."""
_STEP = 64 << 20
"""Bytes unpacked at a time, between checks for an interrupt."""


def admitted(spark: "SparkSession", place: str) -> Sequence[str]:
    """Return the URI of each file of a ledger; all are regular, and no pack has too much content.

    Each pack is unpacked once for this check.

    Args:
        spark: Spark session.
        place: Path for Spark's Hadoop.

    Raises:
        UsageError: A file is refused.
    """
    files = spark.read.format("binaryFile").option("recursiveFileLookup", True).load(place).inputFiles()
    for file in files:
        _refuse_special(file)
    for file in filter(_PACKED.search, files):
        _refuse_pack(spark, file)
    return files


def length(spark: "SparkSession", file: str) -> int:
    """Return the length of a file in bytes.

    Args:
        spark: Spark session.
        file: Its URI.
    """
    place = _path(spark, file)
    return place.getFileSystem(spark._jsc.hadoopConfiguration()).getFileStatus(place).getLen()


def _path(spark: "SparkSession", file: str) -> "JavaObject":
    return spark._jvm.org.apache.hadoop.fs.Path(spark._jvm.java.net.URI(file))


def _refuse_special(file: str) -> None:
    """Refuse special files, e.g. a FIFO: Spark skips files without a length silently."""
    local = folders.full_name(file)
    if not folders.is_uri(local) and not stat.S_ISREG(Path(local).stat().st_mode):
        raise UsageError(f"{local} is not a file, but a FIFO, a socket or a device.", try_="Narrow the pattern to the ledger.")


def _refuse_pack(spark: "SparkSession", file: str) -> None:
    most, unpacked = plain.most_unpacked(length(spark, file)), 0
    for size in _sizes(spark, file):
        unpacked += size
        if unpacked > most:
            raise UsageError(
                f"{folders.full_name(file)} unpacks to more than {most / 1e6:,.0f} MB, over {plain.MOST_TIMES} times its own "
                "size, and is not read.",
                cause="It is damaged, or made to fill memory.",
                try_="If you trust it, unpack it where there is room, and pass the unpacked file.",
            )


def _sizes(spark: "SparkSession", file: str) -> Iterator[int]:
    """Yield the unpacked sizes of a pack, step by step, up to a tear, which its reader reports."""
    from py4j.protocol import Py4JJavaError

    place, settings = _path(spark, file), spark._jsc.hadoopConfiguration()
    codec = spark._jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(settings).getCodec(place)
    if codec is None:
        return
    with closing(place.getFileSystem(settings).open(place)) as packed, suppress(Py4JJavaError):
        stream = codec.createInputStream(packed)
        while size := stream.skip(_STEP):
            yield size
