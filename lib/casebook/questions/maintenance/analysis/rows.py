"""Rows of restarts: effect on partitions, coordinators and groups."""

from collections.abc import Iterable
from dataclasses import dataclass

from casebook.kafka.restart_sets import Harm, Restart, RestartSets
from casebook.questions.maintenance.analysis.loads import CoordinatorMoves, MovedLoads


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRow:
    """A row of ``tables/restart_sets``; counts are of partitions, ``None`` is unknown.

    Columns:
        brokers: Stopped together: every living broker, every two, the chosen ones, steps of the rolling order.
        safe: Nothing breaks that is not broken already; null if some partition could not be judged.
        goes_offline: Partitions that would have no leader.
        unclean: Partitions that an out-of-sync replica would lead: records are lost.
        falls_under_min_isr: Partitions that would refuse acks=all.
        already_broken: Partitions of these brokers that are offline or under min ISR already, and do not get worse.
        unknown: Partitions that could not be judged, wherever their replicas are.
        offsets_partitions: Partitions of __consumer_offsets that change their coordinator.
        transaction_partitions: Partitions of __transaction_state that do; null when leaders are not known.
        groups_without_coordinator: Known groups that wait meanwhile; null when the case names no group.
        seconds_without_coordinator: Until the last is loaded, best guess; null when unknown or without end.
        why: Why there are no seconds; empty when there are.

    Args:
        endless: Some wait until a broker is back.
    """

    brokers: tuple[int, ...]
    safe: bool | None
    goes_offline: int
    unclean: int
    falls_under_min_isr: int
    already_broken: int
    unknown: int
    offsets_partitions: int
    transaction_partitions: int | None
    groups_without_coordinator: int | None
    seconds_without_coordinator: float | None
    endless: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderStep:
    """A step of an order.

    Args:
        number: Starts at 1.
        row: Effect.
        catch_up: Partitions that must have these brokers back in sync before the next step.
    """

    number: int
    row: RestartRow
    catch_up: int


def row(restart: Restart, moved: MovedLoads) -> RestartRow:
    """Return a restart with its effect on coordinators."""
    return RestartRow(
        brokers=restart.brokers,
        safe=restart.safe,
        goes_offline=restart.offline,
        unclean=restart.unclean,
        falls_under_min_isr=restart.under_min_isr,
        already_broken=restart.already_broken,
        unknown=restart.unknown,
        offsets_partitions=len(moved.handovers),
        transaction_partitions=moved.transactions,
        groups_without_coordinator=moved.groups,
        seconds_without_coordinator=moved.seconds,
        endless=moved.endless,
        why=moved.why,
    )


def rows(sets: RestartSets, moves: CoordinatorMoves, also: Iterable[tuple[int, ...]] = ()) -> tuple[RestartRow, ...]:
    """Return every single broker, every pair, and the other requested sets."""
    found = {restart.brokers: restart for restart in sets.singles_and_pairs()}
    for brokers in also:
        if brokers and (key := tuple(sorted(set(brokers)))) not in found:
            found[key] = sets.of(key)
    return tuple(row(restart, moves.of(brokers)) for brokers, restart in found.items())


def harms(row: RestartRow) -> list[tuple[Harm, int]]:
    """Return the actual harms of a restart, worst first."""
    counts = (row.goes_offline, row.unclean, row.falls_under_min_isr)
    return [(harm, number) for harm, number in zip(Harm, counts, strict=True) if number]
