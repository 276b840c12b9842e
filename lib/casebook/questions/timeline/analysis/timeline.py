"""One timeline of logs and of ZooKeeper's history: in which order things happened, and what caused what.

What notebook 60 concludes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from casebook.facts.cluster import Cluster
from casebook.facts.events import Event, FileExtent, LogFile, Untyped
from casebook.facts.history import Happened
from casebook.facts.host_metrics import NOTHING_TOLD, HostsTold
from casebook.facts.losses import LeaderChange
from casebook.facts.observed import Observations, Source
from casebook.findings import coverage
from casebook.findings.finding import Finding, Gap
from casebook.kafka import past as timeline_history
from casebook.kafka.past_rows import Clock, EventRow, Sentence, Silence, Span, StateRow, Window
from casebook.kafka.releases import VersionInUse
from casebook.questions.timeline.analysis import (
    checks,
    clusters,
    extent,
    leader_changes,
    lives,
    loss_events,
    merge,
    moments,
    registrations,
    states,
)
from casebook.questions.timeline.analysis import story as timeline_story
from casebook.questions.timeline.analysis.causal_chain import Chain, Root
from casebook.questions.timeline.analysis.causes import chains as timeline_chains
from casebook.questions.timeline.analysis.causes import host_checks
from casebook.questions.timeline.analysis.causes import roots as timeline_roots
from casebook.questions.timeline.analysis.clocks import clocks as timeline_clocks
from casebook.questions.timeline.analysis.clocks import owners
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows import silences as timeline_silences
from casebook.questions.timeline.analysis.windows import windows as timeline_windows
from casebook.questions.timeline.analysis.windows.two_leaders import two_leaders


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Everything notebook 60 shows.

    Args:
        reference: Whose clock orders all: ``ZooKeeper``, ``broker 56``, or ``""`` when each log keeps its own.
        rows: What happened, in the order of the reference clock; undated rows last.
        partition_history: By topic, partition and time.
        clocks: One for each broker and log of no broker, in order.
        windows: By kind, worst first, then by time.
        possible: Windows with two leaders of which nobody knows whether there were any, with what bounds them.
        spans: Sessions, registrations, controllers and processes, by kind, broker and time: the lanes.
        chains: Those first whose broker is still down and holds partitions without leader, then those that hit most.
        roots: What may have begun each chain, the likeliest first; of the first chain first.
        silences: What these logs cannot tell.
        story: In the order of time.
        files: What each log covers.
        untyped: Shapes of entries that nobody knows, the most frequent first.
        findings: One for every check, in a fixed order.
        changes: Every election of another leader, in order.
        untold: Why there may be changes that nothing here tells of, or none where nothing speaks for it.
        observed: Of when logs, history and host metrics are.
        unsettled: Proofs of moments that are no more than the earliest: see :class:`casebook.kafka.past.Past`.
        hosts: What brokers' hosts measured meanwhile.
    """

    cluster: Cluster
    version: VersionInUse
    reference: str
    rows: tuple[EventRow, ...]
    partition_history: tuple[StateRow, ...]
    clocks: tuple[Clock, ...]
    windows: tuple[Window, ...]
    spans: tuple[Span, ...]
    chains: tuple[Chain, ...]
    roots: tuple[Root, ...]
    silences: tuple[Silence, ...]
    story: tuple[Sentence, ...]
    files: tuple[LogFile, ...]
    untyped: tuple[Untyped, ...]
    findings: tuple[Finding, ...]
    changes: tuple[LeaderChange, ...] = ()
    possible: tuple[Window, ...] = ()
    untold: tuple[Gap, ...] = ()
    observed: Observations = field(default_factory=dict)
    unsettled: frozenset[str] = frozenset()
    hosts: host_checks.Hosts = field(default_factory=host_checks.Hosts)


def examine(
    cluster: Cluster,
    version: VersionInUse,
    *,
    events: Sequence[Event] = (),
    files: Sequence[LogFile] = (),
    untyped: Sequence[Untyped] = (),
    history: Iterable[Happened] = (),
    timezone: str = "UTC",
    hosts: HostsTold = NOTHING_TOLD,
) -> Timeline:
    """Merge logs and history, tell clocks apart, find windows, chains and their roots, and answer every check.

    Args:
        cluster: Settings, and the last states; a case may have none.
        history: Of :func:`casebook.formats.zookeeper.history_facts.read`; empty where no ZooKeeper's files were collected.
        timezone: With which the logs were read: ``UTC, 2=Asia/Shanghai``.
        hosts: What brokers' hosts measured, read with the same.
    """
    scene = replace(_scene(cluster, version, events, tuple(files), history), timezone=timezone)
    both, doubts = two_leaders(scene)
    windows = timeline_windows.ordered((*both, *timeline_windows.windows(scene)))
    chains, losses = timeline_chains.chains(scene, windows)
    measured = host_checks.weighed(hosts, scene, windows, chains)
    roots = tuple(host_checks.beside(timeline_roots.roots(scene, chains, losses), measured))
    silences = timeline_silences.silences(scene, chains, doubts)
    shapes = tuple(sorted(untyped, key=lambda shape: (-shape.count, shape.shape)))
    told = {file.broker for file in scene.files if coverage.is_server_log(file) and file.extent is FileExtent.READ}
    changes = loss_events.named(leader_changes.changes(scene, both, doubts), cluster, chains, roots, told)
    return Timeline(
        cluster=cluster,
        version=version,
        reference=scene.reference,
        rows=scene.rows,
        partition_history=tuple(row for key in sorted(scene.states) for row in scene.states[key]),
        clocks=scene.clocks,
        windows=windows,
        spans=_spans(scene),
        chains=tuple(chains),
        roots=roots,
        silences=tuple(silences),
        story=timeline_story.sentences(chains),
        files=scene.files,
        untyped=shapes,
        findings=checks.checks(scene, windows, doubts, chains, roots, silences, shapes, changes, measured),
        changes=changes,
        possible=timeline_windows.ordered(doubt.window for doubt in doubts),
        untold=extent.untold(scene),
        observed=moments.observations(files=scene.files, past=scene.past) | _measured(measured),
        unsettled=scene.past.unsettled,
        hosts=measured,
    )


def _measured(hosts: host_checks.Hosts) -> Observations:
    return {} if hosts.observed is None else {Source.METRICS: hosts.observed}


def moves(found: Timeline, topic: str) -> dict[int, list[int]]:
    """When each partition of a topic got another leader."""
    times: dict[int, list[int]] = {}
    for change in found.changes:
        if change.topic == topic:
            times.setdefault(change.partition, []).append(change.opened)
    return times


def _scene(
    cluster: Cluster, version: VersionInUse, events: Sequence[Event], files: tuple[LogFile, ...], history: Iterable[Happened]
) -> TimelineInputs:
    past = timeline_history.past(history)
    reference, clocks = timeline_clocks.clocks(cluster, past, events, files)
    rows = merge.merged(past, clocks, events)
    past = registrations.with_later(past, rows, clocks)
    registered = registrations.registrations(cluster, past, rows)
    rows = owners.with_starts(rows, registered)
    renewals = clusters.renewals(rows)
    return TimelineInputs(
        cluster=cluster,
        version=version,
        reference=reference,
        past=past,
        clocks=clocks,
        rows=rows,
        states=states.states(cluster, past, rows, registered, renewals, lost=coverage.are_states_lost(files)),
        registered=registered,
        renewals=renewals,
        files=files,
        lives=lives.lives(rows, files, clocks),
    )


def _spans(scene: TimelineInputs) -> tuple[Span, ...]:
    spans = [
        *lives.sessions(scene.past, scene.rows),
        *(span for spans in scene.registered.values() for span in spans),
        *scene.past.controllers,
        *(span for spans in scene.lives.values() for span in spans),
    ]
    return tuple(sorted(spans, key=lambda span: (span.kind, span.broker is None, span.broker or 0, span.opened or 0)))
