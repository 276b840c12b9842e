"""Files that are there whole, or not there: written beside their place, and renamed."""

import os
from pathlib import Path


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that whoever reads it sees all of it, or all of what was there before.

    Args:
        content: A text becomes UTF-8; half a surrogate pair in it becomes a question mark.

    Raises:
        OSError: It could not be written; what was there before still is, and nothing else.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode(errors="replace"))
            file.flush()
            os.fsync(file.fileno())  # a quota or a full remote disk is told of here, before the old one is gone
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def sweep(folder: Path) -> None:
    """Remove what writers that were killed left in a folder. The caller holds its lock: nobody writes there now."""
    for left in folder.glob(".*.partial"):
        if left.is_file():
            left.unlink(missing_ok=True)
