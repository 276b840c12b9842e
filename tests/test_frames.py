"""A pack that was cut is told from one that ends."""

import io

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from casebook.frames import Frames


def unpacked(packed: bytes, size: int = 1 << 17) -> bytes:
    return io.BufferedReader(Frames(io.BytesIO(packed)), size).read()


@given(st.lists(st.binary(max_size=3000), min_size=1, max_size=3), st.integers(1, 4096))
def test_all_frames_are_read(parts, size):
    """One after the other, whatever is asked for at once."""
    assert unpacked(b"".join(map(zstandard.compress, parts)), size) == b"".join(parts)


@given(st.binary(min_size=1, max_size=3000), st.binary(min_size=1, max_size=3000), st.data())
def test_a_cut_within_a_frame_is_told(first, second, data):
    """Wherever it is, also in the first bytes of the next one."""
    whole, more = zstandard.compress(first), zstandard.compress(second)
    kept = data.draw(st.integers(1, len(more) - 1))
    with pytest.raises(EOFError):
        unpacked(whole + more[:kept])


def test_nothing_is_no_frame():
    """An empty file holds nothing, and is not cut."""
    assert unpacked(b"") == b""


def test_zeros_that_fill_disks_come_piece_by_piece():
    """A GiB of one byte is never held at once."""
    size = 1 << 30
    packer = zstandard.ZstdCompressor().compressobj()
    packed = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)), packer.flush()])
    reader, most, seen = Frames(io.BytesIO(packed)), 0, 0
    room = bytearray(1 << 20)
    while taken := reader.readinto(room):
        seen, most = seen + taken, max(most, len(reader._unpacked))
    assert (seen, most < 64 << 20) == (size, True)
