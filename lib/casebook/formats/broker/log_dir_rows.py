"""Log dirs of a broker as JSON lines: ``brokers/<id>/log_dirs.json`` of a case.

Each line is an object; its ``row`` is its kind. A ``log_dir`` line starts a log dir, and the lines after it belong to it::

    {"row": "log_dir", "place", "listed_at", "meta", "clean_shutdown", "broker_epoch", "checkpoints": {name: modified},
     "without_folder": [[topic, partition], ..]}
    {"row": "replica", "topic", "partition", "segments": [[base_offset, bytes, modified, [suffix, ..]], ..], "copied",
     "log_start", "recovery_point", "high_watermark", "cleaner_point", "epochs": [[epoch, start_offset], ..], "topic_id",
     "log_end", "magic"}
    {"row": "leftover", "path", "kind", "bytes", "modified", "topic", "partition", "cut"}
    {"row": "problem", "path", "reason"}

Meaning and units are those of ``facts.disks``. Unknown and default values are omitted, except ``listed_at``: null for a listing
at an unknown time.
"""

import json
from collections.abc import Iterable, Iterator, Mapping

from casebook.facts.cluster import Problem
from casebook.facts.disks import EpochStart, LeftoverFile, LogDir, Replica, SegmentFile

_INT64 = range(-(2**63), 2**63)


def encode(log_dir: LogDir) -> Iterator[str]:
    """Yield the lines of a log dir, without line ends; equal log dirs give equal lines."""
    yield _line(
        "log_dir",
        place=log_dir.place,
        listed_at=log_dir.listed_at,
        meta=None if log_dir.meta is None else dict(log_dir.meta),
        clean_shutdown=log_dir.clean_shutdown,
        broker_epoch=log_dir.broker_epoch,
        checkpoints=dict(log_dir.checkpoints),
        without_folder=log_dir.without_folder,
    )
    for replica in log_dir.replicas:
        fields = replica._asdict()
        for known in ("broker", "place", "item"):
            del fields[known]
        yield _line("replica", **fields)
    for leftover in log_dir.leftovers:
        yield _line("leftover", **leftover._asdict())
    for problem in log_dir.problems:
        yield _line("problem", path=problem.path, reason=problem.reason)


def _line(row: str, /, **fields: object) -> str:
    said = {
        name: value
        for name, value in fields.items()
        if name == "listed_at" or (value is not None and value is not False and value != ())
    }
    return json.dumps({"row": row, **said}, separators=(",", ":"), ensure_ascii=False)


def decode(lines: Iterable[str], *, broker: int, item: str, copies: str) -> tuple[LogDir, ...]:
    """Parse the log dirs of a broker. An invalid line becomes a problem of its log dir.

    Args:
        lines: Lines of the file.
        broker: Broker of the file.
        item: Path of the file in the case.
        copies: Folder of the broker's copied segments in the case.
    """
    found: list[_Building] = []
    for number, text in enumerate(lines, start=1):
        at = f"{item}:{number}"
        try:
            row = json.loads(text)
            if row["row"] == "log_dir":
                found.append(_Building(_log_dir(row, broker)))
            else:
                _last(found, broker).add(row, at, copies)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            _last(found, broker).problems.append(Problem(path=at, reason="is a line that cannot be read"))
    return tuple(building.built() for building in found)


class _Building:
    """A log dir under construction."""

    def __init__(self, head: LogDir) -> None:
        self._head = head
        self._replicas: list[Replica] = []
        self._leftovers: list[LeftoverFile] = []
        self.problems: list[Problem] = []

    def add(self, row: Mapping[str, object], at: str, copies: str) -> None:
        kind = row["row"]
        if kind == "replica":
            self._replicas.append(_replica(row, self._head, at, copies))
        elif kind == "leftover":
            self._leftovers.append(_leftover(row))
        elif kind == "problem":
            self.problems.append(Problem(path=_text(row["path"]), reason=_text(row["reason"])))
        else:
            raise ValueError(kind)

    def built(self) -> LogDir:
        return self._head._replace(
            replicas=tuple(self._replicas), leftovers=tuple(self._leftovers), problems=tuple(self.problems)
        )


def _last(found: list[_Building], broker: int) -> _Building:
    """Return the log dir of a line; one without a name when none was started."""
    if not found:
        found.append(_Building(LogDir(broker=broker, place="", listed_at=None)))
    return found[-1]


def _log_dir(row: Mapping[str, object], broker: int) -> LogDir:
    meta = row.get("meta")
    return LogDir(
        broker=broker,
        place=_text(row["place"]),
        listed_at=_maybe(row["listed_at"]),
        checkpoints={_text(name): _maybe(modified) for name, modified in row.get("checkpoints", {}).items()},
        meta=None if meta is None else {_text(key): _text(value) for key, value in meta.items()},
        clean_shutdown=row.get("clean_shutdown") is True,
        broker_epoch=_maybe(row.get("broker_epoch")),
        without_folder=tuple((_text(topic), _int(partition)) for topic, partition in row.get("without_folder", ())),
    )


def _replica(row: Mapping[str, object], log_dir: LogDir, at: str, copies: str) -> Replica:
    topic, partition, copied = _text(row["topic"]), _int(row["partition"]), row.get("copied") is True
    if not topic or "/" in topic:
        raise ValueError(topic)
    return Replica(
        broker=log_dir.broker,
        topic=topic,
        partition=partition,
        place=f"{(copies if copied else log_dir.place).rstrip('/')}/{topic}-{partition}",
        item=at,
        segments=tuple(_segment(*segment) for segment in row.get("segments", ())),
        log_start=_maybe(row.get("log_start")),
        recovery_point=_maybe(row.get("recovery_point")),
        high_watermark=_maybe(row.get("high_watermark")),
        cleaner_point=_maybe(row.get("cleaner_point")),
        epochs=tuple(EpochStart(_int(epoch), _int(start)) for epoch, start in row.get("epochs", ())),
        topic_id=None if row.get("topic_id") is None else _text(row["topic_id"]),
        log_end=_maybe(row.get("log_end")),
        magic=_maybe(row.get("magic")),
        copied=copied,
    )


def _segment(base_offset: object, size: object, modified: object, beside: Iterable[object]) -> SegmentFile:
    return SegmentFile(_int(base_offset), _int(size), _maybe(modified), tuple(_text(suffix) for suffix in beside))


def _leftover(row: Mapping[str, object]) -> LeftoverFile:
    return LeftoverFile(
        path=_text(row["path"]),
        kind=_text(row["kind"]),
        bytes=_int(row["bytes"]),
        modified=_maybe(row.get("modified")),
        topic=None if row.get("topic") is None else _text(row["topic"]),
        partition=_maybe(row.get("partition")),
        cut=row.get("cut") is True,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _int(value: object) -> int:
    if type(value) is not int or value not in _INT64:
        raise TypeError
    return value


def _maybe(value: object) -> int | None:
    return None if value is None else _int(value)
