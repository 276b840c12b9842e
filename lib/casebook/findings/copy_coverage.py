"""Coverage gaps of copies: not listed, not read, or not compared.

As in :mod:`casebook.findings.coverage`.
"""

from collections.abc import Collection, Iterable, Iterator

from casebook.facts.cluster import Cluster, Partition
from casebook.facts.disks import LogDir, Replica, is_listing
from casebook.facts.offsets_topic import Scanned
from casebook.findings.coverage import Gaps, known_brokers, partitions, said
from casebook.findings.finding import Gap
from casebook.findings.proof import COLLECT_AGAIN, SHOWN
from casebook.findings.words import agree, brokers, plural

COLLECT_LOG_DIRS = "Collect the log dirs of every broker: casebook collect --log-dirs BROKER=DIR."


def copies(cluster: Cluster, topics: Collection[str], listed: Iterable[LogDir]) -> Gaps:
    """Return why some copies of some topics on a live broker were not listed.

    Args:
        listed: Listed log dirs.
    """
    alive = cluster.live or known_brokers(cluster)
    own = (p for p in cluster.partitions if p.topic in topics)
    wanted = {(broker, p.topic, p.partition) for p in own for broker in p.replicas if broker in alive}
    if not wanted:
        return (Gap(why=f"The brokers that hold {', '.join(sorted(topics))} are unknown.", settle=COLLECT_AGAIN),)
    found = list(listed)
    missing = sorted(wanted - {(copy.broker, copy.topic, copy.partition) for log_dir in found for copy in log_dir.replicas})
    problems = [problem for log_dir in found if log_dir.broker in alive for problem in log_dir.problems]
    if not missing:
        return (*(Gap(why=said(problem), settle=COLLECT_LOG_DIRS) for problem in problems[:1]), *partitions(cluster))
    of_topics, whose = (sorted({copy[place] for copy in missing}) for place in (1, 0))
    what = f"{plural(len(missing), 'copy', 'copies')} of {', '.join(of_topics[:SHOWN])}, on {brokers(whose)},"
    why = f"{what} {agree(len(missing), 'was', 'were')} not listed."
    return (Gap(why=why, settle=COLLECT_LOG_DIRS), *partitions(cluster))


def listings(listed: Iterable[LogDir]) -> Gaps:
    """Return why lists of log dirs are incomplete."""
    torn = [problem for log_dir in listed for problem in log_dir.problems if is_listing(problem.path)]
    return tuple(Gap(why=said(problem), settle=COLLECT_LOG_DIRS) for problem in torn[:1])


def compared(cluster: Cluster, topics: Collection[str], held: Collection[tuple[str, int, int]]) -> Gaps:
    """Return why some copies were not compared.

    Args:
        topics: Examined topics; empty for all except internal ones.
        held: Topic, partition and broker of the compared copies.
    """
    looked = (p for p in cluster.partitions if (p.topic in topics if topics else not p.topic.startswith("__")))
    wanted = {(p.topic, p.partition, broker) for p in looked for broker in p.replicas}
    missing = sorted(wanted - set(held))
    if not missing:
        return partitions(cluster)
    whose = brokers(sorted({broker for _, _, broker in missing}))
    why = f"{plural(len(missing), 'copy', 'copies')} on {whose} {agree(len(missing), 'was', 'were')} not read."
    return (Gap(why=why, settle=COLLECT_LOG_DIRS), *partitions(cluster))


def contents(cluster: Cluster, topic: str, listed: Iterable[Replica], scan: Scanned) -> Gaps:
    """Return why some records of a topic were not read, from at least one copy per partition.

    Args:
        listed: Copies of the topic, as listed in their log dirs.
        scan: What was read of them.
    """
    own = list(listed)
    told = {segment.partition for segment in scan.segments} | {copy.partition for copy in own if not copy.bytes}
    wanted = {p.partition for p in _of_topic(cluster, topic)}
    gaps = []
    if missing := sorted(wanted - told):
        why = f"No copy was read for {plural(len(missing), 'partition')} of {topic}, e.g. {topic}-{missing[0]}."
        gaps.append(Gap(why=why, settle=COLLECT_LOG_DIRS))
    if not wanted:
        gaps.append(Gap(why=f"The partition count of {topic} is unknown.", settle=COLLECT_AGAIN))
    return (*gaps, *latest(cluster, topic, own, scan), *partitions(cluster))


def latest(cluster: Cluster, topic: str, listed: Iterable[Replica], scan: Scanned) -> Gaps:
    """Return why the last record read in some copies may not be the last one written.

    Args:
        listed: As in :func:`contents`.
        scan: As in :func:`contents`.
    """
    own = list(listed)
    segments = {(s.broker, s.partition, s.base_offset) for s in scan.segments}
    read = {(broker, partition) for broker, partition, _ in segments}
    known = {*read, *((copy.broker, copy.partition) for copy in own if not copy.bytes)}
    gaps = []
    skipped = [
        f"{topic}-{copy.partition}/{segment.base_offset:020}.log of broker {copy.broker}"
        for copy in own
        if (copy.broker, copy.partition) in read
        for segment in copy.segments
        if segment.bytes and (copy.broker, copy.partition, segment.base_offset) not in segments
    ]
    if skipped:
        more = f" and {plural(len(skipped) - 1, 'other')}" if len(skipped) > 1 else ""
        gaps.append(Gap(why=f"Segment {skipped[0]}{more} could not be read at all.", settle=COLLECT_LOG_DIRS))
    if damaged := [damage for damage in scan.damage if not damage.tail]:
        why = f"{plural(len(damaged), 'byte range')} could not be read, the first in {damaged[0].file}."
        wanted = {(broker, p.partition) for p in _of_topic(cluster, topic) for broker in p.replicas}
        is_whole = bool(wanted) and wanted <= known
        undamaged = "Every copy was read: an undamaged one, if there is one, may have these records."
        gaps.append(Gap(why=why, settle=undamaged if is_whole else "Collect the log dirs of the other replicas."))
    return (*gaps, *_shorter_than_listed(own, scan), *_of_another_copy(cluster, topic, known))


def _of_another_copy(cluster: Cluster, topic: str, known: Collection[tuple[int, int]]) -> Iterator[Gap]:
    """Yield partitions read from a copy that is not the leader's or a candidate's: it may lag, or be cleaned differently."""
    here = {partition for _, partition in known}
    strange = sorted(
        p.partition
        for p in _of_topic(cluster, topic)
        if p.partition in here and not any((b, p.partition) in known for b in _own(p))
    )
    if strange:
        what = f"{plural(len(strange), 'partition')} of {topic}"
        why = f"For {what}, only a follower's copy was read, e.g. of {topic}-{strange[0]}: it may lag."
        yield Gap(why=why, settle=COLLECT_LOG_DIRS)


def _own(partition: Partition) -> tuple[int, ...]:
    """Brokers whose copy counts: the leader, or the in-sync replicas without one; none when unknown."""
    state = partition.state
    if state is None:
        return ()
    return state.isr if state.leader is None else (state.leader,)


def _shorter_than_listed(listed: Iterable[Replica], scan: Scanned) -> Iterator[Gap]:
    """Yield segments that end early: only the last one of a copy may, while it is written."""
    found = {(s.broker, s.partition, s.base_offset): s for s in scan.segments}
    short = [
        f"{copy.topic}-{copy.partition}/{segment.base_offset:020}.log of broker {copy.broker}"
        for copy in listed
        for segment in copy.segments
        if (one := found.get((copy.broker, copy.partition, segment.base_offset))) is not None
        if segment.bytes > one.bytes + one.damaged_bytes or (one.damaged_bytes and segment is not copy.segments[-1])
    ]
    if short:
        more = f" and {plural(len(short) - 1, 'other')}" if len(short) > 1 else ""
        yield Gap(why=f"Segment {short[0]}{more} could be read only in part.", settle=COLLECT_LOG_DIRS)


def _of_topic(cluster: Cluster, topic: str) -> Iterator[Partition]:
    return (partition for partition in cluster.partitions if partition.topic == topic)
