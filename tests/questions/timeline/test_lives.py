"""Processes of a broker, told apart by what they print."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from casebook.questions.timeline.analysis.lives import PREAMBLE, START, lives
from casebook.questions.timeline.analysis.merge import row_of
from tests.questions.timeline.scenes import T0, event

GC = "kafkaServer-gc.log"


def spans(*events):
    """Begin and end of each process of broker 1, milliseconds after the scene's begin, and how it ended."""
    rows = sorted((row_of(one, 0) for one in events), key=lambda row: row.at)
    return [(span.opened - T0, span.closed - T0, span.name) for span in lives(rows, (), ()).get(1, ())]


def test_what_comes_before_a_start_belongs_to_it():
    """A broker is killed at 20 s and started at 40 s: its first collections come before it says that it starts."""
    found = spans(
        event("broker_starting", 0, 1),
        event("gc_pause", 1000, 1, file=GC),
        event("isr_shrunk", 19_000, 1),
        event("gc_pause", 20_000, 1, file=GC),
        event("gc_pause", 40_100, 1, file=GC),
        event("version_line", 40_200, 1),
        event("broker_starting", 41_000, 1),
        event("broker_stopping", 50_000, 1),
        event("broker_stopped", 51_000, 1),
    )
    assert found == [(0, 20_000, ""), (40_100, 51_000, "broker_stopped")]


def test_a_log_that_begins_with_a_start():
    """Collections before it are no process of their own."""
    assert spans(event("gc_pause", -500, 1, file=GC), event("broker_starting", 0, 1)) == [(-500, 0, "")]


@given(st.lists(st.tuples(st.integers(0, 100_000), st.sampled_from(["broker_starting", "isr_shrunk", *PREAMBLE])), min_size=1))
def test_every_line_is_of_one_process(lines):
    """Processes follow each other, begin with a start or shortly before it, and cover what was printed."""
    starts = sorted(at for at, kind in lines if kind == "broker_starting")
    found = spans(*(event(kind, at, 1) for at, kind in lines))
    assert all(one[1] <= after[0] for one, after in pairwise(found))
    assert (found[0][0], found[-1][1]) == (min(at for at, _ in lines), max(at for at, _ in lines))
    assert all(any(opened <= at <= opened + START for at in starts) for opened, _, _ in found[1:])
    assert len(starts) <= len(found) <= len(starts) + 1
