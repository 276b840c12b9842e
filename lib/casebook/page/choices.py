"""Choices: widgets in JupyterLab, plain values headless."""

from collections.abc import Sequence


def choose(name: str, options: Sequence[str], *, default: str, remembered: dict[str, object]) -> str:
    """Show a search box with the options; return the chosen value when the cell runs.

    A person chooses, then runs the cells below: the choice is kept when this cell runs again.
    """
    import ipywidgets as widgets
    from IPython.display import display

    now = str(remembered.get(name, default))
    box = widgets.Combobox(value=now, options=list(options), placeholder="all", description=name, ensure_option=False)
    box.observe(lambda change: remembered.__setitem__(name, change["new"] if change["new"] in options else ""), "value")
    row = widgets.Layout(flex_flow="row wrap")  # on a narrow page, the label stands below the box
    display(widgets.HBox([box, widgets.Label("then run the cells below")], layout=row))
    return now if now in options else ""
