"""What ZooKeeper's transactions say, decoded: who registered, who led, whose session ended."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from casebook.facts.cluster import PartitionState

HOLES = "ZooKeeper's transactions between snapshots"
"""What a case lacks where transactions are missing and a later snapshot goes on: the past, and nothing of the last state."""


class What(StrEnum):
    """What a transaction did to one znode or session."""

    BEGIN = "begin"  # the history begins, or begins anew behind transactions that are missing
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
    """One thing that a transaction did.

    Args:
        zxid: The transaction; of what was so before the history begins, the one that last wrote the znode.
        time: Epoch milliseconds by the clock of ZooKeeper's leader.
        session: Who asked for it; of a registered broker or controller the znode's owner.
        before: It was so when the history begins.
        broker: Who registered, was gone, or became controller.
        state: Of a partition.
        stamp: Time in the znode's own data, by the clock of its writer.
        timeout: Of a session, milliseconds.
        epoch: Of a controller.
        config: Overrides of a topic; none when their znode went, ``None`` when they cannot be decoded.
        registrations: Where a history begins: the last transaction in which any broker came or went; ``None`` when unknown.
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
