"""Releases and what changed between them."""

import pytest

from casebook.kafka import defaults, releases
from casebook.kafka.releases import Changed, KafkaVersion


class TestKafkaVersion:
    def test_order(self):
        """Releases are ordered as they came."""
        texts = ["0.8.2.2", "0.9.0.1", "0.10.0.0", "0.10.2.2", "0.11.0.0", "1.0.2", "2.8.2", "3.10.0"]
        assert [str(v) for v in sorted(map(KafkaVersion.parse, reversed(texts)))] == texts

    @pytest.mark.parametrize(
        ("short", "full"), [("2.8", "2.8.0"), ("0.11", "0.11.0.0"), ("2.7-IV2", "2.7.0"), ("0.9.0", "0.9.0.0")]
    )
    def test_short(self, short, full):
        """A line's name is its first release: 2.3 already removes the dead at a failover, 0.11 is not unclean by default."""
        assert KafkaVersion.parse(short) == KafkaVersion.parse(full)

    @pytest.mark.parametrize("text", ["", "2", "x.y", "2.8.2.1.1", "7.0.1-ccs", "2.8 2", "9" * 5000])
    def test_none(self, text):
        """What is no release is refused; Confluent counts otherwise."""
        with pytest.raises(ValueError):
            KafkaVersion.parse(text)

    @pytest.mark.parametrize(
        ("release", "value"), [("0.8.0", "true"), ("0.10.2.2", "true"), ("0.11", "false"), ("3.9.2", "false")]
    )
    def test_unclean_default(self, release, value):
        """Unclean election is on by default up to 0.10.2."""
        assert defaults.DEFAULTS["unclean.leader.election.enable"].at(KafkaVersion.parse(release)) == value

    @pytest.mark.parametrize(
        "change", [value for module in (releases, defaults) for value in vars(module).values() if isinstance(value, Changed)]
    )
    def test_changes_are_in_order_and_sourced(self, change):
        """Every change has a source at a tag, and its values come oldest first."""
        since = [KafkaVersion.parse(text) for text, _ in change.values]
        assert since == sorted(since)
        assert "@" in change.source
