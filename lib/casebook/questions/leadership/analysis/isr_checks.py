"""Checks on in-sync replicas: enough, all, the right ones, and the risk without any."""

from collections.abc import Iterable, Sequence

from casebook.facts.cluster import Cluster
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.proof import READ_CONFIG, SHOWN, assumed, of_verdicts, topics_of
from casebook.findings.words import agree, brokers, plural
from casebook.kafka.partitions import ids
from casebook.kafka.settings import BUILT_IN_ASSUMED
from casebook.kafka.verdict import PartitionCondition, Verdict
from casebook.kafka.verdict import online as online_of


def under_min_isr(cluster: Cluster, verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> Finding:
    """Can every online partition take acks=all writes?

    Args:
        gaps: Why some partitions have no verdict.
    """
    online = [*online_of(verdicts), *(v for v in verdicts if v.state is PartitionCondition.UNKNOWN and v.under_min_isr)]
    hit = [v for v in online if v.under_min_isr]
    unknown = [v for v in online if v.under_min_isr is None]
    impossible = topics_of(v for v in hit if v.min_isr is not None and len(v.replicas) < v.min_isr)
    ask = Question(
        check="leadership.under_min_isr",
        question="Can every online partition take acks=all writes?",
        coverage=Coverage.counted(len(online) - len(unknown), len(online), "online partition", Source.ZNODES),
        threshold="ISR smaller than min.insync.replicas",
        facts={
            "under_min_isr": len(hit),
            "unknown": len(unknown),
            "topics": topics_of(hit),
            "origins": sorted({v.min_isr_origin for v in hit if v.min_isr_origin}),
            "min_isr_above_replication_factor": impossible,
        },
        caveats=assumed(v.min_isr_origin for v in online),
    )
    if hit:
        first = hit[0]
        needs = f"{first.topic}-{first.partition} has {len(first.isr or ())} in sync and needs {first.min_isr}"
        return ask.found(
            Severity.WARNING,
            f"{plural(len(hit), _noun(hit))} {agree(len(hit), 'is', 'are')} under min ISR: acks=all is refused",
            why=f"{needs} ({first.min_isr_origin}). Writes with acks=1 still succeed and are at risk.",
            since=min((v.since for v in hit if v.since), default=None),
            at_latest=True,
            evidence=of_verdicts(hit, cluster.proofs),
        )
    if unknown:
        title = f"min.insync.replicas of {plural(len(unknown), 'partition')} is unknown"
        return ask.could_not_check(title, why=f"{unknown[0].topic}: {unknown[0].min_isr_origin}.", settle=READ_CONFIG)
    unsure = coverage.settings_of_all(cluster, {v.min_isr_origin for v in online})
    return ask.nothing_in(online, "Every online partition has min.insync.replicas in sync", gaps=(*gaps, *unsure))


def at_min_isr(cluster: Cluster, verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> Finding:
    """Is any partition one broker away from refusing acks=all, having lost replicas?"""
    online = online_of(verdicts)
    hit = [v for v in online if v.at_min_isr and v.under_replicated]
    ask = Question(
        check="leadership.at_min_isr",
        question="Is any partition one broker failure away from refusing acks=all?",
        coverage=_all_of(online),
        threshold="replicas missing and ISR = min.insync.replicas",
        facts={"at_min_isr": len(hit), "topics": topics_of(hit)},
        caveats=assumed(v.min_isr_origin for v in online),
    )
    if not hit:
        unsure = coverage.settings_of_all(cluster, {v.min_isr_origin for v in online})
        return ask.nothing_in(online, "No partition has lost all its spare replicas", gaps=(*gaps, *unsure))
    return ask.found(
        Severity.INFO,
        f"{plural(len(hit), 'partition')} {agree(len(hit), 'has', 'have')} no replica to spare",
        why="If one more broker leaves the ISR, acks=all writes are refused. With min ISR 1, the partition goes offline.",
        evidence=of_verdicts(hit, cluster.proofs),
    )


def under_replicated(cluster: Cluster, verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> Finding:
    """Are all replicas of the online partitions in sync?

    Args:
        gaps: Why some partitions have no verdict.
    """
    untold = [v for v in verdicts if v.state is PartitionCondition.UNKNOWN and v.under_replicated]
    online = [*online_of(verdicts), *untold]
    hit = [v for v in online if v.under_replicated]
    missing = sorted({r for v in hit for r in v.replicas if r not in (v.isr or ())})
    led = [v for v in hit if v not in untold]
    gone = {r for v in led for r in v.replicas if r not in (v.isr or ()) and r not in v.live_replicas}
    alive = sorted({r for v in hit for r in v.live_replicas if r not in (v.isr or ())})
    unread = cluster.source is Source.WIRE and coverage.unread(cluster, cluster.proofs.reassignment)
    ask = Question(
        check="leadership.under_replicated",
        question="Are all replicas of the online partitions in sync?",
        coverage=_all_of(online),
        threshold="a replica missing from an ISR",
        facts={"under_replicated": len(hit), "missing_brokers": missing},
        caveats=("Running reassignments are unknown: a replica that is being added counts as missing.",)
        if unread and hit
        else (),
    )
    if not hit:
        return ask.nothing_in(online, "Every replica of every online partition is in sync", gaps=gaps)
    return ask.found(
        Severity.INFO,
        f"{plural(len(hit), _noun(hit))} {agree(len(hit), 'is', 'are')} under-replicated",
        why=" ".join((*_missing_because(sorted(gone), alive), *(["The live brokers are unknown."] if untold else []))),
        since=min((v.since for v in hit if v.since), default=None),
        at_latest=True,
        evidence=of_verdicts(hit, cluster.proofs),
    )


def _noun(hit: Iterable[Verdict]) -> str:
    """Return the noun: with unknown registrations the leader may be dead, which refuses writes too."""
    return "partition" if any(v.state is PartitionCondition.UNKNOWN for v in hit) else "online partition"


def _missing_because(dead: Sequence[int], alive: Sequence[int]) -> Iterable[str]:
    if dead:
        yield f"Replicas on {brokers(dead)} are dead."
    if alive:
        yield f"Replicas on {brokers(alive)} are alive but lag, or are still catching up."


def isr_in_assignment(cluster: Cluster, verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> Finding:
    """Does every ISR agree with its assignment?"""
    readable = [v for v in verdicts if v.isr is not None and v.replicas and v.state is not PartitionCondition.UNKNOWN]
    hit = [v for v in readable if not set(v.isr) <= set(v.replicas) or (v.leader is not None and v.leader not in v.isr)]
    ask = Question(
        check="leadership.isr_in_assignment",
        question="Does every leader and ISR agree with its assignment?",
        coverage=Coverage.every(len(readable), "state", Source.ZNODES),
        threshold="a leader outside its ISR, or an ISR member outside the replicas",
        facts={"disagree": len(hit)},
    )
    if not hit:
        return ask.nothing_in(readable, "Every leader and ISR agrees with its assignment", gaps=gaps)
    first = hit[0]
    return ask.found(
        Severity.WARNING,
        f"{plural(len(hit), 'state')} {agree(len(hit), 'disagrees', 'disagree')} with the assignment",
        why=f"{first.topic}-{first.partition}: leader {first.leader}, ISR {ids(first.isr)}, replicas {ids(first.replicas)}.",
        evidence=of_verdicts(hit, cluster.proofs),
    )


def unclean_allowed(cluster: Cluster, verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> Finding:
    """May an unclean election drop records?"""
    allowed = {v.topic: v.unclean_origin for v in verdicts if v.unclean_allowed and len(v.replicas) > 1}
    origin_of = {topic: origin for topic, origin in allowed.items() if origin != BUILT_IN_ASSUMED}
    possible = sorted(allowed.keys() - origin_of.keys())
    origins = sorted({origin for origin in origin_of.values() if origin})
    unknown = topics_of(v for v in verdicts if v.unclean_allowed is None)
    judged = {v.topic for v in verdicts}.difference(unknown)
    ask = Question(
        check="leadership.unclean_allowed",
        question="Can an unclean election drop records?",
        coverage=Coverage.counted(len(judged), len({v.topic for v in verdicts}), "topic", Source.ZNODES),
        threshold="unclean.leader.election.enable=true on a topic with more than one replica",
        facts={"topics": sorted(origin_of), "origins": origins, "unknown": sorted({*unknown, *possible})},
        caveats=assumed(v.unclean_origin for v in verdicts),
    )
    if origin_of:
        overridden = [topic for topic in sorted(origin_of) if topic in cluster.topic_configs]
        loss = "If the whole ISR dies, an out-of-sync replica can become leader. Records that it lacks are then lost."
        return ask.found(
            Severity.WARNING,
            f"{plural(len(origin_of), 'topic')} {agree(len(origin_of), 'allows', 'allow')} unclean election",
            why=f"Origin: {', '.join(origins)}. {loss}",
            evidence=tuple(map(cluster.proofs.topic_settings, overridden[:SHOWN])),
        )
    if unknown:
        return ask.could_not_check(f"Settings of {plural(len(unknown), 'topic')} could not be read", settle=READ_CONFIG)
    if possible:
        title = f"{plural(len(possible), 'topic')} may allow unclean election: it is the assumed default"
        why = "It is the release's built-in default; the server.properties of the brokers was not collected."
        return ask.could_not_check(title, why=why, settle=coverage.COLLECT_PROPERTIES)
    unsure = coverage.settings_of_all(cluster, {v.unclean_origin for v in verdicts})
    return ask.nothing_in(verdicts, "No topic with several replicas allows unclean election", gaps=(*gaps, *unsure))


def _all_of(online: Sequence[Verdict]) -> Coverage:
    return Coverage.every(len(online), "online partition", Source.ZNODES)
