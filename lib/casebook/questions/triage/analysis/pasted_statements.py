"""What was pasted and no row of a case holds, as findings with their lines: what tells of trouble first.

They judge no cluster: a disk that is full, a process that the kernel killed, a log dir that cannot be used are told. Whether a
host is the broker's that a case asks about says whoever pasted it, or nobody.
"""

from collections.abc import Callable, Mapping, Sequence

from casebook.facts.observed import Source
from casebook.facts.pasted import PASTED, Pasted, ToolStatement
from casebook.facts.pasted_hosts import HostSaid
from casebook.findings.finding import Coverage, Evidence, Finding, Question, Severity
from casebook.findings.words import agree, brokers, plural

_SHOWN, _MOST_FACTS = 6, 100


def checks(pasted: Pasted) -> tuple[Finding, ...]:
    """One finding of hosts and one of tools; nothing of which none was pasted."""
    return (
        *_of_hosts([said for said in pasted.hosts if said.tells], pasted.heading),
        *_of_tools([one for one in pasted.told if one.says]),
    )


def _of_hosts(told: list[HostSaid], heading: Callable[[int], str]) -> tuple[Finding, ...]:
    def whose(said: HostSaid) -> str:
        above = heading(said.span.first)
        return f"{brokers([said.broker])}: " if said.broker is not None else f"below {above!r}: " if above else ""

    told.sort(key=lambda said: not said.bad)
    unplaced = sum(said.broker is None for said in told)
    what = f"The broker of {plural(unplaced, 'statement')}"
    unsure = (f'{what} is unknown: write a line such as "broker 3:" above each.',) if unplaced else ()
    return _told(
        told,
        "evidence.hosts",
        "What do the hosts and the operators' tools report?",
        titles=("of hosts and tools", "of hosts and tools", "; none reports trouble"),
        said=[f"{whose(said)}{said.text} (line {said.span.first})" for said in told[:_SHOWN]],
        facts=[
            {"kind": said.kind, "broker": said.broker, "text": said.text, "below": heading(said.span.first)}
            for said in told[:_MOST_FACTS]
        ],
        caveats=unsure,
    )


def _of_tools(told: list[ToolStatement]) -> tuple[Finding, ...]:
    told.sort(key=lambda one: not one.bad)
    return _told(
        told,
        "evidence.tools",
        "What else do the pasted tool outputs report?",
        titles=("of pasted tools", "of tools", " that no check uses"),
        said=[f"{one.tool} (line {one.span.first}): {one.says}" for one in told[:_SHOWN]],
        facts=[{"tool": one.tool, "text": one.says} for one in told[:_MOST_FACTS]],
        caveats=tuple(dict.fromkeys(f"{one.tool}: {one.instead}." for one in told if one.instead))[:_SHOWN],
    )


def _told(
    told: Sequence[HostSaid | ToolStatement], check: str, question: str, *, titles: tuple[str, str, str], said: Sequence[str],
    facts: Sequence[Mapping[str, object]], caveats: tuple[str, ...],
) -> tuple[Finding, ...]:  # fmt: skip
    """The finding on some statements, those of trouble first; none where nothing was said.

    Args:
        titles: Whose they are, of those that tell of trouble and where none does, and what is said then.
    """
    if not told:
        return ()
    bad = sum(one.bad for one in told)
    rows = [{**fact, "line": one.span.first, "bad": one.bad} for fact, one in zip(facts, told, strict=False)]
    ask = Question(
        check=check,
        question=question,
        coverage=Coverage.every(len(told), "pasted statement", Source.PASTE),
        threshold="a statement that reports trouble",
        facts={"told": rows, "bad": bad},
        evidence=tuple(Evidence(file=PASTED, line=one.span.first) for one in told[:_SHOWN]),
        caveats=caveats,
    )
    troubled, quiet, behind = titles
    title = f"{plural(len(told), 'statement')} {quiet} {agree(len(told), 'was', 'were')} pasted{behind}"
    if bad:
        title = f"{plural(bad, 'statement')} {troubled} {agree(bad, 'reports', 'report')} trouble"
    more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return (ask.found(Severity.WARNING if bad else Severity.INFO, title, why=f"{'; '.join(said)}{more}."),)
