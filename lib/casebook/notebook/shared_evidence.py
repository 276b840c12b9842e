"""Evidence shared by notebooks of one case, read once: its logs, its timeline, its offsets topic."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from casebook.case.case import Case
from casebook.errors import ScanError
from casebook.facts.cluster import Cluster
from casebook.facts.disks import Partition
from casebook.facts.observed import Source
from casebook.findings import evidence, log_checks
from casebook.formats.hosts import files
from casebook.formats.zookeeper import history_facts
from casebook.kafka.releases import VersionInUse
from casebook.questions.coordinators.evidence import OffsetsEvidence
from casebook.questions.loss.analysis.unclean_price import Committed
from casebook.questions.timeline.analysis import timeline
from casebook.questions.timeline.analysis.clocks.zones import Zones
from casebook.questions.timeline.analysis.timeline import Timeline
from casebook.questions.timeline.scans import log_layouts, logs
from casebook.questions.timeline.scans.logs import Logs
from casebook.questions.timeline.scans.stored_events import StoredEvents

Progress = Callable[[int, int | None], None]
_MANY_EVENTS = 100_000
"""Limit of events: beyond it, a timeline uses the rarest kinds and only counts the others."""


class SharedEvidence:
    """The evidence of a case.

    Args:
        case: The case.
        cluster: The case's cluster.
        version: The release whose rules apply.
        timezone: Zone of log lines without one, see :meth:`casebook.questions.timeline.analysis.clocks.zones.Zones.parse`.
        log_layout: See :func:`casebook.questions.timeline.scans.log_layouts.regex`.
        progress: Creates a progress callback from a task's name and unit.

    Raises:
        UsageError: The time zone does not exist, or the layout is invalid.
    """

    def __init__(
        self,
        case: Case,
        cluster: Cluster,
        version: VersionInUse,
        *,
        timezone: str = "UTC",
        log_layout: str = "",
        progress: Callable[..., Progress],
    ) -> None:
        self._case, self._cluster, self._version, self._progress = case, cluster, version, progress
        self._timezone, self._zones = timezone, Zones.parse(timezone)
        self._layout = log_layouts.regex(log_layout)
        self._offsets: dict[bool, OffsetsEvidence] = {}

    @cached_property
    def logs(self) -> Logs:
        """Content of the logs; empty with the reason when unreadable here."""
        try:
            return logs.read(self._case, self._zones, layout=self._layout, progress=self._progress("Reading logs", unit="files"))
        except ScanError as error:
            return Logs(None, {item.path: broker for item, broker in self._case.logs()}, error)

    @cached_property
    def absent(self) -> frozenset[Source]:
        """Kinds of evidence that the case lacks."""
        case, cluster = self._case, self._cluster
        listed = bool(case.log_dirs())
        there = {
            Source.ZNODES: bool(cluster.there or cluster.partitions or cluster.brokers),
            Source.HISTORY: case.has_history,
            Source.LOG_DIRS: listed,
            Source.SEGMENTS: listed,
            Source.LOGS: bool(case.logs()),
            Source.SETTINGS: bool(cluster.started_with),
        }
        return frozenset(source for source, known in there.items() if not known)

    @cached_property
    def timeline(self) -> Timeline:
        """Events in order."""
        told = self.logs
        kinds = told.rarest(_MANY_EVENTS)
        found = timeline.examine(
            self._cluster,
            self._version,
            events=told.events(kinds),
            files=told.files,
            untyped=told.untyped,
            history=history_facts.read(self._case.past()),
            timezone=self._timezone,
            hosts=files.read(self._case.metrics(), self._zones.clock),
        )
        doubts = log_checks.unread(told.files, told.unread) + evidence.left_out(told.counts().keys() - kinds)
        return replace(found, findings=doubts + found.findings)

    def stored_events(self) -> StoredEvents | None:
        """Stored events, when they are too numerous for memory."""
        return StoredEvents(self.logs, self.timeline) if self.logs.total > _MANY_EVENTS else None

    def offsets(self, *, scan: bool) -> OffsetsEvidence:
        """Return the offsets topic and its coordinators.

        Args:
            scan: Whether to read segments; an earlier result with segments is reused either way.
        """
        scan = scan or True in self._offsets
        if scan not in self._offsets:
            self._offsets[scan] = OffsetsEvidence(
                self._case,
                self._cluster,
                self._version,
                logs=self.logs,
                clocks=lambda: self.timeline.clocks if self.logs.files else (),
                scan=scan,
                progress=self._progress("Reading segments", unit="parts"),
            )
        return self._offsets[scan]

    def committed(self) -> Committed | None:
        """Committed offsets of groups, when the case has the offsets topic."""
        scanned = self.offsets(scan=True).scanned
        if scanned is None:
            return None
        found: dict[str, dict[Partition, int]] = {}
        for commit in scanned.commits:
            found.setdefault(commit.group, {})[commit.topic, commit.partition] = commit.offset
        return found
