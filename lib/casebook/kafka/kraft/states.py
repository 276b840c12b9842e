"""A partition of KRaft after events of brokers, in the terms of :mod:`casebook.kafka.controller`.

The rules are those of :mod:`casebook.kafka.kraft.controller`.
"""

from collections.abc import Iterable, Iterator

from casebook.facts.cluster import PartitionState
from casebook.kafka.controller import ElectionOutcome, State
from casebook.kafka.election import Brokers
from casebook.kafka.kraft.controller import BrokerEvent, after_all
from casebook.kafka.kraft.election import KraftPartition, KraftSettings
from casebook.kafka.releases import KafkaVersion

_Events = list[tuple[BrokerEvent, int]]


def after_deaths(
    *, state: State, replicas: Brokers, live: frozenset[int], dead: frozenset[int], settings: KraftSettings, version: KafkaVersion
) -> frozenset[ElectionOutcome | None]:
    """Return the possible states after brokers fail: the controller fences one at a time, in any order.

    Args:
        live: Brokers alive after the event.
        dead: Brokers that failed in it.
        settings: All of them known.
    """
    if state is None:
        return frozenset({None})
    orders = (_last(sorted(dead), broker) for broker in sorted(dead))
    return frozenset(
        _after(state, replicas, live | dead, [(BrokerEvent.FENCED, broker) for broker in order], settings, version)
        for order in orders
    ) or frozenset({_outcome(_stored(state, replicas))})


def after_controlled_shutdown(
    *,
    state: State,
    replicas: Brokers,
    live: frozenset[int],
    broker: int,
    settings: KraftSettings,
    version: KafkaVersion,
    shutting_down: frozenset[int] = frozenset(),
) -> ElectionOutcome | None:
    """Return the state after a broker requests a controlled shutdown: it leaves ISR and leadership before it stops."""
    events = [(BrokerEvent.CONTROLLED_SHUTDOWN, broker)]
    return None if state is None else _after(state, replicas, live - shutting_down, events, settings, version)


def after_start(
    *,
    state: State,
    replicas: Brokers,
    live: frozenset[int],
    started: frozenset[int],
    settings: KraftSettings,
    version: KafkaVersion,
    cleanly: bool,
) -> ElectionOutcome | None:
    """Return the state after brokers register again and are unfenced.

    Args:
        live: Brokers alive after the event.
        started: Brokers that registered in it.
        settings: All of them known.
        cleanly: Whether they were shut down cleanly; otherwise they are no longer eligible leader replicas.
    """
    start = BrokerEvent.RESTARTED_CLEANLY if cleanly else BrokerEvent.RESTARTED
    events = [(event, broker) for broker in sorted(started) for event in (start, BrokerEvent.UNFENCED)]
    return None if state is None else _after(state, replicas, live - started, events, settings, version)


def _after(
    state: State, replicas: Brokers, eligible: frozenset[int], events: _Events, settings: KraftSettings, version: KafkaVersion
) -> ElectionOutcome:
    stored = _stored(state, replicas)
    changes = after_all(stored, events=events, eligible=eligible, settings=settings, version=version)
    return _outcome(changes[-1].after if changes else stored)


def _stored(state: PartitionState | ElectionOutcome, replicas: Brokers) -> KraftPartition:
    return KraftPartition(
        replicas=replicas,
        isr=state.isr,
        leader=state.leader,
        elr=state.elr or (),
        last_known_elr=state.last_known_elr or (),
        recovering=state.recovering,
        leader_epoch=state.leader_epoch,
    )


def _outcome(stored: KraftPartition) -> ElectionOutcome:
    return ElectionOutcome(
        leader=stored.leader,
        isr=stored.isr,
        leader_epoch=stored.leader_epoch,
        recovering=stored.recovering,
        elr=stored.elr,
        last_known_elr=stored.last_known_elr,
    )


def _last(brokers: Iterable[int], last: int) -> Iterator[int]:
    yield from (broker for broker in brokers if broker != last)
    yield last
