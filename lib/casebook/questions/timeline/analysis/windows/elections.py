"""Check on unclean elections, including past ones: the elected leader was not in the ISR before."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from casebook.facts.cluster import instant
from casebook.facts.losses import LeaderChange
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Question, Severity, Step
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, brokers, plural
from casebook.questions.timeline.analysis.extent import untold
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows.silences import COLLECT_HISTORY


def unclean(scene: TimelineInputs, changes: Sequence[LeaderChange]) -> Finding:
    """Was an out-of-sync leader elected? From states, and up to 1.0 from a line of the controller.

    Rule: a clean election chooses a member of the ISR before (``Election.scala@2.8.2``,
    ``PartitionLeaderSelector.scala@0.9.0.1``).
    """
    dirty = sorted((*_by_states(changes), *_by_lines(scene, changes)), key=lambda one: one.at)
    unjudged = [change for change in changes if change.unclean is None]
    unknown = {(change.topic, change.partition) for change in unjudged}
    hit = Counter((one.topic, one.partition) for one in dirty)
    ask = Question(
        check="timeline.unclean_elections",
        question="Was an out-of-sync replica elected as leader?",
        coverage=Coverage.counted(len(scene.states) - len(unknown), len(scene.states), "partition", Source.HISTORY, Source.LOGS),
        threshold="a leader that was not in the previous ISR",
        facts={
            "elections": len(dirty),
            "partitions": len(hit),
            "topics": sorted({topic for topic, _ in hit}),
            "brokers": sorted({one.leader for one in dirty if one.leader is not None}),
            "unjudged": len(unjudged),
        },
        evidence=tuple(proof(one.proof) for one in dirty[:SHOWN]),
    )
    if dirty:
        return replace(_found(scene, ask, dirty, len(hit), len(unjudged)), at_latest=bool(untold(scene)))
    if unjudged:
        lack = agree(len(unjudged), "the leader", "the leaders")
        title = (
            f"For {plural(len(unjudged), 'election')}, it is unknown whether {lack} {agree(len(unjudged), 'was', 'were')} in sync"
        )
        return ask.could_not_check(title, why="The previous ISR is unknown.", settle=f"{COLLECT_HISTORY}.")
    if gaps := untold(scene) or coverage.history(scene.past, scene.cluster):
        return ask.could_not_check("Not every election is in the evidence", why=gaps[0].why, settle=gaps[0].settle)
    return ask.ok("Each elected leader was in the previous ISR", gaps=())


class _Dirty(NamedTuple):
    """An unclean election with its proof."""

    topic: str
    partition: int
    at: int
    leader: int | None
    proof: str
    why: str


def _by_states(changes: Iterable[LeaderChange]) -> Iterator[_Dirty]:
    for one in changes:
        if one.unclean:
            why = f"the ISR was {brokers(sorted(one.isr or ()))}; broker {one.new_leader} was elected"
            yield _Dirty(one.topic, one.partition, one.opened, one.new_leader, one.opened_proof, why)


def _by_lines(scene: TimelineInputs, changes: Sequence[LeaderChange]) -> Iterator[_Dirty]:
    """Yield those without a state."""
    told = {(one.topic, one.partition, one.new_leader) for one in changes if one.unclean}
    for row in scene.kind("unclean_election").rows:
        leader = row.number("leader")
        if row.partition is not None and row.at is not None and (row.topic, row.partition, leader) not in told:
            why = f"its controller found no living ISR member; broker {leader} was elected"
            yield _Dirty(row.topic, row.partition, row.at, leader, row.proof, why)


def _found(scene: TimelineInputs, ask: Question, dirty: Sequence[_Dirty], partitions: int, unjudged: int) -> Finding:
    first = dirty[0]
    least = "at least " if untold(scene) else ""
    of = f"of {least}{plural(partitions, 'partition')}"
    whom = f"{plural(len(dirty), 'leader')} {of} {agree(len(dirty), 'was', 'were')} elected out of sync"
    return ask.found(
        Severity.WARNING,
        f"{whom}: records that only the ISR had are lost",
        why=f"{first.topic}-{first.partition}: {first.why}.",
        since=instant(first.at),
        next=(
            Step(
                kind="first",
                text="Find the lost acknowledged records with a ledger and the log dirs of all replicas.",
                command="casebook run message_loss",
            ),
            Step(kind="then", text="Set unclean.leader.election.enable=false where records matter more than writes."),
        ),
        caveats=(f"The previous ISR of {plural(unjudged, 'more election')} is unknown.",) if unjudged else (),
    )
