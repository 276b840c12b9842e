"""What one finding orders and another forbids, in one order: a dead broker that may have more is looked at before it starts."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from casebook.analysis import timeline_unclean
from casebook.analysis.words import agree, brokers, capitalised, number
from casebook.facts import Cluster
from casebook.findings import Finding, Status, Step


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings; those that start a broker of ``timeline.unclean`` say to look first."""
    found = tuple(findings)
    ahead = {broker for one in found if _is_unclean(one) for broker in one.facts["brokers"]}
    return tuple(one if _is_unclean(one) else _after_a_look(one, ahead) for one in found)


def unasked(findings: Iterable[Finding], cluster: Cluster) -> tuple[Finding, ...]:
    """The findings; where none asked the past, those that start a broker which follows a living leader say what that may cost."""
    found = tuple(findings)
    if any(one.check == timeline_unclean.CHECK for one in found):
        return found
    behind: dict[int, int] = {}
    for partition in cluster.partitions:
        if timeline_unclean.is_led(cluster, partition):
            for broker in set(partition.replicas) - set(partition.state.isr):
                behind[broker] = behind.get(broker, 0) + 1
    return tuple(_warned(one, behind) for one in found)


def _warned(finding: Finding, behind: Mapping[int, int]) -> Finding:
    who = sorted({broker for step in finding.next for broker in step.starts if broker in behind})
    if not who or any(timeline_unclean.CHECK in caveat for caveat in finding.caveats):
        return finding
    copies = number(sum(behind[broker] for broker in who), "copy", "copies")
    warning = (
        f"Once started, {brokers(who)} {agree(len(who), 'follows', 'follow')} living leaders with {copies} and "
        f"{agree(len(who), 'cuts', 'cut')} what these lack. Whether they lack anything was not asked here: "
        f"notebooks 10_triage and 60_incident_timeline tell, from logs or --zookeeper-data ({timeline_unclean.CHECK})."
    )
    return replace(finding, caveats=(*finding.caveats, warning))


def _is_unclean(finding: Finding) -> bool:
    return finding.check == timeline_unclean.CHECK and finding.status is Status.FINDING


def _after_a_look(finding: Finding, ahead: set[int]) -> Finding:
    concerned = [place for place, step in enumerate(finding.next) if not ahead.isdisjoint(step.starts)]
    if not concerned:
        return finding
    who = sorted({broker for step in finding.next for broker in step.starts if broker in ahead})
    are, they_have, their = agree(len(who), "is", "are"), agree(len(who), "it has", "they have"), agree(len(who), "its", "their")
    before, after = finding.next[: concerned[0]], finding.next[concerned[0] :]
    look = Step(
        kind=after[0].kind,
        text=f"Before {brokers(who)} {are} started, see what {they_have} that a living leader lacks; the finding on "
        f"{their} records says how ({timeline_unclean.CHECK}).",
    )
    first = next(iter(finding.facts.get("start_first", ())), None)
    return replace(
        finding,
        title=f"{finding.title}; before that, see what it has" if first in ahead else finding.title,
        next=(*before, look, *(replace(step, kind="then") if step.kind == "first" else step for step in after)),
        caveats=(
            *finding.caveats,
            f"{capitalised(brokers(who))} may have records that a living leader lacks, and "
            f"{agree(len(who), 'cuts', 'cut')} them as soon as {agree(len(who), 'it follows', 'they follow')} "
            f"({timeline_unclean.CHECK}).",
        ),
    )
