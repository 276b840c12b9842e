"""What was pasted of hosts and of operators' tools, as one finding: what of it tells of trouble first.

It judges no cluster: a disk that is full, a process that the kernel killed, a pod that waits are told with their lines. Whether
they are the broker's that a case asks about says whoever pasted them, or nobody.
"""

from casebook.analysis.words import agree, brokers, number
from casebook.findings import Coverage, Evidence, Finding, Question, Severity
from casebook.observed import Source
from casebook.pasted import HostSaid, Pasted

PASTED = "pasted/pasted.txt"
_SHOWN, _MOST_FACTS = 6, 100


def checks(pasted: Pasted) -> tuple[Finding, ...]:
    """The finding; nothing where nothing of a host was pasted."""
    told = [said for said in pasted.hosts if not said.settle]
    if not told:
        return ()
    bad = [said for said in told if said.bad]
    shown = _worst_first(told)[:_SHOWN]
    ask = Question(
        check="evidence.hosts",
        question="What do the hosts, and the tools of those who run the brokers, tell?",
        coverage=Coverage.every(len(told), "pasted statement", Source.PASTE),
        threshold="a statement that tells of trouble",
        facts={"told": [_fact(said) for said in _worst_first(told)[:_MOST_FACTS]], "bad": len(bad)},
        evidence=tuple(Evidence(file=PASTED, line=said.span.first) for said in shown),
        caveats=_caveats(told),
    )
    why = "; ".join(f"{_whose(said)}{said.text} (line {said.span.first})" for said in shown)
    more = "" if len(told) <= _SHOWN else f"; and {len(told) - _SHOWN} more"
    if not bad:
        title = (
            f"{number(len(told), 'statement')} of hosts and tools {agree(len(told), 'was', 'were')} pasted; none tells of trouble"
        )
        return (ask.found(Severity.INFO, title, why=f"{why}{more}."),)
    title = f"{number(len(bad), 'statement')} of hosts and tools {agree(len(bad), 'tells', 'tell')} of trouble"
    return (ask.found(Severity.WARNING, title, why=f"{why}{more}."),)


def _worst_first(told: list[HostSaid]) -> list[HostSaid]:
    """Those that tell of trouble first, each part in the order of the paste."""
    return sorted(told, key=lambda said: not said.bad)


def _fact(said: HostSaid) -> dict[str, object]:
    return {"kind": said.kind, "line": said.span.first, "broker": said.broker, "bad": said.bad, "text": said.text}


def _whose(said: HostSaid) -> str:
    return f"{brokers([said.broker])}: " if said.broker is not None else ""


def _caveats(told: list[HostSaid]) -> tuple[str, ...]:
    unplaced = sum(said.broker is None for said in told)
    if not unplaced:
        return ()
    what = f"Of which broker {number(unplaced, 'of these statements is', 'of these statements are')}"
    return (f'{what} nothing tells: a line such as "broker 3:" above them does.',)
