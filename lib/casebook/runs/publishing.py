"""The latest report in a folder or an object store: ``report.html`` and ``summary.json``, each replaced atomically.

An incomplete run never removes a good report: it only replaces the summary, which has the reason and the report's age.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

from casebook.errors import CasebookError, UsageError
from casebook.machine import locks, private, whole
from casebook.runs import jupyter, report, summary

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_STORES = ("s3", "gs", "gcs", "abfs", "abfss")
_URI = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://(.*)", re.DOTALL)
_TORN = re.compile(r"[^/?#@]*:[^/?#@]*[/?#].*@", re.DOTALL)
"""Characters that cut a URI short: the rest would be parsed as a path, and appear in errors."""


class PublishError(CasebookError):
    """A target that cannot be read or written."""


class OvertakenError(PublishError):
    """A later run is already published."""


class PublishPlace(Protocol):
    """Target for published reports.

    Attributes:
        said: The target for people: without keys and passwords.
    """

    said: str

    def read(self, name: str) -> bytes | None:
        """Return a file's content; ``None`` when it does not exist."""

    def write(self, name: str, content: bytes) -> None:
        """Replace a file atomically."""

    def try_out(self) -> None:
        """Write an empty file, as a test."""

    def held(self) -> object:
        """Lock it against other runs, if possible."""


def place(text: str) -> PublishPlace:
    """Parse a target: a folder, or a URI of an object store.

    Raises:
        UsageError: The scheme does not support atomic replacement, or the URI is invalid.
    """
    uri = _URI.fullmatch(text)
    if not uri:
        return PublishFolder(Path(text).expanduser())
    scheme = uri[1].lower()
    if scheme == "file":
        return PublishFolder(_local(uri[2]))
    if scheme in _STORES:
        return Store(text)
    raise UsageError(
        f"Reports cannot be published to {scheme}://.",
        cause="Files there cannot be replaced atomically: readers could see half a file.",
        try_=f"Use a folder, or one of {', '.join(f'{known}://' for known in _STORES)}.",
    )


def _local(rest: str) -> Path:
    """Return the path of a file URI, without its scheme."""
    host, _, path = rest.partition("/")
    if host not in ("", "localhost"):
        raise UsageError(
            "A file URI names a folder of this machine.",
            cause="The part between its second and third slash would be another machine.",
            try_="For example file:///srv/casebook, or the folder itself.",
        )
    return Path("/" + unquote(path))


def check(where: PublishPlace, *, notebook: str, source: object) -> None:
    """Check that a run can be published, before it spends minutes.

    Args:
        notebook: The notebook's stem.
        source: As given to the notebook.

    Raises:
        PublishError: The target is unreachable or not writable.
        UsageError: It holds reports of other runs.
    """
    with _readable_errors(where, try_="Nothing has run yet. Correct the destination, or choose another one."), where.held():
        _before(where, {"notebook": notebook, "source": source})
        where.try_out()


def publish(where: PublishPlace, document: Mapping[str, object], folder: Path | None) -> None:
    """Publish a run.

    Args:
        document: Summary.
        folder: Run folder; ``None`` when none could be kept.

    Raises:
        OvertakenError: A later run is already published; it stays.
        PublishError: The target is unreachable or full; its content is unchanged.
        UsageError: It holds reports of other runs.
    """
    with _readable_errors(where, try_="The run itself is kept. Correct the destination, or publish the next run."), where.held():
        before = _before(where, document)
        shown = before and before.get("report")
        overtaken = summary.began_later(before, document)
        if document["completed"] and folder is not None and not summary.began_later(shown, document):
            where.write(report.REPORT, _alone(folder, document["run"]))
            shown = document["report"]
        told = before if overtaken else document
        where.write(summary.FILE, summary.encoded(summary.beside(told, shown)).encode(errors="replace"))
    if overtaken:
        raise OvertakenError(f"{where.said} keeps the summary of {before['run']}, which began later than this run.")


def read(where: PublishPlace) -> dict[str, object]:
    """Read the summary of a target.

    Raises:
        PublishError: It does not exist, or the target is unreachable.
    """
    with _readable_errors(where, try_="Correct the destination, or choose another one."):
        content = where.read(summary.FILE)
    found = _decoded(content)
    if found is None and content is not None:
        raise PublishError(
            f"{summary.FILE} in {where.said} is not the summary of a run.", try_="Publish a run there; it replaces the file."
        )
    if found is None:
        raise PublishError(f"There is no {summary.FILE} in {where.said}.", try_="Use a run folder, or a --publish destination.")
    return found


def _alone(folder: Path, run: str) -> bytes:
    """Return the report without links to files in the run's folder."""
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    notebook = jupyter.read(folder / report.NOTEBOOK)
    return report.report(notebook, record=record, run_id=run, folder=folder / "nothing").encode(errors="replace")


def _before(where: PublishPlace, document: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the existing summary when it is of the same line of runs."""
    found = _decoded(where.read(summary.FILE))
    if found is None:
        return None
    line, there = ([one.get(key) for key in ("notebook", "source")] for one in (document, found))
    if line != there:
        raise UsageError(
            f"{where.said} holds the reports of {there[0]} on {there[1]}.",
            cause=f"One destination is for one notebook on one source; this is {line[0]} on {line[1]}.",
            try_=f"Use another destination, or remove {summary.FILE} there.",
        )
    return found


def _decoded(content: bytes | None) -> dict[str, object] | None:
    try:
        found = json.loads(content or b"")
    except (ValueError, RecursionError):
        return None
    known = isinstance(found, dict) and found.get("schema") == summary.SCHEMA and summary.is_one(found)
    return found if known else None


@contextmanager
def _readable_errors(where: PublishPlace, *, try_: str) -> Iterator[None]:
    """Convert the target's errors to readable ones."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error).split("\n")[0]
        raise PublishError(
            f"Nothing could be published to {where.said}: {why}".rstrip(".") + ".",
            cause="It is full or unreachable, or you have no write access.",
            try_=try_,
        ) from None


class PublishFolder:
    """A folder. It is created only when its parent exists: an unmounted disk is an error, not a new folder."""

    def __init__(self, path: Path) -> None:
        self._path, self.said = path, str(path)

    def read(self, name: str) -> bytes | None:
        """See :class:`PublishPlace`."""
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """See :class:`PublishPlace`."""
        whole.write(self._path / name, content, for_others=True)

    def try_out(self) -> None:
        """See :class:`PublishPlace`."""
        self.write(_TRIED, b"")
        (self._path / _TRIED).unlink()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock it; leftovers of killed writers are removed."""
        with private.for_others():
            self._make()
        with locks.one_at_a_time(self._path, for_others=True):
            whole.sweep(self._path)
            yield

    def _make(self) -> None:
        """Create the folder itself.

        Raises:
            PublishError: Its parent is missing, or another file is in its place.
        """
        try:
            self._path.mkdir(exist_ok=True)
        except FileNotFoundError:
            raise PublishError(
                f"Nothing could be published to {self.said}: {self._path.parent} does not exist.",
                try_="Create or mount it first: only the last folder is created.",
            ) from None
        except FileExistsError:
            raise PublishError(f"Nothing could be published to {self.said}: it is a file.", try_="Use a folder.") from None


class Store:
    """An object store: it shows an object after it arrived completely."""

    def __init__(self, uri: str) -> None:
        scheme, rest = _URI.fullmatch(uri).groups()
        self.said = f"{scheme.lower()}://{re.split('[?#]', rest.rpartition('@')[2])[0]}"
        if _TORN.match(rest):
            raise UsageError(
                f"{self.said} cannot be understood.",
                cause="The keys before its @ contain a slash, a question mark or a hash.",
                try_="Write these as %2F, %3F and %23, or put the keys into the environment (AWS_SECRET_ACCESS_KEY).",
            )
        self._uri = uri
        self._opened: tuple[FileSystem, str] | None = None

    def read(self, name: str) -> bytes | None:
        """See :class:`PublishPlace`."""
        store, path = self._open()
        try:
            with store.open_input_stream(f"{path}/{name}") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """See :class:`PublishPlace`."""
        store, path = self._open()
        with store.open_output_stream(f"{path}/{name}", metadata={"Content-Type": _TYPES[Path(name).suffix]}) as file:
            file.write(content)

    def try_out(self) -> None:
        """See :class:`PublishPlace`. The file stays: a writer may lack permission to delete."""
        self.write(_TRIED, b"")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Do nothing: an object store has no lock; the last writer wins, with complete files."""
        yield

    def _open(self) -> tuple["FileSystem", str]:
        """Connect.

        Raises:
            UsageError: The URI is invalid; the message does not repeat it, as it may contain keys.
        """
        if self._opened is None:
            from pyarrow import ArrowInvalid, fs

            try:
                store, path = fs.FileSystem.from_uri(self._uri)
                if not path.strip("/"):
                    raise ArrowInvalid("no bucket")
            except (ArrowInvalid, NotImplementedError):
                raise UsageError(
                    f"{self.said} cannot be understood.", try_="For example s3://bucket/folder?region=eu-west-1."
                ) from None
            self._opened = store, path.rstrip("/")
        return self._opened


_TRIED = ".tried"
_TYPES = {".html": "text/html; charset=utf-8", ".json": "application/json", "": "text/plain"}
