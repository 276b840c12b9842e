"""Java properties files, as Kafka reads its ``server.properties``."""

import re
from collections.abc import Iterator, Mapping

import javaproperties

from casebook.kafka.defaults import DEFAULTS

OF_BROKERS = frozenset(DEFAULTS) | {
    *("broker.id", "node.id", "process.roles", "zookeeper.connect", "log.dir", "log.dirs", "listeners"),
    "inter.broker.protocol.version",
}
"""Settings of brokers that analyses read."""
_BROKEN_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u(?![0-9a-fA-F]{4})")


def parse(text: str) -> dict[str, str]:
    """Keys and values; of a key given twice the last counts, as for Kafka.

    A file with a broken ``\\u`` escape, which Kafka would refuse to start with, is read with that escape left as text.
    """
    try:
        return javaproperties.loads(text)
    except javaproperties.InvalidUEscapeError:
        return javaproperties.loads(_BROKEN_ESCAPE.sub(r"\1\\\\u", text))


def is_of_broker(settings: Mapping[str, str]) -> bool:
    """Whether anything of a file is a setting of a broker that is known here."""
    return not OF_BROKERS.isdisjoint(settings)


def elements(text: str) -> Iterator[tuple[str, str, int]]:
    """Key, value and first line (from 1) of every setting in the order of the file, those given twice included."""
    try:
        found = list(javaproperties.parse(text))
    except javaproperties.InvalidUEscapeError:
        found = list(javaproperties.parse(_BROKEN_ESCAPE.sub(r"\1\\\\u", text)))
    line = 1
    for element in found:
        if isinstance(element, javaproperties.KeyValue):
            yield element.key, element.value, line
        line += len(re.findall(r"\r\n|\n|\r", element.source))
