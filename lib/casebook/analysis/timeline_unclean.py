"""The check on leaders that were elected out of sync: a dead broker may still have what such a leader lacks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from casebook.analysis.loss_rows import Change
from casebook.analysis.proof import SHOWN
from casebook.analysis.timeline_history import Key
from casebook.analysis.timeline_scene import Scene
from casebook.analysis.timeline_silences import COLLECT_HISTORY
from casebook.analysis.timeline_window_checks import proof
from casebook.analysis.verdicts import dead_brokers
from casebook.analysis.words import agree, brokers, capitalised, number
from casebook.facts import instant
from casebook.findings import Finding, Question, Severity, Step

CHECK = "timeline.unclean"


class _Ahead(NamedTuple):
    """An unclean election, and the brokers that were in sync before it and have not been back since."""

    change: Change
    away: tuple[int, ...]


def unclean(scene: Scene, changes: Sequence[Change]) -> Finding:
    """May a dead broker have records that a living leader lacks?"""
    cluster = scene.cluster
    dead = dead_brokers(cluster)
    hit = list(_ahead(scene, changes, dead))
    away = sorted({broker for one in hit for broker in one.away})
    ask = Question(
        check=CHECK,
        question="May a dead broker have records that a living leader lacks?",
        looked_at=f"{number(len(changes), 'change')} of leader, {number(len(dead), 'dead broker')}",
        threshold="a leader elected out of sync, while one that was in sync has not been back",
        facts={
            "unclean": len(hit),
            "topics": sorted({one.change.topic for one in hit}),
            "brokers": away,
        },
        evidence=tuple(proof(one.change.opened_proof) for one in hit[:SHOWN]),
    )
    if hit:
        return _found(ask, hit, away)
    if not cluster.brokers_known or not cluster.partitions:
        return ask.could_not_check("Which brokers are dead is not known", settle="Collect the znodes: --zookeeper or a dump.")
    if not dead:
        return ask.not_applicable("No broker that holds a replica is dead")
    if not scene.past.there or scene.past.breaks:
        title = f"Whether the leader of a partition lacks what {brokers(dead)} had is unknown: not every election is told of"
        return ask.could_not_check(title, settle=f"{COLLECT_HISTORY}.")
    return ask.ok(f"No leader was elected out of sync while {brokers(dead)} {agree(len(dead), 'was', 'were')} away")


def _ahead(scene: Scene, changes: Iterable[Change], dead: Sequence[int]) -> Iterator[_Ahead]:
    """Rule: who comes back follows, and cuts its log to the leader's: only who has not been back still has what it had."""
    deleted = {name for name, topic in scene.cluster.topics.items() if topic.deleting}
    living = {(p.topic, p.partition) for p in scene.cluster.partitions if p.state and p.state.leader in scene.cluster.live}
    last: dict[Key, _Ahead] = {}
    for change in changes:
        if change.unclean and (change.topic, change.partition) in living and change.topic not in deleted:
            away = tuple(b for b in change.isr or () if b in dead and not _was_back(scene, b, change.opened))
            if away:
                last[change.topic, change.partition] = _Ahead(change, away)
    yield from last.values()


def _was_back(scene: Scene, broker: int, since: int) -> bool:
    return any(span.opened is not None and span.opened > since for span in scene.registered.get(broker, ()))


def _found(ask: Question, hit: Sequence[_Ahead], away: Sequence[int]) -> Finding:
    first = hit[0].change
    have, they = agree(len(away), "has", "have"), agree(len(away), "it follows", "they follow")
    return ask.found(
        Severity.WARNING,
        f"{capitalised(brokers(away))}, dead, may have records that the {agree(len(hit), 'leader', 'leaders')} of "
        f"{number(len(hit), 'partition')} {agree(len(hit), 'lacks', 'lack')}",
        why=f"{first.topic}-{first.partition}: broker {first.new_leader} was elected out of sync; "
        f"{brokers(hit[0].away)}, in sync before, {agree(len(hit[0].away), 'has', 'have')} not been back since.",
        since=instant(min(one.change.opened for one in hit)),
        next=(
            Step(
                kind="first",
                text=f"See what {brokers(away)} {have} and the {agree(len(hit), 'leader lacks', 'leaders lack')}, by the log "
                "dirs of both.",
                command="casebook run message_loss",
            ),
            Step(
                kind="not",
                text=f"Do not start {brokers(away)} before: as soon as {they}, the log is cut to the new leader's, and what "
                "nobody else has is gone.",
            ),
        ),
    )
