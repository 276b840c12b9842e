"""The fields above the picture in JupyterLab: from, to, topic or partition, group, broker. Everything below follows.

Stock ipywidgets; each part is one HTML value, which neither jumps nor carries a chart library. A stretch that is brushed in
the picture, and an event that is clicked, arrive in two fields that nobody sees.
"""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from casebook.errors import CasebookError
from casebook.page.render import render
from casebook.page.view import View
from casebook.questions.timeline.analysis.selection import Selection, parse
from casebook.questions.timeline.analysis.timeline import Timeline

_MOST_OFFERED = 5000
_LABELS = {"since": "From", "until": "To", "topic": "Topic", "group": "Group", "broker": "Broker"}
_HINTS = {"since": "of the incident", "until": "of the incident", "topic": "all; or orders-3"}
_FIELDS = tuple(_LABELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSubject:
    """Whom the panel asks.

    Args:
        quote: Shows the evidence behind a proof; ``None`` when nobody can.
        proof_at: The proof that a click means; ``None`` for none.
        said: The choice in words.
    """

    quote: Callable[[str], View] | None
    proof_at: Callable[[str], str | None]
    said: Callable[[], str]


class TimelinePanel:
    """The fields, and what follows them.

    Args:
        found: The timeline: what can be chosen.
        chosen: The parameters' choice.
        remembered: What the person chose.
        asked: Who answers.
        choose: Takes a choice over.
    """

    def __init__(
        self,
        found: Timeline,
        chosen: Selection,
        remembered: dict[str, object],
        asked: PanelSubject,
        choose: Callable[[Selection], None],
    ) -> None:
        import ipywidgets as widgets

        self._found, self._remembered, self._asked, self._take = found, remembered, asked, choose
        self._following: list[tuple[object, Callable[[], Markup]]] = []
        now = remembered.get("timeline", chosen.parameters())
        offered = _offered(found)
        self._fields = {name: _field(name, now.get(name, ""), offered.get(name, ())) for name in _FIELDS}
        self._brushed, self._clicked = (_unseen(name) for name in ("cb-brushed", "cb-clicked"))
        back = widgets.Button(description="Back to the incident", layout={"width": "auto"})
        self._state = widgets.HTML()
        self.answer = widgets.HTML()
        row = widgets.HBox([*self._fields.values(), back], layout={"flex_flow": "row wrap", "align_items": "center"})
        self.controls = widgets.VBox([row, self._brushed, self._clicked, self._state])
        self.controls.add_class("cb-panel")
        self._quiet = False
        self.chosen = self._read(chosen)
        for field in self._fields.values():
            field.observe(self._changed, "value")
        self._brushed.observe(self._on_brush, "value")
        self._clicked.observe(self._on_click, "value")
        back.on_click(self._reset)

    def following(self, html: Callable[[], Markup], *, at_once: bool = True) -> object:
        """A widget that shows HTML, and shows it anew whenever the choice changes.

        Args:
            at_once: Whether it shows it already now.
        """
        import ipywidgets as widgets

        part = widgets.HTML(str(html()) if at_once else "")
        self._following.append((part, html))
        return part

    def _read(self, fallback: Selection) -> Selection:
        """The choice that the fields say; another one where they say none, with the reason shown."""
        try:
            chosen = parse(self._found, **{name: field.value for name, field in self._fields.items()})
        except CasebookError as error:
            self._state.value = str(render("failed", what=str(error)))
            return fallback
        self._state.value = ""
        return chosen

    def _changed(self, _change: object = None) -> None:
        if self._quiet:
            return
        self._remembered["timeline"] = {name: field.value for name, field in self._fields.items()}
        self.chosen = self._read(self.chosen)
        self._refresh()

    def _refresh(self) -> None:
        try:
            self._take(self.chosen)
            for part, html in self._following:
                part.value = str(html())
        except Exception as error:  # an exception in a callback shows nowhere: the panel itself must say it
            self._state.value = str(render("failed", what=f"{type(error).__name__}: {error}"))

    def _put(self, values: dict[str, str]) -> None:
        """Set several fields, and answer once."""
        self._quiet = True
        for name, value in values.items():
            self._fields[name].value = value
        self._quiet = False
        self._changed()

    def _on_brush(self, change: dict[str, object]) -> None:
        since, _, until = str(change["new"]).partition("|")
        if since and until:
            self._put({"since": since, "until": until})

    def _reset(self, _button: object) -> None:
        self._put(dict.fromkeys(_FIELDS, ""))

    def _on_click(self, change: dict[str, object]) -> None:
        target = str(change["new"]).partition("|")[0]
        proof = self._asked.proof_at(target) if target else None
        if proof is None or self._asked.quote is None:
            return
        try:
            self.answer.value = "".join(str(part) for part in self._asked.quote(proof).parts)
        except Exception as error:  # as above
            self.answer.value = str(render("failed", what=f"{type(error).__name__}: {error}"))


def _offered(found: Timeline) -> dict[str, list[str]]:
    """What the evidence names."""
    partitions = {(row.topic, row.partition) for row in found.partition_history}
    topics = {row.topic for row in found.rows if row.topic} | {topic for topic, _ in partitions}
    brokers = {file.broker for file in found.files} | {span.broker for span in found.spans}
    groups = {row.group for row in found.rows if row.group}
    return {
        "topic": [*sorted(topics), *(f"{topic}-{number}" for topic, number in sorted(partitions))][:_MOST_OFFERED],
        "group": sorted(groups)[:_MOST_OFFERED],
        "broker": [str(broker) for broker in sorted(b for b in brokers if b is not None)],
    }


def _field(name: str, value: str, options: object) -> object:
    import ipywidgets as widgets

    common = {"value": value, "description": _LABELS[name], "continuous_update": False, "placeholder": _HINTS.get(name, "all")}
    layout = {"width": "250px" if name in ("since", "until", "topic", "group") else "150px", "max_width": "100%"}
    common |= {"layout": layout, "style": {"description_width": "62px"}}
    return widgets.Combobox(options=tuple(options), ensure_option=False, **common) if options else widgets.Text(**common)


def _unseen(name: str) -> object:
    """A field that the script writes into."""
    import ipywidgets as widgets

    field = widgets.Text(continuous_update=False)
    field.add_class(name)
    field.add_class("cb-unseen")
    return field
