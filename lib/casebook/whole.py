"""Files that are there whole, or not there: written beside their place, and renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that whoever reads it sees all of it, or all of what was there before.

    Args:
        content: A text becomes UTF-8; half a surrogate pair in it becomes a question mark.

    Raises:
        OSError: It could not be written; what was there before still is, and nothing else.
    """
    with beside(path) as partial:
        partial.write_bytes(content if isinstance(content, bytes) else content.encode(errors="replace"))


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Where to write a file before it gets its name, which it does at the end; when that fails, nothing of it is left.

    Raises:
        OSError: It could not be written; what was there before still is.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        with partial.open("r+b") as file:
            os.fsync(file.fileno())  # a quota or a full remote disk is told of here, before the old one is gone
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def sweep(folder: Path) -> None:
    """Remove what writers that were killed left in a folder. The caller holds its lock: nobody writes there now."""
    for left in folder.glob(".*.partial"):
        if left.is_file():
            left.unlink(missing_ok=True)
