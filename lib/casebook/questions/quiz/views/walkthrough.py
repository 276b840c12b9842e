"""Walkthrough: a term in evidence, and the evidence of a quiz, without interpretation."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from markupsafe import Markup

from casebook.facts.cluster import Cluster
from casebook.facts.proofs import state_path
from casebook.facts.stamp import Stamp
from casebook.findings import words
from casebook.kafka.releases import VersionInUse
from casebook.page import proof
from casebook.page.render import render
from casebook.page.table import CODE, PLAIN, TEXT, UNBROKEN, Table, unknown
from casebook.page.view import View, html
from casebook.questions.quiz.analysis.exhibit import Exhibit, settings
from casebook.questions.quiz.analysis.incident import QuizIncident
from casebook.questions.quiz.analysis.past import LastInSync
from casebook.questions.quiz.analysis.quiz import Quiz

_MOST, _AT_A_GLANCE = 2000, 60
_UNBROKEN = 60
"""Characters of a cell that stays on one line."""


class LessonEvidence(Protocol):
    """View of a lesson: see :class:`casebook.questions.quiz.walkthrough.Lesson`."""

    name: str
    text: str
    source: str
    takeaway: str
    reading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    evidence: tuple[Sequence, Sequence, Sequence]
    answer: str


def lessons(seen: Sequence[LessonEvidence]) -> View:
    """Show the terms of each lesson, a table, and below it the evidence as read."""
    return html(*map(_lesson, seen))


def _lesson(seen: LessonEvidence) -> Markup:
    table = Table(
        name=f"lesson-{seen.name}",
        columns=tuple((head, CODE) for head in seen.columns),
        rows=[(PLAIN, row) for row in seen.rows],
        takeaway=seen.takeaway,
        reading=f"{seen.reading} From {seen.source}.",
        stacked=True,
    )
    evidence = proof.shown(*seen.evidence, of=seen.source)
    return render("lesson", text=f"lesson_{seen.text}.html.j2", table=table, answer=seen.answer, evidence=evidence)


def shown(quiz: Quiz) -> View:
    """Show what people report, and the evidence without interpretation."""
    tables = _of_leaders(quiz.shown) if isinstance(quiz.shown, QuizIncident) else map(_exhibit, quiz.shown)
    return html(render("stack", parts=[render("said", words=quiz.alarm), *tables]))


def _of_leaders(case: QuizIncident) -> Sequence[Markup]:
    """Stored brokers, partitions and settings."""
    cluster = case.cluster
    partitions = _partitions(cluster, case.stored, case.last_in_sync)
    return _registered(cluster, case.lead.version), partitions, _exhibit(settings(cluster))


def _exhibit(exhibit: Exhibit) -> Markup:
    longest = [max((len(str(row[at])) for row in exhibit.rows), default=0) for at, _ in enumerate(exhibit.columns)]
    table = Table(
        name=exhibit.name,
        columns=tuple((head, CODE if most <= _UNBROKEN else TEXT) for head, most in zip(exhibit.columns, longest, strict=True)),
        rows=[(PLAIN, row) for row in exhibit.rows[:_MOST]],
        takeaway=exhibit.takeaway,
        reading=exhibit.reading,
        total=len(exhibit.rows),
        search=True,
        stacked=True,
        tall=len(exhibit.rows) > _AT_A_GLANCE,
    )
    return render("plain_table", table=table)


def _registered(cluster: Cluster, version: VersionInUse) -> Markup:
    if not cluster.brokers_known:
        return render("said", words="The registered brokers were not collected.")
    rows = [
        (PLAIN, (cluster.proofs.broker(id_).label, _since(broker.stamp), _controls(cluster, id_)))
        for id_, broker in cluster.brokers.items()
    ]
    table = Table(
        name="quiz-brokers",
        columns=(("Registered", CODE), ("Since", UNBROKEN), ("Role", TEXT)),
        rows=rows or [(PLAIN, ("nobody", "–", ""))],
        takeaway=f"{words.plural(len(cluster.brokers), 'broker is', 'brokers are')} registered.",
        reading=f"Kafka {version.version}, controller epoch {_shown(cluster.controller.epoch)}.",
        stacked=True,
    )
    return render("plain_table", table=table)


def _partitions(
    cluster: Cluster, stored: Mapping[str, bytes | None], last_in_sync: Mapping[tuple[str, int], LastInSync]
) -> Markup:
    deleting = {name for name, topic in cluster.topics.items() if topic.deleting}
    columns = [("Partition", CODE), ("Assignment", CODE), ("State, as stored", TEXT)]
    rows = [
        (
            partition.name,
            Markup("[{}]").format(words.listed(partition.replicas)),
            _data(stored.get(state_path(partition.topic, partition.partition))),
        )
        for partition in cluster.partitions[:_MOST]
    ] or [("none", "–", "–")]
    emptied = {p.name for p in cluster.partitions if p.state is not None and not p.state.isr}
    if emptied and last_in_sync:
        last = {f"{topic}-{partition}": told.isr for (topic, partition), told in last_in_sync.items()}
        columns.append(("ISR before it was emptied", CODE))
        before = {name: Markup("[{}]").format(words.listed(last[name])) if name in last else unknown() for name in emptied}
        rows = [(*row, before.get(row[0], "–")) for row in rows]
    if deleting:
        columns.append(("Topic", TEXT))
        rows = [(*row, "being deleted" if p.topic in deleting else "") for row, p in zip(rows, cluster.partitions, strict=False)]
    table = Table(
        name="quiz-partitions",
        columns=columns,
        rows=[(PLAIN, row) for row in rows],
        takeaway=f"{words.plural(len(cluster.partitions), 'partition')}.",
        reading="Assignment from the topic's znode, state from its own.",
        total=len(cluster.partitions),
        search=True,
        stacked=True,
        tall=len(rows) > _AT_A_GLANCE,
    )
    return render("plain_table", table=table)


def _since(stamp: Stamp | None) -> str:
    return words.date(stamp.created_at) if stamp is not None and stamp.created_at else "–"


def _controls(cluster: Cluster, broker: int) -> str:
    return "controller" if cluster.controller.broker == broker else ""


def _data(data: bytes | None) -> object:
    """Break a long line after a comma."""
    if data is None:
        return unknown()
    return Markup("<code>{}</code>").format(Markup(",<wbr>").join(data.decode(errors="backslashreplace").split(",")))


def _shown(epoch: int | None) -> str:
    return "unknown" if epoch is None else str(epoch)
