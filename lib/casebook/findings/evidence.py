"""Quality of the evidence: missing parts, unreliable parts, and the release whose rules apply."""

from collections.abc import Collection, Sequence

from casebook.errors import CasebookError
from casebook.facts.cluster import Cluster, Problem
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.pasted import NOT_PASTED
from casebook.facts.proofs import ZNODES
from casebook.findings.finding import NOTHING, UNREADABLE, Coverage, Finding, Gap, Question, Severity, Status
from casebook.findings.proof import proof
from casebook.findings.words import agree, plural, some
from casebook.kafka.releases import VersionInUse, VersionOrigin

COLLECT_ZNODES = "Collect again with znodes: casebook collect --zookeeper HOST:2181 --logs ... --out ANOTHER-FOLDER."
_UNITS = {Source.ZNODES: ("znode", "znodes"), Source.WIRE: ("answer of a broker", "answers of brokers")}
_NO_ZNODES = "KRaft keeps this in its metadata log, which the workbook does not read yet."
OR_PASTE_THEM = (
    "No access to ZooKeeper? Save the commands kafka-topics.sh --describe and echo ls /brokers/ids | "
    "zookeeper-shell.sh HOST:2181 with their output in a file. Pass --pasted FILE instead of --zookeeper."
)
GIVE_RELEASE = "Set -p kafka_version=..., or add a broker's server.log from its start on: it names the release."

_KNOWN_FROM = {
    VersionOrigin.PARAMETER: "given as parameter kafka_version",
    VersionOrigin.LOGS: "known from a broker's log",
    VersionOrigin.ANSWERS: "as the brokers answered",
    VersionOrigin.PROPERTIES: "from inter.broker.protocol.version",
    VersionOrigin.ZNODES: "inferred from the znodes' formats",
    VersionOrigin.ASSUMED: "assumed: not in the evidence",
}


def known_from(version: VersionInUse) -> str:
    """Describe the origin of the release."""
    words = _KNOWN_FROM[version.origin]
    return f"{words}, which allow {version.possible}" if version.origin is VersionOrigin.ZNODES else words


def not_yours(version: VersionInUse) -> str:
    """Describe how to set the release when the evidence leaves it open; ``""`` otherwise."""
    return f"Not your release? Add -p kafka_version={version.other}." if version.other else ""


_ASKED_OF_THE_PAST = Question(check="timeline.past", question="What happened?", coverage=NOTHING)
_ASKED_OF_RECORDS = Question(
    check="loss.ledger",
    question="Is every acknowledged record still there?",
    coverage=NOTHING,
)


def without_past(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Merge the open answers about the past into one, for a case without a past."""
    settle = "Collect with --zookeeper-data DIR or --logs BROKER=GLOB."
    return _as_one(findings, findings, _ASKED_OF_THE_PAST, "This case has no event history", settle)


def without_ledger(findings: Sequence[Finding], wanted: str) -> tuple[Finding, ...]:
    """Merge the open answers about lost records into one, for a case without a ledger.

    Args:
        wanted: Their value of ``settle``.
    """
    unasked = [finding for finding in findings if finding.settle == wanted]
    settle = "Collect it with --ledger NAME=FILE, or set it in notebook 70."
    return _as_one(findings, unasked, _ASKED_OF_RECORDS, "There is no ledger of produced records", settle)


def _as_one(
    findings: Sequence[Finding], doubtful: Sequence[Finding], ask: Question, title: str, settle: str
) -> tuple[Finding, ...]:
    """Merge open checks: evidence that was never given is one open question, not one for each check that it would answer."""
    unasked = [finding for finding in doubtful if finding.status is Status.COULD_NOT_CHECK]
    kept = tuple(finding for finding in findings if finding not in unasked)
    why = f"{plural(len(unasked), 'question')} {agree(len(unasked), 'needs', 'need')} it."
    return (*kept, ask.could_not_check(title, why=why, settle=settle)) if unasked else kept


def not_read(check: str, question: str, reason: CasebookError) -> tuple[Finding, ...]:
    """Return one open check in place of those whose evidence is unreadable here, e.g. without Java."""
    ask = Question(check=check, question=question, coverage=NOTHING)
    return (ask.could_not_check(reason.what, why=reason.cause or "", settle=reason.try_ or "Run `casebook doctor`."),)


def left_out(kinds: Collection[str]) -> tuple[Finding, ...]:
    """Return a finding about kinds of events that are too numerous to analyse; nothing without any."""
    if not kinds:
        return ()
    ask = Question(
        check="evidence.events",
        question="Were all events analysed?",
        coverage=NOTHING,
        threshold="more events than memory allows",
        facts={"left_out": sorted(kinds)},
    )
    title = (
        f"{plural(len(kinds), 'kind')} of events {agree(len(kinds), 'was', 'were')} only counted: there are too many to analyse"
    )
    return (ask.could_not_check(title, why=f"These are {', '.join(sorted(kinds))}.", settle="Collect logs of a shorter period."),)


def checks(cluster: Cluster, version: VersionInUse, *, kraft: bool = False) -> tuple[Finding, ...]:
    """Return the checks of every notebook on its evidence.

    Args:
        kraft: Its nodes are KRaft nodes.
    """
    get_znodes = _NO_ZNODES if kraft else COLLECT_ZNODES
    return (_complete(cluster, get_znodes), _taken_at_its_word(cluster, get_znodes), _kafka_version(version))


def _complete(cluster: Cluster, get_znodes: str) -> Finding:
    missing = cluster.missing_parts
    collected = len(cluster.there) + len(cluster.started_with if cluster.source is Source.WIRE else cluster.server_properties)
    read_again = (
        f"{plural(cluster.changed, 'znode')} changed during the walk and {agree(cluster.changed, 'was', 'were')} read again."
    )
    ask = Question(
        check="evidence.complete",
        question="Was all of the evidence collected?",
        coverage=Coverage.counted(collected, collected + len(missing), "part", Source.CASE),
        threshold="any part missing",
        facts={"missing": len(missing), "parts": [problem.path for problem in missing], UNREADABLE: list(cluster.unreadable)},
        evidence=(Evidence(file="case.json"),),
        caveats=(*cluster.remarks, *((read_again,) if cluster.changed else ())),
    )
    if not missing:
        return ask.ok("Everything that was requested was collected", gaps=())
    title = f"{plural(len(missing), 'part')} could not be collected"
    return ask.could_not_check(title, why=_first(missing), settle=_settle(missing, cluster.chroot, get_znodes))


def _settle(missing: Sequence[Problem], chroot: str, get_znodes: str) -> str:
    """For a paste, which cannot be collected again: the zkCli commands for its missing parts."""
    lacking = [problem.path for problem in missing if NOT_PASTED in problem.reason]
    if not lacking:
        without_znodes = any(problem.path == "/" for problem in missing)
        how = get_znodes if get_znodes == _NO_ZNODES else f"{get_znodes} {OR_PASTE_THEM}"
        return how if without_znodes else "Collect again after you remove the cause."
    commands = [f"{'get' if _is_single(path) else 'ls'} {chroot}{path}" for path in lacking if path.startswith("/")]
    which = f": {', '.join(commands)}" if commands else ""
    return f"Paste what is missing, each command with all its output, below the earlier paste, and make the case again{which}."


def _is_single(path: str) -> bool:
    """Whether a znode itself is required, not its list of children."""
    return path in ("/controller", "/controller_epoch") or path.startswith("/brokers/topics/")


def _taken_at_its_word(cluster: Cluster, get_znodes: str) -> Finding:
    problems, missing = cluster.problems, cluster.missing_parts
    unknown = sum(cluster.unknown_znodes.values())
    decoded = len(cluster.brokers) + len(cluster.topics) + len(cluster.partitions)
    kinds = f"{plural(unknown, 'znode')} of kinds that Kafka does not use: {', '.join(cluster.unknown_znodes)}."
    one, many = _UNITS[cluster.source]
    ask = Question(
        check="evidence.decoded",
        question=f"Could every {one} be decoded?",
        coverage=Coverage(seen=decoded, of=decoded + len(problems), what="brokers, topics and partitions", by=(Source.ZNODES,)),
        threshold=f"any {one} whose content is not what it should be",
        facts={"undecodable": len(problems), "unknown_kinds": dict(cluster.unknown_znodes)},
        caveats=(kinds,) if unknown else (),
    )
    if not problems and not (cluster.there or cluster.partitions or cluster.brokers):
        return ask.could_not_check(f"There is no {one} to decode", settle=get_znodes)
    if not problems:
        torn = (Gap(why=f"{p.path}: {p.reason}.", settle="Collect again.") for p in missing if p.path == ZNODES)
        return ask.ok(f"Every {one} was decoded", gaps=tuple(torn))
    its = agree(len(problems), "its", "their")
    return ask.found(
        Severity.WARNING,
        f"{plural(len(problems), one, many)} cannot be trusted at {its} face value",
        why=_first(problems),
        evidence=(*(proof(p.path) for p in problems[:5]), Evidence(file="tables/problems")),
    )


def _kafka_version(version: VersionInUse) -> Finding:
    ask = Question(
        check="evidence.kafka_version",
        question="Which Kafka release's rules apply?",
        coverage=Coverage(seen=int(version.origin is not VersionOrigin.ASSUMED), of=1, what="release", by=(Source.CASE,)),
        threshold="evidence that contradicts the release",
        facts={
            "applied": str(version.version),
            "origin": version.origin.value,
            "possible": version.possible,
            "other": str(version.other) if version.other else None,
        },
        evidence=(proof(version.proof),) if version.proof else (),
    )
    title = f"Rules of Kafka {version.version} are applied, {known_from(version)}"
    if version.contradictions:
        pieces = len(version.contradictions)
        against = f"{plural(pieces, 'piece')} of evidence {agree(pieces, 'contradicts', 'contradict')} this"
        return ask.found(Severity.WARNING, f"{title}, and {against}", why=" ".join(version.contradictions))
    if version.origin is VersionOrigin.ASSUMED:
        return ask.could_not_check(title, settle=GIVE_RELEASE)
    return ask.ok(title, gaps=())


def _first(problems: tuple[Problem, ...]) -> str:
    return f"{some([f'{p.path}: {p.reason}' for p in problems], 3)}."
