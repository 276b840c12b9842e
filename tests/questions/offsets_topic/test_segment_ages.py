"""Segments by age: nothing is lost or counted twice by the spans, and both drawings show the same."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.questions.offsets_topic.views import segment_ages
from tests.questions.offsets_topic.test_offsets_topic import segment

TIMES = st.integers(0, 4_000_000_000_000)


@given(st.lists(st.tuples(TIMES, st.integers(0, 1 << 40), st.integers(0, 1 << 20)), min_size=1, max_size=60))
def test_every_segment_is_in_one_span(rows):
    """Bytes, records and counts add up; there are few spans, of one width, without a gap."""
    segments = [segment(n, time=time, size=size, live=live) for n, (time, size, live) in enumerate(rows)]
    drawn = segment_ages.spans(segments)
    assert sum(span.segments for span in drawn) == len(rows)
    assert sum(span.bytes for span in drawn) == sum(size for _, size, _ in rows)
    assert sum(span.live_records for span in drawn) == sum(live for *_, live in rows)
    assert {later.start - earlier.end for earlier, later in pairwise(drawn)} <= {0}
    assert len(drawn) <= 30 or drawn[0].end - drawn[0].start == 364 * 86_400_000


def test_a_segment_without_time_is_left_out():
    """Its age is unknown, and not 1970."""
    assert segment_ages.spans([segment(0)._replace(first_time=None)]) == ()
    assert len(segment_ages.spans([segment(0)._replace(first_time=None), segment(1)])) == 1


@pytest.mark.parametrize(("apart", "said"), [(100, "second"), (60_000, "5 seconds"), (86_400_000, "hour"), (7 * 86_400_000, "6 hours"), (180 * 86_400_000, "week")])  # fmt: skip
def test_a_span_is_named(apart, said):
    """The axis says what a bar stands for."""
    drawn = segment_ages.spans([segment(0), segment(1, time=segment(0).first_time + apart)])
    assert segment_ages.length(drawn[0]).replace("\u202f", " ") == said


def test_the_drawings_agree():
    """Both hold a bar for each span, the stems' numbers, and the cleaner's point."""
    segments = [segment(n, time=1_780_272_000_000 + n * 86_400_000, live=n, size=(n + 1) << 20) for n in range(10)]
    drawn = segment_ages.spans(segments)
    said = {"cleaned_to": segments[3].first_time, "note": "cleaner's point", "alternative": "Ten segments."}
    figure = segment_ages.figure(drawn, **said)
    picture = str(figure.picture)
    live, gone, stems = figure.data
    assert len(live["x"]) == len(gone["x"]) == len(drawn) == picture.count('class="gone"')
    assert stems["text"] == [str(n) for n in range(1, 10)]
    assert re.findall(r'text-anchor="middle">(\d+)<', picture) == stems["text"]
    assert len(figure.layout["shapes"]) == 1
    assert "cleaner&#39;s point" in picture
    assert figure.alternative in picture
