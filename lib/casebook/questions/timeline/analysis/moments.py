"""Of when each kind of evidence is, and what becomes of an answer that joins evidence of different moments.

Znodes tell of the moment of their walk, a list of log dirs of the moment of listing. Between the two, topics are created and
deleted, leaders move and logs are cleaned. So an answer that joins them holds only where both are of one collection; otherwise it
is withheld, and the gap is named once for the whole report.

Log dirs of another cluster than the znodes are withheld from them likewise, whenever they were listed.

Znodes of ZooKeeper's own files are those after the last transaction that is there. Where a log or a log dir holds what they
cannot know, they tell of the past: what they say of the present is withheld as well.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from casebook.facts.cluster import (
    Cluster,
    Logged,
    LoggedEpoch,
    LoggedExpiry,
    LoggedRegistration,
    Partition,
    Znode,
    ZnodeChange,
    instant,
)
from casebook.facts.disks import LogDir, Replica
from casebook.facts.events import LogFile
from casebook.facts.observed import Observation, Source, gap, observation
from casebook.findings.finding import Coverage, Evidence, Finding, Question, Status
from casebook.findings.words import duration, moment, uncapitalised
from casebook.kafka.past import Past
from casebook.kafka.past_rows import transaction
from casebook.questions.timeline.analysis.clocks.pairs import FARTHEST
from casebook.questions.timeline.analysis.other_cluster import OtherCluster, other_cluster
from casebook.questions.timeline.analysis.windows.window_checks import proof

_ONE_COLLECTION = 15 * 60_000
"""What lies closer together may be of one collection: of a large cluster it takes minutes."""
_UNDATED = (
    "Nothing dates what was listed: all files of a log dir that bear one second are a copy, or a checkout, that kept no times."
)
_OF_DISKS = frozenset({Source.LOG_DIRS, Source.SEGMENTS})
_UNCHANGED = "If nothing changed in between"
_OF_NOW = frozenset({"leadership", "maintenance", "coordinators"})
"""What checks are called that tell who leads, and who lives, now."""
_WHO_IS_DEAD = "timeline.unclean"
"""So does this one, of what dead brokers have."""

_STATE = "/state"
_NO_LEADER = -1
_OF_THEN = ", by znodes of the past"

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
    settle: ClassVar[str] = "Collect znodes and log dirs in one go: casebook collect --zookeeper HOST:2181 --log-dirs BROKER=DIR."
    unless: ClassVar[str] = _UNCHANGED

    @property
    def is_known(self) -> bool:
        """Whether they are apart for sure: then nothing may join them."""
        return self.certain or self.witness is not None

    @property
    def words(self) -> str:
        """``The znodes are 6 h 0 min older than the log dirs``."""
        older, newer = ("znodes", "log dirs") if self.znodes_older else ("log dirs", "znodes")
        return f"The {older} are {duration(self.milliseconds)} older than the {newer}"


def apart(cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], *, from_files: bool) -> Apart | OtherCluster | None:
    """Whether znodes and log dirs are of different moments or clusters; ``None`` where they are of one, or one is missing.

    Within one collection a leader may change; only a topic that was made after its walk tells that the znodes are too old.

    Args:
        known: Of :func:`observations`.
        from_files: The znodes are those after the last transaction in ZooKeeper's files. On a quiet cluster that transaction may
            be long past, and the znodes are current all the same: then only a copy that they do not know tells that they are not.
    """
    znodes = known.get(Source.ZNODES)
    if znodes is not None and (strange := other_cluster(cluster, log_dirs)):
        return strange
    if znodes is None or Source.LOG_DIRS not in known:
        return None
    times = [Observation(log_dir.listed_at, log_dir.listed_at) for log_dir in log_dirs if log_dir.listed_at]
    listed = max(times, key=lambda one: gap(znodes, one))
    copies = [copy for log_dir in log_dirs for copy in log_dir.replicas]
    there = {(p.topic, p.partition) for p in cluster.partitions}
    whole = there and not cluster.unlisted
    unknown = (copy for copy in copies if cluster.lacks(copy.topic) or (whole and (copy.topic, copy.partition) not in there))
    made = next((copy for copy in unknown if _is_written(copy, znodes.last)), None)
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


class Ends(NamedTuple):
    """Where znodes end.

    Args:
        zxid: The last transaction that they know.
        time: Its time, epoch ms.
        later: A state with another leader that the history has behind the one that the znodes hold, with its transaction.
    """

    zxid: int
    time: int
    later: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """Znodes of ZooKeeper's own files that other evidence proves to be of the past.

    Args:
        words: ``The znodes are older than the last start of broker 3``.
        why: What they cannot know.
        evidence: Where that is told.
    """

    words: str
    why: str
    evidence: tuple[Evidence, ...]
    settle: ClassVar[str] = "Give ZooKeeper's later transaction logs, or walk it: casebook collect --zookeeper HOST:2181."
    unless: ClassVar[str] = _UNCHANGED


def outdated(
    found: Apart | OtherCluster | None,
    ends: Ends | None,
    told: Iterable[Logged],
    cluster: Cluster,
    log_dirs: Iterable[LogDir] = (),
) -> Outdated | None:
    """What proves that znodes of ZooKeeper's files are of the past; ``None`` where nothing does.

    Args:
        found: Of :func:`apart`.
        ends: Of :func:`last_transaction`.
        told: By the brokers' logs.
        log_dirs: As they were listed.
    """
    told = tuple(told) if ends is not None else ()
    if ends is not None and ends.later is not None:
        path, zxid = ends.later
        why = f"Transaction 0x{zxid:x} wrote {path}, which they hold as it was before."
        return Outdated(words="The znodes are older than ZooKeeper's history", why=why, evidence=(proof(transaction(zxid)),))
    starts = [one for one in told if isinstance(one, LoggedRegistration) and _is_behind(one, ends)]
    if starts:
        one = starts[-1]
        by = f"transaction 0x{one.zxid:x}" if one.zxid is not None else f"a line that bears {moment(instant(one.printed))[:-4]}"
        why = f"{_last(ends)}; its log has it register with {by}."
        words = f"The znodes are older than the last start of broker {one.broker}"
        return Outdated(words=words, why=why, evidence=(proof(one.proof),))
    if later := _led_later(told, ends, cluster) or _ended_later(told, cluster) or _started_later(log_dirs, ends):
        return later
    if isinstance(found, Apart) and found.znodes_older and found.witness is not None:
        words = f"The znodes are older than the log dir of broker {found.witness.broker}"
        return Outdated(words=words, why=_unknown_to_znodes(found.witness), evidence=(Evidence(file=found.witness.item),))
    return None


def _last(ends: Ends) -> str:
    return f"They end with transaction 0x{ends.zxid:x}, and their last write that is dated is of {moment(instant(ends.time))}"


def _led_later(told: Iterable[Logged], ends: Ends | None, cluster: Cluster) -> Outdated | None:
    """By a controller epoch that znodes do not know, unless it is of a ZooKeeper whose data is gone."""
    known = cluster.controller.epoch
    epochs = [one for one in told if isinstance(one, LoggedEpoch) and known is not None and one.epoch > known]
    if one := next((one for one in epochs if one.printed is not None and one.printed > ends.time - FARTHEST), None):
        why = f"They know controller epoch {known}; a log names epoch {one.epoch}."
        return Outdated(words=f"The znodes are older than controller epoch {one.epoch}", why=why, evidence=(proof(one.proof),))
    return None


def _ended_later(told: Iterable[Logged], cluster: Cluster) -> Outdated | None:
    """By the end of a session of which znodes still hold the registration."""
    owners = {broker.stat.ephemeralOwner: broker.id for broker in cluster.brokers.values() if broker.stat is not None}
    for one in told:
        if isinstance(one, LoggedExpiry) and one.session in owners:
            broker = owners[one.session]
            why = f"They hold broker {broker}'s registration of session 0x{one.session:x}, which ZooKeeper has ended since."
            words = f"The znodes are older than the end of broker {broker}'s session"
            return Outdated(words=words, why=why, evidence=(proof(one.proof),))
    return None


def _started_later(log_dirs: Iterable[LogDir], ends: Ends | None) -> Outdated | None:
    """By ``meta.properties``, which a broker writes once it is registered (``KafkaServer.scala@0.9.0.1..3.6.0``)."""
    limit = None if ends is None else instant(ends.time + _ONE_COLLECTION)
    for log_dir in log_dirs if limit is not None else ():
        written = (log_dir.meta or {}).get("written", "")
        if written > limit:
            return Outdated(
                words=f"The znodes are older than the last start of broker {log_dir.broker}",
                why=f"{_last(ends)}; its meta.properties is of {moment(written)}.",
                evidence=(Evidence(file=f"brokers/{log_dir.broker}/log_dirs.json"),),
            )
    return None


def _is_behind(one: LoggedRegistration, ends: Ends) -> bool:
    """Whether a broker registered after the last transaction that znodes know.

    Rule: by its transaction, unless the line is so old that it is of a ZooKeeper whose data is gone; before 2.2, by a time
    that is later in any zone.
    """
    if one.zxid is not None:
        return one.zxid > ends.zxid and (one.printed is None or one.printed > ends.time - FARTHEST)
    return one.printed is not None and one.printed > ends.time + FARTHEST


def last_transaction(cluster: Cluster, changes: Iterable[ZnodeChange]) -> Ends | None:
    """What znodes and ZooKeeper's files are known to know last; ``None`` without any of these files.

    Args:
        changes: The history.
    """
    last, written = None, {}
    for change in changes:
        last = max(last or (0, 0), (change.zxid, change.time))
        written.update((one.path, one) for one in change.znodes if one.path.endswith(_STATE))
    if last is None:
        return None
    later = (known for partition in cluster.partitions if (known := _led_anew(partition, written.get(partition.state_path))))
    stats = (*(broker.stat for broker in cluster.brokers.values()), *(p.state.stat for p in cluster.partitions if p.state))
    known = (zxid for stat in stats if stat is not None for zxid in (stat.czxid, stat.mzxid) if zxid is not None)
    return Ends(max((last[0], *known)), max(last[1], cluster.read_to or 0), next(later, None))


def _led_anew(partition: Partition, written: Znode | None) -> tuple[str, int] | None:
    """The state that a history holds of a partition, and its transaction, where it is a later one, and another leads."""
    held = None if partition.state is None or partition.state.stat is None else partition.state.stat.mzxid
    zxid = None if written is None or written.stat is None else written.stat.mzxid
    if held is None or zxid is None or zxid <= held or not written.data:
        return None
    try:
        leader = json.loads(written.data)["leader"]
    except (ValueError, KeyError, TypeError):
        return None
    named = _NO_LEADER if partition.state.leader is None else partition.state.leader
    return None if leader == named else (written.path, zxid)


def _unknown_to_znodes(copy: Replica) -> str:
    return f"Broker {copy.broker} holds {copy.topic}-{copy.partition} in a state that these znodes do not know."


def check(
    cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], *, from_files: bool, past: Outdated | None = None
) -> tuple[Finding, ...]:
    """Whether all evidence is of one moment; nothing where only one kind of it is there.

    Args:
        past: Of :func:`outdated`.
    """
    both = Source.ZNODES in known and bool(log_dirs)
    return (_check(cluster, known, log_dirs, from_files, past),) if both or past is not None else ()


def _check(cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], from_files: bool, past: Outdated | None) -> Finding:
    found = apart(cluster, known, log_dirs, from_files=from_files)
    of_time = found if isinstance(found, Apart) else None
    ask = Question(
        check="evidence.moments",
        question="Are znodes and log dirs of the same cluster and moment?",
        coverage=Coverage.every(2, "kind of evidence", Source.ZNODES, Source.LOG_DIRS, many="kinds of evidence"),
        threshold="more than 15 minutes between them, or two ids of clusters",
        facts={
            "apart_ms": of_time.milliseconds if of_time else 0,
            "znodes_older": of_time.znodes_older if of_time else None,
            "of_another_cluster": list(found.brokers) if isinstance(found, OtherCluster) else [],
        },
        evidence=(Evidence(file="case.json"), *(past.evidence if past else ())),
    )
    if past is not None:
        return ask.could_not_check(past.words, why=past.why, settle=past.settle)
    if isinstance(found, OtherCluster):
        return ask.could_not_check(found.words, why=found.why, settle=found.settle)
    if found is None and Source.LOG_DIRS not in known:
        return ask.could_not_check("Of when the log dirs are is not known", why=_UNDATED, settle=Apart.settle)
    if found is None:
        return ask.ok("Znodes and log dirs are of one collection", gaps=())
    why = f"Znodes: {moment(instant(known[Source.ZNODES].last))}; log dirs: {moment(instant(found.listed))}."
    if found.witness is not None:
        why = f"{why} {_unknown_to_znodes(found.witness)}"
    if found.is_known:
        return ask.could_not_check(found.words, why=why, settle=found.settle)
    quiet = "ZooKeeper's last transaction is older than the log dirs; these hold no topic and no leader epoch unknown to it"
    return replace(ask, caveats=(f"{found.words}, unless nothing changed since.",)).ok(quiet, gaps=())


def held(findings: Iterable[Finding], found: Apart | OtherCluster | None, past: Outdated | None = None) -> tuple[Finding, ...]:
    """The findings, but for those that could not be checked.

    These are the ones that join znodes and log dirs of different moments or clusters, and those on the present by znodes of the
    past.
    """
    joined = found is not None and found.is_known
    return tuple(_held(finding, found if joined else None, past) for finding in findings)


def _held(finding: Finding, found: Apart | OtherCluster | None, past: Outdated | None) -> Finding:
    if past is not None and _is_of_setup(finding):
        return _of_then(finding, past)
    if past is not None and _is_of_now(finding):
        return _withheld(finding, past)
    return _withheld(finding, found) if found is not None and _joins(finding) else finding


def _is_of_now(finding: Finding) -> bool:
    told = finding.status in (Status.OK, Status.FINDING)
    of_znodes = Source.ZNODES in finding.coverage.by and finding.check.partition(".")[0] in _OF_NOW
    return told and (of_znodes or finding.check == _WHO_IS_DEAD)


def _is_of_setup(finding: Finding) -> bool:
    told = finding.status in (Status.OK, Status.FINDING)
    return told and Source.ZNODES in finding.coverage.by and finding.check.startswith("durability.")


def _of_then(finding: Finding, past: Outdated) -> Finding:
    """What was found of topics that znodes of the past know is so of these, and nothing is well that they cannot know."""
    if finding.status is Status.OK:
        return _withheld(finding, past)
    if finding.title.endswith(_OF_THEN):
        return finding
    caveat = f"{past.words}: topics may have been made, changed or deleted since."
    return replace(finding, title=f"{finding.title}{_OF_THEN}", caveats=(*finding.caveats, caveat))


def _joins(finding: Finding) -> bool:
    by = set(finding.coverage.by)
    told = finding.status in (Status.OK, Status.FINDING)
    return told and finding.check != "evidence.moments" and Source.ZNODES in by and not by.isdisjoint(_OF_DISKS)


def _withheld(finding: Finding, reason: Apart | OtherCluster | Outdated) -> Finding:
    return replace(
        finding,
        status=Status.COULD_NOT_CHECK,
        severity=None,
        title=f"Not known: {uncapitalised(reason.words)}",
        why=f"{reason.unless}: {finding.title}.",
        next=(),
        since=None,
        at_latest=False,
        settle=reason.settle,
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
