"""Run folders: written under a temporary name, published whole.

runs/<UTC time>_<notebook>_<hash>/  notebook.ipynb report.html findings.json run.json summary.json tables/ evidence/ run.log

While a run is written, its folder is hidden and contains a file locked by its writer. The system releases the lock when the
writer ends, even when killed; so the next run recognises and removes an abandoned folder.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from casebook import __version__
from casebook.errors import CasebookError, CaseError
from casebook.findings.finding import SCHEMA, Finding, as_document
from casebook.machine import locks, places, private, whole
from casebook.runs import index
from casebook.runs.found import NAME

_WRITER = ".writer"
_PACKAGES = ("jupyterlab", "kazoo", "nbconvert", "papermill", "plotly", "pyarrow", "pyspark")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """A run in progress.

    Args:
        path: Current path of its files.
        final: Path after publication.
        started: Start time.
        writer: Descriptor of the lock file, locked while the writer lives.
    """

    path: Path
    final: Path
    started: datetime
    writer: int = field(repr=False)

    @classmethod
    def begin(cls, runs: Path, *, notebook: str, seed: Mapping[str, object]) -> "RunFolder":
        """Create a hidden folder for a run of a notebook.

        Args:
            runs: Folder of all runs.
            notebook: The notebook's stem.
            seed: Source and parameters, to distinguish two runs of one second.

        Raises:
            CaseError: The folder cannot be created.
        """
        started = datetime.now(UTC)
        digest = hashlib.sha256(json.dumps([started.isoformat(), seed, os.getpid()], sort_keys=True, default=str).encode())
        name = f"{started:%Y-%m-%dT%H-%M-%S}_{notebook}_{digest.hexdigest()[:4]}"
        path = runs / f".{name}.partial"
        try:
            private.folder(runs)
            with locks.one_at_a_time(runs):
                _sweep(runs)
                private.folder(path)
                writer = locks.made(path / _WRITER)
        except OSError as error:
            raise CaseError(
                f"No run can be kept in {runs}: {error.strerror}.", try_="Choose another folder with --runs."
            ) from None
        return cls(path=path, final=runs / name, started=started, writer=writer)

    def clear(self) -> None:
        """Remove what was written so far, and continue."""
        for inside in self.path.iterdir():
            if inside.is_dir():
                shutil.rmtree(inside, ignore_errors=True)
            elif inside.name != _WRITER:
                inside.unlink()

    def discard(self) -> None:
        """Remove what was written so far."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.writer)

    def publish(self) -> Path:
        """Rename the run to its final name."""
        with locks.one_at_a_time(self.final.parent):
            private.seal(self.path)
            self.path.replace(self.final)
            (self.final / _WRITER).unlink()
            os.close(self.writer)
        return self.final


def refresh_index(runs: Path) -> None:
    """Write ``index.html`` over all runs; concurrent runs wait for each other.

    Raises:
        OSError: It could not be written; the old one remains.
    """
    with locks.one_at_a_time(runs):
        index.write_index(runs)


def remove(folder: Path) -> None:
    """Remove a published run atomically for readers. The caller holds the lock of the folder of runs."""
    doomed = folder.with_name(f".{folder.name}.removed")
    folder.rename(doomed)
    shutil.rmtree(doomed)


def _sweep(runs: Path) -> None:
    """Remove leftovers of killed processes: runs of a dead writer, and half removed runs."""
    whole.sweep(runs)
    for folder in runs.glob(".*"):  # without a lock, its writer was killed before creating it; both are created under this lock
        name = NAME.fullmatch(folder.stem[1:])
        if name and (folder.suffix == ".removed" or (folder.suffix == ".partial" and not locks.is_held(folder / _WRITER))):
            shutil.rmtree(folder, ignore_errors=True)


def write_findings(
    folder: Path, *, notebook: str, source: str, kafka_versions: Mapping[str, object], findings: Iterable[Finding]
) -> None:
    """Write ``findings.json``, byte for byte the same for the same case and parameters."""
    about = {"schema": SCHEMA, "notebook": notebook, "source": source, "kafka_versions": kafka_versions}
    _write_json(folder / "findings.json", about | as_document(findings))


def write_record(folder: Path, record: Mapping[str, object]) -> None:
    """Write or amend ``run.json``: notebook, source, parameters and duration."""
    path = folder / "run.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    _write_json(path, before | dict(record))


def surroundings(notebook: Path) -> dict[str, object]:
    """Return what a run depends on besides its source: code, packages, Python, Java."""
    return {
        "notebook_sha256": hashlib.sha256(notebook.read_bytes()).hexdigest(),
        "casebook": __version__,
        "commit": _git("rev-parse", "HEAD"),
        "dirty": None if (status := _git("status", "--porcelain", "--untracked-files=no")) is None else bool(status),
        "packages": {name: _package(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
    }


def read_findings(folder: Path) -> dict[str, object]:
    """Read the findings of a run.

    Raises:
        CasebookError: The run has none.
    """
    try:
        return json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise CasebookError(f"{folder} has no findings.", cause="The run did not reach its last cell.") from None


def _package(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(places.checkout()), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _write_json(path: Path, document: Mapping[str, object]) -> None:
    whole.write(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
