"""Checks on restarts; those on a drain and on leftovers are in sibling modules."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from casebook.facts.cluster import Cluster
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Question, Severity, Step
from casebook.findings.proof import COLLECT_AGAIN, SHOWN, assumed
from casebook.findings.words import agree, brokers, count, duration, plural
from casebook.kafka.commands import Commands
from casebook.kafka.restart_sets import Harm, RestartSets
from casebook.kafka.verdict import ONLINE, Verdict
from casebook.questions.maintenance.analysis import drain_checks, leftover_checks
from casebook.questions.maintenance.analysis.drain import Drain
from casebook.questions.maintenance.analysis.leftovers import Leftover
from casebook.questions.maintenance.analysis.rows import OrderStep, RestartRow, harms

LONG = 60
"""Seconds without a coordinator that deserve a warning: longer than clients' default session timeouts."""

TABLE = Evidence(file="tables/restart_sets")
COLLECT_LOGS = "Collect with --log-dirs and --logs of the brokers that hold __consumer_offsets."
SUFFERS = {
    Harm.OFFLINE: ("goes offline", "go offline"),
    Harm.UNCLEAN: ("loses records in an unclean election", "lose records in an unclean election"),
    Harm.UNDER_MIN_ISR: ("refuses acks=all", "refuse acks=all"),
}
"""Harm to one partition, and to several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceInputs:
    """Inputs of the checks; see :class:`casebook.questions.maintenance.analysis.maintenance.Maintenance`.

    Args:
        unlisted: Why the size of coordinators' loads is unknown for some copies.
        lacking: Result of :func:`casebook.questions.leadership.analysis.empty_copies.lacking`.
    """

    cluster: Cluster
    verdicts: Sequence[Verdict]
    sets: RestartSets
    restarts: tuple[RestartRow, ...]
    leftovers: tuple[Leftover, ...]
    imbalance: dict[int, float]
    commands: Commands
    chosen: tuple[OrderStep, ...] = ()
    drain: Drain | None = None
    loading: frozenset[int] = frozenset()
    unlisted: coverage.Gaps = ()
    lacking: frozenset[tuple[int, str, int]] = frozenset()

    @property
    def singles(self) -> list[RestartRow]:
        """Return the restarts of one broker."""
        return [one for one in self.restarts if len(one.brokers) == 1]


def checks(scene: MaintenanceInputs) -> tuple[Finding, ...]:
    """Run every check, in a fixed order."""
    return (
        restart_one(scene),
        restart_pairs(scene),
        chosen(scene),
        coordinators(scene),
        drain_checks.drain(scene.drain, len(scene.cluster.partitions)),
        *_leftovers(scene),
    )


def in_short(scene: MaintenanceInputs) -> tuple[Finding, ...]:
    """Return the findings for the first five minutes."""
    return (restart_one(scene), *_leftovers(scene))


def _leftovers(scene: MaintenanceInputs) -> tuple[Finding, ...]:
    return leftover_checks.checks(scene.cluster, scene.leftovers, scene.imbalance, scene.commands, scene.lacking)


def suffers(row: RestartRow) -> str:
    """``4 partitions go offline, 2 refuse acks=all``."""
    said = [f"{count(many)} {agree(many, *SUFFERS[harm])}" for harm, many in harms(row)]
    if not said:
        return "nothing breaks"
    first, *rest = said
    many = harms(row)[0][1]
    return ", ".join([first.replace(count(many), plural(many, "partition"), 1), *rest])


def restart_one(scene: MaintenanceInputs) -> Finding:
    """Can every broker be restarted alone?"""
    rows = scene.singles
    hit = [row for row in rows if row.safe is False]
    open_ = [row for row in rows if row.safe is None]
    ask = Question(
        check="maintenance.restart_one",
        question="Can every broker be restarted on its own without harm?",
        coverage=Coverage.every(len(rows), "living broker", Source.ZNODES),
        threshold="a partition that goes offline, loses records, or falls under min ISR",
        facts={
            "brokers": len(rows),
            "unsafe": [row.brokers[0] for row in hit],
            "safe": [row.brokers[0] for row in rows if row.safe],
            "goes_offline": {str(row.brokers[0]): row.goes_offline for row in hit},
            "falls_under_min_isr": {str(row.brokers[0]): row.falls_under_min_isr for row in hit},
            "missing_in_sync": _not_by_design(scene, hit),
            "unknown": max((row.unknown for row in rows), default=0),
        },
        evidence=(TABLE,),
    )
    if not rows:
        return _nobody(ask, scene.cluster)
    if not hit:
        if open_:
            unknown = plural(open_[0].unknown, "partition")
            title = f"No broker is known to be unsafe to restart, but {unknown} could not be judged"
            return ask.could_not_check(title, settle=_settle(scene))
        well = f"Each of {plural(len(rows), 'broker')} can be restarted on its own"
        return _well(ask, scene, well, scene.loading, Severity.INFO)
    worst = max(hit, key=lambda row: (row.goes_offline, row.unclean, row.falls_under_min_isr, -row.brokers[0]))
    now = ask.facts["missing_in_sync"]
    whom = "No broker" if len(hit) == len(rows) else f"{count(len(hit))} of {plural(len(rows), 'broker')}"
    verb = "can be restarted" if len(hit) == len(rows) else "cannot be restarted"
    return ask.found(
        Severity.INFO,  # nothing is broken: it is about possible actions
        f"{whom} {verb} without harm: with broker {worst.brokers[0]} down, {suffers(worst)}",
        why=_why(now),
        evidence=_proof(scene, worst),
        next=tuple(_restart_steps(scene, hit, now)),
        caveats=_doubt(scene, rows),
    )


def _well(ask: Question, scene: MaintenanceInputs, well: str, loading: Collection[int], severity: Severity) -> Finding:
    """Return ok when no harm was found and everything was seen; with brokers to spare because they load."""
    gaps = _of_restarts(scene)
    title = f"{well}, {_not_yet(loading)}" if loading else well
    if loading and not gaps:
        return ask.found(severity, title, next=(_spare(loading),))
    return ask.ok(title, gaps=gaps)


def _not_yet(loading: Collection[int]) -> str:
    return f"but {brokers(sorted(loading))} only after {agree(len(loading), 'its load has', 'their loads have')} ended"


def _spare(loading: Collection[int]) -> Step:
    whose = f"{brokers(sorted(loading))} while {agree(len(loading), 'it loads', 'they load')}"
    return Step(kind="not", text=f"Do not restart {whose}: the load would start again from zero.")


def _why(now: int) -> str:
    if now:
        return (
            f"{plural(now, 'partition')} of them {agree(now, 'misses', 'miss')} in-sync replicas: once these have "
            "caught up, a restart harms fewer partitions, or none."
        )
    return "All these partitions are complete: they have one replica only, or only as many as min.insync.replicas requires."


def _restart_steps(scene: MaintenanceInputs, hit: Sequence[RestartRow], now: int) -> list[Step]:
    whom = brokers(row.brokers[0] for row in hit)
    fine = [row.brokers[0] for row in scene.singles if row.safe and row.brokers[0] not in scene.loading]
    steps = []
    if now:
        steps.append(
            Step(kind="first", text="Wait until all replicas are in sync again.", command=scene.commands.under_replicated())
        )
    move = f"Drain {'the broker' if len(hit) == 1 else 'a broker'} before you stop it: notebook 30 plans it."
    one = f"casebook run broker_maintenance -p drain={hit[0].brokers[0]}"
    steps.append(Step(kind="then" if now else "first", text=move, command=one))
    if fine:
        steps.append(Step(kind="then", text=f"{brokers(fine).capitalize()} can be restarted now, one at a time."))
    steps.append(
        Step(
            kind="not",
            text=f"Do not stop {whom} now, and never with kill -9: only a controlled shutdown moves leaders first.",
        )
    )
    return steps


def restart_pairs(scene: MaintenanceInputs) -> Finding:
    """Which two brokers must not be down at the same time?"""
    safe = {row.brokers[0] for row in scene.singles if row.safe is not False}
    rows = [row for row in scene.restarts if len(row.brokers) == 2]
    both = [row for row in rows if safe.issuperset(row.brokers)]
    hit = [row for row in both if row.safe is False]
    ask = Question(
        check="maintenance.restart_pairs",
        question="Which two brokers must not be down together, though each may be down alone?",
        coverage=Coverage.every(len(rows), "pair", Source.ZNODES),
        threshold="a pair that harms a partition that neither broker harms alone",
        facts={
            "pairs": len(rows),
            "unsafe": sum(row.safe is False for row in rows),
            "only_together": [list(row.brokers) for row in hit[:100]],
        },
        evidence=(TABLE,),
    )
    if not scene.singles:
        return _nobody(ask, scene.cluster)
    if not both:
        return ask.not_applicable("No two brokers can be restarted on their own", gaps=_gaps(scene))
    if hit:
        worst = max(hit, key=lambda row: (row.goes_offline, row.unclean, row.falls_under_min_isr))
        return ask.found(
            Severity.INFO,
            f"{count(len(hit))} of {plural(len(both), 'pair')} must not be down together: with {brokers(worst.brokers)} down, "
            f"{suffers(worst)}",
            evidence=_proof(scene, worst),
            why="Each of the two may be stopped alone, when the other is back in sync.",
            next=(Step(kind="first", text="Restart one broker at a time, in the rolling order of notebook 30."),),
            caveats=_doubt(scene, rows),
        )
    if any(row.safe is None for row in both):
        return ask.could_not_check(
            "No pair is known to be unsafe, but not every partition could be judged", settle=_settle(scene)
        )
    return ask.ok(f"Any of {plural(len(both), 'pair')} can be down at the same time", gaps=_of_restarts(scene))


def chosen(scene: MaintenanceInputs) -> Finding:
    """Does the requested order harm anything?"""
    steps = scene.chosen
    hit = [step for step in steps if step.row.safe is False]
    ask = Question(
        check="maintenance.chosen",
        question="Can the chosen brokers be restarted in this order?",
        coverage=Coverage.every(len(steps), "step", Source.ZNODES),
        threshold="a step that harms a partition",
        facts={
            "order": [list(step.row.brokers) for step in steps],
            "unsafe_steps": [step.number for step in hit],
            "goes_offline": [step.row.goes_offline for step in steps],
            "falls_under_min_isr": [step.row.falls_under_min_isr for step in steps],
        },
        evidence=(TABLE,),
    )
    if not steps:
        return ask.not_applicable("No brokers were chosen: set brokers=2,3")
    if hit:
        first = hit[0]
        hard = any(step.row.goes_offline or step.row.unclean for step in hit)
        whom = f"with {brokers(first.row.brokers)}"
        return ask.found(
            Severity.CRITICAL if hard else Severity.WARNING,
            f"Not in this order: {whom} down in step {first.number}, {suffers(first.row)}"
            if len(steps) > 1
            else f"No: {whom} down, {suffers(first.row)}",
            why=f"{count(len(hit))} of {plural(len(steps), 'step')} {agree(len(hit), 'harms', 'harm')} partitions: no "
            "other replica is in sync, or too few stay in sync.",
            evidence=_proof(scene, first.row),
            next=(
                Step(kind="first", text=_instead(scene, [broker for step in hit for broker in step.row.brokers])),
                Step(kind="not", text="Do not stop them now: partitions would go offline or refuse writes."),
            ),
        )
    if any(step.row.safe is None for step in steps):
        return ask.could_not_check("No step is known to harm, but not every partition could be judged", settle=_settle(scene))
    well = f"Yes: {plural(len(steps), 'step')}, each after the previous one is back in sync"
    loading = scene.loading.intersection(broker for step in steps for broker in step.row.brokers)
    return _well(ask, scene, well, loading, Severity.WARNING)


def _instead(scene: MaintenanceInputs, harmful: Sequence[int]) -> str:
    """Suggest the rolling order, which helps brokers that are safe alone."""
    alone = {row.brokers[0] for row in scene.singles if row.safe}
    if alone.issuperset(harmful):
        loading = scene.loading.intersection(harmful)
        but = f", {_not_yet(loading)}" if loading else ""
        return f"Restart {brokers(sorted(harmful))} one after the other, in the rolling order{but}: each is safe alone."
    return (
        f"Drain {brokers(sorted(set(harmful) - alone))} first: {agree(len(set(harmful) - alone), 'it', 'each')} harms "
        "partitions even when it is down alone."
    )


def coordinators(scene: MaintenanceInputs) -> Finding:
    """For how long does a restart leave groups without coordinator?"""
    rows = [row for row in scene.singles if row.offsets_partitions]
    timed = [row for row in rows if row.seconds_without_coordinator is not None]
    ask = Question(
        check="maintenance.coordinators",
        question="For how long does a restart leave groups without a coordinator?",
        coverage=Coverage.counted(len(timed), len(rows), "coordinator", Source.ZNODES, Source.LOGS),
        threshold=f"longer than {LONG} s, or until the broker is back",
        facts={
            "offsets_partitions": {str(row.brokers[0]): row.offsets_partitions for row in rows},
            "groups": {str(row.brokers[0]): row.groups_without_coordinator for row in rows},
            "seconds": {str(row.brokers[0]): row.seconds_without_coordinator for row in rows},
        },
        evidence=(TABLE,),
        caveats=("Loading only: the time to stop and start comes on top.",),
    )
    if not scene.singles:
        return _nobody(ask, scene.cluster)
    if nobody := [row for row in rows if row.endless]:
        return _stranded(ask, nobody)
    if long := [row for row in timed if row.seconds_without_coordinator > LONG]:
        return _long(ask, max(long, key=lambda row: row.seconds_without_coordinator))
    if len(timed) < len(rows):
        why = next(row.why for row in rows if row.seconds_without_coordinator is None)
        return ask.could_not_check("The wait of groups for their next coordinator is unknown", why=why, settle=COLLECT_LOGS)
    if any(row.transaction_partitions is None for row in scene.singles):
        return ask.could_not_check("The coordinators of the groups are unknown", settle=COLLECT_AGAIN)
    if not rows:
        return ask.not_applicable("No living broker coordinates a group", gaps=_gaps(scene))
    longest = max(row.seconds_without_coordinator for row in timed)
    well = f"No restart leaves a group without a coordinator for more than about {duration(round(1000 * longest))}"
    return ask.ok(well, gaps=_gaps(scene) + scene.unlisted)


def _stranded(ask: Question, rows: Sequence[RestartRow]) -> Finding:
    """Return the finding when no other in-sync replica could take the groups over."""
    first, whom = rows[0], brokers(row.brokers[0] for row in rows)
    return ask.found(
        Severity.WARNING,
        f"Groups of {whom} wait until {agree(len(rows), 'it is', 'these are')} back: no other replica is in sync",
        why=f"Broker {first.brokers[0]}: {first.why}.",
        next=(
            Step(
                kind="first", text="Before you stop the broker, drain it, or raise the replication factor of __consumer_offsets."
            ),
            Step(
                kind="not",
                text=(
                    "Do not restart all brokers that hold __consumer_offsets in direct succession: each next coordinator "
                    "would load again, and groups would wait for every load."
                ),
            ),
        ),
    )


def _long(ask: Question, worst: RestartRow) -> Finding:
    """Return the finding when others take over, but load longer than clients tolerate."""
    return ask.found(
        Severity.WARNING,
        f"Restarting broker {worst.brokers[0]} leaves {_groups(worst)} without a coordinator for about "
        f"{duration(round(1000 * worst.seconds_without_coordinator))}",
        why=("The next coordinator reads each offsets partition in full before it answers. Moving back takes as long again."),
        next=(
            Step(kind="first", text="Compact __consumer_offsets first: notebook 40 shows why it is large."),
            Step(kind="then", text="Restart one broker. Restart the next only when notebook 50 shows no load."),
            Step(kind="not", text="Do not restart a broker that is loading: it starts again from zero."),
        ),
    )


def _groups(row: RestartRow) -> str:
    if row.groups_without_coordinator is None:
        return f"the groups of {plural(row.offsets_partitions, 'offsets partition')}"
    return plural(row.groups_without_coordinator, "group")


def _nobody(ask: Question, cluster: Cluster) -> Finding:
    return ask.not_applicable("No broker is registered", gaps=coverage.registrations(cluster))


def _gaps(scene: MaintenanceInputs) -> coverage.Gaps:
    return coverage.registrations(scene.cluster) + coverage.states(scene.cluster)


def _of_restarts(scene: MaintenanceInputs) -> coverage.Gaps:
    """As :func:`_gaps`, when the next leader's own settings decide on refused acks=all; offline partitions refuse in any case."""
    origins = {verdict.min_isr_origin for verdict in scene.verdicts if verdict.state in ONLINE}
    return _gaps(scene) + coverage.settings_of_all(scene.cluster, origins)


def _doubt(scene: MaintenanceInputs, rows: Sequence[RestartRow]) -> tuple[str, ...]:
    unknown = max((row.unknown for row in rows), default=0)
    more = (f"{plural(unknown, 'partition')} more could not be judged.",) if unknown else ()
    return (*more, *assumed(verdict.min_isr_origin for verdict in scene.verdicts))


def _settle(scene: MaintenanceInputs) -> str:
    """Return what would settle it: usually an unknown min.insync.replicas."""
    if assumed(verdict.min_isr_origin for verdict in scene.verdicts):
        return (
            "Add every broker's server.properties, which may set min.insync.replicas: casebook collect ... --properties 1=FILE."
        )
    return COLLECT_AGAIN


def _not_by_design(scene: MaintenanceInputs, hit: Sequence[RestartRow]) -> int:
    """Return how many harmed partitions lack in-sync replicas, so that waiting helps."""
    short = {(v.topic, v.partition) for v in scene.verdicts if v.under_replicated}
    harmed = {name for row in hit for names in scene.sets.harmed(row.brokers).values() for name in names} if short else set()
    return len(harmed & short)


def _proof(scene: MaintenanceInputs, row: RestartRow) -> tuple[Evidence, ...]:
    """Return the states of the first harmed partitions, and the table."""
    first = set([name for some in scene.sets.harmed(row.brokers).values() for name in some][:SHOWN])
    return (*(scene.cluster.proofs.state(v.topic, v.partition) for v in scene.verdicts if (v.topic, v.partition) in first), TABLE)
