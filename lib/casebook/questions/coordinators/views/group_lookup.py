"""Lookup of one group: hash, partition, coordinator, state, response to clients. A text field, or its static twin."""

from markupsafe import Markup

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.findings import words
from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.panel import Panel
from casebook.page.render import render
from casebook.page.view import View
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.coordinators.analysis.rows import LookUp
from casebook.questions.coordinators.analysis.served_at import about, served_at
from casebook.questions.coordinators.analysis.states import CoordinatorState

_MOST_OFFERED = 5000
_KINDS = {
    CoordinatorState.SERVED: "ok",
    CoordinatorState.UNKNOWN: "could_not_check",
    CoordinatorState.MOVED: "could_not_check",
    CoordinatorState.FAILED: "critical",
    CoordinatorState.LEADERLESS: "critical",
    CoordinatorState.LOADING_FOR_EVER: "critical",
    CoordinatorState.LOADING: "warning",
    CoordinatorState.QUEUED: "warning",
}


def panel(c: Coordinators, context: PanelContext, *, group: str) -> View:
    """Show the panel, or its static twin.

    Args:
        group: Initial group, from the parameter; ``""`` for none.
        context: Context in the notebook.
    """
    if not context.interactive:
        return View(parts=(_answer(c, group, source=context.source, framed=True),))
    return View(parts=(_widgets(c, group, context),))


def _widgets(c: Coordinators, group: str, context: PanelContext) -> object:
    import ipywidgets as widgets

    field = widgets.Combobox(
        value=group,
        options=list(c.groups[:_MOST_OFFERED]),
        placeholder="name of a group",
        description="Group",
        continuous_update=True,
        layout={"width": "420px", "max_width": "100%"},
    )
    return Panel((field,), {"group": field}, lambda now: _answer(c, now["group"], source=context.source), context.remembered).box


def _answer(c: Coordinators, group: str, *, source: str, framed: bool = False) -> Markup:
    found = c.look_up(group) if group else None
    return render(
        "group_lookup",
        framed=framed,
        known=f"{words.plural(len(c.groups), 'group') if c.groups else 'no group'} known from the evidence",
        found=found,
        kind=_kind(found) if found else "",
        result=_result(c, found) if found else "",
        steps=_steps(found) if found else (),
        command_line=text.command("group_coordinators", source, {"group": group}),
    )


def _kind(found: LookUp) -> str:
    return _KINDS[found.waiting.judged.state] if found.waiting else "could_not_check"


def _result(c: Coordinators, found: LookUp) -> str:
    """Return the answer in one sentence, with its number."""
    if found.waiting is None:
        return "unknown: its partition is not in the evidence"
    state, eta = found.waiting.judged.state, found.waiting.eta
    if state not in (CoordinatorState.LOADING, CoordinatorState.QUEUED):
        return {
            CoordinatorState.SERVED: "served by its coordinator",
            CoordinatorState.FAILED: "served, but from a failed load: commits are missing",
            CoordinatorState.LEADERLESS: "no coordinator: its partition has no leader",
            CoordinatorState.LOADING_FOR_EVER: "never served: the load of its partition does not end",
            CoordinatorState.MOVED: "its coordinator moved; whether the new one serves it is unknown",
        }.get(state, "unknown whether it is served")
    if eta is None or eta.mid is None:
        return f"{state}: the time is unknown"
    left = f", {about((eta.mid - c.at) / 1000)} from the end of the evidence" if c.at else ""
    return f"{state}: served at {served_at(eta, c.at)} UTC{left}"


def _steps(found: LookUp) -> list[tuple[str, object, str]]:
    """Return label, value, and basis."""
    judged = found.waiting.judged if found.waiting else None
    since = f"since {words.clock(judged.since)} UTC" if judged and judged.since else ""
    code = Markup("<code>{}</code>")
    count = found.topic.count
    partition = Markup("mod {} → <code>{}-{}</code>").format(count, OFFSETS_TOPIC, found.partition) if count else "unknown"
    coordinator = "unknown" if judged is None or judged.coordinator is None else f"broker {judged.coordinator}"
    if judged is not None and judged.state is CoordinatorState.LEADERLESS:
        coordinator = "none"
    isr = f"ISR {words.listed(judged.isr)}" if judged and judged.isr is not None else "no state znode"
    return [
        ("Hash", Markup("{} → <code>{}</code>").format(code.format(found.group), found.hash), "Java hash over UTF-16"),
        ("Partition", partition, f"from {found.topic.origin}" + (", assumed" if found.topic.assumed else "")),
        ("Coordinator", coordinator, isr),
        (
            "State",
            str(judged.state).replace("_", " ") if judged else "unknown",
            judged.why if judged else "not in the evidence",
        ),
        ("Client sees", _breakable(found.client_sees), since),
    ]


def _breakable(name: str) -> Markup:
    """Allow line breaks after underscores of a long constant."""
    return Markup("_<wbr>").join(name.split("_"))
