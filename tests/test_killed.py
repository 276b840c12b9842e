"""Whoever is killed leaves nothing that the next start does not remove, and nothing under its own name that is not whole."""

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.case.folder import damage
from casebook.machine import locks, places, whole, workshop

SEEDS = int(os.environ.get("KILLS", "6"))
LOGS = places.samples_dir() / "acks1_loss" / "brokers" / "1" / "logs"
PROGRAM = """
import os, signal, sys
moment, place = int(sys.argv.pop(1)), sys.argv.pop(1)
from casebook.cli import main
steps = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.scandir", "os.listdir"}
seen = 0
def step(event, arguments):
    global seen
    if event in steps and arguments and place in os.fsdecode(arguments[0] if isinstance(arguments[0], (str, bytes)) else ""):
        seen += 1
        if seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(step)
try:
    main()
finally:
    print(seen)
"""
"""The command, killed right before the step of that number that it takes on files below a place."""


def collect(home: Path, moment: int) -> subprocess.CompletedProcess:
    """Into a case below a folder, with temporary files there too."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", PROGRAM, str(moment), str(home), "collect", "--out", str(home / "cases" / "case")]
    command += ["--logs", f"1={LOGS}/*", "--logs", f"2={LOGS}/*"]
    environment = os.environ | {"TMPDIR": str(home / "tmp")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def steps(tmp_path_factory) -> int:
    """How many steps a collection takes on its files."""
    done = collect(tmp_path_factory.mktemp("whole"), 0)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_collection_that_is_killed(seed, steps, tmp_path):
    """At any step: the case is there whole, or it is not there; after the next start nothing else is."""
    moment = random.Random(seed).randint(1, steps)
    assert collect(tmp_path, moment).returncode == -signal.SIGKILL
    case = tmp_path / "cases" / "case"
    if case.exists():
        assert [damage(case, item) for item in Case.open(case).items.values() if damage(case, item)] == []
        shutil.move(case, tmp_path / "kept")
    assert collect(tmp_path, 0).returncode == 0
    assert sorted(path.name for path in (tmp_path / "cases").iterdir()) == ["case"]
    assert list((tmp_path / "tmp").iterdir()) == []


STARTS = """
import os, signal, sys
whom = sys.argv.pop(1)
def step(event, arguments):
    if event == "subprocess.Popen" and any(whom in str(argument) for argument in arguments[1]):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(step)
"""
"""What kills a program right before it starts another one."""
_RUN = ["from casebook.cli import main; main()", "run", "20", "--source", "sample:leader_minus_one"]
_TYPED = [
    "import sys; from pathlib import Path; from casebook.questions.timeline.scans import logs; list(logs.typed([(Path(sys.argv[1]), 'UTC')]))"
]


@pytest.mark.parametrize(("whom", "program"), [("ipykernel_launcher", _RUN), ("casebook.logs.Main", [*_TYPED, str(LOGS)])])
def test_killed_while_it_starts_another(whom, program, tmp_path):
    """A kernel, or Java: what was written for it does not stay behind, wherever its maker puts such files."""
    (tmp_path / "tmp").mkdir()
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp"), "CASEBOOK_RUNS": str(tmp_path / "runs")}
    command = [sys.executable, "-c", STARTS + program[0], whom, *program[1:]]
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    workshop.sweep(tmp_path / "tmp")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_is_swept(tmp_path):
    """Ours without an owner; not one that is used, nor one that only bears such a name, nor what a link leads to."""
    with workshop.folder(beside=tmp_path) as used:
        (used / "work").touch()
        dead = tmp_path / ".casebook-deadbeef"
        (dead / "case").mkdir(parents=True)
        (dead / ".casebook-owner").touch()
        named = tmp_path / "casebook-mynotes1"
        named.mkdir()
        (named / "notes").touch()
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / ".casebook-owner").touch()
        (tmp_path / "casebook-linked01").symlink_to(elsewhere)
        (tmp_path / "casebook-justbegun").mkdir()
        (tmp_path / "casebook-begunnow").mkdir()
        workshop.sweep(tmp_path)
        left = {path.name for path in tmp_path.iterdir()}
        assert left == {used.name, "casebook-mynotes1", "elsewhere", "casebook-linked01", "casebook-justbegun"}
        assert (used / "work").exists() and (elsewhere / ".casebook-owner").exists() and (named / "notes").exists()
    assert not used.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what another user owns")
def test_what_is_another_users_stays(tmp_path):
    """In a folder for temporary files that all share."""
    theirs = tmp_path / "casebook-deadbeef"
    theirs.mkdir()
    (theirs / ".casebook-owner").touch()
    os.chown(theirs, 65534, 65534)
    workshop.sweep(tmp_path)
    assert (theirs / ".casebook-owner").exists()


def test_a_file_that_is_written_is_not_swept(tmp_path):
    """Its writer holds it; one that was killed does not, and the next writer of that file removes it."""
    (tmp_path / ".page.1.partial").touch()
    (tmp_path / ".other.1.partial").touch()
    with whole.beside(tmp_path / "page") as partial:
        whole.sweep(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [partial.name]
        assert locks.is_held(partial)
    assert [path.name for path in tmp_path.iterdir()] == ["page"]
