"""A drain that is planned again on every change: brokers, exclusions, throttle, steps. The files can be saved at once."""

from collections.abc import Mapping

from markupsafe import Markup

from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.panel import LABELS, Panel, line
from casebook.page.render import render
from casebook.page.view import View
from casebook.questions.maintenance.analysis.maintenance import Maintenance
from casebook.questions.maintenance.views.drain import drain

Asked = Mapping[str, str | float]
"""Parameters of a drain by name."""


def panel(m: Maintenance, context: PanelContext, **asked: str | float) -> View:
    """Show the panel, or its static twin.

    Args:
        context: Context in the notebook.
        asked: Initial parameters.
    """
    static = drain(m.drain, source=context.source)
    if not context.interactive:
        return static
    return View(parts=(_widgets(m, asked, context),), tables=static.tables)


def _widgets(m: Maintenance, asked: Asked, context: PanelContext) -> object:
    import ipywidgets as widgets

    common = {"continuous_update": False, "style": {"description_width": LABELS}}
    fields: dict[str, object] = {}
    for name, words, hint in (
        ("drain", "Drain", "2 or 2,5"),
        ("exclude", "Exclude", "none"),
        ("targets", "Only targets", "all that live"),
    ):
        fields[name] = widgets.Text(
            value=str(asked[name]), description=words, placeholder=hint, layout={"width": "300px"}, **common
        )
    for name, words, least, of in (
        ("throttle", "Throttle, MB/s", 0.0, widgets.BoundedFloatText),
        ("moves", "Replicas a step", 1, widgets.BoundedIntText),
        ("min_rf", "Replicas at least", 1, widgets.BoundedIntText),
    ):
        fields[name] = of(value=asked[name], min=least, max=1_000_000, description=words, layout={"width": "240px"}, **common)
    several = list(fields.values())
    rows = line(*several[:3]), line(*several[3:])
    return Panel(rows, fields, lambda now: _answer(m, now, context.source), context.remembered).box


def _answer(m: Maintenance, asked: Asked, source: str) -> Markup:
    planned = m.drained(**asked)
    shown = Markup("").join(drain(planned, source=source, kept=False).parts)
    if planned is None:
        return shown
    given = {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in asked.items()}
    command = text.command("broker_maintenance", source, {name: value for name, value in given.items() if value not in ("", "0")})
    return shown + render("headless", command_line=command)
