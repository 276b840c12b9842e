"""Answers of a case: one method per question of a notebook, in any order; results to write are kept."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from casebook.case.case import Case
from casebook.errors import CaseError, ScanError
from casebook.facts.cluster import Cluster, instant
from casebook.facts.observed import Observations
from casebook.findings import evidence
from casebook.findings.finding import Finding, Status, once
from casebook.findings.past_runs import Identity
from casebook.kafka.releases import VersionInUse
from casebook.notebook.evidence_times import EvidenceTimes
from casebook.notebook.kept import Kept
from casebook.notebook.shared_evidence import Progress, SharedEvidence
from casebook.questions.coordinators import evidence as offsets_evidence
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.coordinators.evidence import OffsetsEvidence
from casebook.questions.durability import evidence as durability_evidence
from casebook.questions.durability.analysis import at_risk
from casebook.questions.durability.analysis.durability import Durability
from casebook.questions.leadership.analysis import leadership
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.loss.analysis.checks import GIVE_LEDGER
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.loss.answer import LossQuestion
from casebook.questions.loss.consumer_evidence import Consumed
from casebook.questions.loss.evidence import LossParameters
from casebook.questions.maintenance.analysis import asked as maintenance_asked
from casebook.questions.maintenance.analysis import maintenance
from casebook.questions.maintenance.analysis.maintenance import Maintenance
from casebook.questions.morning.analysis.since import Since
from casebook.questions.morning.evidence import Morning
from casebook.questions.offsets_topic.analysis.deletion import Deletions, Place
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsTopic
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.quiz import incidents
from casebook.questions.quiz.analysis.quiz import Quiz
from casebook.questions.timeline.analysis import checks, leaderless_since
from casebook.questions.timeline.analysis.timeline import Timeline
from casebook.questions.timeline.scans.stored_events import StoredEvents
from casebook.questions.triage.analysis import kraft_nodes, log_dir_checks, next_evidence, next_paste, plan
from casebook.questions.triage.analysis.plan import Plan
from casebook.runs import kept_runs

Answer = TypeVar("Answer", Coordinators, Durability, Leadership, Maintenance, MessageLoss, OffsetsTopic, Timeline)


class Examination:
    """Questions to one case.

    Answers are returned as concluded. :meth:`advised` adds the common parts at the end: observation times and the single plan.

    Args:
        case: The evidence.
        cluster: The case's cluster.
        version: The Kafka release whose rules apply.
        at: Moment of the cluster's state, in ms; ``None`` for the time of collection.
        source: Source of the case.
        timezone: Zone of times and log lines without one, see ``Zones.parse``.
        log_layout: Layout of log lines that is not detected, see ``log_layouts.regex``.
        progress: Creates a progress callback from a task's name and unit.
        earlier: Returns the questions to an earlier moment of the same cluster, if the source has one.

    Attributes:
        case, cluster, version, at: As given.
        evidence: Findings on the evidence itself, for every notebook.
        pasted: The part about pasted evidence, and what to paste next.
        as_of: Time of the evidence, ISO-8601 UTC.
        kept: Results for the run folder.
    """

    def __init__(
        self,
        *,
        case: Case,
        cluster: Cluster,
        version: VersionInUse,
        at: int | None,
        source: str = "",
        timezone: str = "UTC",
        log_layout: str = "",
        progress: Callable[..., Progress],
        earlier: "Callable[[], Examination | None]" = lambda: None,
    ) -> None:
        self.case, self.cluster, self.version = case, cluster, version
        self.at, self.as_of = at, case.collected_at if at is None else instant(at)
        is_present = at is None
        self.pasted = next_paste.checks(case.pasted(), cluster, version) if is_present else ()
        self._log_dirs = case.log_dirs() if is_present else ()
        self._times = EvidenceTimes(case, cluster, self._log_dirs, is_present=is_present)
        self._is_apart = self._times.is_apart
        of_kraft = kraft_nodes.check(cluster, self._log_dirs)
        of_all = evidence.checks(cluster, version, kraft=bool(of_kraft))
        self.evidence: tuple[Finding, ...] = (*of_all, *of_kraft, *self._times.checks, *self.pasted)
        self._shared = SharedEvidence(case, cluster, version, timezone=timezone, log_layout=log_layout, progress=progress)
        self._progress, self._source, self._earlier = progress, source, earlier
        self._timezone, self._log_layout = timezone, log_layout
        self._plans: dict[tuple[OffsetsEvidence | None, bool], Plan] = {}
        self.kept = Kept(tables={"problems": cluster.problems})

    def _in_time(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Add the moments of each observation, and remove findings that combine evidence of different moments."""
        return self._times.of(findings, self._shared.absent, self._observed())

    def _answered(self, answer: Answer, **tables: Sequence[object]) -> Answer:
        """Return the answer with its observation times, and keep its tables."""
        self.kept.tables |= tables
        return replace(answer, findings=self._in_time(answer.findings))

    def _observed(self) -> Observations:
        """Return observation times of logs and history, for the present."""
        return told.observed if (told := self._told()) else {}

    @property
    def _has_past(self) -> bool:
        return self.at is None and bool(self.case.has_history or self.case.logs())

    def _told(self) -> Timeline | None:
        """Return the timeline of logs and history; ``None`` when they are missing or torn, or for a past moment."""
        with suppress(CaseError):
            return self._shared.timeline if self._has_past else None

    def leadership(self) -> Leadership:
        """Return the partitions without a leader, the reason, and the broker to start first."""
        lead = self._lead
        return self._answered(
            replace(lead, outdated=self._times.outdated is not None),
            partitions=lead.verdicts,
            start_first=lead.start_first,
            controller_epochs=lead.controller_epochs,
        )

    @cached_property
    def _lead(self) -> Leadership:
        return leadership.examine(self.cluster, self.version, () if self._is_apart else self._log_dirs)

    def plan(self, findings: Sequence[Finding] = ()) -> Plan:
        """Return what to do first and next; the same in every notebook.

        It uses the evidence of every notebook: znodes, listed log dirs, logs and history; for a past moment, only znodes.
        Segments and a ledger would show more about loads and lost records.

        Args:
            findings: Findings that show whether records were lost.
        """
        held, told = None if self._is_apart else self._current_offsets(), self._told()
        lost = any(one.check == "loss.lost" and one.status is Status.FINDING for one in findings)
        if (held, lost) not in self._plans:
            lead = self._lead if self._times.outdated is None else leadership.unknown(self._lead)
            past, topic = told.findings if told else (), held and held.offsets_topic
            self._plans[held, lost] = plan.make(lead, past=past, held=held and held.coordinators, topic=topic, lost=lost)
        return self._plans[held, lost]

    def _current_offsets(self) -> OffsetsEvidence | None:
        """Current offsets topic and coordinators; ``None`` without evidence."""
        if self.at is not None:
            return None
        offsets = self._shared.offsets(scan=False)
        return offsets if offsets.log_dirs or offsets.events else None

    def advised(self, findings: tuple[Finding, ...], made: Plan) -> tuple[Finding, ...]:
        """Complete findings for the report, with times and the plan's steps, which are kept; idempotent."""
        self.kept.tables["plan"] = made.steps
        if told := self._told():
            findings = leaderless_since.dated(findings, self._lead.verdicts, told)
        return made.advise(self._in_time(findings))

    def maintenance(self, *, scan: bool = True, **asked: str | float) -> Maintenance:
        """Return which brokers may restart, how to drain one, and leftovers.

        Args:
            scan: Whether to read segments, for names of groups and largest batches.
            asked: Parameters of :func:`casebook.questions.maintenance.analysis.asked.parse`.

        Raises:
            UsageError: A parameter names an invalid broker.
        """
        wanted = maintenance_asked.parse(self.cluster, **asked)
        offsets = self._shared.offsets(scan=scan)
        found = maintenance.examine(
            self.cluster, self.version, judged=self._lead.verdicts, asked=wanted, held=offsets.coordinators,
            log_dirs=offsets.log_dirs,
        )  # fmt: skip
        self.kept.plan = found.drain.files() if found.drain else {}
        return self._answered(
            found, restart_sets=found.restarts, drain_plan=found.drain.rows if found.drain else (), leftovers=found.leftovers
        )

    def disks(self) -> tuple[Finding, ...]:
        """Return findings from log dirs alone; none when not listed, or for a paste, which lists single folders."""
        return () if self.pasted else log_dir_checks.checks(self._log_dirs, self.cluster, self._live())

    def _live(self) -> Collection[int] | None:
        """Brokers registered when log dirs were listed; ``None`` when unknown."""
        is_known = self.cluster.brokers_known and not self._times.apart and self._times.outdated is None
        return self.cluster.live if is_known else None

    def maintenance_in_short(self, lead: Leadership) -> tuple[Finding, ...]:
        """Return the maintenance findings for the first five minutes."""
        held = self._current_offsets()
        of_loads = held.coordinators if held else None
        found = maintenance.in_short(self.cluster, self.version, lead.verdicts, of_loads, self._log_dirs)
        self.kept.tables |= {"restart_sets": found.restarts, "leftovers": found.leftovers}
        return found.findings

    def coordinators(self, *, scan: bool = True) -> Coordinators:
        """Return which groups wait for which coordinator, and until when.

        Args:
            scan: Whether to read segments, for names of groups and largest batches.
        """
        held = self._shared.offsets(scan=scan).coordinators
        return self._answered(held, coordinators=held.rows, blast_radius=held.radius, group_offsets=self.cluster.group_offsets)

    def everything(self, *, scan: bool = True) -> tuple[Finding, ...]:
        """Run every check of every notebook in one pass with shared evidence.

        Args:
            scan: Whether to read segments.
        """
        self.coordinators(scan=scan)
        self.offsets_topic(scan=scan)
        found = (
            self.evidence
            + self.leadership().findings
            + self.maintenance(scan=scan).findings
            + self._shared.offsets(scan=scan).findings
            + self.disks()
            + self._of_the_past()
            + self._of_records()
            + self.durability().findings
        )
        return self.together(found)

    def _of_the_past(self) -> tuple[Finding, ...]:
        found = self.timeline().findings
        return found if self.case.has_history or self.case.logs() else evidence.without_past(found)

    def _of_records(self) -> tuple[Finding, ...]:
        try:
            found = self.message_loss()[0].findings
        except ScanError as error:
            return evidence.not_read("loss.lost", "Is every acknowledged record still there?", error)
        return found if self.case.ledgers() else evidence.without_ledger(found, GIVE_LEDGER)

    def offsets_topic(self, *, scan: bool = True) -> OffsetsTopic:
        """Return the size of the offsets topic, its causes, and why it is not compacted.

        Args:
            scan: Whether to read segments.
        """
        topic = self._shared.offsets(scan=scan).offsets_topic
        return self._answered(
            topic,
            offsets_partitions=topic.partitions,
            offsets_segments=topic.scanned.segments,
            group_bytes=topic.scanned.group_bytes,
            commits=topic.scanned.commits,
            damage=topic.scanned.damage,
        )

    def groups(self) -> tuple[Finding, ...]:
        """Return the checks on the offsets topic and its coordinators, without reading further segments."""
        if self.at is not None:
            return offsets_evidence.not_as_of(self.as_of)
        return self._shared.offsets(scan=False).findings

    def timeline(self) -> Timeline:
        """Return events in order, with causes."""
        found = self._shared.timeline
        hosts = {"host_samples": found.hosts.told.samples, "host_clues": found.hosts.clues} if found.hosts.told.files else {}
        return self._answered(
            found,
            events=found.rows,
            windows=(*found.windows, *found.possible),
            partition_history=found.partition_history,
            untyped=found.untyped,
            **hosts,
        )

    def happened(self) -> tuple[Finding, ...]:
        """Return checks on the past from logs and history; none without either, or for a past moment."""
        return checks.in_short(self._shared.timeline.findings) if self._has_past else ()

    def together(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Merge the findings into one report, with the times of lost leaders from logs or history."""
        findings = once(findings)
        if self._has_past:
            findings = once((*findings, *kraft_nodes.check(self.cluster, self._log_dirs, self._shared.logs.counts())))
        if not self.pasted:
            kraft = self.cluster.is_kraft or any(finding.check == kraft_nodes.CHECK for finding in findings)
            findings = (*findings, *next_evidence.check(findings, self._shared.absent, kraft=kraft))
        return self.advised(findings, self.plan(findings))

    def message_loss(self, *, processed: str = "", group: str = "", **asked: str | bool) -> tuple[MessageLoss, Consumed]:
        """Return which acknowledged records are lost, when and why; and what consumers did with the others.

        Args:
            processed: Ledger of processed records; those of the case when empty.
            group: Consumer group of that ledger.
            asked: Parameters of :class:`casebook.questions.loss.evidence.LossParameters`, except ``zone``.

        Raises:
            UsageError: The ledger, a column of it, or a search parameter is unusable.
            ScanError: It is unreadable.
        """
        happened = self._shared.timeline
        asking = LossQuestion(
            case=self.case, cluster=self.cluster, version=self.version, timeline=happened, settings=(self.at, self._log_layout),
            offsets=partial(self._shared.offsets, scan=False), committed=self._shared.committed,
            progress=self._progress("Looking for records", unit="parts"),
        )  # fmt: skip
        found, consumed, self.kept.lost = asking.answer(LossParameters(zone=self._timezone, **asked), processed, group)
        self.kept.unprocessed = consumed.records
        answer = self._answered(
            replace(found, findings=found.findings + consumed.findings),
            reconciliation=found.classes,
            lost=(),
            unprocessed=(),
            cut_ranges=found.cut_ranges,
            loss_estimates=found.estimates,
            divergence=found.divergences,
            unclean_price=found.prices,
            commit_steps=consumed.steps,
            events=happened.rows,
            partition_history=happened.partition_history,
        )
        return answer, consumed

    def durability_in_short(self) -> tuple[Finding, ...]:
        """Return in one finding whether settings of topics and brokers allow the loss of acknowledged records."""
        return at_risk.in_short(self.cluster, self.version)

    def durability(self, *, clients: str = "", against: str = "") -> Durability:
        """Return possible losses by the settings of topics, brokers and clients.

        Args:
            clients: Clients as a person describes them: ``billing=java 2.8.1: payments invoices; mailer=librdkafka 1.9.2``.
            against: An earlier case to compare with: ``sample:<name>`` or a folder; ``""`` for none.

        Raises:
            UsageError: The description of clients, or the name of the earlier case, is invalid.
            CaseError: The earlier case cannot be opened.
        """
        found = durability_evidence.examined(self.case, self.cluster, self.version, clients, against=against)
        return self._answered(
            found,
            settings=found.settings,
            loss_verdicts=found.verdicts,
            client_settings=found.clients,
            single_copies=found.exposure,
            isr_alone=found.isr_alone,
            audit_changes=found.changes or (),
        )

    def deletions(self, copy: OffsetsPartition) -> Callable[[Mapping[str, Sequence[Place]]], Deletions]:
        """Return a function for sets of a copy's segments: the effect of deleting each."""
        return partial(self._shared.offsets(scan=True).deletions, copy)

    def stored_events(self) -> StoredEvents | None:
        """Return the stored events of the timeline, when they are too numerous for memory."""
        return self._shared.stored_events()

    def since(self, findings: Sequence[Finding], *, runs: str | Path, against: str = "") -> Since:
        """Return the changes since the last run on the same cluster: see :meth:`Morning.since`.

        A sample with an earlier moment is compared with it: that run is made now.
        """
        past = kept_runs.read(Path(runs).expanduser())
        if (before := self._earlier()) is not None:
            past += (before._morning(before.everything()).as_past(),)
        found = self._morning(findings).since(past, against=against)
        self.kept.tables |= {"measures": found.measures, "changes": found.changes or ()}
        return found

    def _morning(self, findings: Sequence[Finding]) -> Morning:
        copies = self._shared.offsets(scan=False).offsets_topic.partitions
        return Morning(lead=self._lead, copies=copies, at=self.case.complete, identity=self.identity, findings=findings)

    @property
    def identity(self) -> Identity:
        """Identity of this cluster."""
        return kept_runs.identity(self.case, self.cluster, self._source)

    def quiz(self, incident: str) -> Quiz:
        """Return the questions of a walkthrough, by its name in ``INCIDENTS``; no table is kept: it would contain the answers."""
        unkept = copy(self)
        unkept.kept = Kept()
        return incidents.chosen(incident).ask(unkept)
