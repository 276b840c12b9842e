"""Retention of runs: the newest completed runs of each line, a line being one notebook on one cluster.

Incomplete runs displace no completed ones: a week of failures keeps the report before it. The newest incomplete runs are kept, at
most as many, and none older than all completed ones that stay.

A cluster is identified by its id, wherever its evidence was; without one (before 0.10.1) by ZooKeeper's address, else by its live
profile, or the name of its case. A run that failed before it had these belongs to the others of its profile or case.

Only certain run folders are ever removed: with a run's name and a run's record.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from casebook.errors import CaseError
from casebook.machine import locks
from casebook.runs import folder as runs
from casebook.runs import index
from casebook.runs.found import NAME, Run, newest


def listed(folder: Path) -> Sequence[Run]:
    """Return all runs of a folder, newest first.

    Raises:
        CaseError: The folder does not exist.
    """
    try:
        return newest(folder)[0]
    except OSError as error:
        raise CaseError(
            f"The runs in {folder} cannot be read: {error.strerror}.", try_="Choose another folder with --runs."
        ) from None


def listed_anew(folder: Path) -> Sequence[Run]:
    """Return all runs of a folder, newest first, and refresh its index, if any: a run may have been removed manually.

    Raises:
        CaseError: The folder does not exist.
    """
    found = listed(folder)
    if found and (folder / "index.html").is_file():
        with suppress(OSError):  # a user with read access only still gets the list
            runs.refresh_index(folder)
    return found


def keep(folder: Path, newest: int) -> Sequence[Run]:
    """Remove all but the newest runs of each line, and refresh the index.

    Args:
        newest: Number of completed runs to keep per line, and maximum number of incomplete runs since the oldest of these.

    Returns:
        What was removed, newest first.

    Raises:
        CaseError: A run cannot be removed, or the index not be written.
    """
    try:
        with locks.one_at_a_time(folder):  # other processes decide after this one, on the remaining runs
            removed = []
            for run in _doomed(folder, newest):
                with suppress(FileNotFoundError):  # removed manually meanwhile
                    runs.remove(folder / run.name)
                    removed.append(run)
            index.write_index(folder)
    except OSError as error:
        raise CaseError(f"Not all old runs of {folder} could be removed: {error.strerror}.") from None
    return removed


def _doomed(folder: Path, newest: int) -> Sequence[Run]:
    """Return the runs to remove, newest first."""
    found = listed(folder)
    certain = {run.name: record for run in found if (record := _record(folder / run.name)) is not None}
    known = {name: _cluster(record) for name, record in certain.items()}
    last = {run.line: cluster for run in reversed(found) if (cluster := known.get(run.name))}
    lines: dict[tuple[str | None, str | None], list[Run]] = defaultdict(list)
    for run in found:
        if run.name in certain:
            learnt = known[run.name] or (last.get(run.line) if certain[run.name].get("error") else None)
            lines[learnt or run.case, run.notebook].append(run)
    beyond = {run.name for line in lines.values() for run in _beyond(line, newest)}
    return [run for run in found if run.name in beyond]


def _beyond(line: Sequence[Run], newest: int) -> Iterator[Run]:
    """Yield the runs to remove of a line, newest first: each after as many completed, or as many incomplete, runs."""
    completed = failed = 0
    for run in line:
        if run.checks:
            completed += 1
            too_old = completed > newest
        else:
            failed += 1
            too_old = failed > newest or completed >= newest
        if too_old:
            yield run


def _record(folder: Path) -> Mapping[str, object] | None:
    """Return the record of a certain run folder: a real folder with a matching name and a record of its notebook."""
    named = NAME.fullmatch(folder.name)
    if not named or folder.is_symlink():
        return None
    try:
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("notebook") == named[5] else None


def _cluster(record: Mapping[str, object]) -> str | None:
    """Cluster id, else ZooKeeper's address."""
    cluster = record.get("cluster")
    told = [cluster.get(key) for key in ("id", "address")] if isinstance(cluster, dict) else []
    return next((one for one in told if isinstance(one, str) and one), None)
