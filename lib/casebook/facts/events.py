"""Rows of logs: typed events, coverage of each file, and counts of unknown entries."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

_OF_HOST = re.compile(r"clients/host-of-broker-(\d{1,10})/")
_SPEAKER_ALONE = re.compile(r"(?:\[[^\]]*\][,:])?\s*")
_MOST_STRANGE = 0.01
"""Share of entries in an unknown layout that still passes as a slip, e.g. two processes wrote one line at once."""
_FEW = 5
_NO_END = "its last line is incomplete: it was cut off, or copied during a write"
"""Value of ``LogReader.java``."""
"""So many entries of a known layout may all be irrelevant: an hourly rolled log in a quiet hour."""
_MAY_BE_EMPTY = re.compile(r"[/-](?:kafka-authorizer|kafka-request|log-cleaner)\.log[^/]*$")
"""Appenders of ``config/log4j.properties@0.9.0.1..3.9.0`` whose loggers may stay silent for a broker's lifetime."""
_EXCEPTION = re.compile(r"^(?:Caused by: )?[\w.$]+(?:Exception|Error|Throwable)\b.*", re.MULTILINE)


DISK_FAILURES = ("log_dir_failed", "disk_error", "clean_failed")
"""Kinds of events for a failed disk or file."""

TRUNCATIONS = ("truncated", "truncated_below_hw", "truncated_nothing", "log_emptied", "fetch_reset")
"""Kinds of events in which a follower reports that it truncated its log, or did not need to."""


class Event(NamedTuple):
    """A log entry of a known kind.

    Args:
        kind: A kind of ``formats/broker/log_patterns.tsv``.
        time: Epoch milliseconds by the writer's clock; ``None`` without a date in the line.
        broker: Owner of the log; ``None`` for a log of no broker.
        file: Path inside the case.
        line: 1-based line number.
        level: ``INFO``, ``WARN``, ...; ``None`` when not printed.
        logger: Logger name, as printed.
        topic: Topic of the entry.
        partition: Partition of the entry.
        group: Consumer group of the entry.
        fields: All other values of the line by name, as printed.
        text: Message and continuation lines, cut after some thousand characters.
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
        """``broker``, ``zookeeper``, or ``client``: owner of the log."""
        return source_of(self.file)

    @property
    def summary(self) -> str:
        """First line with content, and the exception after it."""
        said = next((line.strip() for line in self.text.splitlines() if not _SPEAKER_ALONE.fullmatch(line)), "")
        found = _EXCEPTION.search(self.text, len(said))
        return f"{said} {found[0].strip()}" if found else said

    def number(self, name: str) -> int | None:
        """Return a field as an integer; ``None`` when missing or not an integer."""
        return whole(self.fields, name)


def whole(fields: Mapping[str, str], name: str) -> int | None:
    """A field as a whole number; ``None`` where it is missing or none."""
    try:
        return int(fields[name])
    except (KeyError, ValueError):
        return None


class FileExtent(StrEnum):
    """How far a file was read."""

    READ = "read"
    PARTLY = "partly"
    NOT = "not"


class LogFile(NamedTuple):
    """Coverage of one log file of a case.

    Args:
        file: Path inside the case.
        broker: Owner of the log; ``None`` for a log of no broker.
        first: Time of its first dated entry, epoch milliseconds; ``None`` without one.
        last: Time of its last dated entry.
        lines: Number of lines.
        entries: Number of dated entries.
        typed: Number of entries of a known kind.
        damage: Unreadable part and its reason; ``""`` when the file was read completely.
        strange: Number of lines with a time and a level in an unknown layout, and of entries without a time.
        speakers: Number of entries by the broker that they name as their writer.
        layouts: Number of entries by layout, in log4j's notation, most frequent first.
    """

    file: str
    broker: int | None
    first: int | None
    last: int | None
    lines: int
    entries: int
    typed: int
    damage: str = ""
    strange: int = 0
    speakers: tuple[tuple[int, int], ...] = ()
    layouts: tuple[tuple[str, int], ...] = ()

    @property
    def extent(self) -> FileExtent:
        """How far it was read. Lines in an unknown layout count as unread."""
        if not self.entries and not self.typed:
            return FileExtent.NOT
        return FileExtent.PARTLY if self.unread else FileExtent.READ

    @property
    def is_of_brokers(self) -> bool:
        """Whether it was given as a broker's log, including a log that several brokers wrote."""
        return self.broker is not None or self.file.startswith("brokers/")

    @property
    def is_empty(self) -> bool:
        """Whether it has no line."""
        return not self.lines and not self.damage

    @property
    def is_holed(self) -> bool:
        """Whether lines before its end may be lost. A log copied while it was written lacks at most its last line."""
        return self.damage not in ("", _NO_END)

    @property
    def unread(self) -> str:
        """Unread part and its reason; ``""`` when all was read."""
        return "; ".join(filter(None, (self.damage, self._not_understood)))

    @property
    def is_laid_out_strangely(self) -> bool:
        """Whether too many of its lines have an unknown layout."""
        if not self.entries and not self.typed:
            return self.lines > 0
        return self.strange > _MOST_STRANGE * (self.entries + self.strange)

    @property
    def _not_understood(self) -> str:
        if not self.lines:
            return "" if self.damage else "it is empty"
        if not self.entries and not self.typed:
            return f"none of its {self.lines} lines has a known layout"
        if self.is_laid_out_strangely:
            return f"{self.strange} of its {self.lines} lines have no date, or no known layout"
        return (
            ""
            if self.typed or self.entries <= _FEW or _MAY_BE_EMPTY.search(self.file)
            else f"none of its {self.entries} entries has a known meaning"
        )


def unread(files: Iterable[LogFile]) -> tuple[LogFile, ...]:
    """Logs that were given and not read, or only in part.

    Empty logs that a broker creates at start and may never write to do not count.
    """
    return tuple(
        file for file in files if file.extent is not FileExtent.READ and not (file.is_empty and _MAY_BE_EMPTY.search(file.file))
    )


class Untyped(NamedTuple):
    """Entries of an unknown kind with the same shape: a row of ``tables/untyped``.

    Columns:
        logger: As printed; null if unknown.
        level: As printed.
        shape: The message's first line, every word with a digit as #.
        count: How many lines.
        example: path:line of one of them.

    Args:
        text: First line of that entry.
    """

    logger: str | None
    level: str | None
    shape: str
    count: int
    example: str
    text: str


HOST_OF_BROKER = "host-of-broker-"
"""Prefix of the owner name of a host's own logs (kernel, systemd), which no broker wrote."""


def host_in(file: str) -> int | None:
    """Broker on the host of a log of no broker; ``None`` when its path does not name one."""
    found = _OF_HOST.match(file)
    return int(found[1]) if found else None


def folder_of(owner: int | str) -> str:
    """Folder of logs in a case: of a broker (its id), a ZooKeeper server (prefix ``zookeeper``), or a client."""
    if isinstance(owner, int):
        return f"brokers/{owner}/logs"
    return f"zookeeper/logs/{owner}" if owner.startswith("zookeeper") else f"clients/{owner}/logs"


def source_of(file: str) -> str:
    """Owner of a log of a case: ``broker``, ``zookeeper`` or ``client``."""
    return {"brokers": "broker", "zookeeper": "zookeeper"}.get(file.partition("/")[0], "client")


def is_log(file: str) -> bool:
    """Whether an item of a case is a log: see :func:`folder_of`."""
    parts = file.split("/")
    by_owner = len(parts) >= 4 and parts[0] in ("brokers", "clients") and parts[2] == "logs"
    return by_owner or (len(parts) >= 4 and parts[:2] == ["zookeeper", "logs"])


def owner_of(broker: int | None, file: str) -> str:
    """``broker 57``, or the folder of a log of no broker: ``zookeeper/logs/1``, ``clients/app``."""
    if broker is not None:
        return f"broker {broker}"
    parts = file.split("/")[:-1]
    return "/".join(parts[: 2 if parts[:1] == ["clients"] else 3]) or file
