"""Checks on group coordinators."""

from casebook.facts.cluster import instant
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.quotes import cut
from casebook.findings import coverage, log_checks
from casebook.findings.finding import Coverage, Finding, Question, Severity, Step
from casebook.findings.proof import COLLECT_AGAIN, SHOWN
from casebook.findings.words import agree, brokers, count, plural
from casebook.kafka.releases import NO_COORDINATOR_ANSWER
from casebook.questions.coordinators.analysis import load_checks
from casebook.questions.coordinators.analysis.rows import is_alone
from casebook.questions.coordinators.analysis.scene import COLLECT_LOGS, CoordinatorInputs, facts_of, proofs, whom, within
from casebook.questions.coordinators.analysis.states import CoordinatorState
from casebook.questions.offsets_topic.analysis.no_offsets_topic import not_asked

_ENOUGH = 3
_SECOND = "Raise the replication factor of __consumer_offsets to 3 with kafka-reassign-partitions.sh."
_IN_SYNC = "Start the brokers of the other replicas, and wait until these are in sync."


def checks(scene: CoordinatorInputs) -> tuple[Finding, ...]:
    """Run every check on coordinators, in a fixed order."""
    answers = (
        _leaderless(scene),
        load_checks.waiting(scene),
        load_checks.endless(scene),
        _failed(scene),
        _known(scene),
        load_checks.foretold(scene),
        _alone(scene),
        _groups_placed(scene),
    )
    if not scene.partitions and scene.cluster.lacks(OFFSETS_TOPIC):
        answers = tuple(map(not_asked, answers))
    return (*answers, _understood(scene), *_commits(scene), *log_checks.unread(scene.files))


def _commits(scene: CoordinatorInputs) -> tuple[Finding, ...]:
    """Where do groups commit? Only asked when any stores offsets in ZooKeeper, unknown to coordinators."""
    kept, gaps = scene.cluster.group_offsets, coverage.below(scene.cluster, "/consumers")
    if not kept and not gaps:
        return ()
    groups = sorted({one.group for one in kept})
    both = sorted({*groups} & {*scene.groups})
    ask = Question(
        check="coordinators.commits_in_zookeeper",
        question="Which groups keep their offsets in ZooKeeper?",
        coverage=Coverage.counted(len(kept), None if gaps else len(kept), "offset", Source.ZNODES),
        threshold="any offset below /consumers",
        facts={"groups": groups, "offsets": len(kept), "both": both},
        evidence=(
            *(Evidence(file=f"/consumers/{group}/offsets") for group in groups[:SHOWN]),
            Evidence(file="tables/group_offsets"),
        ),
    )
    if not kept:
        return (
            ask.could_not_check("It is unknown whether groups keep offsets in ZooKeeper", why=gaps[0].why, settle=gaps[0].settle),
        )
    also = f" {', '.join(both[:SHOWN])} {agree(len(both), 'commits', 'commit')} to Kafka as well." if both else ""
    who = f"{'At least ' if gaps else ''}{plural(len(groups), 'group')} {agree(len(groups), 'keeps', 'keep')}"
    title = f"{who} offsets in ZooKeeper: {', '.join(groups[:SHOWN])}"
    why = f"These {plural(len(kept), 'offset')} are not in __consumer_offsets, and no coordinator serves them.{also}"
    return (ask.found(Severity.INFO, title, why=why),)


def _leaderless(scene: CoordinatorInputs) -> Finding:
    partitions, version = scene.partitions, scene.version.version
    hit = within(partitions, CoordinatorState.LEADERLESS)
    judged = [one for one in partitions if one.judged.isr is not None]
    ask = Question(
        check="coordinators.leaderless",
        question="Which groups have no coordinator at all?",
        coverage=Coverage.counted(len(judged), len(partitions), "offsets partition", Source.ZNODES),
        threshold="any offsets partition without a living leader",
        facts=facts_of(hit),
        evidence=proofs(hit),
    )
    if not hit:
        if not judged:
            return ask.could_not_check("The leaders of the offsets partitions are unknown", settle="Collect the znodes.")
        well = f"Every one of {plural(len(judged), 'offsets partition')} has a living leader"
        return ask.ok(well, gaps=(*coverage.registrations(scene.cluster), *coverage.states(scene.cluster, OFFSETS_TOPIC)))
    return ask.found(
        Severity.CRITICAL,
        f"{whom(hit)} {agree(len(hit), 'has', 'have')} no coordinator",
        why=f"No replica leads the partition, so FindCoordinator answers {NO_COORDINATOR_ANSWER.at(version)}.",
        since=instant(min((one.judged.since for one in hit if one.judged.since), default=None)),
        at_latest=True,
        next=(Step(kind="not", text="Do not delete or recreate __consumer_offsets: the commits of all groups would be lost."),),
    )


def _failed(scene: CoordinatorInputs) -> Finding:
    partitions = scene.partitions
    hit, told = (
        within(partitions, CoordinatorState.FAILED),
        within(partitions, CoordinatorState.FAILED, CoordinatorState.SERVED, CoordinatorState.LOADING, CoordinatorState.QUEUED),
    )
    ask = Question(
        check="coordinators.failed",
        question="Does a coordinator serve a partition that it could not load?",
        coverage=Coverage.counted(len(told), len(partitions), "offsets partition", Source.LOGS),
        threshold="any load that ended in an error",
        facts=facts_of(hit),
        evidence=proofs(hit),
    )
    if not hit:
        if not told:
            return ask.could_not_check(
                "Failed loads are unknown: the evidence names no partition's coordinator", settle=COLLECT_LOGS
            )
        return ask.ok("No load ended in an error", gaps=load_checks.gaps(scene))
    return ask.found(
        Severity.CRITICAL,
        f"{whom(hit)} {agree(len(hit), 'is', 'are')} served from a load that failed",
        why="After a failed load, Kafka serves what it had read so far. Commits after the error read as -1, and "
        "consumers fall back to auto.offset.reset.",
        since=instant(min((one.judged.since for one in hit if one.judged.since), default=None)),
    )


def _known(scene: CoordinatorInputs) -> Finding:
    partitions = scene.partitions
    unknown = within(partitions, CoordinatorState.UNKNOWN, CoordinatorState.MOVED)
    ask = Question(
        check="coordinators.known",
        question="Is the state of every coordinator known?",
        coverage=Coverage.counted(
            len(partitions) - len(unknown), len(partitions), "offsets partition", Source.ZNODES, Source.LOGS
        ),
        threshold="any partition whose state its coordinator's log does not show",
        facts=facts_of(unknown),
        evidence=proofs(unknown),
    )
    if not partitions:
        return ask.could_not_check("The evidence names no leader of a __consumer_offsets partition", settle="Collect the znodes.")
    if not unknown:
        well = f"The state of {plural(len(partitions), 'offsets partition')} is known"
        return ask.ok(well, gaps=load_checks.gaps(scene))
    whys = list(dict.fromkeys(one.judged.why for one in unknown))
    return ask.could_not_check(
        f"The state of {count(len(unknown))} of {plural(len(partitions), 'offsets partition')} is unknown",
        why=" ".join(whys[:3]),
        settle=COLLECT_LOGS,
    )


def _alone(scene: CoordinatorInputs) -> Finding:
    radius = scene.radius
    led = [one for one in scene.partitions if one.judged.isr is not None and one.judged.coordinator is not None]
    hit = [one for one in led if is_alone(one, scene.cluster)]
    ask = Question(
        check="coordinators.alone",
        question="Can another broker take over if a coordinator fails?",
        coverage=Coverage.every(len(led), "led offsets partition", Source.ZNODES),
        threshold="an offsets partition with no second in-sync replica",
        facts=facts_of(hit) | {"brokers": sorted(r.broker for r in radius if r.alone)},
        evidence=(*(e for one in hit[:SHOWN] if (e := one.judged.proof) and e.znode), Evidence(file="tables/blast_radius")),
    )
    if not hit:
        gaps = coverage.registrations(scene.cluster) + coverage.states(scene.cluster, OFFSETS_TOPIC)
        return ask.nothing_in(led, "Every led offsets partition has a second in-sync replica", gaps=gaps)
    whose = brokers(sorted(r.broker for r in radius if r.alone))
    return ask.found(
        Severity.WARNING,
        f"{whom(hit)} would lose {agree(len(hit), 'its', 'their')} coordinator with {whose}: no other replica is in sync",
        why="Without its only in-sync replica, the partition is leaderless until that broker is back.",
        next=(Step(kind="first", text=_SECOND if any(len(one.judged.replicas) < _ENOUGH for one in hit) else _IN_SYNC),),
    )


def _groups_placed(scene: CoordinatorInputs) -> Finding:
    topic = scene.topic
    told = int(topic.count is not None and not topic.assumed)
    ask = Question(
        check="coordinators.partition_count",
        question="Is the partition of each group certain?",
        coverage=Coverage(seen=told, of=1, what="number of partitions", by=(Source.ZNODES,)),
        threshold="an assumed number of partitions",
        facts={"partitions": topic.count, "origin": topic.origin},
    )
    if topic.count is None:
        return ask.could_not_check(
            "No group can be placed: the partition count of the offsets topic is unknown", settle=COLLECT_AGAIN
        )
    if topic.assumed:
        return ask.could_not_check(
            f"Groups are placed among {topic.count} partitions, by {topic.origin}: assumed", settle="Collect the znodes."
        )
    return ask.ok(
        f"Groups are placed among the {topic.count} partitions of {topic.origin}", gaps=coverage.partitions(scene.cluster)
    )


def _understood(scene: CoordinatorInputs) -> Finding:
    odd = [event for event in scene.events if event.kind == "unreadable"]
    files = [file for file in scene.files if file.entries]
    ask = Question(
        check="coordinators.log_lines",
        question="Was every log line about loading and cleaning understood?",
        coverage=Coverage.every(len(files), "log", Source.LOGS),
        threshold="a line that looks like one of them, in an unknown wording",
        facts={"unreadable": len(odd)},
        evidence=tuple(Evidence(file=e.file, line=e.line) for e in odd[:SHOWN]),
    )
    if odd:
        return ask.could_not_check(
            f"{plural(len(odd), 'line')} about loading or cleaning {agree(len(odd), 'is', 'are')} in an unknown wording",
            why=f"The first: {cut(odd[0].summary, 200)}",
            settle="Report the wording and its Kafka release.",
        )
    gaps = coverage.unread_logs(scene.files, scene.cluster)
    return ask.nothing_in(files, "Every line about loading and cleaning was understood", gaps=gaps)
