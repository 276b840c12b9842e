"""Leadership: partitions without a leader, causes, and order of starts. Content of notebook 20."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from casebook.facts.cluster import Cluster, instant
from casebook.facts.disks import LogDir
from casebook.findings.finding import Finding
from casebook.kafka.partitions import dead_brokers, verdicts
from casebook.kafka.releases import VersionInUse
from casebook.kafka.verdict import Verdict
from casebook.questions.leadership.analysis import checks, empty_copies
from casebook.questions.leadership.analysis.empty_copies import Lacking
from casebook.questions.leadership.analysis.start_first import StartChoice, start_first


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerEpoch:
    """A row of ``tables/controller_epochs``: last writes of one controller epoch.

    Columns:
        controller_epoch: A controller epoch found in partition states.
        partitions: Partitions whose state was last written under it.
        first_write: Earliest of those writes, ISO-8601 UTC by ZooKeeper's clock.
        last_write: Latest of those writes.
    """

    controller_epoch: int
    partitions: int
    first_write: str | None
    last_write: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leadership:
    """Content of notebook 20.

    Args:
        dead: Unregistered ids in assignments or ISRs; empty when registrations are unknown.
        verdicts: Ordered by topic and partition.
        empty: Dead brokers whose log dirs have no segment of partitions that wait for them, with the number of these.
        lacking: All copies on dead brokers without a segment.
        start_first: Ordered by step, then broker.
        outdated: The znodes are of the past: dead brokers and the order of starts are unknown now.
        controller_epochs: By epoch.
        findings: One per check, in a fixed order.
    """

    cluster: Cluster
    version: VersionInUse
    dead: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    empty: tuple[tuple[int, int], ...] = ()
    lacking: Lacking = frozenset()
    start_first: tuple[StartChoice, ...]
    controller_epochs: tuple[ControllerEpoch, ...]
    findings: tuple[Finding, ...]
    outdated: bool = False


def examine(cluster: Cluster, version: VersionInUse, log_dirs: Sequence[LogDir] = ()) -> Leadership:
    """Judge every partition, rank the dead brokers, and run every check on leadership.

    Args:
        log_dirs: Listed log dirs: a start heals no partition without segments in them.
    """
    dead = dead_brokers(cluster)
    judged, awaited = empty_copies.without(verdicts(cluster, version.version), cluster, dead, log_dirs)
    choices = start_first(judged, dead)
    return Leadership(
        cluster=cluster,
        version=version,
        dead=dead,
        verdicts=judged,
        empty=tuple(sorted(Counter(awaited).items())),
        lacking=empty_copies.lacking(cluster, log_dirs),
        start_first=choices,
        controller_epochs=controller_epochs(cluster),
        findings=checks.checks(cluster, version, judged, dead, choices),
    )


def unknown(lead: Leadership) -> Leadership:
    """Return the result for znodes of the past."""
    return replace(lead, dead=(), verdicts=(), empty=(), lacking=frozenset(), start_first=(), outdated=True)


def controller_epochs(cluster: Cluster) -> tuple[ControllerEpoch, ...]:
    """Return the controllers in partition states, by epoch: history from znodes."""
    writes: dict[int, list[int | None]] = {}
    for partition in cluster.partitions:
        if (state := partition.state) is not None and state.controller_epoch is not None:
            writes.setdefault(state.controller_epoch, []).append(state.stamp.changed_at if state.stamp else None)
    return tuple(
        ControllerEpoch(
            controller_epoch=epoch,
            partitions=len(times),
            first_write=instant(min((t for t in times if t is not None), default=None)),
            last_write=instant(max((t for t in times if t is not None), default=None)),
        )
        for epoch, times in sorted(writes.items())
    )
