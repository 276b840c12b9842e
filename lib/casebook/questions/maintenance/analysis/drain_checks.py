"""Check on a drain: whether everything can move, and the effort."""

from dataclasses import replace

from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings.finding import NOTHING, Coverage, Finding, Question, Severity, Step
from casebook.findings.proof import COLLECT_AGAIN
from casebook.findings.words import agree, brokers, count, plural, size
from casebook.kafka.drain import KeepReason
from casebook.questions.maintenance.analysis.drain import LEADERS_BACK, Drain

WHY_BLOCKED = {
    KeepReason.NO_TARGET: "no other broker is left to take it",
    KeepReason.DEAD_REPLICA: "a remaining replica is dead, so the reassignment would not end",
    KeepReason.NO_SOURCE: "no living replica is in sync, so there is nothing to copy from",
    KeepReason.UNKNOWN: "its state is contradictory, or it is being moved",
    KeepReason.DELETING: "its topic is being deleted",
}
"""Reasons why a partition is not moved."""


def drain(found: Drain | None, partitions: int) -> Finding:
    """Can the brokers be drained?

    Args:
        partitions: Number of partitions of the cluster, all examined.
    """
    ask = Question(check="maintenance.drain", question="Can the brokers be drained, and what does it take?", coverage=NOTHING)
    if found is None:
        return ask.not_applicable("No broker to drain was set: set it with drain=2")
    whom, plan = brokers(sorted(found.wanted.brokers)), found.plan
    ask = _about(ask, found, partitions)
    if found.doubt:
        title = f"The partitions of {whom} are not all known"
        return ask.could_not_check(title, why=found.doubt, settle=COLLECT_AGAIN, next=tuple(_drain_steps(found)))
    if not plan.moves and not plan.blocked:
        well = f"{whom.capitalize()} {agree(len(found.wanted.brokers), 'holds', 'hold')} nothing: there is nothing to move"
        return ask.ok(well, gaps=())  # unknowns are part of the doubt
    if plan.blocked:
        kinds = {blocked.reason for blocked in plan.blocked}
        return ask.found(
            Severity.WARNING,
            f"{count(len(plan.blocked))} of {plural(len(plan.blocked) + len(plan.moves), 'partition')} cannot leave {whom}",
            why="; ".join(WHY_BLOCKED[kind] for kind in KeepReason if kind in kinds).capitalize() + ".",
            next=tuple(_drain_steps(found)),
        )
    return ask.found(
        Severity.INFO,
        f"{plural(len(plan.moves), 'partition')} {agree(len(plan.moves), 'leaves', 'leave')} {whom} in "
        f"{plural(len(plan.steps), 'step')}, {_copied(found)} to copy",
        why="No step removes a replica before the new one is in sync.",
        next=tuple(_drain_steps(found)),
    )


def _about(ask: Question, found: Drain, partitions: int) -> Question:
    """Return the question with the common parts of its answers."""
    plan = found.plan
    return replace(
        ask,
        coverage=Coverage.every(partitions, "partition", Source.ZNODES),
        threshold="a partition that cannot be moved",
        facts={
            "brokers": sorted(found.wanted.brokers),
            "moves": len(plan.moves),
            "steps": len(plan.steps),
            "replicas_copied": found.copied,
            "bytes_known": found.bytes,
            "sizes_unknown": found.unsized,
            "blocked": len(plan.blocked),
            "running": found.running,
        },
        evidence=(Evidence(file="tables/drain_plan"),),
        caveats=_drain_caveats(found),
    )


def _copied(found: Drain) -> str:
    if found.unsized == found.copied:
        return f"{plural(found.copied, 'replica')} of unknown size"
    more = f" and {plural(found.unsized, 'replica')} of unknown size" if found.unsized else ""
    return f"{size(found.bytes)}{more}"


def _drain_steps(found: Drain) -> list[Step]:
    steps = []
    if found.running:
        wait = (
            f"{plural(found.running, 'partition')} {agree(found.running, 'is', 'are')} being reassigned: the plan "
            "assumes their "
            f"targets{'' if found.commands.adds else '. Wait until that has ended: this release takes one at a time'}."
        )
        steps.append(Step(kind="first", text=wait))
    if found.plan.blocked:
        text = "What cannot leave is listed with its reason: fix that, then plan again."
        steps.append(Step(kind="then" if steps else "first", text=text))
    if found.plan.steps:
        execute, verify = found.step_commands(found.plan.steps[0])
        kind = "then" if steps else "first"
        steps.append(Step(kind=kind, text=f"Start step 1 with its file {found.file(found.plan.steps[0])}.", command=execute))
        steps.append(
            Step(kind="then", text="Verify until nothing is in progress; only then start the next step.", command=verify)
        )
    if found.evacuation.turned:
        text = f"In a hurry, move leadership alone; replicas stay where they are. Rollback: {LEADERS_BACK}."
        steps.append(Step(kind="then", text=text, command=found.leader_commands()[0]))
    if living := sorted(found.wanted.brokers.difference(found.dead)):
        text = (
            f"Do not stop {brokers(living)} before the last step has ended and nothing is under-replicated: its "
            "partitions would lose a replica."
        )
        steps.append(Step(kind="not", text=text))
    return steps


def _drain_caveats(found: Drain) -> tuple[str, ...]:
    said = []
    if found.unsized:
        said.append(f"The sizes of {plural(found.unsized, 'replica')} are unknown: the case has no log dir that holds them.")
    if not found.commands.throttles:
        said.append(
            f"Kafka {found.commands.version} cannot throttle a reassignment (possible from 0.10.1 on): keep the steps small."
        )
    if any(found.one_way(step) for step in found.plan.steps):
        said.append(f"There is no rollback for what leaves {brokers(found.dead)}: a reassignment can name only living brokers.")
    if found.dead:
        said.append(
            f"{brokers(found.dead).capitalize()} {agree(len(found.dead), 'is', 'are')} not registered: other "
            "brokers send the copies."
        )
    return tuple(said)
