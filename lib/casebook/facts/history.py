"""Decoded ZooKeeper transactions: registrations, leaders, ended sessions."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.cluster import PartitionState

HOLES = "ZooKeeper's transactions between snapshots"
"""Missing part of a case whose transactions are missing before a later snapshot: history only, not the last state."""


class What(StrEnum):
    """Effect of a transaction on one znode or session."""

    BEGIN = "begin"  # the history begins, or begins again after missing transactions
    SESSION_OPENED = "session_opened"
    SESSION_CLOSED = "session_closed"
    BROKER_REGISTERED = "broker_registered"
    BROKER_GONE = "broker_gone"
    CONTROLLER_ELECTED = "controller_elected"
    CONTROLLER_GONE = "controller_gone"
    CONTROLLER_EPOCH = "controller_epoch"
    TOPIC_CREATED = "topic_created"
    TOPIC_DELETED = "topic_deleted"
    TOPIC_CONFIG = "topic_config"
    STATE = "state"
    STATE_GONE = "state_gone"


class Happened(NamedTuple):
    """One effect of a transaction.

    Args:
        zxid: The transaction; for a state older than the history, the last transaction that wrote the znode.
        time: Epoch milliseconds by the clock of ZooKeeper's leader.
        session: Requesting session; for a registered broker or controller, the owner of the znode.
        before: The state is older than the history.
        broker: Broker that registered, disappeared, or became controller.
        state: Partition state.
        stamp: Time in the znode's data, by the writer's clock.
        timeout: Session timeout, milliseconds.
        epoch: Controller epoch.
        config: Topic overrides; empty after deletion of their znode, ``None`` when undecodable.
        registrations: At the start of a history: last transaction that added or removed a broker; ``None`` when unknown.
    """

    what: What
    zxid: int
    time: int
    session: int | None = None
    before: bool = False
    broker: int | None = None
    topic: str | None = None
    partition: int | None = None
    state: PartitionState | None = None
    stamp: int | None = None
    timeout: int | None = None
    epoch: int | None = None
    config: Mapping[str, str] | None = None
    registrations: int | None = None
