"""The checks on windows: two leaders, no leader, too few in sync; and what all checks on a timeline share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from casebook.facts.cluster import instant
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Evidence, Finding, Gap, Question, Severity, Step
from casebook.findings.proof import SHOWN
from casebook.findings.words import agree, brokers, count, moment, number
from casebook.kafka.past_rows import Chain, Window
from casebook.kafka.settings import BUILT_IN_ASSUMED
from casebook.questions.timeline.analysis.extent import untold
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.story import one_sentence
from casebook.questions.timeline.analysis.windows.silences import COLLECT_HISTORY, COLLECT_LOGS
from casebook.questions.timeline.analysis.windows.two_leaders import OldLeaderDoubt, is_grave
from casebook.questions.timeline.analysis.windows.windows import FOUND_SO, MIN_ISR
from casebook.questions.timeline.analysis.words import at_least, at_most, exact

SETTLE = f"Give ZooKeeper's own files, {COLLECT_HISTORY}, or brokers' logs, {COLLECT_LOGS}."

_WINDOWS = Evidence(file="tables/windows")

_FORMER = "a cluster that another follows in these logs"
"""It may be gone, or live on elsewhere: an installation of the same broker ids that wrote into the same folder."""


def proof(text: str) -> Evidence:
    """The evidence that a proof names: a line, a transaction, or a znode."""
    file, _, place = text.partition(" ")
    if place.startswith("/"):
        return Evidence(file=file, znode=place)
    path, _, line = file.rpartition(":")
    return Evidence(file=path, line=int(line)) if path and line.isdecimal() else Evidence(file=text)


def _proofs(windows: Iterable[Window]) -> tuple[Evidence, ...]:
    texts = dict.fromkeys(text for w in windows for text in (w.opened_proof, w.closed_proof) if text)
    return (*(proof(text) for text in list(texts)[: 2 * SHOWN]), _WINDOWS)


def _facts(scene: TimelineInputs, windows: Sequence[Window]) -> dict[str, object]:
    known = [window.length for window in windows if window.length is not None]
    least = {"longest_ms_at_least": max(w.least or 0 for w in windows)} if any(w.at_most for w in windows) else {}
    return least | {
        "windows": len(windows),
        "partitions": len({scene.place(window) for window in windows}),
        "longest_ms": max(known, default=None),
        "open_ends": len(windows) - len(known),
        "opened": instant(min((window.opened for window in windows if window.opened), default=None)),
        "closed": instant(max((window.closed for window in windows if window.closed), default=None)),
    }


def _coverage(scene: TimelineInputs) -> Coverage:
    """Of the partitions whose states are told of, and of those that only an assignment names."""
    named = {(p.topic, p.partition) for p in scene.cluster.partitions} | scene.states.keys()
    by = (Source.HISTORY,) if scene.past.there else (Source.LOGS, Source.ZNODES)
    return Coverage.counted(len(scene.states), len(named), "partition", *by)


def _partitions(scene: TimelineInputs, windows: Iterable[Window]) -> str:
    return number(len({scene.place(window) for window in windows}), "partition")


def two_leaders(
    scene: TimelineInputs, hit: Sequence[Window], doubts: Sequence[OldLeaderDoubt], chains: Sequence[Chain]
) -> Finding:
    """Could two brokers take writes for the same partition at once?"""
    ask = Question(
        check="timeline.two_leaders",
        question="Could two brokers take writes for the same partition at once?",
        coverage=_coverage(scene),
        threshold="an election whose old leader lived on, until it truncates or follows",
        facts=_facts(scene, hit)
        | {"old_leaders": sorted({w.old_leader for w in hit if w.old_leader is not None}), "unknown": len(doubts)},
        evidence=_proofs(hit),
        caveats=(*_how_well_known(scene, hit), *_more_possible(hit, doubts)),
    )
    if hit:
        return replace(_two_leaders_found(scene, ask, hit, chains), at_latest=_may_be_older(scene, hit, doubts))
    if not any(len(rows) > 1 for rows in scene.states.values()):
        if scene.past.there:
            return _nothing(ask, scene, "No leader was elected in place of another")
        return ask.could_not_check("Whether two brokers led at once is unknown: no election is told of", settle=SETTLE)
    if doubts:
        whom = brokers(sorted({doubt.broker for doubt in doubts}))
        title = f"Whether {whom} took writes after {number(len(doubts), 'election')} is unknown"
        return ask.could_not_check(title, why=_possibly(doubts), settle=f"Give the logs of {whom}: {COLLECT_LOGS}.")
    gaps = untold(scene)
    if gaps or not scene.past.there:  # a history tells of every election, else logs do
        gaps = (*gaps, *coverage.server_logs(scene.files, scene.cluster, scene.brokers))
    return ask.ok("No old leader lived on after another was elected", gaps=gaps)


def _may_be_older(scene: TimelineInputs, hit: Sequence[Window], doubts: Sequence[OldLeaderDoubt]) -> bool:
    """Whether there may have been an earlier window than those that are known."""
    first = min(window.opened for window in hit)
    return _is_partial(scene) or any(doubt.at < first for doubt in doubts)


def _is_partial(scene: TimelineInputs) -> bool:
    """Whether there may be more windows with two leaders: a state is not told, or a log was not wholly read."""
    return bool(untold(scene) or coverage.unread_logs(scene.files, scene.cluster))


def _more_possible(hit: Sequence[Window], doubts: Sequence[OldLeaderDoubt]) -> Iterator[str]:
    if hit and doubts:
        whom = brokers(sorted({doubt.broker for doubt in doubts}))
        yield f"After {number(len(doubts), 'more election')} it is not known whether {whom} took writes. {_possibly(doubts)}"


def _possibly(doubts: Sequence[OldLeaderDoubt]) -> str:
    """Why nobody knows it, and for how long it can have been."""
    bounds = [doubt.window.length for doubt in doubts if doubt.window is not None]
    if not bounds or None in bounds:
        return doubts[0].why
    return f"{doubts[0].why} It can have been for {at_most(max(bounds))} at most."


def _how_well_known(scene: TimelineInputs, hit: Iterable[Window]) -> Iterator[str]:
    """What the begin and the end of windows with two leaders rest on."""
    if not scene.past.there:
        yield "Without ZooKeeper's history a window opens at the line of a log, somewhat late."
    moved = sorted({w.old_leader for w in hit if w.planned and w.length is not None})
    if unknown := [broker for broker in moved if scene.uncertainty(broker) is None]:
        clocks = f"the {agree(len(unknown), 'clock', 'clocks')} of {brokers(unknown)} {agree(len(unknown), 'is', 'are')}"
        yield f"How far {clocks} off is not known: a planned move is taken to have lasted as long as printed."


def _two_leaders_found(scene: TimelineInputs, ask: Question, hit: Sequence[Window], chains: Sequence[Chain]) -> Finding:
    worst = max(hit, key=lambda window: (window.length is None, window.length or 0))
    grave = [window for window in hit if is_grave(scene, window)]
    old = brokers(sorted({window.old_leader for window in hit}))
    lasted = "an unknown time" if worst.length is None else _told(scene, worst.length, at_most if worst.at_most else exact)
    partial = _is_partial(scene) or bool(ask.facts["unknown"])
    least, told = ("at least ", ", as far as is told,") if partial else ("", "")
    upto, its = _bound(hit, worst), "their" if " and " in old else "its"
    title = f"For {upto}{lasted}{told} {old} and {its} successors could both take writes on {least}{_partitions(scene, hit)}"
    story = _begin_of(worst, chains) or f"{worst.topic}-{worst.partition}: {worst.opened_by} {worst.closed_by}"
    cut = "What the old leader acknowledged with acks=1 after another was elected is truncated."
    why = " ".join(filter(None, (story, cut, _stood_still(worst))))
    if not grave:
        planned = all(window.planned for window in hit)
        return ask.found(
            Severity.WARNING,
            f"{title}: {'these were ' if partial else ''}planned moves" if planned else title,
            why=f"{why} Leaders were moved {'then ' if partial else ''}while their brokers were well." if planned else why,
            since=instant(min(window.opened for window in hit)),
            next=(
                Step(kind="first", text="Producers whose records must not be lost use acks=all with min.insync.replicas of 2."),
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
                text="Keep the producers' logs: compare what they had acknowledged in these windows with the partitions. "
                "Then set acks=all and min.insync.replicas=2: a leader without followers refuses writes.",
            ),
            Step(kind="not", text="Do not take the old leader's own Expired line for the begin: it prints that late."),
        ),
    )


def _bound(hit: Sequence[Window], worst: Window) -> str:
    """What a title says before the length of the worst window."""
    if worst.length is None:
        return ""
    if worst.at_most:
        return "at most "
    return "up to " if len(hit) > 1 else ""


def _begin_of(window: Window, chains: Iterable[Chain]) -> str:
    """What came first in the chain that an election is part of; a start that recovered its logs takes nobody's leaders."""
    own = (c for c in chains if c.broker == window.old_leader and c.kind != "unclean_start")
    return next((one_sentence(c) for c in own if c.opened <= window.opened <= c.closed), "")


def _stood_still(window: Window) -> str:
    """What the old leader's log says of the time in between."""
    if window.silent is None:
        return ""
    until = instant(window.silent)[11:23]
    if window.silent == window.closed:
        return f"Broker {window.old_leader} printed nothing in all that time: it may have stood still."
    return f"Broker {window.old_leader} printed nothing until {until} and may have stood still; from then on it ran."


def leaderless(scene: TimelineInputs, hit: Sequence[Window]) -> Finding:
    """When had a partition no leader, and for how long?"""
    still = [window for window in hit if window.closed is None]
    shown = [*still, *(window for window in hit if window.closed is not None)]
    missed = [window for window in still if window.topic not in scene.cluster.maybe_deleted]
    open_ = [window for window in missed if _is_known_open(scene, window)]
    ask = Question(
        check="timeline.leaderless",
        question="When had a partition no leader, and for how long?",
        coverage=_coverage(scene),
        threshold="any time without a registered leader",
        facts=_facts(scene, hit) | {"still": None if (later := _ended_behind_znodes(scene, hit)) else len(missed)},
        evidence=_proofs(shown),
        caveats=(*_how_partly(scene), *_with_deleted(scene), *later) if hit else (),
    )
    if not hit:
        return _nothing(ask, scene, "No partition was without leader")
    first = _story_of(scene, shown[0])
    at_most, of_ended = _lasted(scene, hit)
    told = f"As far as is told, {_partitions(scene, hit)}" if _with_deleted(scene) else _least(scene, hit)
    return ask.found(
        Severity.CRITICAL if open_ else Severity.WARNING,
        f"{told} had no leader{at_most}{_ended(scene, hit, still, len(open_))}{of_ended}",
        why=f"{'Still without' if open_ else 'Without at last'}: {_named(open_ or still)}. {first}" if still else first,
        since=instant(min((w.opened for w in hit if w.opened and not _is_unsettled(scene, w)), default=None)),
        at_latest=_is_at_latest(scene, hit),
    )


def _ended_behind_znodes(scene: TimelineInputs, hit: Sequence[Window]) -> tuple[str, ...]:
    """That znodes name no leader where a log tells of one that was elected after they were read: each is right of its moment."""
    read = scene.cluster.read_to
    if read is None or scene.past.there:
        return ()
    unled = {partition[:2] for partition in scene.cluster.partitions if partition.state and partition.state.leader is None}
    later = [window for window in hit if (window.closed or 0) > read and (window.topic, window.partition) in unled]
    if not later:
        return ()
    these = f"{number(len(later), 'partition')} that had no leader then {agree(len(later), 'has', 'have')} one by the logs"
    return (f"The logs go on after the znodes were read, at {moment(instant(read))}: {these}.",)


def _is_known_now(scene: TimelineInputs) -> bool:
    """Whether anything but logs tells of states: what a log ends with is how it was when that line was printed."""
    return scene.past.last is not None or any(partition.state is not None for partition in scene.cluster.partitions)


def _is_known_open(scene: TimelineInputs, window: Window) -> bool:
    """Whether a window that nothing ends reaches to a moment of which states are known: what logs alone tell may have ended."""
    if scene.past.last is None:
        return _is_known_now(scene) and scene.place(window)[2] == len(scene.renewals)
    return window.opened is None or window.opened <= scene.past.last[0]


def _is_unsettled(scene: TimelineInputs, window: Window) -> bool:
    """Whether its begin is no more than the earliest: the last snapshot lacks what was there, and no later write dates that."""
    last, unsettled = scene.past.last, scene.past.unsettled
    return window.opened_proof in unsettled or (bool(unsettled) and last is not None and window.opened == last[0])


def _ended(scene: TimelineInputs, hit: Sequence[Window], still: Sequence[Window], known: int) -> str:
    """How many are without leader to the end, else what became of all; who was deleted has none, and nobody misses it.

    A log tells of a broker that came back, and not whether its partitions have a leader since, unless a history goes on.
    """
    if still:
        last, rest = scene.past.last, len(still) - known
        end = "the evidence" if last is None else f"ZooKeeper's history, {moment(instant(last[0]))}"
        end += " or later" if scene.past.unsettled else ""
        to_the_end = f", {count(known)} of them to the end of {end}" if known else ""
        or_gone = ", or whether their topics are being deleted" if scene.cluster.maybe_deleted else ""
        or_gone += f", or {agree(rest, 'is', 'are')} of {_FORMER}" if _is_of_former(scene, still) else ""
        ends = {scene.place(window) for window in still}
        went = [one for one in hit if one.closed is not None and one.new_leader is None and scene.place(one) not in ends]
        to_the_end += f"; {_gone(scene, went)}" if went else ""
        return to_the_end + (
            f"; of {count(rest)} nothing tells whether {agree(rest, 'it has', 'they have')} one again{or_gone}" if rest else ""
        )
    last = {scene.place(window): window for window in sorted(hit, key=lambda window: window.closed)}
    without = [window for window in hit if window.new_leader is None]
    deleted = len({scene.place(window) for window in without})
    if not deleted:
        closed = max(window.closed for window in last.values())
        over = moment(instant(closed))
        if not _is_known_now(scene) or (scene.past.last is not None and closed > scene.past.last[0]):
            return f"; {agree(len(last), 'it had', 'all had')} one again by {over}"
        return f"; {agree(len(last), 'it has', 'all have')} one again since {over}"
    rest = f", {agree(len(last) - deleted, 'the other has', 'the others have')} one again" if deleted < len(last) else ""
    return f"; {_gone(scene, without)}{rest}"


def _gone(scene: TimelineInputs, windows: Sequence[Window]) -> str:
    """What became of those that have no leader any more, and need none."""
    which = len({scene.place(window) for window in windows})
    gone = f"{count(which)} {agree(which, 'was', 'were')} deleted, or {agree(which, 'is', 'are')} being deleted"
    former = f", or {agree(which, 'is', 'are')} of {_FORMER}" if _is_of_former(scene, windows) else ""
    return f"{gone}{former}"


def _is_of_former(scene: TimelineInputs, windows: Iterable[Window]) -> bool:
    """Whether one of them is of a cluster that another follows in these logs: in its place, or elsewhere."""
    return any(scene.place(window)[2] < len(scene.renewals) for window in windows)


def _least(scene: TimelineInputs, hit: Sequence[Window]) -> str:
    """How many partitions it befell: at least so many, where not every state is known, or how long each held."""
    known = _partitions(scene, hit)
    unsure = any(row.until is not None and not row.deleted for rows in scene.states.values() for row in rows)
    return f"At least {known}" if unsure or untold(scene) else known


def _with_deleted(scene: TimelineInputs) -> tuple[str, ...]:
    """That those of topics which are being deleted are not told apart: neither a history nor znodes tell which they are."""
    known = scene.past.there or (scene.cluster.topics and not scene.cluster.maybe_deleted)
    return () if known else ("Partitions of topics that were being deleted, if there were any, may be counted, too.",)


def _how_partly(scene: TimelineInputs) -> tuple[str, ...]:
    return tuple(f"There may be more of them, and they may have begun earlier: {gap.why}" for gap in untold(scene)[:1])


def _name(window: Window) -> str:
    return f"{window.topic}-{window.partition}"


def _is_at_latest(scene: TimelineInputs, hit: Sequence[Window]) -> bool:
    """Whether the first of them may have opened earlier than is known."""
    return bool(untold(scene)) or any(w.opened_earliest is not None or w.opened_by == FOUND_SO for w in hit)


def _story_of(scene: TimelineInputs, window: Window) -> str:
    """What became of a partition, with the moments between which it began and ended where these are not known."""
    bounds = ""
    if _is_unsettled(scene, window):
        bounds = f"At {moment(instant(window.opened_earliest or window.opened))} or later. "
    elif window.at_most:
        bounds = f"{_spelled(window)} "
    return f"{_name(window)}: {bounds}{window.opened_by} {window.closed_by}"


def _spelled(window: Window) -> str:
    """``From between 10:03:00 and 11:20:05 until at least 14:00:00.``, the first with its day."""
    first = window.opened if window.opened_earliest is None else window.opened_earliest
    day = instant(first)[:10]

    def at(time: int) -> str:
        text = moment(instant(time))
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
    more = f" and {count(len(windows) - SHOWN)} more" if len(windows) > SHOWN else ""
    return f"{', '.join(map(_name, windows[:SHOWN]))}{more}"


def _lasted(scene: TimelineInputs, hit: Sequence[Window]) -> tuple[str, str]:
    """How long at most, where all are known and ended; else, to stand behind the rest, the longest of those that ended."""
    told = all(window.length is not None and window.opened_by != FOUND_SO for window in hit)
    if not untold(scene) and told:
        return f", for {_length(scene, hit, 'up to ')}", ""
    longest, ended = _length(scene, hit), "is told to have ended" if untold(scene) else "ended"
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
        return f"{most}{_told(scene, worst.length, exact)}"
    least = max(0 if _is_unsettled(scene, window) else window.least for window in known)
    longest = f"at most {at_most(worst.length)}"
    return f"at least {at_least(least)} and {longest}" if least else longest


def _told(scene: TimelineInputs, length: int, spelled: Callable[[int], str]) -> str:
    """A length: about so long without a history, as a line is printed a little later than what it tells of is written."""
    return f"{'' if scene.past.there else 'about '}{spelled(length)}"


def _nothing(ask: Question, scene: TimelineInputs, title: str, gaps: Sequence[Gap] = ()) -> Finding:
    """Nothing was found: well only where each state that was is known."""
    if not scene.states:
        return ask.could_not_check("No state of a partition is known", settle=SETTLE)
    asked = title.replace("No partition was", "whether a partition was").replace("No leader was", "whether a leader was")
    if scene.past.observed:
        gap = coverage.history(scene.past, scene.cluster)[0]
        return ask.could_not_check(f"Snapshots alone do not tell {asked}, and for how long", why=gap.why, settle=gap.settle)
    if not scene.past.there:
        return ask.could_not_check(f"Logs alone do not tell {asked}", settle=f"Give ZooKeeper's own files: {COLLECT_HISTORY}.")
    return ask.ok(title, gaps=(*untold(scene), *gaps))


def under_min_isr(scene: TimelineInputs, hit: Sequence[Window]) -> Finding:
    """When were fewer replicas in sync than acks=all needs?"""
    ask = Question(
        check="timeline.under_min_isr",
        question="When were fewer replicas in sync than acks=all needs?",
        coverage=_coverage(scene),
        threshold="any time under min.insync.replicas",
        facts=_facts(scene, hit),
        evidence=_proofs(hit),
        caveats=(*_whose_min_isr(scene), *(_how_partly(scene) if hit else ())),
    )
    if not hit:
        return _nothing(
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
    """Of when the settings are that were taken for those of each moment."""
    topics = {topic for topic, _ in scene.states}
    told = len(topics & scene.past.overrides.keys())
    if told:
        which = "" if told == len(topics) else f" of {number(told, 'topic')}"
        yield f"The overrides{which} are those of each moment; settings of brokers are those of the end of the evidence."
    if told < len(topics):
        which = f" of {number(len(topics) - told, 'topic')}" if told else ""
        yield f"{MIN_ISR}{which} is that of the end of the evidence."
    if BUILT_IN_ASSUMED in _origins(scene):
        yield f"Where nothing else is known {MIN_ISR} is taken to be the release's default."


def _origins(scene: TimelineInputs) -> set[str]:
    """Where what each topic needs in sync comes from."""
    return {scene.settings.effective(MIN_ISR, topic=topic, broker=None).origin for topic, _ in scene.states}
