"""Executes a notebook in a kernel of its own, and ends that kernel with all that it started when it must.

papermill waits for a kernel as long as that lives. So a run is ended by ending its kernel: papermill then notices, keeps
what the notebook has shown so far, and the run is written down like any other that could not complete.
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
from casebook.runs import notebooks
from casebook.runs.report import NOTEBOOK

LOG = "run.log"
GRACE = 5.0
"""Seconds that a kernel and its Spark have between SIGTERM and SIGKILL, to remove their temporary files."""
_POLL = 0.1
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_OWN_ERRORS = frozenset(cls.__name__ for cls in (CasebookError, *CasebookError.__subclasses__()))


class Ending:
    """The wish that a run end before its notebook does.

    Attributes:
        why: Who wishes it, for people; ``None`` while nobody does.
    """

    def __init__(self) -> None:
        self.why: str | None = None

    def wish(self, why: str) -> None:
        """End the run; the first reason counts."""
        self.why = self.why or why

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Take SIGTERM (of systemd, Kubernetes, Jenkins), SIGINT and SIGHUP as the wish, but for those that are ignored."""
        if current_thread() is not main_thread():  # Python lets no other one listen
            yield
            return
        heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._heard) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler or signal.SIG_DFL)  # none: it was not set from Python

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
        values: Its parameters.
        ending: Ends it when wished.
        progress: Told which cell is executed, and which question it belongs to.
        timeout: Seconds it may take, ``None`` for any number.

    Returns:
        What went wrong, ``None`` when nothing did.
    """
    import papermill
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
    except Exception as error:  # a kernel that dies, a disk that fills: the run is published all the same, and says so
        return ending.why or f"{type(error).__name__}: {error}"
    return ending.why


def _followed(notebook: notebooks.Notebook, progress: Tell) -> Callable[..., None]:
    """What papermill's client calls before each cell; of the one that papermill puts in nothing is told."""
    cells = notebook.cells()
    steps = {cell: f"{notebook.stem}, cell {at} of {len(cells)}: {question}" for at, (cell, question) in enumerate(cells, 1)}

    def started(cell: Mapping[str, object], **_at: int) -> None:
        if (step := steps.get(cell.get("id"))) is not None:
            progress(step)

    return started


@contextlib.contextmanager
def _watched(ending: Ending, timeout: float | None) -> Iterator[Callable[[int], None]]:
    """Watch over a kernel, whose process id is to be told: it is ended when wished or when its time is over, and nothing that it
    started outlives it."""
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
    """End all processes of sessions: first asked, then made to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = monotonic() + GRACE
        while (alive := [pid for leader in leaders for pid in _of_session(leader)]) and monotonic() < deadline:
            for pid in alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            sleep(_POLL)


def _of_session(leader: int) -> list[int]:
    """Living processes of a session. A kernel leads one of its own, and nothing that Spark starts leaves it."""
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
    except OSError:  # gone meanwhile
        return False
    return int(session) == leader and state not in "ZX"


def _manager(started: Callable[[int], None], scratch: Path) -> type:
    """A manager of kernels that tells the process id of the one it has started, and lets it have its temporary files in a folder
    that goes with the run: a kernel that is ended removes none."""
    from jupyter_client.manager import AsyncKernelManager

    class ProgressLine(AsyncKernelManager):
        async def _async_launch_kernel(self, kernel_cmd: list[str], **options: object) -> None:
            options["env"] = options["env"] | {"TMPDIR": str(scratch)}
            await super()._async_launch_kernel(kernel_cmd, **options)
            started(self.provisioner.pid)

    return ProgressLine


def _kernel_config(scratch: Path):
    """The kernel talks over sockets in a private folder: nobody else on the machine can listen, and runs do not meet. The
    file that tells it of them, with its key, lies there too: a run that is killed leaves nothing elsewhere."""
    from traitlets.config import Config

    place = {"ip": str(scratch / "kernel"), "connection_file": str(scratch / "kernel.json")}
    return Config({"KernelManager": {"transport": "ipc", **place}})


@contextlib.contextmanager
def _kernel_heard_in(path: Path) -> Iterator[None]:
    """What the kernel's process itself says (warnings of its start and end) goes to the run's log, not to the terminal."""
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
    """papermill's and the kernel's own words go to the run's log, not to the terminal."""
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
