"""Parameters to a set of segments and back."""

import pytest

from casebook.errors import UsageError
from casebook.questions.offsets_topic.analysis import deletion
from casebook.questions.offsets_topic.analysis.deletion_choice import SegmentChoice, instant, middle, parse
from tests.questions.offsets_topic.test_offsets_topic import SEGMENTS


@pytest.mark.parametrize("given", [{"delete": "nothing"}, {"delete": "safe"}, {"delete": "all_but_active"}, {"delete": "0,10"},
                                   {"delete_before": "2026-06-01T12:00:00Z"}, {"delete_below": "20"}])  # fmt: skip
def test_there_and_back(given):
    """What a panel prints is what a parameter takes."""

    def parsed(said):
        below = said.get("delete_below", "")
        return parse(said.get("delete", "safe"), said.get("delete_before", ""), SEGMENTS, delete_below=below)

    choice = parsed(given)
    assert parsed(choice.parameters()) == choice
    assert choice.name in choice.tried(SEGMENTS)


@pytest.mark.parametrize("given", ["", "7", "0,7", "all", "-1", "0;10"])
def test_no_such_segment(given):
    """A name that is none of the sets must be segments that are there."""
    with pytest.raises(UsageError, match="is not a segment"):
        parse(given, "", SEGMENTS)


@pytest.mark.parametrize("given", ["yesterday", "2026-13-01", "1"])
def test_no_time(given):
    """Neither is it guessed what somebody meant by a date."""
    with pytest.raises(UsageError, match="is not a time"):
        parse("safe", given, SEGMENTS)


@pytest.mark.parametrize("given", ["ten", "-1", "1.5", "1e3", "٣"])
def test_no_offset(given):
    """A wrong one is refused, not taken for another."""
    with pytest.raises(UsageError, match="is not an offset"):
        parse("safe", "", SEGMENTS, delete_below=given)


def test_a_time_or_an_offset():
    """Which of them counts is nobody's guess."""
    with pytest.raises(UsageError, match="Both"):
        parse("safe", "2026-06-01T12:00:00Z", SEGMENTS, delete_below="20")


def test_below_takes_whole_segments_only():
    """One that begins below and ends above stays; the active one always does."""

    def gone(below):
        return [base for _, _, base in SegmentChoice(name=deletion.BELOW, below=below).tried(SEGMENTS)[deletion.BELOW]]

    assert [gone(below) for below in (0, 9, 10, 19, 20, 10_000)] == [[], [], [0], [0], [0, 10], [0, 10]]


def test_a_time_without_zone_is_utc():
    """As everywhere."""
    assert instant("2026-06-01T00:00:00") == instant("2026-06-01T00:00:00Z") == instant("2026-06-01T02:00:00+02:00")


def test_the_first_offer_halves_the_closed_segments():
    """An active segment has no say; without times there is nothing to offer."""
    assert middle(SEGMENTS) in {segment.last_time for segment in SEGMENTS[:-1]}
    assert middle([segment._replace(last_time=None) for segment in SEGMENTS]) is None
    assert deletion.OLDER not in SegmentChoice().tried([segment._replace(last_time=None) for segment in SEGMENTS])
