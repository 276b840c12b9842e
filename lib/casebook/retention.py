"""Which runs are kept: the newest of each line of runs, a line being one notebook on one cluster.

A cluster is known by its id, wherever its evidence lay; one that has none (before 0.10.1) by its live profile, or the name of its
case. A run that failed before it could learn the id belongs to the others of its profile or case.

Only what a run has certainly written is ever removed: a folder with a run's name and a run's record.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from casebook import runs, runs_index
from casebook.errors import CaseError
from casebook.runs_index import Run


def listed(folder: Path) -> Sequence[Run]:
    """All runs of a folder, newest first.

    Raises:
        CaseError: There is no such folder.
    """
    try:
        return runs_index.every(folder)
    except OSError as error:
        raise CaseError(
            f"The runs in {folder} cannot be read: {error.strerror}.", try_="Name another folder with --runs."
        ) from None


def keep(folder: Path, newest: int) -> Sequence[Run]:
    """Remove all but the newest runs of each line, and renew the index.

    The newest run of a line that completed stays in any case: the next one is compared with it.

    Args:
        newest: How many of each line to keep.

    Returns:
        What was removed, newest first.

    Raises:
        CaseError: A run cannot be removed, or the index not be written.
    """
    found = listed(folder)
    certain = {run.name: record for run in found if (record := _record(folder / run.name)) is not None}
    ids = {run.line: found_id for run in reversed(found) if (found_id := _cluster_id(certain.get(run.name, {})))}
    lines: dict[tuple[str | None, str | None], list[Run]] = defaultdict(list)
    for run in found:
        if run.name in certain:
            lines[_cluster_id(certain[run.name]) or ids.get(run.line) or run.case, run.notebook].append(run)
    doomed = {run.name for line in lines.values() for run in _beyond(line, newest)}
    try:
        with runs.locked(folder):
            for name in doomed:
                runs.remove(folder / name)
        runs.refresh_index(folder)
    except OSError as error:
        raise CaseError(f"Not all old runs of {folder} could be removed: {error.strerror}.") from None
    return [run for run in found if run.name in doomed]


def _beyond(line: Sequence[Run], newest: int) -> Sequence[Run]:
    last_good = next((run for run in line if run.checks), None)
    return [run for run in line[newest:] if run is not last_good]


def _record(folder: Path) -> Mapping[str, object] | None:
    """The record of what is a run folder beyond doubt: a real folder by its name, with a record of its notebook."""
    named = runs_index.NAME.fullmatch(folder.name)
    if not named or folder.is_symlink():
        return None
    try:
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("notebook") == named[5] else None


def _cluster_id(record: Mapping[str, object]) -> str | None:
    cluster = record.get("cluster")
    found = cluster.get("id") if isinstance(cluster, dict) else None
    return found if isinstance(found, str) and found else None
