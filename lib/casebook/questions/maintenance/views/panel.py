"""Brokers restarted in an order, replayed step by step on the partition map.

Stock ipywidgets, the answer in one HTML value, as in the what-if panel. The order is a line of text; the buttons write it.
Without widgets the same answer stands at the parameters.
"""

from collections.abc import Callable, Mapping

from markupsafe import Markup

from casebook.errors import UsageError
from casebook.findings.finding import Severity
from casebook.findings.words import brokers as named
from casebook.kafka.partitions import dead_brokers
from casebook.kafka.restart_sets import Harm
from casebook.kafka.verdict import OFFLINE, ONLINE, PartitionCondition, Verdict
from casebook.page import text
from casebook.page.context import PanelContext
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
_LABELS = "140px"
_HARMED = {
    Harm.OFFLINE: (0, "Goes offline"),
    Harm.UNCLEAN: (1, "Loses records: led by one that was not in sync"),
    Harm.UNDER_MIN_ISR: (2, "Refuses acks=all"),
}
_BROKEN = (20, "Broken already, and not made worse")
_AS_IT_IS = {PartitionCondition.DELETING: (21, "Being deleted"), PartitionCondition.UNKNOWN: (22, "Not known")}
"""Headings of the map, each with its place."""


def panel(m: Maintenance, context: PanelContext, *, step: int) -> View:
    """The panel, or its static twin at the parameters; without brokers named it is about all of them, in the rolling order.

    Args:
        context: The notebook that it stands in.
        step: Which step the map shows; 0 for the first that does harm, else the first.

    Raises:
        UsageError: There is no such step.
    """
    order = m.asked.order or m.rolling_order
    if step < 0 or step > max(len(order), 1):
        raise UsageError(f"step={step} is not in this order.", try_=f"It has {text.plural(len(order), 'step')}.")
    if not m.singles:
        return View(parts=(render("said", words="There is no broker to restart."),))
    if not context.interactive:
        return View(parts=(_answer(m, order, step, source=context.source, framed=True),))
    return View(parts=(_RestartPanel(m, order, step, context.remembered, context.source).box,))


def _answer(m: Maintenance, order: Order, step: int, *, source: str, framed: bool = False) -> Markup:
    """The answer as HTML.

    Args:
        framed: Show the order as well, in a frame: there are no widgets that say it.
    """
    if not order:
        return render("said", words="Choose a broker.")
    steps = m.steps(order)
    number = step or _first(steps)
    severity, title = _result(steps)
    flat = [broker for one in order for broker in one]
    together = m.together(order) if len(order) > 1 else None
    at = m.stopped(order, number)
    parameters = {"brokers": written(order)} | ({"step": str(step)} if step else {})
    return render(
        "maintenance_panel",
        framed=framed,
        kind=look(severity),
        title=title,
        order=[(one.number, named(one.row.brokers), one.number == number) for one in steps],
        quiet=f"{text.plural(len(flat), 'broker')} in {text.plural(len(order), 'step')}; each waits until all are back in sync.",
        together=None if together is None else _together(together),
        table=order_table(steps, takeaway="", name="order", marked=number),
        number=number,
        down=named(sorted(at.brokers)),
        wait=groups_wait(steps[number - 1].row) if steps[number - 1].row.offsets_partitions else None,
        map=_map(m, at),
        command_line=text.command("broker_maintenance", source, parameters),
        version=m.version.version,
    )


def _map(m: Maintenance, at: Stopped) -> Markup:
    """The partitions of the brokers that are down, as they are meanwhile."""
    judged = seen(at, m.version.version)
    names = {(v.topic, v.partition) for v in judged}
    harmed = m.sets.harmed(at.brokers)
    headings = {(v.topic, v.partition): _AS_IT_IS[v.state] for v in m.verdicts if v.state in _AS_IT_IS}
    broken = {(v.topic, v.partition) for v in m.verdicts if _is_broken(v) and (v.topic, v.partition) in names}
    broken -= {name for some in harmed.values() for name in some}
    headings |= dict.fromkeys(broken, _BROKEN) | {name: _HARMED[of] for of, some in harmed.items() for name in some}
    many = sum(map(len, harmed.values()))
    kept = f", {text.count(len(broken))} broken already" if broken else ""
    verb = "breaks" if many == 1 else "break"
    takeaway = f"{text.count(many)} of {text.plural(len(judged), 'partition')} of {named(sorted(at.brokers))} {verb}{kept}."
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
            f"Step {first.number}, {named(first.row.brokers)} down" if len(steps) > 1 else f"With {named(first.row.brokers)} down"
        )
        more = f"; {text.plural(len(hit) - 1, 'more step')} {'does' if len(hit) == 2 else 'do'} harm" if len(hit) > 1 else ""
        return Severity.CRITICAL if hard else Severity.WARNING, f"{where}: {suffers(first.row)}{more}"
    if any(step.row.safe is None for step in steps):
        return "could_not_check", "No step is known to harm, but not every partition could be judged"
    return None, f"{'Every step is' if len(steps) > 1 else 'It is'} safe: nothing goes offline, nothing refuses acks=all"


class _RestartPanel:
    """Widgets around the answer."""

    def __init__(self, m: Maintenance, order: Order, step: int, remembered: dict[str, object], source: str) -> None:
        import ipywidgets as widgets

        self._m, self._remembered, self._source = m, remembered, source
        self._first = order
        live = m.sets.live if len(m.sets.live) <= _MOST_BUTTONS else ()
        self._brokers: Mapping[int, widgets.ToggleButton] = {
            broker: widgets.ToggleButton(layout={"width": "auto", "min_width": "62px"}) for broker in live
        }
        self._order = widgets.Text(
            description="Order", placeholder="2,1+3", continuous_update=False,
            style={"description_width": _LABELS}, layout={"width": "420px"},
        )  # fmt: skip
        self._step = widgets.Dropdown(description="Map shows", style={"description_width": "80px"}, layout={"width": "330px"})
        self._apart = _button("One after the other", self._one_by_one)
        self._joined = _button("All together", self._all_together)
        self._back = _button("The order asked for" if m.asked.order else "The rolling order", self._reset)
        self._html = widgets.HTML()
        line = [_line(_label("Brokers to restart"), *self._brokers.values())] if live else []
        self.box = widgets.VBox([*line, _line(self._order, self._apart, self._joined, self._back), _line(self._step), self._html])
        self.box.add_class("cb-panel")
        self._quiet = False
        self._put(str(remembered.get("order", written(order))), int(remembered.get("step", step)))
        for broker, button in self._brokers.items():
            button.observe(self._toggled(broker), "value")
        self._order.observe(self._changed, "value")
        self._step.observe(self._looked, "value")

    def _put(self, order: str, step: int = 0) -> None:
        """Another order: all controls follow, then one answer."""
        self._quiet = True
        self._order.value = order
        parsed = self._parsed()
        places = {broker: number for number, one in enumerate(parsed or (), start=1) for broker in one}
        for broker, button in self._brokers.items():
            button.value = broker in places
            button.description = f"{places[broker]}. broker {broker}" if broker in places else f"broker {broker}"
            button.tooltip = f"broker {broker} {f'stops in step {places[broker]}' if broker in places else 'is not restarted'}"
        options = [("the first step that does harm", 0)]
        options += [(f"step {number}: {named(one)} down", number) for number, one in enumerate(parsed or (), start=1)]
        self._step.options = options
        self._step.value = step if step < len(options) else 0
        self._quiet = False
        self._refresh()

    def _parsed(self) -> Order | None:
        try:
            return parse_order(self._m.cluster, self._order.value)
        except UsageError:
            return None

    def _toggled(self, broker: int) -> Callable[[object], None]:
        def toggled(change: Mapping[str, object]) -> None:
            if self._quiet:
                return
            order = tuple(kept for one in self._parsed() or () if (kept := tuple(b for b in one if b != broker)))
            self._keep((*order, (broker,)) if change["new"] else order)

        return toggled

    def _one_by_one(self, _button: object) -> None:
        self._keep(tuple((broker,) for one in self._parsed() or () for broker in one))

    def _all_together(self, _button: object) -> None:
        flat = tuple(broker for one in self._parsed() or () for broker in one)
        self._keep((flat,) if flat else ())

    def _reset(self, _button: object) -> None:
        self._keep(self._first)

    def _keep(self, order: Order) -> None:
        self._remembered |= {"order": written(order), "step": 0}
        self._put(written(order))

    def _changed(self, _change: object) -> None:
        if not self._quiet:
            self._remembered |= {"order": self._order.value, "step": 0}
            self._put(self._order.value)

    def _looked(self, _change: object) -> None:
        if not self._quiet:
            self._remembered |= {"step": self._step.value}
            self._refresh()

    def _refresh(self) -> None:
        try:
            order = parse_order(self._m.cluster, self._order.value)
            self._html.value = str(_answer(self._m, order, self._step.value or 0, source=self._source))
        except UsageError as error:
            self._html.value = str(render("said", words=str(error)))
        except Exception as error:  # an exception in a callback shows nowhere: the panel itself must say it
            self._html.value = str(render("failed", what=f"{type(error).__name__}: {error}"))


def _button(words: str, pressed: Callable[[object], None]) -> object:
    import ipywidgets as widgets

    button = widgets.Button(description=words, layout={"width": "auto"})
    button.on_click(pressed)
    return button


def _label(words: str) -> object:
    import ipywidgets as widgets

    return widgets.Label(words, layout={"width": _LABELS, "justify_content": "flex-end"})


def _line(*controls: object) -> object:
    import ipywidgets as widgets

    return widgets.HBox(list(controls), layout={"flex_flow": "row wrap", "align_items": "center"})
