"""Numbers and times as people read them."""

import pytest

from casebook.findings import words


class TestCounts:
    @pytest.mark.parametrize(
        ("value", "said"), [(None, "?"), (0, "0"), (999, "999"), (2101, "2\u202f101"), (1234567, "1\u202f234\u202f567")]
    )
    def test_thousands(self, value, said):
        """Narrow spaces at the thousands; unknown is not 0."""
        assert words.count(value) == said

    @pytest.mark.parametrize(("value", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows")])
    def test_plural(self, value, said):
        assert words.plural(value, "row") == said

    def test_some(self):
        """What is left out is counted."""
        assert words.some(["a", "b", "c", "d"], 2) == "a; b; and 2 more"
        assert words.some(["a"], 2) == "a"


class TestTimes:
    @pytest.mark.parametrize("instant", ["2026-11-20T03:06:58Z", "2026-11-20T04:06:58+01:00", 1795144018000])
    def test_one_instant(self, instant):
        """Whatever zone it was written in, it is told in UTC."""
        assert words.date(instant) == "20 Nov 2026, 03:06:58 UTC"
        assert words.clock(instant) == "03:06:58"
        assert words.when(instant) == "20 Nov, 03:06"
        assert words.when(instant, year=True) == "20 Nov 2026, 03:06"

    @pytest.mark.parametrize("instant", [None, "", "yesterday", 10**30, -(10**30)])
    def test_unknown(self, instant):
        """An instant that nobody can read is unknown, and no error."""
        assert words.date(instant) == "unknown"
        assert words.clock(instant) == words.when(instant) == words.day(instant) == "?"
