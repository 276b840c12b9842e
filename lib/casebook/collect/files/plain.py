"""Lines of a file, whether it is packed or not, and none longer than is good for the memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from casebook.collect import bounds, outside
from casebook.collect.files import decoding
from casebook.machine import packs

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
    suffix = outside.path_of(given).suffix
    with outside.opened(given) as raw:
        if suffix in packs.SUFFIXES:
            most = most_unpacked(os.fstat(raw.fileno()).st_size)
            yield packs.stream(raw, suffix, lambda pieces: _up_to(most, pieces))
        else:
            yield raw


def _up_to(most: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What comes out of a pack.

    Raises:
        PackError: More comes out of it than is taken.
    """
    left = most
    for piece in pieces:
        bounds.check()
        left -= len(piece)
        if left < 0:
            size = f"{most / 1e6:,.0f} MB, over {MOST_TIMES} times its own size"
            raise packs.PackError(0, f"it unpacks to more than {size}: the rest is left out")
        yield piece
