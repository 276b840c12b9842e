"""Pasted statements that no row of a case holds, as findings with their lines: problems first.

They are reported, not judged: a full disk, a killed process, an unusable log dir. Whether a host is a broker's host depends on
the pasted headings alone.
"""

from collections.abc import Callable, Mapping, Sequence

from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.pasted import PASTED, Pasted, ToolStatement
from casebook.facts.pasted_hosts import HostSaid
from casebook.findings.finding import Coverage, Finding, Question, Severity
from casebook.findings.words import agree, brokers, plural

_SHOWN, _MOST_FACTS = 6, 100


def checks(pasted: Pasted) -> tuple[Finding, ...]:
    """Return one finding on hosts and one on tools; nothing when none was pasted."""
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
    return _finding(
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
    return _finding(
        told,
        "evidence.tools",
        "What else do the pasted tool outputs report?",
        titles=("of pasted tools", "of tools", " that no check uses"),
        said=[f"{one.tool} (line {one.span.first}): {one.says}" for one in told[:_SHOWN]],
        facts=[{"tool": one.tool, "text": one.says} for one in told[:_MOST_FACTS]],
        caveats=tuple(dict.fromkeys(f"{one.tool}: {one.instead}." for one in told if one.instead))[:_SHOWN],
    )


def _finding(
    told: Sequence[HostSaid | ToolStatement], check: str, question: str, *, titles: tuple[str, str, str], said: Sequence[str],
    facts: Sequence[Mapping[str, object]], caveats: tuple[str, ...],
) -> tuple[Finding, ...]:  # fmt: skip
    """Return the finding on some statements, problems first; none without any.

    Args:
        titles: Title with problems, title without, and the sentence without any.
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
