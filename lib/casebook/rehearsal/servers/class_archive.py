"""Archives of the classes that a release's servers load, so that their Java starts with two thirds of the work (JEP 350).

Java accepts one with exactly the jars it was made of, and starts without it otherwise.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from casebook.machine.places import cache_dir
from casebook.rehearsal.servers.jars import java

_QUIET = "-Xlog:cds*=off"
"""Suppresses Java's message about a rejected archive in the server's log."""


def path(jars: Sequence[Path]) -> Path:
    """Return the path of the archive for a server's jars, existing or not: its name contains the Java version.

    Raises:
        RehearsalError: Java is missing.
    """
    release = Path(java()).resolve().parents[1] / "release"
    known = hashlib.sha256(release.read_bytes() if release.is_file() else b"")
    known.update("\0".join(map(str, jars)).encode())
    return cache_dir() / "archives" / f"{jars[0].parent.name}-{known.hexdigest()[:16]}.jsa"


def options(jars: Sequence[Path]) -> tuple[str, ...]:
    """Return the Java options that use the archive; nothing without one."""
    archive = path(jars)
    return (f"-XX:SharedArchiveFile={archive}", _QUIET) if archive.is_file() else ()
