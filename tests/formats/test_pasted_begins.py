"""Text that lacks its first letters, or is a string within a line: as whole as it was printed."""

import json

import pytest

from casebook.collect.pasted import told
from casebook.formats.pasted import paste

_DIRS = [{"logDir": f"/kb/d{at}", "error": None, "partitions": []} for at in range(2)]
_PRINTED = {"version": 1, "brokers": [{"broker": 4, "logDirs": _DIRS}]}


@pytest.mark.parametrize("first", [0, 1, 4])
def test_log_dirs_without_the_first_lines_of_their_json_are_of_their_broker(first: int) -> None:
    """Indented JSON has the outer brace, and those of the first broker, on lines of their own."""
    lines = json.dumps(_PRINTED, indent=1).split("\n")
    found = " ".join(told.remarks(paste.read(lines[first:])))
    assert "asked of broker 4 (/kb/d0, /kb/d1)" in found and "error null of 2 log dirs" in found


def test_a_section_of_a_brokers_file_names_no_host() -> None:
    """A person's heading has the name of a host, which is not framed as Kafka frames the sections of its files."""
    frame = "#" * 29
    lines = [f"{frame} Server Basics {frame}", "broker.id=2", "log.dirs=/kb/d0", "num.partitions=3"]
    assert paste.read(lines).heading(2) == ""


def test_an_output_in_a_string_of_json_has_its_unit() -> None:
    """The first line of the output begins behind the name of the member."""
    printed = "kb.service - KB\n   Loaded: loaded (/etc/kb.service; enabled)\n   Active: failed (Result: exit-code)"
    (said,) = paste.read([f"failed: [kb1] => {json.dumps({'rc': 3, 'stdout': printed})}"]).hosts
    assert said.facts["unit"] == "kb.service" and "enabled at boot" in said.text
