"""Parameters of a maintenance: brokers to restart in order, brokers to drain and how."""

from collections.abc import Iterable
from dataclasses import dataclass

from casebook.errors import UsageError
from casebook.facts.cluster import Cluster
from casebook.findings.words import agree
from casebook.findings.words import brokers as named
from casebook.kafka.drain import Wanted
from casebook.questions.maintenance.analysis.order import Order

_MEGABYTE = 1_000_000  # as in network cards and --throttle


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceParameters:
    """Parsed parameters.

    Args:
        order: Brokers to restart, those of one tuple together; empty without any.
        wanted: Drain; ``None`` without brokers.
        throttle: Bytes per second and broker; ``None`` when not given.
    """

    order: Order = ()
    wanted: Wanted | None = None
    throttle: int | None = None


def parse(
    cluster: Cluster,
    *,
    brokers: str = "",
    drain: str = "",
    exclude: str = "",
    targets: str = "",
    throttle: float = 0.0,
    moves: int = 50,
    min_rf: int = 1,
) -> MaintenanceParameters:
    """Parse the parameters.

    Args:
        brokers: Brokers to restart: a comma between those in sequence, a plus between those together.
        drain: Brokers to drain, comma-separated.
        exclude: Brokers that receive nothing.
        targets: The only brokers that receive replicas; ``""`` for all live ones.
        throttle: Megabytes per second; 0 for none.
        moves: Replicas copied in one step.
        min_rf: Minimum replication factor of a moved partition.

    Raises:
        UsageError: A text is invalid, or names an unsuitable broker.
    """
    if throttle < 0 or moves < 1 or min_rf < 1:
        raise UsageError("throttle, moves or min_rf is too small.", try_="throttle is 0 or more, moves and min_rf are 1 or more.")
    order = parse_order(cluster, str(brokers))  # papermill converts a text that looks like a number
    wanted = None
    if drained := _named(cluster, "drain", str(drain)):
        others = cluster.live.difference(_named(cluster, "targets", str(targets))) if str(targets).strip() else frozenset()
        excluded = frozenset(_named(cluster, "exclude", str(exclude))) | (others - drained)
        wanted = Wanted(brokers=drained, excluded=excluded, factor=min_rf, most_moves=moves)
    return MaintenanceParameters(order=order, wanted=wanted, throttle=round(throttle * _MEGABYTE) or None)


def parse_order(cluster: Cluster, text: str) -> Order:
    """Parse an order of brokers, e.g. ``2,1+3``.

    Raises:
        UsageError: It is invalid, or names a broker twice, or an unregistered one.
    """
    order = tuple(tuple(_ids("brokers", step.replace("+", ","))) for step in text.split(",") if step.strip())
    flat = [broker for step in order for broker in step]
    twice = sorted({broker for broker in flat if flat.count(broker) > 1})
    if twice:
        raise UsageError(f"brokers={text} names {named(twice)} twice.", try_="Name each broker once.")
    if missing := [broker for broker in flat if broker not in cluster.live]:
        live = ", ".join(map(str, sorted(cluster.live))) or "none is known"
        raise UsageError(
            (
                f"brokers={text}: {named(missing)} {agree(len(missing), 'is', 'are')} not registered, so there is "
                "nothing to restart."
            ),
            try_=f"Registered: {live}. Notebook 20 shows which dead broker to start first.",
        )
    return order


def written(order: Order) -> str:
    """Format an order as its parameter."""
    return ",".join("+".join(map(str, step)) for step in order)


def _named(cluster: Cluster, parameter: str, text: str) -> frozenset[int]:
    """Parse known brokers: a mistyped id would otherwise be accepted silently."""
    found = frozenset(_ids(parameter, text))
    assigned = {broker for partition in cluster.partitions for broker in (*partition.replicas, *cluster.leads_to(partition))}
    seen = cluster.brokers_known and not cluster.unlisted
    if seen and (missing := sorted(found - cluster.live - assigned)):
        raise UsageError(
            (
                f"{parameter}={text}: {named(missing)} {agree(len(missing), 'is', 'are')} neither registered nor "
                "assigned any replica."
            ),
            try_=f"Registered: {', '.join(map(str, sorted(cluster.live)))}.",
        )
    return found


def _ids(parameter: str, text: str) -> Iterable[int]:
    found = []
    for part in text.split(","):
        if not (word := part.strip()):
            continue
        if not (word.isascii() and word.isdigit()):
            raise UsageError(
                f"{parameter}={text} is not a list of broker ids.", try_=f'Write ids with commas, e.g. {parameter}="2,3".'
            )
        found.append(int(word))
    return found
