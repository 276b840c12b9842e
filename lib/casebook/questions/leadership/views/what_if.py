"""The what-if panel: which brokers live, is unclean election allowed, whose log is ahead; the answer follows at once.

Stock ipywidgets, the answer in one HTML value: it neither jumps nor carries a chart library. Without widgets the same
answer stands at the parameters.
"""

from collections.abc import Callable, Sequence
from functools import partial

from markupsafe import Markup

from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.render import look, render
from casebook.page.table import ALARM, CODE, PLAIN, TEXT, UNBROKEN, Table, unknown
from casebook.page.view import View
from casebook.questions.leadership.analysis import what_if
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.leadership.analysis.what_if import PartitionChange, Supposition, WhatIf

MOST_ROWS, MOST_UNFOLDED = 12, 200
_LABELS = "140px"
_NOBODY = "nobody"  # an ipywidgets selection takes None for nothing selected
_SHOW = {"what changes": False, "only what stays offline": True}
Replay = Callable[[Supposition], WhatIf]


def tried(lead: Leadership, context: PanelContext, *, alive: str, unclean: str, ahead: str) -> View:
    """The panel, or its static twin, at a notebook's parameters, as :func:`what_if.suppose` takes them.

    Raises:
        UsageError: A parameter names a broker or choice that is not there.
    """
    known = {*lead.cluster.live, *lead.dead}
    supposed = what_if.suppose(lead.cluster, known, alive=alive, unclean=unclean, ahead=ahead)
    replay = partial(what_if.replay, lead.cluster, lead.version.version, lead.verdicts, lacking=lead.lacking)
    return panel(lead, supposed, replay, context)


def panel(
    lead: Leadership,
    supposed: Supposition,
    replay: Replay,
    context: PanelContext,
) -> View:
    """The panel, or its static twin.

    Args:
        supposed: The parameters' supposition: the panel's first state.
        replay: Gives the answer to a supposition.
        context: The notebook that it stands in.
    """
    answer = replay(supposed)
    tables = {"what_if": answer.changes}
    if not context.interactive:
        return View(parts=(_answer(lead, answer, source=context.source, at=context.at, framed=True),), tables=tables)
    return View(parts=(_WhatIfPanel(lead, supposed, replay, context.remembered, context.source, context.at).box,), tables=tables)


def _answer(
    lead: Leadership,
    answer: WhatIf,
    *,
    source: str,
    at: str,
    framed: bool = False,
    only_offline: bool = False,
) -> Markup:
    """The answer as HTML.

    Args:
        framed: Show what is supposed as well, in a frame: there are no widgets that say it.
        only_offline: Leave out partitions that have a leader after it.
    """
    changes = [change for change in answer.changes if change.offline or not only_offline]
    return render(
        "what_if",
        framed=framed,
        kind=look(answer.severity),
        answer=answer,
        against=_against(answer),
        brokers=[(b, b in answer.alive, (b in answer.alive) != (b in answer.evidence_alive)) for b in _known(lead)],
        unclean=f"as configured: {_configured(lead)}" if answer.unclean == "as_configured" else answer.unclean,
        changes=_table("what-if", changes[:MOST_ROWS]),
        rest=_table("what-if-rest", changes[MOST_ROWS:MOST_UNFOLDED]) if len(changes) > MOST_ROWS else None,
        total=len(changes),
        version=lead.version.version,
        command_line=text.command("partition_leadership", source, ({"at": at} if at else {}) | dict(answer.parameters)),
    )


def _known(lead: Leadership) -> list[int]:
    return sorted({*lead.cluster.live, *lead.dead})


def _against(answer: WhatIf) -> str:
    """What is supposed other than the evidence says."""
    said = [f"broker {b} {'alive' if b in answer.alive else 'dead'}" for b in sorted({*answer.alive} ^ {*answer.evidence_alive})]
    said += [f"unclean election {answer.unclean}"] * (answer.unclean != "as_configured")
    said += [f"broker {answer.ahead} holds every record"] * (answer.ahead is not None)
    return (
        f"{text.plural(len(said), 'change')} against the evidence: {', '.join(said)}."
        if said
        else "As in the evidence: nothing is changed."
    )


def _table(name: str, changes: Sequence[PartitionChange]) -> Table:
    rows = [(ALARM if c.offline else PLAIN, _cells(c)) for c in changes]
    return Table(
        name=name,
        columns=(("Partition", CODE), ("Leader", UNBROKEN), ("ISR after", CODE), ("Why", TEXT)),
        rows=rows or [(PLAIN, ("none", "–", "–", "Nothing changes, and nothing is without leader."))],
        label="Partitions that change or stay without leader",
    )


def _cells(change: PartitionChange) -> tuple[object, ...]:
    before = "−1" if change.leader_before is None else f"{change.leader_before}{' (dead)' if change.leader_before_dead else ''}"
    after = "−1" if change.leader_after is None else change.leader_after
    isr = unknown() if change.isr_after is None else text.brokers(change.isr_after)
    return (
        f"{change.topic}-{change.partition}",
        Markup("{} → <b>{}</b>").format(before, after),
        isr,
        render("what_if_cell", change=change),
    )


class _WhatIfPanel:
    """Widgets around the answer."""

    def __init__(
        self,
        lead: Leadership,
        supposed: Supposition,
        replay: Replay,
        remembered: dict[str, object],
        source: str,
        at: str,
    ) -> None:
        import ipywidgets as widgets

        self._lead, self._replay, self._remembered = lead, replay, remembered
        self._evidence, self._source, self._at = lead.cluster.live, source, at
        known = _known(lead)
        now = remembered.get("supposed", supposed)
        self._brokers = {broker: widgets.ToggleButton(layout={"width": "auto", "min_width": "62px"}) for broker in known}
        self._unclean = widgets.ToggleButtons(
            options=[(f"as configured: {_configured(lead)}", "as_configured"), ("on", "on"), ("off", "off")],
            style={"button_width": "auto"},
        )
        self._ahead = widgets.Dropdown(
            options=[("do not assume", _NOBODY), *((f"broker {b}", b) for b in known)],
            description="Whose log is ahead",
            style={"description_width": _LABELS},
            layout={"width": "320px"},
        )
        self._show = widgets.Dropdown(
            options=list(_SHOW), description="Show", style={"description_width": "50px"}, layout={"width": "270px"}
        )
        self._back = widgets.Button(description="Back to the evidence", layout={"width": "auto"})
        self._html = widgets.HTML()
        self.box = widgets.VBox(
            [
                _line(_label("Brokers alive"), *self._brokers.values()),
                _line(_label("Unclean election"), self._unclean),
                _line(self._ahead, self._show, self._back),
                self._html,
            ]
        )
        self.box.add_class("cb-panel")
        self._resetting = False
        self._put(now)
        for widget in (*self._brokers.values(), self._unclean, self._ahead, self._show):
            widget.observe(self._changed, "value")
        self._back.on_click(self._reset)
        self._refresh()

    def _put(self, supposed: Supposition) -> None:
        for broker, button in self._brokers.items():
            button.value = broker in supposed.alive
        self._unclean.value = supposed.unclean
        self._ahead.value = _NOBODY if supposed.ahead is None else supposed.ahead
        self._show.value = self._remembered.get("show", next(iter(_SHOW)))

    def _supposed(self) -> Supposition:
        alive = frozenset(broker for broker, button in self._brokers.items() if button.value)
        ahead = None if self._ahead.value == _NOBODY else self._ahead.value
        return Supposition(alive=alive, unclean=self._unclean.value, ahead=ahead)

    def _changed(self, _change: object) -> None:
        if self._resetting:
            return
        self._remembered |= {"supposed": self._supposed(), "show": self._show.value}
        self._refresh()

    def _reset(self, _button: object) -> None:
        self._resetting = True  # many values change, one answer follows
        self._put(Supposition(alive=self._evidence))
        self._resetting = False
        self._changed(None)

    def _refresh(self) -> None:
        for broker, button in self._brokers.items():
            button.description = f"{'✓' if button.value else '✕'} {broker}"
            evident = "alive" if broker in self._evidence else "dead"
            button.tooltip = f"broker {broker} {'alive' if button.value else 'dead'}; in the evidence {evident}"
            (button.add_class if button.value != (broker in self._evidence) else button.remove_class)("cb-changed")
        try:
            answer = self._replay(self._supposed())
            only_offline = _SHOW[self._show.value]
            self._html.value = str(_answer(self._lead, answer, source=self._source, at=self._at, only_offline=only_offline))
        except Exception as error:  # an exception in a callback shows nowhere: the panel itself must say it
            self._html.value = str(render("failed", what=f"{type(error).__name__}: {error}"))


def _configured(lead: Leadership) -> str:
    """How unclean election is configured: on, off, by topic, or unknown."""
    values = {verdict.unclean_allowed for verdict in lead.verdicts}
    return {True: "on", False: "off", None: "unknown"}[values.pop()] if len(values) == 1 else "by topic" if values else "unknown"


def _label(words: str) -> object:
    import ipywidgets as widgets

    return widgets.Label(words, layout={"width": _LABELS, "justify_content": "flex-end"})


def _line(*controls: object) -> object:
    import ipywidgets as widgets

    return widgets.HBox(list(controls), layout={"flex_flow": "row wrap", "align_items": "center"})
