"""Numbers, times and names as people read them."""

import pytest

from casebook.page import text


class TestCounts:
    @pytest.mark.parametrize(
        ("value", "said"), [(None, "?"), (0, "0"), (999, "999"), (2101, "2\u202f101"), (1234567, "1\u202f234\u202f567")]
    )
    def test_thousands(self, value, said):
        """Narrow spaces at the thousands; unknown is not 0."""
        assert text.count(value) == said

    @pytest.mark.parametrize(("value", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows")])
    def test_plural(self, value, said):
        assert text.plural(value, "row") == said

    def test_some(self):
        """What is left out is counted."""
        assert text.some(["a", "b", "c", "d"], 2) == "a; b; and 2 more"
        assert text.some(["a"], 2) == "a"


class TestTimes:
    @pytest.mark.parametrize("instant", ["2026-11-20T03:06:58Z", "2026-11-20T04:06:58+01:00", 1795144018000])
    def test_one_instant(self, instant):
        """Whatever zone it was written in, it is told in UTC."""
        assert text.moment(instant) == "20 Nov 2026, 03:06:58 UTC"
        assert text.clock(instant) == "03:06:58"
        assert text.when(instant) == "20 Nov, 03:06"
        assert text.when(instant, year=True) == "20 Nov 2026, 03:06"

    @pytest.mark.parametrize("instant", [None, "", "yesterday", 10**30, -(10**30)])
    def test_unknown(self, instant):
        """An instant that nobody can read is unknown, and no error."""
        assert text.moment(instant) == "unknown"
        assert text.clock(instant) == text.when(instant) == text.day(instant) == "?"

    @pytest.mark.parametrize(
        ("seconds", "said"), [(8.9, "9 s"), (128, "2 min 8 s"), (11100, "3 h 5 min"), (171 * 86400 + 7200, "171 days 2 h")]
    )
    def test_duration(self, seconds, said):
        assert text.duration(seconds).replace("\u202f", " ") == said

    def test_elapsed(self):
        """A clock that runs ahead makes no negative time."""
        assert text.elapsed("2026-11-20T02:58:40Z", "2026-11-20T03:06:40Z").replace("\u202f", " ") == "8 min 0 s"
        assert text.elapsed("2026-11-20T03:00:00Z", "2026-11-20T02:00:00Z").replace("\u202f", " ") == "0 ms"
        assert text.elapsed(None, "2026-11-20T02:00:00Z") == "?"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("casebook run broker_maintenance -p drain=2", "casebook run broker_maintenance --source 'my case' -p drain=2"),
        ("casebook run offsets_topic", "casebook run offsets_topic --source 'my case'"),
        ("casebook run 40 --source x", "casebook run 40 --source x"),
        ("bin/kafka-topics.sh --describe", "bin/kafka-topics.sh --describe"),
    ],
)
def test_a_command_on_its_source(said, shown):
    """Only those that run a notebook and do not say on what."""
    assert text.on_source(said, source="my case") == shown
    assert text.on_source(said, source="") == said
