"""Items of a case folder by path, and their lines; :mod:`casebook.case.case` decodes them."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

from casebook.case import folder as case_folder
from casebook.case.folder import DERIVED, Item
from casebook.errors import CaseError
from casebook.facts.cluster import Problem
from casebook.formats.zookeeper import znodes
from casebook.machine import packs, private, workshop

_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_LONGEST_LINE = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseItems:
    """Items of a case folder opened for reading.

    Args:
        folder: Path.
        name: Name of the folder; for a case collected for one run, its live source.
        digest: sha256 of the manifest: equal digests mean equal evidence.
        collected_at: ISO-8601 UTC, as recorded.
        chroot: ``""`` for none.
        servers: ``host:port`` of the walked ensemble; empty for a dump.
        items: Items by path.
        could_not_collect: Uncollected parts with the reason.
        left_out: Explicitly requested parts that are missing or incomplete.
        redacted: Removals by the collector.
        remarks: Notes on the collection.
        damaged: Items that are missing or differ from the manifest.
    """

    folder: Path
    name: str
    digest: str
    collected_at: str | None
    chroot: str
    servers: tuple[str, ...]
    items: Mapping[str, Item]
    could_not_collect: tuple[Problem, ...]
    left_out: tuple[str, ...]
    redacted: tuple[str, ...]
    remarks: tuple[str, ...]
    damaged: tuple[Problem, ...]

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a case and check every item against the manifest's hash.

        Raises:
            CaseError: The folder does not exist, is not a case, or has a newer schema.
        """
        folder = Path(folder)
        raw = case_folder.manifest_bytes(folder)
        manifest = case_folder.manifest(raw, folder)
        items, outside = case_folder.items(manifest, folder)
        return cls(
            folder=folder,
            name=folder.resolve().name,
            digest=hashlib.sha256(raw).hexdigest(),
            collected_at=case_folder.text(manifest, "collected_at"),
            chroot=case_folder.text(manifest, "chroot") or "",
            servers=case_folder.texts(manifest, "zookeeper"),
            items={item.path: item for item in items},
            could_not_collect=case_folder.could_not_collect(manifest),
            left_out=case_folder.left_out(manifest),
            redacted=case_folder.texts(manifest, "redacted"),
            remarks=case_folder.texts(manifest, "remarks"),
            damaged=(*outside, *(problem for item in items if (problem := case_folder.damage(folder, item)))),
        )

    def text_lines(self, path: str) -> Iterator[str]:
        """Yield the lines of an item lazily; none when it is not an item."""
        return text_lines(self.folder / path) if path in self.items else iter(())

    def line(self, place: str) -> str:
        """Return the line at ``path:number``; ``""`` when it does not exist."""
        path, _, number = place.rpartition(":")
        lines = text_lines(self.folder / path) if path in self.items and number.isdecimal() else iter(())
        return next((text.rstrip("\n") for count, text in enumerate(lines, start=1) if count == int(number)), "")

    def log_files(self) -> Iterator[tuple[int, str, Iterator[str]]]:
        """Yield broker, path in the case, and lines of each broker log, by path; lines are read lazily."""
        for path, broker in self.logs_of_brokers():
            yield broker, path, text_lines(self.folder / path)

    def metrics(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield broker, path in the case, and lines of each file of host metrics, by path."""
        for path, broker in self.below("metrics"):
            yield broker, path, list(text_lines(self.folder / path))

    def derived(self, name: str, key: str) -> Path:
        """Return the path of a scan's result, which either exists completely or not at all.

        The creator writes it under a temporary name and renames it. When the case is read-only and has no such result, the path
        is temporary and ends with this process.

        Args:
            name: Name of the result, e.g. ``segments``.
            key: Key of all inputs: evidence, options and reader code.

        Raises:
            CaseError: Name or key is not a valid file name.
        """
        if not (_NAME.fullmatch(name) and _NAME.fullmatch(key)):
            raise CaseError(f"{name!a}, {key!a} cannot name a result.")
        path = self.folder / DERIVED / name / key
        inside = case_folder.inside(str(path.relative_to(self.folder)), self.folder)
        if inside and (path.exists() or _can_be_made(path.parent)):
            return path.absolute()
        path = workshop.of_process() / self.digest[:8] / name / key
        private.folder(path.parent)
        return path

    def of_brokers(self, name: str) -> Iterator[tuple[str, int]]:
        """Yield path and broker of the files of that name directly in a broker's folder."""
        for path in sorted(self.items):
            parts = PurePosixPath(path).parts
            if len(parts) == 3 and (parts[0], parts[2]) == ("brokers", name) and (broker := znodes.number(parts[1])) is not None:
                yield path, broker

    def logs_of_brokers(self) -> Iterator[tuple[str, int]]:
        """Yield path and broker of the brokers' logs."""
        return self.below("logs")

    def below(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield path and broker of the files below a subfolder of each broker's folder."""
        for path in sorted(self.items):
            parts = PurePosixPath(path).parts
            if len(parts) >= 4 and parts[:3:2] == ("brokers", folder) and (broker := znodes.number(parts[1])) is not None:
                yield path, broker


def _can_be_made(folder: Path) -> bool:
    try:
        private.folder(folder)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def packed_lines(path: Path, item: Item | None) -> Iterator[bytes]:
    """Yield the lines of a packed item, and check their number against the manifest: a file cut between two frames is valid."""
    count = 0
    try:
        with case_folder.opened(path) as raw, packs.stream(raw, path.suffix) as reader:
            while line := reader.readline(_LONGEST_LINE):
                count += 1
                yield line
    except OSError as error:
        raise CaseError(f"{path.name} cannot be read to its end: {error.strerror or error}.") from None
    if item is not None and item.rows is not None and count < item.rows:
        raise CaseError(
            f"{path.name} cannot be read to its end: it has {count} of the {item.rows} lines that the manifest lists."
        )


def read_text(path: Path) -> str | None:
    """Return the text of a file; ``None`` when unreadable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def text_lines(path: Path) -> Iterator[str]:
    """Yield the readable lines of a file."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            while line := file.readline(_LONGEST_LINE):
                yield line
    except OSError:
        return
