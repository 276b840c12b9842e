"""Lines of a file, whether it is packed or not, and none longer than is good for the memory."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from casebook.collect import bounds, decoding, outside
from casebook.frames import Frames

PACKED = (".gz", ".zst")
_ENOUGH = 4096
LEAST_UNPACKED = 1 << 30
"""Bytes that any pack may hold."""
MOST_TIMES = 200
"""How often a larger one may hold its own size; a log of one warning without end is packed to a 140th."""


def lines(given: outside.Given, *, longest: int) -> Iterator[bytes]:
    """The lines of a text file as UTF-8, ``.gz`` and ``.zst`` unpacked; of a longer line only its first ``longest`` bytes.

    Raises:
        OSError: It is no text, it cannot be opened or read on, its pack is damaged or holds more than :func:`most_unpacked`, or
            the time of the collection is up; the lines before were already given.
    """
    with _opened(given) as content:
        yield from of_stream(content, longest=longest)


def refuse_binary(given: outside.Given) -> None:
    """Refuse a file that is no text, by its beginning; whether it can be read on, who reads it is told.

    Raises:
        NoTextError: It is none.
    """
    try:
        next(lines(given, longest=_ENOUGH), None)
    except decoding.NoTextError:
        raise
    except OSError:
        return


def of_stream(content: BinaryIO, *, longest: int) -> Iterator[bytes]:
    """The same of what is opened already."""
    content = decoding.recoded(content)
    while line := content.readline(longest):
        rest = line
        while len(rest) == longest and not rest.endswith(b"\n"):
            rest = content.readline(longest)
        bounds.check()
        yield line if line.endswith(b"\n") or rest is line else line + b"\n"


def most_unpacked(packed: int) -> int:
    """How many bytes are taken out of a pack of a size: a pack that holds more is made to fill disks."""
    return max(LEAST_UNPACKED, MOST_TIMES * packed)


@contextmanager
def _opened(given: outside.Given) -> Iterator[BinaryIO]:
    import zstandard

    suffix = outside.path_of(given).suffix
    try:
        with outside.opened(given) as raw:
            most = most_unpacked(os.fstat(raw.fileno()).st_size)
            if suffix == ".gz":
                yield io.BufferedReader(_Unpacked(gzip.GzipFile(fileobj=raw), most), 1 << 17)
            elif suffix == ".zst":
                yield io.BufferedReader(_Unpacked(Frames(raw), most), 1 << 17)
            else:
                yield raw
    except (EOFError, zlib.error, zstandard.ZstdError) as damage:
        raise OSError(0, f"its pack is damaged: {damage}") from None


class _Unpacked(io.RawIOBase):
    """What comes out of a pack, up to a limit."""

    def __init__(self, content: BinaryIO, most: int) -> None:
        self._content, self._most, self._left = content, most, most

    def readable(self) -> bool:
        """As of a file."""
        return True

    def readinto(self, buffer: memoryview) -> int:
        """As of a file.

        Raises:
            OSError: More has come out of it than is taken.
        """
        bounds.check()
        size = self._content.readinto(buffer)
        self._left -= size
        if self._left < 0:
            raise OSError(
                0, f"it holds more than {self._most / 1e6:,.0f} MB, over {MOST_TIMES} times its own size: the rest is left out"
            )
        return size
