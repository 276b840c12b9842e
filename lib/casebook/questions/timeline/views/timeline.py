"""Notebook 60: figure, story and tables of a timeline, all with one selection.

Headless, the selection comes from the notebook's parameters. In JupyterLab it is a row of fields above the figure, or a range
brushed in it, and everything below follows; in a report a small script hides the rows outside a brushed range.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from markupsafe import Markup

from casebook.findings import words
from casebook.kafka.past_rows import EventRow, WindowKind
from casebook.page import lanes_figure, text
from casebook.page.context import PanelContext
from casebook.page.render import render, script_safe
from casebook.page.view import Figure, View
from casebook.questions.timeline.analysis import selection
from casebook.questions.timeline.analysis.selection import Events, HeldEvents, Selection, focus
from casebook.questions.timeline.analysis.timeline import Timeline
from casebook.questions.timeline.views import causes, host_lanes, panel, tables
from casebook.questions.timeline.views import story as timeline_story
from casebook.questions.timeline.views import strips as timeline_strips
from casebook.questions.timeline.views.hosts import second
from casebook.questions.timeline.views.lanes import MOST_EVENTS, Drawing
from casebook.questions.timeline.views.story import cites


def page(
    found: Timeline, context: PanelContext, *, events: Events | None = None, since: str = "", until: str = "", topic: str = "",
    partition: str = "", group: str = "", broker: str = "",
) -> "TimelinePage":  # fmt: skip
    """Return the figure, the story and the tables of a timeline, all with one selection.

    Args:
        events: Events, if more than fit in memory.

    Raises:
        UsageError: A parameter is not a moment or not a number.
    """
    chosen = selection.parse(found, since=since, until=until, topic=topic, partition=partition, group=group, broker=broker)
    return TimelinePage(found, chosen, context, events=events)


class TimelinePage:
    """Content of notebook 60.

    Args:
        found: The timeline.
        chosen: Initial selection, from the parameters.
        context: Context in the notebook.
        events: Events, if more than fit in memory; else the timeline's own rows.
    """

    def __init__(
        self,
        found: Timeline,
        chosen: Selection,
        context: PanelContext,
        *,
        events: Events | None = None,
    ) -> None:
        self._found, self._source, self._name = found, context.source, context.case
        self._events = HeldEvents(found.rows) if events is None else events
        self._chosen, self._drawn = chosen, None
        self._panel = None
        if context.interactive:
            asked = Asked(quote=context.quote, proof_at=self._proof_at, said=self._selection_text)
            self._panel = panel.TimelinePanel(found, chosen, context.remembered, asked, self._choose)

    def lanes(self) -> View:
        """Show the figure, with the parts above and below it."""
        shown = self._drawing()
        above, below = self._part(self._caption), self._part(self._below)
        if self._panel is None:
            parts = (above, self._controls(shown), *self._figure(shown), below)
        else:
            redrawn = self._panel.following(self._redrawn, at_once=False)
            parts = (self._panel.controls, above, *self._figure(shown), redrawn, self._panel.answer, below)
        return View(parts=parts, cites=self._event_cites() + cites(_proofs_of_strips(shown)))

    def story(self) -> View:
        """Show the events in sentences."""
        numbered = timeline_story.told(self._found, self._chosen)
        return self._view(self._story, cited=cites(timeline_story.proofs(numbered)))

    def roots(self) -> View:
        """Show root candidates, host outliers, and reliability of the clocks."""
        hosts = self._found.hosts
        return self._view(
            lambda: Markup("").join(
                (
                    causes.roots(self._found, self._chosen),
                    host_lanes.table(hosts, self._chosen),
                    causes.clocks(self._found),
                )
            ),
            cited=cites(host_lanes.proofs(hosts)),
        )

    def chains(self) -> View:
        """Show consequences."""
        return self._view(lambda: causes.chains(self._found, self._chosen), cited=cites(causes.proofs(self._found)))

    def windows(self) -> View:
        """Show every window."""
        return self._view(lambda: render("plain_table", table=tables.windows(self._found, self._chosen)))

    def events(self) -> View:
        """Show events as logged."""
        return self._view(self._event_table)

    def unknown(self) -> View:
        """Show the limits of these logs, and their unknown entries."""
        return self._view(self._silences)

    def _view(self, html: Callable[[], Markup], cited: tuple[str, ...] = ()) -> View:
        return View(parts=(self._part(html),), cites=cited)

    def _part(self, html: Callable[[], Markup]) -> object:
        """Return static HTML, or a widget that follows the selection."""
        return html() if self._panel is None else self._panel.following(html)

    def _choose(self, chosen: Selection) -> None:
        """Apply a selection, and update everything below."""
        self._chosen = chosen

    def _redrawn(self) -> Markup:
        """Return the new figure, for the script to replace the old one."""
        figures = [part for part in self._figure(self._drawing()) if isinstance(part, Figure)]
        return render("redrawn", figures=[script_safe({"data": figure.data, "layout": figure.layout}) for figure in figures])

    def _drawing(self) -> Drawing:
        """Return the drawing of the selection, cached."""
        if self._drawn is None or self._drawn.chosen != self._chosen:
            numbered = timeline_story.told(self._found, self._chosen)
            self._drawn = Drawing(found=self._found, chosen=self._chosen, events=self._events, story=numbered)
        return self._drawn

    def _figure(self, shown: Drawing) -> Sequence[Figure | Markup]:
        if not self._events.total and not shown.partitions:
            return ()
        picture = shown.picture(f"{self._takeaway()} {self._hatched(shown)}".strip())
        return (lanes_figure.figure(picture),)

    def _takeaway(self) -> str:
        windows = [w for w in self._found.windows if w.kind is WindowKind.TWO_LEADERS and self._chosen.window(w)]
        unplanned = [w for w in windows if not w.planned]
        if any(w.closed is not None for w in unplanned):
            return "The window opens when the controller elects and closes when the old leader truncates."
        if windows and not unplanned:
            return f"A planned move of {words.plural(len(windows), 'leader')}; the window lasts until the old one resigns."
        if unplanned:
            return "The window opens when the controller elects; no log shows when the old leader resigned."
        if self._found.windows:
            return tables.windows(self._found, self._chosen).takeaway
        return tables.no_window(self._found) if self._events.total else "There is nothing to draw."

    def _caption(self) -> Markup:
        shown = self._drawing()
        red = f"Red: broker {shown.brokers[0]} leads, or believes that it does. " if shown.brokers and shown.partitions else ""
        strips = "A new leader is drawn in the other half of a strip: two halves mean two leaders." if shown.partitions else ""
        count = "; ".join(self._counted())
        hosts = host_lanes.reading(self._found.hosts)
        reading = " ".join(filter(None, (f"{red}{strips}".strip(), self._hatched(shown), hosts)))
        return render("timeline_caption", count=count, takeaway=self._takeaway(), reading=reading)

    def _hatched(self, shown: Drawing) -> str:
        """Explain hatched strips: a silent old leader may not have answered."""
        first, last = shown.span
        drawn = [
            window
            for partition in timeline_strips.shown(shown.partitions)
            for window in partition.windows
            if window.silent is not None and window.opened <= last and window.silent >= first
        ]
        if not drawn:
            return ""
        ends = {(window.old_leader, window.silent) for window in drawn}
        (who, until), *others = ends
        whose = "the old leader logged nothing" if others else f"broker {who} logged nothing until {second(until)}"
        ran = " After that it ran, and still believed that it led." if any(w.closed != w.silent for w in drawn) else ""
        return f"Hatched strip: {whose} and may have been paused; whether it answered is unknown.{ran}"

    def _counted(self) -> list[str]:
        """Return the owners of the logs."""
        files = self._found.files
        brokers = {file.broker for file in files if file.broker is not None}
        servers = {file.file.rpartition("/")[0] for file in files if file.file.startswith("zookeeper/")}
        clients = {file.file.rpartition("/")[0] for file in files if file.file.startswith("clients/")}
        logs = [
            *([f"logs of {words.plural(len(brokers), 'broker')}"] if brokers else []),
            *([words.plural(len(servers), "ZooKeeper server")] if servers else []),
            *([words.plural(len(clients), "client")] if clients else []),
        ]
        history = any(row.source == "history" for row in self._found.rows[:2000])
        return [", ".join(logs) or "no logs", *(["ZooKeeper's own history"] if history else [])]

    def _controls(self, shown: Drawing) -> Markup:
        """Return the row of fields of a report, which needs its script."""
        return render(
            "timeline_controls",
            since=words.clock_ms(round(shown.span[0])),
            until=words.clock_ms(round(shown.span[1])),
            events=self._events.total,
            chosen=self._chosen.parameters(),
        )

    def _below(self) -> Markup:
        shown = self._drawing()
        command = text.command("incident_timeline", self._source, self._chosen.parameters())
        lines = sum(shape.count for shape in self._found.untyped)
        numbers = (
            f"{words.plural(len(shown.partitions), 'partition')}, {words.plural(self._events.total, 'event')}, "
            f"{words.plural(lines, 'log line')} of unknown shape"
        )
        table = tables.windows(self._found, self._chosen)
        about = "" if self._chosen.everything else self._selection_text()
        drawn = replace(table, name="windows-drawn", label="Windows in the picture", search=False)
        return render("timeline_below", numbers=numbers, table=drawn, command_line=command, about=about)

    def _story(self) -> Markup:
        numbered = timeline_story.told(self._found, self._chosen)
        return timeline_story.story(self._found, self._chosen, numbered, name=self._name)

    def _in_focus(self) -> Selection:
        """Return the selection; without a period, with that of the incident."""
        around = None if self._chosen.timed else focus(self._found)
        return self._chosen if around is None else replace(self._chosen, since=around[0], until=around[1])

    def _rows(self) -> tuple[Sequence[EventRow], int]:
        """Return the shown events, by time, and their total: for very many, the most important."""
        rows, total = self._events.rows(self._in_focus(), MOST_EVENTS)
        most = tables.MOST_EVENTS
        if len(rows) <= most:
            return rows, total
        told = {*timeline_story.proofs(timeline_story.told(self._found, self._chosen)), *causes.linked(self._found)}
        windows = [w for w in self._found.windows if w.kind is WindowKind.TWO_LEADERS]
        bounds = [(w.opened, w.opened if w.closed is None else w.closed) for w in windows[:100] if w.opened is not None]

        def rank(row: EventRow) -> tuple[bool, bool, int]:
            away = min((max(since - row.at, row.at - until, 0) for since, until in bounds), default=0)
            return row.proof not in told, row.level not in ("WARN", "ERROR", "FATAL"), away

        kept = sorted(sorted(range(len(rows)), key=lambda n: rank(rows[n]))[:most])
        return [rows[n] for n in kept], total

    def _event_table(self) -> Markup:
        rows, total = self._rows()
        table = tables.events(rows, total=total, everything=self._events.total, said=self._selection_text())
        return render("plain_table", table=table)

    def _selection_text(self) -> str:
        """Describe period and subject, in words."""
        about = self._in_focus()
        when = "{} to {} UTC".format(*tables.ends(about.since, about.until)) if about.timed else "All times"
        subject = [f"{name} {value}" for name, value in self._chosen.about.parameters().items()]
        return ", ".join([when, *subject])

    def _silences(self) -> Markup:
        missing = tables.silences(self._found, self._chosen)
        untyped = tables.untyped(self._found)
        return render("timeline_unknown", silences=missing, untyped=untyped, files=tables.files(self._found))

    def _event_cites(self) -> tuple[str, ...]:
        return cites(row.proof for row in self._rows()[0])

    def _proof_at(self, target: str) -> str | None:
        """Return the proof of a click on the figure."""
        return next((row.proof for row in self._found.rows if lanes_figure.target(row.proof) == target), None)


Asked = panel.PanelSubject


def _proofs_of_strips(shown: Drawing) -> list[str]:
    """Return the proofs of the drawn partitions."""
    return [stint.proof for partition in timeline_strips.shown(shown.partitions) for stint in partition.stints][:200]
