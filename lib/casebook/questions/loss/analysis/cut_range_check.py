"""Check on offsets that disappeared after leader changes."""

from collections.abc import Collection, Sequence

from casebook.facts.evidence import Evidence
from casebook.facts.losses import CutRange, LeaderChange
from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, count, plural

_GIVE = "Add the log dirs of all replicas (--log-dirs BROKER=DIR), or a ledger."


def check(
    ranges: Sequence[CutRange],
    changes: Sequence[LeaderChange],
    *,
    partitions: int,
    gaps: Sequence[Gap],
    topics: Collection[str] = (),
) -> Finding:
    """Did offsets disappear, by logs and epochs alone, without a ledger?

    Args:
        partitions: Number of partitions examined.
        gaps: Why some truncations are unknown.
        topics: Topics examined; empty for all.
    """
    known = [row for row in ranges if row.to_offset is not None]
    offsets = sum(row.to_offset - row.from_offset for row in known)
    unknown = [row for row in changes if row.cut is None and not row.planned and (row.unclean or row.closed != row.opened)]
    untold = len({(row.topic, row.partition) for row in unknown})
    ask = Question(
        check="loss.cut_ranges",
        question="Did stored offsets disappear?",
        coverage=Coverage.counted(partitions - untold, partitions, "partition", Source.HISTORY, Source.LOGS),
        threshold="a leader that returned and truncated records that other replicas had not yet fetched",
        facts={"ranges": len(ranges), "offsets": offsets, "of_unknown_length": len(ranges) - len(known)},
        evidence=(*(proof(row.proof) for row in ranges[:SHOWN] if row.proof), Evidence(file="tables/cut_ranges")),
    )
    if known:
        return ask.found(Severity.WARNING, _cut_away(known, ranges, offsets), why=f"{ranges[0].why}.")
    if ranges:
        places = plural(len({(row.topic, row.partition) for row in ranges}), "partition")
        return ask.could_not_check(
            f"Truncation of {places} after a change of leader is unknown",
            why=f"{ranges[0].why}.",
            settle=_GIVE,
        )
    if unknown:
        return ask.could_not_check(
            f"The truncation offset of {plural(len(unknown), 'change')} of leader is unknown",
            why="Up to 0.10.2 there is no leader epoch to show it; diverging copies and a ledger do.",
            settle=_GIVE,
        )
    which = f" of {', '.join(sorted(topics)[:SHOWN])}" if topics else ""
    return ask.ok(f"No log{which} was truncated below the offsets that others had", gaps=gaps)


def _cut_away(known: Sequence[CutRange], ranges: Sequence[CutRange], offsets: int) -> str:
    """Describe the lost offsets: a lower bound, as an old leader may have accepted more after its last known end."""
    sure = {(row.topic, row.partition) for row in known}
    doubtful = {(row.topic, row.partition) for row in ranges} - sure
    cut = f"At least {plural(offsets, 'offset')} of {plural(len(sure), 'partition')} were truncated after a change of leader"
    return f"{cut}; {count(len(doubtful))} more {agree(len(doubtful), 'is', 'are')} uncertain" if doubtful else cut
