"""At 3 in the morning: a full disk, a ZooKeeper that is away, a place that takes nothing. No half report, and the reason is told."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.machine import places
from casebook.rehearsal.servers.processes import Guarded
from tests.collect.small_zookeeper import ZooKeeper
from tests.schedules import commands
from tests.schedules.commands import casebook, told

TRIAGE = ("run", "10_triage", "--source", "sample:leader_minus_one")
FULL = "No space left on device"


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of 300 KiB: an executed notebook with its report does not fit."""
    folder = tmp_path_factory.mktemp("disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


def filled(disk: Path) -> Path:
    """Fill what is left of a disk; returns what fills it."""
    filler = disk / "others"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 1024):
                pass
        except OSError:
            pass
    return filler


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the report of a good run was published."""
    place = tmp_path_factory.mktemp("published")
    done = casebook(*TRIAGE, "--runs", tmp_path_factory.mktemp("runs"), "--publish", place)
    assert done.returncode == 2, done.stderr
    return place


class TestFullDisk:
    """In this order: a disk too small for the run, one without room for a byte, and one that was mended."""

    def test_too_small(self, disk: Path, place: Path):
        """The run is kept as far as it fits: what it was and why it failed; the good report stays published."""
        good = (place / "report.html").read_bytes()
        done = casebook(*TRIAGE, "--runs", disk / "runs", "--publish", place)
        assert done.returncode == 3
        assert FULL in done.stderr
        assert "Traceback" not in done.stderr
        [run] = commands.runs_in(disk / "runs")
        assert {path.name for path in run.iterdir()} == {"run.json", "summary.json"}
        assert FULL in told(run, "summary.json")["verdict"]
        assert (place / "report.html").read_bytes() == good
        summary = told(place, "summary.json")
        assert (summary["completed"], summary["run"]) == (False, run.name)
        assert FULL in summary["error"]
        assert summary["report"]["age_seconds"] >= 0

    def test_not_a_byte(self, disk: Path, place: Path):
        """Nothing can be kept; the published summary still says why, and nothing half is left."""
        before = commands.runs_in(disk / "runs")
        filled(disk)
        done = casebook(*TRIAGE, "--runs", disk / "runs", "--publish", place, "--one-at-a-time")
        assert done.returncode == 3
        assert FULL in done.stderr
        assert "Traceback" not in done.stderr
        assert commands.runs_in(disk / "runs") == before
        assert commands.unfinished(disk / "runs") == []
        assert FULL in told(place, "summary.json")["error"]

    def test_mended(self, disk: Path, place: Path):
        """The next run is clean, and its report replaces the old one."""
        (disk / "others").unlink(missing_ok=True)
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        done = casebook(*TRIAGE, "--runs", disk / "runs", "--publish", place, "--one-at-a-time")
        assert done.returncode == 2, done.stderr
        assert told(place, "summary.json")["report"]["run"] == commands.runs_in(disk / "runs")[-1].name
        assert not list(disk.rglob("*.partial"))

    def test_the_place_is_full(self, disk: Path, tmp_path: Path):
        """The run itself is kept, whole; exit code 3 and a word; at the place stands what stood there."""
        place = disk / "place"
        place.mkdir()
        (place / "report.html").write_text("yesterday's")
        filler = filled(disk)
        done = casebook(*TRIAGE, "--runs", tmp_path, "--publish", place)
        filler.unlink()
        assert done.returncode == 3
        assert f"Nothing could be published to {place}: {FULL}." in done.stderr
        assert sorted(path.name for path in place.iterdir() if path.name != ".lock") == ["report.html"]
        assert (place / "report.html").read_text() == "yesterday's"
        [run] = commands.runs_in(tmp_path)
        assert told(run, "summary.json")["exit_code"] == 2
        assert (run / "report.html").is_file()


@dataclass(slots=True, kw_only=True)
class Night:
    """A live cluster whose ZooKeeper went away for one run.

    Args:
        good: The report published before.
        during: The report that stood there during it.
        told: The published summary during it.
        line: What the alert would say.
        away: The run during it.
        after: The run after it.
        place: Where all were published.
        runs: The folder of all runs.
    """

    good: bytes
    during: bytes
    told: dict
    line: str
    away: subprocess.CompletedProcess
    after: subprocess.CompletedProcess
    place: Path
    runs: Path


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Night:
    folder = tmp_path_factory.mktemp("night")
    (folder / "zookeeper").mkdir()
    runs, place = folder / "runs", folder / "place"
    guarded = Guarded()
    server = ZooKeeper(folder / "zookeeper", guarded)
    sample = Case.open(places.samples_dir() / "leader_minus_one")
    server.tree({f"/kafka{z.path}": z.data for z in sample.znodes() if z.stat is not None})
    (folder / "prod.toml").write_text(f'zookeeper = "{server.address}/kafka"\n')

    def report() -> subprocess.CompletedProcess:
        asked = ("run", "10_triage", "--source", "live:prod", "--runs", runs, "--publish", place, "--one-at-a-time")
        return casebook(*asked, CASEBOOK_PROFILES=str(folder))

    before = report()
    assert before.returncode == 2, before.stderr
    good = (place / "report.html").read_bytes()
    server.client.stop()
    server.server.kill()
    away = report()
    during, summary = (place / "report.html").read_bytes(), told(place, "summary.json")
    line = casebook("summary", place).stdout
    server.start()
    after = report()
    server.close()
    guarded.close()
    return Night(good=good, during=during, told=summary, line=line, away=away, after=after, place=place, runs=runs)


class TestUnreachableZooKeeper:
    def test_exit_code_and_words(self, night: Night):
        assert night.away.returncode == 3
        assert "No ZooKeeper server answered" in night.away.stderr
        assert "Traceback" not in night.away.stderr

    def test_no_half_report(self, night: Night):
        """The good one stands as it was."""
        assert night.during == night.good

    def test_the_summary_says_why_and_how_old_the_report_is(self, night: Night):
        first, second, _ = [run.name for run in commands.runs_in(night.runs)]
        assert (night.told["run"], night.told["report"]["run"]) == (second, first)
        assert "No ZooKeeper server answered" in night.told["error"]
        assert night.told["worst"] is night.told["checks"] is night.told["findings"] is None
        assert night.line.startswith("COULD NOT COMPLETE: No ZooKeeper server answered")
        assert f"the report is of {night.told['report']['started']}, " in night.line

    def test_the_next_run_is_clean(self, night: Night):
        """It runs, and its report is there."""
        assert night.after.returncode == 2, night.after.stderr
        newest = commands.runs_in(night.runs)[-1].name
        assert told(night.place, "summary.json")["report"]["run"] == newest
        assert newest in (night.place / "report.html").read_text()
        assert commands.unfinished(night.runs) == []
