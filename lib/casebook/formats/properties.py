"""Java properties files, parsed like Kafka's ``server.properties``."""

import re
from collections.abc import Iterator, Mapping

import javaproperties

from casebook.kafka.defaults import DEFAULTS

OF_BROKERS = frozenset(DEFAULTS) | {
    *("broker.id", "node.id", "process.roles", "zookeeper.connect", "log.dir", "log.dirs", "listeners"),
    "inter.broker.protocol.version",
}
"""Broker settings that analyses use."""
_BROKEN_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u(?![0-9a-fA-F]{4})")


def parse(text: str) -> dict[str, str]:
    """Return keys and values; the last value of a duplicate key counts, as for Kafka.

    A broken ``\\u`` escape, with which Kafka would refuse to start, is kept as text.
    """
    try:
        return javaproperties.loads(text)
    except javaproperties.InvalidUEscapeError:
        return javaproperties.loads(_BROKEN_ESCAPE.sub(r"\1\\\\u", text))


def is_of_broker(settings: Mapping[str, str]) -> bool:
    """Return whether a file has any known broker setting."""
    return not OF_BROKERS.isdisjoint(settings)


def elements(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield key, value and first line (from 1) of every setting in file order, including duplicates."""
    try:
        found = list(javaproperties.parse(text))
    except javaproperties.InvalidUEscapeError:
        found = list(javaproperties.parse(_BROKEN_ESCAPE.sub(r"\1\\\\u", text)))
    line = 1
    for element in found:
        if isinstance(element, javaproperties.KeyValue):
            yield element.key, element.value, line
        line += len(re.findall(r"\r\n|\n|\r", element.source))
