"""What is asked of a maintenance: brokers to restart in an order, brokers to drain and how. Texts of parameters to values."""

from collections.abc import Iterable
from dataclasses import dataclass

from casebook.errors import UsageError
from casebook.facts.cluster import Cluster
from casebook.findings.words import agree
from casebook.findings.words import brokers as named
from casebook.kafka.drain import Wanted
from casebook.questions.maintenance.analysis.order import Order

_MEGABYTE = 1_000_000  # as network cards and --throttle count


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceParameters:
    """What is asked.

    Args:
        order: Brokers to restart, those of one tuple together; empty when none were named.
        wanted: The drain; ``None`` when no broker was named.
        throttle: Bytes a second for each broker; ``None`` when none was given.
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
    """Read the parameters.

    Args:
        brokers: To restart: a comma between those that go one after the other, a plus between those that go together.
        drain: Brokers to drain, with commas.
        exclude: Brokers that take nothing.
        targets: The only brokers that take something; ``""`` for all that live.
        throttle: Megabytes a second; 0 for none.
        moves: Replicas copied in one step.
        min_rf: The least number of replicas that a moved partition gets.

    Raises:
        UsageError: A text stands for nothing of that kind, or names a broker that cannot be meant.
    """
    if throttle < 0 or moves < 1 or min_rf < 1:
        raise UsageError("throttle, moves or min_rf is too small.", try_="throttle is 0 or more, moves and min_rf are 1 or more.")
    order = parse_order(cluster, str(brokers))  # papermill makes a number of a text that looks like one
    wanted = None
    if drained := _named(cluster, "drain", str(drain)):
        others = cluster.live.difference(_named(cluster, "targets", str(targets))) if str(targets).strip() else frozenset()
        excluded = frozenset(_named(cluster, "exclude", str(exclude))) | (others - drained)
        wanted = Wanted(brokers=drained, excluded=excluded, factor=min_rf, most_moves=moves)
    return MaintenanceParameters(order=order, wanted=wanted, throttle=round(throttle * _MEGABYTE) or None)


def parse_order(cluster: Cluster, text: str) -> Order:
    """Read an order of brokers, e.g. ``2,1+3``.

    Raises:
        UsageError: It is none, or names a broker twice, or one that is not registered.
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
    """An order as its parameter is written."""
    return ",".join("+".join(map(str, step)) for step in order)


def _named(cluster: Cluster, parameter: str, text: str) -> frozenset[int]:
    """Brokers that are there, or were: an id that is mistyped would be obeyed in silence."""
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
