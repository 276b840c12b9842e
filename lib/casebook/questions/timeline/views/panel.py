"""Fields above the figure in JupyterLab: from, to, topic or partition, group, broker. Everything below follows.

Each part below is one HTML value. A range brushed in the figure, and a clicked event, arrive in two hidden fields.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from casebook.page.panel import Panel, button, line, show
from casebook.page.view import View
from casebook.questions.timeline.analysis.selection import Selection, parse
from casebook.questions.timeline.analysis.timeline import Timeline

_MOST_OFFERED = 5000
_LABELS = {"since": "From", "until": "To", "topic": "Topic", "group": "Group", "broker": "Broker"}
_HINTS = {"since": "of the incident", "until": "of the incident", "topic": "all; or orders-3"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSubject:
    """Callbacks of the panel.

    Args:
        quote: Shows the evidence of a proof; ``None`` when impossible.
        proof_at: Proof of a click; ``None`` for none.
        said: Selection in words.
    """

    quote: Callable[[str], View] | None
    proof_at: Callable[[str], str | None]
    said: Callable[[], str]


class TimelinePanel:
    """The fields, and what follows them.

    Args:
        found: Timeline, with the possible values.
        chosen: Initial selection, from the parameters.
        remembered: A person's choices.
        asked: Callbacks.
        choose: Applies a selection.
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

        self._found, self._asked, self._take = found, asked, choose
        self._following: list[tuple[object, Callable[[], Markup]]] = []
        first, offered = chosen.parameters(), _offered(found)
        fields = {name: _field(name, first.get(name, ""), offered.get(name, ())) for name in _LABELS}
        brushed, clicked = (_unseen(name) for name in ("cb-brushed", "cb-clicked"))
        back = button("Back to the incident", lambda: self._panel.put(dict.fromkeys(fields, "")))
        self._panel = Panel((line(*fields.values(), back), brushed, clicked), fields, self._chosen, remembered)
        self.controls, self.answer = self._panel.box, widgets.HTML()
        brushed.observe(self._on_brush, "value")
        clicked.observe(self._on_click, "value")

    def following(self, html: Callable[[], Markup], *, at_once: bool = True) -> object:
        """Return a widget with HTML that is updated on each selection.

        Args:
            at_once: Whether to show it now.
        """
        import ipywidgets as widgets

        part = widgets.HTML(str(html()) if at_once else "")
        self._following.append((part, html))
        return part

    def _chosen(self, values: Mapping[str, str]) -> Markup:
        """Return nothing for the selection itself: everything below follows it."""
        self._take(parse(self._found, **values))
        for part, html in self._following:
            part.value = str(html())
        return Markup()

    def _on_brush(self, change: Mapping[str, object]) -> None:
        since, _, until = str(change["new"]).partition("|")
        if since and until:
            self._panel.put({"since": since, "until": until})

    def _on_click(self, change: Mapping[str, object]) -> None:
        target = str(change["new"]).partition("|")[0]
        proof = self._asked.proof_at(target) if target else None
        if proof is not None and self._asked.quote is not None:
            show(self.answer, lambda: Markup("".join(map(str, self._asked.quote(proof).parts))))


def _offered(found: Timeline) -> dict[str, list[str]]:
    """Return the values in the evidence."""
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
    """Return a field for the script."""
    import ipywidgets as widgets

    field = widgets.Text(continuous_update=False)
    field.add_class(name)
    field.add_class("cb-unseen")
    return field
