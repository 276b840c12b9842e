"""Notebook 80: possible losses by settings of topics, brokers and clients, with the origin of each setting."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from markupsafe import Markup

from casebook.findings import words
from casebook.findings.finding import Status
from casebook.page import text
from casebook.page.bars import Bar, figure
from casebook.page.proof import cited_as
from casebook.page.render import anchor, render
from casebook.page.table import ALARM, CODE, NUMBER, PLAIN, QUIET, TEXT, Table, numbers, or_unknown
from casebook.page.view import View, html
from casebook.questions.durability.analysis.clients import AuditedClient
from casebook.questions.durability.analysis.durability import Durability
from casebook.questions.durability.analysis.questions import Ask
from casebook.questions.durability.analysis.rows import Difference, LossVerdict
from casebook.questions.durability.analysis.rules import RULES
from casebook.questions.durability.analysis.topics import TopicFacts
from casebook.questions.durability.analysis.verdicts import on_the_way, rank
from casebook.questions.durability.views import matrix as durability_matrix
from casebook.questions.durability.views.matrix import TopicGroup

MOST_ROWS, _MOST_BARS, _MOST_NAMED, _MOST_OWN = 200, 8, 3, 60
_ANY = "any"


def matrix(found: Durability, *, topic: str = "") -> View:
    """Show topics by rules: which rule allows a loss for which topic.

    Args:
        topic: Only this one; ``""`` for all.
    """
    kinds = durability_matrix.kinds(found, topic=topic)
    return html(durability_matrix.matrix(found, kinds), tables={"loss_verdicts": found.verdicts})


def ways(found: Durability, *, topic: str = "") -> View:
    """Show every path from a producer through a topic to a consumer, with its worst loss in one sentence."""
    kinds = durability_matrix.kinds(found, topic=topic)
    every = sorted((way for kind in kinds for way in _ways(found, kind)), key=lambda way: way.order)
    ways_ = sum(way.ways for way in every)
    losing = sum(way.ways for way in every if way.worst is not None and way.worst.severity in ("critical", "warning"))
    clients = "" if found.scene.clients else " No client configuration is known: the verdicts assume the safest one."
    table = Table(
        name="ways",
        columns=(
            ("Topic", TEXT), ("Producer", TEXT), ("Consumer", TEXT), ("Possible loss", TEXT),
            ("Smallest change and its cost", TEXT),
        ),
        rows=[
            (
                ALARM if way.worst is not None and way.worst.severity == "critical" else PLAIN,
                (_kind(way.kind), _names(way.producers), _names(way.consumers), _worst(way.worst, way.also), _change(way.worst)),
            )
            for way in every[:MOST_ROWS]
        ],
        takeaway=f"{words.count(losing)} of {words.plural(ways_, 'way')} from a producer to a consumer can lose records.",
        reading=(
            "Worst first, one sentence each; ways with the same verdict share a row, and verdicts common to all are "
            f"below.{clients}"
        ),
        total=len(every),
        rest="loss_verdicts",
        search=True,
        wide=True,
    )  # fmt: skip
    return html(render("plain_table", table=table), cites=_cites(way.worst for way in every[:MOST_ROWS] if way.worst))


@dataclass(frozen=True, slots=True, kw_only=True)
class LossWay:
    """Paths with the same worst loss.

    Args:
        kind: Topics.
        producers: Producers; ``None`` for any.
        consumers: Consumers; ``None`` for any.
        ways: Number of paths.
        worst: ``None``: nothing.
        also: Other rules with a result.
    """

    kind: TopicGroup
    producers: Sequence[AuditedClient | None]
    consumers: Sequence[AuditedClient | None]
    ways: int
    worst: LossVerdict | None
    also: Sequence[str]

    @property
    def order(self) -> tuple[object, ...]:
        """Worst first."""
        return ((9,) if self.worst is None else rank(self.worst)) + (self.kind.first,)


def _ways(found: Durability, kind: TopicGroup) -> Iterable[LossWay]:
    scene = found.scene
    facts = scene.by_name[kind.first]
    mine = [row for row in found.verdicts if row.topic in (None, kind.first)]
    alike: dict[LossVerdict | None, list[tuple[AuditedClient | None, AuditedClient | None]]] = {}
    also: dict[LossVerdict | None, set[str]] = {}
    for producer, consumer in product(_using(scene.producers, facts), _using(scene.consumers, facts)):
        told = on_the_way(mine, facts, producer, consumer)
        first = next(filter(_of_the_way, told), told[0] if told else None)
        rest = [row for row in told if row is not first]
        alike.setdefault(first, []).append((producer, consumer))
        also.setdefault(first, set()).update(row.rule for row in rest if row.severity in ("critical", "warning"))
    for first, pairs in alike.items():
        producers, consumers = (list(dict.fromkeys(pair[at] for pair in pairs)) for at in (0, 1))
        others = sorted(also[first] - {first.rule if first else ""}, key=lambda rule: int(rule[1:]))
        yield LossWay(
            kind=kind, producers=producers, consumers=consumers, ways=len(pairs) * kind.topics, worst=first, also=others
        )


def _of_the_way(row: LossVerdict) -> bool:
    """Return whether it is a loss on this path, not on all paths alike: those come first."""
    return row.severity in ("critical", "warning") and (row.topic, row.producer, row.consumer) != (None, None, None)


def _using(clients: Sequence[AuditedClient], facts: TopicFacts) -> Sequence[AuditedClient | None]:
    """Return clients that may use a topic; an internal one has no others."""
    return [client for client in clients if client.uses(facts.name) and not facts.internal] or [None]


def _names(clients: Sequence[AuditedClient | None]) -> Markup:
    if clients == [None]:
        return Markup('<span class="cb-quiet">{}</span>').format(_ANY)
    named = [Markup("<code>{}</code>").format(client.name) for client in clients[:_MOST_NAMED] if client is not None]
    more = len(clients) - len(named)
    return Markup(", ").join(named) + (Markup(' <small class="cb-quiet">and {} more</small>').format(more) if more else "")


def _kind(kind: TopicGroup) -> Markup:
    more = Markup(' <small class="cb-quiet">and {} alike</small>').format(words.count(kind.topics - 1)) if kind.topics > 1 else ""
    return Markup("<code>{}</code>{}").format(kind.first, more)


def _worst(row: LossVerdict | None, also: Sequence[str] = ()) -> Markup:
    if row is None:
        return render(
            "durability_word", kind="ok", sentence="By these rules, no acknowledged record can be lost.", rule="", also=""
        )
    kind = row.severity or "could_not_check"
    return render("durability_word", kind=kind, sentence=row.sentence, rule=row.rule, also=", ".join(also))


def _change(row: LossVerdict | None) -> object:
    if row is None or not row.smallest_change:
        return "–"
    return render("durability_change", change=row.smallest_change, cost=row.cost)


def verdicts(found: Durability, *, topic: str = "") -> View:
    """Show all results of all rules, worst first, with a search box."""
    chosen = [row for row in found.verdicts if not topic or row.topic in (None, topic)]
    worst_first = _folded(chosen)
    hit = sum(row.severity is not None for row in chosen)
    table = Table(
        name="loss-verdicts",
        columns=(
            ("Rule", CODE),
            ("About", TEXT),
            ("Possible loss", TEXT),
            ("Smallest change and its cost", TEXT),
            ("Proof", TEXT),
        ),
        rows=[
            (
                ALARM if row.severity == "critical" else PLAIN,
                (row.rule, _about(row, more), _worst(row), _change(row), _proof(row.proof)),
            )
            for row, more in worst_first[:MOST_ROWS]
        ],
        takeaway=f"{words.plural(hit, 'verdict')} of {words.plural(len({r.rule for r in chosen if r.severity}), 'rule')}, "
        f"{words.count(len(chosen) - hit)} not known.",
        reading="Worst first; a verdict that several topics share appears once.",
        total=len(worst_first),
        rest="loss_verdicts",
        search=True,
        wide=True,
    )
    used = [(rule.id, f"{rule.says} ({rule.source})") for rule in RULES.values()]
    view = render("verdicts", table=table, rules=used, version=found.scene.version.version)
    return html(view, cites=_cites(row for row, _ in worst_first[:MOST_ROWS]))


def _folded(rows: Sequence[LossVerdict]) -> list[tuple[LossVerdict, int]]:
    """Merge equal sentences of a rule, with the number of further topics that differ only by name."""
    seen: dict[tuple[object, ...], list[LossVerdict]] = {}
    for row in rows:
        said = row.sentence.replace(row.topic, "\0") if row.topic else row.sentence
        seen.setdefault((row.rule, row.severity, row.producer, row.consumer, said), []).append(row)
    return [(same[0], len(same) - 1) for same in seen.values()]


def _about(row: LossVerdict, more: int) -> Markup:
    parts = [
        (kind, name) for kind, name in (("topic", row.topic), ("producer", row.producer), ("consumer", row.consumer)) if name
    ]
    named = Markup("<br>").join(Markup("{} <code>{}</code>").format(kind, name) for kind, name in parts) or Markup("brokers")
    return named + (Markup(' <small class="cb-quiet">and {} more</small>').format(words.count(more)) if more else "")


def _none(found: Durability, check: str, sentence: str) -> Markup:
    """Show an empty result: good when the check says so, else with the unknown part."""
    answer = next(one for one in found.findings if one.check == check)
    well = answer.status is Status.OK
    return render("durability_none", look="ok" if well else "could_not_check", sentence=sentence if well else f"{answer.title}.")


def single_copies(found: Durability) -> View:
    """Show what is lost with the disks of one broker."""
    rows = found.exposure
    tables = {"single_copies": rows}
    if not rows:
        return html(_none(found, "durability.exposure", "No broker holds an only copy."), tables=tables)
    worst_of = rows[0]
    much = "" if worst_of.bytes is None else f", {text.size(worst_of.bytes)}"
    takeaway = f"With broker {worst_of.broker} alone, {words.plural(worst_of.partitions, 'partition')} would be lost{much}."
    drawn = [Bar(label=f"Broker {row.broker}", left=row.partitions, note=_beside(row)) for row in rows[:_MOST_BARS]]
    axis = "partitions whose only copy it holds"
    caption = render("caption", takeaway=takeaway, reading="Partitions with replication factor 1, by the broker that holds them.")
    table = Table(
        name="single-copies",
        columns=(("Broker", NUMBER), ("Partitions", NUMBER), ("Bytes", NUMBER), ("Topics", TEXT)),
        rows=[
            (
                PLAIN,
                (
                    r.broker,
                    words.count(r.partitions),
                    or_unknown(r.bytes, text.size),
                    words.some(r.topics, 12),
                ),
            )
            for r in rows[:MOST_ROWS]
        ],
        label="Only copies by broker",
        total=len(rows),
        rest="single_copies",
    )
    chart = figure(drawn, axis=axis, alternative=takeaway)
    return View(parts=(caption, chart, numbers(table, f"The numbers ({words.plural(len(rows), 'row')})")), tables=tables)


def _beside(row: object) -> str:
    return "size unknown" if row.bytes is None else text.size(row.bytes)


def past(found: Durability) -> View:
    """Show how long acks=all was acks=1."""
    rows, tables = found.isr_alone, {"isr_alone": found.isr_alone}
    if not found.history:
        settle = next(finding.settle for finding in found.findings if finding.check == "durability.isr_alone")
        return html(render("durability_no_history", settle=settle), tables=tables)
    if not rows:
        sentence = "acks=all was never acks=1: the ISR was never the leader alone, or acks=all was refused."
        return html(_none(found, "durability.isr_alone", sentence), tables=tables)
    known = [row for row in rows if row.min_isr is not None]
    unsure = words.plural(len(rows) - len(known), "partition")
    takeaway = f"For {unsure}, it is unknown whether acks=all was acks=1: the min.insync.replicas of that time is unknown."
    if known:
        said = (
            f"acks=all was acks=1 in {words.plural(len(known), 'partition')}, longest in {known[0].topic}-{known[0].partition}: "
            f"{text.duration(known[0].milliseconds)}."
        )
        takeaway = f"{said} {takeaway}" if len(known) < len(rows) else said
    table = Table(
        name="isr-alone",
        columns=(
            ("Partition", CODE), ("How long", NUMBER), ("Times", NUMBER), ("First", TEXT), ("Until", TEXT),
            ("min.insync.replicas", NUMBER),
            ("Proof", TEXT),
        ),
        rows=[
            (
                ALARM if row.open else PLAIN,
                (
                    f"{row.topic}-{row.partition}", text.duration(row.milliseconds), words.count(row.times),
                    words.date(row.first),
                    "still so at the end" if row.open else words.date(row.last), row.min_isr or "unknown",
                    _proof(row.proof),
                ),
            )
            for row in rows[:MOST_ROWS]
        ],
        takeaway=takeaway,
        reading="The ISR was the leader alone and min.insync.replicas let it acknowledge, or is not known; longest first, by "
        "ZooKeeper’s clock.",
        total=len(rows),
        rest="isr_alone",
        search=True,
    )  # fmt: skip
    return html(render("plain_table", table=table), tables=tables, cites=tuple(row.proof for row in rows[:MOST_ROWS]))


def ask(found: Durability) -> View:
    """Show questions with answers in no file."""
    table = Table(
        name="questions",
        columns=(("Ask", TEXT), ("Question", TEXT), ("Consequence", QUIET)),
        rows=[(PLAIN, _question(one)) for one in found.questions],
        takeaway=f"{words.plural(len(found.questions), 'question')} that only people can answer.",
    )
    return html(render("plain_table", table=table))


def _question(one: Ask) -> tuple[object, ...]:
    return one.whom, one.question, one.why


def changes(found: Durability, *, against: str = "") -> View:
    """Show the changes since an earlier audit."""
    if found.changes is None:
        return html(render("durability_no_changes"), tables={"audit_changes": ()})
    rows = found.changes
    verdicts_changed = [row for row in rows if row.what == "verdict"]
    gone = sum(row.after is None for row in verdicts_changed)
    settings_changed = len(rows) - len(verdicts_changed)
    table = Table(
        name="audit-changes",
        columns=(("Of", TEXT), ("Rule or setting", CODE), ("Then", TEXT), ("Now", TEXT)),
        rows=[
            (ALARM if _worse(row) else PLAIN, (row.entity, row.key, row.before or "–", row.after or "–"))
            for row in rows[:_MOST_OWN]
        ],
        takeaway=f"{words.plural(settings_changed, 'setting')} and {words.plural(len(verdicts_changed), 'verdict')} "
        f"have changed since {against}; {words.count(gone)} of the verdicts {'is' if gone == 1 else 'are'} "
        "gone."
        if rows
        else f"Nothing has changed since {against}.",
        reading="Verdicts first.",
        total=len(rows),
        rest="audit_changes",
        search=True,
        wide=True,
    )
    return html(render("plain_table", table=table), tables={"audit_changes": rows})


def _worse(row: Difference) -> bool:
    return row.what == "verdict" and row.after is not None and row.severity in ("critical", "warning")


def _cites(rows: Iterable[LossVerdict]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.proof for row in rows if _quotable(row.proof)))


def _quotable(proof: str) -> bool:
    _, colon, line = proof.rpartition(":")
    return proof.startswith("/") or bool(colon and line.isdigit())


def _proof(proof: str) -> Markup:
    if proof.startswith("tables/"):
        return Markup('<a class="cb-proof" href="{}.parquet"><code>{}</code></a>').format(proof, proof)
    if not _quotable(proof) and " txn " not in proof:
        return Markup("<code>{}</code>").format(proof)
    label = cited_as(proof)
    short = label.rpartition("/")[2] if not label.startswith("/") else label
    return Markup('<a class="cb-proof" href="#{}" title="{}"><code>{}</code></a>').format(anchor(label), label, short)
