"""The offsets topic: size and causes, compaction, writers. Content of notebook 40."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from casebook.errors import CasebookError
from casebook.facts.cluster import Cluster
from casebook.facts.disks import OFFSETS_TOPIC, LogDir, Replica
from casebook.facts.events import Event, LogFile
from casebook.facts.offsets_topic import NextClean, OffsetsLog, Scanned, Segment
from casebook.facts.pasted_hosts import ThreadDump
from casebook.findings import copy_coverage, coverage, log_checks
from casebook.findings.finding import Finding
from casebook.kafka.load_rate import Rate
from casebook.kafka.load_work import Work
from casebook.kafka.releases import VersionInUse
from casebook.kafka.retention import TopicSettings
from casebook.kafka.settings import Setting
from casebook.questions.offsets_topic.analysis import checks, cleaner
from casebook.questions.offsets_topic.analysis import unread as offsets_unread
from casebook.questions.offsets_topic.analysis import writers as offsets_writers
from casebook.questions.offsets_topic.analysis.cleaner import BrokerCleaner, CleanerVerdict
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.offsets_topic.analysis.unread import Unread
from casebook.questions.offsets_topic.analysis.writers import Growth, LoadTime, Onset, Writer

_COMPACTED = (OFFSETS_TOPIC, "__transaction_state")


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsTopic:
    """Content of notebook 40.

    Args:
        partitions: Copies, largest first.
        cleaners: Cleaners by broker id.
        verdicts: Verdicts by broker and partition.
        settings: Settings of the topic on the broker of the largest copy.
        findings: One per check, in a fixed order.
        unread: Why no segment was read, if so.
    """

    cluster: Cluster
    version: VersionInUse
    scanned: Scanned
    partitions: tuple[OffsetsPartition, ...]
    cleaners: tuple[BrokerCleaner, ...]
    verdicts: Mapping[tuple[int, int], CleanerVerdict]
    settings: tuple[Setting, ...]
    findings: tuple[Finding, ...]
    rates: Mapping[int, Rate]
    unread: Unread

    @property
    def empty(self) -> bool:
        """Whether it is empty."""
        return offsets_unread.is_empty(self.cluster, self.partitions)

    @property
    def to_choose(self) -> dict[str, OffsetsPartition]:
        """By partition, in order, the copy to examine: a read one, if any; the largest of several."""
        by_number = {row.partition: row for row in reversed(self._to_look_at)}
        return {str(number): by_number[number] for number in sorted(by_number)}

    @property
    def largest(self) -> OffsetsPartition | None:
        """Copy to examine first."""
        return next(iter(self._to_look_at), None)

    @property
    def _to_look_at(self) -> Sequence[OffsetsPartition]:
        return [row for row in self.partitions if row.live_bytes is not None] or self.partitions

    def of(self, copy: OffsetsPartition) -> Scanned:
        """Return the scan of one copy."""
        return self.scanned.of(copy.broker, copy.partition)

    def writers(self, copy: OffsetsPartition) -> tuple[Writer, ...]:
        """Return the writers of a copy, largest first."""
        scan = self.of(copy)
        return offsets_writers.writers(scan.group_bytes, scan.history, scan.groups, copy.partition)

    def onset(self, copy: OffsetsPartition) -> Onset | None:
        """Return when growth rose most, and with which group."""
        return offsets_writers.onset(self.of(copy).group_bytes, copy.partition)

    def growth(self, copy: OffsetsPartition) -> Growth:
        """Return the growth of a copy."""
        load = self.load_time(copy.broker)
        rows, since = self.of(copy).group_bytes, self.cleaned_to(copy)
        return offsets_writers.growth(rows, copy.partition, copy.bytes, copy.records, load, since=since)

    def cleaned_to(self, copy: OffsetsPartition) -> int | None:
        """Return when the first dirty segment of a copy began, epoch ms; earlier records may be cleaned away."""
        verdict = self.verdicts.get((copy.broker, copy.partition))
        if verdict is None or verdict.dirt is None or copy.cleaner_point is None:
            return None
        dirty = [one for one in self.segments(copy.broker, copy.partition) if one.base_offset >= verdict.dirt.first_dirty]
        return next((one.first_time for one in dirty if one.first_time is not None), None)

    def segments(self, broker: int, partition: int) -> tuple[Segment, ...]:
        """Return a copy's segments, by base offset."""
        return tuple(s for s in self.scanned.segments if (s.broker, s.partition) == (broker, partition))

    def load_time(self, broker: int) -> LoadTime:
        """Return a function for the duration of a load on a broker by bytes and records."""
        return _load_time(self.rates.get(broker), broker)


def examine(
    cluster: Cluster,
    version: VersionInUse,
    *,
    log_dirs: Sequence[LogDir] = (),
    events: Sequence[Event] = (),
    files: Sequence[LogFile] = (),
    dumps: Sequence[ThreadDump] = (),
    scanned: Scanned | None = None,
    rates: Mapping[int, Rate] | None = None,
    failed: CasebookError | None = None,
    looked: bool = True,
) -> OffsetsTopic:
    """Judge every copy of the offsets topic, and run every check on it. Any evidence may be missing.

    Args:
        cluster: Leaders and settings, as far as collected.
        log_dirs: Listed log dirs.
        events: Events of all brokers' logs.
        files: Coverage of those logs.
        dumps: Thread dumps of brokers, in pasted order.
        scanned: Result of a scan of segments.
        rates: Load rates of each broker, from :mod:`casebook.questions.coordinators.analysis.coordinators`.
        failed: Why segments could not be read.
        looked: Whether segments may be read.
    """
    replicas = copies(log_dirs)
    scan, rates = offsets_unread.proven(scanned or Scanned(), [replica for replica, _ in replicas]), rates or {}
    settings = TopicSettings(cluster, version.version)
    configured = {t for t, config in cluster.topic_configs.items() if "compact" in config.get("cleanup.policy", "")}
    told = {one.broker for one in (*events, *files, *dumps) if one.broker is not None}
    brokers = sorted({d.broker for d in log_dirs} | told | {s.broker for s in scan.segments} | cluster.live)
    cleaners = {
        broker: cleaner.broker_cleaner(
            broker,
            version.version,
            settings.cleaner(broker),
            log_dirs=log_dirs,
            events=events,
            compacted=configured.union(_COMPACTED),
            files=files,
            dumps=dumps,
        )
        for broker in brokers
    }
    logs = {(log.broker, log.partition): log for log in scan.logs}
    verdicts = {
        (replica.broker, replica.partition): cleaner.judge(
            replica, cleaners[replica.broker], version.version, log_dir=log_dir, logs=logs
        )
        for replica, log_dir in replicas
    }
    partitions = _partitions(cluster, scan, [replica for replica, _ in replicas], verdicts, cleaners, rates)
    largest = partitions[0].broker if partitions else next(iter(cleaners), None)
    shown = _settings(settings, largest)
    assigned = {broker for p in cluster.partitions if p.topic == OFFSETS_TOPIC for broker in p.replicas}
    holders = sorted(assigned | {copy.broker for copy in partitions})
    of_brokers = [file for file in files if file.is_of_brokers]
    unread = offsets_unread.unread([replica for replica, _ in replicas], failed, looked=looked)
    return OffsetsTopic(
        cluster=cluster,
        version=version,
        scanned=scan,
        partitions=partitions,
        cleaners=tuple(cleaners.values()),
        verdicts=verdicts,
        settings=shown,
        findings=log_checks.unread(of_brokers)
        + offsets_unread.unread_segments(failed)
        + offsets_unread.unread_listings(log_dirs)
        + checks.checks(
            cluster,
            version,
            partitions,
            tuple(cleaners.values()),
            scan,
            shown,
            {broker: settings.of_broker("offsets.load.buffer.size", broker) for broker in holders},
            unread,
            unlisted=copy_coverage.copies(cluster, [OFFSETS_TOPIC], log_dirs)
            + coverage.overrides(cluster, "topics")
            + coverage.unread_logs(of_brokers, cluster),
            unmapped=copy_coverage.copies(cluster, configured.union(_COMPACTED), log_dirs)
            + coverage.overrides(cluster, "topics"),
            unread_content=copy_coverage.contents(cluster, OFFSETS_TOPIC, [replica for replica, _ in replicas], scan)
            + copy_coverage.listings(log_dirs),
            outdated=copy_coverage.latest(cluster, OFFSETS_TOPIC, [replica for replica, _ in replicas], scan),
        ),
        rates=rates,
        unread=unread,
    )


def copies(log_dirs: Iterable[LogDir]) -> list[tuple[Replica, LogDir]]:
    """Return every copy of a partition of the offsets topic, with its log dir."""
    found = [(r, d) for d in log_dirs for r in d.replicas if r.topic == OFFSETS_TOPIC]
    return sorted(found, key=lambda pair: (pair[0].broker, pair[0].partition))


def clean_bounds(topic: OffsetsTopic) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the first dirty and first uncleanable segment of each copy, by broker and partition, to scan the next clean."""
    return {at: (v.dirt.first_segment, v.dirt.first_uncleanable) for at, v in topic.verdicts.items() if v.dirt is not None}


def _partitions(
    cluster: Cluster,
    scan: Scanned,
    replicas: Sequence[Replica],
    verdicts: Mapping[tuple[int, int], CleanerVerdict],
    cleaners: Mapping[int, BrokerCleaner],
    rates: Mapping[int, Rate],
) -> tuple[OffsetsPartition, ...]:
    leaders = {p.partition: p.state.leader for p in cluster.partitions if p.topic == OFFSETS_TOPIC and p.state is not None}
    listed = {(replica.broker, replica.partition): replica for replica in replicas}
    scanned: dict[tuple[int, int], list[Segment]] = {}
    for segment in scan.segments:
        scanned.setdefault((segment.broker, segment.partition), []).append(segment)
    logs = {(log.broker, log.partition): log for log in scan.logs}
    cleans = {(clean.broker, clean.partition): clean for clean in scan.next_clean}
    rows = [
        _partition(
            at, listed.get(at), scanned.get(at), logs.get(at), cleans.get(at), verdicts.get(at), cleaners[at[0]], leaders, rates
        )
        for at in sorted(listed.keys() | scanned.keys())
    ]
    return tuple(sorted(rows, key=lambda row: (-row.bytes, row.partition, not row.coordinator, row.broker)))


def _partition(
    at: tuple[int, int],
    replica: Replica | None,
    segments: Sequence[Segment] | None,
    log: OffsetsLog | None,
    clean: NextClean | None,
    verdict: CleanerVerdict | None,
    of_broker: BrokerCleaner,
    leaders: Mapping[int, int | None],
    rates: Mapping[int, Rate],
) -> OffsetsPartition:
    broker, partition = at
    found = segments or ()
    size = replica.bytes if replica else sum(s.bytes for s in found)
    records = sum(s.records + s.markers for s in found) if segments else None
    rule, why, since = (verdict.rule, verdict.why, verdict.since) if verdict else cleaner.without_log_dir(of_broker)[:3]
    safe = [s for s in found if s.safe_to_do_without]
    return OffsetsPartition(
        broker=broker,
        partition=partition,
        coordinator=leaders[partition] == broker if partition in leaders else None,
        segments=len(replica.segments) if replica else len(found),
        bytes=size,
        records=records,
        unread_bytes=offsets_unread.unread_bytes(replica, found) if segments else None,
        live_bytes=sum(s.live_bytes for s in found) if segments else None,
        live_records=sum(s.live_records for s in found) if segments else None,
        live_segments=sum(s.live_records > 0 for s in found) if segments else None,
        commits=log.commits if log else None,
        groups=log.groups if log else None,
        cleaner_point=replica.cleaner_point if replica else None,
        dirty_ratio=verdict.dirt.ratio if verdict and verdict.dirt else None,
        limit=of_broker.settings.ratio.real,
        next_clean_gains=clean.bytes_before - clean.bytes_after if clean else None,
        next_clean_keys=clean.keys if clean else None,
        safe_segments=len(safe) if segments else None,
        safe_bytes=sum(s.bytes for s in safe) if segments else None,
        load_ms=_load_time(rates.get(broker), broker)(size, records),
        rule=rule,
        why=why,
        since=since,
        oldest=min((s.first_time for s in found if s.first_time is not None), default=None),
        newest=max((s.last_time for s in found if s.last_time is not None), default=None),
    )


def _load_time(rate: Rate | None, broker: int) -> LoadTime:
    def takes(size: int, records: int | None) -> int | None:
        mid = rate.takes(Work(broker, size, records, counted=records is not None)).mid if rate else None
        return None if mid is None else round(mid)

    return takes


def _settings(settings: TopicSettings, broker: int | None) -> tuple[Setting, ...]:
    of_cleaner = settings.cleaner(broker) if broker is not None else None
    found = [getattr(of_cleaner, field.name) for field in fields(of_cleaner)] if of_cleaner else []
    of_topic = settings.segment_bytes(broker), settings.compression(broker), settings.retention(broker)
    return (*found, *of_topic, settings.of_broker("offsets.load.buffer.size", broker))
