"""Parse pasted evidence: one text with any mix of terminal output.

Each part keeps its lines; every undecoded line is reported. A later output for the same question counts. Missing information
stays unknown: ``kafka-topics --describe`` has a leader and no epoch.
"""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from casebook.facts.pasted import (
    BrokerSettings,
    DescribedPartition,
    DescribedTopic,
    Elected,
    GroupMember,
    GroupSaid,
    NotUnderstood,
    Pasted,
    PastedAssignment,
    PastedLogLine,
    PastedMove,
    PastedOffset,
    PastedZnode,
    ToldConfig,
    ToolStatement,
)
from casebook.facts.pasted_hosts import HostSaid, LineSpan, ListedFile, ThreadDump, Used
from casebook.facts.quotes import MOST_QUOTED, cut
from casebook.formats.pasted import (
    answers,
    beside,
    folded,
    foreign,
    forms,
    kept,
    logs,
    named,
    prose,
    quoted,
    remarks,
    spacing,
    unread,
    words,
)
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.damage import sent
from casebook.formats.pasted.frame import Frame
from casebook.formats.pasted.hosts import disks, folders, host, listing, metrics, pods, resources, services, threads, usage
from casebook.formats.pasted.text import PastedLine, cleaned, is_gap, is_remark, is_sentence, one
from casebook.formats.pasted.tools import (
    checkpoints,
    configs,
    cruise,
    diffs,
    groups,
    kcat,
    log_dirs,
    metadata_shell,
    offsets,
    properties,
    quorum,
    reassign,
    shells,
    short,
    silent,
    topics,
    trees,
    zk_clients,
    zookeeper,
)

_SHOWN, _MOST_SHOWN = 120, 400
_COMMAND = re.compile(
    rf"\s*PS [A-Z]:\\[^>]*>\s*\S.*|\s*{shells.PROMPT} .*"
    r"|\s*(?:\[?[\w.-]+@\S+(?: \S+\])?\s?)?[$%]\s.*|\s*\[?[\w.-]+@\S+(?: \S+\])?\s?#\s.*"
    r"|\s*\[?[\w.-]+@\S+(?: \S+\])?\s?[$#%]|[\w.-]{1,40} \$ \S.*|\s*(?:\S*/)?kafka-[a-z-]+(?:\.sh|\.bat)?\s.*"
)


_TYPED = re.compile(
    rf"(?:{_COMMAND.pattern})|\S*[$%>]\s+\S+.*|\s*\[zk:[^\]]*\]\s*\S.*|\s*(?:sudo |\S*[/\\])?"
    r"(?:kafka-\S+(?:\.sh|\.bat)|kafka-\S+(?=.*\s-)|kcat|kafkacat|zkCli\S*"
    r"|zookeeper-\S+|echo|nc|telnet"
    r"|ls2?|ll|cd|du|df|curl|kubectl|oc|k(?= +(?:get|describe|exec|logs|top)\b)"
    r"|docker|jstack|jcmd|systemctl|dmesg|journalctl|cat|get|stat)\s.*"
)


def read(texts: Iterable[str]) -> Pasted:
    """Parse a paste.

    Args:
        texts: Lines, with or without line ends; beyond :data:`casebook.formats.pasted.text.MOST_LINES` the rest is ignored.
    """
    pasted, numbers, aside = spacing.without(texts)
    found = _read(pasted)
    if folds := folded.joined(pasted):
        found = _better(found, pasted, folds)
    if folded.may_be_broken(found) and (folds := folded.softly(pasted)):
        found = _better(found, pasted, folds, is_soft=True)
    found = spacing.spread(found, numbers)
    beside = sorted((*found.beside, *aside), key=lambda each: each.span)
    return replace(found, beside=tuple(beside), lines=max(found.lines, aside[-1].span.last if aside else 0))


def _better(found: Pasted, texts: Sequence[str], folds: folded.Joined, *, is_soft: bool = False) -> Pasted:
    """Return the reading of the joined lines, or the other where it is no better."""
    whole = _read(folds.lines)
    is_better = folded.is_better(whole, folds.lines, found, texts) and (not is_soft or folded.holds_more(whole, found))
    return spacing.spread(whole, folds.numbers, folds.ends) if is_better else found


def _read(texts: Sequence[str]) -> Pasted:
    lines = cleaned(texts)
    found = _parsed(lines, texts)
    told = (*found.told, *remarks.open_end(texts, lines))
    return replace(found, told=told, beside=(*remarks.senders(texts, lines), *found.beside))


def _parsed(lines: list[PastedLine], texts: Sequence[str]) -> Pasted:
    found, left = _taken(lines)
    unknown = [line for line in left if remarks.has_remark(line.text) and not _says_nothing(line.text)]
    if unknown:
        found, left = _taken(remarks.without(lines, unknown))
        nobody = {line.number for line in left if line.text}
        found.setdefault(ToolStatement, []).extend(remarks.told(line for line in unknown if line.number not in nobody))
    for part in list(forms.outputs([line if _may_state(line.text) else line._replace(text="") for line in left])):
        _take(left, part.span)
        found.setdefault(type(part), []).append(part)
    for part in list(foreign.printed(left, lines, _says_nothing)):
        _take(left, part.span)
        found.setdefault(ToolStatement, []).append(part)
    found.setdefault(ToolStatement, []).extend((*remarks.notes(lines), *silent.answers(lines), *silent.pointed(lines)))
    headings = [*beside.lead_ins(left, lines), *prose.lines(left, lines)]
    for line in headings:
        _take(left, one(line))
    cut_ends = [*found.pop(CutOutput, ()), *remarks.masked(found), *remarks.figures(lines, found)]

    parts = [part for rows in found.values() for part in rows if hasattr(part, "span")]

    def of(kind: type) -> tuple:
        return tuple(sorted(found.get(kind, ()), key=lambda part: part.span))

    framing = {frame.span.first for frame in found.get(Frame, ()) if frame.span.first == frame.span.last and not frame.told}
    framing.update(line.number for line in headings)
    beside_them = beside.beside(_beside(left, lines, framing), lines, _is_typed)
    return Pasted(
        lines=len(left),
        znodes=of(PastedZnode),
        topics=of(DescribedTopic),
        partitions=of(DescribedPartition),
        offsets=of(PastedOffset),
        groups=of(GroupSaid),
        members=of(GroupMember),
        configs=of(ToldConfig),
        assigned=of(PastedAssignment),
        moves=of(PastedMove),
        elected=of(Elected),
        told=of(ToolStatement),
        files=of(ListedFile),
        used=of(Used),
        logs=tuple(sorted(of(PastedLogLine), key=_place)),
        settings=of(BrokerSettings),
        dumps=of(ThreadDump),
        hosts=tuple(sorted((*of(HostSaid), *services.told_by_logs(of(PastedLogLine))), key=_order)),
        beside=tuple(beside_them),
        not_kept=tuple(
            each._replace(text=_as_given(texts, each.span)[0])
            for each in kept.not_kept(lines, parts, [one_.span.first for one_ in beside_them])
        ),
        not_understood=_not_understood(left, [*cut_ends, *remarks.gaps(lines)], lines, texts),
    )


def _may_state(text: str) -> bool:
    """Return whether an unclaimed line may be output; the name of a YAML level looks like a heading."""
    return forms.is_level(text) or not _says_nothing(text)


def _is_typed(text: str) -> bool:
    return not is_sentence(text) and (_TYPED.match(text) is not None or sent.is_prompted(text))


def _beside(left: Sequence[PastedLine], lines: Sequence[PastedLine], framing: Container[int]) -> Iterable[PastedLine]:
    """Return lines that are no output, including those that frame outputs, and commands claimed with their output."""
    return [
        line
        for line, rest in zip(lines, left, strict=True)
        if line.number in framing or (_says_nothing(rest.text) if rest.text else bool(line.text) and _is_command(line.text))
    ]


def _is_command(text: str) -> bool:
    """Return whether a line that is read with its answer is a command."""
    return sent.is_command(text.lstrip("# ")) or shells.is_asked(text)


def _taken(lines: Sequence[PastedLine]) -> tuple[dict[type, list], list[PastedLine]]:
    """Return the parts by kind, and the lines without those of the parts."""
    left = list(lines)
    found: dict[type, list] = {}
    for line in lines:
        if line.text.count("\\n") >= _LEAST_INSIDE and not _IN_WINDOWS.search(line.text) and (parts := _inside(line)):
            _take(left, one(line))
            for part in parts:
                found.setdefault(type(part), []).append(part)
    for recognise in _RECOGNISERS:
        for part in list(recognise(left)):
            _take(left, part.span)
            found.setdefault(type(part), []).append(part)
    return found, left


def _inside(line: PastedLine) -> list[NamedTuple]:
    """Return the content of a whole output inside a string, with escaped line ends: nothing when undecodable.

    Where the string is a member of JSON, the other members are reported beside it.
    """
    before, texts = quoted.member(line.text, _LEAST_INSIDE)
    lines = cleaned(texts)
    found = []
    for recognise in _RECOGNISERS:
        if recognise in _OF_MANY_LINES:
            continue
        for part in list(recognise(lines)):
            _take(lines, part.span)
            found.append(part)
    if any(isinstance(part, CutOutput) for part in found) or not any(
        not isinstance(part, ToolStatement) or part.says for part in found
    ):
        return []
    if before:
        rest = "; ".join(left.text.strip() for left in lines if left.text.strip())
        says = f"{before}; it goes on: {rest}" if rest else before
        found.append(ToolStatement("a string in JSON", one(line), says))
    return [part._replace(span=one(line)) for part in found]


_RECOGNISERS: tuple[Callable[[Sequence[PastedLine]], Iterable], ...] = (
    diffs.differences,
    checkpoints.contents,
    reassign.moves,
    log_dirs.described,
    kcat.described,
    trees.trees,
    trees.cut_lists,
    properties.settings,
    threads.dumps,
    metrics.read,
    cruise.told,
    pods.pods,
    pods.descriptions,
    pods.statuses,
    resources.statuses,
    services.services,
    services.kernel_lines,
    services.java_memory,
    disks.volumes,
    folders.windows,
    metadata_shell.sessions,
    zk_clients.answers,
    zookeeper.znodes,
    words.words,
    topics.described,
    groups.groups,
    configs.told,
    reassign.plans,
    quorum.described,
    answers.answers,
    offsets.committed,
    unread.outputs,
    offsets.exported,
    usage.used,
    short.answers,
    folders.names,
    listing.listed,
    named.named,
    quoted.file_errors,
    forms.objects,
    logs.log_lines,
    quoted.exceptions,
)
"""In this order: claimed lines are empty for later ones."""


_OF_MANY_LINES = (properties.settings, threads.dumps, logs.log_lines, named.named)
"""Not tried on a string within one line: their rows refer to lines."""
_LEAST_INSIDE = 2
_IN_WINDOWS = re.compile(r"(?<!\w)[A-Za-z]:\\\w")
"""A path whose folders may begin with *n*."""

_BESIDE = (
    words.is_typed,
    foreign.is_typed,
    kcat.is_typed,
    unread.is_typed,
    configs.is_beside,
    reassign.is_beside,
    log_dirs.is_beside,
)


def _place(line: PastedLogLine) -> LineSpan:
    return line.span


def _order(said: HostSaid) -> tuple[LineSpan, str]:
    return said.span, said.text


def _take(lines: list[PastedLine], span: LineSpan) -> None:
    for index in range(span.first - 1, span.last):
        lines[index] = PastedLine(index + 1, "")


def _not_understood(
    left: Sequence[PastedLine], cut_ends: Iterable[CutOutput], lines: Sequence[PastedLine], texts: Sequence[str]
) -> tuple[NotUnderstood, ...]:
    """Return unclaimed lines, adjacent ones together; frames of listings, headers and decoration do not count."""
    found: list[NotUnderstood] = []
    asked = None
    for line in left:
        own = lines[line.number - 1].text
        asked = None if is_sentence(own) and not lines[line.number - 2].text else asked
        if not line.text or _says_nothing(line.text):
            asked = unread.tool(line.text) or asked
            continue
        reason = unread.reason(asked)
        part = NotUnderstood(one(line), "" if reason else cut(own, _SHOWN), reason or "is nothing that is known")
        if found and (found[-1].span.last, found[-1].reason) == (line.number - 1, part.reason):
            found[-1] = found[-1]._replace(span=LineSpan(found[-1].span.first, line.number))
        else:
            found.append(part)
    quoted = (part._replace(printed=_as_given(texts, part.span)) for part in found)
    return tuple(sorted((*(NotUnderstood(each.span, "", each.reason) for each in cut_ends), *quoted)))


def _as_given(texts: Sequence[str], span: LineSpan) -> tuple[str, ...]:
    """Return the first lines of a span as they were pasted, one more than are quoted if there are more."""
    return tuple(cut(text.rstrip("\r\n"), _MOST_SHOWN) for text in texts[span.first - 1 : span.last][: MOST_QUOTED + 1])


def _says_nothing(text: str) -> bool:
    return (
        zookeeper.is_chatter(text)
        or groups.is_head(text)
        or any(is_beside(text) for is_beside in _BESIDE)
        or listing.is_frame(text)
        or host.is_asked(text)
        or disks.is_head(text)
        or metrics.is_frame(text)
        or pods.is_frame(text)
        or services.is_table(text)
        or logs.is_heading(text)
        or (_COMMAND.fullmatch(text[:4096]) is not None and not is_sentence(text))
        or sent.is_command(text.lstrip("# "))
        or sent.is_prompted(text)
        or (is_remark(text) and not remarks.has_figures(text))
        or sent.is_sender(text)
        or sent.is_of_transfer(text)
        or beside.is_heading(text)
        or is_gap(text)
        or not text.strip(" \t-=_*#>.$~+|")
    )
