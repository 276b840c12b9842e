"""What several notebooks ask of one case, read and weighed once: its logs, its timeline, its offsets topic."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from casebook.analysis import evidence, log_checks, timeline
from casebook.analysis.moments import Observations
from casebook.analysis.timeline import Timeline
from casebook.analysis.unclean_price import Committed
from casebook.case import Case
from casebook.errors import ScanError
from casebook.facts import Cluster
from casebook.formats import history_facts
from casebook.observed import Source
from casebook.offsets_evidence import OffsetsEvidence
from casebook.scans import logs
from casebook.scans.logs import Logs, Zones
from casebook.scans.stored_events import Stored
from casebook.storage import Partition
from casebook.versions import VersionInUse

Progress = Callable[[int, int | None], None]
_MANY_EVENTS = 100_000
"""More are not weighed: a timeline is made of the rarest kinds then, and all others are only counted."""


class SharedEvidence:
    """The evidence of a case, each part by the time zone of lines that do not tell theirs.

    Args:
        case: The case.
        cluster: As the case tells it.
        version: The release whose rules apply.
        progress: Makes what is told how far a long work is, from what it is called and what it counts.
    """

    def __init__(self, case: Case, cluster: Cluster, version: VersionInUse, *, progress: Callable[..., Progress]) -> None:
        self._case, self._cluster, self._version, self._progress = case, cluster, version, progress
        self._logs: dict[str, Logs] = {}
        self._timelines: dict[str, Timeline] = {}
        self._offsets: dict[tuple[str, bool], OffsetsEvidence] = {}

    def logs(self, timezone: str) -> Logs:
        """What the logs tell; nothing, with the reason, where they cannot be read here.

        Raises:
            UsageError: There is no such time zone.
        """
        if timezone not in self._logs:
            zones = Zones.parse(timezone)
            try:
                told = logs.read(self._case, zones, progress=self._progress("Reading logs", unit="files"))
            except ScanError as error:
                told = Logs(None, {item.path: broker for item, broker in self._case.logs()}, error)
            self._logs[timezone] = told
        return self._logs[timezone]

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

    @property
    def observed(self) -> Observations:
        """Of when logs and history are; nothing before they were read."""
        return next((found.observed for found in reversed(self._timelines.values())), {})

    def timeline(self, timezone: str) -> Timeline:
        """What happened in which order.

        Raises:
            UsageError: There is no such time zone.
        """
        if timezone not in self._timelines:
            self._timelines[timezone] = self._examined(self.logs(timezone), timezone)
        return self._timelines[timezone]

    def _examined(self, told: Logs, timezone: str) -> Timeline:
        kinds = told.rarest(_MANY_EVENTS)
        found = timeline.examine(
            self._cluster,
            self._version,
            events=told.events(kinds),
            files=told.files,
            untyped=told.untyped,
            history=history_facts.read(self._case.past()),
            timezone=timezone,
        )
        doubts = log_checks.unread(told.files, told.unread) + evidence.left_out(told.counts().keys() - kinds)
        return replace(found, findings=doubts + found.findings)

    def stored_events(self, timezone: str) -> Stored | None:
        """The events where they lie, when they are too many to hold."""
        told = self.logs(timezone)
        return Stored(told, self.timeline(timezone)) if told.total > _MANY_EVENTS else None

    def offsets(self, timezone: str, *, scan: bool) -> OffsetsEvidence:
        """The offsets topic and its coordinators.

        Args:
            scan: Whether segments may be read; where they were, nothing is gathered again without them.

        Raises:
            UsageError: There is no such time zone.
        """
        asked = (timezone, scan or (timezone, True) in self._offsets)
        if asked not in self._offsets:
            self._offsets[asked] = OffsetsEvidence(
                self._case,
                self._cluster,
                self._version,
                logs=self.logs(timezone),
                clocks=lambda: self.timeline(timezone).clocks,
                scan=scan,
                progress=self._progress("Reading segments", unit="parts"),
            )
        return self._offsets[asked]

    def committed(self, timezone: str) -> Committed | None:
        """What groups have committed, where the case tells of the offsets topic."""
        scanned = self.offsets(timezone, scan=True).scanned
        if scanned is None:
            return None
        found: dict[str, dict[Partition, int]] = {}
        for commit in scanned.commits:
            found.setdefault(commit.group, {})[commit.topic, commit.partition] = commit.offset
        return found
