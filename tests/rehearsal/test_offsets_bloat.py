"""The offsets topic really grows because the cleaner has really died, and what is deleted by hand is really lost."""

import json
from pathlib import Path

import pytest

from casebook.rehearsal import offsets_bloat as script
from casebook.storage import OFFSETS_TOPIC
from tests.rehearsal import plays


@pytest.fixture(scope="module")
def out() -> Path:
    """The play on 0.9.0.1."""
    return plays.offsets_bloat()


@pytest.fixture(scope="module")
def facts(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]


def cleaner_log(out: Path, broker: int) -> str:
    return (out / "during" / "brokers" / str(broker) / "logs" / "log-cleaner.log").read_text()


class TestCleaner:
    def test_it_died_of_another_topic(self, out, facts):
        """The death is told in the log of broker 1 alone, and names a segment of the other topic."""
        told = facts["offsets_topic"]["cleaner"]
        assert told["died"] in cleaner_log(out, 1)
        assert "sessions-by-user-0" in told["cause"]
        assert "Error due to" not in cleaner_log(out, 2)

    def test_only_one_copy_grew(self, facts):
        """Broker 2 compacted its copies of the very same partitions."""
        bloated, clean = (sum(sizes.values()) for sizes in facts["offsets_topic"]["sizes"].values())
        assert bloated > 3 * clean

    def test_a_larger_buffer_mends_it(self, facts):
        """The same answers from a log a fraction as large."""
        after = facts["after_cleaning"]
        assert sum(after["sizes"]["1"].values()) * 3 < sum(facts["offsets_topic"]["sizes"]["1"].values())
        assert after["answers"] == facts["offsets_topic"]["answers"]


class TestAnswers:
    def test_the_last_commit_of_each(self, facts):
        """As the script committed them."""
        answers = facts["offsets_topic"]["answers"]
        assert answers["invoice-writer"] == {"orders-0": 999 + script.STEPS, "orders-1": 1000 + script.STEPS}
        assert set(answers[script.SHORT_LIVED].values()) == {None}
        assert all(None not in answers[group].values() for group in script.COMMITTED.keys() - {script.SHORT_LIVED})

    def test_deleted_segments_cost_commits(self, facts):
        """Dead groups forget everything, the one that stopped falls back, those that go on notice nothing."""
        before, after = facts["offsets_topic"]["answers"], facts["after_deleting"]["answers"]
        assert len(facts["after_deleting"]["deleted"]) > 20
        assert None in {offset for group in script.DEAD for offset in after[group].values()}
        assert after[script.STOPPED] != before[script.STOPPED]
        assert after["invoice-writer"] == before["invoice-writer"]


def test_segments_are_in_the_case(out, facts):
    """Byte by byte as large as they were."""
    copied = out / "during" / "brokers" / "1" / "segments"
    sizes = {f"{OFFSETS_TOPIC}-{number}": 0 for _, number in script.OFFSETS}
    for segment in copied.rglob("*.log"):
        sizes[segment.parent.name] += segment.stat().st_size
    assert sizes == facts["offsets_topic"]["sizes"]["1"]


def test_a_damaged_segment_on_2_8():
    """There no thread dies: the one partition is marked uncleanable, and the others go on."""
    out = plays.offsets_bloat("2.8.2")
    log = cleaner_log(out, 1)
    assert "Marking its partition (__consumer_offsets-5) as uncleanable" in log
    assert "cleaned log __consumer_offsets-4" in log
