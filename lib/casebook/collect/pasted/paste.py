"""Write a pasted text into a case: the text itself, and its content as the rows that every notebook reads.

    pasted/pasted.txt                 the paste, line by line, without secrets: the proof of everything
    zookeeper/znodes.jsonl.zst        pasted znodes; content of others from kafka-topics, as ``stated``
    brokers/<id>/logs/pasted.log      log lines of a broker that the paste names, see :mod:`casebook.collect.pasted.logs`
    brokers/<id>/log_dirs.json        listings of a broker that the paste names
    brokers/<id>/server.properties    settings of a broker that the paste names, see :mod:`casebook.collect.pasted.host`

Missing parts of a paste become gaps with a reason, never nonexistent things.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from casebook.case.writer import CaseWriter
from casebook.collect import outside, redaction
from casebook.collect.files import plain
from casebook.collect.pasted import host, secrets, znodes
from casebook.collect.pasted import logs as pasted_logs
from casebook.collect.pasted import told as pasted_told
from casebook.errors import CollectError, UsageError
from casebook.facts.cluster import Problem
from casebook.facts.disks import LogDir, Replica, SegmentFile
from casebook.facts.pasted import NOT_PASTED, PASTED, NotUnderstood, Pasted
from casebook.facts.pasted_hosts import ListedFile
from casebook.facts.quotes import literal
from casebook.formats.broker import log_dir_names, log_dir_rows
from casebook.formats.pasted import paste as pasted
from casebook.formats.pasted import text as pasted_text

_LONGEST_LINE = 1 << 20
_MOST_BYTES = 64 << 20
_SHOWN = 20
_TOLD, _MOST_RANGES = 6, 200
_NUMBER = re.compile(r"[0-9]+")
_COLUMNS = re.compile(r"\t+| {2,}|[:=|] ?")


def collect(case: CaseWriter, paste: Path | Sequence[str], *, configured: Container[int] = ()) -> None:
    """Write the content of a paste into a case.

    Args:
        case: Receives all items, and the open parts.
        paste: A file, ``-`` for the standard input, or its lines.
        configured: Brokers whose ``server.properties`` is in the case.

    Raises:
        CollectError: It is empty, or cannot be read.
    """
    left_out: list[Path] = []
    is_file = isinstance(paste, str | Path)
    texts = lines_of(Path(paste), left_out) if is_file else (f"{line}\n".encode(errors="replace") for line in paste)
    lines = list(secrets.redacted(texts))
    if not any(line.strip() for line in lines):
        raise CollectError("Nothing was pasted.", try_="Paste a command together with its output.")
    found = pasted.read(line.decode(errors="replace") for line in lines)
    case.file(PASTED, lines)
    if hidden := sum(redaction.MARK in line for line in lines):
        case.redacted(f"{hidden} lines of {PASTED}")
    znodes.write(case, found)
    pasted_told.write(case, found)
    pasted_logs.write(case, found)
    _log_dirs(case, found)
    host.write(case, found, configured=configured)
    for place, reason in not_understood(found):
        case.could_not_collect(place, reason)
    if left_out or len(lines) > found.lines:
        case.left_out(PASTED, f"only its first {found.lines} lines were read; collect whole log files with --logs")


def not_understood(found: Pasted) -> Iterator[tuple[str, str]]:
    """Yield undecoded places with the reason: cut ones one by one, unknown ones in one sentence."""
    unknown = [part for part in found.not_understood if part.text]
    cut = [part for part in found.not_understood if not part.text]
    for part in cut[:_SHOWN]:
        yield f"{PASTED}:{part.span.first}", part.reason
    if len(cut) > _SHOWN:
        yield PASTED, f"{len(cut) - _SHOWN} more parts are cut or were changed"
    if unknown:
        lines = sum(part.span.last - part.span.first + 1 for part in unknown)
        told = sorted(unknown, key=lambda part: not _like_an_output(part.text))[:_TOLD]
        shown = ", ".join(f"{_which(part)} ({literal(part.text, 40)})" for part in sorted(told))
        more = f"; all of them: {_ranges(unknown)}" if len(unknown) > _TOLD else ""
        yield PASTED, f"{lines} {'line was' if lines == 1 else 'lines were'} not understood: {shown}{more}"


def _which(part: NotUnderstood) -> str:
    """Return the lines of a run: all of it is undecoded, though only its first line is shown."""
    return f"lines {part.span.first}-{part.span.last}" if part.span.last > part.span.first else f"line {part.span.first}"


def _like_an_output(text: str) -> bool:
    """Return whether a line looks more like output than like prose: several numbers, or columns."""
    return len(_NUMBER.findall(text)) > 2 or len(_COLUMNS.findall(text.strip())) > 1


def _ranges(parts: Sequence[NotUnderstood]) -> str:
    spans = [
        f"{part.span.first}-{part.span.last}" if part.span.last > part.span.first else str(part.span.first) for part in parts
    ]
    more = f" and {len(spans) - _MOST_RANGES} more, up to line {parts[-1].span.last}" if len(spans) > _MOST_RANGES else ""
    return "lines " + ", ".join(spans[:_MOST_RANGES]) + more


def lines_of(path: Path, left_out: list[Path]) -> Iterator[bytes]:
    """The lines of a pasted file, or of the standard input (``-``); at most 64 MB of them.

    Args:
        path: The file.
        left_out: Gets the path where those are not all.

    Raises:
        CollectError: It cannot be read.
    """
    is_stdin = str(path) == "-"
    taken = 0
    try:
        lines = (
            plain.of_stream(outside.standard_input(), longest=_LONGEST_LINE)
            if is_stdin
            else plain.lines(Path(path), longest=_LONGEST_LINE)
        )
        for number, line in enumerate(lines, start=1):
            taken += len(line)
            if taken > _MOST_BYTES or number > pasted_text.MOST_LINES + 1:
                left_out.append(path)
                return
            yield line
    except OSError as error:
        raise CollectError(f"The pasted text {path} cannot be read: {error.strerror}.") from None


@dataclass(frozen=True, slots=True)
class _FilePlace:
    """Where a file lies: folder of the log dir, topic and partition."""

    log_dir: str
    topic: str
    partition: int


def _log_dirs(case: CaseWriter, found: Pasted) -> None:
    segments: dict[int, dict[_FilePlace, list[ListedFile]]] = {}
    unplaced: Counter[str] = Counter()
    latest = {(file.broker, _place(file)): file.listing for file in sorted(found.files, key=lambda file: file.listing)}
    for file in found.files:
        place, why = _place(file), None
        if file.is_folder or (place is not None and file.listing < latest[file.broker, place]):
            continue
        if place is None:
            why = f"of segments: their folder was {NOT_PASTED}; begin with the command, e.g. ls -l /data/kafka/t-0"
        elif file.broker is None:
            why = f'of segments: whose they are was {NOT_PASTED}; write a line such as "broker 3:" above them'
        elif file.about is None:
            why = f"of segments: their sizes were {NOT_PASTED}; paste ls -l"
        elif file.bytes is None:
            why = f"of segments: their sizes are rounded, the whole ones were {NOT_PASTED}; paste ls -l without -h"
        if why is not None:
            unplaced[why] += 1
        else:
            segments.setdefault(file.broker, {}).setdefault(place, []).append(file)
    for why, count in sorted(unplaced.items()):
        case.could_not_collect("log dirs", f"{count} lines {why}")
    if found.used:
        tools = ", ".join(sorted({used.tool for used in found.used}))
        listed = {file.folder for file in found.files if not file.is_folder}
        unlisted = [used for used in found.used if used.path not in listed]
        if unlisted:
            sizes = f"of {len(unlisted)} folders only the size is known ({tools}); segments were {NOT_PASTED}: paste ls -l"
            case.could_not_collect("log dirs", sizes)
    for broker, places in sorted(segments.items()):
        item = f"brokers/{broker}/log_dirs.json"
        encoded = (line for log_dir in _listed(broker, places) for line in log_dir_rows.encode(log_dir))
        case.file(item, (f"{line}\n".encode(errors="replace") for line in encoded))
        case.could_not_collect(item, f"other folders, and checkpoints, were {NOT_PASTED}")


def _place(file: ListedFile) -> _FilePlace | None:
    folder = PurePosixPath(file.folder)
    name = log_dir_names.folder(folder.name)
    return _FilePlace(str(folder.parent), name.topic, name.partition) if name and not name.kind else None


def _listed(broker: int, places: Mapping[_FilePlace, Sequence[ListedFile]]) -> Iterator[LogDir]:
    """Yield a broker's log dirs as far as pasted. Their paths are of another machine: never open them here."""
    for log_dir in sorted({place.log_dir for place in places}):
        where = f"pasted: {log_dir}"
        replicas = [
            Replica(
                broker=broker,
                topic=place.topic,
                partition=place.partition,
                place=f"{where}/{place.topic}-{place.partition}",
                item="",
                segments=_segments(files),
            )
            for place, files in places.items()
            if place.log_dir == log_dir
        ]
        yield LogDir(
            broker=broker,
            place=where,
            listed_at=None,
            replicas=tuple(sorted(replicas)),
            problems=(Problem(path="the log dir", reason="only the folders that were pasted are known"),),
        )


def _segments(files: Sequence[ListedFile]) -> tuple[SegmentFile, ...]:
    logs: dict[int, SegmentFile] = {}
    beside: dict[int, set[str]] = {}
    for file in files:
        name = log_dir_names.file(file.name)
        if name is None or name.kind or file.bytes is None:
            continue
        if name.suffix == ".log":
            logs[name.base_offset] = SegmentFile(name.base_offset, file.bytes, file.modified)
        else:
            beside.setdefault(name.base_offset, set()).add(name.suffix)
    return tuple(logs[base]._replace(beside=tuple(sorted(beside.get(base, ())))) for base in sorted(logs))


def check(paste: object, others: Iterable[object]) -> None:
    """Refuse a paste beside other sources of the same: one case, one answer to each question.

    Raises:
        UsageError: There is another source of znodes or log dirs.
    """
    if paste is not None and any(others):
        raise UsageError(
            "A paste is a case of its own: it cannot be combined with other znodes or log dirs.",
            try_="Collect the paste into a separate folder; --logs and --properties can be added.",
        )
