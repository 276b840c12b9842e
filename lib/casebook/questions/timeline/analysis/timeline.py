"""Timeline of logs and ZooKeeper's history: order of events, and causes.

Content of notebook 60.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from casebook.facts.cluster import Cluster
from casebook.facts.events import Event, FileExtent, LogFile, Untyped
from casebook.facts.history import Happened
from casebook.facts.host_metrics import NOTHING_TOLD, HostMetrics
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
    """Content of notebook 60.

    Args:
        reference: Owner of the reference clock: ``ZooKeeper``, ``broker 56``, or ``""`` when each log keeps its own.
        rows: Events, ordered by the reference clock; undated rows last.
        partition_history: States by topic, partition and time.
        clocks: One per broker and log of no broker, in order.
        windows: By kind, worst first, then by time.
        possible: Possible windows with two leaders, with their bounds.
        spans: Sessions, registrations, controllers and processes, by kind, broker and time, for the lanes.
        chains: Order: broker still down and needed by leaderless partitions, then by impact.
        roots: Root candidates of each chain, likeliest first; in order of chains.
        silences: Limits of these logs.
        story: In order of time.
        files: Coverage of each log.
        untyped: Shapes of unknown entries, most frequent first.
        findings: One per check, in a fixed order.
        changes: Elections of another leader, in order.
        untold: Why changes may be missing; empty without a sign of it.
        observed: Observation times of logs, history and host metrics.
        unsettled: Proofs of moments that are only the earliest possible: see :class:`casebook.kafka.past.Past`.
        hosts: Host metrics.
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
    hosts: HostMetrics = NOTHING_TOLD,
) -> Timeline:
    """Merge logs and history, align clocks, find windows, chains and roots, and run every check.

    Args:
        cluster: Settings, and last states, if the case has any.
        history: Result of :func:`casebook.formats.zookeeper.history_facts.read`; empty without ZooKeeper's files.
        timezone: Zone the logs were read with: ``UTC, 2=Asia/Shanghai``.
        hosts: Host metrics, read with the same zone.
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
    """Return the leader changes of each partition of a topic."""
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
