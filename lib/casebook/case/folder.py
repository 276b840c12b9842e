"""Layout of a case folder, and the manifest that lists its items.

case.json     schema, when and by what collected, chroot, every item with sha256 and row count,
              what could not be collected and why, what was redacted
wire/         answers.jsonl, a line a part of an answer of a broker (formats.wire.answer_lines)
zookeeper/    znodes.jsonl.zst, a line a znode (formats.znode_lines)
              history.jsonl.zst, a line a transaction (formats.history_lines), where ZooKeeper's own files were given
clients/      <name>/logs/, <name>/ledgers/: logs of applications, and their ledgers of records
              <group>/processed/: ledgers given as records that this group processed
brokers/<id>/ server.properties, logs/, metrics/, log_dirs.json (formats.log_dir_rows),
              segments/<topic>-<partition>/ where they were copied
pasted/       pasted.txt, where the evidence was pasted
derived/      results of scans; not evidence, so not in case.json, and free to be deleted
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from casebook.errors import CaseError
from casebook.facts.cluster import Problem

SCHEMA = 1
MANIFEST = "case.json"
HISTORY = "zookeeper/history.jsonl.zst"
PASTED_LOG = "pasted.log"
DERIVED = "derived"
_LARGEST_MANIFEST = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A file of a case, as listed in its manifest."""

    path: str
    rows: int | None
    bytes: int | None
    sha256: str | None


def manifest_bytes(folder: Path) -> bytes:
    """Read the manifest.

    Raises:
        CaseError: The folder does not exist or is not a case.
    """
    if not folder.exists():
        raise CaseError(f"There is no case at {folder}.", try_="`casebook list` names the shipped samples.")
    try:
        with opened(folder / MANIFEST) as file:
            return file.read(_LARGEST_MANIFEST)  # a longer one is cut, and so invalid
    except OSError as error:
        raise CaseError(
            f"{folder} is not a case: its {MANIFEST} cannot be read ({error.strerror}).",
            cause="It is not a case folder, or its collection did not complete.",
            try_="Collect it again with `casebook collect`.",
        ) from None


def manifest(raw: bytes, folder: Path) -> dict[str, object]:
    """Parse the manifest.

    Raises:
        CaseError: It is invalid, or of a newer schema.
    """
    try:
        manifest = json.loads(raw)
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or type(manifest.get("schema")) is not int:
        raise CaseError(
            f"{folder / MANIFEST} is damaged: it is not a manifest.",
            cause="The file was cut or changed after collection.",
            try_="Copy the case again from its source, or collect it again.",
        )
    if manifest["schema"] > SCHEMA:
        raise CaseError(
            f"{folder} is a case of schema {manifest['schema']}; this casebook reads up to {SCHEMA}.",
            cause="It was collected by a newer casebook.",
            try_="Update kafka-casebook.",
        )
    return manifest


def items(manifest: Mapping[str, object], folder: Path) -> tuple[tuple[Item, ...], tuple[Problem, ...]]:
    """Return the items inside the folder; one outside, by path or symbolic link, is reported and never opened."""
    found: list[Item] = []
    outside: list[Problem] = []
    for row in _listed(manifest, "items"):
        path = row.get("path") if isinstance(row, dict) else None
        if isinstance(path, str) and inside(path, folder) and not _is_special(folder / path):
            found.append(Item(path=path, rows=_number(row, "rows"), bytes=_number(row, "bytes"), sha256=text(row, "sha256")))
        else:
            outside.append(Problem(path=MANIFEST, reason=f"lists {path!a}, which is not a file of this case"))
    return tuple(found), tuple(outside)


def inside(path: str, folder: Path) -> bool:
    """Whether a path in a manifest stays inside its folder."""
    relative = PurePosixPath(path)
    if "\0" in path or relative.is_absolute() or ".." in relative.parts or not relative.parts:
        return False
    try:
        return (folder / relative).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, UnicodeError):  # circular links; an invalid file name
        return False


def opened(path: Path) -> BinaryIO:
    """Open a file of an untrusted case: a FIFO would block its reader, a device never end.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return os.fdopen(descriptor, "rb")


def _is_special(path: Path) -> bool:
    """Whether it exists and is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def could_not_collect(manifest: Mapping[str, object]) -> tuple[Problem, ...]:
    """Requested parts that are missing, with the reason."""
    rows = (row for row in _listed(manifest, "could_not_collect") if isinstance(row, dict))
    return tuple(Problem(path=str(row.get("part")), reason=str(row.get("reason"))) for row in rows)


def left_out(manifest: Mapping[str, object]) -> tuple[str, ...]:
    """Explicitly requested parts that are missing or incomplete."""
    return texts(manifest, "left_out")


def damage(folder: Path, item: Item) -> Problem | None:
    """Check an item against its hash; ``None`` when sound."""
    try:
        if sha256(folder / item.path) == item.sha256:
            return None
    except OSError as error:
        return Problem(path=item.path, reason=f"listed in {MANIFEST} and cannot be read: {error.strerror}")
    if item.sha256 is None:
        return Problem(path=item.path, reason=f"has no hash in {MANIFEST}")
    return Problem(path=item.path, reason=f"differs from the hash in {MANIFEST}: cut or changed after collection")


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text(row: Mapping[str, object], key: str) -> str | None:
    """Text in a row; ``None`` for another type."""
    return value if isinstance(value := row.get(key), str) else None


def texts(row: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Texts in a list of a row."""
    return tuple(value for value in _listed(row, key) if isinstance(value, str))


def _listed(row: Mapping[str, object], key: str) -> list[object]:
    return value if isinstance(value := row.get(key), list) else []


def _number(row: Mapping[str, object], key: str) -> int | None:
    return value if type(value := row.get(key)) is int else None
