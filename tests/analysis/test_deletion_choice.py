"""Parameters to a set of segments and back."""

import pytest

from casebook.analysis import deletion
from casebook.analysis.deletion_choice import Choice, instant, middle, parse
from casebook.errors import UsageError
from tests.analysis.test_offsets_topic import SEGMENTS


@pytest.mark.parametrize("given", [{"delete": "nothing"}, {"delete": "safe"}, {"delete": "all_but_active"}, {"delete": "0,10"},
                                   {"delete_before": "2026-06-01T12:00:00Z"}])  # fmt: skip
def test_there_and_back(given):
    """What a panel prints is what a parameter takes."""
    choice = parse(given.get("delete", "safe"), given.get("delete_before", ""), SEGMENTS)
    said = choice.parameters()
    assert parse(said.get("delete", "safe"), said.get("delete_before", ""), SEGMENTS) == choice
    assert choice.name in choice.tried(SEGMENTS)


@pytest.mark.parametrize("given", ["", "7", "0,7", "all", "-1", "0;10"])
def test_no_such_segment(given):
    """A name that is none of the sets must be segments that are there."""
    with pytest.raises(UsageError, match="is no segment"):
        parse(given, "", SEGMENTS)


@pytest.mark.parametrize("given", ["yesterday", "2026-13-01", "1"])
def test_no_time(given):
    """Neither is it guessed what somebody meant by a date."""
    with pytest.raises(UsageError, match="is no time"):
        parse("safe", given, SEGMENTS)


def test_a_time_without_zone_is_utc():
    """As everywhere."""
    assert instant("2026-06-01T00:00:00") == instant("2026-06-01T00:00:00Z") == instant("2026-06-01T02:00:00+02:00")


def test_the_first_offer_halves_the_closed_segments():
    """An active segment has no say; without times there is nothing to offer."""
    assert middle(SEGMENTS) in {segment.last_time for segment in SEGMENTS[:-1]}
    assert middle([segment._replace(last_time=None) for segment in SEGMENTS]) is None
    assert deletion.OLDER not in Choice().tried([segment._replace(last_time=None) for segment in SEGMENTS])
