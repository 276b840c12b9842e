"""Facts of clients: what their properties files say of producers and consumers, under Kafka's own names. ``None`` is unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

PRODUCER, CONSUMER = "producer", "consumer"
JAVA, SPRING, LIBRDKAFKA, SCALA = "java", "spring", "librdkafka", "scala"
LIBRARIES = (JAVA, SPRING, LIBRDKAFKA, SCALA)
"""Spring is Java's client with defaults of its own; Scala's is the producer of 0.8, gone since 2.0."""


class GivenSetting(NamedTuple):
    """A setting as a file gives it.

    Args:
        value: As written; ``None`` when the file does not tell it: a variable, the wrong type, another profile.
        name: As written.
        line: 1-based line of the file.
        why: Why it is not told.
    """

    value: str | None
    name: str
    line: int
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFile:
    """A producer or a consumer as one file describes it.

    Args:
        client: Name of the client, as given when it was collected.
        kind: :data:`PRODUCER` or :data:`CONSUMER`.
        file: Path in the case.
        library: One of :data:`LIBRARIES`, as its settings give it away; ``None`` when they do not.
        given: By Java's name of the setting.
        problems: What of the file cannot be taken at its word, one sentence each, never with a value.
        whole: Nothing is left out: where not, a setting that is not given is unknown, not the default.
    """

    client: str
    kind: str
    file: str
    library: str | None = None
    given: Mapping[str, GivenSetting] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    whole: bool = True

    def proof(self, key: str) -> str:
        """``path:line`` of a setting; the path alone where it is not given."""
        return f"{self.file}:{self.given[key].line}" if key in self.given else self.file
