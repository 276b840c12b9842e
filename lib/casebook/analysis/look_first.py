"""What one finding orders and another forbids, in one order: a dead broker that may have more is looked at before it starts."""

from collections.abc import Iterable
from dataclasses import replace

from casebook.analysis import timeline_unclean
from casebook.analysis.words import agree, brokers, capitalised
from casebook.findings import Finding, Status, Step


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings; those that start a broker of ``timeline.unclean`` say to look first."""
    found = tuple(findings)
    ahead = {broker for one in found if _is_unclean(one) for broker in one.facts["brokers"]}
    return tuple(one if _is_unclean(one) else _after_a_look(one, ahead) for one in found)


def _is_unclean(finding: Finding) -> bool:
    return finding.check == timeline_unclean.CHECK and finding.status is Status.FINDING


def _after_a_look(finding: Finding, ahead: set[int]) -> Finding:
    concerned = [place for place, step in enumerate(finding.next) if not ahead.isdisjoint(step.starts)]
    if not concerned:
        return finding
    who = sorted({broker for step in finding.next for broker in step.starts if broker in ahead})
    are, they_have = agree(len(who), "is", "are"), agree(len(who), "it has", "they have")
    before, after = finding.next[: concerned[0]], finding.next[concerned[0] :]
    look = Step(
        kind=after[0].kind,
        text=f"Before {brokers(who)} {are} started, see what {they_have} that a living leader lacks, as "
        f"{timeline_unclean.CHECK} says.",
    )
    first = next(iter(finding.facts.get("start_first", ())), None)
    return replace(
        finding,
        title=f"{finding.title}; before that, see what it has" if first in ahead else finding.title,
        next=(*before, look, *(replace(step, kind="then") if step.kind == "first" else step for step in after)),
        caveats=(
            *finding.caveats,
            f"{capitalised(brokers(who))} may have records that a living leader lacks, and "
            f"{agree(len(who), 'cuts', 'cut')} them as soon as {agree(len(who), 'it follows', 'they follow')}: "
            f"{timeline_unclean.CHECK}.",
        ),
    )
