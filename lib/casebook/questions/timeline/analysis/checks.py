"""Checks on a timeline."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from casebook.facts.cluster import epoch_ms, instant
from casebook.facts.events import FileExtent, Untyped
from casebook.facts.losses import LeaderChange
from casebook.facts.observed import Source
from casebook.facts.quotes import cut
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Question, Severity, Status, Step, names_unreadable
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, brokers, capitalised, plural
from casebook.kafka.past_rows import Silence, Window, WindowKind
from casebook.questions.timeline.analysis.causal_chain import Chain, Root
from casebook.questions.timeline.analysis.causes import host_checks, root_check
from casebook.questions.timeline.analysis.causes.roots import unnamed
from casebook.questions.timeline.analysis.causes.storms import Storm, storms
from casebook.questions.timeline.analysis.clocks import clock_checks, owner_checks
from casebook.questions.timeline.analysis.clocks.clock_checks import ZoneStatements
from casebook.questions.timeline.analysis.clocks.clocks import ZOOKEEPER
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.story import one_sentence
from casebook.questions.timeline.analysis.windows import elections, two_leaders_check, unclean, window_checks
from casebook.questions.timeline.analysis.windows.silences import COLLECT_LOGS
from casebook.questions.timeline.analysis.windows.two_leaders import OldLeaderDoubt
from casebook.questions.timeline.analysis.words import all_named

_THROWN = "In 0.9, the exception discards what other connections had sent in the same poll: those requests are never answered."
_REFUSED = "The broker answers with an error and closes the connection; no other client is affected."
_NOT_KAFKA = (
    "The broker reads the first four bytes as a size, refuses it and closes that connection; no other client is affected."
)
_WRONG_PORT = (
    "Find the sender of the other protocol: a health check, a scanner, or a client with a wrong port or protocol setting."
)
_OLDER_CLIENT = (
    "Set api.version.request=false and broker.version.fallback in librdkafka clients, or use clients of the brokers' release."
)


def checks(
    scene: TimelineInputs,
    windows: Sequence[Window],
    doubts: Sequence[OldLeaderDoubt],
    chains: Sequence[Chain],
    roots: Sequence[Root],
    silences: Sequence[Silence],
    untyped: Sequence[Untyped],
    changes: Sequence[LeaderChange],
    hosts: host_checks.Hosts,
) -> tuple[Finding, ...]:
    """Run every check, in a fixed order."""
    told = (
        two_leaders_check.two_leaders(scene, _of(windows, WindowKind.TWO_LEADERS), doubts, chains),
        window_checks.leaderless(scene, _of(windows, WindowKind.LEADERLESS)),
        window_checks.under_min_isr(scene, _of(windows, WindowKind.UNDER_MIN_ISR)),
        unclean.unclean(scene, changes),
        elections.unclean(scene, changes),
        root_check.root(scene, chains, roots, _of(windows, WindowKind.LEADERLESS)),
        _unknown_requests(scene, chains),
        owner_checks.owners(scene),
        clock_checks.clocks(scene),
        _silences(scene, silences),
        _untyped(scene, untyped),
        *host_checks.checks(scene, hosts),
    )
    doubt = max((scene.uncertainty(broker) or 0 for broker in scene.lives), default=0)
    zones = clock_checks.told(scene)
    zone = _zone(scene, zones)
    return tuple(finding if finding.since is None else _dated(finding, doubt, zone, known=not zones.others) for finding in told)


def _dated(finding: Finding, doubt: int, zone: Sequence[str], *, known: bool) -> Finding:
    """Adjust a finding with a moment: a latest one is later by the error of the logs' clocks.

    Args:
        known: Whether no log contradicts the assumed zone: otherwise the moment is omitted.
    """
    caveats = (*finding.caveats, *zone)
    if not known:
        return replace(finding, since=None, at_latest=False, caveats=caveats)
    since = instant(epoch_ms(finding.since) + doubt) if finding.at_latest else finding.since
    return replace(finding, since=since, caveats=caveats)


def _zone(scene: TimelineInputs, zones: ZoneStatements) -> tuple[str, ...]:
    """State that the zone of the logs is assumed, when neither ZooKeeper's clock nor their lines show it."""
    unknown = sorted(scene.lives.keys() - zones.as_read)
    if scene.reference == ZOOKEEPER or (scene.lives and not unknown):
        return ()
    known = "; ".join(
        f"lines of broker {broker} show that it logged in {zone} then" for broker, zone in sorted(zones.others.items())
    )
    whose = f" of {brokers(unknown)}" if zones.as_read else ""
    caveat = f"{known or f'the time zone of the logs{whose} is unknown'}; their times are read as {scene.timezone}."
    return (capitalised(caveat),)


def _of(windows: Iterable[Window], kind: WindowKind) -> list[Window]:
    return [window for window in windows if window.kind is kind]


def _unknown_requests(scene: TimelineInputs, chains: Sequence[Chain]) -> Finding:
    found = storms(scene)
    thrown = [row for storm in found for row in storm.thrown]
    failed = scene.kind("processor_failed")
    senders = list(dict.fromkeys(sender.address for storm in found for sender in storm.senders))
    ask = Question(
        check="timeline.unknown_requests",
        question="Does a client send requests that a broker does not support?",
        coverage=_of_logs(scene, of_brokers=True),
        threshold="any request with an unknown api key or version",
        facts={
            "requests": len(thrown),
            "api_keys": sorted({key for storm in found for key in storm.keys}),
            "brokers": _brokers(found),
            "senders": senders,
            "exceptions": len(failed),
            "protocols": list(dict.fromkeys(name for storm in found for name in storm.protocols)),
        },
        evidence=tuple(proof(row.proof) for row in thrown[:SHOWN]),
    )
    if not found:
        if not any(file.is_of_brokers for file in scene.files):
            return ask.could_not_check("Unknown requests could not be checked: there is no broker log", settle=COLLECT_LOGS)
        if len(failed):
            title = f"{plural(len(failed), 'exception')} of network threads; the request is not logged"
            return ask.could_not_check(title, settle="Add server.log with its stack traces.")
        gaps = (*coverage.server_logs(scene.files, scene.cluster, scene.brokers), *_unknown_brokers(scene))
        return ask.ok("No broker received a request that it does not support", gaps=gaps)
    begin = next((one_sentence(chain) for chain in chains if chain.kind == "unknown_request"), "")
    grave = len(failed) > 0 or any(row.kind == "unknown_api_key" for row in thrown)
    kafka, foreign = ([storm for storm in found if bool(storm.protocols) is other] for other in (False, True))
    cut = any(scene.begins_with_start(storm.broker) is False for storm in found)  # earlier ones may be in an older log
    older = cut or bool(scene.brokers and coverage.server_logs(scene.files, scene.cluster, scene.brokers))
    least = "at least " if older or any(scene.ends_early(storm.broker) for storm in found) else ""
    sent = [f"{least}{plural(sum(len(storm.thrown) for storm in kafka), 'unknown request')}{_by_whom(kafka)}"] if kafka else []
    sent += [_in_another(foreign)] if foreign else []
    whom = all_named({storm.broker for storm in found})
    says = [begin, _THROWN if grave else _REFUSED] if kafka else []
    says += [_NOT_KAFKA] if foreign else []
    return ask.found(
        Severity.CRITICAL if grave else Severity.WARNING,
        capitalised(f"{whom} {agree(len(_brokers(found)), 'was', 'were')} sent {' and '.join(sent)}"),
        why=" ".join(filter(None, says)),
        since=instant(min(row.at for row in thrown)),
        at_latest=older,
        next=tuple(_advice(kafka, foreign)),
        caveats=tuple(f"Could not be checked: {text}." for text in unnamed(scene, found)),
    )


def _unknown_brokers(scene: TimelineInputs) -> coverage.Gaps:
    """Return why there may be brokers without a given log: neither znodes nor a history list them."""
    return () if scene.past.there else coverage.registrations(scene.cluster)


def _brokers(found: Sequence[Storm]) -> list[int | None]:
    """Return the brokers in the lines; ``None`` for a line without one, as it may be any of these."""
    return list(dict.fromkeys(storm.broker for storm in found if storm.broker is not None)) or [None]


def _in_another(foreign: Sequence[Storm]) -> str:
    """List the other protocols with their counts."""
    names = " and ".join(dict.fromkeys(name for storm in foreign for name in storm.protocols))
    return f"{names}, {plural(sum(len(storm.thrown) for storm in foreign), 'time')}{_by_whom(foreign)}"


def _advice(kafka: Sequence[Storm], foreign: Sequence[Storm]) -> Iterator[Step]:
    yield Step(kind="first", text=_OLDER_CLIENT if kafka else _WRONG_PORT)
    if kafka and foreign:
        yield Step(kind="then", text=_WRONG_PORT)
    if kafka:
        yield Step(
            kind="not", text="Do not restart brokers with kill -9 because of this: recovery is long, and the client returns."
        )


def _by_whom(found: Sequence[Storm]) -> str:
    senders = list(dict.fromkeys(sender.address for storm in found for sender in storm.senders))
    if not senders:
        return ""
    whom = ", ".join(senders[:3]) + (" and others" if len(senders) > 3 else "")
    told, total = sum(storm.told for storm in found), sum(len(storm.thrown) for storm in found)
    return f" by {whom}" if told == total else f", {told} of them by {whom} according to the logs"


def _silences(scene: TimelineInputs, silences: Sequence[Silence]) -> Finding:
    ask = Question(
        check="timeline.silences",
        question="What do these logs not show?",
        coverage=_of_logs(scene),
        threshold="any missing evidence that would have decided a question",
        facts={"missing": [silence.what for silence in silences]},
        evidence=tuple(proof(silence.proof) for silence in silences if silence.proof)[:SHOWN],
    )
    if not silences:
        return ask.ok("Nothing that the timeline needs is missing", gaps=())
    shown = " ".join(silence.what for silence in silences[:3])
    return ask.could_not_check(
        f"{plural(len(silences), 'piece')} of information {agree(len(silences), 'is', 'are')} missing",
        why=shown,
        settle=silences[0].settle,
    )


def _untyped(scene: TimelineInputs, untyped: Sequence[Untyped]) -> Finding:
    lines = sum(shape.count for shape in untyped)
    grave = [shape for shape in untyped if shape.level in ("WARN", "ERROR", "FATAL")]
    ask = Question(
        check="timeline.untyped",
        question="Was every line understood?",
        coverage=_of_logs(scene),
        threshold="a warning or an error of unknown meaning",
        facts={"lines": lines, "shapes": len(untyped), "grave": sum(shape.count for shape in grave)},
        evidence=tuple(proof(shape.example) for shape in grave[:SHOWN]),
    )
    if not any(file.entries for file in scene.files):
        why = next(filter(None, map(coverage.not_read, scene.files)), "")
        return ask.could_not_check("There is no readable log", why=f"{why}." if why else "", settle=COLLECT_LOGS)
    if grave:
        many = sum(shape.count for shape in grave)
        entries = plural(many, "warning or error", "warnings and errors")
        return ask.could_not_check(
            f"{entries} of {plural(len(grave), 'shape')} {agree(many, 'is', 'are')} of unknown meaning",
            why=f"The most frequent: {cut(grave[0].text, 200)}",
            settle="Report the wording and its Kafka release.",
        )
    others = f"; {plural(lines, 'other line')} {agree(lines, 'was', 'were')} not" if lines else ""
    return ask.ok(f"Every warning and error was understood{others}", gaps=coverage.logs(scene.files, scene.cluster, ()))


def _of_logs(scene: TimelineInputs, *, of_brokers: bool = False) -> Coverage:
    files = [file for file in scene.files if not file.is_empty and (file.broker is not None or not of_brokers)]
    return Coverage.counted(sum(file.extent is not FileExtent.NOT for file in files), len(files), "log", Source.LOGS)


def in_short(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings and good results, with all open checks merged into one, for a report on more than the past.

    Unreadable evidence stays a separate finding.
    """
    unknown = [f for f in findings if f.status is Status.COULD_NOT_CHECK and not names_unreadable(f)]
    told = tuple(finding for finding in findings if finding not in unknown)
    if not unknown:
        return told
    ask = Question(
        check="timeline.past",
        question="Is event history available?",
        coverage=Coverage.counted(len(findings) - len(unknown), len(findings), "question", Source.LOGS, Source.HISTORY),
        facts={"unknown": [finding.check for finding in unknown]},
    )
    title = (
        f"{plural(len(unknown), 'question')} about the past could not be answered; notebook 60 lists "
        f"{agree(len(unknown), 'it', 'them')}"
    )
    return (*told, ask.could_not_check(title, why=unknown[0].title, settle=unknown[0].settle))
