"""Pasted evidence: one text with any mix of what people copy out of their terminals, taken apart.

Each part keeps the lines that it came from; every line that nobody understood is told. A later answer to the same question
counts. What a paste does not say stays unknown: ``kafka-topics --describe`` gives a leader and no epoch.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from casebook.formats import (
    pasted_answers,
    pasted_configs,
    pasted_cruise,
    pasted_disks,
    pasted_folders,
    pasted_groups,
    pasted_host,
    pasted_kcat,
    pasted_listing,
    pasted_log_dirs,
    pasted_logs,
    pasted_metrics,
    pasted_named,
    pasted_pods,
    pasted_properties,
    pasted_quorum,
    pasted_quoted,
    pasted_reassign,
    pasted_remarks,
    pasted_resources,
    pasted_sent,
    pasted_services,
    pasted_short,
    pasted_threads,
    pasted_topics,
    pasted_trees,
    pasted_unread,
    pasted_usage,
    pasted_words,
    pasted_zookeeper,
)
from casebook.formats.pasted_text import Line, cleaned, is_gap, is_remark, one
from casebook.formats.pasted_zookeeper import Cut
from casebook.pasted import (
    Assigned,
    BrokerSettings,
    DescribedPartition,
    DescribedTopic,
    Elected,
    GroupMember,
    GroupOffset,
    GroupSaid,
    HostSaid,
    ListedFile,
    LogLine,
    Move,
    NotUnderstood,
    Pasted,
    PastedZnode,
    Span,
    ThreadDump,
    Told,
    ToldConfig,
    Used,
)

_SHOWN = 120
_COMMAND = re.compile(
    r"\s*(?:\[?[\w.-]+@\S+(?: \S+\])?\s?)?[$%]\s.*|\s*\[?[\w.-]+@\S+(?: \S+\])?\s?#\s.*"
    r"|\s*\[?[\w.-]+@\S+(?: \S+\])?\s?[$#%]|\s*(?:\S*/)?kafka-[a-z-]+(?:\.sh|\.bat)?\s.*"
)


def read(texts: Iterable[str]) -> Pasted:
    """Take a paste apart.

    Args:
        texts: Its lines; of more than :data:`casebook.formats.pasted_text.MOST_LINES` only the first ones.
    """
    lines = cleaned(texts)
    found, left = _taken(lines)
    unknown = [line for line in left if pasted_remarks.has_remark(line.text) and not _says_nothing(line.text)]
    if unknown:
        found, left = _taken(pasted_remarks.without(lines, unknown))
        nobody = {line.number for line in left if line.text}
        found.setdefault(Told, []).extend(pasted_remarks.told(line for line in unknown if line.number not in nobody))
    cut = [*found.pop(Cut, ()), *pasted_remarks.masked(found), *pasted_remarks.figures(lines, found)]

    def of(kind: type) -> tuple:
        return tuple(sorted(found.get(kind, ()), key=lambda part: part.span))

    return Pasted(
        lines=len(left),
        znodes=of(PastedZnode),
        topics=of(DescribedTopic),
        partitions=of(DescribedPartition),
        offsets=of(GroupOffset),
        groups=of(GroupSaid),
        members=of(GroupMember),
        configs=of(ToldConfig),
        assigned=of(Assigned),
        moves=of(Move),
        elected=of(Elected),
        told=of(Told),
        files=of(ListedFile),
        used=of(Used),
        logs=tuple(sorted(of(LogLine), key=_place)),
        settings=of(BrokerSettings),
        dumps=of(ThreadDump),
        hosts=tuple(sorted((*of(HostSaid), *pasted_services.told_by_logs(of(LogLine))), key=_order)),
        not_understood=_not_understood(left, [*cut, *pasted_remarks.gaps(lines)], lines),
    )


def _taken(lines: Sequence[Line]) -> tuple[dict[type, list], list[Line]]:
    """What is in the lines, by kind, and the lines without those that it is from."""
    left = list(lines)
    found: dict[type, list] = {}
    for line in lines:
        if line.text.count("\\n") >= _LEAST_INSIDE and (parts := _inside(line)):
            _take(left, one(line))
            for part in parts:
                found.setdefault(type(part), []).append(part)
    for recognise in _RECOGNISERS:
        for part in list(recognise(left)):
            _take(left, part.span)
            found.setdefault(type(part), []).append(part)
    return found, left


def _inside(line: Line) -> list[NamedTuple]:
    """What a whole output says that stands in a string, its line ends as two signs: nothing, where that is not understood."""
    text = line.text.strip().removeprefix("'").removeprefix('"').rstrip("'\",;")
    lines = cleaned(text.replace("\\t", "\t").replace('\\"', '"').split("\\n"))
    found = []
    for recognise in _RECOGNISERS:
        if recognise in _OF_MANY_LINES:
            continue
        for part in list(recognise(lines)):
            _take(lines, part.span)
            found.append(part)
    if any(isinstance(part, Cut) for part in found) or not any(not isinstance(part, Told) or part.says for part in found):
        return []
    return [part._replace(span=one(line)) for part in found]


_RECOGNISERS: tuple[Callable[[Sequence[Line]], Iterable], ...] = (
    pasted_reassign.moves,
    pasted_log_dirs.described,
    pasted_kcat.described,
    pasted_trees.trees,
    pasted_trees.cut_lists,
    pasted_properties.settings,
    pasted_threads.dumps,
    pasted_metrics.read,
    pasted_cruise.told,
    pasted_pods.pods,
    pasted_pods.descriptions,
    pasted_pods.statuses,
    pasted_resources.statuses,
    pasted_services.services,
    pasted_services.kernel_lines,
    pasted_services.java_memory,
    pasted_disks.volumes,
    pasted_folders.windows,
    pasted_zookeeper.znodes,
    pasted_words.words,
    pasted_topics.described,
    pasted_groups.groups,
    pasted_configs.told,
    pasted_reassign.plans,
    pasted_quorum.described,
    pasted_answers.answers,
    pasted_unread.outputs,
    pasted_usage.used,
    pasted_short.answers,
    pasted_folders.names,
    pasted_listing.listed,
    pasted_named.named,
    pasted_logs.log_lines,
    pasted_quoted.exceptions,
)
"""In this order: what one has taken, the next ones see as an empty line."""


_OF_MANY_LINES = (pasted_properties.settings, pasted_threads.dumps, pasted_logs.log_lines, pasted_named.named)
"""In a string that stands in one line they are not looked for: their rows name lines."""
_LEAST_INSIDE = 2

_BESIDE = (
    pasted_words.is_typed,
    pasted_kcat.is_typed,
    pasted_unread.is_typed,
    pasted_configs.is_beside,
    pasted_reassign.is_beside,
    pasted_log_dirs.is_beside,
)


def _place(line: LogLine) -> Span:
    return line.span


def _order(said: HostSaid) -> tuple[Span, str]:
    return said.span, said.text


def _take(lines: list[Line], span: Span) -> None:
    for index in range(span.first - 1, span.last):
        lines[index] = Line(index + 1, "")


def _not_understood(left: Sequence[Line], cut: Iterable[Cut], lines: Sequence[Line]) -> tuple[NotUnderstood, ...]:
    """What nobody took, neighbours together, as it was pasted; frames of listings, headers and chatter"
    " say nothing and hide nothing."""
    found = [NotUnderstood(each.span, "", each.reason) for each in cut]
    asked = None
    for line in left:
        if not line.text or _says_nothing(line.text):
            asked = pasted_unread.tool(line.text) or asked
            continue
        if reason := pasted_unread.reason(asked):
            before = found.pop() if found and (found[-1].reason, found[-1].span.last) == (reason, line.number - 1) else None
            found.append(NotUnderstood(Span(before.span.first if before else line.number, line.number), "", reason))
        elif found and found[-1].text and found[-1].span.last == line.number - 1:
            found[-1] = found[-1]._replace(span=Span(found[-1].span.first, line.number))
        else:
            found.append(NotUnderstood(one(line), lines[line.number - 1].text[:_SHOWN], "is nothing that is known"))
    return tuple(sorted(found))


def _says_nothing(text: str) -> bool:
    return (
        pasted_zookeeper.is_chatter(text)
        or pasted_groups.is_head(text)
        or any(is_beside(text) for is_beside in _BESIDE)
        or pasted_listing.is_frame(text)
        or pasted_host.is_asked(text)
        or pasted_disks.is_head(text)
        or pasted_metrics.is_frame(text)
        or pasted_pods.is_frame(text)
        or pasted_services.is_table(text)
        or pasted_logs.is_heading(text)
        or _COMMAND.fullmatch(text[:4096]) is not None
        or pasted_sent.is_command(text.lstrip("# "))
        or (is_remark(text) and not pasted_remarks.has_figures(text))
        or pasted_sent.is_sender(text)
        or is_gap(text)
        or not text.strip(" \t-=_*#>.$~+|")
    )
