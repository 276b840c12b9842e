"""The command as schedulers start it, and what it leaves running."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from casebook.machine import places
from tests.conftest import QUICK_JAVA

CASEBOOK = Path(sys.executable).with_name("casebook")
PATIENCE = 60.0
"""Seconds for what happens in a few on an idle machine."""
ENVIRONMENT = os.environ | {"JDK_JAVA_OPTIONS": QUICK_JAVA}


def casebook(*arguments: object, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess:
    """Run the command to its end."""
    return subprocess.run(
        [CASEBOOK, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=ENVIRONMENT | environment,
    )


def begun(*arguments: object, **environment: str) -> subprocess.Popen:
    """Start the command, in a process group of its own, as a shell or a scheduler does."""
    return subprocess.Popen(
        [CASEBOOK, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT | environment,
        process_group=0,
    )


def spark_case(folder: Path) -> Path:
    """A case that needs Spark: a sample without the results of scans that it is shipped with."""
    case = folder / "offsets_bloat"
    shutil.copytree(places.samples_dir() / "offsets_bloat", case)
    shutil.rmtree(case / "derived", ignore_errors=True)  # of earlier runs here
    return case


def wait_for(what: Callable[[], object], *, patience: float = PATIENCE) -> object:
    """Wait until something is true, and return it."""
    deadline = time.monotonic() + patience
    while not (found := what()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return found


def started_by(pid: int) -> dict[int, str]:
    """Living processes that a process started, and those that they did: name by id. Sessions tell, also of orphans' parents."""
    everyone = dict(filter(None, map(_process, Path("/proc").iterdir())))
    found: dict[int, str] = {}
    new = {pid}
    while new := {child for child, (parent, _) in everyone.items() if parent in new and child not in found}:
        found |= {child: everyone[child][1] for child in new}
    return found


def programs_of(pid: int) -> set[int]:
    """Those of what a process started that are programs already.

    Between fork and exec the kernel lets the parent wait: who stops the child there stops both, for good.
    """
    own = _command(pid)
    return {child for child in started_by(pid) if _command(child) not in (own, b"")}


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def alive(pids: set[int]) -> set[int]:
    """Those that still run."""
    return pids & {pid for pid, _ in filter(None, map(_process, Path("/proc").iterdir()))}


def _process(folder: Path) -> tuple[int, tuple[int, str]] | None:
    if not folder.name.isdecimal():
        return None
    try:
        text = (folder / "stat").read_text()
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(") ")
    state, parent = rest.split()[:2]
    return None if state in "ZX" else (int(folder.name), (int(parent), name))


def with_java(running: subprocess.Popen) -> set[int]:
    """Wait until a run has started a JVM; returns that, the kernel and all else that it started."""
    wait_for(lambda: running.poll() is not None or "java" in started_by(running.pid).values())
    assert running.poll() is None, running.communicate()
    return set(started_by(running.pid))


def runs_in(folder: Path) -> list[Path]:
    """Published run folders, the oldest first."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def unfinished(folder: Path) -> list[Path]:
    """Folders of runs that are being written, or were when they were killed."""
    return sorted(folder.glob(".*.partial"))


def told(folder: Path, name: str) -> dict:
    """A JSON file of a run folder, or of a place that was published to."""
    return json.loads((folder / name).read_text())
