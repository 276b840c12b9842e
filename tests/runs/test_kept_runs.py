"""Earlier runs, read from a folder in which anything may lie."""

import json

import pytest

from casebook.runs import kept_runs, notebooks, runner


@pytest.fixture(scope="module")
def kept(run):
    """A run of the scheduled report."""
    return run("scheduled_report", "sample:healthy").folder


@pytest.fixture
def runs(kept, tmp_path):
    """A folder with that run alone."""
    (tmp_path / kept.name).symlink_to(kept)
    return tmp_path


def test_what_a_run_leaves_behind(runs, kept):
    """Answers, measures, identity, and how often states were written."""
    (one,) = kept_runs.read(runs)
    findings = json.loads((kept / "findings.json").read_text())["findings"]
    assert one.outcomes.keys() == {finding["check"] for finding in findings}
    assert one.measured("partitions") == len(one.written())
    assert one.cluster.source == "sample:healthy"


@pytest.mark.parametrize("damage", ["no folder", "empty", "no findings", "torn record", "other record", "torn table", "no table"])
def test_what_cannot_be_read_is_no_run(runs, kept, tmp_path, damage):
    """And breaks nothing."""
    strange = tmp_path / "2026-01-01T00-00-00_90_scheduled_report_abcd"
    if damage != "no folder":
        (strange / "tables").mkdir(parents=True)
    if damage not in ("no folder", "empty"):
        for name in ("run.json", "findings.json", "tables/measures.parquet"):
            (strange / name).write_bytes((kept / name).read_bytes())
    {
        "no findings": lambda: (strange / "findings.json").unlink(),
        "torn record": lambda: (strange / "run.json").write_text("{"),
        "other record": lambda: (strange / "run.json").write_text("[1]"),
        "torn table": lambda: (strange / "tables" / "measures.parquet").write_bytes(b"PAR1"),
        "no table": lambda: (strange / "tables" / "measures.parquet").unlink(),
    }.get(damage, lambda: None)()
    assert [one.name for one in kept_runs.read(runs)] == [kept.name]


def test_a_run_that_failed_is_known_as_such(runs, tmp_path):
    """With its reason: the next one says it."""
    ran = runner.run(notebooks.find("scheduled_report"), {"source": "sample:healthy", "kafka_version": "nine"}, runs_dir=tmp_path)
    assert [one.failed is None for one in kept_runs.read(tmp_path)].count(False) == 1
    (failed,) = [one for one in kept_runs.read(tmp_path) if one.failed]
    assert failed.failed == ran.title
    assert failed.cluster.source == "sample:healthy"


def test_no_folder_of_runs(tmp_path):
    """The first run of all."""
    assert kept_runs.read(tmp_path / "none") == ()
