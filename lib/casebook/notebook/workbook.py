"""What a notebook talks to: open the evidence, show results, finish.

    book = workbook.open("20_partition_leadership", source=source, out_dir=out_dir, ...)
    book.show(view)          # displays it and keeps its tables
    book.finish(findings)    # fills the summary at the top; writes findings.json, run.json, tables/

The same cells serve JupyterLab, papermill and ``casebook run``. Nobody but notebooks imports this module.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from markupsafe import Markup

from casebook import doctor as _doctor
from casebook.case.case import Case
from casebook.collect import sources
from casebook.errors import CaseError, UsageError, did_you_mean
from casebook.facts.cluster import Cluster, epoch_ms
from casebook.findings import exports
from casebook.findings.finding import Finding
from casebook.findings.past_runs import Identity
from casebook.formats.zookeeper import history_facts
from casebook.kafka import release
from casebook.kafka.releases import VersionInUse
from casebook.machine import workshop
from casebook.notebook.examination import Examination
from casebook.notebook.opening import INTERACTIVE, applied, is_interactive, made_of, moment
from casebook.page import choices, citations, proof
from casebook.page.view import View, display, style
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.coordinators.views import group_lookup
from casebook.questions.leadership.analysis import what_if
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.leadership.views import what_if as what_if_views
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.loss.views import choice as loss_choice
from casebook.questions.loss.views import loss as loss_views
from casebook.questions.maintenance.analysis.maintenance import Maintenance
from casebook.questions.maintenance.views import drain_panel, panel
from casebook.questions.morning.analysis import measures, run_line, since
from casebook.questions.morning.analysis.since import Since
from casebook.questions.offsets_topic.analysis import deletion_choice
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsPartition, OffsetsTopic
from casebook.questions.offsets_topic.views import deletion as deletion_views
from casebook.questions.quiz import walkthrough
from casebook.questions.quiz.analysis import past, questions
from casebook.questions.quiz.views import quiz as quiz_views
from casebook.questions.quiz.views import walkthrough as walkthrough_views
from casebook.questions.timeline.analysis import selection
from casebook.questions.timeline.analysis.timeline import Timeline
from casebook.questions.timeline.views import timeline as timeline_views
from casebook.questions.triage.views import pasted as pasted_views
from casebook.questions.triage.views import triage
from casebook.runs import folder as runs
from casebook.runs import kept_runs, notebooks
from casebook.runs.out_folder import OutFolder

_SUMMARY = "casebook-summary"
_CHOSEN: dict[tuple[str, str], dict[str, object]] = {}
"""What a person chose, by notebook and case: it outlives a re-run of the cell."""


def open(  # noqa: A001  the workbook's verb: book = workbook.open(...)
    notebook: str, *, source: str, out_dir: str = "", kafka_version: str = "", interactive: str = "auto", at: str = "",
    timezone: str = "UTC", log_layout: str = "",
) -> "Workbook":  # fmt: skip
    """Open the evidence for a notebook and show where it comes from.

    Args:
        notebook: The notebook's stem.
        source: ``sample:<name>``, a case folder, or ``live:<profile>``.
        out_dir: The run's folder; ``""`` makes one under the runs folder when the notebook finishes.
        kafka_version: The release whose rules apply; ``""`` to find it in the evidence.
        interactive: ``auto`` (widgets in JupyterLab, none headless), ``yes`` or ``no``.
        at: The cluster as it was at this moment, ISO-8601 with a zone; the case must have the history of its znodes. ``""`` as it
            was collected; ``height`` as it was at the height of the incident that its history tells of, if it does.
        timezone: Of times, and of log lines, that do not tell theirs: ``Europe/Berlin``, or ``UTC, 2=Asia/Shanghai`` where that
            of a broker differs.
        log_layout: Of log lines that are laid out as is not found, as log4j writes it; ``""`` for none.

    Raises:
        CasebookError: A parameter or the evidence cannot be used; the text says what to do.
    """
    if interactive not in INTERACTIVE:
        raise UsageError(f"interactive={interactive} is unknown.", try_=did_you_mean(interactive, INTERACTIVE))
    workshop.begin()
    display(style())
    folder = OutFolder(notebook, source, out_dir)
    case = sources.open_source(source, evidence=folder.evidence, progress=choices.progress("Reading ZooKeeper"))
    when = moment(at, case)
    cluster = case.cluster(at=when)
    try:
        version = release.release(
            cluster, given=kafka_version, logged=case.logged_versions(), configured=case.configured_versions()
        )
    except ValueError as error:
        raise UsageError(f"kafka_version: {error}.") from None
    book = Workbook(
        notebook=notebook, source=source, case=case, cluster=cluster, version=version, folder=folder,
        interactive=is_interactive(interactive), at=when, timezone=timezone, log_layout=log_layout,
    )  # fmt: skip
    display(triage.opening(case, cluster, version), display_id=_SUMMARY)
    display(pasted_views.banner(book.pasted))
    return book


class Workbook(Examination):
    """An opened notebook: what its case answers, shown, and kept in a run folder; use :func:`open`.

    Attributes:
        interactive: Whether widgets are shown.
    """

    def __init__(
        self,
        *,
        notebook: str,
        source: str,
        case: Case,
        cluster: Cluster,
        version: VersionInUse,
        folder: OutFolder,
        interactive: bool,
        at: int | None,
        timezone: str,
        log_layout: str,
    ) -> None:
        super().__init__(
            case=case,
            cluster=cluster,
            version=version,
            at=at,
            timezone=timezone,
            log_layout=log_layout,
            progress=choices.progress,
        )
        self._notebook, self._source, self._folder, self.interactive = notebook, source, folder, interactive
        self._started = datetime.now(UTC)
        self._quiz: quiz_views.QuizPage | None = None
        self._cites: dict[str, None] = {}
        self._remembered = _CHOSEN.setdefault((notebook, case.digest), {})

    def drain(self, found: Maintenance) -> None:
        """Show the panel that plans a drain, or its static twin at the parameters."""
        self.show(
            drain_panel.panel(found, self._drain, interactive=self.interactive, remembered=self._remembered, source=self._source)
        )

    def restart_panel(self, found: Maintenance, *, step: int) -> None:
        """Show the panel that replays an order of restarts, or its static twin at the parameters.

        Raises:
            UsageError: There is no such step.
        """
        self.show(panel.panel(found, step=step, interactive=self.interactive, remembered=self._remembered, source=self._source))

    def since(self, findings: Sequence[Finding], *, runs: str = "", against: str = "") -> Since:
        """What has changed since the last run of the same cluster; keeps its tables for the run folder.

        Args:
            findings: Of :meth:`everything`.
            runs: The folder of the earlier runs; ``""`` for that of this one.
            against: The run to compare with; ``""`` for the last one.

        Raises:
            UsageError: There is no such run.
        """
        folder = Path(runs).expanduser() if runs else self._folder.path().parent
        at = self.case.complete
        line = run_line.RunLine(kept=())
        if at is not None:
            line = run_line.line(self.identity, at, self.cluster.controller.epoch, kept_runs.read(folder), against=against)
        verdicts = self._tables["partitions"]
        found = since.examine(
            self.cluster,
            at=at,
            line=line,
            verdicts=verdicts,
            copies=self._tables["offsets_partitions"],
            now=measures.written(verdicts),
            before=kept_runs.written(folder, line.last) if line.last else None,
            findings=findings,
        )
        self._tables |= {"measures": found.measures, "changes": found.changes or ()}
        return found

    @property
    def identity(self) -> Identity:
        """What tells this cluster from another."""
        return kept_runs.identity(self.case, self.cluster, self._source)

    def look_up(self, held: Coordinators, *, group: str) -> None:
        """Show the field that looks up a group, or its static twin at the parameter."""
        self.show(group_lookup.panel(held, group, interactive=self.interactive, remembered=self._remembered, source=self._source))

    def desk(
        self, found: Timeline, *, since: str = "", until: str = "", topic: str = "", partition: str = "", group: str = "",
        broker: str = "",
    ) -> timeline_views.TimelinePage:  # fmt: skip
        """The picture, the story and the tables of a timeline, all of one choice of time and subject.

        Raises:
            UsageError: A parameter is no moment or no number.
        """
        chosen = selection.parse(found, since=since, until=until, topic=topic, partition=partition, group=group, broker=broker)
        return timeline_views.TimelinePage(
            found, chosen, interactive=self.interactive, remembered=self._remembered, source=self._source, quote=self._quote,
            name=self.case.name, events=self._shared.stored_events(),
        )  # fmt: skip

    def loss_desk(self, found: MessageLoss, *, topic: str = "", record: str = "") -> loss_views.LossPage:
        """The pictures and tables of lost records, all of one choice.

        Raises:
            UsageError: There is no such topic or partition.
        """
        return loss_views.LossPage(
            found, loss_choice.parse(found, topic=topic, record=record), interactive=self.interactive,
            remembered=self._remembered, source=self._source, links=exports.names() if found.lost else {},
            unprocessed=self._consumed.first, work=self._consumed.work, steps=self._consumed.steps,
        )  # fmt: skip

    def copy_of(self, topic: OffsetsTopic, *, partition: str) -> OffsetsPartition | None:
        """The copy of an offsets partition that was read: by number, or the largest; offered as a choice in JupyterLab."""
        read = [row for row in topic.partitions if row.live_bytes is not None] or list(topic.partitions)
        by_number = {str(row.partition): row for row in reversed(read)}
        chosen = self.choose("partition", sorted(by_number, key=int), default=partition)
        return by_number.get(chosen, read[0] if read else None)

    def deletion(
        self, topic: OffsetsTopic, copy: OffsetsPartition | None, *, delete: str, delete_before: str, delete_below: str = ""
    ) -> None:
        """Show what deleting segments of a copy would lose, or the static twin at the parameters.

        Raises:
            UsageError: A parameter names a segment that is not there, or is no time or offset.
        """
        segments = topic.segments(copy.broker, copy.partition) if copy else ()
        if not segments:
            self.show(deletion_views.nothing_read(topic.unread, empty=topic.empty))
            return
        subject = deletion_views.Subject(broker=copy.broker, partition=copy.partition, segments=segments, source=self._source)
        choice = deletion_choice.parse(delete, delete_before, segments, delete_below=delete_below)
        ask = partial(self._offsets.deletions, copy)
        self.show(deletion_views.panel(subject, choice, ask, interactive=self.interactive, remembered=self._remembered))

    def choose(self, name: str, options: Sequence[str], *, default: str) -> str:
        """Offer a choice in JupyterLab; returns the value in force, headless the parameter.

        Args:
            name: The parameter's name.
            options: What may be chosen; ``""`` (everything) is always there.
            default: The parameter's value.

        Raises:
            UsageError: The parameter's value is no option.
        """
        if default and default not in options:
            raise UsageError(f"{name}={default} is not in this case.", try_=did_you_mean(default, options))
        if not self.interactive:
            return default
        return choices.choose(name, options, default=default, remembered=self._remembered)

    def show(self, view: View) -> None:
        """Display a view and keep its tables for the run folder."""
        self._tables |= view.tables
        self._cites |= dict.fromkeys(view.cites)
        display(view)

    def what_if(self, lead: Leadership, *, alive: str, unclean: str, ahead: str) -> None:
        """Show the what-if panel, or its static twin at the parameters.

        Raises:
            UsageError: A parameter names a broker or choice that is not there.
        """
        known = {*self.cluster.live, *lead.dead}
        supposed = what_if.suppose(self.cluster, known, alive=alive, unclean=unclean, ahead=ahead)
        replay = partial(what_if.replay, self.cluster, self.version.version, lead.verdicts, lacking=lead.lacking)
        self.show(
            what_if_views.panel(
                lead,
                supposed,
                replay,
                interactive=self.interactive,
                remembered=self._remembered,
                source=self._source,
                at="" if self._at is None else self.as_of,
            )
        )

    def lesson(self, name: str) -> None:
        """Show one of Kafka's terms in the evidence of a shipped case: see :data:`casebook.questions.quiz.walkthrough.LESSONS`.

        Raises:
            UsageError: There is none of that name.
        """
        self.show(walkthrough_views.lesson(walkthrough.lesson(name)))

    def quiz(self, **answers: str) -> quiz_views.QuizPage:
        """The questions on this case, and what was answered; headless the parameters, ``?`` for the explanation alone.

        Args:
            answers: By the key of the question.
        """
        last = self._last_in_sync()
        self._quiz = quiz_views.QuizPage(
            questions=questions.questions(self._lead, last_in_sync=last),
            answers=answers,
            incident=walkthrough_views.incident(self.cluster, self.version, self._stored_states(), last),
            where=quiz_views.Where(source=self._source, at="" if self._at is None else self.as_of, quote=self._shown),
            interactive=self.interactive,
            remembered=self._remembered,
        )
        return self._quiz

    def _last_in_sync(self) -> Mapping[tuple[str, int], past.LastInSync]:
        """The last ISR of each partition that named anybody, as far as the case has a history."""
        if not self.case.has_history or self.as_of is None:
            return {}
        with suppress(CaseError):  # a torn history: it is not known then
            return past.last_in_sync(history_facts.read(self.case.history()), epoch_ms(self.as_of))
        return {}

    def _stored_states(self) -> dict[str, bytes | None]:
        """The states of partitions as they are stored, by path."""
        found: dict[str, bytes | None] = {}
        with suppress(CaseError):  # a torn file ends early; what is missing then is shown as unknown
            for znode in self.case.znodes(at=self._at):
                if znode.path.endswith("/state"):
                    found[znode.path] = znode.data
        return found

    def _shown(self, cites: Sequence[str]) -> Markup:
        return proof.shown(*citations.evidence(self.case, cites, at=self._at))

    def paste_box(self) -> None:
        """Show the box that makes a case of pasted text, or the command that does."""
        self.show(pasted_views.box(made_of, interactive=self.interactive, remembered=self._remembered))

    def finish(self, findings: Sequence[Finding]) -> None:
        """Fill the summary at the top and write findings, tables and the record of the run."""
        display(self._summary(findings), display_id=_SUMMARY, update=True)
        display(self._cited())
        folder = self._folder.path()
        self._write(folder)
        runs.write_findings(
            folder, notebook=self._notebook, source=self._source, kafka_versions=applied(self.version), findings=findings
        )
        runs.write_record(folder, self._record())
        if (published := self._folder.publish()) is not None:
            display(triage.written(published))

    def _summary(self, findings: Sequence[Finding]) -> View:
        if self._quiz is not None:
            return quiz_views.summary(self._quiz, self.evidence)
        return triage.summary(findings, self.case, self.cluster, plan=self.plan(), at=None if self._at is None else self.as_of)

    def _cited(self) -> View:
        """The evidence behind every proof link, as it was read."""
        cites = [cite for cite in (self.version.proof, *self._cites) if cite]
        return proof.cited(*citations.evidence(self.case, cites, at=self._at))

    def _quote(self, cite: str) -> View:
        """The evidence behind one proof link."""
        return proof.quoted(*citations.evidence(self.case, [cite], at=self._at))

    def _record(self) -> dict[str, object]:
        return {
            "notebook": self._notebook,
            "source": self._source,
            "case": self.case.name,
            "cluster": kept_runs.as_json(self.identity),
            "case_sha256": self.case.digest,
            "collected_at": self.case.collected_at,
            "started": self._started.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "seconds": round((datetime.now(UTC) - self._started).total_seconds(), 3),
            **runs.surroundings(notebooks.find(self._notebook).path),
        }


def show(view: View) -> None:
    """Display a view that belongs to no case."""
    display(style())
    display(view)


def self_check() -> tuple[_doctor.Examined, ...]:
    """What will work on this machine and what will not: the same as ``casebook doctor``."""
    return _doctor.examine()


def contents() -> tuple[notebooks.Notebook, ...]:
    """The notebooks that are there."""
    return notebooks.every()
