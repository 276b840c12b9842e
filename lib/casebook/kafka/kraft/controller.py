"""The KRaft controller's changes when brokers go and come back: one partition after an event.

:func:`after` is for one event of a broker, :func:`after_all` for several in order, :func:`possible_ends` for settings that are
not all known. The rule of each change is :func:`casebook.kafka.kraft.election.change`, for the same releases.
"""

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from casebook.kafka import releases
from casebook.kafka.kraft.election import (
    KraftChange,
    KraftElection,
    KraftNoLeaderReason,
    KraftPartition,
    KraftSettings,
    change,
)
from casebook.kafka.releases import KafkaVersion


class BrokerEvent(StrEnum):
    """Event of a broker that changes partitions."""

    FENCED = "fenced"  # its session expired, or it finished its controlled shutdown
    UNFENCED = "unfenced"  # it has caught up with the metadata after its start
    CONTROLLED_SHUTDOWN = "controlled_shutdown"  # it asked to stop
    UNREGISTERED = "unregistered"  # kafka-cluster.sh unregister
    RESTARTED = "restarted"  # it registers with a new incarnation; from 4.0: not known to be after a clean shutdown
    RESTARTED_CLEANLY = "restarted_cleanly"  # it registers with a new incarnation after a clean shutdown (4.0)


class _EventRules(NamedTuple):
    """Rules of one release, where releases differ."""

    reads_unclean_setting: bool
    restart_leaves_isr: bool


@lru_cache
def _rules(version: KafkaVersion) -> _EventRules:
    return _EventRules(
        reads_unclean_setting=releases.KRAFT_UNCLEAN_SETTING.at(version) is True,
        restart_leaves_isr=releases.KRAFT_RESTART_LEAVES_ISR.at(version) is True,
    )


def after(
    partition: KraftPartition,
    *,
    event: BrokerEvent,
    broker: int,
    eligible: frozenset[int],
    settings: KraftSettings,
    version: KafkaVersion,
) -> KraftChange:
    """Return the partition after one event of a broker.

    A broker that goes leaves the ISR of its partitions, which elects a new leader where it led. A broker that is unfenced is a
    candidate for partitions without a leader; it joins an ISR only later, when the leader asks for it. After a restart that was
    not clean it leaves the ELR, too.

    Args:
        eligible: Brokers that could lead this partition, before or after the event.

    Source: generateLeaderAndIsrUpdates, handleBrokerFenced, handleBrokerUnfenced, handleBrokerInControlledShutdown,
    handleBrokerUnregistered in metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java@3.3.2,
    3.9.0-rc3; run in the jars of 3.9.2, 4.4.0; :data:`casebook.kafka.releases.KRAFT_RESTART_LEAVES_ISR` and
    :data:`casebook.kafka.releases.KRAFT_UNCLEAN_SETTING`.
    """
    rules = _rules(version)
    restarts = event in (BrokerEvent.RESTARTED, BrokerEvent.RESTARTED_CLEANLY)
    loses = bool(settings.elr) and (event is BrokerEvent.RESTARTED or (restarts and not rules.restart_leaves_isr))
    if event is BrokerEvent.UNFENCED:
        concerned = partition.leader is None
    elif restarts and not loses and not rules.restart_leaves_isr:
        concerned = False
    else:
        concerned = broker in partition.isr or (broker in partition.elr and (loses or event is BrokerEvent.UNREGISTERED))
    held = change(
        partition,
        eligible=eligible | {broker} if event is BrokerEvent.UNFENCED else eligible - {broker},
        settings=settings._replace(min_isr=min(settings.min_isr, len(partition.replicas))),
        version=version,
        election=KraftElection.UNCLEAN if settings.unclean and rules.reads_unclean_setting else KraftElection.ONLINE,
        isr=partition.isr if event is BrokerEvent.UNFENCED else tuple(b for b in partition.isr if b != broker),
        lost=frozenset({broker}) if loses else frozenset(),
    )
    if concerned:
        return held
    return KraftChange(partition, reason=None if partition.leader is not None else held.reason or KraftNoLeaderReason.NOT_HELD)


def after_all(
    partition: KraftPartition,
    *,
    events: Iterable[tuple[BrokerEvent, int]],
    eligible: frozenset[int],
    settings: KraftSettings,
    version: KafkaVersion,
) -> tuple[KraftChange, ...]:
    """Return the change by each event of a sequence; the controller fences one broker at a time.

    After a controlled shutdown a broker is active again only when it has restarted and is unfenced.

    Args:
        eligible: Brokers that could lead this partition before the first event.
    """
    changes = []
    for event, broker in events:
        one = after(partition, event=event, broker=broker, eligible=eligible, settings=settings, version=version)
        changes.append(one)
        partition = one.after
        eligible = eligible | {broker} if event is BrokerEvent.UNFENCED else eligible - {broker}
    return tuple(changes)


def possible_ends(
    partition: KraftPartition,
    *,
    events: Iterable[tuple[BrokerEvent, int]],
    eligible: frozenset[int],
    settings: KraftSettings,
    version: KafkaVersion,
) -> frozenset[KraftPartition]:
    """Return the partition after a sequence of events, once for each end that unknown settings allow."""
    sequence = tuple(events)
    ends = set()
    for known in settings.possible(len(partition.replicas)):
        changes = after_all(partition, events=sequence, eligible=eligible, settings=known, version=version)
        ends.add(changes[-1].after if changes else partition)
    return frozenset(ends)
