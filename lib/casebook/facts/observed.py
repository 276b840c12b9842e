"""Of when evidence is: kinds of evidence, and the time that each was observed. Ground floor: it knows no file and no clock."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Source(StrEnum):
    """A kind of evidence, as people call it."""

    ZNODES = "znodes"
    HISTORY = "ZooKeeper's history"
    LOG_DIRS = "log dirs"
    SEGMENTS = "segments"
    LOGS = "logs"
    METRICS = "host metrics"
    SETTINGS = "server.properties"
    CLIENTS = "client files"
    LEDGERS = "ledgers"
    RUNS = "earlier runs"
    PASTE = "the paste"
    CASE = "case.json"


class Observation(NamedTuple):
    """When a kind of evidence was observed, in epoch milliseconds; both ends belong to it.

    Args:
        first: The first observation, e.g. of the first znode that a walk read, or of the first line of a log.
        last: The last one. Evidence says nothing of later moments.
    """

    first: int
    last: int


Observations = Mapping[Source, Observation]
"""When each kind of evidence was observed, as far as that is known."""


def observation(moments) -> Observation | None:
    """From the first to the last of some moments; ``None`` where no moment is known."""
    known = [moment for moment in moments if moment]
    return Observation(min(known), max(known)) if known else None


def gap(one: Observation, other: Observation) -> int:
    """Milliseconds between the end of one observation and the begin of the next; 0 where they overlap."""
    return max(0, max(one.first, other.first) - min(one.last, other.last))
