"""A box for the address of a cluster's brokers, with the case; without widgets, the equivalent command."""

from collections.abc import Callable

from markupsafe import Markup

from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.panel import Panel
from casebook.page.render import render
from casebook.page.view import View

_HEADLESS = "JupyterLab shows a box here. Headless, this command makes the same case:"
_COMMAND = "casebook collect --bootstrap HOST:9092 --client-config client.properties --out my-case"


def box(collect: Callable[[str, str], str], context: PanelContext) -> View:
    """Show the box, or its static twin.

    Args:
        collect: Collects a case from an address and the path of a client's properties, ``""`` for none; returns its source.
        context: Context in the notebook.
    """
    if not context.interactive:
        return View(parts=(render("made_case", source=None, headless=_HEADLESS, commands=(_COMMAND,)),))
    return View(parts=(_widgets(collect, context.remembered),))


def _widgets(collect: Callable[[str, str], str], remembered: dict[str, object]) -> object:
    import ipywidgets as widgets

    look = {
        "style": {"description_width": "150px"},
        "layout": {"width": "100%", "max_width": "760px"},
        "continuous_update": False,
    }
    address = widgets.Text(placeholder="kafka1:9092,kafka2:9092", description="Bootstrap address", **look)
    config = widgets.Text(placeholder="/path/to/client.properties, or empty", description="Client properties", **look)
    button = widgets.Button(description="Ask the brokers", layout={"width": "180px"})

    def answer(now: dict[str, object]) -> Markup:
        source = collect(now["bootstrap"], now["client_config"])
        return render("made_case", source=source, said=(), commands=(text.command("triage", source, {}),))

    return Panel(
        (address, config, button), {"bootstrap": address, "client_config": config}, answer, remembered,
        working="Asking the brokers …", asked=button,
    ).box  # fmt: skip
