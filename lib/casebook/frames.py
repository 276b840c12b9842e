"""What is packed as ``.zst``, to its end: a pack that ends early is damage. ``zstandard``'s own reader then just ends."""

import io
from typing import BinaryIO

import zstandard

_TAKEN = 1 << 10
"""Bytes of a pack at a time: 128 KiB may come out of each four of them, and all that comes out is held."""


class Unpacked(io.RawIOBase):
    """The content of all frames of a pack, one after another."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._given, self._ready = b"", memoryview(b"")

    def readable(self) -> bool:
        """As of a file."""
        return True

    def readinto(self, buffer: memoryview) -> int:
        """As of a file.

        Raises:
            zstandard.ZstdError: The pack is damaged, or ends within a frame.
        """
        while not self._ready and self._take():
            pass
        taken = self._ready[: len(buffer)]
        self._ready = self._ready[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def _take(self) -> bool:
        """Unpack a little more; whether there was anything."""
        given = self._given or self._packed.read(_TAKEN)
        if not given:
            if self._frame is not None:
                raise zstandard.ZstdError("it ends too early")
            return False
        frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._ready = memoryview(frame.decompress(given))
        self._given, self._frame = (frame.unused_data, None) if frame.eof else (b"", frame)
        return True
