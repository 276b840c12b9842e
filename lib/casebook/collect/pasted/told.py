"""Statements of tools in a paste without a row in a case: remarks, each with its line, and impossible kinds of cases."""

from collections.abc import Iterator

from casebook.case.writer import CaseWriter
from casebook.facts.pasted import NOT_PASTED, PASTED, DescribedPartition, Pasted
from casebook.findings import as_pasted
from casebook.formats.pasted.tools.quorum import IS_KRAFT

_MOST = 200
_MOST_NAMED = 40
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
    for sentences in (as_pasted.typed, as_pasted.beside, as_pasted.not_kept, as_pasted.not_understood):
        yield from sentences(found)
    offline = [row for row in found.latest if row.offline]
    if offline:
        brokers = sorted({broker for row in offline for broker in row.offline or ()})
        who = f"Line {offline[0].span.first}, {offline[0].tool}"
        yield f"{who}: replicas on {_listed(brokers)} are offline ({len(offline)} partitions)."
    empty = [row for row in found.latest if row.eligible == () and row.last_eligible == ()]
    if empty:
        names = ", ".join(f"{row.topic}-{row.partition}" for row in empty[:_MOST_NAMED])
        rest = f" and {len(empty) - _MOST_NAMED} other partitions" if len(empty) > _MOST_NAMED else ""
        yield f"Line {empty[0].span.first}, {_TOPICS}: Elr and LastKnownElr are printed as empty of {names}{rest}."
    for what, rows in (("Elr", _eligible(found, "eligible")), ("LastKnownElr", _eligible(found, "last_eligible"))):
        if rows:
            shown = "; ".join(f"of {row.topic}-{row.partition}: {_listed(who)}" for row, who in rows[:_MOST_NAMED])
            rest = f"; and of {len(rows) - _MOST_NAMED} other partitions" if len(rows) > _MOST_NAMED else ""
            yield f"Line {rows[0][0].span.first}, {_TOPICS}: {what} {shown}{rest}."


def _eligible(found: Pasted, kind: str) -> list[tuple[DescribedPartition, tuple[int, ...]]]:
    return [(row, named) for row in found.latest if (named := getattr(row, kind))]


def _listed(brokers: object) -> str:
    return ",".join(map(str, brokers))
