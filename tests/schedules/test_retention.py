"""`casebook runs`: what is there, and what is kept of it."""

import json
import os
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from casebook.machine import locks
from casebook.runs import folder as runs
from casebook.runs import retention
from tests.schedules.commands import casebook


def run(
    folder: Path, day: int, *, notebook: str = "90_scheduled_report", source: str = "live:prod", cluster: str | None = None,
    error: str | None = None, address: str | None = None,
) -> Path:  # fmt: skip
    """A run folder of a day of November."""
    path = folder / f"2026-11-{day:02}T03-07-00_{notebook}_{len(list(folder.iterdir())):04x}"
    path.mkdir()
    record = {
        "notebook": notebook,
        "source": source,
        "case": "evidence",
        "started": f"2026-11-{day:02}T03:07:00Z",
        "error": error,
    }
    (path / "run.json").write_text(json.dumps(record | ({} if error else {"cluster": {"id": cluster, "address": address}})))
    if not error:
        found = {"check": "l.a", "status": "ok", "severity": None, "title": "a", "facts": {}}
        counts = {"ok": 1, "finding": 0, "could_not_check": 0, "not_applicable": 0}
        (path / "findings.json").write_text(json.dumps({"worst": None, "completeness": counts, "findings": [found]}))
    return path


def kept(folder: Path) -> set[Path]:
    return {path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")}


class TestKeep:
    def test_the_newest_of_each_line(self, tmp_path: Path):
        """A line is a notebook on a cluster; one that runs often does not push out another."""
        often = [run(tmp_path, day) for day in range(1, 9)]
        rare = [run(tmp_path, 1, source="live:test"), run(tmp_path, 2, notebook="10_triage")]
        removed = retention.keep(tmp_path, 3)
        assert [one.name for one in removed] == [path.name for path in often[4::-1]]
        assert kept(tmp_path) == {*often[5:], *rare}

    def test_a_cluster_is_known_by_its_id(self, tmp_path: Path):
        """Cases of each day are one line, and so is a run that failed on the same profile before it knew the id."""
        dated = [run(tmp_path, day, source=f"cases/{day}", cluster="abc") for day in (1, 2, 3)]
        failed = run(tmp_path, 4, source="live:prod", error="killed")
        live = run(tmp_path, 5, source="live:prod", cluster="abc")
        retention.keep(tmp_path, 3)
        assert kept(tmp_path) == {*dated[1:], failed, live}

    def test_a_cluster_without_id_is_known_by_its_address(self, tmp_path: Path):
        """Two clusters whose cases bear one name: the one that is looked at often does not push out the other."""
        production = run(tmp_path, 1, source="/prod/latest", address="zk-prod:2181")
        test = [run(tmp_path, day, source="/test/latest", address="zk-test:2181") for day in (2, 3, 4)]
        assert [one.name for one in retention.keep(tmp_path, 2)] == [test[0].name]
        assert kept(tmp_path) == {production, *test[1:]}

    def test_two_at_once(self, tmp_path: Path):
        """Each run is removed once, by one of them, and neither fails."""
        names = [run(tmp_path, day).name for day in range(1, 31)]
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as both, locks.one_at_a_time(tmp_path):
            asked = [both.submit(retention.keep, tmp_path, 3) for _ in range(2)]
            time.sleep(2)  # both have begun, and wait for us
        removed = [one.name for done in asked for one in done.result()]
        assert sorted(removed) == names[:-3]

    def test_those_that_failed_push_out_none(self, tmp_path: Path):
        """However many failed since, as many completed ones stay; of the failures as many, and none older than all of these."""
        run(tmp_path, 1, error="ZooKeeper is away")
        good = [run(tmp_path, day) for day in (2, 3, 5)]
        run(tmp_path, 4, error="ZooKeeper is away")
        failed = [run(tmp_path, day, error="ZooKeeper is away") for day in (6, 7, 8)]
        retention.keep(tmp_path, 2)
        assert kept(tmp_path) == {*good[1:], *failed[1:]}

    def test_none_completed_yet(self, tmp_path: Path):
        """The newest failures tell why."""
        failed = [run(tmp_path, day, error="ZooKeeper is away") for day in (1, 2, 3)]
        retention.keep(tmp_path, 2)
        assert kept(tmp_path) == {*failed[1:]}

    def test_only_what_a_run_has_written(self, tmp_path: Path):
        """Whatever else lies there stays: foreign folders, links, half runs, folders whose record says something else."""
        folder = tmp_path / "runs"
        folder.mkdir()
        for day in (20, 21):
            run(folder, day)
        (folder / "holiday pictures").mkdir()
        (folder / "2026-11-01T03-07-00_90_scheduled_report_beef").mkdir()
        (folder / "2026-11-01T03-07-00_90_scheduled_report_beef" / "notes.txt").touch()
        renamed = run(folder, 1)
        renamed = renamed.rename(folder / "my favourite run")
        other = run(folder, 2)
        other = other.rename(folder / other.name.replace("90_scheduled_report", "10_triage"))
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        linked = run(elsewhere, 3)
        (folder / linked.name).symlink_to(linked)
        before = kept(folder)
        assert [one.name[:10] for one in retention.keep(folder, 1)] == ["2026-11-20"]
        assert before - kept(folder) == {path for path in before if path.name.startswith("2026-11-20")}
        assert linked.is_dir()

    def test_a_run_that_is_being_written_stays(self, tmp_path: Path):
        begun = runs.RunFolder.begin(tmp_path, notebook="90_scheduled_report", seed={})
        for day in (1, 2):
            run(tmp_path, day)
        retention.keep(tmp_path, 1)
        assert begun.path.is_dir()
        begun.discard()

    def test_the_index_is_renewed(self, tmp_path: Path):
        old, new = run(tmp_path, 1), run(tmp_path, 2)
        runs.refresh_index(tmp_path)
        retention.keep(tmp_path, 1)
        assert new.name in (tmp_path / "index.html").read_text()
        assert old.name not in (tmp_path / "index.html").read_text()


class TestLeftovers:
    """What killed ones left is removed by the next run; what lives is not."""

    def test_a_run_that_was_removed_by_hand(self, tmp_path: Path):
        """The list renews the index, too."""
        gone, stays = run(tmp_path, 1), run(tmp_path, 2)
        runs.refresh_index(tmp_path)
        assert gone.name in (tmp_path / "index.html").read_text()
        shutil.rmtree(gone)
        assert casebook("runs", "--runs", tmp_path).returncode == 0
        page = (tmp_path / "index.html").read_text()
        assert (gone.name in page, stays.name in page) == (False, True)

    def test_the_dead_and_the_living(self, tmp_path: Path):
        living = runs.RunFolder.begin(tmp_path, notebook="10_triage", seed={"n": 1})
        dead = runs.RunFolder.begin(tmp_path, notebook="10_triage", seed={"n": 2})
        os.close(dead.writer)  # what the system does when its writer ends
        (tmp_path / ".2026-11-01T03-07-00_10_triage_beef.removed").mkdir()
        (tmp_path / ".index.html.7.partial").touch()
        (tmp_path / ".somebody's.partial").mkdir()
        following = runs.RunFolder.begin(tmp_path, notebook="10_triage", seed={"n": 3})
        assert {path.name for path in tmp_path.iterdir()} == {
            ".lock",
            ".somebody's.partial",
            living.path.name,
            following.path.name,
        }
        for one in (living, following):
            one.discard()


class TestCommand:
    def test_a_title_with_half_a_surrogate_pair(self, tmp_path: Path):
        """A name in hostile evidence breaks no list."""
        run(tmp_path, 1, error="broker \ud800 is away")
        done = casebook("runs", "--runs", tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "broker ? is away" in done.stdout

    def test_it_lists_and_tells_what_it_removed(self, tmp_path: Path):
        names = [run(tmp_path, day).name for day in (1, 2)]
        listed = casebook("runs", "--runs", tmp_path).stdout.splitlines()
        assert [line.split()[0] for line in listed] == names[::-1]
        assert "live:prod  ok: Nothing found in 1 check" in listed[0]
        done = casebook("runs", "--runs", tmp_path, "--keep", "1")
        assert (done.returncode, done.stdout.splitlines()) == (
            0,
            [f"removed {names[0]}  live:prod", f"1 removed, 1 kept in {tmp_path}"],
        )

    @pytest.mark.parametrize("arguments", [["--keep", "0"], ["--runs", "/nowhere"], ["--keep", "x"]])
    def test_nothing_is_removed_by_mistake(self, arguments: list[str], tmp_path: Path):
        """All is an odd number to keep none of."""
        run(tmp_path, 1)
        done = casebook("runs", *(arguments if "--runs" in arguments else ["--runs", str(tmp_path), *arguments]))
        assert done.returncode == 3
        assert "Traceback" not in done.stderr
        assert len(kept(tmp_path)) == 1

    def test_a_folder_that_may_not_be_changed(self, tmp_path: Path):
        """Said, not half done."""
        for day in (1, 2):
            run(tmp_path, day)
        runs.refresh_index(tmp_path)
        (tmp_path / ".2026-11-01T03-07-00_90_scheduled_report_0000.removed").mkdir()
        (tmp_path / ".2026-11-01T03-07-00_90_scheduled_report_0000.removed" / os.fsdecode(b"x")).touch()
        done = casebook("runs", "--runs", tmp_path, "--keep", "1")
        assert done.returncode == 3
        assert "could be removed" in done.stderr
        assert len(kept(tmp_path)) == 2
