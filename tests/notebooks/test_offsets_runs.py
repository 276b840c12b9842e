"""Notebooks 40 and 50 with hardly any evidence, and with none: what they can say from it, and no more."""

import json
import shutil
from pathlib import Path

import pytest

from casebook.collect.collection import collect_case
from casebook.machine import places
from casebook.runs import notebooks, runner

BLOATED = places.samples_dir() / "offsets_bloat" / "brokers" / "1"
LOADING = places.samples_dir() / "coordinators_loading" / "brokers" / "1"
NOTEBOOKS = ("40_offsets_topic", "50_group_coordinators")
OWN = ("offsets_topic.", "coordinators.")


def findings(folder: Path) -> dict[str, dict]:
    """Findings of a run by check."""
    return {finding["check"]: finding for finding in json.loads((folder / "findings.json").read_text())["findings"]}


def results(folder: Path) -> dict[str, bytes]:
    """Findings and tables of a run as they were written."""
    return {path.name: path.read_bytes() for path in (folder / "findings.json", *folder.glob("tables/*"))}


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """One broker's log dir, listed where it is."""
    log_dir = tmp_path_factory.mktemp("kafka") / "logs"
    shutil.copytree(BLOATED / "segments", log_dir)
    return collect_case(tmp_path_factory.mktemp("cases") / "case", log_dirs=[(1, str(log_dir))])


@pytest.fixture(scope="module")
def ran(case, runs_dir):
    """What notebook 40 makes of it."""
    return runner.run(notebooks.find("40"), {"source": str(case)}, runs_dir=runs_dir)


class TestOneLogDir:
    """A case of nothing but one broker's log dir; its segments lie where they are."""

    def test_everything_that_stands_in_segments(self, ran):
        """What counts, what could go, who writes, what is damaged: all of it is told of what lies here, and what is bad is found.

        That all is well nobody may say: how many partitions the topic has, and so what lies elsewhere, is not known.
        """
        assert not ran.failed, ran.title
        found = findings(ran.folder)
        told = {
            check: found[f"offsets_topic.{check}"]
            for check in ("dead_weight", "writers", "open_transactions", "decoded", "damage")
        }
        assert {one["status"] for one in told.values()} == {"could_not_check"}
        assert all(one["title"].endswith(", as far as could be checked") for one in told.values())
        assert all("The partition count of __consumer_offsets is unknown." in one["why"] for one in told.values())
        assert found["offsets_topic.safe_segments"]["status"] == "finding"
        assert found["offsets_topic.replicated"]["status"] == "could_not_check"

    def test_same_again(self, case, ran, tmp_path):
        """Read by Spark once more, findings and tables have the same bytes."""
        shutil.rmtree(case / "derived")
        again = runner.run(notebooks.find("40"), {"source": str(case)}, runs_dir=tmp_path)
        assert results(again.folder) == results(ran.folder)


class TestOneBrokersLogs:
    """A case of nothing but one broker's logs."""

    def test_the_cleaners_death(self, run, tmp_path_factory):
        """Log-cleaner.log alone tells it: when, and by which segment."""
        case = collect_case(tmp_path_factory.mktemp("cases") / "case", logs={1: [BLOATED / "logs"]})
        ran = run("40", str(case))
        assert not ran.failed, ran.title
        dead = findings(ran.folder)["offsets_topic.compacted"]
        assert (dead["status"], dead["severity"], dead["facts"]["verdict"]) == ("finding", "critical", "C3")
        assert (dead["facts"]["died_on"], dead["facts"]["died_on_segment"]) == ("sessions-by-user-0", 0)

    def test_who_waits(self, run, tmp_path_factory):
        """Server.log alone tells which partitions are loaded and which one is being loaded; of sizes it knows nothing."""
        case = collect_case(tmp_path_factory.mktemp("cases") / "case", logs={1: [LOADING / "logs"]})
        ran = run("50", str(case))
        assert not ran.failed, ran.title
        expected = json.loads((places.samples_dir() / "coordinators_loading" / "expected.json").read_text())
        waiting = findings(ran.folder)["coordinators.waiting"]
        assert waiting["status"] == "finding"
        assert set(waiting["facts"]["partitions"]) <= set(expected["findings"]["coordinators.waiting"]["facts"]["partitions"])


@pytest.mark.parametrize("sample", ["healthy", "leader_minus_one"])
@pytest.mark.parametrize("stem", NOTEBOOKS)
def test_nobody_ever_committed(run, stem, sample):
    """There is no offsets topic: nothing is found wrong with it, and nobody is said to wait."""
    ran = run(stem, f"sample:{sample}")
    assert not ran.failed, ran.title
    found = {check: finding for check, finding in findings(ran.folder).items() if check.startswith(OWN)}
    assert [check for check, finding in found.items() if finding["status"] == "finding"] == []
    assert [check for check, finding in found.items() if finding["status"] == "could_not_check" and not finding["settle"]] == []
