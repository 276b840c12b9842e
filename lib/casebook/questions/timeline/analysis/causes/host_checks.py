"""Check on host metrics during incidents, and clues to show next to a root."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from casebook.facts.cluster import instant
from casebook.facts.host_metrics import CPU, DISK, FAMILIES, METRICS, NETWORK, NOTHING_TOLD, HostMetrics
from casebook.facts.observed import Observation, Source, observation
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import brokers, duration, plural
from casebook.kafka.past_rows import Window
from casebook.questions.timeline.analysis.causal_chain import Chain, Indication, Root
from casebook.questions.timeline.analysis.causes import host_clues
from casebook.questions.timeline.analysis.causes.host_clues import STARTED, Clue, Series, WatchedTime
from casebook.questions.timeline.analysis.causes.loss_roots import NO_INTERFACE, NO_SWITCH
from casebook.questions.timeline.analysis.clocks import clock_checks
from casebook.questions.timeline.analysis.clocks.clocks import ZOOKEEPER
from casebook.questions.timeline.analysis.extent import untold
from casebook.questions.timeline.analysis.scene import TimelineInputs

_COLLECT = "Collect host metrics: casebook collect --metrics BROKER=GLOB, network, disks and CPU (docs/configuration.md)."
_BESIDE = {
    "network": (NETWORK,), "frozen": (CPU, DISK), "gc": (CPU, DISK), "zookeeper": (DISK,), "disk": (DISK,), "disk_full": (DISK,),
}  # fmt: skip
"""Kinds of roots with the families of clues to show; clues on starts go with an ended process."""
_GIVE_ZONE = "Collect the brokers' logs and ZooKeeper's files too, or set the zone, as timezone=Europe/Berlin or UTC, 2=UTC."
_NOT_GIVEN = "UTC"
"""Default value of the parameter."""
_MOST = 2
"""Maximum number of clues per root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """Host metrics with clues.

    Args:
        told: All metrics, by the reference clock.
        series: Dated metrics.
        incidents: Periods to compare with.
        clues: Outliers during incidents, most significant first.
        unsure: Brokers whose host metrics may be misaligned: either the metrics have no zone and no log of the broker shows it;
            or they have one, and nothing shows the zone of the logs.
        taken: Zone assumed for their times, or those of the logs.
    """

    told: HostMetrics = NOTHING_TOLD
    series: Sequence[Series] = ()
    incidents: Sequence[WatchedTime] = ()
    clues: tuple[Clue, ...] = ()
    unsure: frozenset[int] = frozenset()
    taken: str = ""

    @property
    def observed(self) -> Observation | None:
        """Observation time."""
        return observation(moment for one in self.series for moment in (one.samples[0].at, one.samples[-1].at))


def weighed(told: HostMetrics, scene: TimelineInputs, windows: Iterable[Window], chains: Sequence[Chain]) -> Hosts:
    """Compare host metrics with events."""
    if not told.files:
        return Hosts()
    known = host_clues.by_reference(told, scene.clocks)
    series = host_clues.series(known)
    during = host_clues.incidents(windows, chains)
    clues = host_clues.clues(known, series, during)
    unsure = frozenset(_unsure(known, scene))
    return Hosts(told=known, series=series, incidents=during, clues=clues, unsure=unsure, taken=scene.timezone)


def _unsure(told: HostMetrics, scene: TimelineInputs) -> Iterator[int]:
    if scene.timezone != _NOT_GIVEN:  # the zone is given
        return
    logs_known = scene.reference == ZOOKEEPER or clock_checks.told(scene).as_read >= scene.lives.keys()
    for broker, zoned in {(one.broker, one.zoned) for one in told.samples if one.at is not None}:
        if not (logs_known if zoned else broker in scene.lives):
            yield broker


def beside(roots: Iterable[Root], hosts: Hosts) -> Iterator[Root]:
    """Add the broker's host metrics to the evidence for root candidates.

    They never decide: a candidate without other evidence gets none.
    """
    for root in roots:
        sure = (one for one in hosts.clues if one.broker == root.broker not in hosts.unsure)
        near = [one for one in sure if root.chain in one.chains and _belongs(one, root)]
        more = tuple(Indication(one.text, one.proof) for one in near[:_MOST]) if root.pro else ()
        unchecked = root.unchecked
        if NO_INTERFACE in unchecked and any(_tells_of_network(one, root) for one in hosts.series):
            unchecked = tuple(NO_SWITCH if text == NO_INTERFACE else text for text in unchecked)
        yield root._replace(pro=(*root.pro, *more), unchecked=unchecked)


def _tells_of_network(one: Series, root: Root) -> bool:
    return one.broker == root.broker and METRICS[one.metric].family == NETWORK


def _belongs(clue: Clue, root: Root) -> bool:
    if clue.kind == STARTED:
        return root.kind == "killed"
    return METRICS[clue.metric].family in _BESIDE.get(root.kind, ())


def checks(scene: TimelineInputs, hosts: Hosts) -> tuple[Finding, ...]:
    """Did a host metric stand out during an incident? Not asked without host metrics."""
    return (_check(scene, hosts),) if hosts.told.files else ()


def _check(scene: TimelineInputs, hosts: Hosts) -> Finding:
    told, of = {one.broker for one in hosts.series}, scene.brokers | scene.lives.keys()
    sure = [clue for clue in hosts.clues if clue.broker not in hosts.unsure]
    ask = Question(
        check="timeline.hosts",
        question="Did any broker's host show anomalies during the incident?",
        coverage=Coverage.counted(len(told), len(of | told), "host", Source.METRICS),
        threshold="a metric outside its own range or saturated, or a host restart",
        facts={
            "samples": len(hosts.told.samples),
            "clues": [clue.text for clue in sure],
            "not_used": list(hosts.told.problems),
        },
        evidence=tuple(proof(clue.proof) for clue in sure[:SHOWN]),
        caveats=tuple(_caveats(hosts)),
    )
    lost = (f"{path}: could not be taken." for path in scene.cluster.unreadable if "/metrics/" in path)
    problems = tuple(Gap(why=why, settle=_COLLECT) for why in (*hosts.told.problems, *lost))
    if sure:
        first, more = sure[0], len(sure) - 1
        others = f"; {plural(more, 'more anomaly', 'more anomalies')} on hosts meanwhile" if more else ""
        return ask.found(
            Severity.INFO,
            f"{first.text}{others}",
            why=f"Meanwhile: {first.during}. Metrics cannot show whether it is a cause or a consequence.",
            since=instant(first.by),
            at_latest=True,
        )
    if hosts.unsure:
        return ask.could_not_check(
            f"Anomalies on the hosts of {brokers(sorted(hosts.unsure))} are unknown: their time zone is unknown",
            why=f"With times read as {hosts.taken}: {hosts.clues[0].text if hosts.clues else 'no anomalies'}.",
            settle=_GIVE_ZONE,
        )
    if not hosts.series:
        why = " ".join(hosts.told.problems)
        return ask.could_not_check("Host metrics cannot be used: no sample has a time", why=why, settle=_COLLECT)
    if not hosts.incidents:
        gaps = (*untold(scene), *coverage.server_logs(scene.files, scene.cluster, scene.brokers))
        return ask.not_applicable("There is no event to compare with host metrics", gaps=gaps)
    return ask.ok("No host showed anomalies during the incident", gaps=(*_unmeasured(scene, hosts), *problems))


def _caveats(hosts: Hosts) -> Iterator[str]:
    """Yield the limits of the samples, and assumptions on their times."""
    longest = max((one.interval or 0 for one in hosts.series), default=0)
    if longest:
        yield f"Samples are averages over up to {duration(longest)}: shorter events may not show."
    if hosts.unsure:
        whose = brokers(sorted(hosts.unsure))
        yield f"The time zone of the hosts of {whose} is unknown; {hosts.taken} is assumed."


def _unmeasured(scene: TimelineInputs, hosts: Hosts) -> Iterator[Gap]:
    """Yield hosts without network, disk and CPU metrics for the whole time."""
    since = min(one.opened for one in hosts.incidents)
    ends = [one.closed for one in hosts.incidents]
    until = max((scene.span or (since, since))[1] if end is None else end for end in ends)
    for family in FAMILIES:
        seen = {one.broker for one in hosts.series if METRICS[one.metric].family == family and one.covers(since, until)}
        if missing := sorted((scene.brokers | scene.lives.keys()) - seen):
            what = "CPU" if family == CPU else f"the {family}" if family == NETWORK else "disks"
            yield Gap(why=f"No samples of {what} from {brokers(missing)} cover the events.", settle=_COLLECT)
