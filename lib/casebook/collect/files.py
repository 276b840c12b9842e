"""Files of a broker, copied line by line, without their secrets."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from casebook.case import CaseWriter
from casebook.collect import plain, redaction
from casebook.events import folder_of

_LONGEST_LINE = 1 << 20

Redact = Callable[[Iterable[bytes]], Iterator[bytes]]


def copy_properties(case: CaseWriter, broker: int, path: Path) -> None:
    """Copy a broker's ``server.properties``; why it could not be is recorded."""
    _copy(case, path, f"brokers/{broker}/server.properties", redaction.redact_properties)


def copy_logs(case: CaseWriter, owner: int | str, paths: Sequence[Path]) -> None:
    """Copy somebody's logs under their own names, folders with all their files; what could not be copied is recorded.

    Args:
        owner: A broker's id, or the name of a ZooKeeper server or a client; see :func:`casebook.events.folder_of`.
    """
    taken: set[str] = set()
    for path in _files(paths):
        name = path.stem if path.suffix in plain.PACKED else path.name
        if name in taken:
            name = f"{path.parent.name}-{name}"
        taken.add(name)
        _copy(case, path, f"{folder_of(owner)}/{name}", redaction.redact_log)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(child for child in path.iterdir() if child.is_file())
        else:
            yield path


def _copy(case: CaseWriter, path: Path, name: str, redact: Redact) -> None:
    redacted = 0

    def lines() -> Iterator[bytes]:
        nonlocal redacted
        try:
            for line in redact(plain.lines(path, longest=_LONGEST_LINE)):
                redacted += redaction.MARK in line
                yield line
        except OSError as error:
            case.could_not_collect(name, f"{path} cannot be read to its end: {error.strerror or error}")

    try:
        path.open("rb").close()
    except OSError as error:
        case.could_not_collect(name, f"{path} cannot be opened: {error.strerror or error}")
        return
    case.file(name, lines())
    if redacted:
        case.redacted(f"{redacted} lines of {name}")
