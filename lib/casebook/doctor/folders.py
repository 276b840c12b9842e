"""Notebooks, samples, output folders, and the profiles of live clusters."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from casebook.collect.sources import Profile
from casebook.doctor.examined import Examined
from casebook.errors import CasebookError
from casebook.machine import places

_URI = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def examine() -> Iterator[Examined]:
    """Examine the folders to read and to write."""
    yield _notebooks()
    yield _room("Runs folder", places.runs_dir(), 200e6, "CASEBOOK_RUNS", "no run can be kept: `casebook run` ends with 3.")
    yield _room("Cases folder", places.cases_dir(), 1e9, "CASEBOOK_CASES", "notebook 00 cannot make a case from a paste.")
    yield _room(
        "Cache", places.cache_dir(), 500e6, "CASEBOOK_CACHE", "nothing can be fetched or compiled; what is already there works."
    )
    yield _room("Temporary files", Path(tempfile.gettempdir()), 1e9, "TMPDIR", "scans of many segments or logs fail half way.")
    yield from _profiles()


def _notebooks() -> Examined:
    from casebook.collect import sources
    from casebook.runs import notebooks

    without = "`casebook run` has nothing to run; `casebook collect` works."
    try:
        found = f"{len(notebooks.every())} notebooks, {len(sources.samples())} samples"
    except CasebookError as error:
        return Examined(what="Notebooks", ok=False, found=error.what, without=without, try_=error.try_ or "")
    return Examined(what="Notebooks", ok=True, found=found)


def _room(what: str, folder: Path, wanted: float, variable: str, without: str) -> Examined:
    """Check that a folder, or its future parent, is writable and has enough space."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try_ = f"Set {variable} to a writable folder with {wanted / 1e9:.1f} GB free."
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return Examined(what=what, ok=False, found=f"{folder} cannot be written to", without=without, try_=try_)
    free = shutil.disk_usage(there).free
    found = f"{folder}, {free / 1e9:.1f} GB free"
    return Examined(what=what, ok=free >= wanted, found=found, without=without, try_=try_)


def _profiles() -> Iterator[Examined]:
    from casebook.collect import sources

    names = sources.profiles()
    if not names:
        yield Examined(what="Live profiles", ok=True, found=f"none in {places.profiles_dir()}")
    for name in names:
        try:
            profile = sources.profile(name)
        except CasebookError as error:
            what = f"Profile live:{name}"
            yield Examined(what=what, ok=False, found=error.what, without=f"live:{name} cannot be opened.", try_=error.try_ or "")
            continue
        yield _profile(name, profile.zookeeper, _unreadable(_files(profile)))


def _files(profile: Profile) -> Iterator[Path]:
    yield from profile.zookeeper_data
    yield from [profile.credentials] if profile.credentials else []
    yield from profile.properties.values()
    yield from profile.logs.values()
    yield from (Path(place).expanduser() for _, place in profile.log_dirs if not _URI.match(place))
    yield from (
        path for named in (profile.clients, profile.ledgers, profile.processed) for paths in named.values() for path in paths
    )


def _unreadable(paths: Iterable[Path]) -> list[str]:
    """Return missing or unreadable paths, with the reason."""
    return [
        f"{path} {'is not readable' if path.exists() else 'does not exist'}"
        for path in paths
        if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0))
    ]


def _profile(name: str, zookeeper: str, unreadable: list[str]) -> Examined:
    return Examined(
        what=f"Profile live:{name}",
        ok=not unreadable,
        found="; ".join(unreadable) or f"{zookeeper}, and its files are readable",
        without="the questions that need them could not be checked.",
        try_="Correct the paths in the profile, or give your user read access (docs/configuration.md).",
    )
