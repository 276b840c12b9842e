"""What a group processed stands in its application's logs, several to a folder: it is told as from a ledger."""

import json

import pytest

from casebook.findings.finding import Status
from casebook.machine import places
from tests.rehearsal import plays

SAMPLE = places.samples_dir() / "commit_before_processing"
GROUP = "billing"
PATTERN = r"^(?P<time>\S+) INFO done (?P<id>\S+) of (?P<topic>\S+)-(?P<partition>\d+) at (?P<offset>\d+)"


@pytest.fixture
def logs(tmp_path):
    """The group's ledger as two logs, with other lines between, and a file beside them that is none."""
    told = [json.loads(line) for line in (SAMPLE / "clients" / GROUP / "ledgers" / "processed.jsonl").read_text().splitlines()]
    lines = [f"{row['at']} INFO done {row['id']} of {row['topic']}-{row['partition']} at {row['offset']}\n" for row in told]
    half = len(lines) // 2
    (tmp_path / "app.log.1").write_text("".join(lines[:half]))
    (tmp_path / "app.log").write_text("starting\n" + "".join(lines[half:]) + "stopping\n")
    (tmp_path / "app.pid").write_text("4711\n")
    return tmp_path


def test_as_from_a_ledger(logs, spark):
    """The same records, passed by in the same way; lines of something else are none of it."""

    def of_group(found):
        return sorted((row.id, row.how) for row in found.first if row.group == GROUP)

    found = plays.consumed(SAMPLE, processed=str(logs), group=GROUP, processed_pattern=PATTERN)
    assert of_group(found) == of_group(plays.consumed(SAMPLE)) != []


def test_cut_within_a_line(tmp_path, spark):
    """What came after it was not copied: of no record is it sure that it was never processed."""
    ledger = (SAMPLE / "clients" / GROUP / "ledgers" / "processed.jsonl").read_bytes()
    (tmp_path / "processed.jsonl").write_bytes(ledger[: len(ledger) // 2])
    (told, _) = plays.consumed(SAMPLE, processed=str(tmp_path / "processed.jsonl"), group=GROUP).findings
    assert (told.status, told.facts["unprocessed"]) == (Status.COULD_NOT_CHECK, 0)
    assert "could not be judged" in told.title
