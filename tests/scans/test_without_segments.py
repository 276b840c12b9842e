"""Segments that a case tells of and that are no longer there: what is said instead of an answer."""

import shutil
from pathlib import Path

import pytest

from casebook.collect.files import folders, inventory
from casebook.errors import ScanError
from casebook.findings.finding import Status
from casebook.machine import places
from casebook.questions.loss.scans.replicas import compare
from casebook.spark import segments, watched
from casebook.spark.kept import kept
from tests.rehearsal import plays

SAMPLE = places.samples_dir() / "commit_before_processing"


@pytest.fixture(scope="module")
def emptied(tmp_path_factory) -> Path:
    """A case whose folders of partitions have lost their segments since it was made."""
    case = tmp_path_factory.mktemp("emptied") / "case"
    shutil.copytree(SAMPLE, case, ignore=shutil.ignore_patterns("*.log", "derived"))
    return case


def test_lost_records(emptied, spark):
    """Could not check, and what is not here; nothing is called lost."""
    found = plays.losses(emptied, compare=False).examined
    (lost,) = (finding for finding in found.findings if finding.check == "loss.lost")
    assert lost.status is Status.COULD_NOT_CHECK
    assert "The case has no segment of the ledger's topics." in str(lost)
    assert found.lost_total is None


def test_consumers(emptied, spark):
    """The same of what groups committed and did not process."""
    (unprocessed, backwards) = plays.consumed(emptied).findings
    assert unprocessed.status is Status.COULD_NOT_CHECK
    assert "no partition has both commits and records" in unprocessed.title
    assert backwards.status is not Status.FINDING


def test_offsets_topic(emptied, spark):
    """Which copy is not here, and where it was."""
    error = plays.evidence(emptied, scan=True).aggregate
    assert isinstance(error, ScanError)
    assert error.what.startswith("The segments of __consumer_offsets-")


@pytest.fixture
def log_dirs(tmp_path):
    """Of brokers 1 to 3: with segments, without any, and with some that go as soon as they are listed."""
    for broker in (1, 2, 3):
        folder = tmp_path / str(broker) / "orders-0"
        shutil.copytree(SAMPLE / "brokers" / "1" / "segments" / "orders-0", folder)
    shutil.rmtree(tmp_path / "2" / "orders-0")
    (tmp_path / "2" / "orders-0").mkdir()
    listed = [
        inventory.examine(folders.files_of(str(place)), str(place), broker=int(place.name), listed_at=0)
        for place in sorted(tmp_path.iterdir())
    ]
    for segment in (tmp_path / "3" / "orders-0").glob("*.log"):
        segment.unlink()
    return listed


def test_copies(scanning, log_dirs):
    """A copy without segments is an empty one; one that has lost them is none."""
    found = compare(scanning, log_dirs)
    assert {copy.broker: copy.end > 0 for copy in found.copies} == {1: True, 2: False}
    empty = compare(scanning, log_dirs[1:2])
    assert [(copy.broker, copy.start, copy.end) for copy in empty.copies] == [(2, 0, 0)]
    assert empty.runs == ()


def test_every_scan(scanning, tmp_path):
    """Also where only Spark can look whether segments are there: an error of ours, with what to try."""
    (tmp_path / "log-dir" / "orders-0").mkdir(parents=True)
    frame = segments(scanning, tmp_path / "log-dir")
    for read in (
        lambda: watched(scanning, frame.count, what="a test"),
        lambda: kept(scanning, tmp_path / "derived" / "rows", lambda: frame),
    ):
        with pytest.raises(ScanError) as caught:
            read()
        assert caught.value.what == "No segment is where the scan looked."
        assert "It found nothing." in caught.value.cause
        assert "collect it again" in caught.value.try_
