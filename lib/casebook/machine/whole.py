"""Atomic files: written under a temporary name, and renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from glob import escape
from pathlib import Path

from casebook.machine import locks, private


def write(path: Path, content: str | bytes, *, for_others: bool = False) -> None:
    """Write a file so that readers see either all of it, or all of its previous content.

    Args:
        content: Text becomes UTF-8; half a surrogate pair becomes a question mark.
        for_others: Others may read it under the user's umask; otherwise it is private.

    Raises:
        OSError: It could not be written; the previous content is unchanged, and nothing else is left.
    """
    with beside(path, for_others=for_others) as partial:
        partial.write_bytes(content if isinstance(content, bytes) else content.encode(errors="replace"))


@contextmanager
def beside(path: Path, *, for_others: bool = False) -> Iterator[Path]:
    """Yield a temporary path that is renamed at the end; on failure nothing of it is left.

    The writer holds a lock; leftovers of killed writers of the same file are removed.

    Raises:
        OSError: It could not be written; the previous content is unchanged.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    sweep(path.parent, path.name)
    with private.for_others() if for_others else nullcontext():
        file = locks.made(partial, mode=0o666 if for_others else private.FILE)
    try:
        yield partial
        os.fsync(file)  # a quota or a full remote disk fails here, before the old file is replaced
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove leftovers of killed writers in a folder.

    Args:
        name: Name of their file; ``None`` for any.
    """
    for left in folder.glob(f".{escape(name) if name else '*'}.*.partial"):
        if left.is_file() and not left.is_symlink() and not locks.is_held(left):
            left.unlink(missing_ok=True)
