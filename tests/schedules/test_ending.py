"""Runs that end before their notebook does: asked to, out of time, killed; and two that want to run at once."""

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.schedules import commands
from tests.schedules.commands import casebook, told

SPARK = "40_offsets_topic"
YESTERDAY = b"<title>yesterday</title>"


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return commands.spark_case(tmp_path_factory.mktemp("cases"))


def frozen(running: subprocess.Popen) -> set[int]:
    """Let a run hang: its Spark stands still. Returns all that it started."""
    started = commands.with_java(running)
    java = next(pid for pid, name in commands.started_by(running.pid).items() if name == "java")
    os.kill(java, signal.SIGSTOP)
    return started


@dataclass(slots=True, kw_only=True)
class Hanging:
    """A run that hung until SIGTERM came, and what others met meanwhile.

    Args:
        runs: The folder of all runs.
        place: Where it was to publish, with a report of yesterday.
        refused: A second run of the same, under another spelling of the source.
        other: A run of another notebook on the same source.
        kept: Unfinished folders after both.
        said: What it printed on standard error.
        code: Its exit code.
        left: What it had started and what outlived it.
        temporary: The same of its temporary files.
        pid: Its process id.
    """

    runs: Path
    place: Path
    refused: subprocess.CompletedProcess
    other: subprocess.CompletedProcess
    kept: list[Path]
    said: str
    code: int
    left: set[int]
    temporary: list[Path]
    pid: int


@pytest.fixture(scope="module")
def hanging(case: Path, tmp_path_factory: pytest.TempPathFactory) -> Hanging:
    folder = tmp_path_factory.mktemp("hanging")
    runs, place, temporary = folder / "runs", folder / "place", folder / "tmp"
    place.mkdir()
    temporary.mkdir()
    (place / "report.html").write_bytes(YESTERDAY)
    common = ("--runs", runs, "--one-at-a-time")
    running = commands.begun("run", SPARK, "--source", case, *common, "--publish", place, TMPDIR=str(temporary))
    started = frozen(running)
    refused = casebook("run", SPARK, "--source", case.parent / ".." / case.parent.name / case.name, *common)
    other = casebook("run", "00_start_here", "--source", case, *common)
    kept = commands.unfinished(runs)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=commands.PATIENCE)
    return Hanging(
        runs=runs, place=place, refused=refused, other=other, kept=kept, said=said, code=running.returncode,
        left=commands.alive(started), temporary=[*temporary.iterdir()], pid=running.pid,
    )  # fmt: skip


class TestTwoAtOnce:
    def test_the_second_ends_and_says_who_runs(self, hanging: Hanging):
        """Exit code 3, with the process and since when; no run is kept of it."""
        assert hanging.refused.returncode == 3
        assert f"is running already: process {hanging.pid} on " in hanging.refused.stderr
        assert not [run for run in commands.runs_in(hanging.runs)[1:] if run.name.partition("_")[2].startswith(SPARK)]

    def test_another_notebook_runs(self, hanging: Hanging):
        """The turn is that of one notebook on one source."""
        assert hanging.other.returncode < 3, hanging.other.stderr

    def test_what_is_being_written_is_left_alone(self, hanging: Hanging):
        """A run beside it cleans up after the dead, not after the living."""
        assert [SPARK in folder.name for folder in hanging.kept] == [True]


class TestAskedToEnd:
    """SIGTERM, as systemd, Kubernetes, Jenkins and Airflow send it, to a run that hangs."""

    def test_it_says_so(self, hanging: Hanging):
        assert hanging.code == 3
        assert "The run was ended by a signal (SIGTERM)." in hanging.said

    def test_nothing_outlives_it(self, hanging: Hanging):
        """Kernel and Spark are gone, also one that no longer answers, and with them their temporary files."""
        assert hanging.left == set()
        assert hanging.temporary == []

    def test_the_run_is_whole(self, hanging: Hanging):
        """It is kept and says why; nothing of it is hidden or half."""
        run = next(run for run in commands.runs_in(hanging.runs) if SPARK in run.name)
        assert commands.unfinished(hanging.runs) == []
        assert told(run, "run.json")["error"] == told(run, "summary.json")["error"] == "The run was ended by a signal (SIGTERM)."
        assert "ended by a signal (SIGTERM)" in (run / "report.html").read_text()
        assert not (run / ".writer").exists()

    def test_yesterdays_report_stays(self, hanging: Hanging):
        """What was published is not touched, and the summary beside it tells the truth."""
        assert (hanging.place / "report.html").read_bytes() == YESTERDAY
        summary = told(hanging.place, "summary.json")
        assert (summary["completed"], summary["exit_code"], summary["report"]) == (False, 3, None)


def test_out_of_time(tmp_path: Path):
    """After --timeout all is ended, also what no longer listens, and the run says so."""
    running = commands.begun("run", "00_start_here", "--runs", tmp_path, "--timeout", "15s")
    started = commands.wait_for(lambda: commands.programs_of(running.pid))
    for pid in started:
        os.kill(pid, signal.SIGSTOP)
    _, said = running.communicate(timeout=commands.PATIENCE)
    assert running.returncode == 3
    assert "The run was ended after 15 s: its time limit was reached." in said
    assert commands.alive(started) == set()
    [run] = commands.runs_in(tmp_path)
    assert "The run was ended after 15 s" in told(run, "run.json")["error"]


@pytest.mark.parametrize("only", ["the runner", "its process group", "all that it started"])
def test_killed_half_way(tmp_path: Path, only: str):
    """SIGKILL leaves a hidden folder and nothing that runs; no lock is stale, and the next run cleans up and is well."""
    runs = tmp_path / "runs"
    asked = ("run", "10_triage", "--source", commands.spark_case(tmp_path), "--runs", runs, "--one-at-a-time")
    running = commands.begun(*asked)
    started = commands.with_java(running)
    (os.kill if only == "the runner" else os.killpg)(running.pid, signal.SIGKILL)
    if only == "all that it started":
        for pid in commands.alive(started):
            os.kill(pid, signal.SIGKILL)
    running.communicate(timeout=commands.PATIENCE)
    commands.wait_for(lambda: not commands.alive(started))
    assert commands.runs_in(runs) == []
    assert len(commands.unfinished(runs)) == 1

    following = casebook(*asked)
    assert following.returncode < 3, following.stderr
    assert commands.unfinished(runs) == []
    [run] = commands.runs_in(runs)
    assert told(run, "summary.json")["completed"]


@pytest.mark.parametrize("text", ["30", "0m", "soon", "1d", "-5m"])
def test_no_time(text: str):
    """A time without a unit could be anything."""
    done = casebook("run", "10_triage", "--timeout", text)
    assert done.returncode == 3
    assert "is not a length of time" in done.stderr
