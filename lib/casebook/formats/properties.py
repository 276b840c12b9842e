"""Java properties files, as Kafka reads its ``server.properties``."""

import re

import javaproperties

_BROKEN_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u(?![0-9a-fA-F]{4})")


def parse(text: str) -> dict[str, str]:
    """Keys and values; of a key given twice the last counts, as for Kafka.

    A file with a broken ``\\u`` escape, which Kafka would refuse to start with, is read with that escape left as text.
    """
    try:
        return javaproperties.loads(text)
    except javaproperties.InvalidUEscapeError:
        return javaproperties.loads(_BROKEN_ESCAPE.sub(r"\1\\\\u", text))
