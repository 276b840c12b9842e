"""Runs a notebook headless through papermill, into a run folder with its report.

Exit codes: 0 nothing at or above the threshold, 1 warning, 2 critical, 3 could not complete, or most questions unanswered.
"""

import contextlib
import logging
import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from casebook import notebooks, parameters, report, runs
from casebook.errors import CasebookError
from casebook.findings import Completeness, Severity, at_or_above
from casebook.report import NOTEBOOK

COULD_NOT_COMPLETE = 3
_EXIT_CODES = {Severity.WARNING: 1, Severity.CRITICAL: 2, Severity.INFO: 1}
LOG = "run.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run that has ended.

    Args:
        folder: The published run folder.
        exit_code: 0 to 3.
        title: The verdict, or what went wrong.
        failed: The notebook did not reach its end.
        source: What it ran on.
    """

    folder: Path
    exit_code: int
    title: str
    failed: bool
    source: str = ""

    @property
    def report(self) -> Path:
        """The page for people."""
        return self.folder / report.REPORT


def run(notebook: notebooks.Notebook, given: Mapping[str, str], *, runs_dir: Path, fail_on: Severity = Severity.WARNING) -> Ran:
    """Run a notebook.

    Args:
        given: Parameters as texts; coerced by the annotations in the notebook.
        runs_dir: The folder of all runs.
        fail_on: The lowest severity that makes the exit code other than 0.

    Raises:
        CasebookError: A parameter is unknown or of the wrong type, or no run folder can be made; nothing has run then.
    """
    known = parameters.of_notebook(notebook.path)
    values = parameters.coerced(known, given)
    folder = runs.RunFolder.begin(runs_dir, notebook=notebook.stem, seed=values)
    began = time.monotonic()
    error = _execute(notebook, values | {"out_dir": str(folder.path)}, folder.path)
    outcome = _outcome(folder.path, error, fail_on)
    runs.write_record(
        folder.path,
        {
            "notebook": notebook.stem,
            "started": folder.started.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "seconds": round(time.monotonic() - began, 3),
            "parameters": _in_force(known, values),
            "exit_code": outcome.exit_code,
            "error": outcome.title if outcome.failed else None,
            **runs.surroundings(notebook.path),
        },
    )
    rewrite_report(folder.path, run_id=folder.final.name)
    return replace(outcome, folder=folder.publish(), source=str(_in_force(known, values)["source"]))


def _in_force(known: Iterable[parameters.Parameter], values: Mapping[str, object]) -> dict[str, object]:
    """Every parameter's value, given or default; where the run is written is no part of it."""
    return {p.name: values.get(p.name, p.default) for p in known if p.name != "out_dir"}


def rewrite_report(folder: Path, *, run_id: str | None = None) -> Path:
    """Write ``report.html`` of a run folder from its notebook.

    Raises:
        CasebookError: The folder has no executed notebook.
    """
    notebook = folder / NOTEBOOK
    if not notebook.is_file():
        raise CasebookError(
            f"{folder} holds no executed notebook.", cause="It is no run folder, or the run was made inside JupyterLab."
        )
    return report.write_run_report(folder, run_id=run_id or folder.name)


def _execute(notebook: notebooks.Notebook, values: Mapping[str, object], folder: Path) -> str | None:
    """Execute the notebook; returns what went wrong, ``None`` when nothing did."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    try:
        with _logged(folder / LOG), _kernel_heard_in(folder / LOG), tempfile.TemporaryDirectory(prefix="casebook-") as sockets:
            papermill.execute_notebook(
                str(notebook.path),
                str(folder / NOTEBOOK),
                parameters=dict(values),
                kernel_name="python3",
                progress_bar=False,
                store_widget_state=False,
                cwd=str(Path.cwd()),
                config=_kernel_config(Path(sockets)),
            )
    except PapermillExecutionError as error:
        return error.evalue if error.ename in _OWN_ERRORS else f"{error.ename}: {error.evalue}"
    except Exception as error:  # a kernel that dies, a disk that fills: the run is published all the same, and says so
        return f"{type(error).__name__}: {error}"
    return None


@contextlib.contextmanager
def _kernel_heard_in(path: Path):
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


def _kernel_config(sockets: Path):
    """The kernel talks over sockets in a private folder: nobody else on the machine can listen, and runs do not meet."""
    from traitlets.config import Config

    return Config({"KernelManager": {"transport": "ipc", "ip": str(sockets / "kernel")}})


_OWN_ERRORS = frozenset(cls.__name__ for cls in (CasebookError, *CasebookError.__subclasses__()))


def _outcome(folder: Path, error: str | None, fail_on: Severity) -> Ran:
    if error is None:
        try:
            found = runs.read_findings(folder)
        except CasebookError as missing:
            error = str(missing)
        else:
            worst = Severity(found["worst"]) if found["worst"] else None
            inconclusive = Completeness(**found["completeness"]).inconclusive
            code = _EXIT_CODES[worst] if at_or_above(worst, fail_on) else COULD_NOT_COMPLETE if inconclusive else 0
            return Ran(folder=folder, exit_code=code, title=_verdict(found), failed=False)
    return Ran(folder=folder, exit_code=COULD_NOT_COMPLETE, title=error, failed=True)


def _verdict(found: Mapping) -> str:
    """The line a terminal shows: the worst finding, else how much was checked."""
    first = next((f for f in found["findings"] if f["status"] == "finding"), None)
    unchecked = found["completeness"]["could_not_check"]
    tail = f" ({unchecked} could not be checked)" if unchecked else ""
    counts = Completeness(**found["completeness"])
    if counts.inconclusive and (first is None or first["severity"] != Severity.CRITICAL):
        said = f"; {first['severity']}: {first['title']}" if first else ""
        return f"COULD NOT CHECK: {unchecked} of {counts.asked} questions could not be answered{said}"
    if first is None:
        return f"OK: nothing found in {found['completeness']['ok']} checks{tail}"
    return f"{first['severity'].upper()}: {first['title']}{tail}"


@contextlib.contextmanager
def _logged(path: Path):
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
