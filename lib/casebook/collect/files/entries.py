"""Entries of a folder listing, and the interface for reading local and remote folders."""

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from casebook.formats.broker.log_tail import Read


class Entry(NamedTuple):
    """A file or folder in a listing; ``bytes`` is ``None`` on failure, with the reason in ``why``."""

    name: str
    folder: bool
    bytes: int | None
    modified: int | None
    why: str = ""


class Files(Protocol):
    """Files below a root; every failure is an OSError with a readable ``strerror``."""

    def entries(self, path: str) -> list[Entry]:
        """Return the entries of the folder ``path`` below the root (``""``: the root itself), by name."""

    def read(self, path: str, limit: int) -> bytes:
        """Return the first ``limit`` bytes of a file."""

    def anywhere(self, path: str) -> AbstractContextManager[Read] | None:
        """Return a random-access reader of a file; ``None`` when each access costs a request."""
