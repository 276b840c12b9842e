"""Local folders and folders at URIs, with one interface."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from casebook.collect import outside
from casebook.collect.files.entries import Entry, Files
from casebook.formats.broker.log_tail import Read

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


class LocalFiles:
    """Local files; links are followed within the root (:mod:`casebook.collect.outside`)."""

    def __init__(self, place: str) -> None:
        self._root = Path(place)

    def entries(self, path: str) -> list[Entry]:
        """See :class:`Files`."""
        with outside.folder(self._root) as root:
            return [_entry(found) for found in root.entries(path)]

    def read(self, path: str, limit: int) -> bytes:
        """See :class:`Files`."""
        with outside.folder(self._root) as root, root.opened(path) as file:
            return file.read(limit)

    @contextmanager
    def anywhere(self, path: str) -> Iterator[Read]:
        """See :class:`Files`."""
        with outside.folder(self._root) as root, root.opened(path) as file:

            def read(position: int, count: int) -> bytes:
                return os.pread(file.fileno(), count, position)

            yield read


def _entry(found: outside.StatEntry) -> Entry:
    if found.stat is None:
        return Entry(found.name, False, None, None, found.why)
    return Entry(found.name, found.is_folder, found.stat.st_size, found.stat.st_mtime_ns // 1_000_000)


def is_uri(place: str) -> bool:
    """Whether a place is a URI, not a local path."""
    return _URI.match(place) is not None


def full_name(text: str) -> str:
    """Return a place as an absolute path or a URI; a local one is always a path."""
    if not is_uri(text):
        return str(Path(text).expanduser().absolute())
    return url2pathname(urlsplit(text).path) if text.startswith("file:") else text


def files_of(place: str) -> Files:
    """Return the reader for a place.

    Raises:
        OSError: A URI's file system is unreachable.
    """
    if not is_uri(place):
        return LocalFiles(place)
    from casebook.collect.files.hadoop import HadoopFiles  # starts Spark

    return HadoopFiles(place)
