"""Run a notebook headless through papermill, into a run folder with its report and summary.

Exit codes: 0 nothing at or above the threshold, 1 warning, 2 critical, 3 could not complete, or most questions unanswered.
"""

import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from casebook.collect import sources
from casebook.errors import CasebookError, CaseError
from casebook.findings.finding import Severity
from casebook.findings.headline import headline
from casebook.machine.progress import Tell
from casebook.runs import execution, lock, notebooks, parameters, publishing, report, summary
from casebook.runs import folder as runs
from casebook.runs.report import NOTEBOOK
from casebook.runs.summary import COULD_NOT_COMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A completed or failed run.

    Args:
        folder: The published run folder; ``None`` when none could be kept.
        exit_code: 0 to 3.
        title: Its headline in a line, or the error.
        below: The lines below it.
        failed: The notebook did not finish.
        source: Source of the evidence.
        summary: As in ``summary.json``.
        unpublished: Reason why the report was not published, or the index not refreshed.
    """

    folder: Path | None
    exit_code: int
    title: str
    failed: bool
    below: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    summary: Mapping[str, object] = field(default_factory=dict)
    unpublished: tuple[str, ...] = ()

    @property
    def report(self) -> Path | None:
        """Path of the report; ``None`` when it could not be written."""
        path = self.folder and self.folder / report.REPORT
        return path if path and path.is_file() else None


def run(
    notebook: notebooks.Notebook,
    given: Mapping[str, str],
    *,
    runs_dir: Path,
    fail_on: Severity = Severity.WARNING,
    timeout: float | None = None,
    one_at_a_time: bool = False,
    publish: publishing.PublishPlace | None = None,
    progress: Tell = lambda _what: None,
) -> Ran:
    """Run a notebook.

    Args:
        given: Parameters as texts, converted by the annotations in the notebook.
        runs_dir: Folder of all runs.
        fail_on: Lowest severity for a nonzero exit code.
        timeout: Seconds after which the notebook and its processes are ended; ``None`` for never.
        one_at_a_time: Refuse to run while another run of the same notebook on the same source is active.
        publish: Target for the latest report.
        progress: Receives the current activity.

    Raises:
        CasebookError: A parameter is unknown or of the wrong type, the source does not exist, publishing is impossible, or
            another run holds the lock; nothing has run. A missing source is also published as a failure.
    """
    from casebook.collect.redaction.addresses import refuse_passwords

    known = parameters.of_notebook(notebook.path)
    values = parameters.coerced(known, given)
    shown = _in_force(known, values)
    refuse_passwords("the parameters", *(value for value in values.values() if isinstance(value, str)))
    chooses_own = not shown["source"] and not _in_force(known, {})["source"]  # the notebook finds its own when none is given
    if not chooses_own and (not publish or sources.is_missing_profile(str(shown["source"]))):
        sources.check(str(shown["source"]))
    if publish:
        progress(f"{notebook.stem}: trying {publish.said}")
        publishing.check(publish, notebook=notebook.stem, source=shown["source"])
    one = _CurrentRun(notebook, values, shown, fail_on, progress)
    turn = lock.one_at_a_time(runs_dir, notebook=notebook.stem, source=str(shown["source"]))
    ending = execution.Ending()
    with ending.on_signals():
        try:
            with turn if one_at_a_time else contextlib.nullcontext():
                ran = one.into(runs_dir, ending=ending, timeout=timeout)
        except CaseError as error:  # full or missing disk: publish the failure, as a report is expected
            ran = one.without_folder(str(error))
        except CasebookError:
            raise
        except Exception as unexpected:  # an internal error: publish the failure, as a report is expected
            if publish:
                _published(one.without_folder(f"An unexpected error in casebook: {type(unexpected).__name__}."), publish)
            raise
        if publish:
            progress(f"{notebook.stem}: publishing to {publish.said}")
        return _published(ran, publish) if publish else ran


class _CurrentRun:
    """One run: its subject and start time."""

    def __init__(
        self,
        notebook: notebooks.Notebook,
        values: Mapping[str, object],
        shown: Mapping[str, object],
        fail_on: Severity,
        progress: Tell,
    ) -> None:
        self._progress = progress
        self._notebook, self._values, self._shown, self._fail_on = notebook, values, shown, fail_on
        self._began, self._started = time.monotonic(), datetime.now(UTC)

    def into(self, runs_dir: Path, *, ending: execution.Ending, timeout: float | None) -> Ran:
        """Run it in a new folder.

        Raises:
            CaseError: The run folder cannot be created; nothing has run.
        """
        folder = runs.RunFolder.begin(runs_dir, notebook=self._notebook.stem, seed=self._values)
        self._started = folder.started
        values = self._values | {"out_dir": str(folder.path)}
        self._progress(f"{self._notebook.stem}: starting")
        error = execution.execute(self._notebook, values, folder.path, ending=ending, timeout=timeout, progress=self._progress)
        self._progress(f"{self._notebook.stem}: writing the report")
        try:
            ran = self._completed(folder, error)
        except OSError as full:
            ran = self._cleared(folder, error or f"The run could not be written: {full.strerror}.")
        return ran if ran.folder is None else _indexed(ran)

    def _completed(self, folder: runs.RunFolder, error: str | None) -> Ran:
        """Write record, report and summary, and rename the folder to its final name.

        Raises:
            OSError: They could not be written.
        """
        outcome = _outcome(folder.path, error, self._fail_on)
        runs.write_record(folder.path, self._record(outcome) | runs.surroundings(self._notebook.path))
        if (folder.path / NOTEBOOK).is_file():  # missing when the disk was full from the start
            rewrite_report(folder.path, run_id=folder.final.name)
        else:
            summary.write(folder.path, summary.of_folder(folder.path, run=folder.final.name))
        told = summary.of_folder(folder.path, run=folder.final.name)
        return replace(outcome, folder=folder.publish(), source=str(told["source"]), summary=told)

    def _cleared(self, folder: runs.RunFolder, error: str) -> Ran:
        """After a full disk, keep only the record and the error of a run, or nothing at all."""
        try:
            folder.clear()
            return self._completed(folder, error)
        except OSError:
            folder.discard()
            return self.without_folder(error)

    def without_folder(self, error: str) -> Ran:
        """Return a run without a stored folder."""
        outcome = Ran(folder=None, exit_code=COULD_NOT_COMPLETE, title=error, failed=True, source=str(self._shown["source"]))
        return replace(outcome, summary=summary.summary(self._record(outcome), None, None, run=""))

    def _record(self, outcome: Ran) -> dict[str, object]:
        return {
            "notebook": self._notebook.stem,
            "started": self._started.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "seconds": round(time.monotonic() - self._began, 3),
            "parameters": dict(self._shown),
            "exit_code": outcome.exit_code,
            "error": outcome.title if outcome.failed else None,
        }


def _indexed(ran: Ran) -> Ran:
    try:
        runs.refresh_index(ran.folder.parent)
    except (OSError, ValueError, OverflowError) as error:  # another run's record may contain anything
        why = getattr(error, "strerror", None) or error
        return replace(ran, unpublished=(f"{ran.folder.parent / 'index.html'} was not updated: {why}.",))
    return ran


def _published(ran: Ran, where: publishing.PublishPlace) -> Ran:
    try:
        publishing.publish(where, ran.summary, ran.folder)
    except publishing.OvertakenError as newer:  # nothing to publish
        return replace(ran, unpublished=(*ran.unpublished, str(newer)))
    except CasebookError as error:
        return replace(ran, exit_code=COULD_NOT_COMPLETE, unpublished=(*ran.unpublished, str(error)))
    return ran


def _in_force(known: Iterable[parameters.Parameter], values: Mapping[str, object]) -> dict[str, object]:
    """Return the value of every parameter, given or default, except the output folder."""
    return {p.name: values.get(p.name, p.default) for p in known if p.name != "out_dir"}


def rewrite_report(folder: Path, *, run_id: str | None = None) -> Path:
    """Write ``report.html`` and ``summary.json`` of a run folder from its notebook, record and findings.

    Raises:
        CasebookError: The folder lacks an executed notebook or the record of its run, or either is damaged.
    """
    notebook = folder / NOTEBOOK
    if not notebook.is_file():
        raise CasebookError(
            f"{folder} has no executed notebook.", cause="It is not a run folder, or the run was made inside JupyterLab."
        )
    told = summary.of_folder(folder, run=run_id)
    written = report.write_run_report(folder, run_id=run_id or folder.name)
    summary.write(folder, told)
    return written


def _outcome(folder: Path, error: str | None, fail_on: Severity) -> Ran:
    if error is None:
        try:
            found = runs.read_findings(folder)
        except CasebookError as missing:
            error = str(missing)
        else:
            first, code = headline(found), summary.exit_code(found, fail_on)
            return Ran(folder=folder, exit_code=code, title=first.line, below=first.below, failed=False)
    return Ran(folder=folder, exit_code=COULD_NOT_COMPLETE, title=error, failed=True)
