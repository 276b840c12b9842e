"""What the tools of a paste state and no row of a case holds: remarks, each with its line, and what such a case cannot be."""

from collections.abc import Iterator

from casebook.case.writer import CaseWriter
from casebook.facts.pasted import NOT_PASTED, PASTED, DescribedPartition, Pasted
from casebook.formats.pasted.tools.quorum import IS_KRAFT

_MOST = 20
_TOPICS = "kafka-topics"


def write(case: CaseWriter, found: Pasted) -> None:
    """Record what the tools said.

    Args:
        case: Is told it.
        found: What the paste holds.
    """
    sentences = list(dict.fromkeys(remarks(found)))
    for sentence in sentences[:_MOST]:
        case.remark(sentence)
    if len(sentences) > _MOST:
        case.remark(f"{len(sentences) - _MOST} more sentences of tools stand in {PASTED}.")
    if found.kraft is not None:
        known = "of leaders and ISRs it knows what kafka-topics --describe says"
        reason = f"{IS_KRAFT} (line {found.kraft}); casebook does not read KRaft metadata yet; {known}, all else was {NOT_PASTED}"
        case.could_not_collect("KRaft metadata", reason)


def remarks(found: Pasted) -> Iterator[str]:
    """One sentence for each output of a tool that says more than other rows hold, by line."""
    for told in found.told:
        if told.says:
            more = f"; {told.instead}" if told.instead else ""
            yield f"Line {told.span.first}, {told.tool}: {told.says}{more}."
    offline = [row for row in found.latest if row.offline]
    if offline:
        brokers = sorted({broker for row in offline for broker in row.offline or ()})
        yield f"Line {offline[0].span.first}, {_TOPICS}: replicas on {_listed(brokers)} are offline ({len(offline)} partitions)."
    for what, rows in (("Elr", _eligible(found, "eligible")), ("LastKnownElr", _eligible(found, "last_eligible"))):
        if rows:
            first, who = rows[0]
            rest = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
            yield f"Line {first.span.first}, {_TOPICS}: {what} of {first.topic}-{first.partition}: {_listed(who)}{rest}."


def _eligible(found: Pasted, kind: str) -> list[tuple[DescribedPartition, tuple[int, ...]]]:
    return [(row, named) for row in found.latest if (named := getattr(row, kind))]


def _listed(brokers: object) -> str:
    return ",".join(map(str, brokers))
