"""JupyterLab on working copies of the notebooks: what people write into one lasts, and the shipped notebook stays as it is."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from casebook.errors import UsageError
from casebook.machine import locks, places, private, whole
from casebook.runs import notebooks

_FIRST = "00_start_here"
_SHIPPED = ".shipped.json"


def refresh(folder: Path) -> list[Path]:
    """Bring the working copies up to date with the shipped notebooks.

    A copy in which nothing was written follows its shipped notebook. Where both have changed, the copy is kept under another
    name. A copy whose shipped notebook is the same as before is never touched.

    Returns:
        Copies that were kept under another name.

    Raises:
        UsageError: The folder cannot be written.
    """
    try:
        private.folder(folder)
        with locks.one_at_a_time(folder):
            kept = list(_refreshed(folder, _before(folder / _SHIPPED)))
            whole.write(folder / _SHIPPED, json.dumps({one.stem: _digest(one.path) for one in notebooks.every()}, indent=1))
    except OSError as error:
        raise UsageError(f"No notebooks can be kept in {folder}: {error.strerror}.", try_="Set CASEBOOK_LAB.") from None
    return kept


def _before(record: Path) -> Mapping[str, str]:
    """Return the digests of the notebooks as shipped before; none where that is unknown, so that each copy counts as changed."""
    try:
        before = json.loads(record.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return before if isinstance(before, dict) else {}


def _refreshed(folder: Path, before: Mapping[str, str]) -> Iterator[Path]:
    for shipped in notebooks.every():
        copy = folder / shipped.path.name
        if copy.exists() and _digest(shipped.path) == before.get(shipped.stem):
            continue
        if copy.exists() and _digest(copy) not in (before.get(shipped.stem), _digest(shipped.path)):
            aside = copy.with_name(f"{shipped.stem} kept {datetime.now(UTC):%Y-%m-%dT%H-%M-%S-%f}.ipynb")
            copy.rename(aside)
            yield aside
        with whole.beside(copy) as partial:
            shutil.copyfile(shipped.path, partial)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def command(folder: Path, options: tuple[str, ...] = ()) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts JupyterLab on the copies, and its environment.

    Jupyter runs as root, as in a container, only with ``--allow-root``. The settings in ``lib/jupyter`` keep it off the network.

    Args:
        options: Further options of JupyterLab.
    """
    root = places.checkout() if folder.resolve().is_relative_to(places.checkout()) else folder.resolve()
    first = (folder.resolve() / f"{_FIRST}.ipynb").relative_to(root)
    settings = os.pathsep.join(filter(None, (str(places.checkout() / "lib" / "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH"))))
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    started = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab/tree/{quote(first.as_posix())}",
    ]
    return [*started, *as_root, *options], {**os.environ, "JUPYTER_CONFIG_PATH": settings}
