"""Checks on the controller, its epoch, and the brokers that it can elect."""

from collections import Counter
from collections.abc import Sequence

from casebook.facts.cluster import Cluster, instant
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.proof import COLLECT_AGAIN, SHOWN
from casebook.findings.words import agree, brokers, capitalised, moment, plural
from casebook.kafka.verdict import Verdict


def brokers_registered(cluster: Cluster, verdicts: Sequence[Verdict], dead: Sequence[int], gaps: Sequence[Gap]) -> Finding:
    """Is every broker that holds replicas registered?"""
    known = cluster.brokers_known
    held = Counter(broker for verdict in verdicts for broker in {*verdict.replicas, *(verdict.isr or ())})
    named = held.keys()
    ask = Question(
        check="leadership.brokers",
        question="Is every broker that holds replicas registered?",
        coverage=Coverage.counted(len(named & cluster.live) + len(dead) if known else 0, len(named), "broker", Source.ZNODES),
        threshold="a replica on an unregistered broker",
        facts={"registered": sorted(cluster.live) if known else None, "dead": sorted(dead) if known else None},
        evidence=(cluster.proofs.brokers,),
    )
    if not known:
        return ask.could_not_check("The registered brokers are unknown", settle="Add the children of /brokers/ids.")
    if not dead:
        return ask.nothing_in(verdicts, "Every broker that holds replicas is registered", gaps=gaps)
    each = (f"broker {broker} holds {plural(held[broker], 'replica')}" for broker in sorted(dead)[:SHOWN])
    least = "at least " if gaps else ""
    return ask.found(
        Severity.WARNING,
        f"{capitalised(f'{least}{brokers(sorted(dead))}')} {agree(len(dead), 'is', 'are')} not registered",
        why=f"{capitalised(', '.join(each))}.",
    )


def controller(cluster: Cluster) -> Finding:
    """Is there one controller?"""
    found = cluster.controller
    ask = Question(
        check="leadership.controller",
        question="Is there a controller?",
        coverage=Coverage(seen=int(found.readable), of=1, what="controller", by=(Source.ZNODES,)),
        threshold="none, or one that is not registered",
        facts={
            "broker": found.broker,
            "epoch": found.epoch,
            "elected_at": instant(found.elected_at),
            "changes": found.epoch_stamp.version if found.epoch_stamp else None,
        },
        evidence=(cluster.proofs.controller, cluster.proofs.controller_epoch),
    )
    if not found.readable:
        settle = "Add /controller and /controller_epoch." if cluster.source is Source.ZNODES else COLLECT_AGAIN
        return ask.could_not_check("Controller state is unknown", settle=settle)
    if cluster.has_controller is False or found.broker is None:
        who = "There is no controller" if found.broker is None else f"Controller {found.broker} is not registered"
        return ask.found(
            Severity.CRITICAL,
            f"{who}: no elections are held",
            why="Without a controller, no leader is elected and no ISR change is propagated.",
        )
    since = f" since {moment(at)}" if (at := instant(found.elected_at)) else ""
    epoch = "unknown" if found.epoch is None else found.epoch
    who = (
        f"Node {found.broker} leads the quorum of controllers" if cluster.is_kraft else f"Broker {found.broker} is the controller"
    )
    return ask.ok(f"{who}{since}, epoch {epoch}", gaps=coverage.registrations(cluster))


def controller_epoch(cluster: Cluster, gaps: Sequence[Gap]) -> Finding:
    """Was any state written by a controller newer than the current one?"""
    epoch = cluster.controller.epoch
    states = [p for p in cluster.partitions if p.state is not None and p.state.controller_epoch is not None]
    untold = sum(p.state is not None and p.state.controller_epoch is None for p in cluster.partitions)
    newer = [p for p in states if epoch is not None and p.state.controller_epoch > epoch]
    older = sum(epoch is not None and p.state.controller_epoch < epoch for p in states)
    known = epoch is not None
    ask = Question(
        check="leadership.controller_epoch",
        question="Was any state written under a newer controller epoch than the current one?",
        coverage=Coverage.counted(len(states), len(states) + untold, "state", Source.ZNODES),
        threshold="a state with a newer epoch",
        facts={"epoch": epoch, "newer": len(newer) if known else None, "older": older if known else None},
    )
    if cluster.is_kraft:
        return ask.not_applicable("KRaft keeps no controller epoch with a partition: its controllers are a quorum")
    if not known:
        return ask.could_not_check("The controller epoch is unknown", settle="Collect ZooKeeper, which has it.")
    if newer:
        return ask.found(
            Severity.CRITICAL,
            f"{plural(len(newer), 'state')} {agree(len(newer), 'was', 'were')} written under an epoch newer than {epoch}",
            why="This controller must not elect for these partitions: a newer controller exists, or existed.",
            evidence=tuple(cluster.proofs.state(p.topic, p.partition) for p in newer[:SHOWN]),
        )
    if untold:
        title = f"The controller epoch of {plural(untold, 'state')} is unknown"
        return ask.could_not_check(title, settle="Collect ZooKeeper: only the state znodes have these epochs.")
    well = f"No state is newer than controller epoch {epoch}; {older} are older, which is normal"
    return ask.nothing_in(states, well, gaps=gaps)
