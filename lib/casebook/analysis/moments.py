"""Of when each kind of evidence is, and what becomes of an answer that joins evidence of different moments.

Znodes tell of the moment of their walk, a list of log dirs of the moment of listing. Between the two, topics are created and
deleted, leaders move and logs are cleaned. So an answer that joins them holds only where both are of one collection; otherwise it
is withheld, and the gap is named once for the whole report.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from casebook.analysis.timeline_history import Past
from casebook.analysis.words import duration, moment, uncapitalised
from casebook.events import LogFile
from casebook.facts import Cluster, instant
from casebook.findings import Coverage, Evidence, Finding, Question, Status
from casebook.observed import Observation, Source, gap, observation
from casebook.storage import LogDir, Replica

_ONE_COLLECTION = 15 * 60_000
"""What lies closer together may be of one collection: of a large cluster it takes minutes."""
_OF_DISKS = frozenset({Source.LOG_DIRS, Source.SEGMENTS})
_SETTLE = "Collect znodes and log dirs in one go: casebook collect --zookeeper HOST:2181 --log-dirs BROKER=DIR."

Observations = Mapping[Source, Observation]


def observations(
    cluster: Cluster | None = None,
    *,
    log_dirs: Iterable[LogDir] = (),
    files: Iterable[LogFile] = (),
    past: Past | None = None,
) -> Observations:
    """Of when each kind of evidence is, as far as that is known.

    Args:
        log_dirs: As they were listed.
        files: What the logs cover.
        past: What ZooKeeper's own files tell.
    """
    listed = observation(log_dir.listed_at for log_dir in log_dirs)
    known = {
        Source.ZNODES: observation((cluster.read_from, cluster.read_to)) if cluster is not None else None,
        Source.HISTORY: observation((past.first, past.last[0])) if past is not None and past.first is not None else None,
        Source.LOG_DIRS: listed,
        Source.SEGMENTS: listed,
        Source.LOGS: observation(time for file in files for time in (file.first, file.last)),
    }
    return {source: of for source, of in known.items() if of is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Znodes and log dirs that are of different moments.

    Args:
        milliseconds: Between the two observations.
        listed: When those log dirs were listed that are the farthest from the znodes.
        znodes_older: Which is the older one.
        witness: A copy that the znodes of their moment cannot know; ``None`` where nothing contradicts.
        certain: Nothing but the times themselves is needed to know that they are apart.
    """

    milliseconds: int
    listed: int
    znodes_older: bool
    witness: Replica | None
    certain: bool

    @property
    def is_known(self) -> bool:
        """Whether they are apart for sure: then nothing may join them."""
        return self.certain or self.witness is not None

    @property
    def words(self) -> str:
        """``The znodes are 6 h 0 min older than the log dirs``."""
        older, newer = ("znodes", "log dirs") if self.znodes_older else ("log dirs", "znodes")
        return f"The {older} are {duration(self.milliseconds)} older than the {newer}"


def apart(cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], *, from_files: bool) -> Apart | None:
    """Whether znodes and log dirs are of different moments; ``None`` where they are of one collection, or one of them is missing.

    Within one collection a leader may change; only a topic that was made after its walk tells that the znodes are too old.

    Args:
        known: Of :func:`observations`.
        from_files: The znodes are those after the last transaction in ZooKeeper's files. On a quiet cluster that transaction may
            be long past, and the znodes are current all the same: then only a copy that they do not know tells that they are not.
    """
    znodes = known.get(Source.ZNODES)
    if znodes is None or Source.LOG_DIRS not in known:
        return None
    times = [Observation(log_dir.listed_at, log_dir.listed_at) for log_dir in log_dirs if log_dir.listed_at]
    listed = max(times, key=lambda one: gap(znodes, one))
    copies = [copy for log_dir in log_dirs for copy in log_dir.replicas]
    made = next((copy for copy in copies if cluster.lacks(copy.topic) and _is_written(copy, znodes.last)), None)
    between, older = gap(znodes, listed), znodes.last < listed.first
    if between <= _ONE_COLLECTION:
        is_apart = made is not None and older
        if not is_apart:
            return None
        return Apart(milliseconds=between, listed=listed.first, znodes_older=older, witness=made, certain=False)
    witness = made or next(_led_since(cluster, copies), None)
    certain = not (from_files and older)
    return Apart(milliseconds=between, listed=listed.first, znodes_older=older, witness=witness, certain=certain)


def _is_written(copy: Replica, since: int) -> bool:
    """Whether a copy was written to after a moment: a folder that a deletion left behind was not."""
    return any(segment.bytes and segment.modified is not None and segment.modified > since for segment in copy.segments)


def _led_since(cluster: Cluster, copies: Iterable[Replica]) -> Iterator[Replica]:
    """Copies that were led in an epoch later than that of the znodes."""
    states = {(p.topic, p.partition): p.state for p in cluster.partitions}
    for copy in copies:
        state = states.get((copy.topic, copy.partition))
        led = max((start.epoch for start in copy.epochs), default=-1)
        if state is not None and state.leader_epoch is not None and led > state.leader_epoch:
            yield copy


def check(cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], *, from_files: bool) -> tuple[Finding, ...]:
    """Whether all evidence is of one moment; nothing where only one kind of it has a moment."""
    if Source.ZNODES not in known or Source.LOG_DIRS not in known:
        return ()
    found = apart(cluster, known, log_dirs, from_files=from_files)
    ask = Question(
        check="evidence.moments",
        question="Are znodes and log dirs of the same moment?",
        coverage=Coverage.every(2, "kind of evidence", Source.ZNODES, Source.LOG_DIRS, many="kinds of evidence"),
        threshold="more than 15 minutes between them",
        facts={"apart_ms": found.milliseconds if found else 0, "znodes_older": found.znodes_older if found else None},
        evidence=(Evidence(file="case.json"),),
    )
    if found is None:
        return (ask.ok("Znodes and log dirs are of one collection", gaps=()),)
    why = f"Znodes: {moment(instant(known[Source.ZNODES].last))}; log dirs: {moment(instant(found.listed))}."
    if found.witness is not None:
        copy = found.witness
        why = f"{why} Broker {copy.broker} holds {copy.topic}-{copy.partition}, of which these znodes do not know that state."
    if found.is_known:
        return (ask.could_not_check(found.words, why=why, settle=_SETTLE),)
    quiet = "ZooKeeper's last transaction is older than the log dirs, and nothing in them is newer than it"
    return (replace(ask, caveats=(f"{found.words}, unless nothing changed since.",)).ok(quiet, gaps=()),)


def held(findings: Iterable[Finding], found: Apart | None) -> tuple[Finding, ...]:
    """The findings, but for those that join znodes and log dirs of different moments: these could not be checked."""
    if found is None or not found.is_known:
        return tuple(findings)
    return tuple(_withheld(finding, found) if _joins(finding) else finding for finding in findings)


def _joins(finding: Finding) -> bool:
    by = set(finding.coverage.by)
    told = finding.status in (Status.OK, Status.FINDING)
    return told and finding.check != "evidence.moments" and Source.ZNODES in by and not by.isdisjoint(_OF_DISKS)


def _withheld(finding: Finding, found: Apart) -> Finding:
    return replace(
        finding,
        status=Status.COULD_NOT_CHECK,
        severity=None,
        title=f"Not known: {uncapitalised(found.words)}",
        why=f"If nothing changed in between: {finding.title}.",
        next=(),
        since=None,
        at_latest=False,
        settle=_SETTLE,
    )


def by_what_is_there(findings: Iterable[Finding], absent: Collection[Source]) -> tuple[Finding, ...]:
    """The findings, each by the evidence that there is, and not by all that could have told."""
    return tuple(_by(finding, absent) for finding in findings)


def _by(finding: Finding, absent: Collection[Source]) -> Finding:
    seen = tuple(source for source in finding.coverage.by if source not in absent)
    return finding if seen == finding.coverage.by else replace(finding, coverage=replace(finding.coverage, by=seen))


def dated(findings: Iterable[Finding], known: Observations) -> tuple[Finding, ...]:
    """The findings, each with the moments of the evidence that it looked at."""
    return tuple(_dated(finding, known) for finding in findings)


def _dated(finding: Finding, known: Observations) -> Finding:
    observed = {source: known[source] for source in finding.coverage.by if source in known}
    return replace(finding, coverage=replace(finding.coverage, observed=observed)) if observed else finding
