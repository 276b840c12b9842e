"""Maintenance: which brokers may restart, how one is drained, what is left over. What notebook 30 concludes."""

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
    """Everything notebook 30 shows.

    Args:
        asked: What was asked for.
        verdicts: On each partition, in the cluster's order.
        sets: Answers whether brokers may stop together.
        moves: Answers what that does to coordinators.
        restarts: Every single broker, every two, and the chosen ones together.
        largest: The largest set found that may restart together; ``None`` when nobody may.
        rolling: An order for all living brokers.
        chosen: The order that was asked for; empty without one.
        leftovers: What earlier maintenance left.
        imbalance: By broker, the share of the partitions it is preferred for that somebody else leads.
        drain: ``None`` when no broker was named.
        commands: Of this release.
        log_dirs: Sizes of the partitions.
        findings: One for every check, in a fixed order.
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
        """Those of one broker."""
        return tuple(one for one in self.restarts if len(one.brokers) == 1)

    def together(self, order: Order) -> RestartRow:
        """What stopping all of an order at once would do."""
        brokers = [broker for step in order for broker in step]
        return row(self.sets.of(brokers), self.moves.of(brokers))

    def drained(self, **asked: str | float) -> Drain | None:
        """The plan of another drain; ``None`` when nobody is to be drained.

        Args:
            asked: Of :func:`casebook.questions.maintenance.analysis.asked.parse`.

        Raises:
            UsageError: A parameter stands for nothing of its kind.
        """
        given = maintenance_asked.parse(self.cluster, **asked)
        return _drained(self.cluster, given, self.commands, self.log_dirs)

    def steps(self, order: Order) -> tuple[OrderStep, ...]:
        """What each step of an order does, as those before it have left the leaders."""
        return _steps(self.cluster, self.verdicts, order, self.sets, self.moves)

    def stopped(self, order: Order, number: int) -> Stopped:
        """The cluster at a step of an order: those of its partitions that the step touches."""
        down = frozenset(order[number - 1])
        some, judged = part_of(self.cluster, self.verdicts, partial(is_touched, brokers=down))
        return tuple(replay(some, judged, order[:number], self.version.version))[-1]

    @property
    def rolling_order(self) -> Order:
        """The order for all of them."""
        return tuple(step.row.brokers for step in self.rolling)


def examine(
    cluster: Cluster,
    version: VersionInUse,
    *,
    asked: MaintenanceParameters | None = None,
    held: Coordinators | None = None,
    log_dirs: Sequence[LogDir] = (),
) -> Maintenance:
    """Judge restarts of each broker, each two and those asked for; plan the drain; answer every check.

    Args:
        asked: What is asked for; nothing but what holds of every cluster without it.
        held: Who coordinates what, and what loads have taken.
        log_dirs: Sizes of the partitions.
    """
    asked = asked or MaintenanceParameters()
    judged = verdicts(cluster, version.version)
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
    """What matters of it in the first five minutes.

    Args:
        restarts: Of single brokers.
        leftovers: What earlier maintenance left.
        findings: Of the checks that ask for no more.
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
    """Brokers that must not be restarted now, and leftovers.

    Args:
        judged: The verdict on each of the cluster's partitions.
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
    """Brokers that a restart would make load from the beginning."""
    waiting = within(held.partitions, *WAITING) if held else ()
    return frozenset(one.judged.coordinator for one in waiting if one.judged.coordinator is not None)


def _drained(cluster: Cluster, asked: MaintenanceParameters, commands: Commands, log_dirs: Sequence[LogDir]) -> Drain | None:
    if asked.wanted is None:
        return None
    return maintenance_drain.examine(cluster, asked.wanted, commands, log_dirs=log_dirs, throttle=asked.throttle)


def _steps(
    cluster: Cluster, judged: Sequence[Verdict], order: Order, sets: RestartSets, moves: CoordinatorMoves
) -> tuple[OrderStep, ...]:
    """What each step does. Who leads matters only to coordinators: a partition is harmed by who stops, whoever leads it."""
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
    """By broker, the places of the partitions that it is in sync of."""
    found: dict[int, set[int]] = defaultdict(set)
    for place, partition in enumerate(cluster.partitions):
        for broker in partition.state.isr if partition.state else ():
            found[broker].add(place)
    return found
