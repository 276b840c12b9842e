"""Notebook 30 headless: files of a plan, tables, triage that says the same, and hardly any evidence."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from casebook.collect.collection import collect_case
from casebook.findings import tables
from casebook.machine import places
from casebook.runs import notebooks, runner

LEADERLESS, HEALTHY, BLOATED = "sample:leader_minus_one", "sample:healthy", "sample:offsets_bloat"
SEGMENTS = places.samples_dir() / "offsets_bloat" / "brokers" / "1" / "segments"


def findings(folder: Path) -> dict[str, dict]:
    """Findings of a run by check."""
    return {finding["check"]: finding for finding in json.loads((folder / "findings.json").read_text())["findings"]}


def rows(folder: Path, name: str) -> list[dict]:
    """A table of a run."""
    return pq.read_table(folder / "tables" / f"{name}.parquet").to_pylist()


class TestRuns:
    def test_without_parameters(self, run):
        """Every broker and pair is judged; nothing is drained, and no file is made up."""
        ran = run("broker_maintenance", HEALTHY)
        assert (ran.exit_code, (ran.folder / "plan").exists()) == (0, False)
        assert [row["brokers"] for row in rows(ran.folder, "restart_sets")] == [[1], [2], [3], [1, 2], [1, 3], [2, 3]]
        assert rows(ran.folder, "drain_plan") == []

    def test_a_drain(self, run):
        """The files say what the table says, forth and back, and the report offers them."""
        ran = run("broker_maintenance", LEADERLESS, drain="2", brokers="4,2+3")
        plan = json.loads((ran.folder / "plan" / "step-1.json").read_text())
        back = json.loads((ran.folder / "plan" / "step-1-rollback.json").read_text())
        moves = rows(ran.folder, "drain_plan")
        assert [(r["topic"], r["partition"], r["replicas"]) for r in plan["partitions"]] == [
            (r["topic"], r["partition"], r["to_replicas"]) for r in moves
        ]
        assert [r["replicas"] for r in back["partitions"]] == [r["from_replicas"] for r in moves]
        assert all(2 not in r["to_replicas"] and r["bytes"] is None for r in moves)
        commands = (ran.folder / "plan" / "commands.txt").read_text()
        assert "--zookeeper HOST:2181/kafka" in commands
        assert "--throttle" not in commands
        assert [2, 3] in [row["brokers"] for row in rows(ran.folder, "restart_sets")]
        assert 'download="step-1.json"' in (ran.folder / "report.html").read_text()

    def test_sizes_and_groups(self, run):
        """Segments name the groups. All loads of these logs were of next to nothing, so no time is told, and it is said why."""
        ran = run("broker_maintenance", BLOATED)
        alone = {row["brokers"][0]: row for row in rows(ran.folder, "restart_sets") if len(row["brokers"]) == 1}
        assert {broker: row["offsets_partitions"] for broker, row in alone.items()} == {1: 3, 2: 3}
        assert all(row["groups_without_coordinator"] > 0 for row in alone.values())
        assert {row["seconds_without_coordinator"] for row in alone.values()} == {None}
        assert all("no load with a known size" in row["why"] for row in alone.values())
        assert findings(ran.folder)["maintenance.coordinators"]["status"] == "could_not_check"
        assert (alone[1]["safe"], alone[2]["safe"]) == (False, True)

    def test_tables_are_documented(self, run):
        folder = run("broker_maintenance", LEADERLESS, drain="2", brokers="4,2+3").folder
        for name in ("restart_sets", "drain_plan", "leftovers"):
            assert list(rows(folder, name)[0]) == [column.name for column in tables.columns(name)]

    def test_triage_says_the_same(self, run):
        """What both ask is answered alike, and what is to be done about it comes of one plan."""
        own, short = (findings(run(stem, LEADERLESS).folder) for stem in ("broker_maintenance", "triage"))
        asked = [check for check in short if check.startswith("maintenance.")]
        assert asked == [
            "maintenance.unregistered_replicas",
            "maintenance.restart_one",
            "maintenance.unpreferred_leaders",
            "maintenance.unfinished_reassignments",
            "maintenance.unremoved_throttles",
        ]
        assert {c: own[c] for c in asked} == {c: short[c] for c in asked}

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [({"brokers": "9"}, "not registered"), ({"drain": "two"}, "not a list of broker ids"), ({"step": "9"}, "step=9")],
    )
    def test_what_cannot_be_meant(self, run, wrong, said):
        """It ends with the reason; nothing is guessed."""
        ran = run("broker_maintenance", HEALTHY, **wrong)
        assert (ran.failed, ran.exit_code) == (True, 3)
        assert said in (ran.folder / "report.html").read_text()


def test_hardly_any_evidence(tmp_path, runs_dir):
    """A case of one broker's log dir alone: nothing is called safe, and no step fails."""
    log_dir = tmp_path / "logs"
    shutil.copytree(SEGMENTS, log_dir)
    case = collect_case(tmp_path / "case", log_dirs=[(1, str(log_dir))])
    ran = runner.run(notebooks.find("30"), {"source": str(case), "drain": "1"}, runs_dir=runs_dir)
    assert not ran.failed, ran.title
    found = findings(ran.folder)
    open_ = [check.partition(".")[2] for check in found if check.startswith("maintenance.") and check != "maintenance.chosen"]
    assert len(open_) == 8
    assert {check: found[f"maintenance.{check}"]["status"] for check in open_} == dict.fromkeys(open_, "could_not_check")
