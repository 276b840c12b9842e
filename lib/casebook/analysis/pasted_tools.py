"""What Kafka's and ZooKeeper's own tools say in a paste and no row of a case holds, as one finding: trouble first.

It judges no cluster: a log dir that cannot be used, a ZooKeeper server that serves nobody are told with their lines.
"""

from casebook.analysis.words import agree, number
from casebook.findings import Coverage, Evidence, Finding, Question, Severity
from casebook.observed import Source
from casebook.pasted import Pasted, Told

PASTED = "pasted/pasted.txt"
_SHOWN, _MOST_FACTS = 6, 100


def checks(pasted: Pasted) -> tuple[Finding, ...]:
    """The finding; nothing where no tool said such a thing."""
    told = sorted((one for one in pasted.told if one.says), key=lambda one: not one.bad)
    if not told:
        return ()
    shown, bad = told[:_SHOWN], sum(one.bad for one in told)
    ask = Question(
        check="evidence.tools",
        question="What else do the pasted outputs of tools say?",
        coverage=Coverage.every(len(told), "pasted statement", Source.PASTE),
        threshold="a statement that tells of trouble",
        facts={"told": [_fact(one) for one in told[:_MOST_FACTS]], "bad": bad},
        evidence=tuple(Evidence(file=PASTED, line=one.span.first) for one in shown),
        caveats=tuple(dict.fromkeys(f"{one.tool}: {one.instead}." for one in told if one.instead))[:_SHOWN],
    )
    why = "; ".join(f"{one.tool} (line {one.span.first}): {one.says}" for one in shown)
    more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    title = f"{number(len(told), 'statement')} of tools {agree(len(told), 'was', 'were')} pasted that no check asks for"
    if bad:
        title = f"{number(bad, 'statement')} of pasted tools {agree(bad, 'tells', 'tell')} of trouble"
    return (ask.found(Severity.WARNING if bad else Severity.INFO, title, why=f"{why}{more}."),)


def _fact(one: Told) -> dict[str, object]:
    return {"tool": one.tool, "line": one.span.first, "bad": one.bad, "text": one.says}
