"""Server processes that never outlive the process that started them."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from casebook.errors import RehearsalError

GUARDIAN = Path(__file__).with_name("guardian.py")
FOLDER_PREFIX = "casebook-rehearsal-"
GRACE = 60.0
"""Seconds for a server to end after SIGTERM; 0.9 tries a controlled shutdown three times, 5 s apart."""


class Guarded:
    """A group of processes that ends with this process, together with their folder.

    Args:
        remove: Folder to remove after the processes have ended; ``None`` to keep everything.
    """

    def __init__(self, *, remove: Path | None = None) -> None:
        command = [sys.executable, "-I", "-S", str(GUARDIAN)] + ([str(remove)] if remove else [])
        # In its own process group: Ctrl-C in a terminal must reach only the rehearsing process.
        self._guardian = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)
        self._group = int(self._guardian.stdout.readline())
        self._started: list[subprocess.Popen] = []

    def start(self, command: Sequence[str], *, folder: Path, output: Path) -> "Server":
        """Start a server in ``folder``, with its output appended to ``output``."""
        with output.open("ab") as printed:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                process_group=self._group,
            )
        self._started.append(process)
        return Server(process)

    def close(self) -> None:
        """Kill every remaining process and wait until all have ended."""
        self._guardian.stdin.close()
        for process in self._started:  # reaped while the guardian waits for an empty group
            process.wait()
        self._guardian.wait()
        self._guardian.stdout.close()


def make_home(wanted: Path | None) -> Path:
    """Create the folder for all server files; a temporary one by default.

    Raises:
        RehearsalError: It is not empty, and its content would be removed.
    """
    if wanted is None:
        return Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    if wanted.is_dir() and any(wanted.iterdir()):
        raise RehearsalError(
            f"{wanted} is not empty.", cause="A rehearsal removes its folder when it ends.", try_="Name a new folder."
        )
    wanted.mkdir(parents=True, exist_ok=True)
    return wanted


@contextmanager
def guarded_folder() -> Iterator[Path]:
    """Yield a temporary folder that is removed even when this process is killed."""
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    guard = Guarded(remove=folder)
    try:
        yield folder
    finally:
        guard.close()


class Server:
    """A running server process."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process exists; a suspended one does."""
        return self._process.poll() is None

    def cpu_seconds(self, thread: str) -> float:
        """Return the processor seconds used by its threads of a name, as cut by the system."""
        ticks = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                told = task.joinpath("stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            name, _, counters = told.partition("(")[2].rpartition(") ")
            if name == thread:
                ticks += sum(map(int, counters.split()[11:13]))  # utime and stime: proc(5)
        return ticks / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """Kill it (SIGKILL), like a crash."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Terminate it (SIGTERM), like an operator, and wait.

        Raises:
            subprocess.TimeoutExpired: It has not ended after :data:`GRACE` seconds.
        """
        self._signal(signal.SIGTERM)
        self._process.wait(GRACE)

    def freeze(self) -> None:
        """Suspend it (SIGSTOP): a long pause of the machine or the garbage collector."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume it (SIGCONT)."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self.running:
            os.kill(self.pid, number)
