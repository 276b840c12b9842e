"""Brokers restarted in an order, replayed step by step on the replica map.

The order is a line of text; the buttons write it.
"""

from collections.abc import Mapping

from markupsafe import Markup

from casebook.errors import UsageError
from casebook.findings import words
from casebook.findings.finding import Severity
from casebook.kafka.partitions import dead_brokers
from casebook.kafka.restart_sets import Harm
from casebook.kafka.verdict import OFFLINE, ONLINE, PartitionCondition, Verdict
from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.panel import LABELS, Panel, button, label, line
from casebook.page.render import look, render
from casebook.page.view import View
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.leadership.views.replica_map import Moment, replica_map
from casebook.questions.maintenance.analysis.asked import parse_order, written
from casebook.questions.maintenance.analysis.checks import suffers
from casebook.questions.maintenance.analysis.maintenance import Maintenance
from casebook.questions.maintenance.analysis.order import Order, Stopped, seen
from casebook.questions.maintenance.analysis.rows import OrderStep
from casebook.questions.maintenance.views.maintenance import groups_wait, order_table

_MOST_BUTTONS = 24
_HARMED = {
    Harm.OFFLINE: (0, "Goes offline"),
    Harm.UNCLEAN: (1, "Loses records: its leader was not in sync"),
    Harm.UNDER_MIN_ISR: (2, "Refuses acks=all"),
}
_BROKEN = (20, "Broken already, and not made worse")
_AS_IT_IS = {PartitionCondition.DELETING: (21, "Being deleted"), PartitionCondition.UNKNOWN: (22, "Not known")}
"""Headings of the map, each with its position."""


def panel(m: Maintenance, context: PanelContext, *, step: int) -> View:
    """Show the panel, or its static twin for the parameters; without given brokers, all in the rolling order.

    Args:
        context: Context in the notebook.
        step: Step in the map; 0 for the first harmful one, else the first.

    Raises:
        UsageError: The step does not exist.
    """
    order = m.asked.order or m.rolling_order
    if step < 0 or step > max(len(order), 1):
        raise UsageError(f"step={step} is not in this order.", try_=f"It has {words.plural(len(order), 'step')}.")
    if not m.singles:
        return View(parts=(render("said", words="There is no broker to restart."),))
    if not context.interactive:
        return View(parts=(_answer(m, order, step, source=context.source, framed=True),))
    return View(parts=(_widgets(m, order, step, context),))


def _answer(m: Maintenance, order: Order, step: int, *, source: str, framed: bool = False) -> Markup:
    """Return the answer as HTML.

    Args:
        framed: Also show the order in a frame: without widgets nothing else shows it.
    """
    if not order:
        return render("said", words="Choose a broker.")
    steps = m.steps(order)
    number = step or _first(steps)
    severity, title = _result(steps)
    together = m.together(order) if len(order) > 1 else None
    at = m.stopped(order, number)
    parameters = {"brokers": written(order)} | ({"step": str(step)} if step else {})
    return render(
        "maintenance_panel",
        framed=framed,
        kind=look(severity),
        title=title,
        order=[(one.number, words.brokers(one.row.brokers), one.number == number) for one in steps],
        quiet=f"{words.plural(sum(map(len, order)), 'broker')} in {words.plural(len(order), 'step')}; "
        "each waits until all are back in sync.",
        together=None if together is None else _together(together),
        table=order_table(steps, takeaway="", name="order", marked=number),
        number=number,
        down=words.brokers(sorted(at.brokers)),
        wait=groups_wait(steps[number - 1].row) if steps[number - 1].row.offsets_partitions else None,
        map=_map(m, at),
        command_line=text.command("broker_maintenance", source, parameters),
        version=m.version.version,
    )


def _map(m: Maintenance, at: Stopped) -> Markup:
    """Return the partitions of the stopped brokers, in their state meanwhile."""
    judged = seen(at, m.version.version)
    names = {(v.topic, v.partition) for v in judged}
    harmed = m.sets.harmed(at.brokers)
    headings = {(v.topic, v.partition): _AS_IT_IS[v.state] for v in m.verdicts if v.state in _AS_IT_IS}
    broken = {(v.topic, v.partition) for v in m.verdicts if _is_broken(v) and (v.topic, v.partition) in names}
    broken -= {name for some in harmed.values() for name in some}
    headings |= dict.fromkeys(broken, _BROKEN) | {name: _HARMED[of] for of, some in harmed.items() for name in some}
    many = sum(map(len, harmed.values()))
    kept = f", {words.count(len(broken))} broken already" if broken else ""
    verb = "breaks" if many == 1 else "break"
    takeaway = (
        f"{words.count(many)} of {words.plural(len(judged), 'partition')} of {words.brokers(sorted(at.brokers))} {verb}{kept}."
    )
    lead = Leadership(
        cluster=at.cluster,
        version=m.version,
        dead=dead_brokers(at.cluster),
        verdicts=judged,
        start_first=(),
        controller_epochs=(),
        findings=(),
    )
    return replica_map(lead, moment=Moment(stopped=frozenset(at.brokers), headings=headings, takeaway=takeaway))


def _is_broken(verdict: Verdict) -> bool:
    offline = verdict.state in OFFLINE or verdict.state is PartitionCondition.UNINITIALISED
    return offline or (verdict.state in ONLINE and bool(verdict.under_min_isr))


def _first(steps: tuple[OrderStep, ...]) -> int:
    return next((step.number for step in steps if step.row.safe is False), 1)


def _together(row: object) -> str:
    harm = suffers(row) if row.safe is False else "not every partition could be judged" if row.safe is None else "nothing breaks"
    return f"All at once: {harm}."


def _result(steps: tuple[OrderStep, ...]) -> tuple[Severity | str | None, str]:
    hit = [step for step in steps if step.row.safe is False]
    if hit:
        hard = any(step.row.goes_offline or step.row.unclean for step in hit)
        first = hit[0]
        where = (
            f"Step {first.number}, {words.brokers(first.row.brokers)} down"
            if len(steps) > 1
            else f"With {words.brokers(first.row.brokers)} down"
        )
        more = f"; {words.plural(len(hit) - 1, 'more step')} {'does' if len(hit) == 2 else 'do'} harm" if len(hit) > 1 else ""
        return Severity.CRITICAL if hard else Severity.WARNING, f"{where}: {suffers(first.row)}{more}"
    if any(step.row.safe is None for step in steps):
        return "could_not_check", "No step is known to harm, but not every partition could be judged"
    return None, f"{'Every step is' if len(steps) > 1 else 'It is'} safe: nothing goes offline, nothing refuses acks=all"


def _widgets(m: Maintenance, first: Order, step: int, context: PanelContext) -> object:
    import ipywidgets as widgets

    live = m.sets.live if len(m.sets.live) <= _MOST_BUTTONS else ()
    toggles = {broker: widgets.ToggleButton(layout={"width": "auto", "min_width": "62px"}) for broker in live}
    order = widgets.Text(
        value=written(first), description="Order", placeholder="2,1+3", continuous_update=False,
        style={"description_width": LABELS}, layout={"width": "420px"},
    )  # fmt: skip
    steps = widgets.Dropdown(description="Map shows", style={"description_width": "80px"}, layout={"width": "330px"})

    def parsed() -> Order:
        """None where the line is no order."""
        try:
            return parse_order(m.cluster, order.value)
        except UsageError:
            return ()

    def follow(_change: object = None) -> None:
        """Another order: the other controls follow it."""
        now = parsed()
        places = {broker: number for number, one in enumerate(now, start=1) for broker in one}
        for broker, toggle in toggles.items():
            toggle.value = broker in places
            toggle.description = f"{places[broker]}. broker {broker}" if broker in places else f"broker {broker}"
            toggle.tooltip = f"broker {broker} {f'stops in step {places[broker]}' if broker in places else 'is not restarted'}"
        named_steps = ((f"step {number}: {words.brokers(one)} down", number) for number, one in enumerate(now, start=1))
        steps.options = [("the first step that does harm", 0), *named_steps]
        steps.value = 0

    def keep(now: Order) -> None:
        panel.put({"order": written(now), "step": 0})

    def toggled(broker: int, *, on: bool) -> None:
        if on != (broker in _flat(parsed())):  # else it follows the order
            kept = tuple(left for one in parsed() if (left := tuple(b for b in one if b != broker)))
            keep((*kept, (broker,)) if on else kept)

    def answer(values: Mapping[str, object]) -> Markup:
        return _answer(m, parse_order(m.cluster, values["order"]), values["step"], source=context.source)

    apart = button("One after the other", lambda: keep(tuple((broker,) for broker in _flat(parsed()))))
    joined = button("All together", lambda: keep((flat,) if (flat := _flat(parsed())) else ()))
    back = button("The chosen order" if m.asked.order else "The rolling order", lambda: keep(first))
    rows = [line(label("Brokers to restart"), *toggles.values())] if live else []
    follow()
    steps.value = step
    order.observe(follow, "value")
    panel = Panel(
        [*rows, line(order, apart, joined, back), line(steps)], {"order": order, "step": steps}, answer, context.remembered
    )
    for broker, toggle in toggles.items():
        toggle.observe(lambda change, broker=broker: toggled(broker, on=change["new"]), "value")
    return panel.box


def _flat(order: Order) -> tuple[int, ...]:
    return tuple(broker for one in order for broker in one)
