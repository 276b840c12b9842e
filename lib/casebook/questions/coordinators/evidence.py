"""Evidence on a case's offsets topic, shared by notebooks: logs, log dirs, one scan."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from casebook.case.case import Case
from casebook.errors import ScanError
from casebook.facts.cluster import Cluster
from casebook.facts.disks import OFFSETS_TOPIC, LogDir, Replica
from casebook.facts.events import Event, LogFile
from casebook.facts.offsets_topic import Scanned
from casebook.facts.pasted_hosts import ThreadDump
from casebook.findings import log_checks
from casebook.findings.finding import NOTHING, Finding, Question, once
from casebook.kafka.past_rows import Clock
from casebook.kafka.releases import LOAD_TAKES_ANY_BATCH, OFFSETS_EXPIRE, VersionInUse
from casebook.kafka.settings import Settings
from casebook.questions.coordinators.analysis import coordinators, load_queue
from casebook.questions.coordinators.analysis import lines as coordinator_lines
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.coordinators.analysis.scene import within
from casebook.questions.coordinators.analysis.states import CoordinatorState, load_buffer
from casebook.questions.offsets_topic.analysis import cleaner, cleaner_lives, deletion, no_offsets_topic, offsets_topic
from casebook.questions.offsets_topic.analysis.deletion import Deletions, Place
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsTopic
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.offsets_topic.scans import batch_sizes
from casebook.questions.timeline.analysis.clocks import corrected
from casebook.questions.timeline.scans.logs import Logs

_WELL = Question(check="evidence.brokers", question="Are the offsets topic and its coordinators well?", coverage=NOTHING)
_KINDS = cleaner.KINDS | load_queue.KINDS | {"unreadable"}
_MUCH_LARGER = 1.5  # times the coordinator's
Progress = Callable[[int, int | None], None]


class OffsetsEvidence:
    """Evidence on the offsets topic; each part is read lazily.

    Args:
        case: The case.
        cluster: The case's cluster.
        version: The release whose rules apply.
        logs: Content of the logs.
        clocks: Returns the clocks of the logs with their skew, on demand.
        scan: Whether to read segments: seconds for Spark, and longer for many. Earlier results are used in any case.
        progress: Receives the progress of the scan.
    """

    def __init__(
        self,
        case: Case,
        cluster: Cluster,
        version: VersionInUse,
        *,
        logs: Logs,
        clocks: Callable[[], Iterable[Clock]] = tuple,
        scan: bool,
        progress: Progress | None = None,
    ) -> None:
        self._case, self._cluster, self._version = case, cluster, version
        self._logs, self._clocks, self._scan, self._progress = logs, clocks, scan, progress

    @cached_property
    def log_dirs(self) -> tuple[LogDir, ...]:
        """Listed log dirs."""
        return self._case.log_dirs()

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Events on cleaning and loading in brokers' logs."""
        told = (one for one in self._logs.events(kinds=_KINDS) if one.broker is not None or _is_of_some_cleaner(one))
        return corrected.corrected(told, self._clocks())

    @cached_property
    def files(self) -> tuple[LogFile, ...]:
        """Coverage of the logs."""
        return corrected.covered(self._logs.files, self._clocks(), self._logs.events)

    @cached_property
    def dumps(self) -> tuple[ThreadDump, ...]:
        """Pasted thread dumps of brokers."""
        pasted = self._case.pasted()
        return pasted.dumps if pasted is not None else ()

    @cached_property
    def lines(self) -> tuple[Event, ...]:
        """Log events on leaders and groups, when no znode has leaders, or no segment has a group."""
        kinds = frozenset() if self.scanned and self.scanned.groups else coordinator_lines.GROUPS
        if not any(partition.topic == OFFSETS_TOPIC for partition in self._cluster.partitions):
            kinds |= coordinator_lines.LEADERS
        told = self._logs.events(kinds=kinds, topic=OFFSETS_TOPIC) if kinds else ()
        return corrected.corrected((event for event in told if event.broker is not None), self._clocks())

    @cached_property
    def copies(self) -> tuple[Replica, ...]:
        """Copies to read: the coordinator's for each partition, and a much larger one, if any."""
        leaders = {p.partition: p.state.leader for p in self._cluster.partitions if p.topic == OFFSETS_TOPIC and p.state}
        by_partition: dict[int, list[Replica]] = {}
        for copy, _ in offsets_topic.copies(self.log_dirs):
            if copy.segments:
                by_partition.setdefault(copy.partition, []).append(copy)
        return tuple(copy for partition, some in by_partition.items() for copy in _worth_reading(some, leaders.get(partition)))

    @cached_property
    def aggregate(self) -> "Path | ScanError | None":
        """Result of a scan of the segments.

        An error on failure, or ``None`` when there is nothing to read or no scan is wanted.
        """
        if not self.copies:
            return None
        from casebook.questions.offsets_topic.scans import of_case  # Spark is imported only where needed

        try:
            if not self._scan:
                return of_case.kept(self._case, self.copies)
            return of_case.aggregate(self._case, self.copies, progress=self._progress)
        except ScanError as error:
            return error

    @cached_property
    def scanned(self) -> Scanned | None:
        """Return the result of the scan; ``None`` without one."""
        if not isinstance(self.aggregate, Path):
            return None
        from casebook.questions.offsets_topic.scans import offsets_topic as aggregated

        unread = self._judged(None)
        retention = next((value.whole for value in unread.settings if value.name == "offsets.retention.minutes"), None)
        expiry = aggregated.Expiry(
            rule=OFFSETS_EXPIRE.at(self._version.version),
            retention=None if retention is None else 60_000 * retention,
            now=max((d.listed_at for d in self.log_dirs if d.listed_at is not None), default=None),
        )
        read = {(copy.broker, copy.partition) for copy in self.copies}
        bounds = {at: ends for at, ends in offsets_topic.clean_bounds(unread).items() if at in read}
        return aggregated.read(self.aggregate, expiry=expiry, bounds=bounds)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return findings on both; a single one when a case has no broker's disk or log."""
        if self.log_dirs or self.events or self._logs.unread:
            unread = log_checks.unread(self._logs.files, self._logs.unread)
            return once((*unread, *self.offsets_topic.findings, *self.coordinators.findings))
        if self._cluster.lacks(OFFSETS_TOPIC):
            return (_WELL.not_applicable(no_offsets_topic.TITLE),)
        if (pasted := self._case.pasted()) is not None and (pasted.files or pasted.used or pasted.logs or pasted.hosts):
            title = "The pasted disk listings and logs name no broker's offsets topic"
            settle = (
                "Write a line such as 'broker 3:' above what is from broker 3; paste ls -l of its partitions, and its log lines."
            )
            return (_WELL.could_not_check(title, settle=settle),)
        settle = "Collect with --log-dirs BROKER=DIR and --logs BROKER=GLOB."
        return (_WELL.could_not_check("This case has no log dirs and no broker logs", settle=settle),)

    @cached_property
    def coordinators(self) -> Coordinators:
        """Return which groups wait for which coordinator."""
        found = self._coordinators({})
        loading = within(found.partitions, CoordinatorState.LOADING)
        if self.scanned is not None or not loading or LOAD_TAKES_ANY_BATCH.at(self._version.version):
            return found
        largest = self._largest({(one.judged.coordinator, one.judged.partition) for one in loading})
        return self._coordinators(largest) if largest else found

    def _largest(self, loading: Collection[tuple[int | None, int]]) -> dict[int, int]:
        """Return the largest batch of partitions being loaded, from headers alone, without waiting for a scan."""
        buffer = Settings(self._cluster, self._version.version)
        found = {}
        for copy, _ in offsets_topic.copies(self.log_dirs):
            if (copy.broker, copy.partition) in loading and (largest := batch_sizes.largest(copy)) is not None:
                limit = load_buffer(buffer, copy.broker).number
                if largest.is_all or (limit is not None and largest.bytes > limit):
                    found[copy.partition] = largest.bytes
        return found

    def _coordinators(self, largest: Mapping[int, int]) -> Coordinators:
        scanned = self.scanned or Scanned()
        return coordinators.examine(
            self._cluster,
            self._version,
            log_dirs=self.log_dirs,
            events=self.events,
            files=self.files,
            groups=[group.group for group in scanned.groups],
            lines=self.lines,
            segments=scanned.segments,
            largest=largest,
        )

    @cached_property
    def offsets_topic(self) -> OffsetsTopic:
        """Return the size of the topic, its causes, and why it is not compacted."""
        return self._judged(self.scanned)

    def deletions(self, copy: OffsetsPartition, tried: Mapping[str, Sequence[Place]]) -> Deletions:
        """Return the effect of deleting sets of a copy's segments: each set with its price, and the losses by set name.

        Raises:
            ScanError: There is no scan.
        """
        if self.scanned is None:
            raise ScanError(self.offsets_topic.unread.why, try_=self.offsets_topic.unread.settle)
        from casebook.questions.offsets_topic.scans.deletions import deletions

        found = deletions(self.aggregate, tried, self.scanned.segments)
        load = self.offsets_topic.load_time(copy.broker)
        choices = deletion.choices(
            tried, found, self.offsets_topic.segments(copy.broker, copy.partition), load, is_whole=copy.is_whole
        )
        return Deletions(
            choices=choices,
            groups={one.scenario: deletion.lost_groups(one, self.scanned.groups) for one in found},
            commits={one.scenario: one.by_commit for one in found},
        )

    def _judged(self, scanned: Scanned | None) -> OffsetsTopic:
        rates = {queue.broker: queue.rate for queue in self.coordinators.queues if queue.rate} if scanned else {}
        return offsets_topic.examine(
            self._cluster,
            self._version,
            log_dirs=self.log_dirs,
            events=self.events,
            files=self.files,
            dumps=self.dumps,
            scanned=scanned,
            rates=rates,
            failed=self.aggregate if isinstance(self.aggregate, ScanError) else None,
            looked=self._scan,
        )


def not_as_of(moment: str) -> tuple[Finding, ...]:
    """Return the single answer for a past moment: log dirs are only valid when listed."""
    title = f"Log dirs show the moment of their listing, not {moment}"
    return (_WELL.could_not_check(title, settle="Run without the parameter at, for the moment of the evidence."),)


def _worth_reading(copies: Sequence[Replica], leader: int | None) -> list[Replica]:
    largest = max(copies, key=lambda copy: copy.bytes)
    led = next((copy for copy in copies if copy.broker == leader), largest)
    return [led, largest] if largest.bytes > _MUCH_LARGER * led.bytes else [led]


def _is_of_some_cleaner(event: Event) -> bool:
    """Return whether a line of a log of several brokers is about a failed clean of an unknown one.

    Its partition may identify it.
    """
    return event.broker is None and event.source == "broker" and event.kind == cleaner_lives.FAILED
