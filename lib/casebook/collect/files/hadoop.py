"""Log dirs at a Hadoop URI (hdfs, s3a, gs), listed with Spark's file systems and credentials."""

from collections.abc import Iterator
from contextlib import contextmanager

from casebook.collect.files.entries import Entry


class HadoopFiles:
    """Files below a URI; see :class:`casebook.collect.files.entries.Files`."""

    def __init__(self, place: str) -> None:
        from casebook.spark.session import session

        spark = session()
        with _failures():
            self._path = spark._jvm.org.apache.hadoop.fs.Path
            self._root = self._path(place)
            self._files = self._root.getFileSystem(spark._jsc.hadoopConfiguration())

    def entries(self, path: str) -> list[Entry]:
        """Return the entries of a folder, by name."""
        with _failures():
            found = self._files.listStatus(self._below(path))
            return sorted(
                Entry(status.getPath().getName(), status.isDirectory(), status.getLen(), status.getModificationTime())
                for status in found
            )

    def read(self, path: str, limit: int) -> bytes:
        """Return the first bytes of a file."""
        with _failures():
            stream = self._files.open(self._below(path))
            try:
                return bytes(stream.readNBytes(limit))
            finally:
                stream.close()

    def anywhere(self, path: str) -> None:
        """Return ``None``: each access would cost a request."""

    def _below(self, path: str) -> object:
        return self._path(self._root, path) if path else self._root


@contextmanager
def _failures() -> Iterator[None]:
    """Convert Java's exceptions to the OSError that callers expect, with its first line."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except Py4JJavaError as error:
        raise OSError(0, str(error.java_exception.toString()).splitlines()[0]) from None
    except PySparkException as error:
        raise OSError(0, str(error).splitlines()[0]) from None
    except (Py4JError, AttributeError) as error:
        raise OSError(0, f"Spark's file systems cannot be reached from here ({type(error).__name__})") from None
