"""Notebook 80: effective settings of brokers, topics and clients, with their origins."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from casebook.facts.clients import CONSUMER, PRODUCER
from casebook.findings import words
from casebook.kafka.defaults import NEVER
from casebook.kafka.settings import TOPIC
from casebook.page.render import render
from casebook.page.table import ALARM, CODE, PLAIN, QUIET, TEXT, Row, Table, unknown
from casebook.page.view import View, html
from casebook.questions.durability.analysis.clients import AuditedClient
from casebook.questions.durability.analysis.durability import Durability
from casebook.questions.durability.analysis.rows import SettingRow
from casebook.questions.durability.analysis.settings import disagreeing

_MOST_ROWS, _MOST_OWN = 200, 60


def settings(found: Durability, *, topic: str = "") -> View:
    """Show every listed setting of the brokers, then overrides of topics: value, origin, hidden values."""
    differ = disagreeing(found.settings)
    of_brokers = _broker_rows(found.settings, differ.keys())
    chosen = (row for row in found.settings if row.origin == TOPIC and (not topic or row.entity == f"topic {topic}"))
    own = _once(chosen)
    parts = [
        render("plain_table", table=_broker_table(of_brokers, len(differ), found)),
        render("plain_table", table=_topic_table(own)),
    ]
    return html(*parts, tables={"settings": found.settings})


def _broker_rows(rows: Iterable[SettingRow], differ: Iterable[str]) -> list[Row]:
    alike: dict[tuple[str, str | None, str, str], list[int]] = {}
    for row in rows:
        if row.entity.startswith("broker "):
            alike.setdefault((row.key, row.value, row.origin, row.overridden), []).extend(row.brokers)
    ordered = sorted(alike.items(), key=lambda item: (item[0][0] not in differ, item[0][0], item[1]))
    return [
        (ALARM if key in differ else PLAIN, (key, _value(value), origin, hidden or "–", words.listed(of)))
        for (key, value, origin, hidden), of in ordered
    ]


def _once(rows: Iterable[SettingRow]) -> list[SettingRow]:
    """Return each override once, even if it hides different values on different brokers."""
    merged: dict[tuple[str, str], SettingRow] = {}
    for row in rows:
        held = merged.get((row.entity, row.key))
        hidden = row.overridden if held is None else f"{held.overridden}, or {row.overridden}"
        merged[row.entity, row.key] = row._replace(overridden=hidden)
    return list(merged.values())


def _value(value: str | None) -> object:
    if value is None:
        return unknown()
    if value == NEVER:
        return Markup('never <small class="cb-quiet">{}</small>').format(value)
    return Markup("<code>{}</code>").format(value) if value else "not set"


_COLUMNS = (("Setting", CODE), ("Value", TEXT), ("From", TEXT), ("Hides", QUIET))


def _broker_table(rows: Sequence[Row], differ: int, found: Durability) -> Table:
    agree = f"Brokers disagree in {words.plural(differ, 'setting')}." if differ else "All brokers agree."
    return Table(
        name="broker-settings",
        columns=(*_COLUMNS, ("Brokers", CODE)),
        rows=rows[:_MOST_ROWS],
        takeaway=agree,
        reading=(
            f"Settings in which brokers disagree come first; built-in defaults are those of Kafka {found.scene.version.version}."
        ),
        total=len(rows),
        rest="settings",
        search=True,
        wide=True,
    )


def _topic_table(own: Sequence[SettingRow]) -> Table:
    topics = len({row.entity for row in own})
    return Table(
        name="topic-settings",
        columns=(("Topic", CODE), *_COLUMNS),
        rows=[
            (PLAIN, (row.entity.removeprefix("topic "), row.key, _value(row.value), row.origin, row.overridden or "–"))
            for row in own[:_MOST_OWN]
        ],
        takeaway=f"{words.plural(topics, 'topic')} {'overrides' if topics == 1 else 'override'} one of these."
        if own
        else "No topic overrides any of these.",
        reading="All others use the values above.",
        total=len(own),
        rest="settings",
        search=True,
    )


def clients(found: Durability) -> View:
    """Show the effective settings of each producer and consumer."""
    rows = found.clients
    known = found.scene.clients
    if not known:
        return html(render("durability_no_clients"), tables={"client_settings": rows})
    missing = sum(row.value is None for row in rows)
    table = Table(
        name="client-settings",
        columns=(("Client", CODE), ("Kind", TEXT), ("Setting", CODE), ("Value", TEXT), ("From", TEXT)),
        rows=[(PLAIN, (row.client, row.kind, row.key, _value(row.value), row.origin)) for row in rows[:_MOST_ROWS]],
        takeaway=f"{words.plural(sum(c.kind == PRODUCER for c in known), 'producer')} and "
        f"{words.plural(sum(c.kind == CONSUMER for c in known), 'consumer')}; {words.plural(missing, 'setting')} not known.",
        reading=" ".join(_libraries(known)),
        total=len(rows),
        rest="client_settings",
        search=True,
    )
    problems = [(client.name, problem) for client in known for problem in (*client.contradictions, *client.problems)]
    parts = [render("plain_table", table=table)]
    return html(*parts, render("durability_problems", problems=problems), tables={"client_settings": rows})


def _libraries(known: Iterable[AuditedClient]) -> Iterable[str]:
    for client in known:
        library = client.library or "library not known"
        release = client.version or "release not known"
        yield f"{client.name} ({client.kind}): {library}, {release}."
