"""Checks on log dirs alone: content, writer, shutdown, and extent of copies.

They need no other evidence: the disk of an unreachable broker is enough. Rules: the clean shutdown marker is written after all
logs are closed, and removed after a start has loaded them; high watermarks are written every five seconds and at a shutdown;
everything below one was committed (``LogManager.scala@0.9.0.1..3.9.0``, ``ReplicaManager.scala@0.9.0.1..3.9.0``).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from casebook.facts.cluster import Cluster, instant
from casebook.facts.disks import HIGH_WATERMARKS, METADATA_TOPIC, LeftoverFile, LogDir, Replica
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings import copy_coverage, coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.proof import SHOWN, lines
from casebook.findings.words import agree, brokers, capitalised, duration, moment, plural, size

_LEFT_FOR = 60 * 60_000
"""Kafka deletes renamed files a minute later (``file.delete.delay.ms``): after an hour they are leftovers."""
_OF_ONE_COPY = ("partition.metadata", "leader-epoch-checkpoint")
"""Files that say nothing about the extent of copies."""
_OTHERS = "List the log dirs of the other brokers too: casebook collect --log-dirs BROKER=DIR."
_AGAIN = "Collect these log dirs again with this release: it also reads the end of each copy."
_SIGNS = (
    ("2.8", lambda copy: copy.topic_id is not None, "partition.metadata"),
    ("0.11.0", lambda copy: copy.magic == 2, "records of format 2"),
    ("0.11.0", lambda copy: bool(copy.epochs), "leader-epoch-checkpoint"),
    ("0.10.1", lambda copy: any(".timeindex" in segment.beside for segment in copy.segments), ".timeindex"),
    ("0.10.0", lambda copy: copy.magic == 1, "records of format 1"),
)
"""First release that writes it, newest first: KAFKA-12368, KIP-98, KIP-101, KIP-33, KIP-32."""


class _Short(NamedTuple):
    """A copy that ends before a committed offset, with the difference and the source of the watermark."""

    copy: Replica
    by: int
    told_by: int


def checks(log_dirs: Sequence[LogDir], cluster: Cluster, live: Collection[int] | None) -> tuple[Finding, ...]:
    """Run all checks on log dirs; nothing when none was listed.

    Args:
        cluster: Known brokers, if any.
        live: Brokers registered when the log dirs were listed; ``None`` when unknown.
    """
    if not log_dirs:
        return ()
    copies = [copy for log_dir in log_dirs for copy in log_dir.replicas]
    of_topics = [copy for copy in copies if copy.topic != METADATA_TOPIC]  # KRaft stores no high watermark of it
    gaps = _gaps(log_dirs, cluster, besides=_OF_ONE_COPY)
    return (
        _content(log_dirs, copies, _gaps(log_dirs, cluster)),
        _stopped(log_dirs, live, gaps),
        _reach(log_dirs, of_topics, gaps),
        _agree(log_dirs, of_topics, gaps),
        _without_folder(log_dirs, gaps),
        _left(log_dirs, gaps),
    )


def _gaps(log_dirs: Sequence[LogDir], cluster: Cluster, besides: tuple[str, ...] = ()) -> coverage.Gaps:
    """Return what was not read of these log dirs, except files of some names, and brokers without a listing."""
    if missing := sorted(coverage.known_brokers(cluster) - {log_dir.broker for log_dir in log_dirs}):
        return (Gap(why=f"Log dirs of {brokers(missing)} were not listed.", settle=copy_coverage.COLLECT_LOG_DIRS),)
    every = ((log_dir, problem) for log_dir in log_dirs for problem in log_dir.unread)
    unread = (one for one in every if not (besides and one[1].path.endswith(besides)))
    return tuple(
        Gap(why=f"{log_dir.place}: {problem.path} {problem.reason}.", settle=copy_coverage.COLLECT_LOG_DIRS)
        for log_dir, problem in unread
    )[:1] or copy_coverage.listings(log_dirs)


def _ask(check: str, question: str, copies: Sequence[Replica], seen: int | None = None, **more: object) -> Question:
    looked_at = Coverage.counted(len(copies) if seen is None else seen, len(copies), "copy", Source.LOG_DIRS, many="copies")
    return Question(check=f"log_dirs.{check}", question=question, coverage=looked_at, **more)


def _content(log_dirs: Sequence[LogDir], copies: Sequence[Replica], gaps: coverage.Gaps) -> Finding:
    written = max((segment.modified for copy in copies for segment in copy.segments if segment.modified), default=None)
    formats = Counter(copy.magic for copy in copies if copy.magic is not None)
    sign = next(((since, mark) for since, shows, mark in _SIGNS if any(map(shows, copies))), None)
    by = brokers(sorted({log_dir.broker for log_dir in log_dirs}))
    partitions = plural(len({(copy.topic, copy.partition) for copy in copies}), "partition")
    topics = plural(len({copy.topic for copy in copies}), "topic")
    amount = f"{plural(len(copies), 'copy', 'copies')} of {partitions} of {topics}, {size(sum(copy.bytes for copy in copies))}"
    said = [
        f"{plural(len(log_dirs), 'log dir')} of {by} {agree(len(log_dirs), 'holds', 'hold')} {amount}",
        *([f"last written at {moment(written)}"] if written and instant(written) else []),
        *([f"records of format {', '.join(map(str, sorted(formats)))}"] if formats else []),
        *([f"written by Kafka {sign[0]} or newer, judging by {sign[1]}"] if sign else []),
    ]
    ask = _ask(
        "held",
        "What do the log dirs hold, and which releases wrote it?",
        copies,
        facts={
            "copies": len(copies),
            "bytes": sum(copy.bytes for copy in copies),
            "formats": {str(magic): count for magic, count in sorted(formats.items())},
            "topic_ids": sum(copy.topic_id is not None for copy in copies),
            "written_at": instant(written),
            "release_from": sign and sign[0],
        },
        evidence=_listings(log_dirs),
    )
    return ask.ok("; ".join(said), gaps=gaps) if copies else ask.nothing_in((), "", gaps=gaps)


def _stopped(log_dirs: Sequence[LogDir], live: Collection[int] | None, gaps: coverage.Gaps) -> Finding:
    """Compare a broker's log dirs: if they differ, one failed before the shutdown.

    Without the marker a broker runs, or was killed.
    """
    marked = [log_dir for log_dir in log_dirs if log_dir.clean_shutdown]
    bare = [log_dir for log_dir in log_dirs if not log_dir.clean_shutdown and log_dir.broker not in (live or ())]
    mixed = sorted({log_dir.broker for log_dir in marked} & {log_dir.broker for log_dir in bare})
    who = sorted({log_dir.broker for log_dir in bare})
    ask = Question(
        check="log_dirs.stopped",
        question="Were the stopped brokers shut down cleanly?",
        coverage=Coverage.every(len(log_dirs), "log dir", Source.LOG_DIRS, *((Source.ZNODES,) if live is not None else ())),
        threshold="a log dir without .kafka_cleanshutdown, of a broker that is not registered or has another log dir with it",
        facts={"marked": [log_dir.place for log_dir in marked], "not_marked": [log_dir.place for log_dir in bare]},
        evidence=_listings(bare),
    )
    if mixed:
        title = f"Some log dirs of {brokers(mixed)} were closed cleanly and some were not"
        return ask.found(Severity.WARNING, title, why="Log dirs without the mark failed before the stop, or were added after it.")
    if bare and live is not None:
        which = f"{capitalised(brokers(who))} {agree(len(who), 'is', 'are')} not registered"
        why = "At its next start, the broker recovers its logs: it reads through what was not flushed."
        return ask.found(Severity.INFO, f"{which}, and closed no log dir: it was killed or cut off", why=why)
    if bare:
        title = (
            f"Whether {brokers(who)} {agree(len(who), 'was', 'were')} stopped cleanly is unknown: running when listed, or killed"
        )
        return ask.could_not_check(title, settle="Read the end of server.log, or check whether the process runs.")
    closed = sorted({log_dir.broker for log_dir in marked})
    return ask.ok(f"{capitalised(brokers(closed))} closed every log dir" if marked else "All of these brokers run", gaps=gaps)


def _reach(log_dirs: Sequence[LogDir], copies: Sequence[Replica], gaps: coverage.Gaps) -> Finding:
    """Does every copy reach its own high watermark? A copy without a line has none yet, like a new one."""
    read = {copy.item for log_dir in log_dirs if HIGH_WATERMARKS in log_dir.checkpoints for copy in log_dir.replicas}
    known = [copy for copy in copies if copy.item in read and _end(copy) is not None]
    said = [(copy, copy.high_watermark) for copy in known if copy.high_watermark is not None]
    short = [_Short(copy, high - _end(copy), copy.broker) for copy, high in said if high > _end(copy)]
    ask = _ask(
        "reach",
        "Does every copy reach its own high watermark?",
        copies,
        len(known),
        threshold="a copy that ends before its own high watermark, or has no segment",
        facts={"short": {copy.copy.item: copy.by for copy in short}, "records": sum(copy.by for copy in short)},
        evidence=_proofs(one.copy for one in short),
    )
    if short:
        records = plural(sum(one.by for one in short), "record")
        end, their = agree(len(short), "ends", "end"), agree(len(short), "its", "their")
        title = f"{plural(len(short), 'copy', 'copies')} {end} before {their} own high watermark, by {records}: {_named(short)}"
        why = (
            "Records below the high watermark had been committed. Other copies may still hold them: compare the log "
            "dirs of the other replicas."
        )
        return ask.found(Severity.WARNING, title, why=why)
    return ask.nothing_in(copies, "Every copy reaches its own high watermark", gaps=(*gaps, *_unknown_ends(copies)))


def _agree(log_dirs: Sequence[LogDir], copies: Sequence[Replica], gaps: coverage.Gaps) -> Finding:
    """Does every copy have what another one knows to be committed?"""
    by_partition: dict[tuple[str, int], list[Replica]] = defaultdict(list)
    for copy in copies:
        by_partition[copy.topic, copy.partition].append(copy)
    several = {name: own for name, own in by_partition.items() if len({copy.broker for copy in own}) > 1}
    compared = {name: own for name, own in several.items() if all(_end(copy) is not None for copy in own)}
    behind = list(_behind(compared.values(), _Times(log_dirs)))
    proven = [one for one, is_proven in behind if is_proven]
    open_ = [one for one, is_proven in behind if not is_proven]
    above = [(copy, _end(copy) - copy.high_watermark) for copy in copies if None not in (copy.high_watermark, _end(copy))]
    alone = [(copy, by) for copy, by in above if by > 0]
    ask = Question(
        check="log_dirs.copies",
        question="Does every copy hold all records that another copy knows as committed?",
        coverage=Coverage.counted(len(compared), len(by_partition), "partition", Source.LOG_DIRS),
        threshold="a copy that ends before the high watermark of another copy, written before the first was listed",
        facts={
            "behind": {one.copy.item: one.by for one in proven},
            "maybe_behind": {one.copy.item: one.by for one in open_},
            "above_watermark": {copy.item: by for copy, by in alone},
        },
        evidence=_proofs([*(one.copy for one in (*proven, *open_)), *(copy for copy, _ in alone)]),
        caveats=_of_watermarks(alone),
    )
    if proven:
        lack = f"{plural(len(proven), 'copy', 'copies')} {agree(len(proven), 'lacks', 'lack')}"
        most = plural(max(one.by for one in proven), "record")
        title = f"{lack} up to {most} that another copy knew as committed: {_named(proven)}"
        return ask.found(
            Severity.WARNING, title, why="If such a copy is elected, the other copies truncate and lose the records, too."
        )
    if open_:
        title = f"{plural(len(open_), 'copy', 'copies')} may lack records that another copy knew as committed: {_named(open_)}"
        why = "The order of the listings is unknown: a log that was listed earlier is shorter."
        return ask.could_not_check(title, why=why, settle="Stop the brokers, and list all log dirs in one run.")
    if not several:
        return ask.could_not_check("No partition has two listed copies", settle=_OTHERS)
    ends = _unknown_ends(copy for own in several.values() for copy in own)
    rest = () if len(several) == len(by_partition) else (Gap(why="Some partitions have only one listed copy.", settle=_OTHERS),)
    return ask.ok("No copy lacks records that another copy knew as committed", gaps=(*gaps, *ends, *_unread(log_dirs), *rest))


class _Times:
    """Time of each copy's listing, and of its high watermark."""

    def __init__(self, log_dirs: Iterable[LogDir]) -> None:
        self._of = {copy.item: log_dir for log_dir in log_dirs for copy in log_dir.replicas}

    def is_later(self, listed: Replica, told_by: Replica) -> bool:
        """Return whether a copy was listed after another one's high watermark was written."""
        at, written = self._of[listed.item].listed_at, self._of[told_by.item].checkpoints.get(HIGH_WATERMARKS)
        return at is not None and written is not None and written <= at


def _behind(partitions: Iterable[Sequence[Replica]], times: _Times) -> Iterator[tuple[_Short, bool]]:
    """Yield the copies of each partition that end before another one's high watermark, with whether that is proven."""
    for copies in partitions:
        for copy in copies:
            told = [one for one in copies if one.broker != copy.broker and (one.high_watermark or 0) > _end(copy)]
            proving = [one for one in told if times.is_later(copy, one)]
            if told:
                highest = max(proving or told, key=lambda one: one.high_watermark)
                yield _Short(copy, highest.high_watermark - _end(copy), highest.broker), bool(proving)


def _without_folder(log_dirs: Sequence[LogDir], gaps: coverage.Gaps) -> Finding:
    """Does everything in the checkpoints exist?"""
    held = {(copy.broker, copy.topic, copy.partition) for log_dir in log_dirs for copy in log_dir.replicas}
    named = [
        (log_dir, topic, partition)
        for log_dir in log_dirs
        for topic, partition in log_dir.without_folder
        if (log_dir.broker, topic, partition) not in held
    ]
    ask = Question(
        check="log_dirs.without_folder",
        question="Does every partition in a checkpoint have a folder?",
        coverage=Coverage.every(len(log_dirs), "log dir", Source.LOG_DIRS),
        threshold="a partition in a checkpoint without a folder in any log dir of its broker",
        facts={"partitions": [f"{topic}-{partition} on broker {log_dir.broker}" for log_dir, topic, partition in named]},
        evidence=_listings([log_dir for log_dir, _, _ in named]),
    )
    if named:
        log_dir, topic, partition = named[0]
        title = (
            f"{plural(len(named), 'partition')} in checkpoints {agree(len(named), 'has', 'have')} no folder, e.g. "
            f"{topic}-{partition} on broker {log_dir.broker}"
        )
        why = "The topic was deleted just before, the folder is in a log dir that was not listed, or it was removed by hand."
        return ask.found(Severity.INFO, title, why=why)
    return ask.ok("Every partition in a checkpoint has a folder", gaps=(*gaps, *_unread(log_dirs)))


def _unread(log_dirs: Iterable[LogDir]) -> coverage.Gaps:
    """Return log dirs with unread high watermarks: what their copies knew to be committed is unknown."""
    bare = (log_dir.place for log_dir in log_dirs if HIGH_WATERMARKS not in log_dir.checkpoints)
    return tuple(Gap(why=f"{place}: {HIGH_WATERMARKS} was not read.", settle=_AGAIN) for place in islice(bare, 1))


def _left(log_dirs: Sequence[LogDir], gaps: coverage.Gaps) -> Finding:
    """Did an operation leave something behind?"""
    old = [(log_dir, one) for log_dir in log_dirs for one in log_dir.leftovers if _is_left(one, log_dir.listed_at)]
    every = sum(len(log_dir.leftovers) for log_dir in log_dirs)
    kinds = Counter(one.kind for _, one in old)
    ask = Question(
        check="log_dirs.left",
        question="Are there leftovers in the log dirs?",
        coverage=Coverage.every(len(log_dirs), "log dir", Source.LOG_DIRS),
        threshold=(
            f"a folder deleted, cleaned or moved more than {duration(_LEFT_FOR)} before the listing and still there, or "
            "an index without its log"
        ),
        facts={"left": every, "old": dict(sorted(kinds.items())), "bytes": sum(one.bytes for _, one in old)},
        evidence=_listings([log_dir for log_dir, _ in old]),
    )
    if old:
        said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        log_dir, largest = max(old, key=lambda one: one[1].bytes)
        title = f"{size(sum(one.bytes for _, one in old))} are left in the log dirs: {said}"
        why = (
            f"The largest is {largest.path} of broker {log_dir.broker}. A broker that is down, or could not finish, "
            "leaves such files."
        )
        return ask.found(Severity.INFO, title, why=why)
    undated = [one.path for log_dir in log_dirs for one in log_dir.leftovers if _age(one, log_dir.listed_at) is None]
    unknown = tuple(Gap(why=f"The age of {path} is unknown.", settle=copy_coverage.COLLECT_LOG_DIRS) for path in undated[:1])
    return ask.ok("There are no leftovers that a running broker would not remove by itself", gaps=(*gaps, *unknown))


def _is_left(one: LeftoverFile, listed_at: int | None) -> bool:
    age = _age(one, listed_at)
    return one.kind == "orphan" or (age is not None and age > _LEFT_FOR)


def _age(one: LeftoverFile, listed_at: int | None) -> int | None:
    """Milliseconds since its last write; ``None`` when unknown."""
    return None if None in (one.modified, listed_at) else listed_at - one.modified


def _end(copy: Replica) -> int | None:
    """End of a copy: 0 without any segment."""
    return copy.log_end if copy.segments else 0


def _named(short: Sequence[_Short]) -> str:
    longest = sorted(short, key=lambda one: -one.by)[:SHOWN]
    more = f", and {plural(len(short) - len(longest), 'other')}" if len(short) > len(longest) else ""
    return ", ".join(f"{one.copy.topic}-{one.copy.partition} on broker {one.copy.broker} ({one.by})" for one in longest) + more


def _unknown_ends(copies: Iterable[Replica]) -> coverage.Gaps:
    unknown = [copy for copy in copies if _end(copy) is None]
    if not unknown:
        return ()
    return (Gap(why=f"The end of {plural(len(unknown), 'copy', 'copies')} is unknown, e.g. {unknown[0].item}.", settle=_AGAIN),)


def _of_watermarks(alone: Sequence[tuple[Replica, int]]) -> tuple[str, ...]:
    if not alone:
        return ()
    above = f"{plural(len(alone), 'copy', 'copies')} {agree(len(alone), 'ends', 'end')} above the high watermark"
    return (
        f"{above}, by {plural(sum(by for _, by in alone), 'record')}. Those may not be on all in-sync copies. A running "
        "broker writes the checkpoint every five seconds.",
    )


def _proofs(copies: Iterable[Replica]) -> tuple[Evidence, ...]:
    return lines(list(dict.fromkeys(copy.item for copy in copies))[:SHOWN])


def _listings(log_dirs: Iterable[LogDir]) -> tuple[Evidence, ...]:
    return tuple(Evidence(file=f"brokers/{broker}/log_dirs.json") for broker in sorted({log_dir.broker for log_dir in log_dirs}))
