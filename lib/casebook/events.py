"""Rows of what logs tell: typed events, what each file covers, and what nobody knows, counted."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_SPEAKER_ALONE = re.compile(r"(?:\[[^\]]*\][,:])?\s*")
_EXCEPTION = re.compile(r"^(?:Caused by: )?[\w.$]+(?:Exception|Error|Throwable)\b.*", re.MULTILINE)


class Event(NamedTuple):
    """An entry of a log whose meaning is known.

    Args:
        kind: What it means: a kind of ``formats/log_patterns.tsv``.
        time: Epoch milliseconds by the clock of who wrote it; ``None`` where the line bears no date.
        broker: Whose log; ``None`` for a log of no broker.
        file: Path inside the case.
        line: Number of the line, from 1.
        level: ``INFO``, ``WARN``, ...; ``None`` where the line does not tell.
        logger: Who wrote it, as printed.
        topic: The partition it is about.
        partition: The partition it is about.
        group: The consumer group it is about.
        fields: Everything else that the line tells, by name, as printed.
        text: The entry: its message, and the lines that follow it, cut after some thousand characters.
    """

    kind: str
    time: int | None
    broker: int | None
    file: str
    line: int
    level: str | None = None
    logger: str | None = None
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    fields: Mapping[str, str] = {}
    text: str = ""

    @property
    def proof(self) -> str:
        """``path:line`` inside the case."""
        return f"{self.file}:{self.line}"

    @property
    def source(self) -> str:
        """``broker``, ``zookeeper``, or ``client``: whose log it stands in."""
        return source_of(self.file)

    @property
    def summary(self) -> str:
        """The first line that says something, and the exception that follows it."""
        said = next((line.strip() for line in self.text.splitlines() if not _SPEAKER_ALONE.fullmatch(line)), "")
        found = _EXCEPTION.search(self.text, len(said))
        return f"{said} {found[0].strip()}" if found else said

    def number(self, name: str) -> int | None:
        """A field as a whole number; ``None`` where it is missing or none."""
        try:
            return int(self.fields[name])
        except (KeyError, ValueError):
            return None


class LogFile(NamedTuple):
    """What a file of a case covers.

    Args:
        file: Path inside the case.
        broker: Whose log; ``None`` for a log of no broker.
        first: Time of its first dated entry, epoch milliseconds; ``None`` without one.
        last: Time of its last dated entry.
        lines: Lines.
        entries: Dated entries.
        typed: Entries whose meaning is known.
        damage: Why it could not be read to its end; ``""`` when it was.
    """

    file: str
    broker: int | None
    first: int | None
    last: int | None
    lines: int
    entries: int
    typed: int
    damage: str = ""


class Untyped(NamedTuple):
    """Entries that nobody knows, of one shape.

    Args:
        logger: As printed; ``None`` where the lines do not tell.
        level: As printed; ``None`` where the lines do not tell.
        shape: The message's first line with its numbers and names of partitions taken out.
        count: How many.
        example: ``path:line`` of one of them.
        text: That one's first line.
    """

    logger: str | None
    level: str | None
    shape: str
    count: int
    example: str
    text: str


def folder_of(owner: int | str) -> str:
    """Where logs stand in a case: a broker's (its id), a ZooKeeper server's (``zookeeper`` and what begins so), a client's."""
    if isinstance(owner, int):
        return f"brokers/{owner}/logs"
    return f"zookeeper/logs/{owner}" if owner.startswith("zookeeper") else f"clients/{owner}/logs"


def source_of(file: str) -> str:
    """Whose log a file of a case is: ``broker``, ``zookeeper`` or ``client``."""
    return {"brokers": "broker", "zookeeper": "zookeeper"}.get(file.partition("/")[0], "client")


def is_log(file: str) -> bool:
    """Whether an item of a case is a log: see :func:`folder_of`."""
    parts = file.split("/")
    by_owner = len(parts) >= 4 and parts[0] in ("brokers", "clients") and parts[2] == "logs"
    return by_owner or (len(parts) >= 4 and parts[:2] == ["zookeeper", "logs"])
