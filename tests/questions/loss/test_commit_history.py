"""What is odd about a commit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.findings.finding import Severity, Status
from casebook.questions.loss.analysis.commit_history import CommitMove, commits_backwards, kind, steps
from casebook.questions.loss.analysis.unprocessed_rows import StepKind

ON = CommitMove("mailing", "orders", 0, 100, 110, 1_000, 2_000, True, False, 3, 17, 0)
BACK = ON._replace(offset=40)


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        (ON, None),
        (ON._replace(offset=100), None),
        (ON._replace(members=None), None),
        (ON._replace(members=False), StepKind.RESET),
        (BACK._replace(members=False), StepKind.RESET),
        (ON._replace(offset=100, members=False), None),
        (ON._replace(forgotten=True), StepKind.AGAIN),
        (BACK, StepKind.BACK),
        (BACK._replace(offset=0), StepKind.TO_START),
        (BACK._replace(offset=30), StepKind.TO_START),
        (BACK._replace(at=999), StepKind.STALE),
        (ON._replace(at=999), StepKind.LATE),
        (ON._replace(at=None), None),
    ],
)
def test_kinds(move, expected):
    """Where the log begins at 30, and the coordinator stays."""
    assert kind(move, begin=30, moved=False) is expected


@given(st.integers(0, 3_000), st.booleans())
def test_old_offsets_survive_a_change_of_coordinator(moved_at, own):
    """A commit that goes back is stale when its coordinator changed between it and the one before it."""
    (row,) = steps([BACK], log_starts={}, coordinator_moves={3 if own else 4: [moved_at]})
    assert row.kind is (StepKind.STALE if own and 1_000 <= moved_at <= 2_000 else StepKind.BACK)
    assert (row.before, row.offset, row.log_partition, row.source_offset) == (100, 40, 3, 17)


@pytest.mark.parametrize(
    ("moves", "groups", "status", "severity"),
    [
        ((), 0, Status.COULD_NOT_CHECK, None),
        ((ON,), 1, Status.OK, None),
        ((BACK,), 1, Status.FINDING, Severity.INFO),
        ((BACK._replace(at=999),), 1, Status.FINDING, Severity.WARNING),
        ((ON._replace(members=False),), 1, Status.FINDING, Severity.WARNING),
    ],
)
def test_outcomes(moves, groups, status, severity):
    """What repeats work is told; what may lose it is a warning."""
    rows = steps(moves, log_starts={}, coordinator_moves={})
    found = commits_backwards(rows, total=len(rows), groups=groups)
    assert (found.status, found.severity) == (status, severity)


def test_many_are_not_judged_in_silence():
    """Those beyond the first are counted."""
    found = commits_backwards(steps([BACK], log_starts={}, coordinator_moves={}), total=7, groups=1)
    assert "Of 7 such commits, the first 1 were judged." in found.caveats
