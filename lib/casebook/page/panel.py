"""A panel in JupyterLab: fields for a person, and below them the answer.

Stock ipywidgets with the answer in one HTML value: no layout jumps and no chart library. Without widgets the same answer is shown
for the notebook's parameters; that twin is up to the view, which also shows the parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from markupsafe import Markup

from casebook.errors import CasebookError, UsageError
from casebook.page.render import render

LABELS = "140px"
"""How wide names of fields are that stand below one another."""


class Panel:
    """Fields with their answer, updated on each change; choices are kept when a cell is rerun.

    Args:
        rows: Content above the answer, with the fields.
        fields: By the name that they are remembered under, each with the value that it has at first: a notebook's parameter.
        answer: Returns the answer for the fields' values; an error is shown in its place.
        remembered: A person's choices by name; values that a field no longer accepts are ignored.
        working: Text during the computation; ``""`` when fast.
        asked: Button that requests the answer, when it does not follow each change.
    """

    def __init__(
        self,
        rows: Sequence[object],
        fields: Mapping[str, object],
        answer: Callable[[Mapping[str, object]], Markup],
        remembered: dict[str, object],
        *,
        working: str = "",
        asked: object = None,
    ) -> None:
        from ipywidgets import HTML
        from traitlets import TraitError

        self._fields, self._answer, self._remembered, self._working = fields, answer, remembered, working
        self._quiet = False
        self.html = HTML()
        self.box = boxed(*rows, self.html)
        for name, field in fields.items():
            with suppress(KeyError, TraitError):
                field.value = remembered[name]
        if asked is not None:
            asked.on_click(self._changed)
            return
        for field in fields.values():
            field.observe(self._changed, "value")
        self.refresh()

    @property
    def values(self) -> dict[str, object]:
        """Return the values of the fields."""
        return {name: field.value for name, field in self._fields.items()}

    def put(self, values: Mapping[str, object]) -> None:
        """Set several fields; one answer follows."""
        self._quiet = True
        for name, value in values.items():
            self._fields[name].value = value
        self._quiet = False
        self._changed()

    def refresh(self) -> None:
        """Show the answer for the current values."""
        if self._working:
            self.html.value = str(render("working", what=self._working))
        show(self.html, lambda: self._answer(self.values))

    def _changed(self, _change: object = None) -> None:
        if not self._quiet:
            self._remembered |= self.values
            self.refresh()


def show(html: object, answer: Callable[[], Markup]) -> None:
    """Show an answer, or why there is none: an exception in a callback shows nowhere else."""
    try:
        html.value = str(answer())
    except UsageError as error:  # a field has an invalid value
        html.value = str(render("said", words=str(error)))
    except CasebookError as error:
        html.value = str(render("failed", what=str(error)))
    except Exception as error:
        html.value = str(render("failed", what=f"{type(error).__name__}: {error}"))


def boxed(*parts: object) -> object:
    """The frame of a panel, around parts that stand below one another."""
    from ipywidgets import VBox

    box = VBox(parts)
    box.add_class("cb-panel")
    return box


def line(*controls: object) -> object:
    """Controls beside one another, as far as there is room."""
    from ipywidgets import HBox

    return HBox(controls, layout={"flex_flow": "row wrap", "align_items": "center"})


def label(words: str) -> object:
    """Return the label before the controls of a line."""
    from ipywidgets import Label

    return Label(words, layout={"width": LABELS, "justify_content": "flex-end"})


def button(words: str, pressed: Callable[[], None], tooltip: str = "") -> object:
    """A button as wide as its words.

    Args:
        pressed: Action.
    """
    from ipywidgets import Button

    made = Button(description=words, tooltip=tooltip or None, layout={"width": "auto"})
    made.on_click(lambda _: pressed())
    return made
