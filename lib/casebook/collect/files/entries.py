"""What a listing of a folder holds, and what reads it, of this machine or behind a URI."""

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from casebook.formats.broker.log_tail import Read


class Entry(NamedTuple):
    """A file or folder in a listing; ``bytes`` is ``None`` when it could not be looked at, and ``why`` says why not."""

    name: str
    folder: bool
    bytes: int | None
    modified: int | None
    why: str = "was removed before it could be read"


class Files(Protocol):
    """The files below a place; every failure is an OSError whose ``strerror`` a person can read."""

    def entries(self, path: str) -> list[Entry]:
        """What lies in the folder ``path`` below the place (``""``: the place itself), by name."""

    def read(self, path: str, limit: int) -> bytes:
        """The first ``limit`` bytes of a file."""

    def anywhere(self, path: str) -> AbstractContextManager[Read] | None:
        """What reads a file at any place of it; ``None`` where each place costs a request."""
