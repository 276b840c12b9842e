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
from casebook.questions.quiz.analysis.past import LastInSync

_MOST, _AT_A_GLANCE = 2000, 60
_TELLING = ("unclean.leader.election.enable", "min.insync.replicas")
"""Settings that decide an election, or its importance."""


class LessonEvidence(Protocol):
    """View of a lesson: see :class:`casebook.questions.quiz.walkthrough.Lesson`."""

    name: str
    source: str
    takeaway: str
    reading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    evidence: tuple[Sequence, Sequence, Sequence]
    answer: str


def lesson(seen: LessonEvidence) -> View:
    """Show a table, and below it the evidence as read."""
    table = Table(
        name=f"lesson-{seen.name}",
        columns=tuple((head, CODE) for head in seen.columns),
        rows=[(PLAIN, row) for row in seen.rows],
        takeaway=seen.takeaway,
        reading=f"{seen.reading} From {seen.source}.",
        stacked=True,
    )
    return html(render("lesson", table=table, answer=seen.answer, evidence=proof.shown(*seen.evidence, of=seen.source)))


def incident(
    cluster: Cluster,
    version: VersionInUse,
    stored: Mapping[str, bytes | None],
    last_in_sync: Mapping[tuple[str, int], LastInSync],
) -> View:
    """Show stored brokers, partitions and settings.

    Args:
        cluster: Cluster of the case.
        version: The release whose rules apply.
        stored: Data of znodes by path.
        last_in_sync: ISR before it was emptied, if the case has its history.
    """
    partitions = _partitions(cluster, stored, last_in_sync)
    return html(render("stack", parts=[_registered(cluster, version), partitions, _settings(cluster)]))


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


def _settings(cluster: Cluster) -> Markup:
    places = [
        *((f"topic {name}", config) for name, config in sorted(cluster.topic_configs.items())),
        *((f"broker {name}, dynamic", config) for name, config in sorted(cluster.broker_configs.items())),
        *((f"broker {broker}, server.properties", config) for broker, config in sorted(cluster.server_properties.items())),
    ]
    rows = [(PLAIN, (where, key, config[key])) for where, config in places for key in _TELLING if key in config]
    table = Table(
        name="quiz-settings",
        columns=(("Where", TEXT), ("Setting", CODE), ("Value", CODE)),
        rows=rows or [(PLAIN, ("nowhere", "–", "–"))],
        takeaway=f"{words.plural(len(rows), 'setting')} of {_TELLING[0]} and {_TELLING[1]}.",
        reading="A topic's own setting comes before a broker's; without either, the release's default holds.",
        stacked=True,
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
