"""Maintenance: restarts, drains, leftovers. Content of notebook 30."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.facts.disks import OFFSETS_TOPIC, LogDir
from casebook.findings import copy_coverage
from casebook.findings.finding import Finding
from casebook.kafka.commands import Commands
from casebook.kafka.partitions import verdicts
from casebook.kafka.releases import VersionInUse
from casebook.kafka.restart_sets import RestartSets
from casebook.kafka.verdict import Verdict
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.coordinators.analysis.scene import within
from casebook.questions.coordinators.analysis.states import WAITING
from casebook.questions.leadership.analysis import empty_copies
from casebook.questions.maintenance.analysis import asked as maintenance_asked
from casebook.questions.maintenance.analysis import checks
from casebook.questions.maintenance.analysis import drain as maintenance_drain
from casebook.questions.maintenance.analysis.asked import MaintenanceParameters
from casebook.questions.maintenance.analysis.drain import Drain
from casebook.questions.maintenance.analysis.leftovers import Leftover, imbalance, leftovers
from casebook.questions.maintenance.analysis.loads import CoordinatorMoves, is_internal
from casebook.questions.maintenance.analysis.order import Order, Stopped, is_touched, part_of, replay
from casebook.questions.maintenance.analysis.rows import OrderStep, RestartRow, row, rows
from casebook.questions.offsets_topic.analysis.unread import unread_listings


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """Content of notebook 30.

    Args:
        asked: Parameters.
        verdicts: Verdicts on each partition, in the cluster's order.
        sets: Decides whether brokers may stop together.
        moves: Computes the effect on coordinators.
        restarts: Every single broker, every pair, and the requested ones together.
        largest: Largest set found that may restart together; ``None`` when no broker may.
        rolling: Order for all live brokers.
        chosen: Requested order; empty without one.
        leftovers: Leftovers of earlier maintenance.
        imbalance: By broker, the share of its preferred partitions that other brokers lead.
        drain: ``None`` without a broker to drain.
        commands: Commands of this release.
        log_dirs: Log dirs, for partition sizes.
        findings: One per check, in a fixed order.
    """

    cluster: Cluster
    version: VersionInUse
    asked: MaintenanceParameters
    verdicts: tuple[Verdict, ...]
    sets: RestartSets
    moves: CoordinatorMoves
    restarts: tuple[RestartRow, ...]
    largest: RestartRow | None
    rolling: tuple[OrderStep, ...]
    chosen: tuple[OrderStep, ...]
    leftovers: tuple[Leftover, ...]
    imbalance: dict[int, float]
    drain: Drain | None
    commands: Commands
    log_dirs: Sequence[LogDir]
    findings: tuple[Finding, ...]

    @property
    def singles(self) -> tuple[RestartRow, ...]:
        """Restarts of one broker."""
        return tuple(one for one in self.restarts if len(one.brokers) == 1)

    def together(self, order: Order) -> RestartRow:
        """Return the effect of stopping all brokers of an order at once."""
        brokers = [broker for step in order for broker in step]
        return row(self.sets.of(brokers), self.moves.of(brokers))

    def drained(self, **asked: str | float) -> Drain | None:
        """Return the plan of another drain; ``None`` without brokers to drain.

        Args:
            asked: Parameters of :func:`casebook.questions.maintenance.analysis.asked.parse`.

        Raises:
            UsageError: A parameter is invalid.
        """
        given = maintenance_asked.parse(self.cluster, **asked)
        return _drained(self.cluster, given, self.commands, self.log_dirs)

    def steps(self, order: Order) -> tuple[OrderStep, ...]:
        """Return the effect of each step of an order, with the leaders after the earlier ones."""
        return _steps(self.cluster, self.verdicts, order, self.sets, self.moves)

    def stopped(self, order: Order, number: int) -> Stopped:
        """Return the cluster at a step of an order, reduced to the affected partitions."""
        down = frozenset(order[number - 1])
        some, judged = part_of(self.cluster, self.verdicts, partial(is_touched, brokers=down))
        return tuple(replay(some, judged, order[:number], self.version.version))[-1]

    @property
    def rolling_order(self) -> Order:
        """Return the order for all of them."""
        return tuple(step.row.brokers for step in self.rolling)


def examine(
    cluster: Cluster,
    version: VersionInUse,
    *,
    judged: Sequence[Verdict] | None = None,
    asked: MaintenanceParameters | None = None,
    held: Coordinators | None = None,
    log_dirs: Sequence[LogDir] = (),
) -> Maintenance:
    """Judge restarts of each broker, each pair and the requested ones; plan the drain; run every check.

    Args:
        judged: Verdicts on the cluster's partitions, if they are known.
        asked: Parameters; without them, only the general results.
        held: Coordinators and past loads.
        log_dirs: Log dirs, for partition sizes.
    """
    asked = asked or MaintenanceParameters()
    judged = verdicts(cluster, version.version) if judged is None else judged
    sets = RestartSets(judged, cluster.live, unseen=len(cluster.unlisted))
    moves = CoordinatorMoves(cluster, judged, version.version, held=held, log_dirs=log_dirs)
    largest = sets.largest()
    rolling = tuple(restart.brokers for restart in sets.rolling(cluster.live, last=cluster.controller.broker))
    together = tuple(broker for step in asked.order for broker in step)
    commands = Commands(version.version, cluster.connect)
    scene = checks.MaintenanceInputs(
        cluster=cluster,
        verdicts=judged,
        sets=sets,
        restarts=rows(sets, moves, (together, largest.brokers if largest else (), *rolling)),
        chosen=_steps(cluster, judged, asked.order, sets, moves),
        leftovers=leftovers(cluster),
        imbalance=imbalance(cluster.partitions),
        drain=_drained(cluster, asked, commands, log_dirs),
        commands=commands,
        loading=loading(held),
        unlisted=copy_coverage.copies(cluster, [OFFSETS_TOPIC], log_dirs),
        lacking=empty_copies.lacking(cluster, log_dirs),
    )
    return Maintenance(
        cluster=cluster,
        version=version,
        asked=asked,
        verdicts=judged,
        sets=sets,
        moves=moves,
        restarts=scene.restarts,
        largest=row(largest, moves.of(largest.brokers)) if largest else None,
        rolling=_steps(cluster, judged, rolling, sets, moves),
        chosen=scene.chosen,
        leftovers=scene.leftovers,
        imbalance=scene.imbalance,
        drain=scene.drain,
        commands=commands,
        log_dirs=log_dirs,
        findings=(*checks.checks(scene), *unread_listings(log_dirs)),
    )


class InShort(NamedTuple):
    """Maintenance for the first five minutes.

    Args:
        restarts: Restarts of single brokers.
        leftovers: Leftovers of earlier maintenance.
        findings: Findings of the checks that need no more.
    """

    restarts: tuple[RestartRow, ...]
    leftovers: tuple[Leftover, ...]
    findings: tuple[Finding, ...]


def in_short(
    cluster: Cluster,
    version: VersionInUse,
    judged: Sequence[Verdict],
    held: Coordinators | None = None,
    log_dirs: Sequence[LogDir] = (),
) -> InShort:
    """Return the brokers that must not restart now, and leftovers.

    Args:
        judged: Verdicts on the cluster's partitions.
        held: As in :func:`examine`.
        log_dirs: As there.
    """
    sets = RestartSets(judged, cluster.live, unseen=len(cluster.unlisted))
    moves = CoordinatorMoves(cluster, judged, version.version)
    scene = checks.MaintenanceInputs(
        cluster=cluster,
        verdicts=judged,
        sets=sets,
        restarts=tuple(row(sets.of((broker,)), moves.of((broker,))) for broker in sets.live),
        leftovers=leftovers(cluster),
        imbalance=imbalance(cluster.partitions),
        commands=Commands(version.version, cluster.connect),
        loading=loading(held),
        lacking=empty_copies.lacking(cluster, log_dirs),
    )
    return InShort(scene.restarts, scene.leftovers, checks.in_short(scene))


def loading(held: Coordinators | None) -> frozenset[int]:
    """Return the brokers that would restart a load from the beginning."""
    waiting = within(held.partitions, *WAITING) if held else ()
    return frozenset(one.judged.coordinator for one in waiting if one.judged.coordinator is not None)


def _drained(cluster: Cluster, asked: MaintenanceParameters, commands: Commands, log_dirs: Sequence[LogDir]) -> Drain | None:
    if asked.wanted is None:
        return None
    return maintenance_drain.examine(cluster, asked.wanted, commands, log_dirs=log_dirs, throttle=asked.throttle)


def _steps(
    cluster: Cluster, judged: Sequence[Verdict], order: Order, sets: RestartSets, moves: CoordinatorMoves
) -> tuple[OrderStep, ...]:
    """Return the effect of each step. Leaders matter only for coordinators: harm depends on the stopped brokers alone."""
    internal, theirs = part_of(cluster, judged, lambda partition: is_internal(partition.topic))
    in_sync = _in_sync(cluster) if order else {}
    return tuple(
        OrderStep(
            number=one.number,
            row=row(sets.of(one.brokers), moves.as_led(one.before).of(one.brokers)),
            catch_up=len(set().union(*(in_sync.get(broker, ()) for broker in one.brokers))),
        )
        for one in replay(internal, theirs, order, moves.version)
    )


def _in_sync(cluster: Cluster) -> dict[int, set[int]]:
    """Return by broker the places of the partitions that it is in sync for."""
    found: dict[int, set[int]] = defaultdict(set)
    for place, partition in enumerate(cluster.partitions):
        for broker in partition.state.isr if partition.state else ():
            found[broker].add(place)
    return found
