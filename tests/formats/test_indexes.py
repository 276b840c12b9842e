"""Indexes beside a segment: the entries stay, the zeros that a broker preallocates go."""

import struct
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.formats.broker import indexes

STEPS = st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), max_size=50)


@pytest.mark.parametrize(("suffix", "entry"), [(".index", struct.Struct(">ii")), (".timeindex", struct.Struct(">qi"))])
@given(steps=STEPS, zeros=st.integers(0, 100))
def test_zeros_are_padding(suffix, entry, steps, zeros):
    entries = accumulate(steps, lambda last, step: (last[0] + step[0], last[1] + step[1]))
    content = b"".join(entry.pack(*one) for one in entries)
    assert indexes.without_padding(content + bytes(entry.size * zeros), suffix) == content


def test_another_file_stays_as_it_is():
    assert indexes.without_padding(bytes(9), ".txnindex") == bytes(9)
