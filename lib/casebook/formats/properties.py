"""Java properties files, as Kafka reads its ``server.properties``."""

import javaproperties


def parse(text: str) -> dict[str, str]:
    """Keys and values; of a key given twice the last counts, as for Kafka.

    A file with a broken ``\\u`` escape, which Kafka would refuse to start with, is read with that escape left as text.
    """
    try:
        return javaproperties.loads(text)
    except javaproperties.InvalidUEscapeError:
        return javaproperties.loads(text.replace("\\u", "\\\\u"))
