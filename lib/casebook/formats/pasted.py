"""Pasted evidence: one text with any mix of what people copy out of their terminals, taken apart.

Each part keeps the lines that it came from; every line that nobody understood is told. A later answer to the same question
counts. What a paste does not say stays unknown: ``kafka-topics --describe`` gives a leader and no epoch.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from casebook.formats import (
    pasted_answers,
    pasted_configs,
    pasted_groups,
    pasted_kcat,
    pasted_listing,
    pasted_log_dirs,
    pasted_logs,
    pasted_quorum,
    pasted_reassign,
    pasted_topics,
    pasted_trees,
    pasted_unread,
    pasted_words,
    pasted_zookeeper,
)
from casebook.formats.pasted_text import Line, cleaned
from casebook.formats.pasted_zookeeper import Cut
from casebook.pasted import (
    Assigned,
    DescribedPartition,
    DescribedTopic,
    GroupMember,
    GroupOffset,
    GroupSaid,
    ListedFile,
    LogLine,
    Move,
    NotUnderstood,
    Pasted,
    PastedZnode,
    Span,
    Told,
    ToldConfig,
    Used,
)

_SHOWN = 120
_COMMAND = re.compile(r"\s*(?:\[?[\w.-]+@\S+(?: \S+\])?\s?)?[$#%]\s.*|\s*(?:\S*/)?kafka-[a-z-]+(?:\.sh|\.bat)?\s.*")


def read(texts: Iterable[str]) -> Pasted:
    """Take a paste apart.

    Args:
        texts: Its lines; of more than :data:`casebook.formats.pasted_text.MOST_LINES` only the first ones.
    """
    left = cleaned(texts)
    found: dict[type, list] = {}
    cut: list[Cut] = []
    for recognise in _RECOGNISERS:
        for part in list(recognise(left)):
            _take(left, part.span)
            (cut if isinstance(part, Cut) else found.setdefault(type(part), [])).append(part)

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
        told=of(Told),
        files=of(ListedFile),
        used=of(Used),
        logs=of(LogLine),
        not_understood=_not_understood(left, cut),
    )


_RECOGNISERS: tuple[Callable[[Sequence[Line]], Iterable], ...] = (
    pasted_reassign.moves,
    pasted_log_dirs.described,
    pasted_kcat.described,
    pasted_trees.trees,
    pasted_zookeeper.znodes,
    pasted_words.words,
    pasted_topics.described,
    pasted_groups.groups,
    pasted_configs.told,
    pasted_reassign.plans,
    pasted_quorum.described,
    pasted_answers.answers,
    pasted_unread.outputs,
    pasted_listing.listed,
    pasted_logs.log_lines,
)
"""In this order: what one has taken, the next ones see as an empty line."""


_BESIDE = (
    pasted_words.is_typed,
    pasted_kcat.is_typed,
    pasted_unread.is_typed,
    pasted_configs.is_beside,
    pasted_reassign.is_beside,
    pasted_log_dirs.is_beside,
)


def _take(lines: list[Line], span: Span) -> None:
    for index in range(span.first - 1, span.last):
        lines[index] = Line(index + 1, "")


def _not_understood(left: Sequence[Line], cut: Iterable[Cut]) -> tuple[NotUnderstood, ...]:
    """What nobody took, neighbours together; frames of listings, headers and chatter say nothing and hide nothing."""
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
            found.append(NotUnderstood(Span(line.number, line.number), line.text[:_SHOWN], "is nothing that is known"))
    return tuple(sorted(found))


def _says_nothing(text: str) -> bool:
    return (
        pasted_zookeeper.is_chatter(text)
        or pasted_groups.is_head(text)
        or any(is_beside(text) for is_beside in _BESIDE)
        or pasted_listing.is_frame(text)
        or pasted_logs.is_heading(text)
        or _COMMAND.fullmatch(text[:4096]) is not None
        or not text.strip(" \t-=_*#>.$~+|")
    )
