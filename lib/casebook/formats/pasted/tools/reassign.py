"""Output of ``kafka-reassign-partitions``: assignments, plans, and progress of reassignments.

The assignment printed before a reassignment starts is the previous one, not the current one. That of ``--generate`` is current.
``--list`` prints old and new replicas together, with added and removed ones. A plan is only a wish. Source:
``core/src/main/scala/kafka/admin/ReassignPartitionsCommand.scala@0.9.0.1, 1.1.1, 2.5.1, 2.8.2``,
``tools/src/main/java/org/apache/kafka/tools/reassign/ReassignPartitionsCommand.java@3.9.0``.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import MoveState, PastedAssignment, PastedMove, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted import cut_json
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, broker_ids, one, spanned
from casebook.formats.zookeeper import znodes

_IDS = r"\d{1,10}(?:, ?\d{1,10})*"
_PARTITION = r"\[?(?P<topic>[a-zA-Z0-9._-]{1,249})(?:, ?|-)(?P<partition>\d{1,10})\]?"
_CURRENT = re.compile(r"\s*Current partition replica assignment\s*(?P<plan>\{.*)?")
_PROPOSED = re.compile(r"\s*Proposed partition reassignment configuration\s*(?P<plan>\{.*)?")
_STARTED = re.compile(
    r"\s*Successfully started (?:partition )?reassignments?(?: (?:of|for))?(?: partitions?(?![\w.-]))?(?:[ :.]+(?P<what>.*))?"
)
_STATUS = re.compile(
    rf"\s*Reassignment of partition {_PARTITION} (?:is )?"
    r"(?P<how>completed successfully|completed?|failed|(?:still )?in progress)\.?\s*"
)
_NOT_ACTIVE = re.compile(
    rf"\s*There is no active reassignment of partition {_PARTITION}, but replica set is (?P<replicas>{_IDS}) rather than "
    rf"(?P<wanted>{_IDS})?.*"
)
_MISMATCH = re.compile(
    rf"\s*ERROR: Assigned replicas \((?P<replicas>{_IDS})\) don't match the list of replicas for reassignment"
    rf" \(?(?P<wanted>{_IDS})?.*\)? for partition "
    rf"{_PARTITION}\s*"
)
_LISTED = re.compile(
    rf"\s*{_PARTITION}: replicas: (?P<replicas>{_IDS})\.(?: adding: (?P<adding>{_IDS})\.)?"
    rf"(?: removing: (?P<removing>{_IDS})\.)?\s*"
)
_BESIDE = re.compile(
    r"\s*(?:Status of partition reassignment:?|Current partition reassignments:|Save this to use as the --reassignment-json-file"
    r" option during rollback|Warning: You must run.*)\s*"
)
_SENTENCE = re.compile(
    r"\s*(?:No partition reassignments found\.?|Throttle was removed\.|There is an existing assignment running\."
    r"|The (?:inter-broker|replica-alter-dir) throttle limit was set to .*|Clearing (?:broker|topic)-level throttles on .*"
    r"|(?:Reassignment of replica|Replica [\w.-]+-\d+(?:-\d+)? "
    r"|Partition [\w.-]+ (?:is not found|on broker|cannot be found)|Failed to reassign partitions"
    r"|Partitions reassignment failed due to|Successfully (?:started log directory move|cancelled)"
    r"|None of the specified partition).*)\s*"
)
_BARE = re.compile(r"\s*\{.*\"(?:partitions|version)\"\s*:.*")
_MOST_FOLDED, _LONGEST, _SHOWN = 5000, 4 << 20, 40
_LOG_DIRS = re.compile(r'"log_dirs"\s*:\s*\[([^\]]{0,2000})\]')
_MOST_DIRS = 20
_OF_EITHER = "the assignment that was current when the tool was run, by --generate or, before it started a move, by --execute"
_TOOL = "kafka-reassign-partitions"
_NOW = (
    "`kafka-topics --describe` shows the current assignment; `kafka-reassign-partitions --list` (2.6 and later) "
    "shows running reassignments"
)

_STATES = {"progress": MoveState.UNDER_WAY, "failed": MoveState.FAILED}
"""By the last word of a status; another one is complete."""

_Plan = dict[tuple[str, int], tuple[int, ...]]


def moves(lines: Sequence[PastedLine]) -> Iterator[PastedAssignment | PastedMove | ToolStatement | CutOutput]:
    """Yield the tool's own output."""
    at = 0
    while at < len(lines):
        text, after = lines[at].text, at + 1
        if text and len(text) <= _LONGEST:
            if head := _CURRENT.fullmatch(text):
                rows, after = _current(lines, at, head["plan"])
                yield from rows
            elif head := _PROPOSED.fullmatch(text):
                plan, whole, after = _plan(lines, at, head["plan"])
                dirs = _log_dirs("".join(line.text for line in lines[at:after]))
                says = f"what --generate proposes, not what is: {_shown(plan)}{dirs}" if plan else "a proposal, whose text is cut"
                yield ToolStatement(_TOOL, spanned(lines, at, after), says, _NOW)
                if not whole:
                    yield _cut(lines, after)
            elif started := _STARTED.fullmatch(text):
                rows, after = _started(lines, at, started["what"] or "")
                yield from rows
            else:
                yield from _row(text, one(lines[at]))
        at = after


def plans(lines: Sequence[PastedLine]) -> Iterator[ToolStatement | CutOutput]:
    """Yield pasted plan files: they contain the wish, not the state."""
    at = 0
    while at < len(lines):
        text, after = lines[at].text, at + 1
        if "{" in text and len(text) <= _LONGEST and _BARE.fullmatch(text):
            plan, whole, after = _plan(lines, at, text.strip())
            if plan:
                span = spanned(lines, at, after)
                dirs = _log_dirs("".join(line.text for line in lines[at:after]))
                says = f"what is wanted, not what is: {_shown(plan)}{dirs}"
                yield ToolStatement("a plan for kafka-reassign-partitions", span, says, _NOW)
                if not whole:
                    yield _cut(lines, after)
        at = max(after, at + 1)


def _log_dirs(text: str) -> str:
    """Return the log dirs in a plan, by replica, as printed."""
    found = [" ".join(dirs.split()) for dirs in _LOG_DIRS.findall(text)]
    more = f" and {len(found) - _MOST_DIRS} more" if len(found) > _MOST_DIRS else ""
    if not any(dirs.replace('"any"', "").strip(", ") for dirs in found):
        return '; log dirs: "any" for all of them' if found else ""
    return f"; log dirs in its order: {'; '.join(found[:_MOST_DIRS])}{more}"


def is_beside(text: str) -> bool:
    """Return whether it is decoration by the tool."""
    return len(text) < 4096 and _BESIDE.fullmatch(text) is not None


def _row(text: str, span: LineSpan) -> Iterator[PastedAssignment | PastedMove | ToolStatement]:
    """Yield the statement of a single line."""
    if "replica" in text and (found := _LISTED.fullmatch(text)):
        topic, number = found["topic"], znodes.number(found["partition"])
        is_told = found["adding"] or found["removing"]
        replicas = broker_ids(found["replicas"])
        adding, removing = (broker_ids(found[each]) if is_told else None for each in ("adding", "removing"))
        if number is not None and replicas:
            yield PastedAssignment(topic, number, span, replicas, adding, removing)
            yield ToolStatement(_TOOL, span)
    elif status := _STATUS.fullmatch(text[:4096]):
        if (number := znodes.number(status["partition"])) is not None:
            yield PastedMove(status["topic"], number, span, None, _STATES.get(status["how"].split()[-1], MoveState.COMPLETE))
            failed = f"the reassignment of {status['topic']}-{number} failed" if status["how"] == "failed" else ""
            yield ToolStatement(_TOOL, span, failed, _NOW if failed else "", bad=bool(failed))
    elif found := (inactive := _NOT_ACTIVE.fullmatch(text[:4096])) or _MISMATCH.fullmatch(text[:4096]):
        number, replicas = znodes.number(found["partition"]), broker_ids(found["replicas"])
        if number is not None and replicas:
            yield PastedAssignment(found["topic"], number, span, replicas)
            yield PastedMove(found["topic"], number, span, None, MoveState.NOT_ACTIVE if inactive else MoveState.FAILED)
            wanted = f", which is {found['wanted']}" if found["wanted"] else ""
            moves = ", and no reassignment of it is active" if inactive else ""
            yield ToolStatement(_TOOL, span, f"{found['topic']}-{number} is not assigned as its plan wants it{wanted}{moves}")
    elif _SENTENCE.fullmatch(text[:4096]):
        yield ToolStatement(_TOOL, span, cut(text.strip().rstrip("."), 200))


def _current(
    lines: Sequence[PastedLine], at: int, begun: str | None
) -> tuple[Sequence[PastedAssignment | ToolStatement | CutOutput], int]:
    """Return an assignment: the current one before a proposal, that before what was started, or of a part that was not pasted."""
    plan, whole, after = _plan(lines, at, begun)
    span, cut = spanned(lines, at, after), () if whole else (_cut(lines, after),)
    following = next((line.text for line in lines[after : after + 4] if line.text), "")
    if _PROPOSED.fullmatch(following[:_LONGEST]):
        rows = [PastedAssignment(topic, number, span, replicas) for (topic, number), replicas in plan.items()]
        says = _log_dirs("".join(line.text for line in lines[at:after])).lstrip("; ")
        return (*rows, ToolStatement(_TOOL, span, f"of the current assignment, {says}" if says else ""), *cut), after
    is_before = _BESIDE.fullmatch(following[:_LONGEST]) or _STARTED.fullmatch(following[:_LONGEST])
    whose = "the assignment before the reassignment was started" if is_before else _OF_EITHER
    dirs = _log_dirs("".join(line.text for line in lines[at:after]))
    says = f"{whose}: {_shown(plan)}{dirs}" if plan else "an assignment, whose text is cut"
    return (ToolStatement(_TOOL, span, says, _NOW), *cut), after


def _started(lines: Sequence[PastedLine], at: int, what: str) -> tuple[Sequence[PastedMove | ToolStatement | CutOutput], int]:
    """Return what was started: a plan (up to 0.11), unnamed partitions (up to 2.5), or named ones."""
    after, whole = at + 1, True
    if "{" in what:
        plan, whole, after = _plan(lines, at, what)
    else:
        names = (re.fullmatch(_PARTITION, name) for name in _names(what))
        plan = {(n["topic"], int(n["partition"])): None for n in names if n and znodes.number(n["partition"]) is not None}
    span = spanned(lines, at, after)
    rows = [PastedMove(topic, number, span, target, MoveState.UNDER_WAY) for (topic, number), target in plan.items()]
    says = "" if rows else "a reassignment was started; of which partitions stands in its plan"
    return (*rows, ToolStatement(_TOOL, span, says, "" if rows else _NOW), *(() if whole else (_cut(lines, after),))), after


def _names(what: str) -> Iterator[str]:
    """Yield comma-separated partition names; in ``t-0,1,2`` all belong to the topic."""
    topic = ""
    for name in (part.strip() for part in what.split(",")):
        topic = topic if name.isdecimal() else name.rpartition("-")[0]
        yield f"{topic}-{name}" if name.isdecimal() and topic else name


def _plan(lines: Sequence[PastedLine], at: int, begun: str | None) -> tuple[_Plan, bool, int]:
    """Parse the plan that starts after a header, or on its line, as far as pasted; return whether it is complete, and its end."""
    begin = at
    if begun is None:
        begin = at + 1
        while begin < len(lines) and begin <= at + 2 and not lines[begin].text:
            begin += 1
        if begin >= len(lines) or not lines[begin].text.lstrip().startswith("{"):
            return {}, False, at + 1
        begun = lines[begin].text.strip()
    rest = [lines[begin]._replace(text=begun), *itertools.takewhile(_is_of_plan, lines[begin + 1 : begin + _MOST_FOLDED])]
    value, whole, after = cut_json.read(rest, 0)
    rows = value.get("partitions") if isinstance(value, dict) else None
    return _items(rows if isinstance(rows, list) else []), whole, begin + after


def _is_of_plan(line: PastedLine) -> bool:
    heads = (_CURRENT, _PROPOSED, _STARTED, _BESIDE)
    return not any(head.fullmatch(line.text[:4096]) for head in heads)


def _cut(lines: Sequence[PastedLine], after: int) -> CutOutput:
    return CutOutput(one(lines[after - 1]), "is a plan that is cut off here: the rest was not pasted")


def _items(rows: Sequence[object]) -> _Plan:
    """Return its complete partitions."""
    found: _Plan = {}
    for row in rows:
        if not isinstance(row, dict):
            continue
        topic, partition, replicas = row.get("topic"), row.get("partition"), row.get("replicas")
        ids = replicas if isinstance(replicas, list) and all(type(broker) is int for broker in replicas) else None
        if isinstance(topic, str) and type(partition) is int and partition >= 0 and ids and len(set(ids)) == len(ids):
            found[topic, partition] = tuple(ids)
    return found


def _shown(plan: _Plan) -> str:
    some = "; ".join(
        f"{topic}-{number} on {','.join(map(str, replicas))}" for (topic, number), replicas in list(plan.items())[:_SHOWN]
    )
    return some + (f" and {len(plan) - _SHOWN} more" if len(plan) > _SHOWN else "")
