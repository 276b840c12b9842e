"""Checks on windows without a leader, or with too few in-sync replicas."""

from collections.abc import Iterable, Iterator, Sequence

from casebook.facts.cluster import instant
from casebook.findings import coverage
from casebook.findings.finding import Finding, Question, Severity
from casebook.findings.proof import SHOWN
from casebook.findings.words import agree, count, moment, plural, some
from casebook.kafka.past_rows import Window
from casebook.kafka.settings import BUILT_IN_ASSUMED
from casebook.questions.timeline.analysis.extent import untold
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows.window_facts import (
    coverage_of_states,
    facts_of,
    nothing_found,
    partitions_of,
    proofs_of,
    told_length,
)
from casebook.questions.timeline.analysis.windows.windows import FOUND_SO, MIN_ISR
from casebook.questions.timeline.analysis.words import at_least, at_most, exact

_FORMER = "an earlier cluster in these logs"
"""Remark on a former cluster: deleted, or running elsewhere with the same broker ids and log folder."""


def leaderless(scene: TimelineInputs, hit: Sequence[Window]) -> Finding:
    """When did a partition have no leader, and for how long?"""
    still = [window for window in hit if window.closed is None]
    shown = [*still, *(window for window in hit if window.closed is not None)]
    missed = [window for window in still if window.topic not in scene.cluster.maybe_deleted]
    open_ = [window for window in missed if _is_known_open(scene, window)]
    ask = Question(
        check="timeline.leaderless",
        question="When did a partition have no leader, and for how long?",
        coverage=coverage_of_states(scene),
        threshold="any time without a registered leader",
        facts=facts_of(scene, hit) | {"still": None if (later := _ended_behind_znodes(scene, hit)) else len(missed)},
        evidence=proofs_of(shown),
        caveats=(*_how_partly(scene), *_with_deleted(scene), *later) if hit else (),
    )
    if not hit:
        return nothing_found(ask, scene, "No partition was without leader")
    first = _story_of(scene, shown[0])
    at_most, of_ended = _lasted(scene, hit)
    told = f"As far as known, {partitions_of(scene, hit)}" if _with_deleted(scene) else _least(scene, hit)
    return ask.found(
        Severity.CRITICAL if open_ else Severity.WARNING,
        f"{told} had no leader{at_most}{_ended(scene, hit, still, len(open_))}{of_ended}",
        why=f"{'Still without' if open_ else 'Without at last'}: {_named(open_ or still)}. {first}" if still else first,
        since=instant(min((w.opened for w in hit if w.opened and not _is_unsettled(scene, w)), default=None)),
        at_latest=_is_at_latest(scene, hit),
    )


def _ended_behind_znodes(scene: TimelineInputs, hit: Sequence[Window]) -> tuple[str, ...]:
    """Explain znodes without a leader when a log has a later election: each is right for its time."""
    read = scene.cluster.read_to
    if read is None or scene.past.there:
        return ()
    unled = {partition[:2] for partition in scene.cluster.partitions if partition.state and partition.state.leader is None}
    later = [window for window in hit if (window.closed or 0) > read and (window.topic, window.partition) in unled]
    if not later:
        return ()
    these = f"{plural(len(later), 'partition')} without leader then {agree(len(later), 'has', 'have')} one in the logs"
    return (f"The logs continue after the znodes were read, at {moment(read)}: {these}.",)


def _is_known_now(scene: TimelineInputs) -> bool:
    """Return whether any source besides logs has states: a log's last state is only valid at its last line."""
    return scene.past.last is not None or any(partition.state is not None for partition in scene.cluster.partitions)


def _is_known_open(scene: TimelineInputs, window: Window) -> bool:
    """Return whether an open window reaches a moment with known states: one from logs alone may have ended."""
    if scene.past.last is None:
        return _is_known_now(scene) and scene.place(window)[2] == len(scene.renewals)
    return window.opened is None or window.opened <= scene.past.last[0]


def _is_unsettled(scene: TimelineInputs, window: Window) -> bool:
    """Return whether its start is only the earliest possible: the last snapshot lacks the entity, without a later write."""
    last, unsettled = scene.past.last, scene.past.unsettled
    return window.opened_proof in unsettled or (bool(unsettled) and last is not None and window.opened == last[0])


def _ended(scene: TimelineInputs, hit: Sequence[Window], still: Sequence[Window], known: int) -> str:
    """Describe how many are leaderless to the end, else the outcome of all; deleted partitions need no leader.

    A log shows a broker's return, but not whether its partitions have a leader since, unless a history continues.
    """
    if still:
        last, rest = scene.past.last, len(still) - known
        end = "the evidence" if last is None else f"ZooKeeper's history, {moment(last[0])}"
        end += " or later" if scene.past.unsettled else ""
        to_the_end = f", {count(known)} of them to the end of {end}" if known else ""
        or_gone = ", or whether their topics are being deleted" if scene.cluster.maybe_deleted else ""
        or_gone += f", or {agree(rest, 'is', 'are')} of {_FORMER}" if _is_of_former(scene, still) else ""
        ends = {scene.place(window) for window in still}
        went = [one for one in hit if one.closed is not None and one.new_leader is None and scene.place(one) not in ends]
        to_the_end += f"; {_gone(scene, went)}" if went else ""
        return to_the_end + (
            f"; for {count(rest)} it is unknown whether {agree(rest, 'it has', 'they have')} one again{or_gone}" if rest else ""
        )
    last = {scene.place(window): window for window in sorted(hit, key=lambda window: window.closed)}
    without = [window for window in hit if window.new_leader is None]
    deleted = len({scene.place(window) for window in without})
    if not deleted:
        closed = max(window.closed for window in last.values())
        over = moment(closed)
        if not _is_known_now(scene) or (scene.past.last is not None and closed > scene.past.last[0]):
            return f"; {agree(len(last), 'it had', 'all had')} one again by {over}"
        return f"; {agree(len(last), 'it has', 'all have')} one again since {over}"
    rest = f", {agree(len(last) - deleted, 'the other has', 'the others have')} one again" if deleted < len(last) else ""
    return f"; {_gone(scene, without)}{rest}"


def _gone(scene: TimelineInputs, windows: Sequence[Window]) -> str:
    """Describe the outcome of partitions that need no leader any more."""
    which = len({scene.place(window) for window in windows})
    gone = f"{count(which)} {agree(which, 'was', 'were')} deleted, or {agree(which, 'is', 'are')} being deleted"
    former = f", or {agree(which, 'is', 'are')} of {_FORMER}" if _is_of_former(scene, windows) else ""
    return f"{gone}{former}"


def _is_of_former(scene: TimelineInputs, windows: Iterable[Window]) -> bool:
    """Return whether one of them belongs to a former cluster, replaced in these logs or elsewhere."""
    return any(scene.place(window)[2] < len(scene.renewals) for window in windows)


def _least(scene: TimelineInputs, hit: Sequence[Window]) -> str:
    """Format the number of affected partitions: a minimum with unknown states or lengths."""
    known = partitions_of(scene, hit)
    unsure = any(row.until is not None and not row.deleted for rows in scene.states.values() for row in rows)
    return f"At least {known}" if unsure or untold(scene) else known


def _with_deleted(scene: TimelineInputs) -> tuple[str, ...]:
    """State that topics under deletion are not distinguished: neither history nor znodes list them."""
    known = scene.past.there or (scene.cluster.topics and not scene.cluster.maybe_deleted)
    return () if known else ("Partitions of topics in deletion, if there were any, may be counted too.",)


def _how_partly(scene: TimelineInputs) -> tuple[str, ...]:
    return tuple(f"There may be more of them, with an earlier start: {gap.why}" for gap in untold(scene)[:1])


def _name(window: Window) -> str:
    return f"{window.topic}-{window.partition}"


def _is_at_latest(scene: TimelineInputs, hit: Sequence[Window]) -> bool:
    """Return whether the first of them may have started earlier than known."""
    return bool(untold(scene)) or any(w.opened_earliest is not None or w.opened_by == FOUND_SO for w in hit)


def _story_of(scene: TimelineInputs, window: Window) -> str:
    """Describe a partition's outcome, with bounds of an inexact start and end."""
    bounds = ""
    if _is_unsettled(scene, window):
        bounds = f"At {moment(window.opened_earliest or window.opened)} or later. "
    elif window.at_most:
        bounds = f"{_spelled(window)} "
    return f"{_name(window)}: {bounds}{window.opened_by} {window.closed_by}"


def _spelled(window: Window) -> str:
    """``From between 10:03:00 and 11:20:05 until at least 14:00:00.``, the first with its day."""
    first = window.opened if window.opened_earliest is None else window.opened_earliest
    day = instant(first)[:10]

    def at(time: int) -> str:
        text = moment(time)
        return text[11:19] if text.startswith(day) else text[:19]

    begin = f"{day} {at(window.opened)}"
    if window.opened_earliest is not None:
        begin = f"between {day} {at(first)} and {at(window.opened)}"
    if window.closed is None:
        return f"From {begin} UTC on."
    end = at(window.closed)
    if window.closed_earliest is not None:
        end = f"between {at(window.closed_earliest)} and {end}"
    return f"From {begin} until {end} UTC."


def _named(windows: Sequence[Window]) -> str:
    return some([*map(_name, windows)], SHOWN, ", ", " and")


def _lasted(scene: TimelineInputs, hit: Sequence[Window]) -> tuple[str, str]:
    """Return the maximum length, when all are known and ended; else, as a suffix, the longest ended one."""
    told = all(window.length is not None and window.opened_by != FOUND_SO for window in hit)
    if not untold(scene) and told:
        return f", for {_length(scene, hit, 'up to ')}", ""
    longest, ended = _length(scene, hit), "is known to have ended" if untold(scene) else "ended"
    return "", f"; the longest that {ended} lasted {longest}" if longest else ""


def _length(scene: TimelineInputs, hit: Sequence[Window], most: str = "") -> str:
    known = [window for window in hit if window.length is not None]
    if not known:
        return ""
    if any(window.opened_by == FOUND_SO for window in known):
        least = max(window.least for window in known)
        return f"at least {at_least(least)}" if least else "for an unknown time"
    worst = max(known, key=lambda window: window.length)
    if not worst.at_most and not _is_unsettled(scene, worst):
        return f"{most}{told_length(scene, worst.length, exact)}"
    least = max(0 if _is_unsettled(scene, window) else window.least for window in known)
    longest = f"at most {at_most(worst.length)}"
    return f"at least {at_least(least)} and {longest}" if least else longest


def under_min_isr(scene: TimelineInputs, hit: Sequence[Window]) -> Finding:
    """When were fewer replicas in sync than acks=all requires?"""
    ask = Question(
        check="timeline.under_min_isr",
        question="When were fewer replicas in sync than acks=all needs?",
        coverage=coverage_of_states(scene),
        threshold="any time under min.insync.replicas",
        facts=facts_of(scene, hit),
        evidence=proofs_of(hit),
        caveats=(*_whose_min_isr(scene), *(_how_partly(scene) if hit else ())),
    )
    if not hit:
        return nothing_found(
            ask, scene, "No partition was under min.insync.replicas", coverage.settings_of_all(scene.cluster, _origins(scene))
        )
    return ask.found(
        Severity.WARNING,
        f"{_least(scene, hit)} had too few in sync for acks=all{''.join(_lasted(scene, hit))}",
        why=_story_of(scene, hit[0]),
        since=instant(min((window.opened for window in hit if window.opened), default=None)),
        at_latest=_is_at_latest(scene, hit),
    )


def _whose_min_isr(scene: TimelineInputs) -> Iterator[str]:
    """Yield the time of settings that are assumed for each moment."""
    topics = {topic for topic, _ in scene.states}
    told = len(topics & scene.past.overrides.keys())
    if told:
        which = "" if told == len(topics) else f" of {plural(told, 'topic')}"
        yield f"The overrides{which} are those of each moment; broker settings are those at the end of the evidence."
    if told < len(topics):
        which = f" of {plural(len(topics) - told, 'topic')}" if told else ""
        yield f"{MIN_ISR}{which} is that at the end of the evidence."
    if BUILT_IN_ASSUMED in _origins(scene):
        yield f"Otherwise the release's default of {MIN_ISR} is assumed."


def _origins(scene: TimelineInputs) -> set[str]:
    """Return the origins of the topics' min ISR."""
    return {scene.settings.effective(MIN_ISR, topic=topic, broker=None).origin for topic, _ in scene.states}
