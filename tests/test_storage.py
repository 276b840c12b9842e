"""Log dirs as they are taken: of a broker's own times, and of those of a copy."""

import os
import shutil
from pathlib import Path

import pytest

from casebook.collect.files import folders, inventory
from casebook.facts.disks import CLEANER_CHECKPOINT, LogDir

BEGUN = 1_700_000_000


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A log dir whose files a broker wrote in its own time: segments over hours, a checkpoint each few seconds."""
    for number in range(3):
        folder = tmp_path / "data" / f"t-{number}"
        folder.mkdir(parents=True)
        segment = folder / "00000000000000000000.log"
        segment.write_bytes(b"x")
        os.utime(segment, (BEGUN, BEGUN + 3600 * number))
    for name in (CLEANER_CHECKPOINT, "replication-offset-checkpoint"):
        (tmp_path / "data" / name).write_text("0\n0\n")
        os.utime(tmp_path / "data" / name, (BEGUN, BEGUN + 7205))
    return tmp_path / "data"


def observed(data: Path) -> LogDir:
    listed = inventory.examine(folders.files_of(str(data)), str(data), broker=1, listed_at=(BEGUN + 7206) * 1000)
    return listed.observed()


def times(log_dir: LogDir) -> set[int | None]:
    return {segment.modified for copy in log_dir.replicas for segment in copy.segments} | set(log_dir.checkpoints.values())


def test_a_broker_writes_its_files_one_after_the_other(data: Path):
    found = observed(data)
    assert len(times(found)) == 4
    assert found.listed_at == (BEGUN + 7206) * 1000


def test_a_copy_that_kept_the_times_is_as_good(data: Path, tmp_path: Path):
    assert times(observed(Path(shutil.copytree(data, tmp_path / "kept")))) == times(observed(data))


def test_a_checkout_tells_no_times(data: Path, tmp_path: Path):
    """As one of git: each file is written anew. What is in them stands."""
    found = observed(Path(shutil.copytree(data, tmp_path / "copied", copy_function=shutil.copyfile)))
    assert (times(found), found.listed_at) == ({None}, None)
    assert len(found.replicas) == 3
    assert found.knows_cleaned


def test_few_files_tell_nothing_of_a_copy(data: Path):
    """Of a broker that has just started, and holds a single partition, all may be of one second."""
    for number in (1, 2):
        shutil.rmtree(data / f"t-{number}")
    os.utime(data / "t-0" / "00000000000000000000.log", (BEGUN, BEGUN + 7205))
    assert times(observed(data)) == {(BEGUN + 7205) * 1000}
