"""Unpack gzip and Zstandard files with any number of frames. A cut file never passes as complete.

Python's packages differ here: one accepts the end of a file as the end of a frame, another ignores data after the first frame. A
file cut exactly between two frames is valid; only its known size can reveal that.
"""

import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Protocol

GZIP, ZSTANDARD = ".gz", ".zst"
SUFFIXES = (GZIP, ZSTANDARD)
_WITH_GZIP_HEAD = 31  # zlib's window bits
_STEP = 2048
"""Bytes unpacked at a time, whose output fits in memory in any case (Zstandard can make 64 MiB of them)."""
_READ = 1 << 17


class PackError(OSError):
    """A pack is damaged or cut; its earlier output is sound. ``strerror`` says so."""


class CutError(PackError):
    """The pack was cut."""


class _Frame(Protocol):
    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, /) -> bytes: ...


def stream(packed: BinaryIO, suffix: str, passed: Callable[[Iterator[bytes]], Iterator[bytes]] = iter) -> io.BufferedReader:
    """Return the unpacked content of a file as a reader.

    Args:
        packed: The file, at its start.
        suffix: One of :data:`SUFFIXES`.
        passed: Wraps the pieces on their way out, e.g. to count them.

    Returns:
        A reader that raises :class:`PackError`, and what ``packed`` and ``passed`` raise.
    """
    pieces = iter(lambda: packed.read(_READ), b"")
    return io.BufferedReader(_Pieces(passed(_UNPACKING[suffix](pieces))), _READ)


def gunzipped(packed: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the unpacked pieces of gzip; zeros after its end are padding.

    Raises:
        PackError: It is damaged or cut.
    """
    return _unpacked(packed, lambda: zlib.decompressobj(_WITH_GZIP_HEAD), zlib.error, padding=b"\0")


def _of_zstandard(packed: Iterable[bytes]) -> Iterator[bytes]:
    import zstandard  # few pieces of evidence use it

    decompressor = zstandard.ZstdDecompressor()
    return _unpacked(packed, decompressor.decompressobj, zstandard.ZstdError, padding=b"")


_UNPACKING = {GZIP: gunzipped, ZSTANDARD: _of_zstandard}


def _unpacked(packed: Iterable[bytes], begin: Callable[[], _Frame], error: type[Exception], *, padding: bytes) -> Iterator[bytes]:
    frame, ended = None, False
    for rest in _steps(packed):
        while rest:
            if frame is None:
                rest = rest.lstrip(padding) if ended and padding else rest
                if not rest:
                    break
                frame = begin()
            try:
                found = frame.decompress(rest)
            except error as damage:
                raise PackError(0, f"its pack is damaged: {damage}") from None
            if found:
                yield found
            rest = frame.unused_data if frame.eof else b""
            if frame.eof:
                frame, ended = None, True
    if frame is not None or not ended:
        raise CutError(0, "its pack is damaged: it ends before it is complete")


def _steps(packed: Iterable[bytes]) -> Iterator[bytes]:
    for piece in packed:
        for at in range(0, len(piece), _STEP):
            yield piece[at : at + _STEP]


class _Pieces(io.RawIOBase):
    """Consecutive pieces as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._ready = pieces, memoryview(b"")
        self._error: OSError | None = None

    def readable(self) -> bool:
        """As for a file."""
        return True

    def readinto(self, buffer: memoryview) -> int:
        """As for a file."""
        if self._error is not None:
            raise self._error  # again for later reads: an exhausted generator looks like one that has raised
        if not self._ready:
            try:
                self._ready = memoryview(next(self._pieces, b""))
            except OSError as error:
                self._error = error
                raise
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size
