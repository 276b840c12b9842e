"""Durations, and the commands that a page shows."""

import pytest

from casebook.page import text


class TestDurations:
    @pytest.mark.parametrize(
        ("seconds", "said"), [(8.9, "9 s"), (128, "2 min 8 s"), (11100, "3 h 5 min"), (171 * 86400 + 7200, "171 days 2 h")]
    )
    def test_duration(self, seconds, said):
        assert text.duration(1000 * seconds).replace("\u202f", " ") == said

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
