"""Facts that brokers' logs and settings tell, each with its proof: releases, registrations, controller epochs, sessions."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedVersion:
    """A release or protocol version that a piece of evidence states in words.

    Args:
        broker: Who says so.
        text: As stated.
        proof: Path in the case, with the line where there is one (``path:line``).
    """

    broker: int
    text: str
    proof: str


class LoggedRegistration(NamedTuple):
    """A registration that a broker's own log tells of.

    Args:
        broker: Who registered.
        zxid: The transaction that created its znode; ``None`` before 2.2, which does not print it.
        printed: The line's time, epoch ms as if its zone were UTC; ``None`` where it bears none.
        proof: ``path:line`` in the case.
    """

    broker: int
    zxid: int | None
    printed: int | None
    proof: str


class LoggedEpoch(NamedTuple):
    """A controller epoch that a line names.

    Args:
        epoch: The epoch.
        printed: As in :class:`LoggedRegistration`.
        proof: ``path:line`` in the case.
    """

    epoch: int
    printed: int | None
    proof: str


class LoggedExpiry(NamedTuple):
    """A session that ZooKeeper's server says it ends, as no beat came.

    Args:
        session: Its id.
        proof: ``path:line`` in the case.
    """

    session: int
    proof: str


Logged = LoggedRegistration | LoggedEpoch | LoggedExpiry
"""What a line tells that znodes know, too, unless they are older."""
