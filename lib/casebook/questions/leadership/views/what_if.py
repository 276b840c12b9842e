"""What-if panel: live brokers, unclean election, and most complete log; the answer follows at once."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from markupsafe import Markup

from casebook.findings import words
from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.panel import LABELS, Panel, button, label, line
from casebook.page.render import look, render
from casebook.page.table import ALARM, CODE, PLAIN, TEXT, UNBROKEN, Table, or_unknown
from casebook.page.view import View
from casebook.questions.leadership.analysis import what_if
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.leadership.analysis.what_if import PartitionChange, Supposition, WhatIf

MOST_ROWS, MOST_UNFOLDED = 12, 200
_SHOW = {"what changes": False, "only what stays offline": True}
Replay = Callable[[Supposition], WhatIf]


def tried(lead: Leadership, context: PanelContext, *, alive: str, unclean: str, ahead: str) -> View:
    """Show the panel, or its static twin, for a notebook's parameters, see :func:`what_if.suppose`.

    Raises:
        UsageError: A parameter names an unknown broker or choice.
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
    """Show the panel, or its static twin.

    Args:
        supposed: Initial assumption, from the parameters.
        replay: Returns the answer for an assumption.
        context: Context in the notebook.
    """
    answer = replay(supposed)
    tables = {"what_if": answer.changes}
    if not context.interactive:
        return View(parts=(_answer(lead, answer, source=context.source, at=context.at, framed=True),), tables=tables)

    def shown(supposed: Supposition, *, only_offline: bool) -> Markup:
        return _answer(lead, replay(supposed), source=context.source, at=context.at, only_offline=only_offline)

    return View(parts=(_widgets(lead, supposed, shown, context.remembered),), tables=tables)


def _answer(
    lead: Leadership,
    answer: WhatIf,
    *,
    source: str,
    at: str,
    framed: bool = False,
    only_offline: bool = False,
) -> Markup:
    """Return the answer as HTML.

    Args:
        framed: Also show the assumption in a frame: without widgets nothing else shows it.
        only_offline: Leave out partitions that get a leader.
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
    """Describe the differences between assumption and evidence."""
    said = [f"broker {b} {'alive' if b in answer.alive else 'dead'}" for b in sorted({*answer.alive} ^ {*answer.evidence_alive})]
    said += [f"unclean election {answer.unclean}"] * (answer.unclean != "as_configured")
    said += [f"broker {answer.ahead} holds every record"] * (answer.ahead is not None)
    return (
        f"{words.plural(len(said), 'change')} from the evidence: {', '.join(said)}."
        if said
        else "Same as the evidence: no changes."
    )


def _table(name: str, changes: Sequence[PartitionChange]) -> Table:
    rows = [(ALARM if c.offline else PLAIN, _cells(c)) for c in changes]
    return Table(
        name=name,
        columns=(("Partition", CODE), ("Leader", UNBROKEN), ("ISR after", CODE), ("Why", TEXT)),
        rows=rows or [(PLAIN, ("none", "–", "–", "No changes, and no partition is without leader."))],
        label="Partitions that change or stay without leader",
    )


def _cells(change: PartitionChange) -> tuple[object, ...]:
    before = "−1" if change.leader_before is None else f"{change.leader_before}{' (dead)' if change.leader_before_dead else ''}"
    after = "−1" if change.leader_after is None else change.leader_after
    isr = or_unknown(change.isr_after, words.listed)
    return (
        f"{change.topic}-{change.partition}",
        Markup("{} → <b>{}</b>").format(before, after),
        isr,
        render("what_if_cell", change=change),
    )


def _widgets(lead: Leadership, supposed: Supposition, shown: Callable[..., Markup], remembered: dict[str, object]) -> object:
    import ipywidgets as widgets

    evidence = lead.cluster.live
    brokers = {
        broker: widgets.ToggleButton(value=broker in supposed.alive, layout={"width": "auto", "min_width": "62px"})
        for broker in _known(lead)
    }
    unclean = widgets.ToggleButtons(
        options=[(f"as configured: {_configured(lead)}", "as_configured"), ("on", "on"), ("off", "off")],
        value=supposed.unclean,
        style={"button_width": "auto"},
    )
    ahead = widgets.Dropdown(  # a selection treats None as nothing selected
        options=[("do not assume", what_if.NONE), *((f"broker {b}", b) for b in brokers)],
        value=what_if.NONE if supposed.ahead is None else supposed.ahead,
        description="Broker with all records",
        style={"description_width": LABELS},
        layout={"width": "320px"},
    )
    show = widgets.Dropdown(
        options=list(_SHOW), description="Show", style={"description_width": "50px"}, layout={"width": "270px"}
    )
    names = {f"broker {broker}": toggle for broker, toggle in brokers.items()}

    def answer(values: Mapping[str, object]) -> Markup:
        for broker, toggle in brokers.items():
            _mark(toggle, broker, broker in evidence)
        alive = frozenset(broker for broker, toggle in brokers.items() if toggle.value)
        whose = None if values["ahead"] == what_if.NONE else values["ahead"]
        now = Supposition(alive=alive, unclean=values["unclean"], ahead=whose)
        return shown(now, only_offline=_SHOW[values["show"]])

    def reset() -> None:
        alive = {name: broker in evidence for name, broker in zip(names, brokers, strict=True)}
        panel.put(alive | {"unclean": "as_configured", "ahead": what_if.NONE})

    back = button("Back to the evidence", reset)
    rows = (
        line(label("Brokers alive"), *brokers.values()),
        line(label("Unclean election"), unclean),
        line(ahead, show, back),
    )
    panel = Panel(rows, names | {"unclean": unclean, "ahead": ahead, "show": show}, answer, remembered)
    return panel.box


def _mark(toggle: object, broker: int, evident: bool) -> None:
    """Show a broker's assumption on its button, and whether the evidence agrees."""
    toggle.description = f"{'✓' if toggle.value else '✕'} {broker}"
    supposed, found = ("alive" if alive else "dead" for alive in (toggle.value, evident))
    toggle.tooltip = f"broker {broker} {supposed}; in the evidence {found}"
    (toggle.add_class if toggle.value != evident else toggle.remove_class)("cb-changed")


def _configured(lead: Leadership) -> str:
    """Return the configuration of unclean election: on, off, by topic, or unknown."""
    values = {verdict.unclean_allowed for verdict in lead.verdicts}
    return {True: "on", False: "off", None: "unknown"}[values.pop()] if len(values) == 1 else "by topic" if values else "unknown"
