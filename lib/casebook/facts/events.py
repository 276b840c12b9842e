"""Rows of what logs tell: typed events, what each file covers, and what nobody knows, counted."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

_OF_HOST = re.compile(r"clients/host-of-broker-(\d{1,10})/")
_SPEAKER_ALONE = re.compile(r"(?:\[[^\]]*\][,:])?\s*")
_MOST_STRANGE = 0.01
"""The share of entries up to which a layout that is not known is a slip: two processes that wrote one line at once."""
_FEW = 5
_NO_END = "its last line is incomplete: it was cut off, or copied during a write"
"""As ``LogReader.java`` says it."""
"""So many entries of a known layout may all be ones that no question asks for: a log that is rolled hourly, in a quiet hour."""
_MAY_BE_EMPTY = re.compile(r"[/-](?:kafka-authorizer|kafka-request|log-cleaner)\.log[^/]*$")
"""Appenders of ``config/log4j.properties@0.9.0.1..3.9.0`` whose loggers may say nothing for a broker's whole life."""
_EXCEPTION = re.compile(r"^(?:Caused by: )?[\w.$]+(?:Exception|Error|Throwable)\b.*", re.MULTILINE)


DISK_FAILURES = ("log_dir_failed", "disk_error", "clean_failed")
"""Kinds of events that tell of a disk, or a file, that failed."""

TRUNCATIONS = ("truncated", "truncated_below_hw", "truncated_nothing", "log_emptied", "fetch_reset")
"""Kinds of events in which a follower reports that it cut its log, or had nothing to cut."""


class Event(NamedTuple):
    """An entry of a log whose meaning is known.

    Args:
        kind: What it means: a kind of ``formats/broker/log_patterns.tsv``.
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
    """What a file of a case covers.

    Args:
        file: Path inside the case.
        broker: Whose log; ``None`` for a log of no broker.
        first: Time of its first dated entry, epoch milliseconds; ``None`` without one.
        last: Time of its last dated entry.
        lines: Lines.
        entries: Dated entries.
        typed: Entries whose meaning is known.
        damage: What of it could not be read, and why; ``""`` when it was read from its beginning to its end.
        strange: Lines with a time and a level that begin no entry, as their layout is not known, and entries without a time.
        speakers: Brokers that its entries name as the one that speaks, each with how many do.
        layouts: How its entries are laid out, as log4j writes it, each with how many are, the most frequent first.
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
        """How far it was read: lines that nobody understood are not read, however whole the file is."""
        if not self.entries and not self.typed:
            return FileExtent.NOT
        return FileExtent.PARTLY if self.unread else FileExtent.READ

    @property
    def is_of_brokers(self) -> bool:
        """Whether it was given for a broker: also one that several wrote, which is nobody's."""
        return self.broker is not None or self.file.startswith("brokers/")

    @property
    def is_empty(self) -> bool:
        """Whether there is not a single line in it."""
        return not self.lines and not self.damage

    @property
    def is_holed(self) -> bool:
        """Whether lines before its end may be lost: one that was copied while it was written lacks no more than its last one."""
        return self.damage not in ("", _NO_END)

    @property
    def unread(self) -> str:
        """What of it was not read, and why; ``""`` when all of it was."""
        return "; ".join(filter(None, (self.damage, self._not_understood)))

    @property
    def is_laid_out_strangely(self) -> bool:
        """Whether it has lines, and too many of them are laid out in a way that is not known."""
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
    """The logs that were given and not, or only partly, read and understood.

    Not those that a broker creates at its start and may never write to: empty is what they are.
    """
    return tuple(
        file for file in files if file.extent is not FileExtent.READ and not (file.is_empty and _MAY_BE_EMPTY.search(file.file))
    )


class Untyped(NamedTuple):
    """Entries that nobody knows, of one shape: a row of ``tables/untyped``.

    Columns:
        logger: As printed; null if unknown.
        level: As printed.
        shape: The message's first line, every word with a digit as #.
        count: How many lines.
        example: path:line of one of them.

    Args:
        text: That one's first line.
    """

    logger: str | None
    level: str | None
    shape: str
    count: int
    example: str
    text: str


HOST_OF_BROKER = "host-of-broker-"
"""What the name of an owner begins with whose logs are a host's own, of its kernel and of systemd: its broker wrote none."""


def host_in(file: str) -> int | None:
    """The broker on whose host a log of no broker was written; ``None`` where its place does not say."""
    found = _OF_HOST.match(file)
    return int(found[1]) if found else None


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


def owner_of(broker: int | None, file: str) -> str:
    """``broker 57``, or the folder of a log of no broker: ``zookeeper/logs/1``, ``clients/app``."""
    if broker is not None:
        return f"broker {broker}"
    parts = file.split("/")[:-1]
    return "/".join(parts[: 2 if parts[:1] == ["clients"] else 3]) or file
