"""Observation times by kind of evidence. Lowest layer: no files, no clock."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Source(StrEnum):
    """A kind of evidence, by its common name."""

    ZNODES = "znodes"
    WIRE = "brokers' answers"
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
    """Observation time of a kind of evidence, in epoch milliseconds; both ends are included.

    Args:
        first: First observation, e.g. the first znode of a walk, or the first line of a log.
        last: Last observation. Evidence says nothing about later moments.
    """

    first: int
    last: int


Observations = Mapping[Source, Observation]
"""Known observation times by kind of evidence."""


def observation(moments) -> Observation | None:
    """Return the span of some moments; ``None`` without a known one."""
    known = [moment for moment in moments if moment]
    return Observation(min(known), max(known)) if known else None


def gap(one: Observation, other: Observation) -> int:
    """Milliseconds between the end of one observation and the start of the next; 0 for an overlap."""
    return max(0, max(one.first, other.first) - min(one.last, other.last))
