"""API of a notebook: open the evidence, show results, finish.

    book = workbook.open("20_partition_leadership", source=source, out_dir=out_dir, ...)
    lead = book.ask.leadership()                 # what the case answers
    topic = book.choose("topic", topics, ...)    # by a person, or by the parameter
    book.show(views.costs(lead))                 # displays a view and keeps its tables
    book.show(what_if.tried(lead, book.context, alive=alive, ...))
    book.finish(lead.findings)                   # fills the summary at the top; writes findings.json, run.json, tables/

The same cells run in JupyterLab, papermill and ``casebook run``. Only notebooks import this module.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from markupsafe import Markup

from casebook.collect import sources
from casebook.errors import UsageError, did_you_mean
from casebook.facts.cluster import epoch_ms
from casebook.findings.finding import Finding, once
from casebook.machine import workshop
from casebook.notebook import activity
from casebook.notebook.examination import Examination
from casebook.notebook.opening import INTERACTIVE, applied, examination, is_interactive, moment
from casebook.page import choices, citations, proof
from casebook.page.context import PanelContext
from casebook.page.view import View, display, parameters, style
from casebook.questions.triage.views import pasted as pasted_views
from casebook.questions.triage.views import triage
from casebook.runs import folder as runs
from casebook.runs import kept_runs, notebooks
from casebook.runs.out_folder import OutFolder

_SUMMARY = "casebook-summary"
_CHOSEN: dict[tuple[str, str], dict[str, object]] = {}
"""Choices by notebook and case, kept when a cell is rerun."""


def open(  # noqa: A001  the workbook's verb: book = workbook.open(...)
    notebook: str, *, source: str, out_dir: str = "", kafka_version: str = "", interactive: str = "auto", at: str = "",
    timezone: str = "UTC", log_layout: str = "",
) -> "Workbook":  # fmt: skip
    """Open the evidence for a notebook and show its source.

    Args:
        notebook: The notebook's stem.
        source: ``sample:<name>``, a case folder, or ``live:<profile>``.
        out_dir: Run folder; ``""`` creates one under the runs folder when the notebook finishes.
        kafka_version: Release whose rules apply; ``""`` to detect it.
        interactive: ``auto`` (widgets in JupyterLab, none headless), ``yes`` or ``no``.
        at: Moment of the cluster's state, ISO-8601 with a zone; the case needs a znode history. ``""`` for the time of
            collection; ``height`` for the height of the incident in its history, if any.
        timezone: Zone of times and log lines without one: ``Europe/Berlin``, or ``UTC, 2=Asia/Shanghai`` for a broker with
            another zone.
        log_layout: Layout of log lines that is not detected, in log4j's notation; ``""`` for none.

    Raises:
        CasebookError: A parameter or the evidence is unusable; the message says what to do.
    """
    if interactive not in INTERACTIVE:
        raise UsageError(f"interactive={interactive} is unknown.", try_=did_you_mean(interactive, INTERACTIVE))
    workshop.begin()
    display(style())
    with_widgets = is_interactive(interactive)
    if with_widgets:
        display(parameters())
    folder = OutFolder(notebook, source, out_dir)
    step = activity.watched() if with_widgets else activity.unwatched
    case = sources.open_source(source, evidence=folder.evidence, progress=step("Reading ZooKeeper"))
    when = moment(at, case)
    examine = partial(examination, kafka_version=kafka_version, timezone=timezone, log_layout=log_layout, progress=step)
    ask = examine(case, source=source, at=when, earlier=partial(_earlier, source, examine))
    book = Workbook(notebook, source, ask, folder, interactive=with_widgets, at="" if when is None else ask.as_of)
    display(triage.opening(case, ask.cluster, ask.version), display_id=_SUMMARY)
    display(pasted_views.banner(ask.pasted))
    return book


def _earlier(source: str, examine: Callable[..., Examination]) -> Examination | None:
    """Return the questions to a sample of an earlier moment of the same cluster; ``None`` without one."""
    before = sources.earlier_moment(source)
    return examine(sources.open_earlier(before), source=before) if before else None


class Workbook:
    """An open notebook: shows results and keeps them in a run folder; use :func:`open`.

    Attributes:
        ask: Questions to the case.
        case, cluster, version: The evidence, and the release whose rules apply.
        as_of: Time of the evidence, ISO-8601 UTC.
        context: Display context of panels.
        runs: Folder of the earlier runs.
    """

    def __init__(self, notebook: str, source: str, ask: Examination, folder: OutFolder, *, interactive: bool, at: str) -> None:
        self.ask, self.case, self.cluster, self.version, self.as_of = ask, ask.case, ask.cluster, ask.version, ask.as_of
        self._notebook, self._source, self._folder = notebook, source, folder
        self._started = datetime.now(UTC)
        self._cites: dict[str, None] = {}
        self._at = epoch_ms(at) if at else None
        self.context = PanelContext(
            interactive=interactive,
            remembered=_CHOSEN.setdefault((notebook, ask.case.digest), {}),
            source=source,
            at=at,
            case=ask.case.name,
            quote=self._quote,
            shown=self._shown,
        )

    @property
    def runs(self) -> Path:
        """Folder of the earlier runs."""
        return self._folder.path().parent

    def choose(self, name: str, options: Sequence[str], *, default: str) -> str:
        """Offer a choice in JupyterLab; return the chosen value, or the parameter when headless.

        Args:
            name: Parameter name.
            options: Possible values; ``""`` (everything) is always available.
            default: Parameter value.

        Raises:
            UsageError: The parameter value is not an option.
        """
        if default and default not in options:
            raise UsageError(f"{name}={default} is not in this case.", try_=did_you_mean(default, options))
        if not self.context.interactive:
            return default
        return choices.choose(name, options, default=default, remembered=self.context.remembered)

    def show(self, view: View) -> None:
        """Display a view and keep its tables for the run folder."""
        self.ask.kept.tables |= view.tables
        self._cites |= dict.fromkeys(view.cites)
        display(view)

    def finish(self, findings: Sequence[Finding], *, summary: View | None = None) -> None:
        """Fill the summary at the top and write findings, tables and the run record.

        Args:
            findings: Conclusions of the notebook; findings on the evidence itself come before them.
            summary: View at the top in place of verdict and plan, for a notebook without a conclusion of its own.
        """
        findings = once((*self.ask.evidence, *findings))
        if summary is None:
            plan = self.ask.plan(findings)
            findings = self.ask.advised(findings, plan)
            when = {"at": self.context.at or None, "until": self.as_of, "source": self._source, "run": self._started.isoformat()}
            summary = triage.summary(findings, self.case, self.cluster, plan=plan, **when)
        display(summary, display_id=_SUMMARY, update=True)
        display(self._cited())
        folder = self._folder.path()
        self.ask.kept.write(folder)
        runs.write_findings(
            folder, notebook=self._notebook, source=self._source, kafka_versions=applied(self.version), findings=findings
        )
        runs.write_record(folder, self._record())
        if (published := self._folder.publish()) is not None:
            display(triage.written(published))

    def _cited(self) -> View:
        """Show the evidence of every proof link, as read."""
        cites = [cite for cite in (self.version.proof, *self._cites) if cite]
        return proof.cited(*citations.evidence(self.case, cites, at=self._at))

    def _quote(self, cite: str) -> View:
        """Show the evidence of one proof link."""
        return proof.quoted(*citations.evidence(self.case, [cite], at=self._at))

    def _shown(self, cites: Sequence[str]) -> Markup:
        return proof.shown(*citations.evidence(self.case, cites, at=self._at))

    def _record(self) -> dict[str, object]:
        return {
            "notebook": self._notebook,
            "source": self._source,
            "case": self.case.name,
            "cluster": kept_runs.as_json(self.ask.identity),
            "case_sha256": self.case.digest,
            "collected_at": self.case.collected_at,
            "started": self._started.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "seconds": round((datetime.now(UTC) - self._started).total_seconds(), 3),
            **runs.surroundings(notebooks.find(self._notebook).path),
        }


def show(view: View) -> None:
    """Display a view without a case."""
    display(style())
    display(view)
