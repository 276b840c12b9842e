"""What zstd packed, read so that its end is known: a file that was cut within a frame is not one that ends there."""

import io
from typing import BinaryIO

import zstandard

_PIECE = 1 << 10
"""Bytes that are unpacked at once: at most 128 KiB come of every four of them (RFC 8878, 3.1.1.2), and are held in memory."""


class Frames(io.RawIOBase):
    """The content of the frames of a file, one after the other.

    ``zstandard``'s own reader takes the end of the file for the end of the content, also in the midst of a frame.

    Args:
        packed: Open for reading; it is left open.
    """

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._rest, self._unpacked, self._within = b"", memoryview(b""), False

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer) -> int:
        """Fill a buffer.

        Raises:
            EOFError: The file ends within a frame.
            zstandard.ZstdError: What lies there is no frame.
        """
        while not self._unpacked and self._goes_on():
            pass
        taken, self._unpacked = self._unpacked[: len(buffer)], self._unpacked[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def _goes_on(self) -> bool:
        piece = self._rest or self._packed.read(_PIECE)
        if not piece:
            if self._within:
                raise EOFError("it ends within a compressed frame")
            return False
        self._unpacked, self._rest, self._within = memoryview(self._frame.decompress(piece)), b"", True
        if self._frame.eof:
            self._rest, self._within = self._frame.unused_data, False
            self._frame = zstandard.ZstdDecompressor().decompressobj()
        return True
