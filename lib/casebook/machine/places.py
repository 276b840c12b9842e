"""Paths: notebooks and samples next to the package; runs, profiles and caches of the user.

Resolved from the package, never from the working directory, which differs between JupyterLab, papermill and cron.
"""

import os
from pathlib import Path

from casebook.errors import UsageError

_CHECKOUT = Path(__file__).resolve().parents[3]


def notebooks_dir() -> Path:
    """Return the folder of the notebooks."""
    return _part_of_checkout("notebooks")


def samples_dir() -> Path:
    """Return the folder of the shipped cases."""
    return _part_of_checkout("data_samples")


def checkout() -> Path:
    """Return the folder with notebooks, samples and library."""
    return _CHECKOUT


def runs_dir() -> Path:
    """Return the folder of runs: ``$CASEBOOK_RUNS``, else ``runs`` in the checkout."""
    return Path(os.environ.get("CASEBOOK_RUNS") or _CHECKOUT / "runs")


def cases_dir() -> Path:
    """Return the folder of cases from JupyterLab: ``$CASEBOOK_CASES``, else ``cases`` in the checkout."""
    return Path(os.environ.get("CASEBOOK_CASES") or _CHECKOUT / "cases")


def lab_dir() -> Path:
    """Return the folder of the notebooks' working copies: ``$CASEBOOK_LAB``, else ``lab`` in the checkout."""
    return Path(os.environ.get("CASEBOOK_LAB") or _CHECKOUT / "lab")


def profiles_dir() -> Path:
    """Return the folder of profiles of live clusters: ``$CASEBOOK_PROFILES``, else the user's configuration folder."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return Path(os.environ.get("CASEBOOK_PROFILES") or config / "kafka-casebook")


def cache_dir() -> Path:
    """Return the folder of downloads and of kept answers: ``$CASEBOOK_CACHE``, else the user's cache folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("CASEBOOK_CACHE") or cache / "kafka-casebook")


def _part_of_checkout(name: str) -> Path:
    folder = _CHECKOUT / name
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder {name} next to the library.",
            cause="casebook was installed without its notebooks.",
            try_="Clone the repository and install it with `make install`.",
        )
    return folder
