"""Statements of tools in a paste without a row in a case: remarks, each with its line, and impossible kinds of cases."""

from collections.abc import Iterator

from casebook.case.writer import CaseWriter
from casebook.facts.pasted import NOT_PASTED, PASTED, DescribedPartition, NotUnderstood, Pasted
from casebook.facts.quotes import cut, literal
from casebook.formats.pasted.tools.quorum import IS_KRAFT

_MOST = 200
_LONGEST, _SHORT, _MOST_TYPED, _MOST_NUMBERS = 400, 200, 40, 200
_TOPICS = "kafka-topics"


def write(case: CaseWriter, found: Pasted) -> None:
    """Record the tools' statements.

    Args:
        case: Receives them.
        found: Content of the paste.
    """
    sentences = list(dict.fromkeys(remarks(found)))
    for sentence in sentences[:_MOST]:
        case.remark(sentence)
    if len(sentences) > _MOST:
        case.remark(f"{len(sentences) - _MOST} more statements of tools are in {PASTED}.")
    if found.kraft is not None:
        known = "of leaders and ISRs it knows what kafka-topics --describe says"
        reason = f"{IS_KRAFT} (line {found.kraft}); casebook does not read KRaft metadata yet; {known}, all else was {NOT_PASTED}"
        case.could_not_collect("KRaft metadata", reason)


def remarks(found: Pasted) -> Iterator[str]:
    """One sentence for each output of a tool that says more than other rows hold, by line."""
    for told in found.told:
        if told.says:
            more = f"; {told.instead}" if told.instead else ""
            heading = found.heading(told.span.first)
            below = f", below {heading!a}" if heading and heading not in told.says else ""
            yield f"Line {told.span.first}, {told.tool}{below}: {told.says}{more}."
    yield from _typed(found)
    yield from _not_kept(found)
    yield from _not_understood(found)
    offline = [row for row in found.latest if row.offline]
    if offline:
        brokers = sorted({broker for row in offline for broker in row.offline or ()})
        who = f"Line {offline[0].span.first}, {offline[0].tool}"
        yield f"{who}: replicas on {_listed(brokers)} are offline ({len(offline)} partitions)."
    empty = [row for row in found.latest if row.eligible == () and row.last_eligible == ()]
    if empty:
        names = ", ".join(f"{row.topic}-{row.partition}" for row in empty[:_MOST_TYPED])
        rest = f" and {len(empty) - _MOST_TYPED} other partitions" if len(empty) > _MOST_TYPED else ""
        yield f"Line {empty[0].span.first}, {_TOPICS}: Elr and LastKnownElr are printed as empty of {names}{rest}."
    for what, rows in (("Elr", _eligible(found, "eligible")), ("LastKnownElr", _eligible(found, "last_eligible"))):
        if rows:
            shown = "; ".join(f"of {row.topic}-{row.partition}: {_listed(who)}" for row, who in rows[:_MOST_TYPED])
            rest = f"; and of {len(rows) - _MOST_TYPED} other partitions" if len(rows) > _MOST_TYPED else ""
            yield f"Line {rows[0][0].span.first}, {_TOPICS}: {what} {shown}{rest}."


def _typed(found: Pasted) -> Iterator[str]:
    """Commands in one sentence: they name servers, a namespace, a chroot or a folder."""
    typed = [each for each in found.beside if each.typed]
    if typed:
        shown = "; ".join(f"line {each.span.first} `{cut(each.text, _LONGEST)}`" for each in typed[:_MOST_TYPED])
        more = f"; and {len(typed) - _MOST_TYPED} more" if len(typed) > _MOST_TYPED else ""
        yield f"What was typed: {shown}{more}."
    others = [each for each in found.beside if not each.typed and any(map(str.isalnum, each.text))]
    if others:
        shown = "; ".join(f"line {each.span.first} {literal(each.text, _SHORT)}" for each in others[:_MOST_TYPED])
        more = f"; and {len(others) - _MOST_TYPED} more" if len(others) > _MOST_TYPED else ""
        yield f"Headings and remarks next to the answers, kept as they are: {shown}{more}."


def _not_kept(found: Pasted) -> Iterator[str]:
    """Yield decoded values without a row, in one sentence."""
    if found.not_kept:
        shown = "; ".join(
            f"line {each.span.first} {', '.join(each.values)} of {literal(each.text, _LONGEST)}"
            for each in found.not_kept[:_MOST_TYPED]
        )
        rest = [str(each.span.first) for each in found.not_kept[_MOST_TYPED:]]
        more = f"; and parts of lines {', '.join(rest[:_MOST_NUMBERS])}" if rest else ""
        more += f" and of {len(rest) - _MOST_NUMBERS} more, up to line {rest[-1]}" if len(rest) > _MOST_NUMBERS else ""
        yield f"Parts of parsed lines that were not kept: {shown}{more}."


def _not_understood(found: Pasted) -> Iterator[str]:
    """Yield the text of lines that no reader took, in one sentence: a person may read what no reader does."""
    parts = [part for part in found.not_understood if part.printed]
    if parts:
        shown = "; ".join(f"{_where(part)} {_quoted(part)}" for part in parts[:_MOST_TYPED])
        more = f"; and more, up to line {parts[-1].span.last}" if len(parts) > _MOST_TYPED else ""
        yield f"Lines that were not understood, as pasted: {shown}{more}."


def _where(part: NotUnderstood) -> str:
    return f"line {part.span.first}" if part.span.first == part.span.last else f"lines {part.span.first}-{part.span.last}"


def _quoted(part: NotUnderstood) -> str:
    more = " and the rest" if len(part.printed) < part.lines else ""
    return ", ".join(literal(text, _SHORT) for text in part.printed) + more


def _eligible(found: Pasted, kind: str) -> list[tuple[DescribedPartition, tuple[int, ...]]]:
    return [(row, named) for row in found.latest if (named := getattr(row, kind))]


def _listed(brokers: object) -> str:
    return ",".join(map(str, brokers))
