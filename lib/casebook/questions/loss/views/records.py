"""Lost records: a table, and details of a few selected ones. In JupyterLab, fields filter them."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from casebook.facts.losses import ALARM, LostRecord
from casebook.findings import words
from casebook.page import text
from casebook.page.panel import Panel, button, line
from casebook.page.render import render
from casebook.page.table import ALARM as ALARM_ROW
from casebook.page.table import CODE, PLAIN, TEXT, UNBROKEN, Table, or_unknown, unknown
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.loss.views.choice import LossChoice, named, parse
from casebook.questions.loss.views.words import CAUSES, cause, moments, proofs_linked

MOST_ROWS, MOST_CARDS = 200, 5
_MOST_OFFERED = 5000
_FIELDS = {"topic": "Partition", "producer": "Producer", "cause": "Cause", "record": "Id begins"}

Links = Mapping[str, str]
"""Paths of the files for re-sending, by name."""


def records(found: MessageLoss, chosen: LossChoice, *, links: Links, source: str) -> Markup:
    """Show selected records: as cards when their id was given and they are few, else as a table."""
    held = [record for record in found.lost if chosen.holds(record)]
    cards = held if chosen.record and 0 < len(held) <= MOST_CARDS else ()
    return render(
        "loss_records",
        table=None if cards or not held else _table(found, chosen, held),
        cards=[_card(record) for record in cards],
        missing=_missing(found, chosen),
        links=links,
        command_line=text.command("message_loss", source, chosen.parameters()),
    )


def _missing(found: MessageLoss, chosen: LossChoice) -> str:
    """Return the text when there is no record to show."""
    if not found.lost_total:
        return "No lost record is known."
    said = {**chosen.parameters(), "producer": chosen.producer, "cause": chosen.cause and _in_words(chosen.cause)}
    which = ", ".join(f"{name} {value}" for name, value in said.items() if value)
    kept = f" among the first {words.count(len(found.lost))}" if len(found.lost) < found.lost_total else ""
    return f"No lost record{kept} is of {which}." if which else "No lost record is known."


def _table(found: MessageLoss, chosen: LossChoice, held: Sequence[LostRecord]) -> Table:
    rows = held[:MOST_ROWS]
    head, at = moments(record.acked_at for record in rows)
    total = _total(found, chosen, held)
    return Table(
        name="lost",
        columns=(
            ("Id", CODE),
            (f"Acked, {head}", UNBROKEN),
            ("Partition, offset", CODE),
            ("There now", UNBROKEN),
            ("Cause", TEXT),
            ("Window", TEXT),
            ("Proof", TEXT),
            ("Key", CODE),
            ("Producer", CODE),
            ("acks", CODE),
        ),
        rows=[(ALARM_ROW if record.cause is None else PLAIN, _row(record, at)) for record in rows],
        takeaway=f"{words.plural(total, 'lost record')}.",
        total=total if total > len(rows) else None,
        rest="lost",
        search=True,
        wide=True,
        times=[(record.acked_at, record.acked_at) for record in rows],
        tall=True,
    )  # fmt: skip


def _total(found: MessageLoss, chosen: LossChoice, held: Sequence[LostRecord]) -> int:
    """Return the total for a filter: counted when possible, else the available records."""
    if chosen.record:
        return len(held)
    own = (row for row in found.counts if chosen.names(row) and chosen.producer in (None, row.producer))
    return sum(row.records for row in own if chosen.cause in (None, row.cause or ALARM))


def _row(record: LostRecord, at: Callable[[int | None], str]) -> tuple[object, ...]:
    return (
        record.id,
        or_unknown(record.acked_at, at),
        _place(record),
        _there(record),
        _cause(record),
        record.window or _nearest(record),
        proofs_linked(record.evidence),
        "–" if record.key is None else record.key,
        "–" if record.producer is None else record.producer,
        "–" if record.acks is None else record.acks,
    )


def _cause(record: LostRecord) -> Markup:
    return render("loss_cause", kind="critical", words=cause(record.cause), alarm=record.cause is None)


def _place(record: LostRecord) -> str:
    return f"{named(record.topic, record.partition)} {'' if record.offset is None else record.offset}".rstrip()


def _there(record: LostRecord) -> str:
    """Describe the record now at its offset."""
    epoch = "" if record.there_epoch is None else f"epoch {record.there_epoch}"
    if record.there_id is not None:
        return f"{record.there_id}{', ' if epoch else ''}{epoch}"
    return epoch or "none known"


def _nearest(record: LostRecord) -> str:
    """Describe the distance to the nearest window of its partition."""
    if record.nearest is None:
        return "none"
    away = text.duration(abs(record.nearest))
    return f"none; nearest {'ended' if record.nearest < 0 else 'begins'} {away} {'before' if record.nearest < 0 else 'later'}"


def _acked(record: LostRecord) -> object:
    return unknown() if record.acked_at is None else f"{words.day(record.acked_at)}, {words.clock_ms(record.acked_at)} UTC"


def _card(record: LostRecord) -> dict[str, object]:
    """Return both sides of a record."""
    ledger = (
        ("Id", Markup("<code>{}</code>").format(record.id)),
        ("Acked", _acked(record)),
        ("Where", Markup("<code>{}</code>").format(_place(record))),
        ("Key", record.key),
        ("Producer", record.producer),
        ("acks", record.acks),
    )
    log = (
        ("There now", _there(record)),
        ("Cause", cause(record.cause)),
        ("Window", record.window or _nearest(record)),
        ("Proof", proofs_linked(record.evidence)),
    )
    return {
        "id": record.id,
        "alarm": record.cause is None,
        "sides": [
            ("The ledger says", [(name, or_unknown(said)) for name, said in ledger]),
            ("The log says", log),
        ],
    }


def panel(found: MessageLoss, chosen: LossChoice, remembered: dict[str, object], show: Callable[[LossChoice], Markup]) -> object:
    """Fields in JupyterLab that choose among the lost records.

    Args:
        found: Result on lost records.
        chosen: The parameters' choice: the first one.
        remembered: A person's choices, kept when a cell is rerun.
        show: HTML of a choice.
    """
    first, offered = {"topic": chosen.subject, "record": chosen.record}, _offered(found)
    fields = {name: _field(name, first.get(name, ""), offered.get(name, ())) for name in _FIELDS}

    def answer(values: Mapping[str, str]) -> Markup:
        said = {name: value.strip() for name, value in values.items()}
        return show(parse(found, **said | {"cause": _CAUSES.get(said["cause"], "")}))

    back = button("All lost records", lambda: made.put(dict.fromkeys(fields, "")))
    made = Panel((line(*fields.values(), back),), fields, answer, remembered)
    return made.box


_CAUSES = {words: of or ALARM for of, words in CAUSES.items()}
"""Name of a cause, and its value."""


def _in_words(of: str) -> str:
    return cause(None if of == ALARM else of)


def _offered(found: MessageLoss) -> dict[str, Sequence[str]]:
    """Return the values that occur in lost records."""
    there = {row.cause for row in found.counts}
    return {
        "topic": sorted({named(row.topic, row.partition) for row in found.counts})[:_MOST_OFFERED],
        "producer": sorted({row.producer for row in found.counts if row.producer})[:_MOST_OFFERED],
        "cause": [words for of, words in CAUSES.items() if of in there],
    }


def _field(name: str, value: object, options: Sequence[str]) -> object:
    import ipywidgets as widgets

    common = {
        "description": _FIELDS[name],
        "layout": {"width": "260px", "max_width": "100%"},
        "style": {"description_width": "66px"},
    }
    if name == "cause":
        return widgets.Dropdown(options=[("all", ""), *((one, one) for one in options)], value=value, **common)
    if options:
        return widgets.Combobox(value=value, options=tuple(options), placeholder="all", ensure_option=False, **common)
    return widgets.Text(value=value, placeholder="all", **common)
