"""Archives of the classes that a release's servers load, from which their Java starts with two thirds of the work (JEP 350).

Java takes one with the jars that it was made of alone, and starts without it when it does not.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from casebook.machine.places import cache_dir
from casebook.rehearsal.servers.jars import java

_QUIET = "-Xlog:cds*=off"
"""Of an archive that it does not take Java would tell in the server's log."""


def path(jars: Sequence[Path]) -> Path:
    """Where the archive of a server's jars is, or would be: its name tells the Java that it is made by.

    Raises:
        RehearsalError: There is no Java.
    """
    release = Path(java()).resolve().parents[1] / "release"
    known = hashlib.sha256(release.read_bytes() if release.is_file() else b"")
    known.update("\0".join(map(str, jars)).encode())
    return cache_dir() / "archives" / f"{jars[0].parent.name}-{known.hexdigest()[:16]}.jsa"


def options(jars: Sequence[Path]) -> tuple[str, ...]:
    """What to tell Java so that it takes the archive; nothing where there is none."""
    archive = path(jars)
    return (f"-XX:SharedArchiveFile={archive}", _QUIET) if archive.is_file() else ()
