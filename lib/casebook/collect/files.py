"""Files of brokers and of other programs, copied line by line, without their secrets."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from casebook.case_writer import CaseWriter
from casebook.collect import plain, redaction
from casebook.collect.segments import COPY_LIMIT
from casebook.errors import CollectError, UsageError
from casebook.events import folder_of

_LONGEST_LINE = 1 << 20
_HEAD = 100
"""Lines by which text is told from what is none."""
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
"""What no text holds (``text_chars``, src/encoding.c@FILE5_45)."""

Redact = Callable[[Iterable[bytes]], Iterator[bytes]]


def copy_properties(case: CaseWriter, broker: int, path: Path) -> None:
    """Copy a broker's ``server.properties``; why it could not be is recorded."""
    _copy(case, path, f"brokers/{broker}/server.properties", redaction.redact_properties)


def copy_logs(case: CaseWriter, owner: int | str, paths: Sequence[Path]) -> None:
    """Copy somebody's logs under their own names, folders with all their files; what could not be copied is recorded.

    Args:
        owner: A broker's id, or the name of a ZooKeeper server or a client; see :func:`casebook.events.folder_of`.
    """
    _copy_all(case, paths, folder_of(owner), redaction.redact_log)


def copy_ledgers(case: CaseWriter, client: str, paths: Sequence[Path]) -> None:
    """Copy what a client wrote down of the records that it produced or processed, as :func:`copy_logs` does."""
    _copy_all(case, paths, f"clients/{client}/ledgers", redaction.redact_ledger)


def refuse_ledgers(paths: Sequence[Path]) -> None:
    """Raise when ledgers cannot be copied: they are no text, or too large for a case. What cannot be read is told when copied.

    Raises:
        UsageError: One is binary.
        CollectError: Together they are larger than :data:`casebook.collect.segments.COPY_LIMIT`.
    """
    size, instead = 0, "Give it to the notebook as its parameter ledger: there it is read where it is."
    for path in files_of(paths):
        with suppress(OSError):
            size += path.stat().st_size
            if any(map(_BINARY.search, islice(plain.lines(path, longest=_LONGEST_LINE), _HEAD))):
                raise UsageError(
                    f"{path} is no text.", cause="Secrets can be taken out of CSV, JSON lines and text logs only.", try_=instead
                )
    if size > COPY_LIMIT:
        raise CollectError(
            f"The ledgers have {size / 1e9:.1f} GB; at most {COPY_LIMIT / 1e9:.1f} GB are copied into a case.", try_=instead
        )


def _copy_all(case: CaseWriter, paths: Sequence[Path], folder: str, redact: Redact) -> None:
    taken: set[str] = set()
    for path in files_of(paths):
        name = path.stem if path.suffix in plain.PACKED else path.name
        if name in taken:
            name = f"{path.parent.name}-{name}"
        taken.add(name)
        _copy(case, path, f"{folder}/{name}", redact)


def files_of(paths: Sequence[Path]) -> Iterator[Path]:
    """Files, and those of folders in the place of these; what cannot be looked into is left to whoever opens it."""
    for path in paths:
        if os.access(path, os.R_OK | os.X_OK) and path.is_dir():
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
