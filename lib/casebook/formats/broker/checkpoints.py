"""Small text files of a log dir and of a partition's folder.

Any input is safe. A torn line is ignored: a number may have lost its last digits.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from casebook.facts.disks import CHECKPOINTS, EpochStart
from casebook.facts.quotes import literal
from casebook.formats import properties
from casebook.formats.broker.decoded import Decoded

CLEANER, HIGH_WATERMARK, RECOVERY_POINT, LOG_START = CHECKPOINTS
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

_NO_EPOCH = -1
_LONG = range(-(2**63), 2**63)
_NUMBER = re.compile(r"-?[0-9]{1,19}")
_TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_WRITTEN = re.compile(r"^#\w{3} (\w{3} \d\d \d\d:\d\d:\d\d) (?:UTC|GMT) (\d{4})\s*$", re.MULTILINE | re.ASCII)
_META_KEYS = ("version", "broker.id", "node.id", "cluster.id", "directory.id")


class PartitionOffset(NamedTuple):
    """A line of one of the four checkpoint files of a log dir."""

    topic: str
    partition: int
    offset: int


class CleanShutdown(NamedTuple):
    """Content of ``.kafka_cleanshutdown``.

    Args:
        broker_epoch: Written from 3.7 on (``CleanShutdownFileHandler.java@3.9.0``); ``None`` before, and without a broker epoch,
            as with ZooKeeper.
    """

    broker_epoch: int | None


def offsets(text: str) -> Decoded[PartitionOffset]:
    """Parse ``cleaner-``, ``replication-``, ``recovery-point-`` or ``log-start-offset-checkpoint``.

    Version 0, the number of lines, then ``topic partition offset`` lines (``OffsetCheckpoint.scala@0.9.0.1``).
    """
    found = _lines(text, fields=3)
    rows = tuple(
        PartitionOffset(topic, int(partition), int(offset))
        for topic, partition, offset in found.rows
        if _is_long(partition) and _is_long(offset)
    )
    return Decoded(rows, (*found.problems, *_no_numbers(len(found.rows) - len(rows))))


def epochs(text: str) -> Decoded[EpochStart]:
    """Parse ``leader-epoch-checkpoint`` of 0.11 and later: ``epoch start-offset`` (``LeaderEpochCheckpointFile.java@3.9.0``)."""
    found = _lines(text, fields=2)
    rows = tuple(EpochStart(int(epoch), int(start)) for epoch, start in found.rows if _is_long(epoch) and _is_long(start))
    problems = (*found.problems, *_no_numbers(len(found.rows) - len(rows)))
    if any(after.epoch <= before.epoch or after.start_offset < before.start_offset for before, after in pairwise(rows)):
        problems = (*problems, "its epochs do not rise")
    return Decoded(rows, problems)


def topic_id(text: str) -> Decoded[str]:
    """Parse ``partition.metadata`` of 2.8 and later: the topic id in Kafka's notation (``PartitionMetadata.java@3.9.0``)."""
    stated = dict(_stated(text))
    if stated.get("version") != "0":
        return Decoded((), (f"is of version {stated.get('version')!a}, which is not known",))
    found = stated.get("topic_id", "")
    return Decoded((found,)) if _TOPIC_ID.fullmatch(found) else Decoded((), ("holds no topic id",))


def meta(text: str) -> Decoded[Mapping[str, str]]:
    """Parse ``meta.properties``: only the keys that brokers write.

    With ``written``, ISO-8601: the time in the comment of Java's ``Properties.store``, only if in UTC.
    """
    found = properties.parse(text)
    known = {key: found[key] for key in _META_KEYS if key in found}
    if not known:
        return Decoded((), ("holds none of a broker's keys",))
    written = _written(text)
    return Decoded((known | ({"written": written} if written else {}),))


def _written(text: str) -> str | None:
    noted = _WRITTEN.search(text)
    try:
        return f"{datetime.strptime(' '.join(noted.groups()), '%b %d %H:%M:%S %Y').isoformat()}Z" if noted else None
    except ValueError:
        return None


def clean_shutdown(text: str) -> Decoded[CleanShutdown]:
    """Parse ``.kafka_cleanshutdown``; its existence counts, whatever its content."""
    if not text:
        return Decoded((CleanShutdown(None),))
    try:
        epoch = json.loads(text)["brokerEpoch"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return Decoded((CleanShutdown(None),), ("holds no broker epoch",))
    if type(epoch) is not int or epoch not in _LONG:
        return Decoded((CleanShutdown(None),), ("holds no broker epoch",))
    return Decoded((CleanShutdown(None if epoch == _NO_EPOCH else epoch),))


def _lines(text: str, *, fields: int) -> Decoded[list[str]]:
    """Return the lines after version and count. An empty file was created and never written, and is no problem."""
    if not text:
        return Decoded(())
    *lines, torn = text.split("\n")
    problems = ["ends within a line: it was not believed"] if torn.strip() else []
    version = lines[0].strip() if lines else ""
    if version != "0":
        return Decoded((), (*problems, f"is of version {literal(version, 20)}, which is not known"))
    rows = [line.split() for line in lines[2:] if line.strip()]
    announced = lines[1].strip() if len(lines) > 1 else ""
    if announced != str(len(rows)):
        problems.append(f"announces {literal(announced, 20)} lines and holds {len(rows)}")
    sound = tuple(row for row in rows if len(row) == fields)
    if len(sound) < len(rows):
        problems.append(f"lines without {fields} fields: {len(rows) - len(sound)}")
    return Decoded(sound, tuple(problems))


def _is_long(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and int(text) in _LONG


def _no_numbers(count: int) -> Iterator[str]:
    if count:
        yield f"lines whose numbers are none: {count}"


def _stated(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            yield key.strip(), value.strip()
