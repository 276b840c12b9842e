"""The offsets topic really grows because the cleaner has really died, and what is deleted by hand is really lost."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.questions.offsets_topic.scans import of_case, offsets_topic
from casebook.questions.offsets_topic.scans.deletions import deletions
from casebook.rehearsal.plays import offsets_bloat as script
from tests.rehearsal import plays

Answers = Mapping[str, Mapping[str, int | None]]


@pytest.fixture(scope="module")
def out() -> Path:
    """The play on 0.9.0.1."""
    return plays.offsets_bloat()


@pytest.fixture(scope="module")
def facts(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]


def cleaner_log(out: Path, broker: int) -> str:
    return plays.logged(out / "during", broker, "log-cleaner.log")


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


@pytest.fixture(scope="module")
def aggregated(out) -> Path:
    """The bloated broker's copies, read from the case by Spark."""
    case = Case.open(out / "during")
    disks = [log_dir for log_dir in case.log_dirs() if log_dir.broker == script.BLOATED]
    return of_case.aggregate(case, [copy for disk in disks for copy in disk.replicas if copy.topic == OFFSETS_TOPIC])


@pytest.fixture(scope="module")
def scanned(aggregated):
    """What stands in them."""
    return offsets_topic.read(aggregated)


def price(before: Answers, after: Answers) -> dict[str, tuple[int, int, int]]:
    """By group that is answered otherwise: commits lost, commits that fell back, records that are consumed again."""
    found = {}
    for group, offsets in before.items():
        had = {partition: offset for partition, offset in offsets.items() if offset is not None}
        has = {partition: after[group][partition] for partition in had}
        back = [had[partition] - offset for partition, offset in has.items() if offset not in (None, had[partition])]
        found[group] = (list(has.values()).count(None), len(back), sum(back))
    return {group: cost for group, cost in found.items() if any(cost)}


class TestWhatIf:
    """What the scan of the case says of deletions, against a broker that really starts without the segments."""

    def test_chosen_by_hand(self, aggregated, scanned, facts):
        """Group by group: how many commits are lost, how many fall back, and by how many records."""
        done = facts["after_deleting"]
        places = [
            (script.BLOATED, int(folder.rpartition("-")[2]), int(name[:20])) for folder, _, name in map(_parts, done["deleted"])
        ]
        told = deletions(aggregated, {"by hand": places}, scanned.segments)
        losses = {loss.group: loss for one in told for loss in one.by_group}
        before, after = facts["offsets_topic"]["answers"], done["answers"]
        costs = {group: (loss.lost, loss.fell_back, loss.again) for group, loss in losses.items() if loss.lost or loss.fell_back}
        assert costs == price(before, after)
        assert sum(one.groups_emptied for one in told) == sum(
            set(after[group].values()) == {None} != set(offsets.values()) for group, offsets in before.items()
        )
        assert {group for group, loss in losses.items() if loss.revived} <= {script.SHORT_LIVED}  # and expire again

    def test_provably_safe(self, out, scanned, facts):
        """All of them deleted: more than half of the topic, and not one answer is another."""
        safe = [segment for segment in scanned.segments if segment.safe_to_do_without]
        assert sum(segment.bytes for segment in safe) > sum(segment.bytes for segment in scanned.segments) / 2
        deleted = [f"{OFFSETS_TOPIC}-{segment.partition}/{segment.base_offset:020}.log" for segment in safe]
        assert script.answers_without(deleted, memory=plays.memory(out)) == facts["offsets_topic"]["answers"]


def _parts(segment: str) -> tuple[str, str, str]:
    return segment.partition("/")


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
    copies = plays.evidence(out / "during").offsets_topic.partitions
    assert [(copy.broker, copy.partition) for copy in copies if copy.rule == "C4"] == [(1, 5)]
