"""Checks on leaders, in order; those on ISR and controller are in sibling modules."""

from collections import Counter
from collections.abc import Iterable, Sequence

from casebook.facts.cluster import Cluster
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity, Step
from casebook.findings.proof import COLLECT_AGAIN, SHOWN, of_verdicts, topics_of
from casebook.findings.words import agree, brokers, count, plural, uncapitalised
from casebook.kafka.partitions import is_reassigning
from casebook.kafka.releases import KafkaVersion, VersionInUse
from casebook.kafka.settings import BUILT_IN_ASSUMED
from casebook.kafka.verdict import RULES, PartitionCondition, Verdict, is_rule_unknown
from casebook.kafka.verdict import offline as offline_of
from casebook.questions.leadership.analysis import controller_checks, isr_checks
from casebook.questions.leadership.analysis.start_first import StartChoice, in_order, order


def checks(
    cluster: Cluster, version: VersionInUse, verdicts: Sequence[Verdict], dead: Sequence[int], choices: Sequence[StartChoice]
) -> tuple[Finding, ...]:
    """Run every check on leadership."""
    starts = in_order(dead, choices)
    gaps = coverage.verdicts(cluster, verdicts)
    of_living = (*coverage.registrations(cluster), *gaps)
    return (
        offline(cluster, verdicts, choices, version.version),
        unclean_price(cluster, verdicts, gaps),
        isr_checks.under_min_isr(cluster, verdicts, of_living),
        isr_checks.at_min_isr(cluster, verdicts, of_living),
        isr_checks.under_replicated(cluster, verdicts, of_living),
        uninitialised(cluster, verdicts, gaps),
        deleting(cluster, verdicts, gaps),
        reassigning(cluster, gaps),
        isr_checks.isr_in_assignment(cluster, verdicts, gaps),
        isr_checks.unclean_allowed(cluster, verdicts, gaps),
        controller_checks.brokers_registered(cluster, verdicts, starts, of_living),
        controller_checks.controller_epoch(cluster, gaps),
        controller_checks.controller(cluster),
    )


def offline(cluster: Cluster, verdicts: Sequence[Verdict], choices: Sequence[StartChoice], version: KafkaVersion) -> Finding:
    """Does every partition have a living leader?"""
    hit = offline_of(verdicts)
    unknown = [v for v in verdicts if v.state is PartitionCondition.UNKNOWN]
    known = len(verdicts) - len(unknown)
    started = order(choices)
    ask = Question(
        check="leadership.offline",
        question="Does every partition have a living leader?",
        coverage=Coverage.counted(known, len(verdicts), "partition", Source.ZNODES),
        threshold="1 or more partitions without a living leader",
        facts={
            "partitions": len(verdicts),
            "offline": len(hit) if known else None,
            "leaderless": sum(v.state is PartitionCondition.LEADERLESS for v in hit),
            "leader_dead": sum(v.state is PartitionCondition.LEADER_DEAD for v in hit),
            "unknown": len(unknown),
            "topics": topics_of(hit),
            "rules": dict(sorted(Counter(v.rule for v in hit if not is_rule_unknown(v)).items())),
            "unknown_rules": sum(map(is_rule_unknown, hit)),
            "start_first": [choice.broker for choice in started],
            "heals": [choice.heals for choice in started],
            "unknown_heals": sum(map(is_rule_unknown, hit)),
        },
    )
    if hit:
        return ask.found(
            Severity.CRITICAL,
            f"{count(len(hit))} of {plural(len(verdicts), 'partition')} {agree(len(hit), 'has', 'have')} no leader",
            why=_by_rule(hit),
            since=min((v.since for v in hit if v.since and v.state is PartitionCondition.LEADERLESS), default=None),
            at_latest=True,
            evidence=of_verdicts(hit, cluster.proofs),
            caveats=(*_apart(verdicts), *_whether_unclean(hit, version)),
        )
    if unknown:
        why, evidence = unknown[0].why, of_verdicts(unknown, cluster.proofs)
        return ask.could_not_check(_unjudged(unknown, verdicts), why=why, evidence=evidence, settle=COLLECT_AGAIN)
    return ask.nothing_in(
        verdicts, "Every partition has a living leader", gaps=coverage.registrations(cluster) + coverage.states(cluster)
    )


def _apart(verdicts: Sequence[Verdict]) -> Iterable[str]:
    """List partitions that are neither counted as offline nor healthy."""
    unknown, deleted = (
        sum(v.state is state for v in verdicts) for state in (PartitionCondition.UNKNOWN, PartitionCondition.DELETING)
    )
    if unknown:
        yield f"{plural(unknown, 'more partition')} could not be judged."
    if deleted:
        yield f"{plural(deleted, 'more partition')} {agree(deleted, 'is', 'are')} being deleted and not counted as offline."


_RESTS_ON_UNCLEAN = frozenset({"R1", "R3", "R4", "R8", "R11"})


def _whether_unclean(hit: Sequence[Verdict], version: KafkaVersion) -> Iterable[str]:
    """List assumptions of rules and advice on unclean election without evidence, e.g. for a paste."""
    asked = [v for v in hit if v.rule in _RESTS_ON_UNCLEAN and v.clean_winner is None]
    taken = Counter(bool(v.unclean_allowed) for v in asked if v.unclean_origin == BUILT_IN_ASSUMED)
    for allowed, partitions in sorted(taken.items()):
        yield (
            f"Unclean election is taken as {'allowed' if allowed else 'not allowed'} for "
            f"{plural(partitions, 'partition')}: the default of Kafka {version}, as the evidence has no setting."
        )
    if untold := sum(v.unclean_allowed is None for v in asked):
        yield f"The unclean election setting of {plural(untold, 'partition')} is unknown; it is taken as not allowed."


def unclean_price(cluster: Cluster, verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> Finding:
    """What would an unclean election cost?"""
    could = [v for v in offline_of(verdicts) if v.unclean_winner is not None]
    ask = Question(
        check="leadership.unclean_price",
        question="How many records would an unclean election drop?",
        coverage=Coverage.every(len(verdicts), "partition", Source.ZNODES),
        facts={"could_elect": len(could), "records": None if could else 0},
    )
    if not could:
        return ask.not_applicable("No offline partition can be elected unclean", gaps=gaps)
    return ask.could_not_check(
        f"An unclean election could elect {plural(len(could), 'partition')}; how many records it would drop is unknown",
        why="Znodes do not hold the log end offsets of the replicas.",
        evidence=of_verdicts(could, cluster.proofs),
        settle="Add the log dirs of the dead and the living replicas.",
    )


def uninitialised(cluster: Cluster, verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> Finding:
    """Was every partition initialised?"""
    hit = [v for v in verdicts if v.state is PartitionCondition.UNINITIALISED]
    ask = Question(
        check="leadership.uninitialised",
        question="Was every partition initialised?",
        coverage=Coverage.every(len(verdicts), "partition", Source.ZNODES),
        threshold="a partition without a state",
        facts={"uninitialised": len(hit), "topics": topics_of(hit)},
    )
    if not hit:
        unanswered = coverage.unanswered(cluster, "partitions without a state")
        return ask.nothing_in(verdicts, "Every partition has a state", gaps=(*unanswered, *gaps))
    return ask.found(
        Severity.WARNING,
        f"{plural(len(hit), 'partition')} {agree(len(hit), 'was', 'were')} never initialised",
        why=hit[0].why,
        evidence=of_verdicts(hit, cluster.proofs),
    )


def deleting(cluster: Cluster, verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> Finding:
    """Is a topic stuck in deletion?"""
    hit = [v for v in verdicts if v.state is PartitionCondition.DELETING]
    topics = sorted(name for name, topic in cluster.topics.items() if topic.deleting)
    is_known = cluster.brokers_known and all(v.replicas for v in hit)
    waits = sorted({r for v in hit for r in v.replicas if r not in v.live_replicas}) if is_known else []
    ask = Question(
        check="leadership.deleting",
        question="Is a topic stuck in deletion?",
        coverage=Coverage.every(len(cluster.topics), "topic", Source.ZNODES),
        threshold="a topic marked for deletion",
        facts={"topics": topics, "waits_for": waits if is_known else None},
        evidence=tuple(map(cluster.proofs.deletion, topics[:SHOWN])),
    )
    if not topics:
        unread = coverage.unread(cluster, cluster.proofs.deletions) or coverage.unanswered(cluster, "topics under deletion")
        return ask.nothing_in(verdicts, "No topic is marked for deletion", gaps=(*unread, *gaps))
    waiting = f" and {agree(len(topics), 'waits', 'wait')} for {brokers(waits)}" if waits else ""
    return ask.found(
        Severity.INFO,
        f"{plural(len(topics), 'topic')} {agree(len(topics), 'is', 'are')} marked for deletion{waiting}",
        why="Deletion ends once every replica's broker has deleted its copy; its partitions are not counted as offline.",
        next=tuple(_kept_by(topics, waits)),
    )


def _kept_by(topics: Sequence[str], waits: Sequence[int]) -> Iterable[Step]:
    if waits:
        text = f"Do not start {brokers(waits)} if {topics[0]} is still needed: its deletion then completes and cannot be undone."
        yield Step(kind="not", text=text)


def reassigning(cluster: Cluster, gaps: Sequence[Gap]) -> Finding:
    """Is a reassignment under way?"""
    hit = [p for p in cluster.partitions if is_reassigning(p, cluster)]
    ask = Question(
        check="leadership.reassigning",
        question="Is a reassignment under way?",
        coverage=Coverage.every(len(cluster.partitions), "partition", Source.ZNODES),
        threshold="adding or removing replicas, or a listed reassignment",
        facts={"reassigning": len(hit)},
    )
    if not hit:
        unread = coverage.unread(cluster, cluster.proofs.reassignment)
        return ask.nothing_in(cluster.partitions, "No partition is being reassigned", gaps=(*unread, *gaps))
    topics = sorted({p.topic for p in hit})[:SHOWN]
    return ask.found(
        Severity.INFO,
        f"{plural(len(hit), 'partition')} {agree(len(hit), 'is', 'are')} being reassigned",
        why="While it runs, a partition can have its old replicas, or old and new together.",
        evidence=(*map(cluster.proofs.topic, topics), Evidence(file="tables/partitions")),
    )


def _by_rule(hit: Sequence[Verdict]) -> str:
    rules = Counter(v.rule for v in hit)
    return " ".join(f"{count(hits)} by rule {rule}: {uncapitalised(RULES[rule])}" for rule, hits in rules.most_common())


def _unjudged(unknown: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    some = f"{count(len(unknown))} of {plural(len(verdicts), 'partition')}"
    return f"Leadership of {some} is unknown"
