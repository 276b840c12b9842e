"""The shipped cases are small, whole, and tell nothing of the machine that made them."""

import json

import pytest

from casebook.case.case import Case
from casebook.case.folder import DERIVED
from casebook.errors import RehearsalError
from casebook.machine import places
from casebook.rehearsal.samples import SAMPLES, make_sample

MEGABYTE = 1_000_000


def files(name):
    """What travels with the repository: results of scans do not."""
    folder = places.samples_dir() / name
    return [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] != DERIVED]


@pytest.mark.parametrize("name", SAMPLES)
class TestShippedSamples:
    def test_whole(self, name):
        """A case like any other."""
        Case.open(places.samples_dir() / name)

    def test_small(self, name):
        """It travels with the repository."""
        assert sum(path.stat().st_size for path in files(name)) < MEGABYTE

    def test_anonymous(self, name):
        """Neither the checkout, nor a home folder, nor the settings of the maker's Java."""
        tells = [str(places.checkout()).encode(), b"/ro" + b"ot/", b"/home/", b"user.dir", b"java.class.path"]
        assert [(path.name, tell) for path in files(name) for tell in tells if tell in path.read_bytes()] == []

    def test_expectations_say_where_they_come_from(self, name):
        """What was done is told up to the moment of the capture."""
        expected = json.loads((places.samples_dir() / name / "expected.json").read_text())
        assert expected["actions"][-1]["did"].startswith("Capture")
        assert expected["kafka"] == "0.9.0.1"


def test_unknown_sample():
    """The error names those that exist."""
    with pytest.raises(RehearsalError, match="leader_minus_one"):
        make_sample("leader_minus_two")
