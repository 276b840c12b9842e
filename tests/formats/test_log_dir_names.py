"""What the names in a log dir mean."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.formats.broker import log_dir_names
from casebook.formats.broker.log_dir_names import PartitionFolder, SegmentName

UNIQUE = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("orders-0", PartitionFolder("orders", 0)),
        ("my-topic-12", PartitionFolder("my-topic", 12)),
        ("a.b-1-delete-3", PartitionFolder("a.b-1-delete", 3)),
        (f"orders-0.{UNIQUE}-delete", PartitionFolder("orders", 0, "-delete")),
        (f"my-topic-12.{UNIQUE}-future", PartitionFolder("my-topic", 12, "-future")),
        (f"a.b-1.{UNIQUE}-stray", PartitionFolder("a.b", 1, "-stray")),
        (f"{'x' * 213}-0.{UNIQUE}-delete", PartitionFolder("x" * 213, 0, "-delete", True)),
        ("orders-0-stray", PartitionFolder("orders", 0, "-stray")),
        ("orders-0-delete", PartitionFolder("orders", 0, "-delete")),
        ("orders-stray", None),
        ("orders-01", None),
        ("orders", None),
        ("-1", None),
        ("lost+found", None),
    ],
)
def test_folder(name, folder):
    """Topic, partition and what has been set aside; a name of full length may have lost the end of its topic."""
    assert log_dir_names.folder(name) == folder


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("00000000000000000141.log", SegmentName(141, ".log")),
        ("00000000000000000141.log.deleted", SegmentName(141, ".log.deleted", ".deleted")),
        ("00000000000000000141.index.swap", SegmentName(141, ".index.swap", ".swap")),
        ("00000000000000000141.log.cleaned", SegmentName(141, ".log.cleaned", ".cleaned")),
        ("00000000000000000141.snapshot", SegmentName(141, ".snapshot")),
        ("99999999999999999999.log", None),
        ("leader-epoch-checkpoint", None),
        (".lock", None),
    ],
)
def test_file(name, file):
    """Base offset and suffix, and whether it is in use."""
    assert log_dir_names.file(name) == file


@settings(deadline=None)
@given(st.text())
def test_any_name(name):
    """Nothing raises."""
    log_dir_names.folder(name)
    log_dir_names.file(name)
