"""Execute a notebook in its own kernel, and end that kernel with all its processes when necessary.

papermill waits for a kernel as long as it lives. So a run is ended by ending its kernel: papermill notices that, keeps the output
so far, and the run is recorded like any other incomplete one.
"""

import contextlib
import logging
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread
from time import monotonic, sleep

from casebook.errors import CasebookError
from casebook.machine import workshop
from casebook.machine.progress import Tell
from casebook.runs import jupyter, notebooks
from casebook.runs.report import NOTEBOOK

LOG = "run.log"
GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL, for a kernel and its Spark to remove temporary files."""
_POLL = 0.1
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_OWN_ERRORS = frozenset(cls.__name__ for cls in (CasebookError, *CasebookError.__subclasses__()))


class Ending:
    """A request to end a run before its notebook ends.

    Attributes:
        why: Reason for people; ``None`` without a request.
    """

    def __init__(self) -> None:
        self.why: str | None = None

    def wish(self, why: str) -> None:
        """End the run; the first reason counts."""
        self.why = self.why or why

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Treat SIGTERM (systemd, Kubernetes, Jenkins), SIGINT and SIGHUP as the request, except ignored signals."""
        if current_thread() is not main_thread():  # only the main thread may set handlers in Python
            yield
            return
        heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._heard) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler or signal.SIG_DFL)  # none: not set from Python

    def _heard(self, number: int, _frame: object) -> None:
        self.wish(f"The run was ended by a signal ({signal.Signals(number).name}).")


def execute(
    notebook: notebooks.Notebook,
    values: Mapping[str, object],
    folder: Path,
    *,
    ending: Ending,
    progress: Tell,
    timeout: float | None = None,
) -> str | None:
    """Execute a notebook into a run folder.

    Args:
        values: Parameters.
        ending: Request to end it.
        progress: Receives the current cell and its question.
        timeout: Maximum seconds; ``None`` for no limit.

    Returns:
        What went wrong, ``None`` when nothing did.
    """
    papermill = jupyter.imported("papermill")
    from papermill.exceptions import PapermillExecutionError

    try:
        with (
            _logged(folder / LOG),
            _kernel_heard_in(folder / LOG),
            workshop.folder() as scratch,
            _watched(ending, timeout) as kernel_started,
        ):
            papermill.execute_notebook(
                str(notebook.path),
                str(folder / NOTEBOOK),
                parameters=dict(values),
                kernel_name="python3",
                progress_bar=False,
                store_widget_state=False,
                cwd=str(Path.cwd()),
                config=_kernel_config(scratch),
                kernel_manager_class=_manager(kernel_started, scratch),
                on_cell_start=_followed(notebook, progress),
            )
    except PapermillExecutionError as error:
        failed = error.evalue if error.ename in _OWN_ERRORS else f"{error.ename}: {error.evalue}"
        return ending.why or failed
    except Exception as error:  # a dead kernel, a full disk: the run is published with the error
        return ending.why or f"{type(error).__name__}: {error}"
    return ending.why


def _followed(notebook: notebooks.Notebook, progress: Tell) -> Callable[..., None]:
    """Return a hook for papermill's client that runs before each cell; papermill's own cell is skipped."""
    cells = notebook.cells()
    steps = {cell: f"{notebook.stem}, cell {at} of {len(cells)}: {question}" for at, (cell, question) in enumerate(cells, 1)}

    def started(cell: Mapping[str, object], **_at: int) -> None:
        if (step := steps.get(cell.get("id"))) is not None:
            progress(step)

    return started


@contextlib.contextmanager
def _watched(ending: Ending, timeout: float | None) -> Iterator[Callable[[int], None]]:
    """Supervise a kernel by its process id: end it on request or timeout, with everything it started."""
    kernels: list[int] = []
    over = Event()
    deadline = None if timeout is None else monotonic() + timeout

    def watch() -> None:
        while not over.wait(_POLL):
            if deadline is not None and monotonic() > deadline:
                ending.wish(f"The run was ended after {_span(timeout)}: its time limit was reached.")
            if ending.why:
                _end_sessions(kernels)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield kernels.append
    finally:
        over.set()
        watcher.join()
        _end_sessions(kernels)


def _span(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"


def _end_sessions(leaders: Iterable[int]) -> None:
    """End all processes of sessions: SIGTERM, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = monotonic() + GRACE
        while (alive := [pid for leader in leaders for pid in _of_session(leader)]) and monotonic() < deadline:
            for pid in alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            sleep(_POLL)


def _of_session(leader: int) -> list[int]:
    """Return live processes of a session. A kernel leads its own session, and Spark never leaves it."""
    if not Path("/proc/self/stat").exists():  # not Linux: only the kernel can be found; its Spark ends with it
        return [leader] if _exists(leader) else []
    return [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal() and _lives_in(leader, folder)]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _lives_in(leader: int, process: Path) -> bool:
    try:
        state, _parent, _group, session = (process / "stat").read_text().rpartition(") ")[2].split()[:4]
    except OSError:  # it has ended meanwhile
        return False
    return int(session) == leader and state not in "ZX"


def _manager(started: Callable[[int], None], scratch: Path) -> type:
    """Create a kernel manager that reports the kernel's process id and sets its temporary folder.

    The folder is removed with the run: a killed kernel does not clean up.
    """
    from jupyter_client.manager import AsyncKernelManager

    class ProgressLine(AsyncKernelManager):
        async def _async_launch_kernel(self, kernel_cmd: list[str], **options: object) -> None:
            options["env"] = options["env"] | {"TMPDIR": str(scratch)}
            await super()._async_launch_kernel(kernel_cmd, **options)
            started(self.provisioner.pid)

    return ProgressLine


def _kernel_config(scratch: Path):
    """Configure the kernel to use sockets in a private folder.

    No other user can connect, and runs do not collide. Its connection file with the key is also there: a killed run leaves
    nothing elsewhere.
    """
    from traitlets.config import Config

    place = {"ip": str(scratch / "kernel"), "connection_file": str(scratch / "kernel.json")}
    return Config({"KernelManager": {"transport": "ipc", **place}})


@contextlib.contextmanager
def _kernel_heard_in(path: Path) -> Iterator[None]:
    """Send the kernel process's own output (warnings at start and end) to the run's log instead of the terminal."""
    keep = os.dup(2)
    log = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.dup2(log, 2)
        yield
    finally:
        os.dup2(keep, 2)
        os.close(keep)
        os.close(log)


@contextlib.contextmanager
def _logged(path: Path) -> Iterator[None]:
    """Send the log of papermill and the kernel to the run's log instead of the terminal."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("papermill")
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
        handler.close()
