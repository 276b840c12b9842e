"""Check on out-of-sync leaders: a dead broker may still have what such a leader lacks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition, instant
from casebook.facts.losses import LeaderChange
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Question, Severity, Step
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, brokers, capitalised, one_by_one, plural
from casebook.kafka.partitions import dead_brokers
from casebook.kafka.past import Key
from casebook.kafka.past_rows import EventRow, StateRow
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows.silences import COLLECT_HISTORY

CHECK = "timeline.unclean"


_CUTS = ("truncated", "truncated_below_hw", "fetch_reset", "log_emptied")
"""Lines of a truncation; one without an effect proves nothing up to 0.10.2, where each broker truncates to its own high
watermark."""
_FOLLOWS = ("become_follower", *_CUTS)


class _Ahead(NamedTuple):
    """Unclean elections of a partition, and brokers in sync before one of them that have not followed since."""

    changes: tuple[LeaderChange, ...]
    away: tuple[int, ...]


def unclean(scene: TimelineInputs, changes: Sequence[LeaderChange]) -> Finding:
    """May a dead broker have records that a live leader lacks?"""
    cluster = scene.cluster
    dead = dead_brokers(cluster)
    led = {(p.topic, p.partition): p for p in cluster.partitions if is_led(cluster, p)}
    own = [change for change in changes if _is_of(scene, led, change)]
    hit = list(_ahead(scene, own, dead))
    away = sorted({broker for one in hit for broker in one.away})
    named = {(one.changes[0].topic, one.changes[0].partition) for one in hit}
    untold = [key for key in _possibly_unknown(scene, led, own, dead) if key not in named]
    ask = Question(
        check=CHECK,
        question="Does a dead broker hold records that a living leader lacks?",
        coverage=Coverage.counted(len(led) - len(untold), len(led), "led partition", Source.HISTORY, Source.LOGS),
        threshold="a leader elected out of sync, while a previously in-sync replica has not followed since",
        facts={
            "unclean": len(hit),
            "topics": sorted({one.changes[0].topic for one in hit}),
            "brokers": away,
            "copies": {str(broker): [_name(one) for one in hit if broker in one.away] for broker in away},
            "untold": len(untold) if cluster.brokers_known else None,
        },
        evidence=tuple(proof(one.changes[0].opened_proof) for one in hit[:SHOWN]),
    )
    if hit:
        return _found(ask, hit, away, len(untold))
    if not cluster.brokers_known or not cluster.partitions:
        return ask.could_not_check("The dead brokers are unknown", settle="Collect the znodes: --zookeeper or a dump.")
    if not dead:
        return ask.not_applicable("No broker that holds a replica is dead", gaps=coverage.partitions(cluster))
    if untold:
        leaders = agree(len(untold), "the leader", "the leaders")
        lack = agree(len(untold), "lacks", "lack")
        title = f"It is unknown whether {leaders} of {plural(len(untold), 'partition')} {lack} records of {brokers(dead)}"
        return ask.could_not_check(
            title, why=f"For {untold[0][0]}-{untold[0][1]}, not every election is in the evidence.", settle=f"{COLLECT_HISTORY}."
        )
    return ask.ok("No dead broker is known to hold more than a living leader", gaps=coverage.states(cluster))


def is_led(cluster: Cluster, partition: Partition) -> bool:
    """Return whether a live broker leads it; topics under deletion do not count."""
    topic = cluster.topics.get(partition.topic)
    return partition.state is not None and partition.state.leader in cluster.live and not (topic and topic.deleting)


def _is_of(scene: TimelineInputs, led: Mapping[Key, Partition], change: LeaderChange) -> bool:
    """Return whether a change is of such a partition, and not of a deleted one of the same name."""
    key = change.topic, change.partition
    return key in led and any(row.time <= change.opened for row in _states(scene, key)[:1])


def _states(scene: TimelineInputs, key: Key) -> Sequence[StateRow]:
    """Return the states of a partition since its last deletion."""
    rows = scene.states.get(key, ())
    return rows[max((place for place, row in enumerate(rows) if row.deleted), default=-1) + 1 :]


def _ahead(scene: TimelineInputs, changes: Iterable[LeaderChange], dead: Sequence[int]) -> Iterator[_Ahead]:
    """Rule: a follower truncates its log to the leader's: only a broker that has not followed since has its old records."""
    found: dict[Key, list[tuple[LeaderChange, tuple[int, ...]]]] = defaultdict(list)
    for change in changes:
        if change.unclean:
            away = tuple(b for b in change.isr or () if b in dead and not _has_followed(scene, b, change))
            if away:
                found[change.topic, change.partition].append((change, away))
    for hits in found.values():
        yield _Ahead(tuple(change for change, _ in hits), tuple(sorted({b for _, away in hits for b in away})))


def _has_followed(scene: TimelineInputs, broker: int, change: LeaderChange) -> bool:
    """Return whether a broker followed after an election: a registration proves nothing, it may have failed before."""
    key = change.topic, change.partition
    if any(row.time > change.opened and broker in (row.isr or ()) for row in _states(scene, key)):
        return True
    own = (row for row in scene.of_partition(key).rows if row.broker == broker and row.source == "broker")
    return any(_follows(scene, row, change) for row in own if row.kind in _FOLLOWS)


def _follows(scene: TimelineInputs, row: EventRow, change: LeaderChange) -> bool:
    """Decide by epoch, else by time, if the clock is known well enough."""
    epoch = row.number("leader_epoch") if row.kind == "become_follower" else None
    if None not in (epoch, change.epoch):
        return epoch >= change.epoch
    uncertainty = scene.uncertainty(row.broker)
    return uncertainty is not None and row.at - uncertainty > change.opened


def _possibly_unknown(
    scene: TimelineInputs, led: Mapping[Key, Partition], changes: Iterable[LeaderChange], dead: Sequence[int]
) -> list[Key]:
    """Return led partitions with a dead replica and a possible unknown unclean election."""
    unjudged = {(change.topic, change.partition) for change in changes if change.unclean is None}
    short = [(key, one) for key, one in led.items() if not set(dead).isdisjoint(one.replicas)]
    return [key for key, one in short if key in unjudged or not _is_whole(scene, key, one, dead)]


def _is_whole(scene: TimelineInputs, key: Key, partition: Partition, dead: Sequence[int]) -> bool:
    """Return whether history has every election since its dead replicas were in sync, or all elections.

    Rule: epochs start at 0, and each election increments them.
    """
    rows = _states(scene, key)
    if not scene.past.there or scene.past.breaks or not rows or rows[-1].leader_epoch != partition.state.leader_epoch:
        return False
    if rows[0].leader_epoch == 0:
        return True
    return all(any(b in (row.isr or ()) for row in rows) for b in partition.replicas if b in dead)


def _name(one: _Ahead) -> str:
    return f"{one.changes[0].topic}-{one.changes[0].partition}"


def _found(ask: Question, hit: Sequence[_Ahead], away: Sequence[int], untold: int) -> Finding:
    first = hit[0].changes[0]
    new = tuple(dict.fromkeys(change.new_leader for change in hit[0].changes if change.new_leader is not None))
    return ask.found(
        Severity.WARNING,
        f"{capitalised(brokers(away))}, dead, may have records that the {agree(len(hit), 'leader', 'leaders')} of "
        f"{plural(len(hit), 'partition')} {agree(len(hit), 'lacks', 'lack')}",
        why=f"{first.topic}-{first.partition}: {one_by_one(new)} {agree(len(new), 'was', 'were')} elected out of sync; "
        f"{brokers(hit[0].away)}, in sync before, {agree(len(hit[0].away), 'has', 'have')} not followed since.",
        since=instant(min(change.opened for one in hit for change in one.changes)),
        next=(
            Step(
                kind="first",
                text=f"Compare the backup of {brokers(away)} with the {agree(len(hit), 'leader', 'leaders')} in "
                "notebook 70: pass the log dirs of both.",
                command="casebook run message_loss",
            ),
        ),
        caveats=(f"For {plural(untold, 'more partition', 'more partitions')}, not every election is in the evidence.",)
        if untold
        else (),
    )
