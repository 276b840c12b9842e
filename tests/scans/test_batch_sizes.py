"""The largest batch by headers alone: of whole copies all of it, of others at least what was seen."""

import struct

import pytest

from casebook.scans.batch_sizes import Largest, largest
from casebook.storage import OFFSETS_TOPIC, Replica, SegmentFile


def batch(size):
    """A batch of so many bytes, header included."""
    return struct.pack(">qi", 7, size - 12) + b"x" * (size - 12)


@pytest.fixture
def copy(tmp_path):
    """Write segments and list them, each with the given size or its own."""

    def written(*contents, listed=None):
        files = []
        for number, content in enumerate(contents):
            (tmp_path / f"{number:020d}.log").write_bytes(content)
            files.append(SegmentFile(number, len(content) if listed is None else listed, 0))
        return Replica(1, OFFSETS_TOPIC, 0, str(tmp_path), "x", tuple(files))

    return written


def test_of_all_segments(copy):
    assert largest(copy(batch(40) + batch(900), batch(70))) == Largest(900, is_all=True)


@pytest.mark.parametrize("content", [batch(40) + b"\0" * 30, batch(40) + batch(900)[:-1], batch(40) + b"x"])
def test_what_cannot_be_read_may_be_larger(copy, content):
    """A header that makes no sense, a torn end: at least what was seen."""
    assert largest(copy(content)) == Largest(40, is_all=False)


def test_a_file_that_is_shorter_than_it_was(copy):
    assert largest(copy(batch(40), listed=80)) == Largest(40, is_all=False)


def test_an_empty_one(copy):
    assert largest(copy(b"")) == Largest(0, is_all=True)


def test_not_here(copy):
    """Nobody looks for segments that are elsewhere, or are too many for a first look."""
    here = copy(batch(40))
    assert largest(here._replace(place="/nowhere/at/all")) is None
    assert largest(here._replace(segments=(SegmentFile(0, 1 << 40, 0),))) is None
    assert largest(here._replace(segments=(*here.segments, SegmentFile(5, 10, 0)))) is None
