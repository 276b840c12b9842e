"""Checks on the offsets topic, in order; those on its cleaner are in a sibling module."""

from collections.abc import Iterable, Mapping, Sequence

from casebook.facts.cluster import Cluster
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.offsets_topic import Scanned, SegmentDamage
from casebook.findings import coverage
from casebook.findings.coverage import Gaps
from casebook.findings.finding import Coverage, Finding, Question, Severity, Status, Step
from casebook.findings.proof import assumed
from casebook.findings.words import agree, count, plural, size
from casebook.kafka.releases import LOAD_TAKES_ANY_BATCH, NEWER_GROUP_RECORDS, KafkaVersion, VersionInUse
from casebook.kafka.settings import Setting
from casebook.questions.offsets_topic.analysis import cleaner_checks, missing_topics, written
from casebook.questions.offsets_topic.analysis.cleaner import BrokerCleaner
from casebook.questions.offsets_topic.analysis.no_offsets_topic import not_asked
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.offsets_topic.analysis.unread import GIVE_LOG_DIRS, Unread, answered

_SEGMENTS = Evidence(file="tables/offsets_segments")
_RETENTION = "offsets.retention.minutes"
_BY_SETTING = KafkaVersion.parse("0.11.0.0")
_BY_BROKERS_UP = "Up to 0.10.2 it is created with as many replicas as brokers are up at that moment."
_BY_ITS_SETTING = "Its replication factor is the offsets.topic.replication.factor at the time of the first group (KIP-115)."


def checks(
    cluster: Cluster,
    version: VersionInUse,
    partitions: Sequence[OffsetsPartition],
    cleaners: Sequence[BrokerCleaner],
    scan: Scanned,
    settings: Sequence[Setting],
    buffers: Mapping[int, Setting],
    unread: Unread,
    *,
    unlisted: Gaps,
    unmapped: Gaps,
    unread_content: Gaps,
    outdated: Gaps,
) -> tuple[Finding, ...]:
    """Run every check on the offsets topic.

    Args:
        buffers: ``offsets.load.buffer.size`` by broker, of all possible coordinators.
        unlisted: Why some copies of the topic, its settings, or cleaner logs are unknown.
        unmapped: Why some copies of compacted topics, or the compacted topics, are unknown.
        unread_content: Why some records of the topic were not read.
        outdated: Why the last record read of a copy may not be the effective one.
    """
    on_records = (
        written.dead_weight(partitions, unread_content),
        written.safe_segments(partitions, unread_content),
        written.writers(scan.group_bytes, partitions, unread_content),
        load_buffer(version, scan, buffers, unread_content + coverage.settings_of_all(cluster, _origins(buffers.values()))),
        open_transactions(scan, unread_content, outdated),
        undecoded(version, scan, unread_content),
        damage(scan.damage, scan, unread_content),
        expiring(scan, settings, unread_content + coverage.settings_of_all(cluster, _origins(settings, _RETENTION)), outdated),
        missing_topics.missing_topics(cluster, partitions, scan, unread_content, outdated),
    )
    answers = (
        cleaner_checks.compacted(version, partitions, cleaners, unlisted),
        cleaner_checks.would_die(version, cleaners, unmapped),
        *(answered(answer, unread, cluster, partitions) for answer in on_records),
        replicated(version, cluster),
    )
    if partitions or not cluster.lacks(OFFSETS_TOPIC):
        return answers
    return tuple(answer if _of_another_topic(answer, cluster) else not_asked(answer) for answer in answers)


def _of_another_topic(answer: Finding, cluster: Cluster) -> bool:
    """Return whether the answer concerns another topic.

    A segment that is too large for the cleaner may be of any compacted one.
    """
    compacted = any("compact" in config.get("cleanup.policy", "") for config in cluster.topic_configs.values())
    return answer.check == cleaner_checks.CLEANER_MAP and (compacted or answer.status is Status.FINDING)


def _origins(values: Iterable[Setting], name: str = "") -> set[str]:
    return {value.origin for value in values if name in ("", value.name)}


def load_buffer(version: VersionInUse, scan: Scanned, buffers: Mapping[int, Setting], gaps: Gaps) -> Finding:
    """Can every batch be loaded, by every possible coordinator?"""
    largest = max((s for s in scan.segments if s.largest_batch), key=lambda s: s.largest_batch, default=None)
    told = [value for value in buffers.values() if value.whole is not None]
    limit = min(told, key=lambda value: (value.whole, value.assumed), default=None)
    ask = Question(
        check="offsets_topic.load_buffer",
        question="Does every batch fit into offsets.load.buffer.size?",
        coverage=Coverage.every(len(scan.segments), "segment", Source.SEGMENTS, Source.SETTINGS),
        threshold="a batch larger than the buffer, up to 0.10.0",
        facts={"largest_batch": largest.largest_batch if largest else None, "limit": limit.whole if limit else None},
        evidence=(_SEGMENTS,),
        caveats=assumed([limit.origin] if limit else ()),
    )
    if LOAD_TAKES_ANY_BATCH.at(version.version):
        return ask.not_applicable(
            f"Kafka {version.version} loads batches of any size", gaps=coverage.release(version, LOAD_TAKES_ANY_BATCH)
        )
    if largest is None or limit is None or len(told) < len(buffers):
        return ask.could_not_check("The largest batch, or the buffer, is unknown", settle=GIVE_LOG_DIRS)
    if largest.largest_batch <= limit.whole:
        well = f"The largest batch has {size(largest.largest_batch)}, the buffer {size(limit.whole)}"
        return ask.ok(well, gaps=gaps)
    known = [value for value in told if not value.assumed and value.whole < largest.largest_batch]
    if not known:
        return ask.could_not_check(
            f"The largest batch has {count(largest.largest_batch)} bytes; the size of the buffer is unknown",
            why=f"The release's default is {count(limit.whole)} bytes: with it, {OFFSETS_TOPIC}-{largest.partition} can "
            "never be loaded.",
            settle=coverage.COLLECT_PROPERTIES,
        )
    limit = min(known, key=lambda value: value.whole)
    return ask.found(
        Severity.CRITICAL,
        f"{OFFSETS_TOPIC}-{largest.partition} can never be loaded: a batch of {count(largest.largest_batch)} bytes is larger "
        f"than the buffer of {count(limit.whole)}",
        why="The loader reads nothing and retries for ever; the queued partitions wait.",
        subject={"kind": "partition", "topic": OFFSETS_TOPIC, "partition": largest.partition},
        next=(
            Step(
                kind="first",
                text="Raise the buffer above the largest batch, and restart the broker.",
                command=f"offsets.load.buffer.size={1 << largest.largest_batch.bit_length()}",
            ),
        ),
    )


def open_transactions(scan: Scanned, gaps: Gaps, outdated: Gaps) -> Finding:
    """Do transactions without a marker hold commits back?"""
    waiting = [log for log in scan.logs if log.open_transactional]
    ask = Question(
        check="offsets_topic.open_transactions",
        question="Do open transactions hold commits back?",
        coverage=Coverage.every(len(scan.logs), "copy", Source.SEGMENTS, many="copies"),
        threshold="any",
        facts={"records": sum(log.open_transactional for log in waiting)} if scan.logs else {},
    )
    if not scan.logs:
        return ask.could_not_check("Whether transactions are open is unknown", settle=GIVE_LOG_DIRS)
    if not waiting:
        return ask.ok("No transaction is open", gaps=gaps)
    if outdated:
        what = plural(sum(log.open_transactional for log in waiting), "commit")
        return _not_the_last_word(ask, f"{what} may wait for a marker, which may be in the part that was not read", outdated)
    first = waiting[0]
    return ask.found(
        Severity.INFO,
        f"{plural(sum(log.open_transactional for log in waiting), 'commit')} of open transactions wait for a marker",
        why=f"The first is at offset {first.first_open} of {OFFSETS_TOPIC}-{first.partition}; compaction stops there.",
    )


def _not_the_last_word(ask: Question, title: str, outdated: Gaps) -> Finding:
    return ask.could_not_check(title, why=" ".join(gap.why for gap in outdated), settle=outdated[0].settle)


def undecoded(version: VersionInUse, scan: Scanned, gaps: Gaps) -> Finding:
    """Are there records that a coordinator of this release cannot decode?"""
    newer: dict[str, int] = {}
    for log in scan.logs:
        for kind, records in log.newer.items():
            newer[kind] = newer.get(kind, 0) + records
    unknown = sum(s.unknown for s in scan.segments)
    ask = Question(
        check="offsets_topic.decoded",
        question="Can the coordinator parse every record?",
        coverage=Coverage.every(len(scan.logs), "copy", Source.SEGMENTS, many="copies"),
        threshold="a key or value of an unknown kind",
        facts={"unknown": unknown, "newer": newer} if scan.logs else {},
        evidence=(_SEGMENTS,),
    )
    if not scan.logs:
        return ask.could_not_check("The kinds of records are unknown", settle=GIVE_LOG_DIRS)
    if not newer and not unknown:
        return ask.ok("Every record is a commit or a group's metadata", gaps=gaps)
    fails = NEWER_GROUP_RECORDS.at(version.version) == "load fails"
    kinds = ", ".join(f"{count(n)} {kind}" for kind, n in sorted(newer.items()))
    what = "; ".join(part for part in (kinds, f"{count(unknown)} of unknown kind" if unknown else "") if part)
    return ask.found(
        Severity.CRITICAL if fails else Severity.WARNING if unknown else Severity.INFO,
        f"There are records that are neither commits nor classic groups: {what}",
        why="A load fails at the first of them. The groups are then served with what was loaded before it."
        if fails
        else "A classic coordinator skips them.",
    )


def damage(found: Sequence[SegmentDamage], scan: Scanned, gaps: Gaps) -> Finding:
    """Could every byte be read?"""
    middle = [d for d in found if not d.tail]
    ask = Question(
        check="offsets_topic.damage",
        question="Could every byte of the segments be read?",
        coverage=Coverage.every(len(scan.segments), "segment", Source.SEGMENTS),
        threshold="bytes that are not part of a batch",
        facts={"ranges": len(found), "bytes": sum(d.bytes for d in found), "in_the_middle": len(middle)} if scan.segments else {},
        evidence=(Evidence(file="tables/damage"),),
    )
    if not scan.segments:
        return ask.could_not_check("No segment was read", settle=GIVE_LOG_DIRS)
    if not found:
        return ask.ok("Every byte was read", gaps=gaps)
    if not middle:
        return ask.found(
            Severity.INFO,
            f"{plural(len(found), 'segment')} {agree(len(found), 'ends', 'end')} in a cut-off batch",
            why="A copy of a segment that is being written ends like this.",
        )
    first = middle[0]
    return ask.found(
        Severity.CRITICAL,
        f"{plural(len(middle), 'byte range')} of segments cannot be read: {size(sum(d.bytes for d in middle))}",
        why=f"{first.file} at byte {count(first.position)}: {first.reason}. All answers may miss commits.",
        next=(
            Step(
                kind="first",
                text="Keep the other in-sync replicas of this partition running until the damaged copy is replaced: as leader, "
                "it serves only the commits that it can read.",
            ),
            Step(
                kind="then",
                text="While another replica is in sync, replace it: stop its broker by a controlled shutdown, move the folder of "
                "the partition out of the log dir, and start the broker. It then fetches the whole partition from the leader.",
            ),
        ),
    )


def expiring(scan: Scanned, settings: Sequence[Setting], gaps: Gaps, outdated: Gaps) -> Finding:
    """Are visible commits past their time?"""
    known = [log for log in scan.logs if log.expired is not None]
    retention = next((value for value in settings if value.name == _RETENTION), None)
    past = sum(log.expired for log in known)
    ask = Question(
        check="offsets_topic.expiring",
        question="Are there commits that the coordinator may expire at its next check?",
        coverage=Coverage.every(len(known), "copy", Source.SEGMENTS, Source.SETTINGS, many="copies"),
        threshold="any",
        facts={"expired": past, "retention_minutes": retention.whole if retention else None} if known else {},
        evidence=(Evidence(file="tables/commits"),),
    )
    if not known:
        return ask.could_not_check("When commits expire is unknown", settle=GIVE_LOG_DIRS)
    if not past:
        return ask.ok("No commit has expired", gaps=gaps)
    if outdated:
        title = f"{plural(past, 'commit')} may have expired: the part that was not read may hold later ones"
        return _not_the_last_word(ask, title, outdated)
    if retention is not None and retention.assumed:
        return ask.could_not_check(
            f"{plural(past, 'commit')} may have expired: {_RETENTION} is unknown",
            why=f"With the release's default of {retention.value}, the coordinator may expire them at its next check.",
            settle=coverage.COLLECT_PROPERTIES,
        )
    kept = f"; offsets.retention.minutes is {retention.value} ({retention.origin})" if retention else ""
    return ask.found(
        Severity.INFO,
        f"{plural(past, 'commit')} had expired when the log dirs were listed, and {agree(past, 'was', 'were')} not removed{kept}",
        why="A running coordinator removes them within offsets.retention.check.interval.ms, a stopped one after its "
        "start. Their consumers are then reset.",
    )


def replicated(version: VersionInUse, cluster: Cluster) -> Finding:
    """Does every partition of it have more than one replica?"""
    own = [p for p in cluster.partitions if p.topic == OFFSETS_TOPIC]
    single = [p for p in own if cluster.has_one_copy(p)]
    ask = Question(
        check="offsets_topic.replicated",
        question="Does the offsets topic have more than one replica?",
        coverage=Coverage.every(len(own), "partition", Source.ZNODES),
        threshold="a partition with one replica on a cluster of several brokers",
        facts={"partitions": len(own), "single": len(single)} if own else {},
    )
    if not own:
        return ask.could_not_check("The replica assignment is unknown", settle="Collect the znodes.")
    if not single:
        well = f"None of {plural(len(own), 'partition')} has a single replica"
        return ask.ok(well, gaps=coverage.partitions(cluster))
    if len({r for p in cluster.partitions for r in p.replicas} | cluster.live) < 2:
        return ask.not_applicable("There is only one broker")
    return ask.found(
        Severity.WARNING,
        f"{plural(len(single), 'partition')} of {len(own)} {agree(len(single), 'has', 'have')} a single replica",
        why=_BY_BROKERS_UP if version.version < _BY_SETTING else _BY_ITS_SETTING,
    )
