"""The what-if panel: which brokers live, is unclean election allowed, whose log is ahead; the answer follows at once.

Stock ipywidgets, the answer in one HTML value: it neither jumps nor carries a chart library. Without widgets the same
answer stands at the parameters.
"""

from collections.abc import Callable

from markupsafe import Markup

from casebook.analysis.leadership import Leadership
from casebook.analysis.what_if import Supposition, WhatIf
from casebook.views.render import look, render
from casebook.views.view import View

MOST_ROWS = 12
_SHOW = {"what changes": False, "only what stays offline": True}
Replay = Callable[[Supposition], WhatIf]


def panel(lead: Leadership, supposed: Supposition, replay: Replay, *, interactive: bool, remembered: dict[str, object]) -> View:
    """The panel, or its static twin.

    Args:
        supposed: The parameters' supposition: the panel's first state.
        replay: Gives the answer to a supposition.
        interactive: Whether there are widgets.
        remembered: What the person chose; outlives a re-run of the cell.
    """
    tables = {"what_if": replay(supposed).changes}
    if not interactive:
        return View(parts=(_answer(lead, replay(supposed), only_offline=False),), tables=tables)
    return View(parts=(_Panel(lead, supposed, replay, remembered).box,), tables=tables)


def _answer(lead: Leadership, answer: WhatIf, *, only_offline: bool) -> Markup:
    changes = [change for change in answer.changes if change.offline or not only_offline]
    changed = sorted(set(answer.alive) ^ set(answer.evidence_alive))
    return render(
        "what_if",
        kind=look(answer.severity),
        answer=answer,
        changed=[(broker, broker in answer.alive) for broker in changed],
        changes=changes[:MOST_ROWS],
        total=len(changes),
        version=lead.version.version,
        command_line="casebook run partition_leadership " + " ".join(f"-p {name}={value}" for name, value in answer.parameters.items()),
    )


class _Panel:
    """Widgets around the answer."""

    def __init__(self, lead: Leadership, supposed: Supposition, replay: Replay, remembered: dict[str, object]) -> None:
        import ipywidgets as widgets

        self._lead, self._replay, self._remembered = lead, replay, remembered
        self._evidence, self._parameters = lead.cluster.live, supposed
        known = sorted({*lead.cluster.live, *lead.dead})
        now = remembered.get("supposed", supposed)
        self._brokers = {broker: widgets.ToggleButton(layout={"width": "auto", "min_width": "62px"}) for broker in known}
        self._unclean = widgets.ToggleButtons(options=[(f"as configured: {_configured(lead)}", "as_configured"), ("on", "on"), ("off", "off")], style={"button_width": "auto"})
        self._ahead = widgets.Dropdown(options=[("do not assume", None), *((f"broker {b}", b) for b in known)], layout={"width": "180px"})
        self._show = widgets.Dropdown(options=list(_SHOW), layout={"width": "210px"})
        self._back = widgets.Button(description="Back to the evidence", layout={"width": "auto"})
        self._html = widgets.HTML()
        self.box = widgets.VBox(
            [
                _line("Brokers alive", *self._brokers.values()),
                _line("Unclean election", self._unclean),
                _line("Whose log is ahead", self._ahead, widgets.Label("Show"), self._show, self._back),
                self._html,
            ]
        )
        self.box.add_class("cb-panel")
        self._put(now)
        for widget in (*self._brokers.values(), self._unclean, self._ahead, self._show):
            widget.observe(self._changed, "value")
        self._back.on_click(self._reset)
        self._refresh()

    def _put(self, supposed: Supposition) -> None:
        for broker, button in self._brokers.items():
            button.value = broker in supposed.alive
        self._unclean.value, self._ahead.value = supposed.unclean, supposed.ahead
        self._show.value = self._remembered.get("show", next(iter(_SHOW)))

    def _supposed(self) -> Supposition:
        alive = frozenset(broker for broker, button in self._brokers.items() if button.value)
        return Supposition(alive=alive, unclean=self._unclean.value, ahead=self._ahead.value)

    def _changed(self, _change: object) -> None:
        self._remembered |= {"supposed": self._supposed(), "show": self._show.value}
        self._refresh()

    def _reset(self, _button: object) -> None:
        self._put(Supposition(alive=self._evidence))

    def _refresh(self) -> None:
        for broker, button in self._brokers.items():
            button.description = f"{'✓' if button.value else '✕'} {broker}"
            button.tooltip = f"broker {broker} {'alive' if button.value else 'dead'}; in the evidence {'alive' if broker in self._evidence else 'dead'}"
            (button.add_class if button.value != (broker in self._evidence) else button.remove_class)("cb-changed")
        try:
            self._html.value = str(_answer(self._lead, self._replay(self._supposed()), only_offline=_SHOW[self._show.value]))
        except Exception as error:  # an exception in a callback shows nowhere: the panel itself must say it
            self._html.value = str(render("failed", what=f"{type(error).__name__}: {error}"))


def _configured(lead: Leadership) -> str:
    """How unclean election is configured: on, off, by topic, or unknown."""
    values = {verdict.unclean_allowed for verdict in lead.verdicts}
    return {True: "on", False: "off", None: "unknown"}[values.pop()] if len(values) == 1 else "by topic" if values else "unknown"


def _line(label: str, *controls: object) -> object:
    import ipywidgets as widgets

    return widgets.HBox([widgets.Label(label, layout={"width": "140px"}), *controls], layout={"flex_flow": "row wrap", "align_items": "center"})
