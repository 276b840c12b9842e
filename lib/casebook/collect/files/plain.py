"""Lines of a packed or plain file, with a maximum length to bound memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from casebook.collect import bounds, outside
from casebook.collect.files import decoding
from casebook.machine import packs

_ENOUGH = 4096
LEAST_UNPACKED = 1 << 30
"""Unpacked bytes that any pack may contain."""
MOST_TIMES = 200
"""Maximum unpacked size of a larger pack, as a multiple of its own; a log of one endless warning compresses 140 times."""


def lines(given: outside.Given, *, longest: int) -> Iterator[bytes]:
    """Yield the lines of a text file as UTF-8, with ``.gz`` and ``.zst`` unpacked; longer lines are cut to ``longest`` bytes.

    Raises:
        OSError: It is not text, unreadable, its pack is damaged or larger than :func:`most_unpacked`, or the time limit is
            reached; earlier lines were already yielded.
    """
    with _opened(given) as content:
        yield from of_stream(content, longest=longest)


def refuse_binary(given: outside.Given) -> None:
    """Refuse a file that is not text, by its beginning; later read errors are left to its reader.

    Raises:
        NoTextError: It is not text.
    """
    try:
        next(lines(given, longest=_ENOUGH), None)
    except decoding.NoTextError:
        raise
    except OSError:
        return


def of_stream(content: BinaryIO, *, longest: int) -> Iterator[bytes]:
    """Yield the same from an open stream."""
    content = decoding.recoded(content)
    while line := content.readline(longest):
        rest = line
        while len(rest) == longest and not rest.endswith(b"\n"):
            rest = content.readline(longest)
        bounds.check()
        yield line if line.endswith(b"\n") or rest is line else line + b"\n"


def most_unpacked(packed: int) -> int:
    """Return the maximum unpacked bytes for a pack of this size: larger ones are meant to fill disks."""
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
    """Yield the unpacked pieces.

    Raises:
        PackError: They exceed the limit.
    """
    left = most
    for piece in pieces:
        bounds.check()
        left -= len(piece)
        if left < 0:
            size = f"{most / 1e6:,.0f} MB, over {MOST_TIMES} times its own size"
            raise packs.PackError(0, f"it unpacks to more than {size}: the rest is left out")
        yield piece
