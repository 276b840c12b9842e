"""A copy of a case with a wrong clock is a whole case, and differs in nothing but the dates of that clock."""

from casebook.case.case import Case
from casebook.machine import places
from tests.shifted_logs import shifted


def test_shifted(tmp_path):
    """Two hours ahead on one broker; the others and everything undated stay."""
    sample = places.samples_dir() / "leader_minus_one"
    copy = shifted(sample, tmp_path / "copy", seconds={1: 7200, 2: -40.5})
    assert not Case.open(copy).damaged
    one, two, three = (f"brokers/{broker}/logs/state-change.log" for broker in (1, 2, 3))
    assert (sample / three).read_bytes() == (copy / three).read_bytes()
    before, after = ((folder / one).read_text().splitlines() for folder in (sample, copy))
    assert len(before) == len(after)
    assert [line[25:] for line in before] == [line[25:] for line in after]
    assert int(after[0][12:14]) == (int(before[0][12:14]) + 2) % 24
    assert (sample / two).read_text().splitlines()[0][:25] != (copy / two).read_text().splitlines()[0][:25]
