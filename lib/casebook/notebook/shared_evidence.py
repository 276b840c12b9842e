"""What several notebooks ask of one case, read and weighed once: its logs, its timeline, its offsets topic."""

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
"""More are not weighed: a timeline is made of the rarest kinds then, and all others are only counted."""


class SharedEvidence:
    """The evidence of a case.

    Args:
        case: The case.
        cluster: As the case tells it.
        version: The release whose rules apply.
        timezone: Of log lines that do not tell theirs, as
            :meth:`casebook.questions.timeline.analysis.clocks.zones.Zones.parse` takes it.
        log_layout: As :func:`casebook.questions.timeline.scans.log_layouts.regex` takes it.
        progress: Makes what is told how far a long work is, from what it is called and what it counts.

    Raises:
        UsageError: There is no such time zone, or the layout cannot be used.
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
        """What the logs tell; nothing, with the reason, where they cannot be read here."""
        try:
            return logs.read(self._case, self._zones, layout=self._layout, progress=self._progress("Reading logs", unit="files"))
        except ScanError as error:
            return Logs(None, {item.path: broker for item, broker in self._case.logs()}, error)

    @cached_property
    def absent(self) -> frozenset[Source]:
        """Kinds of evidence of which the case holds nothing."""
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
        """What happened in which order."""
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
        """The events where they lie, when they are too many to hold."""
        return StoredEvents(self.logs, self.timeline) if self.logs.total > _MANY_EVENTS else None

    def offsets(self, *, scan: bool) -> OffsetsEvidence:
        """The offsets topic and its coordinators.

        Args:
            scan: Whether segments may be read; where they were, nothing is gathered again without them.
        """
        scan = scan or True in self._offsets
        if scan not in self._offsets:
            self._offsets[scan] = OffsetsEvidence(
                self._case,
                self._cluster,
                self._version,
                logs=self.logs,
                clocks=lambda: self.timeline.clocks,
                scan=scan,
                progress=self._progress("Reading segments", unit="parts"),
            )
        return self._offsets[scan]

    def committed(self) -> Committed | None:
        """What groups have committed, where the case tells of the offsets topic."""
        scanned = self.offsets(scan=True).scanned
        if scanned is None:
            return None
        found: dict[str, dict[Partition, int]] = {}
        for commit in scanned.commits:
            found.setdefault(commit.group, {})[commit.topic, commit.partition] = commit.offset
        return found
