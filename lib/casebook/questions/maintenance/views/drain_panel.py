"""A drain planned anew with every change: whom, without whom, how fast, in which steps. The files can be saved at once.

Stock ipywidgets, the answer in one HTML value, as in the what-if panel; without widgets the same answer stands at the parameters.
"""

from collections.abc import Mapping

from markupsafe import Markup

from casebook.errors import UsageError
from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.render import render
from casebook.page.view import View
from casebook.questions.maintenance.analysis.maintenance import Maintenance
from casebook.questions.maintenance.views.drain import drain

Asked = Mapping[str, str | float]
"""The parameters of a drain by name."""

_LABELS = "140px"


def panel(m: Maintenance, context: PanelContext, **asked: str | float) -> View:
    """The panel, or its static twin.

    Args:
        context: The notebook that it stands in.
        asked: The parameters: the panel's first state.
    """
    static = drain(m.drain, source=context.source)
    if not context.interactive:
        return static
    return View(parts=(_DrainPanel(m, asked, context.remembered, context.source).box,), tables=static.tables)


class _DrainPanel:
    """Widgets around the plan."""

    def __init__(self, m: Maintenance, asked: Asked, remembered: dict[str, object], source: str) -> None:
        import ipywidgets as widgets

        self._m, self._remembered, self._source = m, remembered, source
        now = dict(asked) | dict(remembered.get("drain", {}))
        texts = {"drain": ("Drain", "2 or 2,5"), "exclude": ("Exclude", "nobody"), "targets": ("Only targets", "all that live")}
        style, wide, narrow = {"description_width": _LABELS}, {"width": "300px"}, {"width": "240px"}
        self._fields: dict[str, object] = {
            name: widgets.Text(
                value=str(now[name]), description=label, placeholder=hint, continuous_update=False, style=style, layout=wide
            )
            for name, (label, hint) in texts.items()
        }
        for name, label, least, of in (
            ("throttle", "Throttle, MB/s", 0.0, widgets.BoundedFloatText),
            ("moves", "Replicas a step", 1, widgets.BoundedIntText),
            ("min_rf", "Replicas at least", 1, widgets.BoundedIntText),
        ):
            self._fields[name] = of(
                value=now[name], min=least, max=1_000_000, description=label, continuous_update=False, style=style, layout=narrow
            )
        self._html = widgets.HTML()
        fields = list(self._fields.values())
        row = {"flex_flow": "row wrap", "align_items": "center"}
        self.box = widgets.VBox([widgets.HBox(fields[:3], layout=row), widgets.HBox(fields[3:], layout=row), self._html])
        self.box.add_class("cb-panel")
        for field in fields:
            field.observe(self._changed, "value")
        self._refresh()

    def _changed(self, _change: object) -> None:
        self._remembered["drain"] = self._asked()
        self._refresh()

    def _asked(self) -> dict[str, str | float]:
        return {name: field.value for name, field in self._fields.items()}

    def _refresh(self) -> None:
        try:
            self._html.value = str(self._answer(self._asked()))
        except UsageError as error:
            self._html.value = str(render("said", words=str(error)))
        except Exception as error:  # an exception in a callback shows nowhere: the panel itself must say it
            self._html.value = str(render("failed", what=f"{type(error).__name__}: {error}"))

    def _answer(self, asked: Asked) -> Markup:
        planned = self._m.drained(**asked)
        shown = Markup("").join(drain(planned, source=self._source, kept=False).parts)
        if planned is None:
            return shown
        given = {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in asked.items()}
        command = text.command(
            "broker_maintenance", self._source, {name: value for name, value in given.items() if value not in ("", "0")}
        )
        return shown + render("headless", command_line=command)
