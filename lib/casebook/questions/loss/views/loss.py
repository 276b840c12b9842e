"""Notebook 70: lost acknowledged records, when, why, and the price of the next election.

Headless, the filter comes from the notebook's parameters. In JupyterLab, fields above the records set it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from casebook.facts.records import RecordVerdict
from casebook.findings import exports, words
from casebook.findings.finding import Finding
from casebook.page import lanes_figure, text
from casebook.page.context import PanelContext
from casebook.page.lanes import Picture
from casebook.page.render import look, render
from casebook.page.table import Table
from casebook.page.view import Figure, View, html
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.loss.analysis.unprocessed_rows import CommitStep, GroupWork, Unprocessed
from casebook.questions.loss.consumer_evidence import Consumed
from casebook.questions.loss.views import choice, consumers, lanes, offsets
from casebook.questions.loss.views import copies as loss_copies
from casebook.questions.loss.views import records as loss_records
from casebook.questions.loss.views import tables as loss_tables
from casebook.questions.loss.views.choice import LossChoice
from casebook.questions.loss.views.when import LossPicture, overview, takeaway
from casebook.questions.loss.views.words import check, proofs_cited, proofs_within


def page(found: MessageLoss, consumed: Consumed, context: PanelContext, *, topic: str = "", record: str = "") -> "LossPage":
    """Return the figures and tables of lost records, all with one filter.

    Raises:
        UsageError: The topic or partition does not exist.
    """
    return LossPage(
        found, choice.parse(found, topic=topic, record=record), context, links=exports.names() if found.lost else {},
        unprocessed=consumed.first, work=consumed.work, steps=consumed.steps,
    )  # fmt: skip


class LossPage:
    """Content of notebook 70.

    Args:
        found: Result on lost records.
        chosen: Initial filter, from the parameters.
        context: Context in the notebook.
        links: Paths of the files for re-sending, by name; empty without losses.
        work: Work of groups; empty without a ledger of processed records.
        unprocessed: First committed but unprocessed records.
        steps: Irregular commits.
    """

    def __init__(
        self,
        found: MessageLoss,
        chosen: LossChoice,
        context: PanelContext,
        *,
        links: loss_records.Links | None = None,
        work: Sequence[GroupWork] = (),
        unprocessed: Sequence[Unprocessed] = (),
        steps: Sequence[CommitStep] = (),
    ) -> None:
        self._found, self._chosen, self._source = found, chosen, context.source
        self._interactive, self._remembered = context.interactive, context.remembered
        self._links: Mapping[str, str] = links or {}
        self._work, self._unprocessed, self._steps = work, unprocessed, steps
        self._scene = LossPicture(found=found, chosen=chosen)

    def when(self) -> View:
        """Show lost records over time, with the windows of possible loss."""
        scene = self._scene
        if not scene.lost:
            return self._when_none()
        said, drawn = takeaway(scene), lanes.drawn(scene)
        parts: list[object] = [render("caption", takeaway=said, reading=self._reading(counted=drawn.most > 0))]
        whole = overview(scene, said)
        if whole is not None:
            parts.append(_drawn(whole))
        head = "Each lost record in its partition’s window"
        if drawn.most:
            head = f"Lost records of each partition, {words.count(drawn.most)} in the largest bar"
        for episode, picture in drawn.pictures:
            per = f", counted per {episode.bin[1]}" if drawn.most else ""
            parts += [render("loss_part", head=head, reading=_described(episode) + per), _drawn(picture, ticks=4)]
            head = ""
        if drawn.more:
            more = words.plural(drawn.more, "more lane")
            parts.append(render("said", words=f"{more} with fewer lost records, not drawn; the numbers have all of them."))
        parts.append(self._numbers())
        return View(parts=tuple(parts), cites=self._cites_of_windows())

    def why(self) -> View:
        """Show every cause with its records, the alarm on top."""
        rows = self._found.causes
        if not rows:
            return self._nothing("loss.lost", in_short=True)
        table = loss_tables.why(rows, self._scene.counts, self._chosen)
        return html(render("plain_table", table=table), cites=proofs_cited(row.proof for row in rows))

    def not_lost(self) -> View:
        """Show records that were not found and are not lost, and those found with another outcome."""
        counts = loss_tables.totals(self._found.classes, self._chosen)
        if not counts:
            return self._nothing("loss.looked_everywhere", in_short=True)
        return html(render("loss_tables", tables=[loss_tables.not_found(counts), loss_tables.found_classes(counts)], beside=True))

    def records(self) -> View:
        """Show the lost records, and the filter."""
        if not self._found.lost:
            return self._nothing("loss.lost", in_short=True)
        cited = proofs_within(row.evidence for row in self._found.lost)
        if self._interactive:
            panel = loss_records.panel(self._found, self._chosen, self._remembered, self._records)
            return View(parts=(panel,), cites=cited)
        return html(self._records(self._chosen), cites=cited)

    def partitions(self) -> View:
        """Show lost records and coverage by partition; lost records by producer."""
        tables = [loss_tables.partitions(self._scene), loss_tables.producers(self._scene)]
        if not tables[0].rows:
            return self._nothing("loss.looked_everywhere")
        return html(render("loss_tables", tables=[table for table in tables if table], beside=False))

    def disappeared(self) -> View:
        """Show offsets that disappeared from a copy, which needs no ledger."""
        rows = self._of(self._found.cut_ranges)
        view = self._table(offsets.disappeared(rows), "loss.cut_ranges")
        return replace(view, cites=proofs_cited(row.proof for row in rows[: offsets.MOST_ROWS]))

    def copies(self) -> View:
        """Show whether all copies of a partition contain the same records."""
        rows, asked = self._of(self._found.divergences), check(self._found, "loss.replicas_agree")
        table = loss_copies.divergences(rows, asked.title) if rows and asked else None
        return self._table(table, "loss.replicas_agree")

    def next_election(self) -> View:
        """Show the price of an unclean election, and of starting one broker before the others."""
        tables = [loss_copies.starts(self._found.start_prices), loss_copies.prices(self._of(self._found.prices))]
        if not any(tables):
            return _titled("Cost of the next election", self._nothing("loss.price_of_election"))
        view = html(render("loss_tables", tables=[table for table in tables if table], beside=False))
        return _titled("Cost of the next election", view)

    def never_processed(self) -> View:
        """Show committed but unprocessed records, and irregular commits."""
        work, rows, steps = map(self._of, (self._work, self._unprocessed, self._steps))
        return html(consumers.consumers(work, rows, steps, check(self._found, "loss.unprocessed")))

    def gaps(self) -> View:
        """Show missing offsets by label."""
        table, read = offsets.gaps(self._of(self._found.gaps)), len(self._of(self._found.limits))
        whole = f"No offset is missing: {words.plural(read, 'partition')} read." if read else "No partition was read."
        view = html(render("plain_table", table=table) if table else render("caption", takeaway=whole, reading=""))
        return _titled("Missing offsets", view)

    def _records(self, chosen: LossChoice) -> Markup:
        return loss_records.records(self._found, chosen, links=self._links, source=self._source)

    def _of(self, rows: Sequence) -> Sequence:
        """Return those of the selected topic or partition."""
        return [row for row in rows if self._chosen.names(row)]

    def _reading(self, *, counted: bool) -> str:
        """Describe how to read the figures, and what they omit."""
        mark = "bars count lost records" if counted else "a disc is a lost record"
        outside = ", an open diamond one outside every window" if self._scene.alarms else ""
        expired = loss_tables.totals(self._found.classes, self._chosen)[RecordVerdict.EXPIRED]
        said = (
            f"Hatched: windows in which loss was possible; {mark}{outside}.",
            f"{words.plural(expired, 'record')} expired by retention: not lost, not drawn." if expired else "",
            f"{words.plural(self._scene.undated, 'lost record')} without a time: not drawn." if self._scene.undated else "",
        )
        return " ".join(filter(None, said))

    def _when_none(self) -> View:
        """Show the case without losses, or with unknown ones: its basis, and windows without losses."""
        windows = self._scene.changes
        empty = self._none_of_it() if self._found.lost_total else self._nothing("loss.lost")
        if not windows:
            return empty
        estimated = loss_tables.estimates(self._of(self._found.estimates))
        tables = [table for table in (estimated, loss_tables.windows(self._scene)) if table]
        numbers = render("loss_numbers", numbers=words.plural(len(windows), "window"), tables=tables)
        return View(parts=(*empty.parts, numbers), cites=self._cites_of_windows())

    def _none_of_it(self) -> View:
        """Show that records are lost, but none that match the filter."""
        doubt = self._doubt()
        said = f"No lost record of {self._chosen.subject} is known."
        return html(render("caption", takeaway=said, reading=f"Nearest to it: {doubt}." if doubt else ""))

    def _doubt(self) -> str:
        return loss_tables.doubtful(loss_tables.totals(self._found.classes, self._chosen))

    def _numbers(self) -> Markup:
        scene = self._scene
        said = f"{words.plural(scene.lost, 'record')}, {words.plural(len(scene.changes), 'window')}"
        return render("loss_numbers", numbers=said, tables=[loss_tables.bins(scene), loss_tables.windows(scene)])

    def _cites_of_windows(self) -> tuple[str, ...]:
        shown = self._scene.ranked[: loss_tables.MOST_ROWS]
        return proofs_cited(proof for c in shown for proof in (c.opened_proof, c.closed_proof))

    def _table(self, table: Table | None, asked: str) -> View:
        return self._nothing(asked) if table is None else html(render("plain_table", table=table))

    def _nothing(self, name: str, *, in_short: bool = False) -> View:
        """Show an empty state: the check, its basis, the nearest result, and how to learn more.

        Args:
            in_short: The basis is shown above.
        """
        asked = check(self._found, name)
        if asked is None:
            return html(render("said", words="Nothing to show."))
        unasked = self._found.ledger is None and name == "loss.lost"
        rests_on = {
            "why": asked.why,
            "settle": asked.settle or "",
            "looked_at": "" if unasked else asked.coverage.dated,
            "threshold": asked.threshold,
            "nearest": self._nearest(asked),
            "command_line": text.command("message_loss", self._source, {"ledger": "produced.csv"}) if unasked else "",
        }
        said = dict.fromkeys(rests_on, "") if in_short else rests_on
        return html(render("loss_empty", kind=look(asked), title=f"{asked.title}.", **said))

    def _nearest(self, asked: Finding) -> str:
        if asked.check != "loss.lost" or self._found.ledger is None:
            return ""
        moved = len(self._scene.changes)
        return self._doubt() or (f"{words.plural(moved, 'change')} of leader, none of which lost a record" if moved else "")


def _drawn(picture: Picture, *, ticks: int = 7) -> Figure:
    """Return the chart. It does not zoom: the tables below cover all of it.

    Args:
        ticks: Number of ticks along its axis: milliseconds need room.
    """
    figure = lanes_figure.figure(picture)
    layout = figure.layout | {"dragmode": False, "xaxis": figure.layout["xaxis"] | {"fixedrange": True, "nticks": ticks}}
    return replace(figure, layout=layout)


def _titled(head: str, view: View) -> View:
    """Return a view below its own title, for a section with several."""
    return replace(view, parts=(render("loss_part", head=head, reading=""), *view.parts))


def _described(episode: lanes.Episode) -> str:
    return f"{words.day(episode.since)}, {words.clock(episode.since)} UTC, {words.plural(episode.lost, 'record')}"
