"""What casebook writes is its user's alone, whatever the umask; what is published is not."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from casebook.case.writer import CaseWriter
from casebook.machine import places, private, whole, workshop

SAMPLE = places.samples_dir() / "acks1_loss"
PROGRAM = "import os, sys; os.umask(int(sys.argv.pop(1), 8)); from casebook.cli import main; main()"
UMASKS = ("000", "027")


def casebook(umask: str, *arguments: object, **environment: object) -> subprocess.CompletedProcess:
    """The command in a process with this umask."""
    told = os.environ | {name: str(value) for name, value in environment.items()}
    command = [sys.executable, "-c", PROGRAM, umask, *map(str, arguments)]
    return subprocess.run(command, env=told, capture_output=True, text=True, timeout=300, check=False)


def open_to_others(*trees: Path) -> list[str]:
    """What somebody else could read, list or change there."""
    everything = [path for tree in trees for path in (tree, *tree.rglob("*"))]
    assert len(everything) > len(trees)
    return [str(path) for path in everything if stat.S_IMODE(path.lstat().st_mode) & 0o077]


@pytest.fixture
def umask() -> Iterator[None]:
    """Nothing is closed by itself."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("umask", UMASKS)
def test_a_case_and_a_run_are_closed_and_what_is_published_is_open(umask, tmp_path):
    """Logs and znodes, run folder with tables and index; the published page has the modes that the user's umask gives."""
    case, runs, published = tmp_path / "cases" / "of today", tmp_path / "runs", tmp_path / "published"
    logs = SAMPLE / "brokers" / "1" / "logs"
    done = casebook(umask, "collect", "--out", case, "--logs", f"1={logs}/*")
    assert done.returncode == 0, done.stderr
    done = casebook(umask, "run", "20", "--source", "sample:leader_minus_one", "--runs", runs, "--publish", published)
    assert done.returncode == 2, done.stderr
    assert open_to_others(tmp_path / "cases", runs) == []
    told = tmp_path / "casebook.prom"
    casebook(umask, "summary", published, "--format", "prometheus", "--out", told)
    given = int(umask, 8)
    assert stat.S_IMODE(published.stat().st_mode) == 0o777 & ~given
    for page in (published / "report.html", published / "summary.json", told):
        assert stat.S_IMODE(page.stat().st_mode) == 0o666 & ~given


def test_a_case_by_a_program_of_somebody_else(umask, tmp_path):
    """The library closes what it makes in a process whose umask is another's."""
    with CaseWriter.create(tmp_path / "cases" / "one", command="a test") as case:
        case.file("brokers/1/logs/server.log", [b"one\n"])
        case.binary("brokers/1/segments/t-0/0.log", [b"\0"])
        case.znodes([], chroot="", servers=[])
    assert open_to_others(tmp_path / "cases") == []


def test_results_of_scans_by_a_program_of_somebody_else(umask, tmp_path):
    """Whoever writes them."""
    with workshop.result(tmp_path / "derived" / "segments" / "key") as folder:
        (folder / "row=1").mkdir()
        (folder / "row=1" / "part.parquet").write_bytes(b"PAR1")
    assert open_to_others(tmp_path / "derived") == []


def test_a_folder_that_is_there_stays_as_it_is(umask, tmp_path):
    """Its user has made it so; so has a user who shares it through a link."""
    theirs = tmp_path / "shared"
    theirs.mkdir(mode=0o755)
    (theirs / "file").touch(mode=0o644)
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "link").symlink_to(theirs)
    private.folder(theirs / "ours" / "deep")
    private.seal(ours)
    whole.write(theirs / "page", b"page")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (theirs, theirs / "file", theirs / "ours", theirs / "page")}
    assert modes == {"shared": 0o755, "file": 0o644, "ours": 0o700, "page": 0o600}
