"""The check on unclean elections, also of those that healed long ago: who was elected was not in the ISR before."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from casebook.analysis import coverage
from casebook.analysis.loss_rows import Change
from casebook.analysis.proof import SHOWN
from casebook.analysis.timeline_extent import untold
from casebook.analysis.timeline_scene import Scene
from casebook.analysis.timeline_silences import COLLECT_HISTORY
from casebook.analysis.timeline_window_checks import proof
from casebook.analysis.words import agree, brokers, number
from casebook.facts import instant
from casebook.findings import Coverage, Finding, Question, Severity, Step
from casebook.observed import Source


def unclean(scene: Scene, changes: Sequence[Change]) -> Finding:
    """Was a leader elected that was not in sync? Told by states alone: up to today Kafka prints no line of its own for it.

    Rule: a clean election takes somebody of the ISR before (``Election.scala@2.8.2``, ``PartitionLeaderSelector.scala@0.9.0.1``).
    """
    dirty = [change for change in changes if change.unclean]
    unjudged = [change for change in changes if change.unclean is None]
    unknown = {(change.topic, change.partition) for change in unjudged}
    hit = Counter((change.topic, change.partition) for change in dirty)
    ask = Question(
        check="timeline.unclean_elections",
        question="Was a leader elected that was not in sync?",
        coverage=Coverage.counted(len(scene.states) - len(unknown), len(scene.states), "partition", Source.HISTORY, Source.LOGS),
        threshold="a leader that was not in the ISR before",
        facts={
            "elections": len(dirty),
            "partitions": len(hit),
            "topics": sorted({topic for topic, _ in hit}),
            "brokers": sorted({change.new_leader for change in dirty if change.new_leader is not None}),
            "unjudged": len(unjudged),
        },
        evidence=tuple(proof(change.opened_proof) for change in dirty[:SHOWN]),
    )
    if dirty:
        return replace(_found(scene, ask, dirty, len(hit), len(unjudged)), at_latest=bool(untold(scene)))
    if unjudged:
        lack = agree(len(unjudged), "the leader", "the leaders")
        title = f"Whether {lack} of {number(len(unjudged), 'election')} {agree(len(unjudged), 'was', 'were')} in sync is unknown"
        return ask.could_not_check(title, why="The ISR before is not told.", settle=f"{COLLECT_HISTORY}.")
    if gaps := untold(scene) or coverage.history(scene.past, scene.cluster):
        return ask.could_not_check("Not every election is told of", why=gaps[0].why, settle=gaps[0].settle)
    return ask.ok("Each leader that was elected was in the ISR before", gaps=())


def _found(scene: Scene, ask: Question, dirty: Sequence[Change], partitions: int, unjudged: int) -> Finding:
    first = dirty[0]
    was = brokers(sorted(first.isr or ()))
    least = "at least " if untold(scene) else ""
    of = f"of {least}{number(partitions, 'partition')}"
    whom = f"{number(len(dirty), 'leader')} {of} {agree(len(dirty), 'was', 'were')} elected out of sync"
    return ask.found(
        Severity.WARNING,
        f"{whom}: what the ISR had and they lacked is lost",
        why=f"{first.topic}-{first.partition}: the ISR was {was}; broker {first.new_leader} was elected.",
        since=instant(first.opened),
        next=(
            Step(
                kind="first",
                text="Find out which acknowledged records are gone, by a ledger and the log dirs of all replicas.",
                command="casebook run message_loss",
            ),
            Step(kind="then", text="Set unclean.leader.election.enable=false where records matter more than writes."),
        ),
        caveats=(f"Of {number(unjudged, 'more election')} the ISR before is not told.",) if unjudged else (),
    )
