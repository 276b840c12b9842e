"""Observation time of each kind of evidence, and answers that combine evidence of different times.

Znodes are of the time of their walk, log dirs of the time of listing. Between the two, topics are created and deleted, leaders
move and logs are cleaned. So an answer that combines them requires one collection; otherwise it is withheld, and the gap is
reported once for the whole report.

Log dirs of another cluster than the znodes are withheld likewise, at any time.

Znodes from ZooKeeper's own files are of the last existing transaction. When a log or a log dir proves later changes, they
describe the past: their statements on the present are withheld as well.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir
from casebook.facts.events import LogFile
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Observations, Source, observation
from casebook.findings.declared import area_of
from casebook.findings.finding import Coverage, Finding, Question, Status
from casebook.findings.words import moment, uncapitalised
from casebook.kafka.past import Past
from casebook.questions.timeline.analysis.one_collection import Apart, apart, unknown_to_znodes
from casebook.questions.timeline.analysis.other_cluster import OtherCluster
from casebook.questions.timeline.analysis.past_znodes import Outdated

_UNDATED = (
    "The listing has no usable dates: all files of a log dir have the same second, as in a copy or checkout that kept no times."
)
_OF_DISKS = frozenset({Source.LOG_DIRS, Source.SEGMENTS})
_WHO_IS_DEAD = "timeline.unclean"
"""Another such check, on the data of dead brokers."""

_OF_THEN = ", by znodes of the past"


def observations(
    cluster: Cluster | None = None,
    *,
    log_dirs: Iterable[LogDir] = (),
    files: Iterable[LogFile] = (),
    past: Past | None = None,
) -> Observations:
    """Return the known observation time of each kind of evidence.

    Args:
        log_dirs: Listed log dirs.
        files: Coverage of the logs.
        past: Content of ZooKeeper's own files.
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


def check(
    cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], *, from_files: bool, past: Outdated | None = None
) -> tuple[Finding, ...]:
    """Return whether all evidence is of one moment; nothing with only one kind.

    Args:
        past: Result of :func:`outdated`.
    """
    both = Source.ZNODES in known and bool(log_dirs)
    return (_check(cluster, known, log_dirs, from_files, past),) if both or past is not None else ()


def _check(cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], from_files: bool, past: Outdated | None) -> Finding:
    found = apart(cluster, known, log_dirs, from_files=from_files)
    of_time = found if isinstance(found, Apart) else None
    ask = Question(
        check="evidence.moments",
        question="Do znodes and log dirs belong to the same cluster and moment?",
        coverage=Coverage.every(2, "kind of evidence", Source.ZNODES, Source.LOG_DIRS, many="kinds of evidence"),
        threshold="more than 15 minutes between them, or two cluster ids",
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
        return ask.could_not_check("The time of the log dirs is unknown", why=_UNDATED, settle=Apart.settle)
    if found is None:
        return ask.ok("Znodes and log dirs are from one collection", gaps=())
    why = f"Znodes: {moment(known[Source.ZNODES].last)}; log dirs: {moment(found.listed)}."
    if found.witness is not None:
        why = f"{why} {unknown_to_znodes(found.witness)}"
    if found.is_known:
        return ask.could_not_check(found.words, why=why, settle=found.settle)
    quiet = "ZooKeeper's last transaction is older than the log dirs, which hold no topic and no leader epoch unknown to it"
    return replace(ask, caveats=(f"{found.words}, unless nothing changed since.",)).ok(quiet, gaps=())


def held(findings: Iterable[Finding], found: Apart | OtherCluster | None, past: Outdated | None = None) -> tuple[Finding, ...]:
    """Return the findings, with some replaced by could_not_check.

    These combine znodes and log dirs of different times or clusters, or describe the present by znodes of the past.
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
    of = area_of(finding.check)
    return told and ((of.is_now and Source.ZNODES in finding.coverage.by) or finding.check == _WHO_IS_DEAD)


def _is_of_setup(finding: Finding) -> bool:
    told = finding.status in (Status.OK, Status.FINDING)
    return told and Source.ZNODES in finding.coverage.by and area_of(finding.check).is_setup


def _of_then(finding: Finding, past: Outdated) -> Finding:
    """Keep a finding on topics known to old znodes; a good result may miss later ones."""
    if finding.status is Status.OK:
        return _withheld(finding, past)
    if finding.title.endswith(_OF_THEN):
        return finding
    caveat = f"{past.words}: topics may have been created, changed or deleted since."
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
        title=f"Unknown: {uncapitalised(reason.words)}",
        why=f"{reason.unless}: {finding.title}.",
        next=(),
        since=None,
        at_latest=False,
        settle=reason.settle,
    )


def by_what_is_there(findings: Iterable[Finding], absent: Collection[Source]) -> tuple[Finding, ...]:
    """Return the findings with only existing kinds of evidence."""
    return tuple(_by(finding, absent) for finding in findings)


def _by(finding: Finding, absent: Collection[Source]) -> Finding:
    seen = tuple(source for source in finding.coverage.by if source not in absent)
    return finding if seen == finding.coverage.by else replace(finding, coverage=replace(finding.coverage, by=seen))


def dated(findings: Iterable[Finding], known: Observations, state: Source) -> tuple[Finding, ...]:
    """Return the findings, each with the observation times of its evidence.

    Args:
        known: Times by kind of evidence.
        state: Source of the cluster's state, which checks call znodes.
    """
    told = {state if source is Source.ZNODES else source: moment for source, moment in known.items()}
    return tuple(_dated(_sourced(finding, state), told) for finding in findings)


def _sourced(finding: Finding, state: Source) -> Finding:
    by = tuple(state if source is Source.ZNODES else source for source in finding.coverage.by)
    return finding if by == finding.coverage.by else replace(finding, coverage=replace(finding.coverage, by=by))


def _dated(finding: Finding, known: Observations) -> Finding:
    observed = {source: known[source] for source in finding.coverage.by if source in known}
    return replace(finding, coverage=replace(finding.coverage, observed=observed)) if observed else finding
