"""Several ledger files as one; an unusable file is reported, and the others are read."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casebook.errors import CasebookError
from casebook.facts.records import UnsuitedLedger
from casebook.formats.clients.ledger_columns import LedgerColumns
from casebook.questions.loss.scans import ledgers
from casebook.questions.loss.scans.ledgers import Ledger
from casebook.spark.session import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Gathered(NamedTuple):
    """Readable part.

    Args:
        ledger: All usable files; ``None`` without any.
        unsuited: Unusable files, each with the reason.
    """

    ledger: Ledger | None
    unsuited: tuple[UnsuitedLedger, ...] = ()


MOST = 100
"""Maximum number of files at one place that are tried one by one: each takes about a second."""
Read = Callable[[Path, Path | str], Ledger]
"""Read a place, with its rows kept in a new folder."""


def gather(
    spark: "SparkSession",
    files: Sequence[tuple[str, str]],
    columns: LedgerColumns,
    folder: Path,
    *,
    progress: Progress | None = None,
    **given: str | None,
) -> Gathered:
    """Read files together, or one by one if that fails.

    Args:
        spark: From :func:`casebook.spark.session`.
        files: Display name of each, and path for Spark's Hadoop; at least one. A single one may be a folder or pattern.
        columns: Column names.
        folder: New folder for the parsed rows.
        progress: Receives the progress.
        given: ``topic``, ``zone`` and ``line_pattern``, see :func:`casebook.questions.loss.scans.ledgers.read`.
    """
    read = partial(_read, spark, columns, progress, **given)
    try:
        return Gathered(read(folder / "together", together([place for _, place in files])))
    except CasebookError as error:
        apart = files if len(files) > 1 else _behind(spark, files[0][1])
        if not apart:
            return Gathered(None, (_unsuited(files[0][0], error),))
    return _one_by_one(apart, read, folder)


def of_place(
    spark: "SparkSession",
    place: Path | str,
    columns: LedgerColumns,
    folder: Path,
    *,
    progress: Progress | None = None,
    **given: str | None,
) -> Gathered:
    """Read a file, folder, pattern or URI like :func:`gather`.

    Raises:
        UsageError: None of it is usable.
        ScanError: It is unreadable.
    """
    read = partial(_read, spark, columns, progress, **given)
    try:
        return Gathered(read(folder / "together", place))
    except CasebookError:
        found = _one_by_one(_behind(spark, place), read, folder)
        if found.ledger is None:
            raise
        return found


def _behind(spark: "SparkSession", place: Path | str) -> Sequence[tuple[str, Path | str]]:
    """Return the files of a folder or pattern; none for one file, more than :data:`MOST`, or an unlistable place."""
    with suppress(CasebookError):
        files = ledgers.files(spark, place)
        if 1 < len(files) <= MOST:
            return [(str(file), file) for file in files]
    return []


def _read(
    spark: "SparkSession",
    columns: LedgerColumns,
    progress: Progress | None,
    folder: Path,
    place: Path | str,
    **given: str | None,
) -> Ledger:
    ledger = ledgers.read(spark, place, columns, **given).kept_in(folder, progress=progress)
    _ = ledger.told  # an empty one is of no use
    return ledger


def _one_by_one(files: Sequence[tuple[str, Path | str]], read: Read, folder: Path) -> Gathered:
    used, unsuited = [], []
    for number, (name, place) in enumerate(files):
        try:
            used.append(read(folder / str(number), place))
        except CasebookError as error:
            unsuited.append(_unsuited(name, error))
    return Gathered(reduce(Ledger.with_rows_of, used) if used else None, tuple(unsuited))


def together(places: Sequence[str]) -> str:
    """Return several files as one pattern."""
    if len(places) == 1:
        return places[0]
    folder = str(Path(places[0].removeprefix("file:")).parent)
    while not all(place.removeprefix("file:").startswith(folder + "/") for place in places):
        folder = str(Path(folder).parent)
    return f"file:{folder}/{{{','.join(place.removeprefix('file:')[len(folder) + 1 :] for place in places)}}}"


def _unsuited(name: str, error: CasebookError) -> UnsuitedLedger:
    return UnsuitedLedger(name, " ".join(filter(None, (error.what, error.cause))), error.try_ or "")
