"""Common parts of the checks on windows: coverage, counts, and the wording of an empty result."""

from collections.abc import Callable, Iterable, Sequence

from casebook.facts.cluster import instant
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import plural
from casebook.kafka.past_rows import Window
from casebook.questions.timeline.analysis.extent import untold
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows.silences import COLLECT_HISTORY, COLLECT_LOGS

SETTLE = f"Add ZooKeeper's own files, {COLLECT_HISTORY}, or brokers' logs, {COLLECT_LOGS}."
_WINDOWS = Evidence(file="tables/windows")


def proofs_of(windows: Iterable[Window]) -> tuple[Evidence, ...]:
    """Return the first proofs of starts and ends, and the table with all windows."""
    texts = dict.fromkeys(text for w in windows for text in (w.opened_proof, w.closed_proof) if text)
    return (*(proof(text) for text in list(texts)[: 2 * SHOWN]), _WINDOWS)


def facts_of(scene: TimelineInputs, windows: Sequence[Window]) -> dict[str, object]:
    """Return the number of windows and partitions, and their span."""
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


def coverage_of_states(scene: TimelineInputs) -> Coverage:
    """Return the coverage of partitions with states, and of those only in an assignment."""
    named = {(p.topic, p.partition) for p in scene.cluster.partitions} | scene.states.keys()
    by = (Source.HISTORY,) if scene.past.there else (Source.LOGS, Source.ZNODES)
    return Coverage.counted(len(scene.states), len(named), "partition", *by)


def partitions_of(scene: TimelineInputs, windows: Iterable[Window]) -> str:
    """Return the number of affected partitions, in words."""
    return plural(len({scene.place(window) for window in windows}), "partition")


def told_length(scene: TimelineInputs, length: int, spelled: Callable[[int], str]) -> str:
    """Format a length: approximate without a history, as lines are printed slightly after their event."""
    return f"{'' if scene.past.there else 'about '}{spelled(length)}"


def nothing_found(ask: Question, scene: TimelineInputs, title: str, gaps: Sequence[Gap] = ()) -> Finding:
    """Return an empty result: ok only if all states are known."""
    if not scene.states:
        return ask.could_not_check("No partition state is known", settle=SETTLE)
    asked = title.replace("No partition was", "whether a partition was").replace("No leader was", "whether a leader was")
    if scene.past.observed:
        gap = coverage.history(scene.past, scene.cluster)[0]
        return ask.could_not_check(f"Snapshots alone do not show {asked}, and for how long", why=gap.why, settle=gap.settle)
    if not scene.past.there:
        return ask.could_not_check(f"Logs alone do not show {asked}", settle=f"Add ZooKeeper's own files: {COLLECT_HISTORY}.")
    return ask.ok(title, gaps=(*untold(scene), *gaps))
