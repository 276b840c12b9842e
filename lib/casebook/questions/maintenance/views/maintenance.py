"""Notebook 30: restarts, order, leftovers. Draining and the panel are in sibling modules."""

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from casebook.findings import words
from casebook.kafka.restart_sets import Harm
from casebook.page import text
from casebook.page.render import render
from casebook.page.table import ALARM, CHOSEN, NUMBER, PLAIN, TEXT, UNBROKEN, Row, Table, numbers, unknown
from casebook.page.view import View, html
from casebook.questions.maintenance.analysis.checks import suffers
from casebook.questions.maintenance.analysis.leftovers import Leftover, LeftoverKind
from casebook.questions.maintenance.analysis.maintenance import Maintenance
from casebook.questions.maintenance.analysis.rows import OrderStep, RestartRow
from casebook.questions.maintenance.views.matrix import MOST_BROKERS, UNKNOWN, figure, kind, matrix

MOST_ROWS = 200
_MOST_NAMED = 8
_LEFT = {
    LeftoverKind.NOTHING_TO_MOVE: "a reassignment that moves nothing",
    LeftoverKind.UNKNOWN_PARTITION: "a reassignment of a partition that is not there",
    LeftoverKind.WAITS_FOR_DEAD: "a reassignment that waits for a broker that is not registered",
    LeftoverKind.THROTTLE: "a throttle without a reassignment",
    LeftoverKind.NOT_PREFERRED: "the preferred leader could lead, but does not",
    LeftoverKind.DELETION_STUCK: "a deletion that waits for a broker that is not registered",
    LeftoverKind.GHOST: "a replica on a broker that is not registered",
}


def restarts(m: Maintenance) -> View:
    """Show brokers by brokers: what breaks when one or two stop."""
    tables = {"restart_sets": m.restarts}
    if not m.singles:
        why = "No broker is registered." if m.cluster.brokers_known else "The registered brokers are unknown."
        return html(render("said", words=why), tables=tables)
    takeaway = _takeaway(m)
    chart = matrix(m.restarts, takeaway)
    hidden = len(m.singles) - len(chart.brokers)
    reading = "Diagonal: one broker alone. Below it: two together. Numbers are partitions."
    if hidden:
        reading += f" The {MOST_BROKERS} brokers that break most of {len(m.singles)} are drawn."
    legend = render("maintenance_legend", takeaway=takeaway, reading=reading, unknown=any(kind(r) == UNKNOWN for r in m.restarts))
    return View(parts=(legend, figure(chart), _every_set(m)), tables=tables)


def one_by_one(m: Maintenance) -> View:
    """Show each broker alone, with the effect on groups; existing problems are separate."""
    if not m.singles:
        return html(Markup())
    rows = sorted(m.singles, key=lambda row: (row.safe is True, -row.goes_offline, -row.falls_under_min_isr, row.brokers))
    shown = rows[:MOST_ROWS]
    table = Table(
        name="restart-one",
        columns=(
            ("Stop", UNBROKEN),
            ("Goes offline", NUMBER),
            ("Refuses acks=all", NUMBER),
            ("Broken already", NUMBER),
            ("Coordinators move", NUMBER),
            ("Groups wait", TEXT),
        ),
        rows=[(ALARM if row.goes_offline or row.unclean else PLAIN, _alone(row)) for row in shown],
        takeaway=_safe_ones(m),
        reading="Partitions. Those broken already are not made worse, and do not count against a restart.",
        total=len(rows) if len(rows) > len(shown) else None,
        rest="restart_sets",
    )
    return html(render("plain_table", table=table), *_why_unknown(shown))


def rolling(m: Maintenance) -> View:
    """Show the largest safe batch, an order for all, and what to wait for in between."""
    if not m.rolling:
        return html(render("said", words="There is no broker to restart."))
    harmful = [step for step in m.rolling if step.row.safe is False]
    takeaway = f"{words.plural(len(m.rolling), 'step')} for {words.plural(len(m.singles), 'broker')}"
    takeaway += (
        f"; {words.count(len(harmful))} of them {'does' if len(harmful) == 1 else 'do'} harm." if harmful else ", none does harm."
    )
    return html(
        render(
            "maintenance_rolling",
            table=order_table(m.rolling, takeaway=takeaway, name="rolling", reading=_largest(m)),
            wait=m.commands.under_replicated(),
            controller=m.cluster.controller.broker if m.cluster.controller.broker in m.cluster.live else None,
        )
    )


def order_table(steps: Sequence[OrderStep], *, takeaway: str, name: str, reading: str = "", marked: int | None = None) -> Table:
    """Return the steps of an order.

    Args:
        marked: Number of the highlighted step.
    """
    shown = steps[:MOST_ROWS]
    return Table(
        name=name,
        columns=(
            ("Step", NUMBER),
            ("Restart", TEXT),
            ("Breaks", TEXT),
            ("Coordinators move", NUMBER),
            ("Groups wait", TEXT),
            ("Then wait until back in sync", NUMBER),
        ),
        rows=[_order_row(step, marked) for step in shown],
        takeaway=takeaway,
        reading=reading,
        total=len(steps) if len(steps) > len(shown) else None,
        wide=True,
    )


def leftovers(m: Maintenance) -> View:
    """Show the leftovers of earlier maintenance, by kind."""
    counts = Counter(one.kind for one in m.leftovers)
    alike: dict[tuple[object, ...], list[Leftover]] = {}
    for one in m.leftovers:
        alike.setdefault((one.kind, one.brokers, one.detail), []).append(one)
    kinds = sorted(alike.values(), key=lambda some: (list(LeftoverKind).index(some[0].kind), -len(some), some[0].subject))
    shown = kinds[:MOST_ROWS]
    table = Table(
        name="leftovers",
        columns=(("What", TEXT), ("How many", NUMBER), ("Brokers", UNBROKEN), ("Where", TEXT)),
        rows=[(PLAIN, (_LEFT[some[0].kind], words.count(len(some)), _brokers_of(some[0]), _where(some))) for some in shown],
        takeaway=f"{words.plural(len(m.leftovers), 'leftover')} of {words.plural(len(counts), 'kind')}.",
        reading=Markup('All of them in <a href="tables/leftovers.parquet"><code>tables/leftovers</code></a>.'),
        label="Leftovers",
        total=len(kinds) if len(kinds) > len(shown) else None,
        rest="leftovers",
        search=True,
    )
    whole = m.cluster.brokers_known and not m.cluster.unlisted
    nothing = "There are no leftovers." if whole else "There are no leftovers, as far as could be checked."
    body = render("plain_table", table=table) if m.leftovers else render("caption", takeaway=nothing, reading="")
    return html(body, _imbalance(m), tables={"leftovers": m.leftovers})


def groups_wait(row: RestartRow) -> object:
    """Format how long groups are without a coordinator."""
    if row.seconds_without_coordinator is not None:
        if not row.offsets_partitions:
            return "no group"
        who = "" if row.groups_without_coordinator is None else f"{words.plural(row.groups_without_coordinator, 'group')}, "
        return f"{who}about {text.duration(1000 * row.seconds_without_coordinator)}"
    if row.endless:
        return "until it is back" if len(row.brokers) == 1 else "until they are back"
    return Markup('<span title="{}">{}</span>').format(row.why, unknown())


def _why_unknown(rows: Sequence[RestartRow]) -> list[Markup]:
    """Explain unknown waits of groups; nothing for known or endless ones."""
    whys = dict.fromkeys(row.why for row in rows if row.why and not row.endless)
    said = "; ".join(list(whys)[:2])
    return (
        [Markup('<div class="cb"><p class="cb-quiet">The wait of groups is unknown: {}.</p></div>').format(said)] if said else []
    )


def _takeaway(m: Maintenance) -> str:
    singles = m.singles
    harmful = [row for row in singles if row.safe is False]
    if len(harmful) == len(singles):
        worst = max(harmful, key=lambda row: (row.goes_offline + row.unclean, row.falls_under_min_isr))
        return f"No broker can be stopped without harm: with {worst.brokers[0]} down, {suffers(worst)}."
    if harmful:
        fine = [row.brokers[0] for row in singles if row.safe]
        rest = f"; {words.brokers(fine)} can" if 0 < len(fine) <= _MOST_NAMED else ""
        return f"{words.count(len(harmful))} of {words.plural(len(singles), 'broker')} cannot be stopped without harm{rest}."
    pairs = [row for row in m.restarts if len(row.brokers) == 2]
    unsafe = sum(row.safe is False for row in pairs)
    if any(row.safe is None for row in singles):
        return "No broker is known to be unsafe, but not every partition could be judged."
    if not pairs or not unsafe:
        return f"Any {'two brokers' if pairs else 'broker'} can be stopped."
    pairs_said = f"of {words.plural(len(pairs), 'pair')} {words.count(unsafe)}"
    return f"Each broker can be stopped alone; {pairs_said} must not be down together."


def _safe_ones(m: Maintenance) -> str:
    fine = [row.brokers[0] for row in m.singles if row.safe]
    if not fine:
        return "No broker can be restarted now."
    if len(fine) == len(m.singles):
        return "Each broker can be restarted now, one at a time."
    first = f"{words.brokers(fine[:_MOST_NAMED]).capitalize()}"
    more = f" and {words.count(len(fine) - _MOST_NAMED)} more" if len(fine) > _MOST_NAMED else ""
    return f"{first}{more} can be restarted now." if len(fine) == 1 else f"{first}{more} can be restarted now, one at a time."


def _alone(row: RestartRow) -> tuple[object, ...]:
    offline = words.count(row.goes_offline)
    if row.unclean:
        offline += f", {words.count(row.unclean)} lose records"
    broken = words.count(row.already_broken)
    if row.unknown:
        broken = Markup("{} <small>+ {} unknown</small>").format(broken, words.count(row.unknown))
    return (
        f"broker {row.brokers[0]}",
        offline,
        words.count(row.falls_under_min_isr),
        broken,
        _moves(row),
        groups_wait(row),
    )


def _moves(row: RestartRow) -> object:
    if row.transaction_partitions is None:
        return unknown()
    if row.transaction_partitions:
        return f"{words.count(row.offsets_partitions)} + {words.count(row.transaction_partitions)} txn"
    return words.count(row.offsets_partitions)


def _order_row(step: OrderStep, marked: int | None) -> Row:
    row = step.row
    broken = suffers(row) if row.safe is False else unknown() if row.safe is None else "nothing"
    how = ALARM if row.goes_offline or row.unclean else CHOSEN if step.number == marked else PLAIN
    return how, (
        f"▸ {step.number}" if step.number == marked else step.number,
        words.brokers(row.brokers),
        broken,
        _moves(row),
        groups_wait(row),
        words.plural(step.catch_up, "partition"),
    )


def _largest(m: Maintenance) -> str:
    if m.largest is None:
        return "No broker can be restarted without harm, so there is no safe batch."
    whom = m.largest.brokers
    if len(whom) == 1:
        return "No two can be restarted together."
    listed = words.brokers(whom[:_MOST_NAMED]) + (f" and {len(whom) - _MOST_NAMED} more" if len(whom) > _MOST_NAMED else "")
    return f"Largest safe batch found: {words.count(len(whom))} together, {listed}."


def _every_set(m: Maintenance) -> Markup:
    bad = [row for row in m.restarts if row.safe is not True]
    ranked = sorted(m.restarts, key=lambda r: (r.safe is True, len(r.brokers), r.brokers))
    rows = ranked[:MOST_ROWS]
    table = Table(
        name="restart-sets",
        columns=(
            ("Stop together", UNBROKEN),
            (Harm.OFFLINE.value.capitalize(), NUMBER),
            ("Lose records", NUMBER),
            ("Refuse acks=all", NUMBER),
            ("Broken already", NUMBER),
            ("Coordinators move", NUMBER),
            ("Groups wait", TEXT),
        ),
        rows=[
            (
                PLAIN,
                (
                    words.listed(row.brokers),
                    words.count(row.goes_offline),
                    words.count(row.unclean),
                    words.count(row.falls_under_min_isr),
                    words.count(row.already_broken),
                    _moves(row),
                    groups_wait(row),
                ),
            )
            for row in rows
        ],
        label="What stopping brokers together does",
        total=len(m.restarts) if len(m.restarts) > len(rows) else None,
        rest="restart_sets",
        search=True,
        tall=True,
    )
    summary = f"The numbers ({words.plural(len(m.restarts), 'set')} of brokers, {words.count(len(bad))} unsafe)"
    return numbers(table, summary)


def _brokers_of(one: Leftover) -> str:
    if one.kind is LeftoverKind.NOT_PREFERRED:
        return f"{one.brokers[0]}, led by {one.brokers[1]}"
    return words.listed(one.brokers)


def _where(some: Sequence[Leftover]) -> Markup:
    """Return the first subjects, and the setting, if any."""
    names = Markup(", ").join(Markup("<code>{}</code>").format(one.subject) for one in some[:_MOST_NAMED])
    more = f" and {words.count(len(some) - _MOST_NAMED)} more" if len(some) > _MOST_NAMED else ""
    setting = Markup(": <code>{}</code>").format(some[0].detail) if some[0].detail else ""
    return Markup("{}{}{}").format(names, more, setting)


def _imbalance(m: Maintenance) -> Markup:
    rows = [(broker, share) for broker, share in m.imbalance.items() if share]
    if not rows:
        return Markup()
    rows.sort(key=lambda row: -row[1])
    table = Table(
        name="imbalance",
        columns=(("Broker", NUMBER), ("Preferred, led by others", NUMBER), ("", TEXT)),
        rows=[
            (PLAIN, (broker, f"{share:.0%}", "" if broker in m.cluster.live else "not registered"))
            for broker, share in rows[:MOST_ROWS]
        ],
        label="Leaders that are not preferred",
    )
    return numbers(table, f"Leaders that are not preferred ({words.plural(len(rows), 'broker')})")
