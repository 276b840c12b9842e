"""Bounds in words hold as they are printed: a lower one is rounded down, an upper one up."""

import pytest

from casebook.questions.timeline.analysis.words import at_least, at_most


@pytest.mark.parametrize(
    ("milliseconds", "least", "most"),
    [
        (999, "999 ms", "999 ms"),
        (59_999, "59.999 s", "59.999 s"),
        (106_640, "1 min 46 s", "1 min 47 s"),
        (120_000, "2 min 0 s", "2 min 0 s"),
        (599_001, "9 min 59 s", "10 min"),
        (5_000_000, "83 min", "84 min"),
        (172_800_001, "2 days", "2 days 1 h"),
    ],
)
def test_rounded_outward(milliseconds, least, most):
    assert (at_least(milliseconds), at_most(milliseconds)) == (least, most)
