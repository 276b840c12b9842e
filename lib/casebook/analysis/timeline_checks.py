"""The checks on a timeline."""

from collections.abc import Iterable, Sequence

from casebook.analysis import coverage, timeline_owner_checks, timeline_unclean, timeline_window_checks
from casebook.analysis.loss_rows import Change
from casebook.analysis.proof import SHOWN
from casebook.analysis.timeline_clocks import ZOOKEEPER
from casebook.analysis.timeline_roots import likeliest, unnamed
from casebook.analysis.timeline_rows import Chain, Clock, Root, Silence, Window, WindowKind
from casebook.analysis.timeline_rows import Step as ClockStep
from casebook.analysis.timeline_scene import Scene
from casebook.analysis.timeline_silences import COLLECT_HISTORY, COLLECT_LOGS
from casebook.analysis.timeline_still import is_down
from casebook.analysis.timeline_storms import Storm, storms
from casebook.analysis.timeline_story import one_sentence
from casebook.analysis.timeline_two_leaders import Doubt
from casebook.analysis.timeline_window_checks import SETTLE, proof
from casebook.analysis.timeline_words import all_named
from casebook.analysis.words import agree, capitalised, duration, number
from casebook.events import Extent, Untyped
from casebook.facts import instant
from casebook.findings import Coverage, Finding, Question, Severity, Status, Step, names_unreadable
from casebook.observed import Source

MOST_LOST = 4
"""Brokers that were lost that a title names."""
OFF = 1000
"""Milliseconds of skew from which on logs read side by side mislead."""

_THROWN = "In 0.9 the exception throws away what other connections had sent in the same poll: it is never answered."
_JOINED = Step(kind="then", text="A file that was put together of several out of order looks the same: give them one by one.")
_REFUSED = "The broker answers with an error and closes the connection; nobody else suffers."
_OLDER_CLIENT = (
    "Set api.version.request=false and broker.version.fallback in librdkafka clients, or use clients of the brokers' release."
)


def checks(
    scene: Scene,
    windows: Sequence[Window],
    doubts: Sequence[Doubt],
    chains: Sequence[Chain],
    roots: Sequence[Root],
    silences: Sequence[Silence],
    untyped: Sequence[Untyped],
    changes: Sequence[Change],
) -> tuple[Finding, ...]:
    """Every check, in a fixed order."""
    return (
        timeline_window_checks.two_leaders(scene, _of(windows, WindowKind.TWO_LEADERS), doubts, chains),
        timeline_window_checks.leaderless(scene, _of(windows, WindowKind.LEADERLESS)),
        timeline_window_checks.under_min_isr(scene, _of(windows, WindowKind.UNDER_MIN_ISR)),
        timeline_unclean.unclean(scene, changes),
        _root(scene, chains, roots),
        _unknown_requests(scene, chains),
        timeline_owner_checks.owners(scene),
        _clocks(scene),
        _silences(scene, silences),
        _untyped(scene, untyped),
    )


def _of(windows: Iterable[Window], kind: WindowKind) -> list[Window]:
    return [window for window in windows if window.kind is kind]


def _root(scene: Scene, chains: Sequence[Chain], roots: Sequence[Root]) -> Finding:
    ask = Question(
        check="timeline.root",
        question="What began it?",
        coverage=Coverage.every(len(scene.rows), "event", Source.LOGS, Source.HISTORY),
        threshold="any chain of events that hit a partition or a client",
        facts={"chains": len(chains), "candidates": [root.name for root in roots if root.chain == 0]},
    )
    if not chains:
        if not scene.rows:
            return ask.could_not_check("What happened is unknown: there is neither log nor history", settle=SETTLE)
        if not scene.past.there:
            return ask.could_not_check("No chain of events is told by the logs that are here", settle=SETTLE)
        gaps = (*coverage.history(scene.past, scene.cluster), *coverage.server_logs(scene.files, scene.cluster, scene.brokers))
        return ask.ok("No broker was lost, and nothing else began a chain of events", gaps=gaps)
    candidates = [root for root in roots if root.chain == 0]
    first = likeliest(candidates)
    if candidates and first is None:
        return _undecided(ask, f"{chains[0].title}{_lost(scene, chains)}", chains[0], candidates)
    if unread := coverage.server_logs(scene.files, scene.cluster, scene.brokers):
        said = first.name if first else chains[0].title
        return ask.could_not_check(
            f"Likeliest root, as far as could be checked: {said}{_lost(scene, chains)}",
            why=" ".join((unread[0].why, "What began it may stand there.")),
            settle=unread[0].settle,
            since=instant(chains[0].opened),
            at_latest=True,
        )
    waits = f"Broker {chains[0].broker} is still down, and holds {number(chains[0].holds, 'partition')} without leader"
    told = [chains[0].title, *([waits] if chains[0].holds else []), *(point.text for point in (first.pro if first else ()))]
    against = [point.text for point in (first.contra if first else ())]
    unchecked = [f"Could not be checked: {text}." for text in (first.unchecked if first else ())]
    proofs = [point.proof for root in roots[:1] for point in (*root.pro, *root.contra) if point.proof]
    proofs += [link.effect.proof for link in chains[0].links]
    mild = chains[0].kind in ("broker_stopped", "unclean_start") or (chains[0].kind == "broker_lost" and not chains[0].partitions)
    worst = Severity.INFO if mild and not chains[0].holds else Severity.WARNING
    return ask.found(
        worst,
        (f"Likeliest root: {first.name}" if first else chains[0].title) + _lost(scene, chains),
        why=". ".join(told) + ".",
        since=instant(chains[0].opened),
        evidence=tuple(proof(text) for text in list(dict.fromkeys(proofs))[: 2 * SHOWN]),
        caveats=(*(f"Against it: {text}." for text in against), *unchecked),
    )


def _lost(scene: Scene, chains: Sequence[Chain]) -> str:
    """Which brokers are still down and hold partitions without leader, and who else was lost; ``""`` where there are none."""
    down = list(dict.fromkeys(chain.broker for chain in chains if chain.holds))
    if not down:
        return ""
    back: dict[int | None, int] = {}
    for chain in chains:
        if chain.kind == "broker_lost" and chain.partitions and chain.back and is_down(scene, chain.broker) is False:
            back[chain.broker] = max(chain.back, back.get(chain.broker, chain.back))
    said = [f"broker {broker}, still down" for broker in down]
    said += [f"broker {broker}, back since {instant(at)[11:19]}" for broker, at in back.items()]
    return f" ({'; '.join(said[:MOST_LOST])}{f'; and {len(said) - MOST_LOST} more' if said[MOST_LOST:] else ''})"


def _undecided(ask: Question, what: str, chain: Chain, candidates: Sequence[Root]) -> Finding:
    names = "; ".join(root.name for root in candidates)
    return ask.could_not_check(
        f"{what}; nothing here tells which of {number(len(candidates), 'candidate')} began it",
        why=f"Each of these is possible: {names}.",
        settle=f"{COLLECT_LOGS}, with the logs of broker {chain.broker}, its GC log, and those of ZooKeeper's servers.",
        since=instant(chain.opened),
        evidence=tuple(proof(text) for text in list(dict.fromkeys(link.effect.proof for link in chain.links))[: 2 * SHOWN]),
        caveats=tuple(f"Could not be checked: {text}." for root in candidates for text in root.unchecked),
    )


def _unknown_requests(scene: Scene, chains: Sequence[Chain]) -> Finding:
    found = storms(scene)
    thrown = [row for storm in found for row in storm.thrown]
    failed = scene.kind("processor_failed")
    senders = list(dict.fromkeys(sender.address for storm in found for sender in storm.senders))
    ask = Question(
        check="timeline.unknown_requests",
        question="Does a client send what a broker does not know?",
        coverage=_of_logs(scene, of_brokers=True),
        threshold="any request with an unknown api key or version",
        facts={
            "requests": len(thrown),
            "api_keys": sorted({key for storm in found for key in storm.keys}),
            "brokers": [storm.broker for storm in found],
            "senders": senders,
            "exceptions": len(failed),
        },
        evidence=tuple(proof(row.proof) for row in thrown[:SHOWN]),
    )
    if not found:
        if not any(file.broker is not None for file in scene.files):
            return ask.could_not_check(
                "Whether a client sends unknown requests is unknown: there is no broker's log", settle=COLLECT_LOGS
            )
        if len(failed):
            title = f"{number(len(failed), 'exception')} of network threads, and no line says what they were sent"
            return ask.could_not_check(title, settle="Give server.log with its stack traces.")
        gaps = coverage.server_logs(scene.files, scene.cluster, scene.brokers)
        return ask.ok("No broker was sent a request that it does not know", gaps=gaps)
    begin = next((one_sentence(chain) for chain in chains if chain.kind == "unknown_request"), "")
    grave = len(failed) > 0 or any(row.kind == "unknown_api_key" for row in thrown)
    return ask.found(
        Severity.CRITICAL if grave else Severity.WARNING,
        capitalised(f"{all_named([storm.broker for storm in found])} {agree(len(found), 'was', 'were')} sent ")
        + f"{number(len(thrown), 'unknown request')}{_by_whom(found, senders)}",
        why=" ".join(filter(None, (begin, _THROWN if grave else _REFUSED))),
        since=instant(thrown[0].at),
        next=(
            Step(kind="first", text=_OLDER_CLIENT),
            Step(kind="not", text="Do not restart brokers with kill -9 for it: the recovery is long, and the client comes back."),
        ),
        caveats=tuple(f"Could not be checked: {text}." for text in unnamed(scene, found)),
    )


def _by_whom(found: Sequence[Storm], senders: Sequence[str]) -> str:
    if not senders:
        return ""
    whom = ", ".join(senders[:3]) + (" and others" if len(senders) > 3 else "")
    told, total = sum(storm.told for storm in found), sum(len(storm.thrown) for storm in found)
    return f" by {whom}" if told == total else f", {told} of them by {whom} as far as the logs tell"


def _clocks(scene: Scene) -> Finding:
    known = [clock for clock in scene.clocks if clock.skew is not None]
    unknown = [clock for clock in scene.clocks if clock.skew is None and clock.broker is not None]
    was_set = [clock for clock in scene.clocks if clock.steps]
    off = [clock for clock in known if abs(clock.skew) > OFF + clock.uncertainty]
    ask = Question(
        check="timeline.clocks",
        question="May times of different logs be compared?",
        coverage=Coverage.counted(len(known), len(known) + len(unknown), "clock", Source.LOGS, Source.HISTORY),
        threshold="a clock that is off by more than 1 s, or was set while its log was written",
        facts={
            "reference": scene.reference,
            "skew_ms": {clock.owner: clock.skew for clock in scene.clocks},
            "uncertainty_ms": {clock.owner: clock.uncertainty for clock in scene.clocks},
            "off": [clock.owner for clock in off],
            "set": {clock.owner: [step.skew for step in clock.steps] for clock in was_set},
        },
        caveats=("Corrected times are used for ordering only; every row keeps the time that was printed.",),
    )
    if was_set:
        return _was_set(ask, was_set)
    if off:
        worst = max(off, key=lambda clock: abs(clock.skew))
        ahead = "ahead of" if worst.skew > 0 else "behind"
        zone = ": it may log in another time zone" if worst.zone else ""
        return ask.found(
            Severity.WARNING,
            f"{number(len(off), 'clock')} {agree(len(off), 'is', 'are')} off by more than 1 s; {worst.owner} is "
            f"{duration(abs(worst.skew))} {ahead} {scene.reference}{zone}",
            why=" ".join(f"{clock.owner}: {clock.skew:+d} ms, give or take {clock.uncertainty}." for clock in off[:SHOWN]),
            next=(
                Step(
                    kind="first", text="Give the zone of these logs as parameter, or mend the time synchronisation of the hosts."
                ),
            ),
        )
    if unknown or not known:
        whose = ", ".join(clock.owner for clock in unknown[:SHOWN])
        off_by = f"the {agree(len(unknown), 'clock', 'clocks')} of {whose} {agree(len(unknown), 'is', 'are')}"
        return ask.could_not_check(
            f"Nothing tells how far {off_by if unknown else 'the clocks of the logs are'} off", settle=f"{COLLECT_HISTORY}."
        )
    most = max(abs(clock.skew) + clock.uncertainty for clock in known)
    whose = f"The clock of {known[0].owner} agrees" if len(known) == 1 else f"All {number(len(known), 'clock')} agree"
    return ask.ok(f"{whose} with {scene.reference} within {duration(most)}", gaps=_unclocked(scene))


def _unclocked(scene: Scene) -> coverage.Gaps:
    """Whose clock nothing tells: that of a broker without log, and all of them where they were held against one another alone."""
    gaps = coverage.logs(scene.files, scene.cluster, scene.brokers)
    gone = coverage.torn_history(scene.cluster) if scene.reference == ZOOKEEPER else coverage.history(scene.past, scene.cluster)
    return (*gone, *gaps)


def _was_set(ask: Question, clocks: Sequence[Clock]) -> Finding:
    first, others = clocks[0], len(clocks) - 1
    also = f", and {number(others, 'other')} {agree(others, 'was', 'were')} set as well" if others else ""
    steps = [(clock, before, step) for clock in clocks for before, step in zip(clock.skews[:-1], clock.steps, strict=True)]
    return ask.found(
        Severity.WARNING,
        f"The clock of {first.owner} was set {_by(first.skew, first.steps[0])} while its log was written{also}",
        why=" ".join(f"{clock.owner}: {_step_said(before, step)}" for clock, before, step in steps[:SHOWN]),
        evidence=tuple(proof(text) for _, _, step in steps[:SHOWN] for text in (step.before, step.after)),
        next=(
            Step(kind="first", text="Mend the time synchronisation of the hosts: a running clock must be slewed, not set."),
            *([_JOINED] if any(step.shown < step.left for _, _, step in steps) else []),
        ),
    )


def _by(before: int | None, step: ClockStep) -> str:
    if before is not None and step.skew is not None:
        by = step.skew - before
        return f"{'forward' if by > 0 else 'back'} by {duration(abs(by))}"
    return f"back by {duration(step.left - step.shown)} or more"


def _step_said(before: int | None, step: ClockStep) -> str:
    was, then = ("nobody knows how far" if skew is None else f"{skew:+d} ms" for skew in (before, step.skew))
    unknown = "" if step.skew is not None else "; from there on its lines could not be ordered among those of others"
    lines = f"{step.before} bears {instant(step.left)}, {step.after} bears {instant(step.shown)}"
    return f"{lines}; off by {was}, then {then}{unknown}."


def _silences(scene: Scene, silences: Sequence[Silence]) -> Finding:
    ask = Question(
        check="timeline.silences",
        question="What can these logs not tell?",
        coverage=_of_logs(scene),
        threshold="anything that would have decided something",
        facts={"missing": [silence.what for silence in silences]},
        evidence=tuple(proof(silence.proof) for silence in silences if silence.proof)[:SHOWN],
    )
    if not silences:
        return ask.ok("Nothing that a timeline rests on is missing", gaps=())
    shown = " ".join(silence.what for silence in silences[:3])
    return ask.could_not_check(
        f"{number(len(silences), 'thing')} {agree(len(silences), 'is', 'are')} not told", why=shown, settle=silences[0].settle
    )


def _untyped(scene: Scene, untyped: Sequence[Untyped]) -> Finding:
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
        return ask.could_not_check("There is no log that could be read", why=f"{why}." if why else "", settle=COLLECT_LOGS)
    if grave:
        many = sum(shape.count for shape in grave)
        entries = number(many, "warning or error", "warnings and errors")
        return ask.could_not_check(
            f"{entries} of {number(len(grave), 'shape')} {agree(many, 'is', 'are')} of unknown meaning",
            why=f"The most frequent: {grave[0].text[:200]}",
            settle="Report the wording and its Kafka release.",
        )
    others = f"; {number(lines, 'other line')} {agree(lines, 'was', 'were')} not" if lines else ""
    return ask.ok(f"Every warning and error was understood{others}", gaps=coverage.logs(scene.files, scene.cluster, ()))


def _of_logs(scene: Scene, *, of_brokers: bool = False) -> Coverage:
    files = [file for file in scene.files if not file.is_empty and (file.broker is not None or not of_brokers)]
    return Coverage.counted(sum(file.extent is not Extent.NOT for file in files), len(files), "log", Source.LOGS)


def in_short(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """What is found, what is well, and in a single answer what could not be checked: for who looks at more than the past.

    What evidence could not be read stands for itself.
    """
    unknown = [f for f in findings if f.status is Status.COULD_NOT_CHECK and not names_unreadable(f)]
    told = tuple(finding for finding in findings if finding not in unknown)
    if not unknown:
        return told
    ask = Question(
        check="timeline.past",
        question="Is the past known as well?",
        coverage=Coverage.counted(len(findings) - len(unknown), len(findings), "question", Source.LOGS, Source.HISTORY),
        facts={"unknown": [finding.check for finding in unknown]},
    )
    title = f"{number(len(unknown), 'question')} on the past could not be answered; notebook 60 says which"
    return (*told, ask.could_not_check(title, why=unknown[0].title, settle=unknown[0].settle))
