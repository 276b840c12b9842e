"""Facts of clients: producer and consumer settings from their properties files, by Kafka's names. ``None`` is unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

PRODUCER, CONSUMER = "producer", "consumer"
JAVA, SPRING, LIBRDKAFKA, SCALA = "java", "spring", "librdkafka", "scala"
LIBRARIES = (JAVA, SPRING, LIBRDKAFKA, SCALA)
"""Client libraries. Spring is the Java client with its own defaults; Scala is the 0.8 producer, removed in 2.0."""


class GivenSetting(NamedTuple):
    """A setting of a properties file.

    Args:
        value: As written; ``None`` when the file does not define it: a variable, a wrong type, another profile.
        name: As written.
        line: 1-based line of the file.
        why: Reason why the value is unknown.
    """

    value: str | None
    name: str
    line: int
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFile:
    """A producer or consumer, from one properties file.

    Args:
        client: Name of the client, as given at collection.
        kind: :data:`PRODUCER` or :data:`CONSUMER`.
        file: Path in the case.
        library: One of :data:`LIBRARIES`, recognised by its settings; ``None`` when they do not decide it.
        given: Settings by their Java name.
        problems: Unreliable parts of the file, one sentence each, never with a value.
        whole: The file is complete. When false, a missing setting is unknown, not the default.
    """

    client: str
    kind: str
    file: str
    library: str | None = None
    given: Mapping[str, GivenSetting] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    whole: bool = True

    def proof(self, key: str) -> str:
        """``path:line`` of a setting; the path alone when it is not set."""
        return f"{self.file}:{self.given[key].line}" if key in self.given else self.file
