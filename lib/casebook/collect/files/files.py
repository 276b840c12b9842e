"""Copy files of brokers and other programs line by line, without secrets."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from casebook.case.writer import CaseWriter
from casebook.collect import outside, redaction
from casebook.collect.files import decoding, plain
from casebook.collect.files.segments import COPY_LIMIT
from casebook.errors import CollectError, UsageError
from casebook.facts.cluster import ROLES
from casebook.facts.events import folder_of
from casebook.formats import properties
from casebook.formats.hosts import prometheus
from casebook.machine import packs

_LONGEST_LINE = 1 << 20
_LARGEST_METRICS = 8 << 20
"""Size limit of a file of host metrics, in bytes: a week of sar, minute by minute."""
_HEAD = 100
"""Number of first lines that decide whether a file is text."""
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text contains (``text_chars``, src/encoding.c@FILE5_45)."""
_OF_WORKER = re.compile(r"connect\.log(?:\.[^/]*)?")
"""Log of a Connect worker in its broker's folder (``config/connect-log4j.properties@2.4.0``); it is a client."""
_INSTEAD = "Pass it to the notebook as its parameter ledger: the notebook reads it where it is."

Redact = Callable[[Iterable[bytes]], Iterator[bytes]]
Lines = Callable[[outside.Given], Iterator[bytes]]


def copy_properties(case: CaseWriter, broker: int, path: outside.Given) -> bool:
    """Copy a broker's ``server.properties``; a failure is recorded.

    Returns:
        Whether it is a KRaft node's.
    """
    roles: list[bytes] = []

    def lines(given: outside.Given) -> Iterator[bytes]:
        for line in _lines(given):
            if ROLES.encode() in line:
                roles.append(line)
            yield line

    _copy(case, path, f"brokers/{broker}/server.properties", redaction.redact_properties, lines)
    return bool(properties.parse(b"".join(roles).decode(errors="replace")).get(ROLES))


def copy_logs(case: CaseWriter, owner: int | str, paths: Sequence[outside.Given]) -> None:
    """Copy logs under their own names, folders with all files; failures are recorded.

    Args:
        owner: Broker id, or the name of a ZooKeeper server or a client; see :func:`casebook.facts.events.folder_of`.
    """
    for path, name in _named(paths, folder_of(owner)):
        file = name.rpartition("/")[2]
        of_worker = isinstance(owner, int) and _OF_WORKER.fullmatch(file)
        _copy(case, path, f"{folder_of(f'connect-{owner}')}/{file}" if of_worker else name, redaction.redact_log, _lines)


def copy_metrics(case: CaseWriter, broker: int, paths: Sequence[outside.Given]) -> None:
    """Copy a broker's host metrics like :func:`copy_logs`; a response of Prometheus with one line per value."""

    def lines(given: outside.Given) -> Iterator[bytes]:
        left = _LARGEST_METRICS
        for whole in plain.lines(given, longest=_LARGEST_METRICS):
            for line in prometheus.spread(whole):
                left -= len(line)
                if left < 0:
                    raise OSError(0, f"of a file of host metrics at most {_LARGEST_METRICS >> 20} MiB are taken")
                yield line

    for path, name in _named(paths, f"brokers/{broker}/metrics"):
        _copy(case, path, name, redaction.redact_log, lines)


class Ledgers:
    """Copies ledgers of produced or processed records; all of a case share one size limit."""

    def __init__(self) -> None:
        self._left = COPY_LIMIT

    def copy(
        self,
        case: CaseWriter,
        client: str,
        paths: Sequence[outside.Given],
        take: Callable[[str, Callable], None],
        *,
        folder: str = "ledgers",
    ) -> None:
        """Copy a client's ledgers like :func:`copy_logs`.

        Args:
            folder: Folder below the client's: ``processed`` for ledgers of processed records, with the consumer group as client.
            take: Receives a name in the case and the copy function; its errors are recorded: a :class:`UsageError` when it is not
                text, a :class:`CollectError` when too large.
        """
        for path, name in _named(paths, f"clients/{client}/{folder}"):
            take(name, lambda path=path, name=name: self._copy(case, path, name))

    def _copy(self, case: CaseWriter, path: outside.Given, name: str) -> None:
        known = outside.path_of(path)
        size = _size(path)
        if size is not None and size > self._left:
            raise CollectError(
                f"{known} has {size / 1e9:.1f} GB; of all ledgers at most {COPY_LIMIT / 1e9:.1f} GB are copied into a case.",
                try_=_INSTEAD,
            )
        if size is not None and _is_binary(path):
            raise UsageError(
                f"{known} is not text.", cause="Secrets can be taken out of CSV, JSON lines and text logs only.", try_=_INSTEAD
            )
        _copy(case, path, name, redaction.redact_ledger, self._lines)

    def _lines(self, path: outside.Given) -> Iterator[bytes]:
        for line in _lines(path):
            self._left -= len(line)
            if self._left < 0:
                raise OSError(
                    0, f"unpacked, the ledgers have more than the {COPY_LIMIT / 1e9:.1f} GB that are copied into a case"
                )
            yield line


def _lines(path: outside.Given) -> Iterator[bytes]:
    return plain.lines(path, longest=_LONGEST_LINE)


def _named(paths: Sequence[outside.Given], folder: str) -> Iterator[tuple[outside.Named, str]]:
    """Yield files with their unique names in the case."""
    taken: set[str] = set()
    for one in outside.files(paths):
        path = one.path
        name = _shown(path.stem if path.suffix in packs.SUFFIXES else path.name)
        if name in taken:
            name = f"{_shown(path.parent.name)}-{name}"
        beside, number = name, 2
        while name in taken:
            name, number = f"{beside}-{number}", number + 1
        taken.add(name)
        yield one, f"{folder}/{name}"


def _shown(name: str) -> str:
    return redaction.redact_name("".join(character if character.isprintable() else "_" for character in name))


def _size(path: outside.Given) -> int | None:
    """Size of a file in bytes; ``None`` on an error, which the copy will report."""
    try:
        with outside.opened(path) as file:
            return file.seek(0, 2)
    except OSError:
        return None


def _is_binary(path: outside.Given) -> bool:
    try:
        return any(map(_BINARY.search, islice(_lines(path), _HEAD)))
    except decoding.NoTextError:
        return True
    except OSError:
        return False


def _copy(case: CaseWriter, given: outside.Given, name: str, redact: Redact, lines_of: Lines) -> None:
    redacted, path = 0, outside.path_of(given)

    def lines() -> Iterator[bytes]:
        nonlocal redacted
        try:
            for line in redact(lines_of(given)):
                redacted += redaction.MARK in line
                yield line
        except OSError as error:
            case.left_out(name, f"{path} cannot be read to its end: {error.strerror or error}")

    try:
        with outside.opened(given):
            pass
        plain.refuse_binary(given)
    except OSError as error:
        case.left_out(name, f"{path} cannot be opened: {error.strerror or error}")
        return
    case.file(name, lines())
    if redacted:
        case.redacted(f"{redacted} lines of {name}")
