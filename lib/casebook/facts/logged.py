"""Facts from brokers' logs and settings, each with its proof: releases, registrations, controller epochs, sessions."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedVersion:
    """A release or protocol version, as a piece of evidence states it.

    Args:
        broker: Broker with this version.
        text: As stated.
        proof: Path in the case, with the line if any (``path:line``).
    """

    broker: int
    text: str
    proof: str


class LoggedRegistration(NamedTuple):
    """A registration in a broker's own log.

    Args:
        broker: Registered broker.
        zxid: Transaction that created its znode; ``None`` before 2.2, which does not print it.
        printed: Time of the line, epoch ms as if in UTC; ``None`` without one.
        proof: ``path:line`` in the case.
    """

    broker: int
    zxid: int | None
    printed: int | None
    proof: str


class LoggedEpoch(NamedTuple):
    """A controller epoch in a log line.

    Args:
        epoch: Controller epoch.
        printed: As in :class:`LoggedRegistration`.
        proof: ``path:line`` in the case.
    """

    epoch: int
    printed: int | None
    proof: str


class LoggedExpiry(NamedTuple):
    """A session that a ZooKeeper server expired for missing heartbeats.

    Args:
        session: Session id.
        proof: ``path:line`` in the case.
    """

    session: int
    proof: str


Logged = LoggedRegistration | LoggedEpoch | LoggedExpiry
"""Content of a line that znodes also have, unless they are older."""
