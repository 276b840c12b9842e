"""Agreement of a partition's copies, and price of the next election."""

from collections.abc import Callable, Mapping, Sequence

from casebook.findings import words
from casebook.page import text
from casebook.page.table import ALARM, CHOSEN, CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Table, or_unknown, unknown
from casebook.questions.loss.analysis.divergence import Divergence, DivergenceKind
from casebook.questions.loss.analysis.unclean_price import StartPrice, UncleanPrice
from casebook.questions.loss.views.choice import named
from casebook.questions.loss.views.words import moments

_MOST_ROWS, _MOST_GROUPS = 200, 3
_KINDS = {
    DivergenceKind.DIFFERENT: "other records at the same offsets",
    DivergenceKind.MISSING: "a hole that compaction does not explain",
    DivergenceKind.OTHER_EPOCHS: "the same records under other epochs",
    DivergenceKind.BEHIND: "a copy ends earlier",
}
_GRAVE = (DivergenceKind.DIFFERENT, DivergenceKind.MISSING)


def divergences(rows: Sequence[Divergence], title: str) -> Table:
    """Return differences between copies, worst first.

    Args:
        title: Title of the check.
    """
    order = list(DivergenceKind)
    ranked = sorted(rows, key=lambda row: (order.index(row.kind), not row.silent))
    shown = ranked[:_MOST_ROWS]
    return Table(
        name="divergence",
        columns=(("Partition", CODE), ("Offsets", CODE), ("How they differ", TEXT), ("Content there", TEXT)),
        rows=[(ALARM if row.kind in _GRAVE else PLAIN, _divergence(row)) for row in shown],
        takeaway=f"{title}.",
        total=len(ranked) if len(ranked) > len(shown) else None,
        rest="divergence",
        search=True,
        wide=True,
    )


def _divergence(row: Divergence) -> tuple[object, ...]:
    silent = "; equal log ends: no lag shows it" if row.silent else ""
    return (
        named(row.topic, row.partition),
        f"{row.first_offset} to {row.last_offset}",
        f"{_KINDS[row.kind]}{silent}",
        "; ".join(f"broker {broker}: {held}" for broker, held in _holds(row.holds)),
    )


def _holds(holds: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(holds.items(), key=lambda one: int(one[0]))


def starts(rows: Sequence[StartPrice]) -> Table | None:
    """Return the price of starting each broker before the others, safest first; ``None`` without brokers to start.

    Among equals, the one that leads most, then the lowest id, as in the plan.
    """
    if not rows:
        return None
    ranked = sorted(rows, key=lambda row: (row.records is None, row.records, row.unknown, -row.partitions, row.broker))
    best = ranked[0]
    return Table(
        name="start-prices",
        columns=(
            ("Start first", TEXT),
            ("Would lead", NUMBER),
            ("Records gone", NUMBER),
            ("Size", NUMBER),
            ("Partitions without price", NUMBER),
        ),
        rows=[(CHOSEN if row is best and row.records is not None else PLAIN, _start(row)) for row in ranked[:_MOST_ROWS]],
        takeaway=_safest(best),
        reading="The safest choice.",
        total=len(ranked) if len(ranked) > _MOST_ROWS else None,
    )


def _safest(best: StartPrice) -> str:
    if best.records is None:
        return "The safest broker to start first is unknown: the evidence lacks a needed copy."
    cost = "loses nothing" if best.records == 0 else f"costs {words.plural(best.records, 'record')}"
    return f"Starting broker {best.broker} first {cost}, for {words.plural(best.partitions, 'partition')} that it would lead."


def _start(row: StartPrice) -> tuple[object, ...]:
    return (
        f"broker {row.broker}",
        words.count(row.partitions),
        or_unknown(row.records, words.count),
        or_unknown(row.bytes, text.size),
        words.count(row.unknown),
    )


def prices(rows: Sequence[UncleanPrice]) -> Table | None:
    """Return the loss for each candidate, by partition, safest first; ``None`` without candidates."""
    if not rows:
        return None
    ranked = sorted(rows, key=lambda row: (row.topic, row.partition, row.records is None, row.records or 0, row.candidate))
    shown = ranked[:_MOST_ROWS]
    head, at = moments(time for row in shown for time in (row.from_time, row.to_time))
    return Table(
        name="unclean-price",
        columns=(
            ("Partition", CODE),
            ("If it leads", UNBROKEN),
            ("Records gone", NUMBER),
            ("Size", NUMBER),
            ("From offset", CODE),
            (f"Written, {head}", TEXT),
            ("Keys, for example", CODE),
            ("Groups beyond its end", TEXT),
        ),
        rows=[(ALARM if row.records else PLAIN, _price(row, at)) for row in shown],
        takeaway=_priced(ranked),
        reading="Records that the best copy holds and the candidate lacks.",
        total=len(ranked) if len(ranked) > len(shown) else None,
        rest="unclean_price",
        search=True,
        wide=True,
        tall=True,
    )


def _priced(rows: Sequence[UncleanPrice]) -> str:
    """Describe the minimum price over all partitions."""
    cheapest: dict[tuple[str, int], int | None] = {}
    for row in rows:
        cheapest.setdefault((row.topic, row.partition), row.records)
    known = [records for records in cheapest.values() if records is not None]
    unpriced = len(cheapest) - len(known)
    rest = f"; {words.plural(unpriced, 'partition')} without price" if unpriced else ""
    return f"{words.plural(len(cheapest), 'partition')}: at best {words.plural(sum(known), 'record')} lost{rest}."


def _price(row: UncleanPrice, at: Callable[[int | None], str]) -> tuple[object, ...]:
    known = row.records is not None
    span = f"{at(row.from_time)} to {at(row.to_time)}" if row.from_time is not None else "–" if row.records == 0 else "?"
    groups = row.groups if row.groups is None else [f"{g.group} by {words.count(g.by)}" for g in row.groups]
    return (
        named(row.topic, row.partition),
        f"broker {row.candidate}",
        words.count(row.records) if known else unknown(),
        text.size(row.bytes) if known else "?",
        "–" if row.from_offset is None else row.from_offset,
        span if known else row.why,
        ", ".join(row.keys) or "–",
        unknown() if groups is None else words.some(groups, _MOST_GROUPS) or "none",
    )
