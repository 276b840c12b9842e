"""Could two brokers take writes for the same partition at once?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from casebook.facts.cluster import instant
from casebook.findings import coverage
from casebook.findings.finding import Finding, Question, Severity, Step
from casebook.findings.words import agree, brokers, plural
from casebook.kafka.past_rows import Window
from casebook.questions.timeline.analysis.causal_chain import Chain
from casebook.questions.timeline.analysis.extent import untold
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.story import one_sentence
from casebook.questions.timeline.analysis.windows.silences import COLLECT_LOGS
from casebook.questions.timeline.analysis.windows.two_leaders import OldLeaderDoubt, is_grave
from casebook.questions.timeline.analysis.windows.window_facts import (
    SETTLE,
    coverage_of_states,
    facts_of,
    nothing_found,
    partitions_of,
    proofs_of,
    told_length,
)
from casebook.questions.timeline.analysis.words import at_most, exact


def two_leaders(
    scene: TimelineInputs, hit: Sequence[Window], doubts: Sequence[OldLeaderDoubt], chains: Sequence[Chain]
) -> Finding:
    """Could two brokers take writes for the same partition at once?"""
    ask = Question(
        check="timeline.two_leaders",
        question="Could two brokers take writes for the same partition at once?",
        coverage=coverage_of_states(scene),
        threshold="an election whose old leader stayed alive, until it truncates or follows",
        facts=facts_of(scene, hit)
        | {"old_leaders": sorted({w.old_leader for w in hit if w.old_leader is not None}), "unknown": len(doubts)},
        evidence=proofs_of(hit),
        caveats=(*_how_well_known(scene, hit), *_more_possible(hit, doubts)),
    )
    if hit:
        return replace(_two_leaders_found(scene, ask, hit, chains), at_latest=_may_be_older(scene, hit, doubts))
    if not any(len(rows) > 1 for rows in scene.states.values()):
        if scene.past.there:
            return nothing_found(ask, scene, "No leader was elected in place of another")
        return ask.could_not_check("Two leaders at once are unknown: the evidence has no election", settle=SETTLE)
    if doubts:
        whom = brokers(sorted({doubt.broker for doubt in doubts}))
        title = f"It is unknown whether {whom} took writes after {plural(len(doubts), 'election')}"
        return ask.could_not_check(title, why=_possibly(doubts), settle=f"Add the logs of {whom}: {COLLECT_LOGS}.")
    gaps = untold(scene)
    if gaps or not scene.past.there:  # a history has every election, otherwise logs do
        gaps = (*gaps, *coverage.server_logs(scene.files, scene.cluster, scene.brokers))
    return ask.ok("No old leader stayed alive after another was elected", gaps=gaps)


def _may_be_older(scene: TimelineInputs, hit: Sequence[Window], doubts: Sequence[OldLeaderDoubt]) -> bool:
    """Return whether an earlier window than the known ones is possible."""
    first = min(window.opened for window in hit)
    return _is_partial(scene) or any(doubt.at < first for doubt in doubts)


def _is_partial(scene: TimelineInputs) -> bool:
    """Return whether more windows are possible: a state is unknown, or a log was not read completely."""
    return bool(untold(scene) or coverage.unread_logs(scene.files, scene.cluster))


def _more_possible(hit: Sequence[Window], doubts: Sequence[OldLeaderDoubt]) -> Iterator[str]:
    if hit and doubts:
        whom = brokers(sorted({doubt.broker for doubt in doubts}))
        yield f"For {plural(len(doubts), 'more election')}, it is unknown whether {whom} took writes. {_possibly(doubts)}"


def _possibly(doubts: Sequence[OldLeaderDoubt]) -> str:
    """Describe why it is unknown, and the maximum length."""
    bounds = [doubt.window.length for doubt in doubts if doubt.window is not None]
    if not bounds or None in bounds:
        return doubts[0].why
    return f"{doubts[0].why} This lasted {at_most(max(bounds))} at most."


def _how_well_known(scene: TimelineInputs, hit: Iterable[Window]) -> Iterator[str]:
    """Yield the basis of start and end of windows with two leaders."""
    if not scene.past.there:
        yield "Without ZooKeeper's history, a window opens at a log line, somewhat late."
    moved = sorted({w.old_leader for w in hit if w.planned and w.length is not None})
    if unknown := [broker for broker in moved if scene.uncertainty(broker) is None]:
        clocks = f"the {agree(len(unknown), 'clock', 'clocks')} of {brokers(unknown)} {agree(len(unknown), 'is', 'are')}"
        yield f"How far {clocks} off is unknown: a planned move is assumed to have lasted as long as logged."


def _two_leaders_found(scene: TimelineInputs, ask: Question, hit: Sequence[Window], chains: Sequence[Chain]) -> Finding:
    worst = max(hit, key=lambda window: (window.length is None, window.length or 0))
    grave = [window for window in hit if is_grave(scene, window)]
    old = brokers(sorted({window.old_leader for window in hit}))
    lasted = "an unknown time" if worst.length is None else told_length(scene, worst.length, at_most if worst.at_most else exact)
    partial = _is_partial(scene) or bool(ask.facts["unknown"])
    least, told = ("at least ", ", as far as known,") if partial else ("", "")
    upto, its = _bound(hit, worst), "their" if " and " in old else "its"
    title = f"For {upto}{lasted}{told} {old} and {its} successors could both take writes on {least}{partitions_of(scene, hit)}"
    story = _begin_of(worst, chains) or f"{worst.topic}-{worst.partition}: {worst.opened_by} {worst.closed_by}"
    cut = "Records that the old leader acknowledged with acks=1 in that time are truncated."
    why = " ".join(filter(None, (story, cut, _stood_still(worst))))
    if not grave:
        planned = all(window.planned for window in hit)
        return ask.found(
            Severity.WARNING,
            f"{title}: {'these were ' if partial else ''}planned moves" if planned else title,
            why=f"{why} Leaders were moved {'then ' if partial else ''}while their brokers were healthy." if planned else why,
            since=instant(min(window.opened for window in hit)),
            next=(
                Step(
                    kind="first",
                    text="For records that must not be lost, set acks=all in producers and min.insync.replicas=2 on topics.",
                ),
            ),
        )
    return ask.found(
        Severity.CRITICAL,
        title,
        why=why,
        since=instant(min(window.opened for window in grave)),
        next=(
            Step(
                kind="first",
                text="Keep the producers' logs: compare their acknowledged records in these windows with the "
                "partitions. Then set acks=all and min.insync.replicas=2: a leader without followers then refuses "
                "writes.",
            ),
            Step(kind="not", text="Do not use the old leader's own Expired line as the start: it is logged late."),
        ),
    )


def _bound(hit: Sequence[Window], worst: Window) -> str:
    """Return the qualifier before the length of the worst window."""
    if worst.length is None:
        return ""
    if worst.at_most:
        return "at most "
    return "up to " if len(hit) > 1 else ""


def _begin_of(window: Window, chains: Iterable[Chain]) -> str:
    """Describe the first event of the election's chain; a start with log recovery takes no leader from others."""
    own = (c for c in chains if c.broker == window.old_leader and c.kind != "unclean_start")
    return next((one_sentence(c) for c in own if c.opened <= window.opened <= c.closed), "")


def _stood_still(window: Window) -> str:
    """Describe the old leader's log in the meantime."""
    if window.silent is None:
        return ""
    until = instant(window.silent)[11:23]
    if window.silent == window.closed:
        return f"Broker {window.old_leader} logged nothing in all that time: it may have been paused."
    return f"Broker {window.old_leader} logged nothing until {until} and may have been paused; after that it ran."
