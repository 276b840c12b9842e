"""Checks on leftovers of earlier maintenance."""

from collections.abc import Sequence
from typing import NamedTuple

from casebook.facts.cluster import Cluster, Partition
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.proofs import Proofs
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Question, Severity, Step
from casebook.findings.proof import SHOWN
from casebook.findings.words import agree, brokers, capitalised, count, plural
from casebook.kafka.commands import Commands
from casebook.questions.leadership.analysis.empty_copies import Lacking
from casebook.questions.maintenance.analysis.leftovers import Leftover, LeftoverKind

IMBALANCE = 0.10
"""Default of ``leader.imbalance.per.broker.percentage`` (``KafkaConfig.scala@0.9.0.1, 3.9.0``)."""
TABLE = Evidence(file="tables/leftovers")
_REASSIGN = "/admin/reassign_partitions"
_NO_DELETION = (
    f"Do not delete {_REASSIGN} while a controller works on it: the controller keeps its own list in memory and would not stop."
)
_AT_HOME = "Every preferred leader that could lead does"


def checks(
    cluster: Cluster, found: Sequence[Leftover], imbalance: dict[int, float], commands: Commands, lacking: Lacking = frozenset()
) -> tuple[Finding, ...]:
    """Run all checks on leftovers.

    Args:
        lacking: Result of :func:`casebook.questions.leadership.analysis.empty_copies.lacking`.
    """
    return (
        reassignments(cluster, found),
        throttles(cluster, found, commands),
        leaders(cluster, found, imbalance, commands),
        gone(cluster, found, lacking),
    )


def reassignments(cluster: Cluster, found: Sequence[Leftover]) -> Finding:
    """Is there a reassignment that does not end?"""
    hit = [
        one
        for one in found
        if one.kind in (LeftoverKind.NOTHING_TO_MOVE, LeftoverKind.UNKNOWN_PARTITION, LeftoverKind.WAITS_FOR_DEAD)
    ]
    waits = [one for one in hit if one.kind is LeftoverKind.WAITS_FOR_DEAD]
    dead = sorted({broker for one in waits for broker in one.brokers})
    ask = Question(
        check="maintenance.unfinished_reassignments",
        question="Is there a reassignment that does not end?",
        coverage=Coverage.every(len(cluster.partitions), "partition", Source.ZNODES),
        threshold="an entry that moves nothing, or waits for a broker that is not registered",
        facts={
            "nothing_to_move": sum(one.kind is LeftoverKind.NOTHING_TO_MOVE for one in hit),
            "unknown_partition": sum(one.kind is LeftoverKind.UNKNOWN_PARTITION for one in hit),
            "waits_for_dead": len(waits),
            "waits_for": dead,
        },
    )
    if hit:
        zombies = len(hit) - len(waits)
        said = [f"{plural(len(waits), 'reassignment')} {agree(len(waits), 'waits', 'wait')} for {brokers(dead)}"] if waits else []
        said += [f"{plural(zombies, 'entry', 'entries')} {agree(zombies, 'moves', 'move')} nothing"] if zombies else []
        return ask.found(
            Severity.WARNING,
            " and ".join(said),
            why="While an entry exists, older releases accept no other reassignment, and none of its topics is deleted.",
            evidence=_proof(hit, cluster.proofs),
            next=(Step(kind="not", text=_NO_DELETION),),
        )
    gaps = (
        *coverage.unread(cluster, cluster.proofs.reassignment),
        *coverage.registrations(cluster),
        *coverage.partitions(cluster),
    )
    return ask.ok("No reassignment is left over", gaps=gaps)


def throttles(cluster: Cluster, found: Sequence[Leftover], commands: Commands) -> Finding:
    """Does an obsolete throttle limit replication?"""
    hit = [one for one in found if one.kind is LeftoverKind.THROTTLE]
    entities = len(cluster.topics) + len(cluster.brokers)
    ask = Question(
        check="maintenance.unremoved_throttles",
        question="Is there a leftover replication throttle?",
        coverage=Coverage.every(entities, "broker and topic", Source.ZNODES, many="brokers and topics"),
        threshold="a throttle without a running reassignment",
        facts={"throttles": [f"{one.subject}: {one.detail}" for one in hit[:SHOWN]], "count": len(hit)},
    )
    if hit:
        first = hit[0]
        kind, name = (
            ("brokers", first.subject.removeprefix("broker "))
            if first.subject.startswith("broker ")
            else ("topics", first.subject)
        )
        return ask.found(
            Severity.WARNING,
            f"{plural(len(hit), 'throttle')} {agree(len(hit), 'is', 'are')} left, and no reassignment runs",
            why="It slows followers that must catch up: replicas stay out of sync for longer, or for ever.",
            evidence=_proof(hit, cluster.proofs),
            next=(
                Step(
                    kind="first",
                    text=f"Remove it; the command is for the first of {count(len(hit))}.",
                    command=commands.unset(kind, name, first.detail.partition("=")[0]),
                ),
            ),
        )
    return ask.ok("No throttle is left", gaps=(*coverage.overrides(cluster, "brokers", "topics"), *coverage.partitions(cluster)))


def leaders(cluster: Cluster, found: Sequence[Leftover], imbalance: dict[int, float], commands: Commands) -> Finding:
    """Do the preferred leaders lead?"""
    hit = [one for one in found if one.kind is LeftoverKind.NOT_PREFERRED]
    able = {one.brokers[0] for one in hit}
    could = {broker: share for broker, share in imbalance.items() if share > IMBALANCE and broker in able}
    ask = Question(
        check="maintenance.unpreferred_leaders",
        question="Do the preferred leaders lead?",
        coverage=Coverage.counted(
            sum(p.state is not None for p in cluster.partitions), len(cluster.partitions), "state", Source.ZNODES
        ),
        threshold=f"a broker that could lead, and does not lead more than {IMBALANCE:.0%} of its preferred partitions",
        facts={"not_preferred": len(hit), "imbalance": {str(broker): round(share, 4) for broker, share in could.items()}},
    )
    if not could:
        well = f"{plural(len(hit), 'partition')} not led by the preferred leader" if hit else _AT_HOME
        return ask.nothing_in(cluster.partitions, well, gaps=(*coverage.registrations(cluster), *coverage.states(cluster)))
    worst = max(could, key=lambda broker: (could[broker], -broker))
    return ask.found(
        Severity.INFO,
        f"{plural(len(hit), 'partition')} could return to {agree(len(hit), 'its', 'their')} preferred leader; broker "
        f"{worst} does not lead {could[worst]:.0%} of its preferred partitions",
        why="After a restart, leaders stay where they are until a preferred election.",
        evidence=_proof(hit, cluster.proofs),
        next=(
            Step(
                kind="first",
                text=(
                    "When no coordinator loads and all replicas are in sync, hold the election; clients see a short "
                    "change of leader."
                ),
                command=commands.elect(),
            ),
            Step(
                kind="not",
                text="Do not hold it during an incident: every coordinator that moves loads its partitions again.",
            ),
        ),
    )


def gone(cluster: Cluster, found: Sequence[Leftover], lacking: Lacking = frozenset()) -> Finding:
    """Do assignments name brokers that do not exist?"""
    ghosts = [one for one in found if one.kind is LeftoverKind.GHOST]
    stuck = [one for one in found if one.kind is LeftoverKind.DELETION_STUCK]
    dead = sorted({broker for one in (*ghosts, *stuck) for broker in one.brokers})
    copies = _last_copies(cluster, lacking) if cluster.brokers_known else _Copies()
    ask = Question(
        check="maintenance.unregistered_replicas",
        question="Do assignments name brokers that are not registered?",
        coverage=Coverage.every(len(cluster.partitions), "partition", Source.ZNODES),
        threshold="a replica on a broker that is not registered",
        facts={
            "partitions": len(ghosts),
            "deletions": [one.subject for one in stuck],
            "brokers": dead,
            "last_copies": None if copies.unknown and not copies.last else copies.last,
            "unknown_copies": copies.unknown,
        },
    )
    if not dead:
        gaps = (*coverage.registrations(cluster), *coverage.partitions(cluster))
        return ask.nothing_in(cluster.partitions, "Every replica is on a registered broker", gaps=gaps)
    short = f"{plural(len(ghosts), 'partition')} {agree(len(ghosts), 'has', 'have')} a replica on {brokers(dead)}, not registered"
    waits = f" The deletion of {plural(len(stuck), 'topic')} waits for {agree(len(dead), 'it', 'them')}." if stuck else ""
    held = _holders(copies)
    return ask.found(
        # Unknowns do not raise the severity: less evidence means more unknowns, and nothing is worse for it.
        Severity.WARNING if copies.last or copies.gone else Severity.INFO,
        capitalised("; ".join(held)) if copies.last else "; ".join([short, *held]),
        why=f"{f'{short}. ' if copies.last else ''}A broker that returns with its data heals this. A broker that never returns "
        f"leaves its partitions with too few replicas for good.{waits}",
        evidence=_proof([*ghosts, *stuck], cluster.proofs),
        next=(
            Step(
                kind="first",
                text=f"Drain {brokers(dead) if len(dead) == 1 else f'each of {brokers(dead)}'} if gone for good: "
                "otherwise its partitions stay short of replicas.",
                command=f"casebook run broker_maintenance -p drain={','.join(map(str, dead))}",
            ),
            Step(kind="not", text=_no_empty_broker(copies)),
        ),
    )


class _Copies(NamedTuple):
    """Partitions with their last complete copy on a dead broker, certainly or perhaps; ``None`` when registrations are unknown.

    Args:
        last: Number without a complete copy on a live broker.
        unknown: Number with an unknown holder of the complete copy.
        holders: Dead brokers with the copies in ``last``.
        maybe: Dead brokers that may have the copies in ``unknown``.
        gone: Number with a last complete copy that is missing in the log dirs.
    """

    last: int | None = None
    unknown: int | None = None
    holders: Sequence[int] = ()
    maybe: Sequence[int] = ()
    gone: int = 0


def _last_copies(cluster: Cluster, lacking: Lacking) -> _Copies:
    """Count the copies, without topics under deletion."""
    deleted = {name for name, topic in cluster.topics.items() if topic.deleting}
    wanted = [partition for partition in cluster.partitions if partition.topic not in deleted]
    last = [one for one in wanted if one.state is not None and one.state.isr and cluster.live.isdisjoint(one.state.isr)]
    left = [[dead for dead in one.state.isr if (dead, one.topic, one.partition) not in lacking] for one in last]
    held = [some for some in left if some]
    may = [
        dead for partition in wanted if _is_holder_unknown(partition, cluster) if (dead := set(partition.replicas) - cluster.live)
    ]
    whose = (sorted({broker for some in all_ for broker in some}) for all_ in (held, may))
    return _Copies(len(held), len(may), *whose, gone=len(left) - len(held))


def _is_holder_unknown(partition: Partition, cluster: Cluster) -> bool:
    """Return whether the holder of the complete copy is unknown: the ISR was emptied, or no state was read.

    A partition that waits for its first state, with a live broker that may lead it, has no record yet.
    """
    state = partition.state
    if state is None:
        return not partition.missing or cluster.live.isdisjoint(partition.replicas)
    return not state.isr and state.leader not in cluster.live


_NO_HOLDER = "the holder of a complete copy is unknown"


def _holders(copies: _Copies) -> list[str]:
    """Return clauses on the last complete copies, the worst first."""
    said = []
    if copies.last:
        whole = f"{agree(len(copies.holders), 'holds', 'hold')} the last complete {agree(copies.last, 'copy', 'copies')}"
        said.append(f"dead {brokers(copies.holders)} {whole} of {plural(copies.last, 'partition')}")
    if copies.unknown:
        said.append(f"for {plural(copies.unknown, 'partition')}, {_NO_HOLDER}")
    if copies.gone:
        said.append(f"{plural(copies.gone, 'partition')} {agree(copies.gone, 'has', 'have')} no complete copy in any log dir")
    return said


def _no_empty_broker(copies: _Copies) -> str:
    """Rule: a broker with the id of an ISR member is elected as in sync, whatever its log contains."""
    elected = (
        "It would be elected with its empty log, even where unclean election is off, and other replicas would truncate to that."
    )
    if not copies.last and not copies.unknown:
        return f"Never start an empty broker with its id while other replicas are out of sync. {elected}"
    whose = " or ".join(map(str, sorted({*copies.holders, *copies.maybe})))
    only = f"only {agree(len(copies.holders), 'it holds', 'they hold')} the last complete {agree(copies.last, 'copy', 'copies')}"
    never = f"Never start an empty broker as broker {whose}, whatever happened to its disk"
    unknown = f"for {plural(copies.unknown, 'partition')}, {_NO_HOLDER}." if copies.unknown else ""
    if not copies.last:
        return f"{never}: {unknown}"
    return f"{never}: {only} of {plural(copies.last, 'partition')}. {elected} {capitalised(unknown)}".rstrip()


def _proof(hit: Sequence[Leftover], proofs: Proofs) -> tuple[Evidence, ...]:
    """Return where the first few stand, and the table."""
    return (*dict.fromkeys(place for one in hit[:SHOWN] for place in _places(one, proofs)), TABLE)


def _places(one: Leftover, proofs: Proofs) -> tuple[Evidence, ...]:
    topic = one.subject.rpartition("-")[0]
    match one.kind:
        case LeftoverKind.NOTHING_TO_MOVE | LeftoverKind.UNKNOWN_PARTITION:
            return (proofs.reassignment,)
        case LeftoverKind.WAITS_FOR_DEAD | LeftoverKind.GHOST:
            return (proofs.topic(topic),)
        case LeftoverKind.THROTTLE:
            broker = one.subject.removeprefix("broker ")
            return (proofs.topic_settings(broker) if broker == one.subject else proofs.broker_settings(broker),)
        case LeftoverKind.NOT_PREFERRED:
            return (proofs.state(topic, int(one.subject.rpartition("-")[2])),)
        case LeftoverKind.DELETION_STUCK:
            return (proofs.deletion(one.subject),)
