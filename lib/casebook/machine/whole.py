"""Files that are there whole, or not there: written beside their place, and renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from glob import escape
from pathlib import Path

from casebook.machine import locks, private


def write(path: Path, content: str | bytes, *, for_others: bool = False) -> None:
    """Write a file so that whoever reads it sees all of it, or all of what was there before.

    Args:
        content: A text becomes UTF-8; half a surrogate pair in it becomes a question mark.
        for_others: Others may read it as far as the user's umask lets them; else nobody may.

    Raises:
        OSError: It could not be written; what was there before still is, and nothing else.
    """
    with beside(path, for_others=for_others) as partial:
        partial.write_bytes(content if isinstance(content, bytes) else content.encode(errors="replace"))


@contextmanager
def beside(path: Path, *, for_others: bool = False) -> Iterator[Path]:
    """Where to write a file before it gets its name, which it does at the end; when that fails, nothing of it is left.

    Its writer holds it locked; what one that was killed left of the same file is removed.

    Raises:
        OSError: It could not be written; what was there before still is.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    sweep(path.parent, path.name)
    with private.for_others() if for_others else nullcontext():
        file = locks.made(partial, mode=0o666 if for_others else private.FILE)
    try:
        yield partial
        os.fsync(file)  # a quota or a full remote disk is told of here, before the old one is gone
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove what writers that were killed left in a folder.

    Args:
        name: Of the file that they wrote; ``None`` for any.
    """
    for left in folder.glob(f".{escape(name) if name else '*'}.*.partial"):
        if left.is_file() and not left.is_symlink() and not locks.is_held(left):
            left.unlink(missing_ok=True)
